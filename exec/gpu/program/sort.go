package program

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// SortColumn is a column of stored rows that orders them.
type SortColumn struct {
	Class    form.Class
	Unsigned bool // of form.Int: the 64 bits are an unsigned integer
	Nullable bool
	Desc     bool
}

// The parameters of the sort kernels before those of the columns, of which each has three.
const (
	SortRowCount = iota
	SortInput    // row numbers; 0: all
	SortKeysIn
	SortRowsIn
	SortKeysOut
	SortRowsOut
	SortWidth
	SortHistograms
	SortLevel
	SortWanted
	SortCounter
	SortCapacity
	SortHeld // address of the number of rows, which are SortRowCount at the most; 0: they are as many
	SortLeft // address of what gets the number of rows from SortFirst on, SortLimit at the most; 0: nobody asks
	SortFirst
	SortLimit
	SortColumns
)

const (
	SortThreads = 256
	SortItems   = 4     // of a thread: sort_items of sort.cuh
	SortBytes   = 8 + 4 // of a row in shared memory
	SortLevels  = 8
	SortBins    = 256
)

// SortPart is some of the kernels of a sort, which are compiled together. Few rows need SortTiles alone, more of them SortMerge as well, and
// SortSelect is for the first rows of many.
type SortPart int

const (
	SortTiles SortPart = iota
	SortMerge
	SortSelect
	SortParts
)

// SortText returns the source of kernels that order rows by columns, NULLs first ascending and last descending. It depends on the
// columns' classes and directions alone.
func SortText(cols []SortColumn, part SortPart) string {
	var b strings.Builder
	words := SortColumns + 3*len(cols)
	fmt.Fprintf(&b, "#define RADISH_BLOCK %d\n#include \"radish.cuh\"\n#include \"sort.cuh\"\n\n", SortThreads)
	fmt.Fprintf(&b, "struct Less {\n  const Params<%d>& p;\n", words)
	for i := range cols {
		c := &cols[i]
		data := fmt.Sprintf("as_pointer<const %s>(p.w[%d])[row]", c.cName(), SortColumns+3*i)
		if c.Class == form.Code {
			data = fmt.Sprintf("as_pointer<const view>(p.w[%d])[%s]", SortColumns+3*i+2, data)
		}
		fmt.Fprintf(&b, "  RADISH_FN %s value%d(u32 row) const { return %s; }\n", c.valueName(), i, data)
		if c.Nullable {
			fmt.Fprintf(&b, "  RADISH_FN bool null%d(u32 row) const { return !as_pointer<const u8>(p.w[%d])[row]; }\n", i, SortColumns+3*i+1)
		}
	}
	first := "sort_key(value0(row))"
	if cols[0].Nullable {
		first = "sort_key_nullable(null0(row), null0(row) ? 0 : sort_key(value0(row)))"
	}
	if cols[0].Desc {
		first = "~" + first
	}
	fmt.Fprintf(&b, "  RADISH_FN u64 key(u32 row) const { return %s; }\n", first)
	b.WriteString("  RADISH_FN bool operator()(u64 key_a, u32 a, u64 key_b, u32 b) const {\n    if (key_a != key_b) return key_a < key_b;\n    return before(a, b);\n  }\n")
	b.WriteString("  RADISH_NOINLINE bool before(u32 a, u32 b) const {\n")
	for i := range cols {
		sign := "<"
		if cols[i].Desc {
			sign = ">"
		}
		compare := fmt.Sprintf("if (const i32 c = sort_compare(value%d(a), value%d(b))) return c %s 0;", i, i, sign)
		if cols[i].Nullable {
			nullFirst := fmt.Sprintf("null%d(a)", i)
			if cols[i].Desc {
				nullFirst = fmt.Sprintf("null%d(b)", i)
			}
			fmt.Fprintf(&b, "    if (null%d(a) != null%d(b)) return %s;\n    if (!null%d(a)) {\n      %s\n    }\n", i, i, nullFirst, i, compare)
		} else {
			b.WriteString("    " + compare + "\n")
		}
	}
	b.WriteString("    return false;\n  }\n};\n\n")
	fmt.Fprintf(&b, `RADISH_FN i64 row_count(const Params<%d>& p) {
  return p.w[%d] ? min_of((i64)p.w[%d], (i64)*as_pointer<const u64>(p.w[%d])) : (i64)p.w[%d];
}

`, words, SortHeld, SortRowCount, SortHeld, SortRowCount)
	kernel := func(name, call string) {
		fmt.Fprintf(&b, "RADISH_KERNEL(%s, %d) { %s; }\n", name, words, call)
	}
	number := func(word int) string { return fmt.Sprintf("(i64)p.w[%d]", word) }
	pointer := func(typ string, word int) string { return fmt.Sprintf("as_pointer<%s>(p.w[%d])", typ, word) }
	switch part {
	case SortTiles:
		fmt.Fprintf(&b, `RADISH_FN void tell_rows(const Params<%d>& p) {
  if (!p.w[%d] || block_index() > 0 || thread_index() > 0) return;
  *as_pointer<u64>(p.w[%d]) = (u64)min_of(max_of(row_count(p) - (i64)p.w[%d], (i64)0), (i64)p.w[%d]);
}

`, words, SortLeft, SortLeft, SortFirst, SortLimit)
		kernel("tiles", fmt.Sprintf("tell_rows(p); sort_tiles(Less{p}, %s, row_count(p), %s, %s, %s)",
			pointer("const u32", SortInput), number(SortWidth), pointer("u64", SortKeysOut), pointer("u32", SortRowsOut)))
	case SortMerge:
		kernel("merge", fmt.Sprintf("sort_merge(Less{p}, %s, %s, row_count(p), %s, %s, %s)",
			pointer("const u64", SortKeysIn), pointer("const u32", SortRowsIn), number(SortWidth), pointer("u64", SortKeysOut), pointer("u32", SortRowsOut)))
	case SortSelect:
		kernel("digits", fmt.Sprintf("select_digits(Less{p}, %s, %s, (int)p.w[%d], %s)",
			number(SortRowCount), pointer("u64", SortHistograms), SortLevel, number(SortWanted)))
		kernel("candidates", fmt.Sprintf("select_rows(Less{p}, %s, %s, %s, %s, %s, %s)", number(SortRowCount), pointer("const u64", SortHistograms),
			number(SortWanted), pointer("u32", SortRowsOut), pointer("u64", SortCounter), number(SortCapacity)))
	}
	return b.String()
}

// cName is the type of a stored item, valueName of what is compared.
func (c *SortColumn) cName() string {
	if c.Class == form.Int && c.Unsigned {
		return "u64"
	}
	return c.Class.CName()
}

func (c *SortColumn) valueName() string {
	if c.Class == form.Code {
		return form.View.CName()
	}
	return c.cName()
}

// HeldRows is up to how many rows a block sorts alone, in shared memory. The host does not ask how many of so few there are.
const HeldRows = 1 << 13

// Selects says whether the first wanted of some rows are found before they are sorted.
func Selects(wanted, rows float64) bool { return wanted*8 < rows && rows > 1<<16 }

// SortShape lists what orders the rows of a Sort, and the stored column of each: the keys, then what else is kept, so that
// rows which agree in all keys come in the same order in two runs.
func (g *Program) SortShape(s *physical.Sort) (cols []SortColumn, at []int) {
	form := g.Sinks[s]
	add := func(i int, desc bool) {
		c := form.Cols[i].Like
		cols = append(cols, SortColumn{Class: c.Class, Unsigned: c.Typ.Phys() == types.PhysUint64, Nullable: c.Null != "", Desc: desc})
		at = append(at, i)
	}
	keys := map[expr.ColumnID]bool{}
	for i, key := range s.Keys {
		if c, ok := key.Expr.(*expr.Column); ok {
			keys[c.ID] = true
		}
		add(len(s.Cols)+i, key.Desc)
	}
	for i, c := range s.Cols {
		if !keys[c.ID] {
			add(i, false)
		}
	}
	return cols, at
}

// Sorts says whether the rows of a Sort are ordered on the device, since what orders them is stored there.
func (g *Program) Sorts(s *physical.Sort) bool {
	form := g.Sinks[s]
	return form != nil && len(form.Cols) >= len(s.Cols)+len(s.Keys)
}

// Expects says whether a sort of as many rows as the planner expects needs a part.
func (g *Program) Expects(s *physical.Sort, part SortPart) bool {
	rows := 0.0
	for _, p := range g.Feeders[s] {
		rows += p.EstRows
	}
	wanted := rows
	if s.Count >= 0 {
		wanted = min(rows, float64(s.Offset)+float64(s.Count))
	}
	selected := Selects(wanted, rows)
	switch part {
	case SortMerge:
		return rows > HeldRows && (!selected || wanted > HeldRows)
	case SortSelect:
		return selected
	}
	return true
}
