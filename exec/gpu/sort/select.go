package sort

import "fmt"

// selection finds candidates for the first rows of many, digit by digit of the first column's key, before they are sorted.
var selection = step{
	needed: (*Expected).selects,
	write: func(w *writer) {
		w.kernel("digits", fmt.Sprintf("select_digits(Less{p}, %s, %s, (int)p.w[%d], %s)",
			number(RowCount), pointer("u64", Histograms), Level, number(Wanted)))
		w.kernel("candidates", fmt.Sprintf("select_rows(Less{p}, %s, %s, %s, %s, %s, %s)", number(RowCount), pointer("const u64", Histograms),
			number(Wanted), pointer("u32", RowsOut), pointer("u64", Counter), number(Capacity)))
	},
}

// Numbers of sort.cuh.
const (
	Levels = 8
	Bins   = 256
)
