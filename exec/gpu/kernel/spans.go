package kernel

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Spans returns the runs of row numbers that a scan has to read: those of the row groups that the zone maps of its integer columns do
// not rule out. It looks at filters that compare a column with constants, alone or in lists, and at nothing else.
func (t *Target) Spans(scan *physical.TableScan) []form.Span {
	var bounds []form.Bound
	for _, e := range scan.Filters {
		bounds = t.bounds(bounds, scan, e)
	}
	return form.Spans(scan.Table, bounds)
}

// bounds adds what a conjunct says of a column's range.
func (t *Target) bounds(out []form.Bound, scan *physical.TableScan, e expr.Expr) []form.Bound {
	add := func(c expr.Expr, lo, hi types.Value) []form.Bound {
		col, ok := c.(*expr.Column)
		if !ok {
			return out
		}
		for i, x := range scan.Cols {
			if x.ID != col.ID || scan.Ordinals[i] == logical.RowIDOrdinal {
				continue
			}
			typ := scan.Table.Schema.Columns[scan.Ordinals[i]].Type
			if form.ClassOf(typ) != form.Int || !sameScale(typ, lo.Type) || !sameScale(typ, hi.Type) {
				return out
			}
			b := form.Bound{Lo: math.MinInt64, Hi: math.MaxInt64, Zones: t.Columns(scan.Table, scan.Ordinals[i]).Zones}
			if !lo.Null {
				b.Lo = lo.I ^ form.FlipOf(typ)
			}
			if !hi.Null {
				b.Hi = hi.I ^ form.FlipOf(typ)
			}
			return append(out, b)
		}
		return out
	}
	switch x := e.(type) {
	case *expr.Compare:
		l, right, op := x.Left, x.Right, x.Op
		if _, ok := l.(*expr.Const); ok {
			l, right, op = right, l, op.Swap()
		}
		k, ok := right.(*expr.Const)
		if !ok || k.Value.Null {
			return out
		}
		none := types.NullOf(k.Value.Type)
		switch op {
		case expr.EQ, expr.NSEQ:
			return add(l, k.Value, k.Value)
		case expr.LT, expr.LE:
			return add(l, none, k.Value)
		case expr.GT, expr.GE:
			return add(l, k.Value, none)
		}
	case *expr.In:
		if len(x.List) == 0 || form.ClassOf(x.List[0].Type) != form.Int {
			return out
		}
		flip := form.FlipOf(x.List[0].Type)
		lo, hi := x.List[0], x.List[0]
		for _, v := range x.List {
			if v.Null || !sameScale(lo.Type, v.Type) {
				return out
			}
			if v.I^flip < lo.I^flip {
				lo = v
			}
			if v.I^flip > hi.I^flip {
				hi = v
			}
		}
		return add(x.Arg, lo, hi)
	}
	return out
}

// sameScale says whether the stored integers of two types can be compared as they are.
func sameScale(a, b types.Type) bool {
	return a.Phys() == b.Phys() && (a.Kind == types.KindDecimal) == (b.Kind == types.KindDecimal) && a.Scale == b.Scale
}
