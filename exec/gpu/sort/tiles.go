package sort

import "fmt"

// tiles sorts the rows of each block in shared memory. Few rows need no more.
var tiles = step{
	needed: func(x *Expected) bool { return !x.isByRadix() },
	write: func(w *writer) {
		fmt.Fprintf(&w.b, `RADISH_FN void tell_rows(const Params<%d>& p) {
  if (!p.w[%d] || block_index() > 0 || thread_index() > 0) return;
  *as_pointer<u64>(p.w[%d]) = (u64)min_of(max_of(row_count(p) - (i64)p.w[%d], (i64)0), (i64)p.w[%d]);
}

`, w.words, Left, Left, First, Limit)
		w.kernel("tiles", fmt.Sprintf("tell_rows(p); sort_tiles(Less{p}, %s, row_count(p), %s, %s, %s)",
			pointer("const u32", Input), number(Width), pointer("u64", KeysOut), pointer("u32", RowsOut)))
	},
}

// HeldRows is up to how many rows a block sorts alone, in shared memory. The host does not ask how many of so few there are.
const HeldRows = 1 << 13
