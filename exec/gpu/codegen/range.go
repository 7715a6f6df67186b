package codegen

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/datetime"
	"github.com/radish-sql/radish/sql/types"
)

// Ranges bounds the values of columns. Nothing checks the bounds again: positions in arrays and the bits of sums follow from them, so each rule
// below has to hold for every value that the evaluator can give.
type Ranges map[expr.ColumnID]form.Interval

// Of bounds an expression's values by those of its columns; ok is false if nothing is known.
func (known Ranges) Of(e expr.Expr) (r form.Interval, ok bool) {
	if p := e.Type().Phys(); p != types.PhysInt64 && p != types.PhysInt128 {
		return form.Interval{}, false
	}
	switch e := e.(type) {
	case *expr.Column:
		r, ok = known[e.ID]
		return r, ok
	case *expr.Const:
		if e.Value.Null {
			return form.Interval{}, true
		}
		x := e.Value.I
		if e.Type().Phys() == types.PhysInt128 {
			if x, ok = e.Value.D.Int64(); !ok {
				return form.Interval{}, false
			}
		}
		return form.Interval{Lo: x, Hi: x}, true
	case *expr.Case:
		return known.ofCase(e)
	case *expr.Cast:
		if r, ok = known.Of(e.Arg); !ok {
			return form.Interval{}, false
		}
		return castRange(r, e.Arg.Type(), e.To)
	case *expr.Call:
		if unit, day, isPart := datetime.DatePart(e); isPart && unit == types.UnitYear && day.Type().Kind == types.KindDate {
			r, ok = known.Of(day)
			if !ok || r.Lo < -700_000 || r.Hi > 2_900_000 {
				return form.Interval{}, false
			}
			year := func(days int64) int64 { return int64(types.YearOf(days)) }
			return form.Interval{Lo: year(r.Lo), Hi: year(r.Hi)}, true
		}
		return known.ofArithmetic(e)
	}
	return form.Interval{}, false
}

// Note notes the bounds of a column's values, or that none are known.
func (known Ranges) Note(id expr.ColumnID, within form.Interval, ok bool) {
	if !ok {
		delete(known, id)
		return
	}
	known[id] = within
}

// ofCase bounds a CASE by its results, each of which has to be a value of the CASE's type as it is.
func (known Ranges) ofCase(e *expr.Case) (r form.Interval, ok bool) {
	results := make([]expr.Expr, 0, len(e.Whens)+1)
	for _, w := range e.Whens {
		results = append(results, w.Then)
	}
	if e.Else != nil {
		results = append(results, e.Else)
	}
	first := true
	for _, x := range results {
		if c, constant := x.(*expr.Const); constant && c.Value.Null {
			continue
		}
		s, ok := known.Of(x)
		if !ok || !sameIntegers(x.Type(), e.Typ) {
			return form.Interval{}, false
		}
		if first {
			r, first = s, false
		}
		r.Lo, r.Hi = min(r.Lo, s.Lo), max(r.Hi, s.Hi)
	}
	return r, true
}

// sameIntegers says whether what is one integer as a value of a type is the same as a value of another.
func sameIntegers(a, b types.Type) bool {
	return expr.SameValues(a, b) || ExactType(a) && ExactType(b) && ScaleOf(a) == ScaleOf(b)
}

// ofArithmetic bounds sums, differences and products of integers and decimals. What does not fit the result's type is an error.
func (known Ranges) ofArithmetic(e *expr.Call) (form.Interval, bool) {
	switch e.Fn.Name {
	case "add", "sub", "mul":
	default:
		return form.Interval{}, false
	}
	var args [2]form.Interval
	for i, x := range e.Args {
		if i > 1 || !ExactType(x.Type()) {
			return form.Interval{}, false
		}
		var ok bool
		if args[i], ok = known.Of(x); !ok {
			return form.Interval{}, false
		}
	}
	a, b := args[0], args[1]
	sa, sb, to := ScaleOf(e.Args[0].Type()), ScaleOf(e.Args[1].Type()), ScaleOf(e.Typ)
	if e.Fn.Name == "mul" {
		if sa+sb != to {
			return form.Interval{}, false
		}
	} else {
		var okA, okB bool
		a, okA = rescaled(a, sa, to)
		b, okB = rescaled(b, sb, to)
		if !okA || !okB {
			return form.Interval{}, false
		}
	}
	return spanOf(e.Fn.Name, a, b)
}

// spanOf bounds an operator's results over two intervals, if they stay well inside 64 bits.
func spanOf(operator string, a, b form.Interval) (form.Interval, bool) {
	lo, hi, ok := expr.Span(operator, [2]int64{a.Lo, a.Hi}, [2]int64{b.Lo, b.Hi})
	return form.Interval{Lo: lo, Hi: hi}, ok && lo != math.MinInt64
}

// castRange bounds what a cast makes of values within r: where it keeps their order, of the ends come the ends. An end that does not fit, or that gives a
// warning, leaves nothing known.
func castRange(r form.Interval, from, to types.Type) (form.Interval, bool) {
	if expr.SameValues(from, to) {
		return r, true
	}
	if !keepsOrder(from, to) {
		return form.Interval{}, false
	}
	lo, okLo := castEnd(r.Lo, from, to)
	hi, okHi := castEnd(r.Hi, from, to)
	return form.Interval{Lo: lo, Hi: hi}, okLo && okHi
}

// castEnd casts a value that is an int64, or a decimal's, to one that is.
func castEnd(x int64, from, to types.Type) (int64, bool) {
	v := types.Value{Type: from, I: x}
	if from.Phys() == types.PhysInt128 {
		v = types.DecimalValue(from, types.Int128FromInt64(x))
	}
	out, status := types.Cast(v, to)
	switch {
	case status != types.ConvertOK || out.Null:
		return 0, false
	case to.Phys() == types.PhysInt128:
		return out.D.Int64()
	}
	return out.I, true
}

// keepsOrder says whether a cast gives no smaller value for a larger one, whatever the session's clock shows: numbers are rounded, and dates and times become
// the numbers that their digits make. Not so unsigned numbers, to which negative ones wrap round, and the two digits that stand for a YEAR.
func keepsOrder(from, to types.Type) bool {
	isNumber := to.Kind == types.KindDecimal || to.IsInteger() && !to.IsUnsigned() && to.Kind != types.KindBool
	switch from.Kind {
	case types.KindDate:
		return isNumber || to.Kind == types.KindDatetime
	case types.KindDatetime:
		return isNumber || to.Kind == types.KindDatetime || to.Kind == types.KindDate
	case types.KindTime:
		return isNumber || to.Kind == types.KindTime
	}
	return isNumber && ExactType(from)
}

// rescaled brings decimals from one scale to another that is at least as large.
func rescaled(r form.Interval, from, to int) (form.Interval, bool) {
	if to < from || to-from > 18 {
		return form.Interval{}, false
	}
	scale := types.Pow10(to - from)
	return spanOf("mul", r, form.Interval{Lo: scale, Hi: scale})
}
