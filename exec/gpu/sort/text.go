package sort

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
)

// steps are all there are.
var steps = [Steps]step{Tiles: tiles, Merge: merge, Select: selection, Radix: radix}

// Needs says whether a sort of as many rows as are expected needs a step.
func (x *Expected) Needs(p Step) bool { return steps[p].needed(x) }

// mostOff is how many times as many rows as expected may well come. That few come, or none, is never a surprise.
const mostOff = 1000

// Might says whether a sort may need a step although as many rows as are expected do not, since the estimate was wrong. Packed keys do not count: they
// take long to compile, and rows that want them take a while themselves.
func (x *Expected) Might(p Step) bool {
	if p == Radix {
		return false
	}
	other := *x
	for _, rows := range []float64{1, HeldRows + 1, x.Tuning.SelectRows + 1, x.Tuning.SelectOf*x.Wanted + 1} {
		other.Rows = min(rows, mostOff*x.Rows, x.Most)
		if steps[p].needed(&other) {
			return !x.Needs(p)
		}
	}
	return false
}

// Text returns the source of kernels that order rows by columns, NULLs first ascending and last descending. It depends on the
// columns' classes and directions alone.
func Text(cols []Column, x Step) string {
	words, before := codegen.Declare(parameters(cols), codegen.LaunchWords)
	w := &writer{cols: cols, words: words}
	w.begin("sort.cuh")
	w.b.WriteString(before)
	writeLess(w)
	w.step(x)
	return w.b.String()
}

// begin writes what stands above the comparison of rows.
func (w *writer) begin(header string) {
	fmt.Fprintf(&w.b, "#define RADISH_BLOCK %d\n#include \"radish.cuh\"\n#include %q\n\n", Threads, header)
}

// step writes the kernels of a step behind it.
func (w *writer) step(x Step) {
	fmt.Fprintf(&w.b, `RADISH_FN i64 row_count(const Params<%d>& p) {
  return p.w[%d] ? min_of((i64)p.w[%d], (i64)*as_pointer<const u64>(p.w[%d])) : (i64)p.w[%d];
}

`, w.words, Held, RowCount, Held, RowCount)
	steps[x].write(w)
}
