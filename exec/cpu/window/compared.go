package window

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/sql/expr"
)

// ranked is what a frame compares, of the rows in order: each row's rank among all values, such that a row is in the frames of later rows
// of its partition whose ranks are greater, or equal unless strict.
//
// Such frames are not runs of rows. So rows are sorted by rank by merging runs. When two are merged, each row of the later one gets the
// combination of the earlier one's rows with lower ranks. Each pair of rows meets once: O(n log n) steps
// (Bentley 1980, "Multidimensional divide-and-conquer").
type ranked struct {
	r      *windowRows
	by     expr.Expr
	op     expr.Op
	rank   []int32 // noRow: NULL
	strict bool
}

// rankedBy returns the ranks for a frame that compares e.
func (r *windowRows) rankedBy(e expr.Expr, op expr.Op) (*ranked, error) {
	for _, x := range r.ranks {
		if x.op == op && expr.Equal(x.by, e) {
			return x, nil
		}
	}
	v, err := r.inOrder(e)
	if err != nil {
		return nil, err
	}
	q := r.w.q
	// The sort's words and the ranks.
	if err := q.Memory.Reserve(r.w.sort.Name, 20*int64(r.n)); err != nil {
		return nil, err
	}
	x := &ranked{r: r, by: e, op: op, rank: make([]int32, r.n), strict: op == expr.LT || op == expr.GT}
	r.ranks = append(r.ranks, x)
	key, err := rowsort.NewKey(q, v, op == expr.GT || op == expr.GE, r.n)
	if err != nil {
		return nil, err
	}
	s := &rowsort.Sorter{Q: q, Name: r.w.sort.Name, Keys: []rowsort.Key{key}, Parallel: q.IsParallel(r.n)}
	sorted, err := s.Sort(r.n)
	if err != nil {
		return nil, err
	}
	shift, coded := sorted.Shift(1)
	rank := int32(0)
	err = q.Blocks(r.n, func(from, to int) {
		for i := from; i < to; i++ {
			row := sorted.Row(i)
			if i > 0 && ((sorted.Words[i]^sorted.Words[i-1])>>shift != 0 || !coded && key.Compare(sorted.Row(i-1), row) != 0) {
				rank++
			}
			if x.rank[row] = rank; v.IsNull(int(row)) {
				x.rank[row] = noRow
			}
		}
	})
	q.Memory.Release(16 * int64(r.n))
	return x, err
}

// forgetRanks lets go of the ranks.
func (r *windowRows) forgetRanks() {
	r.w.q.Memory.Release(4 * int64(r.n) * int64(len(r.ranks)))
	r.ranks = nil
}

// mergedAtOnce is the power of two of the rows that one worker merges without looking at others.
const mergedAtOnce = 14

// comparing prepares an aggregate over frames that compare values; size is that of a T.
func comparing[T any](x *ranked, f *folding[T], size int64, give func(row int, result T) error) (func() windowFunc, error) {
	r := x.r
	q, n := r.w.q, r.n
	m := &merging[T]{ranked: x, folding: f}
	if err := q.Memory.Reserve(r.w.sort.Name, (2*size+8)*int64(n)); err != nil {
		return nil, err
	}
	m.values, m.results = make([]T, n), make([]T, n)
	m.order, m.spare = make([]int32, n), make([]int32, n)
	err := q.ParallelBlocks(n, func(from, to int) {
		f.load(m.values[from:to], from)
		for i := from; i < to; i++ {
			if m.order[i] = int32(i); x.strict || x.rank[i] == noRow {
				m.results[i] = f.empty
			} else {
				m.results[i] = m.values[i]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	err = q.Parallel((n+1<<mergedAtOnce-1)>>mergedAtOnce, n, func(k int) error {
		from := k << mergedAtOnce
		for run := 1; run < 1<<mergedAtOnce; run *= 2 {
			for at := from; at+run < min(n, from+1<<mergedAtOnce); at += 2 * run {
				if err := m.merge(at, at+run, min(at+2*run, n)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for run := 1 << mergedAtOnce; run < n && err == nil; run *= 2 {
		err = q.Parallel((n+2*run-1)/(2*run), n, func(k int) error {
			at := 2 * k * run
			if at+run >= n {
				return nil
			}
			return m.merge(at, at+run, min(at+2*run, n))
		})
	}
	q.Memory.Release((size + 8) * int64(n))
	m.values, m.order, m.spare = nil, nil, nil
	return func() windowFunc {
		return func(b *windowBlock, _ *framer) error {
			for row := b.from; row < b.from+b.n; row++ {
				if err := give(row, m.results[row]); err != nil {
					return err
				}
			}
			return nil
		}
	}, err
}

// merging is the state of an aggregate over frames that compare values.
type merging[T any] struct {
	*ranked
	*folding[T]
	values, results []T
	order, spare    []int32 // runs of rows, of each partition in the order of their ranks
}

// merge puts the rows from .. mid-1 and mid .. to-1 in one order. Of these only the rows of the partition that holds mid-1 and mid are to be
// moved, if there is one.
func (m *merging[T]) merge(from, mid, to int) error {
	if m.r.partitions.Get(mid) {
		return nil
	}
	from, to = lastEdgeFrom(m.r.partitions, mid, from), nextEdgeUpTo(m.r.partitions, mid, to)
	before, behind, out := m.order[from:mid], m.order[mid:to], m.spare[from:to]
	rank, acc := m.rank, m.empty
	i := 0
	for j, row := range behind {
		if j&(1<<12-1) == 1<<12-1 {
			if err := m.r.w.q.Check(); err != nil {
				return err
			}
		}
		limit := rank[row] // the least rank that does not come before the row's
		if !m.strict {
			limit++
		}
		for i < len(before) && rank[before[i]] < limit {
			if i&(1<<16-1) == 1<<16-1 {
				if err := m.r.w.q.Check(); err != nil {
					return err
				}
			}
			if rank[before[i]] != noRow {
				acc = m.combine(acc, m.values[before[i]])
			}
			out[i+j] = before[i]
			i++
		}
		if out[i+j] = row; rank[row] != noRow {
			m.results[row] = m.combine(m.results[row], acc)
		}
	}
	copy(out[len(behind)+i:], before[i:])
	copy(m.order[from:to], out)
	return nil
}

// nextEdgeUpTo returns the first set bit from i on, or to if that comes first. It looks no further: runs are short, partitions long.
func nextEdgeUpTo(b column.Bitmap, i, to int) int {
	w := i >> 6
	x := b[w] >> (i & 63) << (i & 63)
	for x == 0 && (w+1)<<6 < to {
		w++
		x = b[w]
	}
	if x == 0 {
		return to
	}
	return min(to, w<<6+bits.TrailingZeros64(x))
}

// lastEdgeFrom returns the last set bit up to i, or from if there is none behind it.
func lastEdgeFrom(b column.Bitmap, i, from int) int {
	w := i >> 6
	x := b[w] << (63 - i&63) >> (63 - i&63)
	for x == 0 && w<<6 > from {
		w--
		x = b[w]
	}
	if x == 0 {
		return from
	}
	return max(from, w<<6+63-bits.LeadingZeros64(x))
}
