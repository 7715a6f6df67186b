package join

import (
	"sort"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/rowsort"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// bandRanks gives words to values that have none of their own, strings and wide decimals: a value of the build gets an odd word by its rank
// among the build's values, and any other value the even word between its neighbours'. The order of words is that of values.
type bandRanks struct {
	col    *column.Vector
	sorted []int32 // a row of each distinct value, ascending
}

// rankBytes bounds what ranks take for each row: the order, the sorter's words, the words, and a copy of the column.
const rankBytes = 4 + 16 + 8 + 16

// newBandRanks ranks the n values of col and returns their words; a NULL has any.
func newBandRanks(q *task.Query, col *column.Vector, n int) (*bandRanks, []int64, error) {
	if err := q.Memory.Reserve("join build", int64(rankBytes*n)); err != nil {
		return nil, nil, err
	}
	key, err := rowsort.NewKey(q, col, false, n)
	if err != nil {
		return nil, nil, err
	}
	s := &rowsort.Sorter{Q: q, Name: "join build", Parallel: q.IsParallel(n), Keys: []rowsort.Key{key}}
	sorted, err := s.Sort(n)
	if err != nil {
		return nil, nil, err
	}
	order, err := sorted.Order(q.ParallelBlocks)
	if err != nil {
		return nil, nil, err
	}
	r := &bandRanks{col: col, sorted: order[:0]}
	words := make([]int64, n)
	last := int32(-1)
	err = q.Blocks(n, func(from, to int) {
		for _, row := range order[from:to] {
			if col.IsNull(int(row)) {
				continue
			}
			if last < 0 || vec.CompareValues(col, int(last), col, int(row)) != 0 {
				r.sorted = append(r.sorted, row)
			}
			last = row
			words[row] = int64(2*len(r.sorted) - 1)
		}
	})
	return r, words, err
}

// words stores the words of v's values at rows in dst.
func (r *bandRanks) words(dst []uint64, v *column.Vector, rows []int32) {
	for i, p := range rows {
		if v.IsNull(int(p)) {
			continue
		}
		at := sort.Search(len(r.sorted), func(j int) bool { return vec.CompareValues(r.col, int(r.sorted[j]), v, int(p)) >= 0 })
		dst[i] = uint64(2 * at)
		if at < len(r.sorted) && vec.CompareValues(r.col, int(r.sorted[at]), v, int(p)) == 0 {
			dst[i]++
		}
	}
}

// isRanked says whether a band ranks values of a type, since they have no words.
func isRanked(t types.Type) bool {
	switch t.Phys() {
	case types.PhysString, types.PhysInt128:
		return true
	}
	return false
}
