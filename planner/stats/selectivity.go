package stats

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Shares assumed where nothing is known.
const (
	unknownEquality = 0.1  // f(x) = constant
	unknownRange    = 0.33 // x < y
	prefixMatch     = 0.03 // LIKE 'a%'
	infixMatch      = 0.08 // LIKE '%a%'
	unknownBool     = 0.5
	unknownTotal    = 0.1 // a condition on SUM or COUNT: written to pick out few groups
)

// Selectivity estimates the share of n's rows for which all of preds are true. Conditions on one column are taken
// together as an interval; different columns are taken to be independent.
func (e *Estimator) Selectivity(preds []expr.Expr, n logical.Node) float64 {
	sel := 1.0
	var done logical.ColSet
	asked := map[uint64][]expr.Expr{} // by hash: what is asked for twice counts once
	for _, p := range preds {
		if len(preds) > 1 {
			h := expr.Hash(p)
			if slices.ContainsFunc(asked[h], func(o expr.Expr) bool { return expr.Equal(o, p) }) {
				continue
			}
			asked[h] = append(asked[h], p)
		}
		if col, _, ok := rangeOf(p); ok && logical.Out(n).Has(col.ID) {
			if !done.Has(col.ID) {
				done.Add(col.ID)
				sel *= e.interval(preds, col, n)
			}
			continue
		}
		sel *= e.selectivity(p, n)
	}
	return min(max(sel, 0), 1)
}

// rangeOf recognises column op constant with an op that bounds an interval.
func rangeOf(p expr.Expr) (*expr.Column, *expr.Compare, bool) {
	c, ok := p.(*expr.Compare)
	if !ok || c.Op < expr.LT || c.Op > expr.GE {
		return nil, nil, false
	}
	col, ok := c.Left.(*expr.Column)
	if !ok {
		return nil, nil, false
	}
	v, ok := c.Right.(*expr.Const)
	return col, c, ok && !v.Value.Null && v.Value.Type.Phys() == col.Typ.Phys()
}

// interval is the share of rows whose value of col lies within all range conditions of preds on it.
func (e *Estimator) interval(preds []expr.Expr, col *expr.Column, n logical.Node) float64 {
	st := e.Column(n, col.ID)
	if st.Base == nil && st.Min.Type.Kind == types.KindNull {
		return pick(st.IsTotal, unknownTotal, unknownRange)
	}
	lo, hi := 0.0, 1-st.NullFrac
	bounds := 0
	for _, p := range preds {
		c, cmp, ok := rangeOf(p)
		if !ok || c.ID != col.ID {
			continue
		}
		bounds++
		v := cmp.Right.(*expr.Const).Value
		switch cmp.Op {
		case expr.LT, expr.LE:
			hi = min(hi, below(st, v, cmp.Op == expr.LE))
		case expr.GT, expr.GE:
			lo = max(lo, below(st, v, cmp.Op == expr.GT))
		}
	}
	if hi < lo {
		return 1e-6
	}
	if bounds > 1 && hi-lo == 0 {
		return 1 / max(st.Distinct, 1)
	}
	return max(hi-lo, 1e-6)
}

// below is the share of rows whose value is less than v, or equal with inclusive.
func below(st *Column, v types.Value, inclusive bool) float64 {
	notNull := 1 - st.NullFrac
	if b := st.Base; b != nil && (b.Histogram != nil || len(b.Common) > 0) {
		f := 0.0
		if b.Histogram != nil {
			f = b.Histogram.Below(v, inclusive)
		}
		for _, c := range b.Common {
			if k := types.Compare(c.Value, v); k < 0 || k == 0 && inclusive {
				f += c.Fraction
			}
		}
		return min(f, notNull)
	}
	lo, hi, ok := numbers(st.Min, st.Max)
	if x, finite := number(v); ok && finite {
		switch {
		case x < lo:
			return 0
		case x >= hi:
			return notNull
		case hi > lo:
			return notNull * (x/2 - lo/2) / (hi/2 - lo/2) // halves: hi - lo may exceed the largest double
		}
	}
	return notNull * unknownRange
}

func numbers(a, b types.Value) (lo, hi float64, ok bool) {
	lo, ok1 := number(a)
	hi, ok2 := number(b)
	return lo, hi, ok1 && ok2
}

// number is v on a line, for interpolation.
func number(v types.Value) (float64, bool) {
	if v.Null || v.Type.Kind == types.KindNull {
		return 0, false
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return v.F, types.IsFinite(v.F)
	case types.PhysInt128:
		return v.D.Float64(), true
	case types.PhysUint64:
		return float64(uint64(v.I)), true
	case types.PhysInt64:
		return float64(v.I), true
	}
	return 0, false
}

func (e *Estimator) selectivity(p expr.Expr, n logical.Node) float64 {
	switch x := p.(type) {
	case *expr.Const:
		if x.Value.Null || x.Value.I == 0 {
			return 0
		}
		return 1
	case *expr.And:
		return e.Selectivity(x.Args, n)
	case *expr.Or:
		miss := 1.0
		for _, a := range x.Args {
			miss *= 1 - e.selectivity(a, n)
		}
		return 1 - miss
	case *expr.Not:
		if in, ok := x.Arg.(*expr.IsNull); ok {
			return 1 - e.nullFrac(in.Arg, n)
		}
		return max(1-e.selectivity(x.Arg, n), 0)
	case *expr.IsNull:
		return e.nullFrac(x.Arg, n)
	case *expr.In:
		if st := e.columnOf(x.Arg, n); st != nil {
			sum := 0.0
			for i, v := range x.List {
				if i == 1000 {
					sum *= float64(len(x.List)) / 1000
					break
				}
				sum += equals(st, v)
			}
			return min(sum, 1)
		}
		return min(unknownEquality*float64(len(x.List)), 0.5)
	case *expr.Compare:
		return e.comparison(x, n)
	case *expr.Call:
		if x.Fn.Name == "like" && len(x.Args) >= 2 {
			return likeShare(x.Args[1])
		}
	}
	return unknownBool
}

func likeShare(pattern expr.Expr) float64 {
	if c, ok := pattern.(*expr.Const); ok && !c.Value.Null && c.Value.S != "" && c.Value.S[0] != '%' && c.Value.S[0] != '_' {
		return prefixMatch
	}
	return infixMatch
}

func (e *Estimator) nullFrac(x expr.Expr, n logical.Node) float64 {
	if !x.Nullable() {
		return 0
	}
	if st := e.columnOf(x, n); st != nil {
		return st.NullFrac
	}
	return 0.1
}

func (e *Estimator) columnOf(x expr.Expr, n logical.Node) *Column {
	if c, ok := x.(*expr.Column); ok && logical.Out(n).Has(c.ID) {
		return e.Column(n, c.ID)
	}
	return nil
}

func (e *Estimator) comparison(x *expr.Compare, n logical.Node) float64 {
	l, r := e.columnOf(x.Left, n), e.columnOf(x.Right, n)
	c, isConst := x.Right.(*expr.Const)
	switch x.Op {
	case expr.EQ, expr.NSEQ:
		switch {
		case l != nil && isConst:
			if c.Value.Null {
				return pick(x.Op == expr.NSEQ, l.NullFrac, 0)
			}
			return equals(l, c.Value)
		case l != nil && r != nil:
			return 1 / max(l.Distinct, r.Distinct, 1)
		case isConst && logical.UsedWithin(x.Left, logical.Out(n)):
			return min(unknownEquality, 1/max(e.distinctOf(n, x.Left), 1)*4)
		}
		return unknownEquality
	case expr.NE:
		return 1 - e.comparison(&expr.Compare{Op: expr.EQ, Left: x.Left, Right: x.Right}, n)
	}
	if l != nil && isConst && !c.Value.Null {
		return e.interval([]expr.Expr{x}, x.Left.(*expr.Column), n)
	}
	return unknownRange
}

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

// equals is the share of rows that have the value v: what the table counted for a common value, else an equal part of what the
// common values leave. Conditions that narrowed the column since make the parts larger.
func equals(st *Column, v types.Value) float64 {
	notNull := 1 - st.NullFrac
	d := max(st.Distinct, 1)
	b := st.Base
	if b == nil || v.Type.Phys() != b.Min.Type.Phys() {
		return notNull / d
	}
	if !b.Min.Null && (types.Compare(v, b.Min) < 0 || types.Compare(v, b.Max) > 0) {
		return 0
	}
	if st.Domain < b.Distinct { // narrowed: shares of the whole table no longer hold
		return notNull / d
	}
	rest := notNull
	for _, c := range b.Common {
		if types.Compare(c.Value, v) == 0 {
			return c.Fraction
		}
		rest -= c.Fraction
	}
	return max(rest, 0) / max(b.Distinct-float64(len(b.Common)), 1)
}

// restrict narrows a column's estimates by the conditions of preds on it alone.
func restrict(c *Column, preds []expr.Expr, id expr.ColumnID) *Column {
	out := *c
	lo, hi := 0.0, 1-c.NullFrac
	ranged := false
	for _, p := range preds {
		switch x := p.(type) {
		case *expr.Compare:
			col, ok := x.Left.(*expr.Column)
			if !ok || col.ID != id {
				continue
			}
			v, ok := x.Right.(*expr.Const)
			if !ok || v.Value.Null {
				continue
			}
			out.NullFrac = 0
			switch x.Op {
			case expr.EQ, expr.NSEQ:
				out.Distinct, out.Domain, out.Min, out.Max = 1, 1, v.Value, v.Value
			case expr.LT, expr.LE:
				ranged = true
				if v.Value.Type.Phys() == col.Typ.Phys() {
					hi = min(hi, below(c, v.Value, true))
					if out.Max.Null || types.Compare(v.Value, out.Max) < 0 {
						out.Max = v.Value
					}
				}
			case expr.GT, expr.GE:
				ranged = true
				if v.Value.Type.Phys() == col.Typ.Phys() {
					lo = max(lo, below(c, v.Value, false))
					if out.Min.Null || types.Compare(v.Value, out.Min) > 0 {
						out.Min = v.Value
					}
				}
			}
		case *expr.In:
			if col, ok := x.Arg.(*expr.Column); ok && col.ID == id {
				n := float64(len(x.List))
				out.Distinct, out.Domain, out.NullFrac = min(out.Distinct, n), min(out.Domain, n), 0
			}
		case *expr.Or:
			// A derived x = a OR x = b is a list already; other forms say nothing simple.
		case *expr.Not:
			if in, ok := x.Arg.(*expr.IsNull); ok {
				if col, ok := in.Arg.(*expr.Column); ok && col.ID == id {
					out.NullFrac = 0
				}
			}
		case *expr.Call:
			if x.Fn.Name == "like" && len(x.Args) >= 2 {
				if col, ok := x.Args[0].(*expr.Column); ok && col.ID == id {
					s := likeShare(x.Args[1])
					out.Distinct, out.Domain, out.NullFrac = max(out.Distinct*s, 1), max(out.Domain*s, 1), 0
				}
			}
		}
	}
	if ranged && out.Domain > 1 {
		share := max(hi-lo, 1e-9) / max(1-c.NullFrac, 1e-9)
		out.Distinct, out.Domain = max(out.Distinct*share, 1), max(out.Domain*share, 1)
	}
	if math.IsNaN(out.Distinct) {
		out.Distinct = 1
	}
	return &out
}
