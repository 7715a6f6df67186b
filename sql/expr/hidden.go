package expr

import "github.com/radish-sql/radish/sql/types"

// A quotient of exact numbers is shown with four digits more than its dividend has (div_precision_increment), but inside an
// expression MySQL goes on computing with a whole number of nine-digit groups, the last one cut, not rounded (decimal.c,
// do_div_mod): 1/3*3 is 1.0000 and not 0.9999, and a/b*b = a is false where that leaves 0.999999999.
//
// So a division is a call with those digits under a Cast, marked Display, that rounds to the scale that SQL sees.
// Arithmetic and ABS, comparisons as numbers (NULLIF's too), ROUND, TRUNCATE, CEIL, FLOOR, SIGN and FORMAT, and casts to numbers and times
// look through the mark, as in MySQL. Wherever else the number goes it is the rounded one: in results, texts, JSON, groups, tables, set
// operations, subqueries, CASE and aggregates. MySQL hands CASE, aggregates and their like the longer one, as long as it does not store
// it in between, which depends on its plan.

// withHiddenDigits returns e as the next operation computes with it.
func withHiddenDigits(e Expr) Expr {
	if c, ok := e.(*Cast); ok && c.Display {
		return c.Arg
	}
	return e
}

// mayHoldRounded says whether e, beside a quotient, is a number that may be such a quotient as it is shown: a column of a subquery or table, or what CASE and its like
// choose, of the quotient's scale. Then the shown digits are compared, or i/j = (SELECT MAX(i/j) FROM t) would not hold for a row of t.
func mayHoldRounded(quotient, e Expr) bool {
	_, constant := e.(*Const)
	shown, t := quotient.Type(), e.Type()
	return withHiddenDigits(quotient) != quotient && withHiddenDigits(e) == e && !constant && t.Kind == types.KindDecimal && t.Scale == shown.Scale
}

// applyHidden builds a call of a function that keeps hidden digits. sig is its signature by the types that SQL sees.
func applyHidden(fn *Function, sig Signature, args []Expr) (Expr, error) {
	if sig.Result.Kind != types.KindDecimal && fn.Name != "intdiv" && !fn.Rounds {
		return BuildCall(fn, sig, args), nil
	}
	long := make([]Expr, len(args))
	for i, a := range args {
		long[i] = withHiddenDigits(a)
	}
	inner, err := fn.Resolve(long)
	if err != nil {
		return nil, err
	}
	if fn.Rounds || sig.Result.Kind != types.KindDecimal {
		inner.Result = sig.Result
		return BuildCall(fn, inner, long), nil
	}
	shown, digits := int(sig.Result.Scale), fn.Hidden(long)
	scale := min(digits, types.MaxDecimalScale, types.MaxDecimalPrecision-WholeDigits(sig.Result))
	if fn == division && (scale > shown || digits == shown) {
		// Cut and then rounded; or, where all digits that MySQL computes are shown, only cut.
		fn = longDivision
	}
	if scale > shown {
		inner.Result = types.Decimal(WholeDigits(sig.Result)+scale, scale)
		if fn.Name == "add" || fn.Name == "sub" {
			// Where not all digits have room the operands give them up first, so that they can be aligned.
			for i, a := range long {
				if ScaleOf(a.Type()) > scale {
					long[i] = NewCast(a, types.Decimal(WholeDigits(a.Type())+1+scale, scale))
				}
			}
		}
		return &Cast{Arg: BuildCall(fn, inner, long), To: sig.Result, Display: true}, nil
	}
	if digits == shown { // all are shown, those that an operand hid too
		inner.Result = sig.Result
		return BuildCall(fn, inner, long), nil
	}
	return BuildCall(fn, sig, args), nil
}

// hiddenOfDiv is the scale of MySQL's quotient: operands count whole groups of nine digits.
func hiddenOfDiv(args []Expr) int {
	groups := func(digits int) int { return (digits + 8) / 9 }
	a, b := ScaleOf(args[0].Type()), ScaleOf(args[1].Type())
	whole := 9 * (groups(a) + groups(b))
	more := max(types.DivPrecisionIncrease-(whole-a-b), 0)
	return 9 * groups(whole+more)
}

// HiddenOfSum is the scale of a + b, a - b, a % b and -a over such operands, hiddenOfProduct that of a * b.
func HiddenOfSum(args []Expr) int {
	scale := 0
	for _, a := range args {
		scale = max(scale, ScaleOf(a.Type()))
	}
	return scale
}

func hiddenOfProduct(args []Expr) int {
	return ScaleOf(args[0].Type()) + ScaleOf(args[1].Type())
}

// directQuotient computes a quotient that is only shown with the digits that are shown. Rounding looks at one digit
// more, so it makes no difference that the others were there.
func directQuotient(e Expr) Expr {
	if c, ok := e.(*Cast); ok && c.Display {
		if d, ok := c.Arg.(*Call); ok && d.Fn == longDivision && ScaleOf(c.To) < ScaleOf(d.Typ) {
			return &Call{Fn: division, Args: d.Args, Typ: c.To, Null: d.Null}
		}
	}
	return e
}
