package numeric

import (
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"sync"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Mathematical functions of doubles (Reference Manual 14.6.2); those of exact numbers too are in round.go.

const category = "Mathematical functions"

// mathFunctions compute with DOUBLEs.
func mathFunctions() []*expr.Function {
	one := func(name, syntax, doc string, f func(x float64) float64, aliases ...string) *expr.Function {
		return &expr.Function{Name: name, Aliases: aliases, Category: category, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
			Resolve: resolveFloats, Eval: floatKernel(f)}
	}
	partial := func(name, syntax, doc string, f func(x float64) float64, defined func(x float64) bool, warn string, aliases ...string) *expr.Function {
		return &expr.Function{Name: name, Aliases: aliases, Category: category, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
			Resolve: resolvePartial, Eval: partialKernel(f, defined, warn)}
	}
	positive := func(x float64) bool { return !(x <= 0) } // NaN, too, of which all functions make NaN
	unit := func(x float64) bool { return !(x < -1 || x > 1) }
	const badLog = "Invalid argument for logarithm"
	return []*expr.Function{
		partial("sqrt", "SQRT(x)", "The square root; NULL for a negative x.", math.Sqrt, func(x float64) bool { return !(x < 0) }, ""),
		one("exp", "EXP(x)", "e to the power x.", math.Exp),
		partial("ln", "LN(x)", "The natural logarithm; NULL unless x is positive.", ln, positive, badLog),
		partial("log2", "LOG2(x)", "The logarithm to base 2; NULL unless x is positive.", math.Log2, positive, badLog),
		partial("log10", "LOG10(x)", "The logarithm to base 10; NULL unless x is positive.", log10, positive, badLog),
		{Name: "log", Category: category, Syntax: "LOG([b,] x)", MinArgs: 1, MaxArgs: 2,
			Doc:     "The logarithm, natural or to base b; NULL unless x > 0 and b > 1.",
			Resolve: resolvePartial, Eval: evalLog},
		{Name: "pow", Aliases: []string{"power"}, Category: category, Syntax: "POW(x, y)", MinArgs: 2, MaxArgs: 2,
			Doc: "x to the power y.", Resolve: resolveFloats, Eval: evalPow},
		one("sin", "SIN(x)", "The sine of x radians.", math.Sin),
		one("cos", "COS(x)", "The cosine of x radians.", math.Cos),
		one("tan", "TAN(x)", "The tangent of x radians.", math.Tan),
		one("cot", "COT(x)", "The cotangent of x radians; out of range at 0.", func(x float64) float64 { return 1 / math.Tan(x) }),
		partial("asin", "ASIN(x)", "The arc sine; NULL outside -1 to 1.", math.Asin, unit, ""),
		partial("acos", "ACOS(x)", "The arc cosine; NULL outside -1 to 1.", math.Acos, unit, ""),
		{Name: "atan", Aliases: []string{"atan2"}, Category: category, Syntax: "ATAN(x), ATAN(y, x)", MinArgs: 1, MaxArgs: 2,
			Doc: "The arc tangent of x, or of y / x in the quadrant of (x, y).", Resolve: resolveFloats, Eval: evalAtan},
		one("degrees", "DEGREES(x)", "Radians as degrees.", func(x float64) float64 { return x * (180 / math.Pi) }),
		one("radians", "RADIANS(x)", "Degrees as radians.", func(x float64) float64 { return x * (math.Pi / 180) }),
		{Name: "pi", Category: category, Syntax: "PI()",
			Doc: "π. It prints as 3.141592653589793; MySQL shows six digits.", Resolve: resolveFloats,
			Eval: func(_ *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
				out.F64[0] = math.Pi
				return nil
			}},
		{Name: "rand", Category: category, Syntax: "RAND([seed])", MaxArgs: 1, Volatile: true,
			Doc:   "A random number, 0 <= r < 1. A constant seed gives MySQL's sequence, in the order of the rows before ORDER BY.",
			Nulls: expr.NullCustom,
			Resolve: func(args []expr.Expr) (expr.Signature, error) {
				sig := expr.Signature{Result: types.Double}
				for range args {
					sig.Args = append(sig.Args, types.Int64)
				}
				return sig, nil
			},
			Eval: evalRand},
		{Name: "crc32", Category: category, Syntax: "CRC32(s)", MinArgs: 1, MaxArgs: 1, ByDictionary: true,
			Doc: "The CRC-32 checksum (ISO 3309).", Resolve: expr.ResolveStringsTo(types.Uint64),
			Eval: expr.StringToIntKernel(func(s string) int64 { return int64(crc32.ChecksumIEEE(unsafe.Slice(unsafe.StringData(s), len(s)))) })},
		{Name: "conv", Category: category, Syntax: "CONV(n, from, to)", MinArgs: 3, MaxArgs: 3,
			Doc: "A number's digits in another base, 2 to 36; a negative base means signed. NULL for other bases.",
			Resolve: func(args []expr.Expr) (expr.Signature, error) {
				return expr.Signature{Args: []types.Type{expr.CastToString(args[0]), types.Int64, types.Int64}, Result: types.Varchar(65), Nullable: true}, nil
			},
			Eval: evalConv},
	}
}

func resolveFloats(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Result: types.Double}
	for range args {
		sig.Args = append(sig.Args, types.Double)
	}
	return sig, nil
}

func resolvePartial(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolveFloats(args)
	sig.Nullable = true
	return sig, err
}

func floatKernel(f func(float64) float64) expr.Kernel {
	return func(_ *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a := expr.Floats(args[0])
		for _, i := range expr.Positions(sel, n) {
			x := a.At(int(i))
			r := f(x)
			if expr.Overflows(r, x, x) {
				return sqlerr.DataOutOfRange("DOUBLE", expr.Spelled(call))
			}
			out.F64[i] = r
		}
		return nil
	}
}

// partialKernel is floatKernel for a function that is NULL, perhaps with a warning, where it is not defined.
func partialKernel(f func(float64) float64, defined func(float64) bool, warn string) expr.Kernel {
	return func(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a := expr.Floats(args[0])
		for _, i := range expr.Positions(sel, n) {
			x := a.At(int(i))
			if !defined(x) {
				if warn != "" {
					c.Warnings.Add(sqlerr.LevelWarning, codeInvalidLogarithm, "%s", warn)
				}
				out.SetNull(int(i), n)
				continue
			}
			out.F64[i] = f(x)
		}
		return nil
	}
}

const codeInvalidLogarithm sqlerr.Code = 3020 // ER_INVALID_ARGUMENT_FOR_LOGARITHM

func evalLog(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	x := expr.Floats(args[len(args)-1])
	for _, i := range expr.Positions(sel, n) {
		v, base := x.At(int(i)), math.E
		if len(args) == 2 {
			base = expr.Floats(args[0]).At(int(i))
		}
		if v <= 0 || base <= 1 {
			c.Warnings.Add(sqlerr.LevelWarning, codeInvalidLogarithm, "Invalid argument for logarithm")
			out.SetNull(int(i), n)
			continue
		}
		out.F64[i] = ln(v)
		if len(args) == 2 {
			out.F64[i] /= ln(base)
		}
	}
	return nil
}

func evalPow(_ *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	x, y := expr.Floats(args[0]), expr.Floats(args[1])
	for _, i := range expr.Positions(sel, n) {
		r := pow(x.At(int(i)), y.At(int(i)))
		if expr.Overflows(r, x.At(int(i)), y.At(int(i))) {
			return sqlerr.DataOutOfRange("DOUBLE", expr.Spelled(call))
		}
		out.F64[i] = r
	}
	return nil
}

// pow is x to the power y. Package math multiplies powers of ten together, and rounds each time, so that many come out wrong.
func pow(x, y float64) float64 {
	if x == 10 && y == math.Trunc(y) && math.Abs(y) <= mostPower {
		return powersOfTen()[mostPower+int(y)]
	}
	return math.Pow(x, y)
}

// ln is the natural logarithm. Package math has that of subnormal numbers wrong.
func ln(x float64) float64 {
	const scale = 52
	if x < leastNormal && x > 0 {
		return math.Log(x*(1<<scale)) - scale*math.Ln2
	}
	return math.Log(x)
}

// log10 is the logarithm to base 10, exact where it is whole.
func log10(x float64) float64 {
	r := math.Log10(x)
	if x < leastNormal {
		r = ln(x) / math.Ln10
	}
	if whole := math.Round(r); math.Abs(whole) <= mostPower && x == powersOfTen()[mostPower+int(whole)] {
		return whole
	}
	return r
}

// leastNormal is the least positive double that is not subnormal.
const leastNormal = 0x1p-1022

// mostPower is more than the exponent of any power of ten that is neither 0 nor infinite.
const mostPower = 400

// powersOfTen are the doubles next to 10 to the powers from -mostPower to mostPower, as my_double_round of MySQL has them.
var powersOfTen = sync.OnceValue(func() *[2*mostPower + 1]float64 {
	var all [2*mostPower + 1]float64
	for i := range all {
		all[i], _ = strconv.ParseFloat(fmt.Sprint("1e", i-mostPower), 64) // beyond the range: 0 or infinite
	}
	return &all
})

func evalAtan(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	y := expr.Floats(args[0])
	for _, i := range expr.Positions(sel, n) {
		if len(args) == 1 {
			out.F64[i] = math.Atan(y.At(int(i)))
			continue
		}
		out.F64[i] = math.Atan2(y.At(int(i)), expr.Floats(args[1]).At(int(i)))
	}
	return nil
}
