package expr

import (
	"slices"

	"github.com/radish-sql/radish/sql/types"
)

// A quotient of exact numbers is shown with four digits more than its dividend has (div_precision_increment). Inside an expression MySQL goes on computing with
// a whole number of nine-digit groups, the last one cut, not rounded (decimal.c, do_div_mod). So 1/3*3 is 1.0000 and not 0.9999.
//
// So a division is a call with those digits under a Cast, marked IsDisplay, that rounds to the scale that SQL sees.
//
//   - Arithmetic and ABS, comparisons as numbers (NULLIF's too), ROUND, TRUNCATE, CEIL, FLOOR, SIGN and FORMAT, and casts to numbers and times
//     look through the mark, as in MySQL. CASE and its like hand the longer number on under a mark of their own.
//   - Package planner/bind does the same for aggregates, scalar subqueries, variables, and derived tables that MySQL merges: their column
//     is a pair of columns, of which [Column.Long] has the further digits.
//   - Wherever else the number goes it is the rounded one: in results, strings, JSON, groups, tables, set operations, windows, and derived
//     tables that MySQL stores.

// WithHiddenDigits returns e as the next operation computes with it.
func WithHiddenDigits(e Expr) Expr {
	switch x := e.(type) {
	case *Cast:
		if x.IsDisplay {
			return x.Arg
		}
	case *Column:
		if x.Long != nil && x.Typ.Kind == types.KindDecimal {
			return x.Long
		}
	}
	return e
}

// mayHoldRounded says whether e, beside a quotient, is a number that may be such a quotient as it is shown: a column of a subquery or table, or what CASE and its like
// choose, of the quotient's scale. Then the shown digits are compared, or i/j = (SELECT MAX(i/j) FROM t) would not hold for a row of t.
func mayHoldRounded(quotient, e Expr) bool {
	_, isConstant := e.(*Const)
	shown, t := quotient.Type(), e.Type()
	return WithHiddenDigits(quotient) != quotient && WithHiddenDigits(e) == e && !isConstant && t.Kind == types.KindDecimal && t.Scale == shown.Scale
}

// applyHidden builds a call of a function that keeps hidden digits. sig is its signature by the types that SQL sees.
func applyHidden(fn *Function, sig Signature, args []Expr) (Expr, error) {
	if sig.Result.Kind != types.KindDecimal && fn.Name != "intdiv" && !fn.Digits.Rounds {
		return BuildCall(fn, sig, args), nil
	}
	long := make([]Expr, len(args))
	for i, a := range args {
		long[i] = WithHiddenDigits(a)
	}
	inner, err := fn.Resolve(long)
	if err != nil {
		return nil, err
	}
	if fn.Digits.Rounds || sig.Result.Kind != types.KindDecimal {
		inner.Result = sig.Result
		return BuildCall(fn, inner, long), nil
	}
	shown, digits := int(sig.Result.Scale), fn.Digits.Hidden(long)
	whole, err := wholeOf(fn, sig, args, long)
	if err != nil {
		return nil, err
	}
	scale := min(digits, types.MaxDecimalScale, types.MaxDecimalPrecision-whole)
	if fn == division && (scale > shown || digits == shown) {
		// Cut and then rounded; or, where all digits that MySQL computes are shown, only cut.
		fn = longDivision
	}
	if scale > shown {
		inner.Result = types.Decimal(whole+scale, scale)
		if fn.Name == "add" || fn.Name == "sub" {
			// Where not all digits fit, the operands give them up first, so that they can be aligned.
			for i, a := range long {
				if ScaleOf(a.Type()) > scale {
					long[i] = NewCast(a, types.Decimal(WholeDigits(a.Type())+1+scale, scale))
				}
			}
		}
		return &Cast{Arg: BuildCall(fn, inner, long), To: sig.Result, IsDisplay: true}, nil
	}
	if digits == shown { // all are shown, those that an operand hid too
		inner.Result = sig.Result
		return BuildCall(fn, inner, long), nil
	}
	return BuildCall(fn, sig, args), nil
}

// wholeOf is how many digits stand before the point of a call's result. Those of a sum with hidden digits are fewer than its type
// has: it leaves space for the others.
func wholeOf(fn *Function, sig Signature, args, long []Expr) (int, error) {
	short := make([]Expr, len(args))
	same := true
	for i, a := range args {
		short[i] = a
		if w := WholeDigits(long[i].Type()); long[i] != a && w < WholeDigits(a.Type()) {
			short[i], same = &Column{Typ: types.Decimal(w+ScaleOf(a.Type()), ScaleOf(a.Type()))}, false
		}
	}
	if same {
		return WholeDigits(sig.Result), nil
	}
	own, err := fn.Resolve(short)
	return min(WholeDigits(sig.Result), WholeDigits(own.Result)), err
}

// applyChoice builds a call of a function that gives one of its operands, whose hidden digits it keeps.
func applyChoice(fn *Function, sig Signature, args []Expr) Expr {
	if fn.Name == "nullif" { // it compares the longer operands
		if sig.Result.Kind != types.KindDecimal || WithHiddenDigits(args[0]) == args[0] {
			return BuildCall(fn, sig, args)
		}
		shown := sig.Result
		sig.Result = sig.Args[0]
		return &Cast{Arg: BuildCall(fn, sig, args), To: shown, IsDisplay: true}
	}
	var choices []int
	var results []Expr
	for i, t := range sig.Args {
		if t == sig.Result {
			choices, results = append(choices, i), append(results, args[i])
		}
	}
	return chosen(results, sig.Result, func(results []Expr, t types.Type) Expr {
		own := slices.Clone(args)
		out := Signature{Args: slices.Clone(sig.Args), Result: t, Nullable: sig.Nullable}
		for k, i := range choices {
			own[i], out.Args[i] = results[k], t
		}
		return BuildCall(fn, out, own)
	})
}

// chosen builds what gives one of several results, of type t as SQL sees it. Where a result has hidden digits, build makes it of them all,
// with a type that holds them.
func chosen(results []Expr, t types.Type, build func(results []Expr, t types.Type) Expr) Expr {
	if t.Kind != types.KindDecimal {
		return build(results, t)
	}
	long, scale := make([]Expr, len(results)), 0
	for i, e := range results {
		long[i] = WithHiddenDigits(e)
		scale = max(scale, ScaleOf(long[i].Type()))
	}
	scale = min(scale, types.MaxDecimalScale, types.MaxDecimalPrecision-WholeDigits(t))
	if scale <= int(t.Scale) {
		return build(results, t)
	}
	return &Cast{Arg: build(long, types.Decimal(WholeDigits(t)+scale, scale)), To: t, IsDisplay: true}
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
// more, so it makes no difference that the others were there. What chooses among numbers chooses among rounded ones.
func directQuotient(e Expr) Expr {
	c, ok := e.(*Cast)
	if !ok || !c.IsDisplay {
		return e
	}
	switch x := c.Arg.(type) {
	case *Call:
		switch {
		case x.Fn == longDivision && ScaleOf(c.To) < ScaleOf(x.Typ):
			return &Call{Fn: division, Args: x.Args, Typ: c.To, Null: x.Null}
		case x.Fn.Digits.Chooses && x.Fn.Name != "nullif":
			args := slices.Clone(x.Args)
			for i, a := range args {
				if i > 0 || x.Fn.Name != "if" {
					args[i] = rounded(a, c.To)
				}
			}
			return &Call{Fn: x.Fn, Args: args, Typ: c.To, Null: x.Null}
		}
	case *Case:
		out := &Case{Whens: slices.Clone(x.Whens), Typ: c.To}
		for i := range out.Whens {
			out.Whens[i].Then = rounded(out.Whens[i].Then, c.To)
		}
		if x.Else != nil {
			out.Else = rounded(x.Else, c.To)
		}
		return out
	}
	return e
}

// rounded rounds a number to the scale that is shown; a cast that only added zeros is left out.
func rounded(e Expr, shown types.Type) Expr {
	if c, ok := e.(*Cast); ok && !c.IsDisplay && exactOrInt(c.Arg.Type()) && ScaleOf(c.Arg.Type()) <= ScaleOf(c.To) && WholeDigits(c.Arg.Type()) <= WholeDigits(c.To) {
		e = c.Arg
	}
	if c, ok := e.(*Const); ok && c.Value.Null {
		return &Const{Value: types.NullOf(shown)}
	}
	if e.Type() == shown {
		return e
	}
	return &Cast{Arg: e, To: shown, IsDisplay: true}
}

// LongAverage is the scale of an average of numbers of type t with its hidden digits, where whole digits stand before the point. It is rounded
// down to a multiple of nine. It is 0 if that is no more than the numbers' own scale.
func LongAverage(t types.Type, whole int) int {
	count := &Const{Value: types.IntValue(1)}
	scale := min(hiddenOfDiv([]Expr{&Const{Value: types.NullOf(t)}, count}), types.MaxDecimalScale, types.MaxDecimalPrecision-whole) / 9 * 9
	if scale <= ScaleOf(t) {
		return 0
	}
	return scale
}
