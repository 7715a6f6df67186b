package enginetest

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// aggregated is the reference for Aggregate: the rows of each group, then each aggregate over the group's list.
func aggregated(s *physical.Aggregate, ins []*rel) (*rel, error) {
	out := newRel()
	for _, g := range s.Groups {
		out.add(g.Col.ID)
	}
	for _, a := range s.Aggs {
		out.add(a.Col.ID)
	}
	type group struct {
		key  row
		rows []row
	}
	byKey := map[string]*group{}
	var order []*group
	if len(s.Groups) == 0 {
		g := &group{}
		byKey[""] = g
		order = append(order, g)
	}
	var r *rel
	for _, r = range ins {
		for _, x := range r.rows {
			var key row
			for _, it := range s.Groups {
				key = append(key, r.eval(it.Expr, x))
			}
			g := byKey[keyString(key)]
			if g == nil {
				g = &group{key: key}
				byKey[keyString(key)] = g
				order = append(order, g)
			}
			g.rows = append(g.rows, x)
		}
	}
	for _, g := range order {
		y := slices.Clone(g.key)
		for i := range s.Aggs {
			v, err := aggregateOf(&s.Aggs[i], r, g.rows)
			if err != nil {
				return nil, err
			}
			y = append(y, v)
		}
		out.rows = append(out.rows, y)
	}
	return out, nil
}

func aggregateOf(a *logical.AggItem, r *rel, rows []row) (types.Value, error) {
	t := a.Col.Typ
	if a.Fn.Kind == expr.AggCountStar {
		return types.IntValue(int64(len(rows))), nil
	}
	if a.Fn.Kind == expr.AggSingle {
		switch len(rows) {
		case 0:
			return types.NullOf(t), nil
		case 1:
			return r.eval(a.Args[0], rows[0]), nil
		}
		return types.Value{}, sqlerr.New(sqlerr.CodeSubqueryNo1Row, sqlerr.User, "Subquery returns more than 1 row")
	}
	args, kept := argumentsOf(a, r, rows)
	switch a.Fn.Kind {
	case expr.AggCount:
		return types.IntValue(int64(len(args))), nil
	case expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		return types.Value{Type: t, I: int64(bits(a.Fn.Kind, args))}, nil
	case expr.AggRegrCount:
		return types.IntValue(int64(len(args))), nil
	case expr.AggApproxCountDistinct: // exact of few
		return types.IntValue(int64(len(countValues(args)))), nil
	}
	if len(args) == 0 {
		return types.NullOf(t), nil
	}
	switch a.Fn.Kind {
	case expr.AggMin, expr.AggMax:
		best := args[0][0]
		for _, v := range args {
			if c := compare(v[0], best); c < 0 == (a.Fn.Kind == expr.AggMin) && c != 0 {
				best = v[0]
			}
		}
		return best, nil
	case expr.AggAnyValue:
		return args[0][0], nil
	case expr.AggSum, expr.AggAvg:
		return total(a, args)
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		return moments(a, args), nil
	case expr.AggGroupConcat:
		s := concatenated(a, r, args, kept)
		return types.Value{Type: t, S: s[:min(len(s), 1024)]}, nil
	}
	return ofAnalysts(a, args)
}

// argumentsOf computes an aggregate's arguments for the rows that it looks at, which it returns too.
func argumentsOf(a *logical.AggItem, r *rel, rows []row) (args, kept []row) {
	seen := map[string]bool{}
	for _, x := range rows {
		var vs row
		null := false
		for _, e := range a.Args {
			v := r.eval(e, x)
			null = null || v.Null
			vs = append(vs, v)
		}
		if null && a.Fn.Kind != expr.AggAnyValue {
			continue
		}
		if a.Distinct {
			if seen[keyString(vs)] {
				continue
			}
			seen[keyString(vs)] = true
		}
		args, kept = append(args, vs), append(kept, x)
	}
	return args, kept
}

// bits is BIT_AND, BIT_OR or BIT_XOR.
func bits(kind expr.AggKind, args []row) uint64 {
	u := uint64(0)
	if kind == expr.AggBitAnd {
		u = math.MaxUint64
	}
	for _, v := range args {
		switch kind {
		case expr.AggBitAnd:
			u &= uint64(v[0].I)
		case expr.AggBitOr:
			u |= uint64(v[0].I)
		default:
			u ^= uint64(v[0].I)
		}
	}
	return u
}

// concatenated is GROUP_CONCAT before it is cut. rows are those of the arguments.
func concatenated(a *logical.AggItem, r *rel, args, rows []row) string {
	order := make([]int, len(args))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		for _, k := range a.OrderBy {
			c := compareNulls(r.eval(k.Expr, rows[x]), r.eval(k.Expr, rows[y]))
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	var parts []string
	for _, i := range order {
		s := ""
		for _, v := range args[i] {
			s += v.Text()
		}
		parts = append(parts, s)
	}
	before, behind := a.Form.Brackets()
	return before + strings.Join(parts, a.Sep) + behind
}

// total sums with big rationals.
func total(a *logical.AggItem, args []row) (types.Value, error) {
	t := a.Col.Typ
	if s, special := specialSum(args); special {
		return types.Value{Type: t, F: s}, nil
	}
	sum := new(big.Rat)
	scale := 0
	for _, v := range args {
		x := v[0]
		sum.Add(sum, ratOf(x))
		if x.Type.Kind == types.KindDecimal {
			scale = int(x.Type.Scale)
		}
	}
	if a.Fn.Kind == expr.AggAvg {
		sum.Quo(sum, new(big.Rat).SetInt64(int64(len(args))))
	}
	if t.Phys() == types.PhysFloat64 {
		f, _ := sum.Float64()
		return types.Value{Type: t, F: f}, nil
	}
	// From the argument's scale to the result's, rounding half away from zero.
	for ; scale < int(t.Scale); scale++ {
		sum.Mul(sum, new(big.Rat).SetInt64(10))
	}
	neg := sum.Sign() < 0
	sum.Abs(sum)
	sum.Add(sum, big.NewRat(1, 2))
	q := new(big.Int).Quo(sum.Num(), sum.Denom())
	if neg {
		q.Neg(q)
	}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
	if t.Kind == types.KindDecimal && q.CmpAbs(limit) >= 0 {
		return types.Value{}, sqlerr.DataOutOfRange("DECIMAL", a.Fn.Name)
	}
	d, ok := types.ParseInt128(q.String())
	if !ok {
		return types.Value{}, sqlerr.DataOutOfRange("DECIMAL", a.Fn.Name)
	}
	if t.Phys() == types.PhysInt128 {
		return types.Value{Type: t, D: d}, nil
	}
	i, _ := d.Int64()
	return types.Value{Type: t, I: i}, nil
}

// specialSum is the sum and the average of doubles if some are not finite: infinities of one sign give it, all else NaN.
func specialSum(args []row) (sum float64, special bool) {
	for _, v := range args {
		if v[0].Type.IsFloat() && !finite(v[0].F) {
			sum, special = sum+v[0].F, true
		}
	}
	return sum, special
}

// ratOf is a number; a decimal without its point.
func ratOf(x types.Value) *big.Rat {
	switch x.Type.Phys() {
	case types.PhysFloat64:
		return new(big.Rat).SetFloat64(x.F)
	case types.PhysInt128:
		return new(big.Rat).SetInt(bigOf(x.D))
	case types.PhysUint64:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(uint64(x.I)))
	}
	return new(big.Rat).SetInt64(x.I)
}

// moments computes the variances with big rationals.
func moments(a *logical.AggItem, args []row) types.Value {
	n := int64(len(args))
	if _, special := specialSum(args); special && (n > 1 || a.Fn.Kind == expr.AggVarPop || a.Fn.Kind == expr.AggStddevPop) {
		return types.Value{Type: a.Col.Typ, F: math.NaN()}
	} else if special {
		return types.NullOf(a.Col.Typ)
	}
	sum, squares := new(big.Rat), new(big.Rat)
	for _, v := range args {
		x := new(big.Rat).SetFloat64(v[0].F)
		sum.Add(sum, x)
		squares.Add(squares, x.Mul(x, x))
	}
	sum.Mul(sum, sum)
	squares.Sub(squares, sum.Quo(sum, big.NewRat(n, 1)))
	if a.Fn.Kind == expr.AggVarSamp || a.Fn.Kind == expr.AggStddevSamp {
		n--
	}
	if n == 0 {
		return types.NullOf(a.Col.Typ)
	}
	x, _ := squares.Quo(squares, big.NewRat(n, 1)).Float64()
	if a.Fn.Kind == expr.AggStddevPop || a.Fn.Kind == expr.AggStddevSamp {
		x = math.Sqrt(x)
	}
	return types.Value{Type: a.Col.Typ, F: x}
}
