package numeric

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Rounding and sign, exact for integers and decimals: halves go away from zero. Doubles round halves to even, as MySQL's
// do.

// roundingFunctions are ABS, SIGN and what rounds.
func roundingFunctions() []*expr.Function {
	fn := func(name, syntax, doc string, maxArgs int, resolve func([]expr.Expr) (expr.Signature, error), eval expr.Kernel, aliases ...string) *expr.Function {
		return &expr.Function{Name: name, Aliases: aliases, Category: category, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: maxArgs,
			Resolve: resolve, Eval: eval, Digits: expr.Digits{Rounds: true}}
	}
	abs := fn("abs", "ABS(x)", "The absolute value.", 1, resolveAbs, evalAbs)
	abs.Digits.Rounds, abs.Digits.Hidden = false, expr.HiddenOfSum
	return []*expr.Function{
		abs,
		fn("sign", "SIGN(x)", "-1, 0 or 1, as x is below, equal to or above 0.", 1, resolveSign, evalSign),
		fn("ceil", "CEIL(x)", "The least integer not below x.", 1, resolveWhole, wholeKernel(math.Ceil, types.CeilDecimal), "ceiling"),
		fn("floor", "FLOOR(x)", "The greatest integer not above x.", 1, resolveWhole, wholeKernel(math.Floor, types.FloorDecimal)),
		fn("round", "ROUND(x [, d])", "x rounded to d digits behind the point (0); d may be negative. Exact halves go away from zero. A DECIMAL gets no more digits than it has.",
			2, resolveRound, rounder(false)),
		{Name: "truncate", Category: category, Syntax: "TRUNCATE(x, d)", MinArgs: 2, MaxArgs: 2,
			Doc: "x cut to d digits behind the point; d may be negative.", Resolve: resolveRound, Eval: rounder(true), Digits: expr.Digits{Rounds: true}},
	}
}

func resolveAbs(args []expr.Expr) (expr.Signature, error) {
	t := expr.NumericType(args[0].Type())
	sig := expr.Signature{Args: []types.Type{expr.CastNumeric(args[0].Type())}, Result: t}
	switch {
	case t.IsFloat():
		sig.Result = types.Double
	case t.IsUnsigned():
		sig.Result = types.Uint64
	case t.IsInteger():
		sig.Result = types.Int64
	}
	return sig, nil
}

func evalAbs(_ *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if out.Type.IsFloat() {
		return floatKernel(math.Abs)(nil, call, out, args, sel, n)
	}
	a := expr.Wides(args[0])
	for _, i := range expr.Positions(sel, n) {
		r, ok := a.At(int(i)).Abs()
		if out.Type.Kind == types.KindInt64 && r.Hi == 0 && int64(r.Lo) < 0 {
			ok = false // |-2^63|
		}
		if !ok {
			return expr.OutOfRange(call)
		}
		expr.SetWide(out, int(i), r)
	}
	return nil
}

func resolveSign(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{expr.CastNumeric(args[0].Type())}, Result: types.Int64}, nil
}

func evalSign(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if args[0].Type.IsFloat() {
		a := expr.Floats(args[0])
		for _, i := range expr.Positions(sel, n) {
			x := a.At(int(i))
			out.I64[i] = int64(types.CompareFloats(x, 0))
		}
		return nil
	}
	a := expr.Wides(args[0])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = int64(a.At(int(i)).Sign())
	}
	return nil
}

// resolveWhole: integers stay integers, decimals become BIGINT or, with more digits, DECIMAL(p,0).
func resolveWhole(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolveAbs(args)
	if sig.Result.Kind == types.KindDecimal {
		whole := expr.WholeDigits(sig.Result) + 1 // 9.5 becomes 10
		sig.Result = types.Int64
		if whole > types.MaxShortDecimal {
			sig.Result = types.Decimal(whole, 0)
		}
	}
	return sig, err
}

func wholeKernel(f func(float64) float64, exact func(types.Int128, int) types.Int128) expr.Kernel {
	return func(_ *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		if out.Type.IsFloat() {
			return floatKernel(f)(nil, call, out, args, sel, n)
		}
		a, scale := expr.Wides(args[0]), expr.ScaleOf(args[0].Type)
		for _, i := range expr.Positions(sel, n) {
			expr.SetWide(out, int(i), exact(a.At(int(i)), scale))
		}
		return nil
	}
}

// resolveRound: the number of digits, if it is constant, sets a decimal's scale.
func resolveRound(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolveAbs(args)
	if len(args) == 2 {
		sig.Args, sig.Capped = append(sig.Args, types.Int64), true
	}
	if sig.Result.Kind != types.KindDecimal {
		return sig, err
	}
	scale := int(sig.Result.Scale)
	digits := 0
	if len(args) == 2 {
		digits = scale
		if c, ok := expr.CappedInt(foldArithmetic(args[1])).(*expr.Const); ok && !c.Value.Null {
			digits = int(min(max(c.Value.I, -types.MaxDecimalPrecision), int64(scale)))
		} else {
			// Each row has its own number of digits; one more may be needed in front.
			sig.Result = types.Decimal(expr.WholeDigits(sig.Result)+1+scale, scale)
			return sig, err
		}
	}
	sig.Result = types.RoundType(sig.Result, digits)
	return sig, err
}

// foldArithmetic folds what needs no session: literals under signs and sums, as in ROUND(x, -2).
func foldArithmetic(e expr.Expr) expr.Expr {
	plain := true
	expr.Walk(e, func(e expr.Expr) bool {
		switch x := e.(type) {
		case *expr.Const:
		case *expr.Call:
			switch x.Fn.Name {
			case "neg", "add", "sub", "mul":
			default:
				plain = false
			}
		default:
			plain = false
		}
		return plain
	})
	if !plain {
		return e
	}
	return expr.Fold(e, &expr.Context{})
}

// rounder makes ROUND and TRUNCATE.
func rounder(cut bool) expr.Kernel {
	return func(_ *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		digits := expr.ConstantInt(0)
		if len(args) == 2 {
			digits = expr.Ints(args[1])
		}
		if out.Type.IsFloat() {
			a := expr.Floats(args[0])
			places, power := int64(0), 1.0
			for _, i := range expr.Positions(sel, n) {
				if d := digits.At(int(i)); d != places {
					places, power = d, pow(10, math.Abs(float64(d)))
				}
				x := a.At(int(i))
				r := roundFloat(x, places, power, cut)
				if expr.Overflows(r, x, x) {
					return expr.OutOfRange(call)
				}
				out.F64[i] = r
			}
			return nil
		}
		a, from, to := expr.Wides(args[0]), expr.ScaleOf(args[0].Type), expr.ScaleOf(out.Type)
		for _, i := range expr.Positions(sel, n) {
			x := a.At(int(i))
			d := int(min(max(digits.At(int(i)), -2*types.MaxDecimalPrecision), int64(min(from, to))))
			ok := true
			if cut {
				x = types.TruncateDecimal(x, from, d)
			} else {
				x, ok = types.RoundDecimal(x, from, d)
			}
			if ok {
				x, ok = types.Rescale(x, from, to)
			}
			if ok {
				ok = fitsExact(x, out.Type)
			}
			if !ok {
				return expr.OutOfRange(call)
			}
			expr.SetWide(out, int(i), x)
		}
		return nil
	}
}

// fitsExact says whether x is a value of the integer or DECIMAL type t.
func fitsExact(x types.Int128, t types.Type) bool {
	switch t.Kind {
	case types.KindDecimal:
		return types.FitsDecimal(x, int(t.Precision))
	case types.KindUint64:
		return x.Hi == 0
	}
	_, ok := x.Int64()
	return ok
}

// roundFloat is my_double_round of MySQL (item_func.cc). power is 10 to the number of digits, without its sign.
func roundFloat(x float64, digits int64, power float64, cut bool) float64 {
	if !types.IsFinite(x) {
		return x
	}
	scaled := x * power
	if digits < 0 {
		if math.IsInf(power, 0) {
			return 0
		}
		scaled = x / power
	} else if !types.IsFinite(scaled) {
		return x
	}
	if cut {
		scaled = math.Trunc(scaled)
	} else {
		scaled = math.RoundToEven(scaled)
	}
	if digits < 0 {
		return scaled * power
	}
	return scaled / power
}
