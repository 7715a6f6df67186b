package sort

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// The parameters of the kernels before those of the columns, of which each has three: the addresses of items, of validity, and of a dictionary's strings.
const (
	RowCount = iota
	Input    // row numbers; 0: all
	KeysIn
	RowsIn
	KeysOut
	RowsOut
	Width
	Histograms
	Level
	Wanted
	Counter
	Capacity
	Held // address of the number of rows, which are RowCount at the most; 0: they are as many
	Left // address of what gets the number of rows from First on, Limit at the most; 0: nobody asks
	First
	Limit
	FirstColumn
)

// parameters is how many there are.
func parameters(cols []Column) int { return FirstColumn + 3*len(cols) }

const (
	Threads   = 256
	Items     = 4     // of a thread: sort_items of sort.cuh
	SlotBytes = 8 + 4 // of a row in shared memory
)

// Part is some of the kernels of a sort, which are compiled together.
type Part int

// The parts.
const (
	Tiles Part = iota
	Merge
	Select
	Parts
)

// part says when a part is needed, and writes its kernels.
type part struct {
	needed func(rows, wanted float64) bool // for the first wanted of some rows
	write  func(w *writer)
}

// parts are all there are.
var parts = [Parts]part{Tiles: tiles, Merge: merge, Select: selection}

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
	return parts[x].needed(rows, wanted)
}

// Text returns the source of kernels that order rows by columns, NULLs first ascending and last descending. It depends on the
// columns' classes and directions alone.
func Text(cols []Column, x Part) string {
	w := &writer{words: parameters(cols)}
	fmt.Fprintf(&w.b, "#define RADISH_BLOCK %d\n#include \"radish.cuh\"\n#include \"sort.cuh\"\n\n", Threads)
	writeLess(&w.b, cols)
	fmt.Fprintf(&w.b, `RADISH_FN i64 row_count(const Params<%d>& p) {
  return p.w[%d] ? min_of((i64)p.w[%d], (i64)*as_pointer<const u64>(p.w[%d])) : (i64)p.w[%d];
}

`, w.words, Held, RowCount, Held, RowCount)
	parts[x].write(w)
	return w.b.String()
}

// writer writes a part's kernels, which have so many parameters.
type writer struct {
	b     strings.Builder
	words int
}

// kernel writes a kernel that calls a function of sort.cuh.
func (w *writer) kernel(name, call string) {
	fmt.Fprintf(&w.b, "RADISH_KERNEL(%s, %d) { %s; }\n", name, w.words, call)
}

// number is the C++ of a parameter that is a number, pointer of one that is an address.
func number(word int) string { return fmt.Sprintf("(i64)p.w[%d]", word) }

func pointer(typ string, word int) string { return fmt.Sprintf("as_pointer<%s>(p.w[%d])", typ, word) }
