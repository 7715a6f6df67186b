package stats

import (
	"math"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// carry is what magnitudes are multiplied by after each operation, so that rounding doubles never makes them too small.
const carry = 1 + 1e-9

// Magnitude bounds the absolute values of a number over n's columns; it is infinite where nothing is known of it, or a value is not finite.
func (e *Estimator) Magnitude(n logical.Node, x expr.Expr) float64 {
	t := x.Type()
	if lo, hi, ok := e.Bounds(n, x); ok && !t.IsTemporal() && !t.IsString() {
		return carry * max(math.Abs(float64(lo)), math.Abs(float64(hi))) / math.Pow10(expr.ScaleOf(t))
	}
	m := e.computed(n, x)
	switch {
	case t.IsInteger():
		return min(m, 1<<64)
	case t.Kind == types.KindDecimal:
		return min(m, math.Pow10(expr.WholeDigits(t)))
	}
	return m
}

// computed is Magnitude by what x computes.
func (e *Estimator) computed(n logical.Node, x expr.Expr) float64 {
	switch x := x.(type) {
	case *expr.Column:
		return e.columnMagnitude(n, x)
	case *expr.Const:
		if x.Value.Null {
			return 0
		}
		if x.Type().IsNumeric() {
			f, _ := x.Value.Float()
			return carry * math.Abs(f)
		}
	case *expr.Cast:
		if x.Arg.Type().IsNumeric() && x.To.IsNumeric() {
			return carry * e.Magnitude(n, x.Arg)
		}
	case *expr.Case:
		m := 0.0
		for _, w := range x.Whens {
			m = max(m, e.Magnitude(n, w.Then))
		}
		if x.Else != nil {
			m = max(m, e.Magnitude(n, x.Else))
		}
		return m
	case *expr.Call:
		return e.ofCall(n, x)
	}
	return math.Inf(1)
}

func (e *Estimator) ofCall(n logical.Node, x *expr.Call) float64 {
	of := func(i int) float64 { return e.Magnitude(n, x.Args[i]) }
	switch x.Fn.Name {
	case "add", "sub":
		return carry * (of(0) + of(1))
	case "mul":
		a, b := of(0), of(1)
		if a == 0 || b == 0 {
			return math.Inf(1) // of infinite values, too
		}
		return carry * a * b
	case "neg", "abs":
		return of(0)
	case "div", "div_cut":
		if by := divisor(x); by > 0 {
			return carry * of(0) / by
		}
	}
	return math.Inf(1)
}

// divisor returns the absolute value of the constant that a quotient or remainder divides by, or 0.
func divisor(x *expr.Call) float64 {
	by := x.Args[1]
	if cast, ok := by.(*expr.Cast); ok {
		by = cast.Arg
	}
	if c, ok := by.(*expr.Const); ok && !c.Value.Null && c.Type().IsNumeric() {
		f, _ := c.Value.Float()
		return math.Abs(f)
	}
	return 0
}

// columnMagnitude bounds a stored column of doubles.
func (e *Estimator) columnMagnitude(n logical.Node, x *expr.Column) float64 {
	c := e.columnOf(x, n)
	if c == nil || c.Base == nil || !x.Type().IsFloat() || c.Base.Min.Null || c.Base.Max.Null {
		return math.Inf(1)
	}
	if m := max(math.Abs(c.Base.Min.F), math.Abs(c.Base.Max.F)); !math.IsNaN(m) {
		return m
	}
	return math.Inf(1)
}

// harmless are functions that have a value, or NULL, for all operands that they take without a cast.
var harmless = map[string]bool{
	"lower": true, "upper": true, "length": true, "char_length": true, "left": true, "right": true, "substring": true,
	"trim": true, "ltrim": true, "rtrim": true, "concat": true, "if": true, "ifnull": true, "nullif": true, "coalesce": true,
	"isnull": true, "greatest": true, "least": true, "sign": true, "like": true, "datediff": true, "dayofweek": true, "weekday": true,
	"dayofyear": true, "hour": true, "minute": true, "second": true, "year": true, "month": true, "dayofmonth": true, "quarter": true,
}

// CannotFail says whether an expression over n's columns has a value, or NULL, in every row, in a statement that writes in strict SQL mode,
// too. Rules that compute it for rows that the statement never gets to must ask.
func (e *Estimator) CannotFail(n logical.Node, x expr.Expr) bool {
	for _, c := range x.Children() {
		if !e.CannotFail(n, c) {
			return false
		}
	}
	switch x := x.(type) {
	case *expr.Column, *expr.Const, *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.IsNull, *expr.In, *expr.Case:
		return true
	case *expr.Cast:
		return x.IsDisplay || e.castFits(n, x)
	case *expr.Call:
		switch x.Fn.Name {
		case "mod", "intdiv", "div", "div_cut":
			if divisor(x) == 0 {
				return false
			}
			if x.Fn.Name == "mod" {
				return true
			}
			fallthrough
		case "add", "sub", "mul", "neg", "abs":
			return e.fits(x.Typ, e.ofCall(n, x)) || e.isBounded(n, x)
		case "date_add", "date_sub":
			return e.staysWithinYears(n, x)
		}
		return harmless[x.Fn.Name]
	}
	return false
}

// staysWithinYears says whether an interval leads from no day or time of a column out of the years that there are.
func (e *Estimator) staysWithinYears(n logical.Node, x *expr.Call) bool {
	const longest = 900 // years, if that is the unit
	days := int64(1)
	switch x.Args[0].Type().Kind {
	case types.KindDate:
	case types.KindDatetime, types.KindTimestamp:
		days = types.MicrosPerDay
	default:
		return false
	}
	lo, hi, ok := e.Bounds(n, x.Args[0])
	if !ok || !x.Args[1].Type().IsInteger() || e.Magnitude(n, x.Args[1]) > longest {
		return false
	}
	return types.YearOf(lo/days) > longest && types.YearOf(hi/days) < 9999-longest
}

func (e *Estimator) isBounded(n logical.Node, x expr.Expr) bool {
	_, _, ok := e.Bounds(n, x)
	return ok
}

// fits says whether all numbers up to a magnitude are of type t.
func (e *Estimator) fits(t types.Type, magnitude float64) bool {
	switch {
	case t.Kind == types.KindUint64: // a negative one is not
		return false
	case t.IsInteger():
		lo, hi := types.IntRange(t.Kind)
		return carry*magnitude < min(-float64(lo), float64(hi))
	case t.Kind == types.KindDecimal:
		return carry*magnitude < math.Pow10(expr.WholeDigits(t))
	}
	return t.IsFloat() && magnitude < math.MaxFloat64
}

// castFits says whether a cast neither fails nor warns.
func (e *Estimator) castFits(n logical.Node, x *expr.Cast) bool {
	from := x.Arg.Type()
	switch {
	case from == x.To, from.Kind == types.KindNull, from.Kind == types.KindDate && x.To.Kind == types.KindDatetime, x.To.IsFloat() && from.IsNumeric():
		return true
	case from.IsNumeric() && x.To.IsNumeric():
		whole := func(t types.Type) int { return expr.WholeDigits(types.AsDecimal(t)) }
		return x.To.Kind == types.KindDecimal && !from.IsFloat() && whole(x.To) >= whole(from) || e.fits(x.To, e.Magnitude(n, x.Arg))
	}
	return false
}
