package program

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// columnRange is what comparisons with constants leave of a column's values. It is tested on the column's offsets as they are stored:
// one subtraction and one comparison of 32 bits a row, however many comparisons there are (kernel.LowWord).
type columnRange struct {
	at     int // of scan.Cols
	lo, hi int64
}

// divide divides a scan's filters into ranges of columns that are loaded as vectors and the rest. forms are those of the columns; first says which are loaded before rows are filtered.
func divide(scan *physical.TableScan, forms []form.Column, first []bool) (ranges []columnRange, rest []expr.Expr) {
next:
	for _, e := range scan.Filters {
		at, lo, hi, ok := rangeOf(scan, forms, first, e)
		if !ok {
			rest = append(rest, e)
			continue
		}
		for i := range ranges {
			if o := &ranges[i]; o.at == at {
				o.lo, o.hi = max(o.lo, lo), min(o.hi, hi)
				continue next
			}
		}
		ranges = append(ranges, columnRange{at, lo, hi})
	}
	return ranges, rest
}

// rangeOf is the range that a comparison of a column with a constant leaves.
func rangeOf(scan *physical.TableScan, forms []form.Column, first []bool, e expr.Expr) (at int, lo, hi int64, ok bool) {
	cmp, ok := e.(*expr.Compare)
	if !ok {
		return 0, 0, 0, false
	}
	op := cmp.Op
	col, isCol := cmp.Left.(*expr.Column)
	c, isConst := cmp.Right.(*expr.Const)
	if !isCol || !isConst {
		col, isCol = cmp.Right.(*expr.Column)
		c, isConst = cmp.Left.(*expr.Const)
		op = op.Swap()
	}
	if !isCol || !isConst || c.Value.Null || col.Typ.Phys() != types.PhysInt64 || c.Value.Type.Phys() != types.PhysInt64 || codegen.ScaleOf(col.Typ) != codegen.ScaleOf(c.Value.Type) {
		return 0, 0, 0, false
	}
	if at = slices.IndexFunc(scan.Cols, func(c *expr.Column) bool { return c.ID == col.ID }); at < 0 {
		return 0, 0, 0, false
	}
	if f := &forms[at]; !first[at] || f.Class != form.Int || f.Width > 4 {
		return 0, 0, 0, false
	}
	lo, hi = math.MinInt64, math.MaxInt64
	n := c.Value.I
	switch op {
	case expr.EQ:
		lo, hi = n, n
	case expr.LE:
		hi = n
	case expr.GE:
		lo = n
	case expr.LT:
		if n == math.MinInt64 {
			return at, 1, 0, true
		}
		hi = n - 1
	case expr.GT:
		if n == math.MaxInt64 {
			return at, 1, 0, true
		}
		lo = n + 1
	default:
		return 0, 0, 0, false
	}
	return at, lo, hi, true
}

// total says whether an expression can be computed for any row, even one that is not there.
func total(e expr.Expr) bool {
	ok := true
	expr.Walk(e, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Column:
			ok = ok && form.ClassOf(e.Typ) != form.View
		case *expr.Const, *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.IsNull, *expr.In:
		default:
			ok = false
		}
		return ok
	})
	return ok
}
