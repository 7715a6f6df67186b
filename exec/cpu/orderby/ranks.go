package orderby

import (
	"math"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
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

// cutoffs is a hash table of partitions that have rows enough: of each the greatest word of the first key of the order that a row of interest can
// have. Words are ordered as the key's values, or their complements if it descends.
type cutoffs struct {
	slots []cutoff // a power of 2; nil: none
	shift uint     // that leaves the upper bits of a hash, a slot
}

type cutoff struct {
	partition int64
	most      uint64
	used      bool
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

// cutKeys says whether partitions are integers and the first key of the order is a number, for which there are cutoffs.
func (s *Sink) cutKeys(cols []*column.Vector) (partition *column.Vector, key cutKey, ok bool) {
	f := s.ranks
	if f.parts > 1 || len(s.KeyAt) == f.parts {
		return nil, cutKey{}, false
	}
	flat := func(v *column.Vector) bool { return v.Valid == nil && !v.Const }
	if f.parts == 1 {
		if partition = cols[s.KeyAt[0]]; partition.Type.Phys() != types.PhysInt64 || !flat(partition) {
			return nil, cutKey{}, false
		}
	}
	key.v = cols[s.KeyAt[f.parts]]
	key.isFloat = key.v.Type.Phys() == types.PhysFloat64
	if s.P.Keys[f.parts].Desc {
		key.flip = math.MaxUint64
	}
	return partition, key, flat(key.v) && (key.isFloat || key.v.Type.Phys() == types.PhysInt64)
}

// cutKey is the first key of the order.
type cutKey struct {
	v       *column.Vector
	isFloat bool
	flip    uint64 // descending: the words' complements are compared
}

// word is the word of a row.
func (k *cutKey) word(row int32) uint64 {
	if k.isFloat {
		return types.FloatWord(k.v.F64[row]) ^ k.flip
	}
	return uint64(k.v.I64[row]) ^ 1<<63 ^ k.flip
}

// worthKeeping returns the rows of a batch that are not behind their partition's cutoff.
func (x *Local) worthKeeping(sel []int32) []int32 {
	c := &x.ranked.cutoffs
	if c.slots == nil {
		return sel
	}
	partition, key, ok := x.s.cutKeys(x.cols)
	if !ok {
		return sel
	}
	kept := x.ranked.sel[:0]
	p := int64(0)
	for _, row := range sel {
		if partition != nil {
			p = partition.I64[row]
		}
		if s := c.find(p); !s.used || key.word(row) <= s.most {
			kept = append(kept, row)
		}
	}
	x.ranked.sel = kept
	return kept
}

// KeepRanks lets workers drop rows whose rank is above most in the partitions that the leading keys make.
func (s *Sink) KeepRanks(most int64, parts int) {
	s.ranks = rankFilter{most, parts}
	s.tag()
}

// triesFewer is how many times as many rows a worker collects before it looks again where few rows' ranks were too high: partitions may come row by
// row, so that each has few at first.
const triesFewer = 4

// sampledPartitions says that one partition in so many is looked at, before many rows are sorted.
const sampledPartitions = 16

// mostStay estimates whether at least half of a worker's rows have no rank that is too high: to sort them would not pay.
func (x *Local) mostStay() bool {
	var keys []*column.Vector
	var hasher keyhash.Hasher
	var sampled []uint64
	hashes := make([]uint64, rowstore.MaxSegment)
	for _, seg := range x.Segs {
		keys = keys[:0]
		for _, at := range x.s.KeyAt[:x.s.ranks.parts] {
			keys = append(keys, seg.Cols[at])
		}
		hasher.Hash(hashes[:seg.N], keys, nil, seg.N)
		for _, h := range hashes[:seg.N] {
			if h%sampledPartitions == 0 {
				sampled = append(sampled, h)
			}
		}
	}
	slices.Sort(sampled)
	stay, inPartition := 0, int64(0)
	for i, h := range sampled {
		if inPartition++; i == 0 || h != sampled[i-1] {
			inPartition = 1
		}
		if inPartition <= x.s.ranks.most {
			stay++
		}
	}
	return 2*stay > len(sampled)
}

// dropRanks sorts a worker's rows and drops those whose rank is too high already.
func (x *Local) dropRanks() error {
	s, q, n := x.s, x.s.q, x.N
	if n >= triesFewer*q.Tuning.RankedRows && x.mostStay() {
		x.ranked.limit = triesFewer * n
		return nil
	}
	account := memory.Account{Operator: s.Name}
	segs := make([]*rowstore.Segment, len(x.Segs)) // the rows may have to stay as they are
	for i, seg := range x.Segs {
		segs[i] = &rowstore.Segment{N: seg.N, Cap: seg.Cap, Cols: slices.Clone(seg.Cols)}
	}
	cols, _, err := rowstore.Concat(q, []*rowstore.Store{{Types: x.Types, Segs: segs, N: n, Marks: []rowstore.Mark{{}}, Mem: account}}, x.Types)
	if err != nil {
		return err
	}
	size := int64(16 * n)
	if err := q.Memory.Reserve(s.Name, size); err != nil {
		return err
	}
	if len(x.Segs) > 1 {
		for _, v := range cols {
			size += int64(n) * v.Width()
		}
	}
	defer func() { q.Memory.Release(size) }()
	byPartition, byKey, cuts := s.cutKeys(cols)
	kept, enough, err := s.highest(cols, n, cuts)
	if err != nil {
		return err
	}
	if len(kept) > n/4*3 {
		x.ranked.limit = triesFewer * n
		return nil
	}
	if cuts {
		x.ranked.cutoffs.reset(len(enough))
		for _, row := range enough {
			c := cutoff{most: byKey.word(row), used: true}
			if byPartition != nil {
				c.partition = byPartition.I64[row]
			}
			*x.ranked.cutoffs.find(c.partition) = c
		}
	}
	x.ranked.limit = max(q.Tuning.RankedRows, 3*len(kept))
	x.ranked.dropped = true
	rowstore.Loosen(cols, &x.Strings)
	x.Segs, x.N, x.Marks = nil, 0, []rowstore.Mark{{Seq: x.seq}}
	x.Mem.Close()
	return x.Append(cols, kept, n)
}

// highest sorts rows and returns those whose rank is not too high, in their order, and, if cuts are wanted, of each partition that has so many rows the one at the
// highest rank.
func (s *Sink) highest(cols []*column.Vector, n int, cuts bool) (kept, enough []int32, err error) {
	r := &rowsort.Sorter{Q: s.q, Name: s.Name}
	for i, k := range s.P.Keys {
		key, err := rowsort.NewKey(s.q, cols[s.KeyAt[i]], k.Desc, n)
		if err != nil {
			return nil, nil, err
		}
		r.Keys = append(r.Keys, key)
	}
	sorted, err := r.Sort(n)
	if err != nil {
		return nil, nil, err
	}
	partShift, partCoded := sorted.Shift(s.ranks.parts)
	peerShift, peerCoded := sorted.Shift(len(r.Keys))
	differ := func(from, to, i int) bool {
		for k := from; k < to; k++ {
			if r.Keys[k].Compare(sorted.Row(i-1), sorted.Row(i)) != 0 {
				return true
			}
		}
		return false
	}
	kept = make([]int32, 0, n)
	partition, peers := 0, 0
	for i := range n {
		if i&task.CheckRows == 0 {
			if err := s.q.Check(); err != nil {
				return nil, nil, err
			}
		}
		if i > 0 {
			word := sorted.Words[i] ^ sorted.Words[i-1]
			switch {
			case word>>partShift != 0 || !partCoded && differ(0, s.ranks.parts, i):
				partition, peers = i, i
			case int64(peers-partition) >= s.ranks.most: // so is the row's rank
			case word>>peerShift != 0 || !peerCoded && differ(s.ranks.parts, len(r.Keys), i):
				peers = i
			}
		}
		if int64(peers-partition) < s.ranks.most {
			kept = append(kept, sorted.Row(i))
		}
		if cuts && int64(i-partition) == s.ranks.most-1 {
			enough = append(enough, sorted.Row(i))
		}
	}
	return kept, enough, nil
}
