package gpu

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// sortColumn is a column of stored rows that orders them.
type sortColumn struct {
	class    form.Class
	unsigned bool // of form.Int: the 64 bits are an unsigned integer
	nullable bool
	desc     bool
}

// sortWords are the parameters of the sort kernels before those of the columns, of which each has three.
const (
	sortRowCount = iota
	sortInput    // row numbers; 0: all
	sortKeysIn
	sortRowsIn
	sortKeysOut
	sortRowsOut
	sortWidth
	sortHistograms
	sortLevel
	sortWanted
	sortCounter
	sortRoom
	sortHeld // address of the number of rows, which are sortRowCount at the most; 0: they are as many
	sortLeft // address of what gets the number of rows from sortFirst on, sortLimit at the most; 0: nobody asks
	sortFirst
	sortLimit
	sortColumns
)

const (
	sortThreads = 256
	sortItems   = 4     // as in sort.cuh
	sortBytes   = 8 + 4 // of a row in shared memory
	sortLevels  = 8
	sortBins    = 256
)

// sortPart is some of the kernels of a sort, which are compiled together. Few rows need sortTiles alone, more of them sortMerge as well, and
// sortSelect is for the first rows of many.
type sortPart int

const (
	sortTiles sortPart = iota
	sortMerge
	sortSelect
	sortParts
)

// sortText returns the source of kernels that order rows by columns, NULLs first ascending and last descending. It depends on the
// columns' classes and directions alone.
func sortText(cols []sortColumn, part sortPart) string {
	var b strings.Builder
	words := sortColumns + 3*len(cols)
	fmt.Fprintf(&b, "#define RADISH_BLOCK %d\n#include \"radish.cuh\"\n#include \"sort.cuh\"\n\n", sortThreads)
	fmt.Fprintf(&b, "struct Less {\n  const Params<%d>& p;\n", words)
	for i := range cols {
		c := &cols[i]
		data := fmt.Sprintf("as_pointer<const %s>(p.w[%d])[row]", c.cName(), sortColumns+3*i)
		if c.class == form.Code {
			data = fmt.Sprintf("as_pointer<const view>(p.w[%d])[%s]", sortColumns+3*i+2, data)
		}
		fmt.Fprintf(&b, "  RADISH_FN %s value%d(u32 row) const { return %s; }\n", c.valueName(), i, data)
		if c.nullable {
			fmt.Fprintf(&b, "  RADISH_FN bool null%d(u32 row) const { return !as_pointer<const u8>(p.w[%d])[row]; }\n", i, sortColumns+3*i+1)
		}
	}
	first := "sort_key(value0(row))"
	if cols[0].nullable {
		first = "sort_key_nullable(null0(row), null0(row) ? 0 : sort_key(value0(row)))"
	}
	if cols[0].desc {
		first = "~" + first
	}
	fmt.Fprintf(&b, "  RADISH_FN u64 key(u32 row) const { return %s; }\n", first)
	b.WriteString("  RADISH_FN bool operator()(u64 key_a, u32 a, u64 key_b, u32 b) const {\n    if (key_a != key_b) return key_a < key_b;\n    return before(a, b);\n  }\n")
	b.WriteString("  RADISH_NOINLINE bool before(u32 a, u32 b) const {\n")
	for i := range cols {
		sign := "<"
		if cols[i].desc {
			sign = ">"
		}
		compare := fmt.Sprintf("if (const i32 c = sort_compare(value%d(a), value%d(b))) return c %s 0;", i, i, sign)
		if cols[i].nullable {
			nullFirst := fmt.Sprintf("null%d(a)", i)
			if cols[i].desc {
				nullFirst = fmt.Sprintf("null%d(b)", i)
			}
			fmt.Fprintf(&b, "    if (null%d(a) != null%d(b)) return %s;\n    if (!null%d(a)) {\n      %s\n    }\n", i, i, nullFirst, i, compare)
		} else {
			b.WriteString("    " + compare + "\n")
		}
	}
	b.WriteString("    return false;\n  }\n};\n\n")
	fmt.Fprintf(&b, `RADISH_FN i64 row_count(const Params<%d>& p) {
  return p.w[%d] ? min_of((i64)p.w[0], (i64)*as_pointer<const u64>(p.w[%d])) : (i64)p.w[0];
}

`, words, sortHeld, sortHeld)
	kernel := func(name, call string) {
		fmt.Fprintf(&b, "RADISH_KERNEL(%s, %d) { %s; }\n", name, words, call)
	}
	switch part {
	case sortTiles:
		fmt.Fprintf(&b, `RADISH_FN void tell_rows(const Params<%d>& p) {
  if (!p.w[%d] || block_index() > 0 || thread_index() > 0) return;
  *as_pointer<u64>(p.w[%d]) = (u64)min_of(max_of(row_count(p) - (i64)p.w[%d], (i64)0), (i64)p.w[%d]);
}

`, words, sortLeft, sortLeft, sortFirst, sortLimit)
		kernel("tiles", "tell_rows(p); sort_tiles(Less{p}, as_pointer<const u32>(p.w[1]), row_count(p), (i64)p.w[6], as_pointer<u64>(p.w[4]), as_pointer<u32>(p.w[5]))")
	case sortMerge:
		kernel("merge", "sort_merge(Less{p}, as_pointer<const u64>(p.w[2]), as_pointer<const u32>(p.w[3]), row_count(p), (i64)p.w[6], as_pointer<u64>(p.w[4]), as_pointer<u32>(p.w[5]))")
	case sortSelect:
		kernel("digits", "select_digits(Less{p}, (i64)p.w[0], as_pointer<u64>(p.w[7]), (int)p.w[8], (i64)p.w[9])")
		kernel("candidates", "select_rows(Less{p}, (i64)p.w[0], as_pointer<const u64>(p.w[7]), (i64)p.w[9], as_pointer<u32>(p.w[5]), as_pointer<u64>(p.w[10]), (i64)p.w[11])")
	}
	return b.String()
}

// cName is the type of a stored item, valueName of what is compared.
func (c *sortColumn) cName() string {
	if c.class == form.Int && c.unsigned {
		return "u64"
	}
	return c.class.CName()
}

func (c *sortColumn) valueName() string {
	if c.class == form.Code {
		return form.View.CName()
	}
	return c.cName()
}

// heldRows is up to how many rows a block sorts alone, in shared memory. The host does not ask how many of so few there are.
const heldRows = 1 << 13

// selects says whether the first wanted of some rows are found before they are sorted.
func selects(wanted, rows float64) bool { return wanted*8 < rows && rows > 1<<16 }

// sortShape lists what orders the rows of a Sort, and the stored column of each: the keys, then what else is kept, so that
// rows which agree in all keys come in the same order in two runs.
func (g *program) sortShape(s *physical.Sort) (cols []sortColumn, at []int) {
	form := g.sinks[s]
	add := func(i int, desc bool) {
		c := form.cols[i].like
		cols = append(cols, sortColumn{class: c.Class, unsigned: c.Typ.Phys() == types.PhysUint64, nullable: c.Null != "", desc: desc})
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

// sorts says whether the rows of a Sort are ordered on the device, since what orders them is stored there.
func (g *program) sorts(s *physical.Sort) bool {
	form := g.sinks[s]
	return form != nil && len(form.cols) >= len(s.Cols)+len(s.Keys)
}

// expects says whether a sort of as many rows as the planner expects needs a part.
func (g *program) expects(s *physical.Sort, part sortPart) bool {
	rows := 0.0
	for _, p := range g.feeders[s] {
		rows += p.EstRows
	}
	wanted := rows
	if s.Count >= 0 {
		wanted = min(rows, float64(s.Offset)+float64(s.Count))
	}
	selected := selects(wanted, rows)
	switch part {
	case sortMerge:
		return rows > heldRows && (!selected || wanted > heldRows)
	case sortSelect:
		return selected
	}
	return true
}
