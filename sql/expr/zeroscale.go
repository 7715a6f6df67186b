package expr

import "github.com/radish-sql/radish/sql/types"

// ZeroScale is the number of digits behind the point of e where e is zero. A user variable shows it, since it keeps the digits that the computation
// gave. A zero quotient and the difference of equal numbers have none, whatever the operands' scales (decimal.c, do_div_mod and do_sub). Otherwise it is
// the type's scale. column answers for columns and subqueries.
func ZeroScale(e Expr, column func(Expr) int) int {
	e = WithHiddenDigits(e)
	scale := ScaleOf(e.Type())
	largest := func(results ...Expr) int {
		most := 0
		for _, r := range results {
			if !neverZero(r) {
				most = max(most, ZeroScale(r, column))
			}
		}
		return min(most, scale)
	}
	switch x := e.(type) {
	case *Column, *Subquery:
		return min(column(x), scale)
	case *Case:
		var results []Expr
		for _, w := range x.Whens {
			results = append(results, w.Then)
		}
		if x.Else != nil {
			results = append(results, x.Else)
		}
		return largest(results...)
	case *Cast:
		if !x.Written && x.To.Kind == types.KindDecimal && (x.Arg.Type().Kind == types.KindDecimal || x.Arg.Type().IsInteger()) {
			return largest(x.Arg)
		}
	case *Call:
		switch x.Fn.Name {
		case division.Name, longDivision.Name, "sub":
			return 0
		case "neg", "abs", "nullif":
			return largest(x.Args[0])
		case "if":
			return largest(x.Args[1:]...)
		case "ifnull", "coalesce", "greatest", "least":
			return largest(x.Args...)
		case "add": // beside a number that is not zero, it is the difference of equal ones
			if neverZero(x.Args[0]) || neverZero(x.Args[1]) {
				return 0
			}
		case "mul":
			for i, a := range x.Args {
				if neverZero(a) {
					return min(ZeroScale(x.Args[1-i], column)+ScaleOf(a.Type()), scale)
				}
			}
		}
	}
	return scale
}

// neverZero recognises a number other than zero, and NULL.
func neverZero(e Expr) bool {
	for {
		c, ok := e.(*Cast)
		if !ok || c.Written {
			break
		}
		e = c.Arg
	}
	c, ok := e.(*Const)
	if !ok || c.Variable {
		return false
	}
	return c.Value.Null || c.Value.Type.IsInteger() && c.Value.I != 0 || c.Value.Type.Kind == types.KindDecimal && c.Value.Unscaled() != types.Int128{}
}

// AtZeroScale returns v with so many digits behind the point if it is a DECIMAL that is zero.
func AtZeroScale(v types.Value, scale int) types.Value {
	if v.Type.Kind == types.KindDecimal && !v.Null && scale < int(v.Type.Scale) && v.Unscaled() == (types.Int128{}) {
		v.Type = types.Decimal(max(scale, 1), scale)
	}
	return v
}
