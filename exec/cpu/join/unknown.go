package join

import (
	"math/bits"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/planner/physical"
)

// unknowns finds the build rows that a mark join cannot tell from a probe row because of NULLs: those that agree with it in all
// parts of the key in which neither is NULL. Which parts these are depends on where the two have NULLs, so rows are kept by
// that, and hashed by what is left when a probe row first asks for it.
type unknowns struct {
	mu      sync.Mutex
	classes []nullClass
	indexes map[partsOf]*partIndex
}

// nullClass is the build rows that are NULL in the same parts of the key.
type nullClass struct {
	nulls uint64 // by part that is not NULL-safe
	rows  []int32
}

// partsOf says which parts of a class's keys are hashed: those outside of skip.
type partsOf struct {
	class int
	skip  uint64
}

// partIndex is a hash table with chains: heads and next hold indices of the class's rows plus one.
type partIndex struct {
	shift       uint
	heads, next []int32
}

const (
	mostParts   = 64 // of a key, as bits of a word
	mostIndexes = 64 // of one build; rows that need more are compared with all of their class
)

// nullsOf says in which parts a key is NULL that are not NULL-safe.
func (b *Build) nullsOf(keys []*column.Vector, p int) uint64 {
	var nulls uint64
	for i, k := range keys {
		if k.IsNull(p) && !b.nullSafe(i) {
			nulls |= 1 << i
		}
	}
	return nulls
}

// nullClasses sorts the build's rows by their NULLs.
func (b *Build) nullClasses() ([]nullClass, error) {
	u := &b.keyNulls.unknowns
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.classes != nil {
		return u.classes, nil
	}
	if err := b.q.Memory.Reserve("join build", 4*int64(b.N)); err != nil {
		return nil, err
	}
	var classes []nullClass
	at := map[uint64]int{}
	err := b.q.Blocks(b.N, func(from, to int) {
		for r := from; r < to; r++ {
			nulls := b.nullsOf(b.keys, r)
			i, ok := at[nulls]
			if !ok {
				i = len(classes)
				at[nulls] = i
				classes = append(classes, nullClass{nulls: nulls})
			}
			classes[i].rows = append(classes[i].rows, int32(r))
		}
	})
	if err != nil {
		return nil, err
	}
	u.classes, u.indexes = classes, map[partsOf]*partIndex{}
	return classes, nil
}

// kept returns the parts of a key that are not in skip.
func kept(dst, keys []*column.Vector, skip uint64) []*column.Vector {
	for i, k := range keys {
		if skip>>i&1 == 0 {
			dst = append(dst, k)
		}
	}
	return dst
}

// index returns the index of some parts of a class's keys, or nil if there are no such parts, or indexes enough.
func (b *Build) index(of partsOf) (*partIndex, error) {
	u := &b.keyNulls.unknowns
	u.mu.Lock()
	defer u.mu.Unlock()
	x, ok := u.indexes[of]
	cols := kept(nil, b.keys, of.skip)
	if ok || len(cols) == 0 || len(u.indexes) == mostIndexes {
		return x, nil
	}
	rows := u.classes[of.class].rows
	size := tableSize(len(rows))
	if err := b.q.Memory.Reserve("join build", 4*int64(size+len(rows))); err != nil {
		return nil, err
	}
	x = &partIndex{shift: uint(64 - bits.TrailingZeros(uint(size))), heads: make([]int32, size), next: make([]int32, len(rows))}
	var h keyhash.Hasher
	hashes := make([]uint64, min(len(rows), task.CheckRows+1))
	err := b.q.Blocks(len(rows), func(from, to int) {
		h.Hash(hashes[:to-from], cols, rows[from:to], b.N)
		for i, hash := range hashes[:to-from] {
			head := &x.heads[hash>>x.shift]
			x.next[from+i] = *head
			*head = int32(from + i + 1)
		}
	})
	if err != nil {
		return nil, err
	}
	u.indexes[of] = x
	return x, nil
}

// findUnknown sets the mark to NULL at those of o.misses for which some build row that meets the residual cannot be told to
// differ. Only a NULL makes it so, on either side.
func (o *probeOp) findUnknown(b *column.Batch, keys []*column.Vector) error {
	misses := append([]int32(nil), o.pairs.misses...)
	o.pairs.pos, o.pairs.rows = o.pairs.pos[:0], o.pairs.rows[:0]
	if o.b.p.Algorithm == physical.RangeJoin || len(keys) > mostParts {
		for _, p := range misses {
			if err := o.findUnknownOf(b, keys, p); err != nil {
				return err
			}
		}
		return nil
	}
	byNulls := map[uint64][]int32{}
	for _, p := range misses {
		nulls := o.b.nullsOf(keys, int(p))
		if nulls != 0 || len(o.b.keyNulls.rows) > 0 {
			byNulls[nulls] = append(byNulls[nulls], p)
		}
	}
	if len(byNulls) == 0 {
		return nil
	}
	classes, err := o.b.nullClasses()
	if err != nil {
		return err
	}
	for nulls, at := range byNulls {
		for i, class := range classes {
			if nulls == 0 && class.nulls == 0 {
				continue
			}
			index, err := o.b.index(partsOf{i, nulls | class.nulls})
			if err != nil {
				return err
			}
			if at, err = o.undecided(b, keys, at, class.rows, index, nulls|class.nulls); err != nil {
				return err
			}
		}
	}
	return nil
}

// undecided looks for partners of the positions at among rows, sets the mark to NULL where it finds one, and returns the others.
func (o *probeOp) undecided(b *column.Batch, keys []*column.Vector, at, rows []int32, index *partIndex, skip uint64) ([]int32, error) {
	var hashes []uint64
	if index != nil {
		hashes = make([]uint64, len(at))
		o.finder.hasher.Hash(hashes, kept(nil, keys, skip), at, b.N)
	}
	left := at[:0]
	for i, p := range at {
		next := 1
		if index != nil {
			next = int(index.heads[hashes[i]>>index.shift])
		}
		unknown := false
		for looked := 0; next > 0 && !unknown; looked++ {
			if looked%column.VectorSize == 0 {
				if err := o.w.Check(); err != nil {
					return nil, err
				}
			}
			r := rows[next-1]
			switch {
			case index != nil:
				next = int(index.next[next-1])
			case next == len(rows):
				next = 0
			default:
				next++
			}
			if o.mayEqual(keys, int(p), int(r)) {
				o.pairs.pos, o.pairs.rows = append(o.pairs.pos, p), append(o.pairs.rows, r)
			}
			if len(o.pairs.pos) > 0 && (next == 0 || len(o.residual) == 0 || len(o.pairs.pos) == column.VectorSize) {
				var err error
				if unknown, err = o.anyPasses(b); err != nil {
					return nil, err
				}
			}
		}
		if unknown {
			o.mark.vector.SetNull(int(p), b.N)
		} else {
			left = append(left, p)
		}
	}
	return left, nil
}
