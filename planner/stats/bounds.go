package stats

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/datetime"
	"github.com/radish-sql/radish/sql/types"
)

// Bounds returns proven bounds of x over n's rows, NULLs aside: of the int64 that holds its values, or of the
// codes of the one dictionary that holds a string column.
func (e *Estimator) Bounds(n logical.Node, x expr.Expr) (lo, hi int64, ok bool) {
	if x.Type().IsString() {
		if c, isColumn := x.(*expr.Column); isColumn {
			return codes(n, c.ID)
		}
		return 0, 0, false
	}
	if x.Type().Phys() != types.PhysInt64 {
		return 0, 0, false
	}
	return e.bounds(n, x)
}

func (e *Estimator) bounds(n logical.Node, x expr.Expr) (lo, hi int64, ok bool) {
	switch x := x.(type) {
	case *expr.Column:
		return e.columnBounds(n, x.ID)
	case *expr.Const:
		return x.Value.I, x.Value.I, !x.Value.Null && x.Value.Type.Phys() == types.PhysInt64
	case *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.IsNull, *expr.In:
		return 0, 1, true
	case *expr.Cast:
		if from := x.Arg.Type(); from.IsInteger() && x.To.IsInteger() && from.Phys() == types.PhysInt64 && x.To.Phys() == types.PhysInt64 {
			lo, hi, ok = e.bounds(n, x.Arg)
			tlo, thi := types.IntRange(x.To.Kind)
			return max(lo, tlo), min(hi, thi), ok && lo <= thi && hi >= tlo && x.To.Kind != types.KindYear && x.To.Kind != types.KindBool
		}
	case *expr.Case:
		lo, hi = math.MaxInt64, math.MinInt64
		results := make([]expr.Expr, 0, len(x.Whens)+1)
		for _, w := range x.Whens {
			results = append(results, w.Then)
		}
		if x.Else != nil {
			results = append(results, x.Else)
		}
		for _, r := range results {
			if c, isConst := r.(*expr.Const); isConst && c.Value.Null {
				continue
			}
			if r.Type().Phys() != types.PhysInt64 || r.Type().Kind == types.KindDecimal {
				return 0, 0, false
			}
			l, h, known := e.bounds(n, r)
			if !known {
				return 0, 0, false
			}
			lo, hi = min(lo, l), max(hi, h)
		}
		return lo, hi, lo <= hi
	case *expr.Call:
		return e.callBounds(n, x)
	}
	return 0, 0, false
}

// callBounds knows the parts of dates and the arithmetic of integers.
func (e *Estimator) callBounds(n logical.Node, x *expr.Call) (lo, hi int64, ok bool) {
	if unit, day, ok := datetime.DatePart(x); ok {
		return e.partBounds(n, unit, day)
	}
	switch x.Fn.Name {
	case "hour":
		return 0, 838, true
	case "minute", "second":
		return 0, 59, true
	case "dayofweek":
		return 1, 7, true
	case "weekday":
		return 0, 6, true
	case "dayofyear":
		return 0, 366, true
	case "datediff":
		a, b := x.Args[0], x.Args[1]
		if a.Type().Kind != types.KindDate || b.Type().Kind != types.KindDate {
			return 0, 0, false
		}
		aLo, aHi, aOK := e.bounds(n, a)
		bLo, bHi, bOK := e.bounds(n, b)
		return aLo - bHi, aHi - bLo, aOK && bOK
	}
	return expr.IntegerBounds(x, func(i int) (lo, hi int64, ok bool) { return e.bounds(n, x.Args[i]) })
}

// partBounds bounds a unit of a DATE or DATETIME. Zeros are parts of dates, too.
func (e *Estimator) partBounds(n logical.Node, unit types.Unit, day expr.Expr) (lo, hi int64, ok bool) {
	switch unit {
	case types.UnitQuarter:
		return 0, 4, true
	case types.UnitMonth:
		return 0, 12, true
	case types.UnitDay:
		return 0, 31, true
	case types.UnitYear, types.UnitYearMonth:
		lo, hi = 0, 9999
		if day.Type().Kind == types.KindDate {
			if first, last, known := e.bounds(n, day); known {
				lo, hi = int64(types.YearOf(first)), int64(types.YearOf(last))
			}
		}
		if unit == types.UnitYearMonth {
			lo, hi = 100*lo, 100*hi+12
		}
		return lo, hi, true
	}
	return 0, 0, false
}

func (e *Estimator) columnBounds(n logical.Node, id expr.ColumnID) (lo, hi int64, ok bool) {
	switch x := n.(type) {
	case *logical.Scan:
		return scanBounds(x, id)
	case *logical.Filter:
		if lo, hi, ok = e.columnBounds(x.Input, id); ok {
			lo, hi = narrowed(lo, hi, x.Preds, id)
			ok = lo <= hi
		}
		return lo, hi, ok
	case *logical.Window:
		if logical.Out(x.Input).Has(id) {
			return e.columnBounds(x.Input, id)
		}
	case *logical.Unnest:
		if logical.Out(x.Input).Has(id) {
			return e.columnBounds(x.Input, id)
		}
	case *logical.Sort:
		return e.columnBounds(x.Input, id)
	case *logical.Limit:
		return e.columnBounds(x.Input, id)
	case *logical.Project:
		return e.itemBounds(x, x.Input, x.Items, id)
	case *logical.Join:
		if x.Mark != nil && x.Mark.ID == id {
			return 0, 1, true
		}
		if logical.Out(x.Left).Has(id) {
			return e.columnBounds(x.Left, id)
		}
		return e.columnBounds(x.Right, id)
	case *logical.Aggregate:
		for i := range x.Aggs {
			if agg := &x.Aggs[i]; agg.Col.ID == id {
				switch agg.Fn.Kind {
				case expr.AggMin, expr.AggMax, expr.AggAnyValue, expr.AggSingle:
					return e.givenBounds(x, id, x.Input, agg.Args[0])
				}
				return 0, 0, false
			}
		}
		return e.itemBounds(x, x.Input, x.Groups, id)
	case *logical.SetOp:
		return e.setOpBounds(x, id)
	case *logical.WorkTable:
		return e.loopBounds(x, id)
	case *logical.Shared:
		for i, c := range x.Cols {
			if c.ID == id {
				root, from := x.Plan.Root, x.From[i].ID
				return e.onceBounds(root, from, func() (lo, hi int64, ok bool) { return e.columnBounds(root, from) })
			}
		}
	}
	return 0, 0, false
}

// scanBounds are those of a column that a table has, by its zone maps and the scan's filter.
func scanBounds(x *logical.Scan, id expr.ColumnID) (lo, hi int64, ok bool) {
	i := slices.IndexFunc(x.Cols, func(c *expr.Column) bool { return c.ID == id })
	if i < 0 || x.Ordinals[i] == logical.RowIDOrdinal || x.Cols[i].Typ.Phys() != types.PhysInt64 {
		return 0, 0, false
	}
	st := x.Table.Zones(x.Ordinals[i])
	if st.Min.Null || st.Max.Null {
		return 0, 0, false
	}
	lo, hi = narrowed(st.Min.I, st.Max.I, x.Filter, id)
	return lo, hi, lo <= hi
}

// setOpBounds are those of a column of UNION and the like: what the bounds of all its inputs span.
func (e *Estimator) setOpBounds(x *logical.SetOp, id expr.ColumnID) (lo, hi int64, ok bool) {
	i := slices.IndexFunc(x.Cols, func(c *expr.Column) bool { return c.ID == id })
	if i < 0 {
		return 0, 0, false
	}
	lo, hi = math.MaxInt64, math.MinInt64
	for k, in := range x.All {
		l, h, known := e.columnBounds(in, x.InCols[k][i].ID)
		if !known {
			return 0, 0, false
		}
		lo, hi = min(lo, l), max(hi, h)
	}
	return lo, hi, true
}

// loopBounds are those of a column of a recursion's last round: what the bounds of its first rows and of what a round gives span, if the latter do not follow from the round before.
func (e *Estimator) loopBounds(x *logical.WorkTable, id expr.ColumnID) (lo, hi int64, ok bool) {
	r := e.loops[x.Loop]
	i := slices.IndexFunc(x.Cols, func(c *expr.Column) bool { return c.ID == id })
	if r == nil || i < 0 || i >= len(r.Cols) {
		return 0, 0, false
	}
	delete(e.loops, x.Loop) // so that nothing is known of the round before
	defer func() { e.loops[x.Loop] = r }()
	lo, hi, ok = e.columnBounds(r.Seed, r.SeedCols[i].ID)
	if !ok {
		return 0, 0, false
	}
	l, h, ok := e.columnBounds(r.Step, r.StepCols[i].ID)
	return min(lo, l), max(hi, h), ok
}

// itemBounds bounds n's column id, which is one of items over in.
func (e *Estimator) itemBounds(n, in logical.Node, items []logical.Item, id expr.ColumnID) (lo, hi int64, ok bool) {
	for _, it := range items {
		if it.Col.ID == id {
			return e.givenBounds(n, id, in, it.Expr)
		}
	}
	return 0, 0, false
}

// givenBounds bounds n's column id, which x over in gives.
func (e *Estimator) givenBounds(n logical.Node, id expr.ColumnID, in logical.Node, x expr.Expr) (lo, hi int64, ok bool) {
	if x.Type().Phys() != types.PhysInt64 {
		return 0, 0, false
	}
	switch x.(type) {
	case *expr.Column, *expr.Const:
		return e.bounds(in, x)
	}
	return e.onceBounds(n, id, func() (lo, hi int64, ok bool) { return e.bounds(in, x) })
}

// onceBounds keeps what find says of n's column id: expressions may name a column more than once, and a shared plan has several readers, so that the
// questions would double at each level.
func (e *Estimator) onceBounds(n logical.Node, id expr.ColumnID, find func() (lo, hi int64, ok bool)) (lo, hi int64, ok bool) {
	k := colKey{n, id}
	r, known := e.ranges[k]
	if !known {
		r.lo, r.hi, r.ok = find()
		if e.ranges == nil {
			e.ranges = map[colKey]valueRange{}
		}
		e.ranges[k] = r
	}
	return r.lo, r.hi, r.ok
}

// narrowed intersects bounds with the comparisons of preds, which are true, on the column.
func narrowed(lo, hi int64, preds []expr.Expr, id expr.ColumnID) (int64, int64) {
	for _, p := range preds {
		switch x := p.(type) {
		case *expr.Compare:
			col, ok := x.Left.(*expr.Column)
			if !ok || col.ID != id {
				continue
			}
			c, ok := x.Right.(*expr.Const)
			if !ok || c.Value.Null || c.Value.Type.Phys() != types.PhysInt64 {
				continue
			}
			v := c.Value.I
			switch x.Op {
			case expr.EQ, expr.NSEQ:
				lo, hi = max(lo, v), min(hi, v)
			case expr.LE:
				hi = min(hi, v)
			case expr.GE:
				lo = max(lo, v)
			case expr.LT:
				if v > math.MinInt64 {
					hi = min(hi, v-1)
				}
			case expr.GT:
				if v < math.MaxInt64 {
					lo = max(lo, v+1)
				}
			}
		case *expr.In:
			col, ok := x.Arg.(*expr.Column)
			if !ok || col.ID != id || len(x.List) == 0 {
				continue
			}
			l, h := int64(math.MaxInt64), int64(math.MinInt64)
			for _, v := range x.List {
				l, h = min(l, v.I), max(h, v.I)
			}
			lo, hi = max(lo, l), min(hi, h)
		}
	}
	return lo, hi
}

// codes returns the range of the dictionary codes of a string column that comes from a scan unchanged, if the whole column
// has one dictionary.
func codes(n logical.Node, id expr.ColumnID) (lo, hi int64, ok bool) {
	switch x := n.(type) {
	case *logical.Scan:
		for i, c := range x.Cols {
			if c.ID != id || x.Ordinals[i] < 0 {
				continue
			}
			d := x.Table.Zones(x.Ordinals[i]).Dict
			if d == nil || d.Len() == 0 {
				return 0, 0, false
			}
			return 0, int64(d.Len()) - 1, true
		}
	case *logical.Filter:
		return codes(x.Input, id)
	case *logical.Window:
		if logical.Out(x.Input).Has(id) {
			return codes(x.Input, id)
		}
	case *logical.Project:
		for _, it := range x.Items {
			if c, isColumn := it.Expr.(*expr.Column); isColumn && it.Col.ID == id {
				return codes(x.Input, c.ID)
			}
		}
	case *logical.Join:
		if logical.Out(x.Left).Has(id) {
			return codes(x.Left, id)
		}
		return codes(x.Right, id)
	}
	return 0, 0, false
}
