package orderby

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
)

// rankFilter says that of each partition only the rows up to a rank are of interest, and that whatever is asked of them depends on no
// row behind them. So each worker may drop the others long before the rows are sorted as a whole.
type rankFilter struct {
	most  int64   // 0: no filter
	parts int     // the leading keys that are the partition's
	rows  float64 // about so many come
}

// rankedRows is what a worker knows about dropping rows.
type rankedRows struct {
	limit   int   // of stored rows, at which to look for some to drop
	dropped bool  // some are, and the others stand in another order
	own     *best // what the worker's own rows showed when they were sorted, where what all workers know is off
	sel     []int32
}

// best is what is known of rows that others are behind; nil: nothing.
func (x *Local) best() *best {
	if b := x.s.best; x.ranked.own == nil && b != nil && !b.isOff.Load() {
		return b
	}
	return x.ranked.own
}

// learn makes the worker's own best of the rows that a sort showed to be of interest.
func (x *Local) learn(cols []*column.Vector, kept []int32) {
	if x.s.best == nil || !x.s.best.isOff.Load() {
		return
	}
	k, ok := x.s.rankKeys(cols)
	b := &best{s: x.s, most: x.s.best.most, isOwn: true}
	if !ok || !b.begin() {
		return
	}
	for some := range slices.Chunk(kept, column.VectorSize) {
		x.ranked.sel = b.filter(&k, some, x.ranked.sel[:0], true)
	}
	x.ranked.own = b
}

// forget gives the memory of the worker's own best back.
func (x *Local) forget() {
	if x.ranked.own != nil {
		x.ranked.own.free()
		x.ranked.own = nil
	}
}

// worthKeeping returns the rows of a batch of which it is not known that they are behind others.
func (x *Local) worthKeeping(sel []int32) []int32 {
	b := x.best()
	if b == nil {
		return sel
	}
	k, ok := x.s.rankKeys(x.cols)
	if !ok {
		return sel
	}
	x.ranked.sel = b.filter(&k, sel, x.ranked.sel[:0], true)
	return x.ranked.sel
}

// KeepRanks lets workers drop rows whose rank is above most in the partitions that the leading keys make. About so many rows come.
func (s *Sink) KeepRanks(most int64, parts int, rows float64) {
	s.ranks = rankFilter{most, parts, rows}
	s.tag()
	s.best = newBest(s)
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

// dropRanks drops those of a worker's rows whose rank is too high already: those that are known to be behind others, or, if these are few, what a sort shows.
func (x *Local) dropRanks() error {
	if b := x.best(); b != nil {
		if dropped, err := x.dropBehind(b); dropped || err != nil {
			return err
		}
	}
	return x.dropSorted()
}

// isWorthDropping says whether it pays to copy the rows that stay.
func isWorthDropping(kept, all int) bool { return kept <= all/4*3 }

// dropBehind drops the rows that are known to be behind others, unless they are few.
func (x *Local) dropBehind(b *best) (dropped bool, err error) {
	s, size := x.s, int64(4*x.N)
	if err := s.q.Memory.Reserve(s.Name, size); err != nil {
		return false, err
	}
	defer func() { s.q.Memory.Release(size) }()
	kept := make([]int32, 0, x.N) // never nil, which would be all rows
	ends := make([]int, len(x.Segs))
	for i, seg := range x.Segs {
		k, _ := s.rankKeys(seg.Cols)
		for from := 0; from < seg.N; from += column.VectorSize {
			if err := s.q.Check(); err != nil {
				return false, err
			}
			x.ranked.sel = vec.CountFrom(x.ranked.sel[:0], from, min(seg.N-from, column.VectorSize))
			kept = b.filter(&k, x.ranked.sel, kept, false)
		}
		ends[i] = len(kept)
	}
	if !isWorthDropping(len(kept), x.N) {
		return false, nil
	}
	segs, account, arena, from := x.Segs, x.Mem, x.Strings, 0
	x.Strings = rowstore.Arena{}
	x.Mem = memory.Account{Budget: s.q.Memory, Operator: s.Name}
	x.empty(len(kept))
	for i, seg := range segs {
		held := arena
		rowstore.Loosen(seg.Cols, &held)
		if err := x.Append(seg.Cols, kept[from:ends[i]], seg.N); err != nil {
			return false, err
		}
		from = ends[i]
	}
	account.Close()
	return true, nil
}

// dropLast drops the workers' rows that turned out to be behind others, once all rows have come.
func (s *Sink) dropLast() error {
	rows := 0
	for _, x := range s.locals {
		if x != nil {
			x.forget()
			rows += x.N
		}
	}
	defer s.best.free()
	return s.q.Parallel(len(s.locals), rows, func(i int) error {
		x := s.locals[i]
		if x == nil || x.N == 0 || x.best() == nil {
			return nil
		}
		_, err := x.dropBehind(s.best)
		return err
	})
}

// dropSorted sorts a worker's rows to find those that are to be dropped.
func (x *Local) dropSorted() error {
	s, q, n := x.s, x.s.q, x.N
	if !q.Memory.Limited() && n >= triesFewer*q.Tuning.RankedRows && x.mostStay() {
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
	kept, err := s.highest(cols, n)
	if err != nil {
		return err
	}
	if !isWorthDropping(len(kept), n) {
		x.ranked.limit = triesFewer * n
		return nil
	}
	x.forget()
	x.learn(cols, kept)
	rowstore.Loosen(cols, &x.Strings)
	x.Mem.Close()
	x.empty(len(kept))
	return x.Append(cols, kept, n)
}

// empty takes all rows out, of which so many come back in another order.
func (x *Local) empty(kept int) {
	x.Segs, x.N, x.Marks = nil, 0, []rowstore.Mark{{Seq: x.seq}}
	x.ranked.limit = max(x.s.q.Tuning.RankedRows, 3*kept)
	x.ranked.dropped = true
}

// highest sorts rows and returns those whose rank is not too high, in their order.
func (s *Sink) highest(cols []*column.Vector, n int) (kept []int32, err error) {
	r := &rowsort.Sorter{Q: s.q, Name: s.Name}
	for i, k := range s.P.Keys {
		key, err := rowsort.NewKey(s.q, cols[s.KeyAt[i]], k.Desc, n)
		if err != nil {
			return nil, err
		}
		r.Keys = append(r.Keys, key)
	}
	sorted, err := r.Sort(n)
	if err != nil {
		return nil, err
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
				return nil, err
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
	}
	return kept, nil
}
