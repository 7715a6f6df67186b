package sort

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/form"
)

// radix sorts by a word that packs the bits in which the keys of the first columns differ. Rows that it leaves equal are compared in full, unless they are many.
var radix = step{
	needed: (*Expected).isByRadix,
	write: func(w *writer) {
		writePacker(w)
		packer := "Packer{Less{p}}"
		input, rows, columns := pointer("const u32", Input), number(RowCount), min(len(w.cols), PackColumns)
		w.kernel("see", fmt.Sprintf("sort_see_rows<%d>(%s, %s, %s, (int)p.w[%d], %s)", columns, packer, input, rows, Columns, pointer("u64", Seen)))
		w.kernel("pack", fmt.Sprintf("sort_pack_rows(%s, %s, %s, (int)p.w[%d], %s, %s)", packer, input, rows, Width, pointer("void", KeysOut), pointer("u32", RowsOut)))
		for _, key := range []string{"u32", "u64"} {
			w.kernel("ties_"+key, fmt.Sprintf("sort_ties(%s, (int)p.w[%d], %s, %s, %s, %s, %s)", packer, Columns, pointer("const "+key, KeysIn), pointer("const u32", RowsIn), rows,
				pointer("u32", RowsOut), pointer("u64", Seen)))
		}
	},
}

// SeenWords is how many words are seen of a column: sort_seen of sort.cuh.
const SeenWords = 3

// hasWholeKey says whether the column's values differ where their keys do, so that columns behind it may be packed, too.
func (c *Column) hasWholeKey() bool { return c.Class == form.Int || c.Class == form.Float }

// Packing is which bits of the columns' keys are packed.
type Packing struct {
	Digits [PackColumns]uint64 // sort_pack of sort.cuh says what they are
	Bits   int                 // of all
	Whole  int                 // in how many of the first columns rows are equal whose packed keys are
}

// Pack chooses the bits by what was seen of the first columns' keys: those in which they differ, from the first column's highest on, so many at most.
func Pack(cols []Column, seen []uint64, most int) (p Packing) {
	for i := range len(seen) / SeenWords {
		ones, zeros, null := seen[SeenWords*i], seen[SeenWords*i+1], 0
		if seen[SeenWords*i+2] != 0 && ones|zeros != 0 {
			null = 1 // some are NULL, and some not
		}
		low, width := 0, 0
		if differ := ones & zeros; differ != 0 {
			low = bits.TrailingZeros64(differ)
			width = bits.Len64(differ) - low
		}
		cut := max(p.Bits+null+width-most, 0)
		if cut > width {
			break
		}
		if width -= cut; width > 0 {
			p.Digits[i] = uint64(low+cut) | uint64(width)<<8
		}
		p.Digits[i] |= uint64(null) << 16
		p.Bits += null + width
		if cut > 0 || !cols[i].hasWholeKey() {
			break
		}
		p.Whole++
	}
	return p
}

// Leaves is how many rows of so many have, on average, the same key as another one, if keys are spread evenly.
func (p *Packing) Leaves(rows int64) float64 { return math.Ldexp(float64(rows), -p.Bits) }

// writePacker writes what packs the keys of the first columns.
func writePacker(w *writer) {
	fmt.Fprintf(&w.b, "struct Packer : Less {\n")
	see, pack := "", ""
	for i := range min(len(w.cols), PackColumns) {
		c := &w.cols[i]
		key, null := fmt.Sprintf("sort_key(value%d(row))", i), "false"
		if c.Desc {
			key = "~" + key
		}
		if c.IsNullable {
			null = fmt.Sprintf("null%d(row)", i)
			key = null + " ? 0 : " + key
		}
		see += fmt.Sprintf("    if (columns > %d) sort_see(seen + %d, %s, %s);\n", i, SeenWords*i, null, key)
		pack += fmt.Sprintf("    if (p.w[%d]) packed = sort_pack(packed, p.w[%d], %s, %v, %s);\n", Digits+i, Digits+i, null, c.Desc, key)
	}
	fmt.Fprintf(&w.b, "  RADISH_FN void see(u32 row, u64* seen, int columns) const {\n%s  }\n", see)
	fmt.Fprintf(&w.b, "  RADISH_FN u64 pack(u32 row) const {\n    u64 packed = 0;\n%s    return packed;\n  }\n", pack)
	w.b.WriteString("  RADISH_NOINLINE bool before(u32 a, u32 b, int from) const {\n")
	for i := range w.cols {
		if i < PackColumns {
			fmt.Fprintf(&w.b, "    if (from <= %d) {\n", i)
		}
		writeCompare(&w.b, w.cols, i)
		if i < PackColumns {
			w.b.WriteString("    }\n")
		}
	}
	w.b.WriteString("    return false;\n  }\n};\n\n")
}
