package cpu

import (
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/types"
)

// rankFilter says that of each partition only the rows up to a rank are of interest, and that whatever is asked of them depends on no
// row behind them: so each worker may drop the others long before the rows are sorted as a whole.
type rankFilter struct {
	most  int64 // 0: no filter
	parts int   // the leading keys that are the partition's
}

// rankedRows is what a worker knows about dropping rows.
type rankedRows struct {
	limit   int  // of stored rows, at which to look for some to drop
	dropped bool // some are, and the others stand in another order
	cutoffs cutoffs
	sel     []int32
}

// cutoffs is a hash table of partitions that have rows enough: of each the greatest value of the first key of the order, or if that
// descends of its complement, that a row of interest can have.
type cutoffs struct {
	slots []cutoff // a power of 2; nil: none
	shift uint     // that leaves the upper bits of a hash, a slot
}

type cutoff struct {
	partition, most int64
	used            bool
}

func (c *cutoffs) reset(partitions int) {
	size := bits.Len(uint(2*partitions + 1))
	*c = cutoffs{slots: make([]cutoff, 1<<size), shift: uint(64 - size)}
}

// find returns the partition's slot, or the one where it would be.
func (c *cutoffs) find(partition int64) *cutoff {
	mask := len(c.slots) - 1
	for i := int(uint64(partition) * 0x9E3779B97F4A7C15 >> c.shift); ; i = (i + 1) & mask {
		if s := &c.slots[i]; !s.used || s.partition == partition {
			return s
		}
	}
}

// cutKeys says whether partitions and the first key of the order are integers, for which there are cutoffs.
func (s *sortSink) cutKeys(cols []*column.Vector) (partition, key *column.Vector, flip int64, ok bool) {
	f := s.ranks
	if f.parts > 1 || len(s.keyAt) == f.parts {
		return nil, nil, 0, false
	}
	whole := func(v *column.Vector) bool { return v.Type.Phys() == types.PhysInt64 && v.Valid == nil && !v.Const }
	if f.parts == 1 {
		if partition = cols[s.keyAt[0]]; !whole(partition) {
			return nil, nil, 0, false
		}
	}
	if s.p.Keys[f.parts].Desc {
		flip = -1
	}
	key = cols[s.keyAt[f.parts]]
	return partition, key, flip, whole(key)
}

// worthKeeping returns the rows of a batch that are not behind their partition's cutoff.
func (x *sortLocal) worthKeeping(sel []int32) []int32 {
	c := &x.ranked.cutoffs
	if c.slots == nil {
		return sel
	}
	partition, key, flip, ok := x.s.cutKeys(x.cols)
	if !ok {
		return sel
	}
	kept := x.ranked.sel[:0]
	p := int64(0)
	for _, row := range sel {
		if partition != nil {
			p = partition.I64[row]
		}
		if s := c.find(p); !s.used || key.I64[row]^flip <= s.most {
			kept = append(kept, row)
		}
	}
	x.ranked.sel = kept
	return kept
}

// keepRanks lets workers drop rows whose rank is above most in the partitions that the leading keys make.
func (s *sortSink) keepRanks(most int64, parts int) {
	s.ranks = rankFilter{most, parts}
	s.tag()
}

// dropRanks sorts a worker's rows and drops those whose rank is too high already. If few are, no more is tried.
func (x *sortLocal) dropRanks() error {
	s, q, n := x.s, x.s.q, x.n
	account := memory.Account{Operator: s.name}
	segs := make([]*segment, len(x.segs)) // the rows may have to stay as they are
	for i, seg := range x.segs {
		segs[i] = &segment{n: seg.n, cap: seg.cap, cols: slices.Clone(seg.cols)}
	}
	cols, _, err := concat(q, []*rowStore{{types: x.types, segs: segs, n: n, marks: []mark{{0, 0}}, mem: account}}, x.types)
	if err != nil {
		return err
	}
	size := int64(16 * n)
	if err := q.Memory.Reserve(s.name, size); err != nil {
		return err
	}
	if len(x.segs) > 1 {
		for _, v := range cols {
			size += int64(n) * width(v)
		}
	}
	defer func() { q.Memory.Release(size) }()
	r := &rowSorter{q: q, name: s.name}
	for i, k := range s.p.Keys {
		key, err := newSortKey(q, cols[s.keyAt[i]], k.Desc, n)
		if err != nil {
			return err
		}
		r.keys = append(r.keys, key)
	}
	sorted, err := r.sort(n)
	if err != nil {
		return err
	}
	partShift, partCoded := sorted.shift(s.ranks.parts)
	peerShift, peerCoded := sorted.shift(len(r.keys))
	differ := func(from, to, i int) bool {
		for k := from; k < to; k++ {
			if r.keys[k].compare(sorted.row(i-1), sorted.row(i)) != 0 {
				return true
			}
		}
		return false
	}
	kept := make([]int32, 0, n)
	partition, peers := 0, 0
	byPartition, byKey, flip, cuts := s.cutKeys(cols)
	var enough []int32 // of each partition that has so many rows the row at the highest rank
	for i := range n {
		if i&checkRows == 0 {
			if err := q.Check(); err != nil {
				return err
			}
		}
		if i > 0 {
			word := sorted.words[i] ^ sorted.words[i-1]
			switch {
			case word>>partShift != 0 || !partCoded && differ(0, s.ranks.parts, i):
				partition, peers = i, i
			case int64(peers-partition) >= s.ranks.most: // so is the row's rank
			case word>>peerShift != 0 || !peerCoded && differ(s.ranks.parts, len(r.keys), i):
				peers = i
			}
		}
		if int64(peers-partition) < s.ranks.most {
			kept = append(kept, sorted.row(i))
		}
		if cuts && int64(i-partition) == s.ranks.most-1 {
			enough = append(enough, sorted.row(i))
		}
	}
	if len(kept) > n/4*3 {
		x.ranked.limit = math.MaxInt
		return nil
	}
	if cuts {
		x.ranked.cutoffs.reset(len(enough))
		for _, row := range enough {
			c := cutoff{most: byKey.I64[row] ^ flip, used: true}
			if byPartition != nil {
				c.partition = byPartition.I64[row]
			}
			*x.ranked.cutoffs.find(c.partition) = c
		}
	}
	x.ranked.limit = max(q.Tuning.RankedRows, 3*len(kept))
	x.ranked.dropped = true
	loosen(cols, &x.texts)
	x.segs, x.n, x.marks = nil, 0, []mark{{x.seq, 0}}
	x.mem.Close()
	return x.append(cols, kept, n)
}
