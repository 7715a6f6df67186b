package sort

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
)

// writeLess writes the comparison of two rows, NULLs first ascending and last descending: by the first column's key, of 64 bits, and then by all columns.
func writeLess(w *writer) {
	b, cols := &w.b, w.cols
	fmt.Fprintf(b, "struct Less {\n  const Params<%d>& p;\n", w.words)
	for i := range cols {
		c := &cols[i]
		data := fmt.Sprintf("as_pointer<const %s>(p.w[%d])[row]", c.cName(), FirstColumn+3*i)
		if c.Class == form.Code {
			data = fmt.Sprintf("as_pointer<const view>(p.w[%d])[%s]", FirstColumn+3*i+2, data)
		}
		fmt.Fprintf(b, "  RADISH_FN %s value%d(u32 row) const { return %s; }\n", c.valueName(), i, data)
		if c.IsNullable {
			fmt.Fprintf(b, "  RADISH_FN bool null%d(u32 row) const { return !as_pointer<const u8>(p.w[%d])[row]; }\n", i, FirstColumn+3*i+1)
		}
	}
	first := "sort_key(value0(row))"
	if cols[0].IsNullable {
		first = "sort_key_nullable(null0(row), null0(row) ? 0 : sort_key(value0(row)))"
	}
	if cols[0].Desc {
		first = "~" + first
	}
	fmt.Fprintf(b, "  RADISH_FN u64 key(u32 row) const { return %s; }\n", first)
	b.WriteString("  RADISH_FN bool operator()(u64 key_a, u32 a, u64 key_b, u32 b) const {\n    if (key_a != key_b) return key_a < key_b;\n    return before(a, b);\n  }\n")
	b.WriteString("  RADISH_NOINLINE bool before(u32 a, u32 b) const {\n")
	for i := range cols {
		writeCompare(b, cols, i)
	}
	b.WriteString("    return false;\n  }\n};\n\n")
}

// writeCompare writes the comparison of two rows, a and b, by a column: it returns if they differ.
func writeCompare(b *strings.Builder, cols []Column, i int) {
	sign := "<"
	if cols[i].Desc {
		sign = ">"
	}
	compare := fmt.Sprintf("if (const i32 c = sort_compare(value%d(a), value%d(b))) return c %s 0;", i, i, sign)
	if cols[i].IsNullable {
		nullFirst := fmt.Sprintf("null%d(a)", i)
		if cols[i].Desc {
			nullFirst = fmt.Sprintf("null%d(b)", i)
		}
		fmt.Fprintf(b, "    if (null%d(a) != null%d(b)) return %s;\n    if (!null%d(a)) {\n      %s\n    }\n", i, i, nullFirst, i, compare)
	} else {
		b.WriteString("    " + compare + "\n")
	}
}
