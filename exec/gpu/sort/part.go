package sort

import (
	"fmt"
	"strings"
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
