package sort

import "fmt"

// merge merges sorted runs of rows, two at a time, until there is one.
var merge = step{
	needed: func(x *Expected) bool {
		return !x.isByRadix() && x.Rows > HeldRows && (!x.selects() || x.Wanted > HeldRows)
	},
	write: func(w *writer) {
		w.kernel("merge", fmt.Sprintf("sort_merge(Less{p}, %s, %s, row_count(p), %s, %s, %s)",
			pointer("const u64", KeysIn), pointer("const u32", RowsIn), number(Width), pointer("u64", KeysOut), pointer("u32", RowsOut)))
	},
}
