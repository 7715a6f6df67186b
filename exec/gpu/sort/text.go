package sort

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// parts are all there are.
var parts = [Parts]part{Tiles: tiles, Merge: merge, Select: selection, Radix: radix}

// Expects says whether a sort of as many rows as the planner expects needs a part.
func Expects(g *kernel.Pipelines, s *physical.Sort, x Part) bool {
	rows := 0.0
	for _, p := range g.Feeders[s] {
		rows += p.EstRows
	}
	wanted := rows
	if s.Count >= 0 {
		wanted = min(rows, float64(s.Offset)+float64(s.Count))
	}
	cols, _ := Shape(g, s)
	return parts[x].needed(&Expected{Columns: cols, Rows: rows, Wanted: wanted, RadixRows: float64(g.Target.Tuning.SortRadixRows)})
}

// Text returns the source of kernels that order rows by columns, NULLs first ascending and last descending. It depends on the
// columns' classes and directions alone.
func Text(cols []Column, x Part) string {
	w := &writer{cols: cols, words: parameters(cols)}
	fmt.Fprintf(&w.b, "#define RADISH_BLOCK %d\n#include \"radish.cuh\"\n#include \"sort.cuh\"\n\n", Threads)
	writeLess(&w.b, cols)
	fmt.Fprintf(&w.b, `RADISH_FN i64 row_count(const Params<%d>& p) {
  return p.w[%d] ? min_of((i64)p.w[%d], (i64)*as_pointer<const u64>(p.w[%d])) : (i64)p.w[%d];
}

`, w.words, Held, RowCount, Held, RowCount)
	parts[x].write(w)
	return w.b.String()
}
