package gpu

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// spans returns the runs of row numbers that a scan has to read: those of the row groups that the zone maps of its integer columns do
// not rule out. Filters are looked at for columns compared with constants, alone and in lists, and nothing else.
func (r *residency) spans(scan *physical.TableScan) []span {
	var bounds []zoneBound
	for _, e := range scan.Filters {
		bounds = r.bounds(bounds, scan, e)
	}
	bounds = slices.DeleteFunc(bounds, zoneBound.leavesAll)
	groups := scan.Table.Groups
	if len(bounds) == 0 {
		if len(groups) == 0 {
			return nil
		}
		return []span{{0, scan.Table.Span()}}
	}
	var out []span
next:
	for i, g := range groups {
		for _, b := range bounds {
			if b.zones.Lo[i] > b.hi || b.zones.Hi[i] < b.lo {
				continue next
			}
		}
		end := g.First + int64(g.Rows)
		if k := len(out); k > 0 && out[k-1].end == g.First {
			out[k-1].end = end
		} else {
			out = append(out, span{g.First, end})
		}
	}
	return out
}

// zoneBound says that rows whose value lies outside lo..hi do not pass.
type zoneBound struct {
	zones  form.Zones
	lo, hi int64
}

// leavesAll says whether there are such rows in every row group, as far as is known: with columns in no order that is so, however many groups there are.
func (b zoneBound) leavesAll() bool { return b.zones.MostLo <= b.hi && b.zones.LeastHi >= b.lo }

// bounds adds what a conjunct says of a column's range.
func (r *residency) bounds(out []zoneBound, scan *physical.TableScan, e expr.Expr) []zoneBound {
	add := func(c expr.Expr, lo, hi types.Value) []zoneBound {
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
			b := zoneBound{lo: math.MinInt64, hi: math.MaxInt64, zones: r.form(scan.Table, scan.Ordinals[i]).Zones}
			if !lo.Null {
				b.lo = lo.I ^ form.FlipOf(typ)
			}
			if !hi.Null {
				b.hi = hi.I ^ form.FlipOf(typ)
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
