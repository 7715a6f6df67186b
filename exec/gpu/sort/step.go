package sort

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
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
	Seen        // address of what is seen of the keys of the first PackColumns
	Columns     // how many of them
	Digits      // of each, the bits that are packed
	FirstColumn = Digits + PackColumns
)

// PackColumns is from how many columns bits are packed at most.
const PackColumns = 8

// parameters is how many there are.
func parameters(cols []Column) int { return FirstColumn + columnWords*len(cols) }

// columnWords are the parameters of a column.
const columnWords = 3

const (
	Threads   = 256
	Items     = 4     // of a thread: sort_items of sort.cuh
	SlotBytes = 8 + 4 // of a row in shared memory
)

// Step is some of the kernels of a sort, which are compiled together.
type Step int

// The steps.
const (
	Tiles Step = iota
	Merge
	Select
	Radix
	Steps
)

// step says when a step is needed, and writes its kernels.
type step struct {
	needed func(x *Expected) bool
	write  func(w *writer)
}

// Expected is what a sort is expected to be of: the first wanted of some rows.
type Expected struct {
	Columns []Column
	Rows    float64
	Wanted  float64 // +Inf: all
	Most    float64 // rows there can be; +Inf: any number
	Tuning  kernel.Sort
}

// selects says whether the wanted rows are found before they are sorted.
func (x *Expected) selects() bool { return Selects(&x.Tuning, x.Wanted, x.Rows) }

// isByRadix says whether they are sorted by packed keys.
func (x *Expected) isByRadix() bool {
	rows := x.Rows
	if x.selects() {
		rows = x.Wanted
	}
	return Packs(x.Columns) && rows >= float64(x.Tuning.RadixRows)
}

// writer writes a step's kernels, which order rows by columns and are declared with so many parameters.
type writer struct {
	b     strings.Builder
	cols  []Column
	words int
}

// kernel writes a kernel that calls a function of sort.cuh.
func (w *writer) kernel(name, call string) {
	fmt.Fprintf(&w.b, "RADISH_KERNEL(%s, %d) { %s; }\n", name, w.words, call)
}

// number is the C++ of a parameter that is a number, pointer of one that is an address.
func number(word int) string { return fmt.Sprintf("(i64)p.w[%d]", word) }

func pointer(typ string, word int) string { return fmt.Sprintf("as_pointer<%s>(p.w[%d])", typ, word) }

// Packs says whether rows are sorted by packed keys if they are many. Strings, which often begin alike, are not.
func Packs(cols []Column) bool { return cols[0].Class != form.View && cols[0].Class != form.Code }

// Selects says whether the first wanted of some rows are found before they are sorted.
func Selects(t *kernel.Sort, wanted, rows float64) bool {
	return wanted*t.SelectOf < rows && rows > t.SelectRows
}
