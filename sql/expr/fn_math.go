package expr

import (
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Mathematical functions of doubles (Reference Manual 14.6.2); those of exact numbers too are in fn_round.go.

const mathCategory = "Mathematical functions"

func init() {
	one := func(name, syntax, doc string, f func(x float64) float64, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Category: mathCategory, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
			Resolve: resolveFloats, Eval: floatKernel(f)}
	}
	partial := func(name, syntax, doc string, f func(x float64) float64, defined func(x float64) bool, warn string, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Category: mathCategory, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
			Resolve: resolvePartial, Eval: partialKernel(f, defined, warn)}
	}
	positive := func(x float64) bool { return !(x <= 0) } // NaN, too, of which all functions make NaN
	unit := func(x float64) bool { return !(x < -1 || x > 1) }
	const badLog = "Invalid argument for logarithm"
	register(
		partial("sqrt", "SQRT(x)", "The square root; NULL for a negative x.", math.Sqrt, func(x float64) bool { return !(x < 0) }, ""),
		one("exp", "EXP(x)", "e to the power x.", math.Exp),
		partial("ln", "LN(x)", "The natural logarithm; NULL unless x is positive.", math.Log, positive, badLog),
		partial("log2", "LOG2(x)", "The logarithm to base 2; NULL unless x is positive.", math.Log2, positive, badLog),
		partial("log10", "LOG10(x)", "The logarithm to base 10; NULL unless x is positive.", math.Log10, positive, badLog),
		&Function{Name: "log", Category: mathCategory, Syntax: "LOG([b,] x)", MinArgs: 1, MaxArgs: 2,
			Doc:     "The logarithm, natural or to base b; NULL unless x > 0 and b > 1.",
			Resolve: resolvePartial, Eval: evalLog},
		&Function{Name: "pow", Aliases: []string{"power"}, Category: mathCategory, Syntax: "POW(x, y)", MinArgs: 2, MaxArgs: 2,
			Doc: "x to the power y.", Resolve: resolveFloats, Eval: evalPow},
		one("sin", "SIN(x)", "The sine of x radians.", math.Sin),
		one("cos", "COS(x)", "The cosine of x radians.", math.Cos),
		one("tan", "TAN(x)", "The tangent of x radians.", math.Tan),
		one("cot", "COT(x)", "The cotangent of x radians; out of range at 0.", func(x float64) float64 { return 1 / math.Tan(x) }),
		partial("asin", "ASIN(x)", "The arc sine; NULL outside -1 to 1.", math.Asin, unit, ""),
		partial("acos", "ACOS(x)", "The arc cosine; NULL outside -1 to 1.", math.Acos, unit, ""),
		&Function{Name: "atan", Aliases: []string{"atan2"}, Category: mathCategory, Syntax: "ATAN(x), ATAN(y, x)", MinArgs: 1, MaxArgs: 2,
			Doc: "The arc tangent of x, or of y / x in the quadrant of (x, y).", Resolve: resolveFloats, Eval: evalAtan},
		one("degrees", "DEGREES(x)", "Radians as degrees.", func(x float64) float64 { return x * (180 / math.Pi) }),
		one("radians", "RADIANS(x)", "Degrees as radians.", func(x float64) float64 { return x * (math.Pi / 180) }),
		&Function{Name: "pi", Category: mathCategory, Syntax: "PI()",
			Doc: "π. It prints as 3.141592653589793; MySQL shows six digits.", Resolve: resolveFloats,
			Eval: func(_ *Context, _ *Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
				out.F64[0] = math.Pi
				return nil
			}},
		&Function{Name: "rand", Category: mathCategory, Syntax: "RAND([seed])", MaxArgs: 1, Volatile: true,
			Doc:   "A random number, 0 <= r < 1. A constant seed gives MySQL's sequence, in the order of the rows before ORDER BY (MySQL: behind it, unless it is in the order itself).",
			Nulls: NullCustom,
			Resolve: func(args []Expr) (Signature, error) {
				sig := Signature{Result: types.Double}
				for range args {
					sig.Args = append(sig.Args, types.Int64)
				}
				return sig, nil
			},
			Eval: evalRand},
		&Function{Name: "crc32", Category: mathCategory, Syntax: "CRC32(s)", MinArgs: 1, MaxArgs: 1, ByDictionary: true,
			Doc: "The CRC-32 checksum (ISO 3309).", Resolve: resolveTextTo(types.Uint64),
			Eval: textToInt(func(s string) int64 { return int64(crc32.ChecksumIEEE([]byte(s))) })},
		&Function{Name: "conv", Category: mathCategory, Syntax: "CONV(n, from, to)", MinArgs: 3, MaxArgs: 3,
			Doc: "A number's digits in another base, 2 to 36; a negative base means signed. NULL for other bases.",
			Resolve: func(args []Expr) (Signature, error) {
				return Signature{Args: []types.Type{castText(args[0]), types.Int64, types.Int64}, Result: types.Varchar(65), Nullable: true}, nil
			},
			Eval: evalConv},
	)
}

func resolveFloats(args []Expr) (Signature, error) {
	sig := Signature{Result: types.Double}
	for range args {
		sig.Args = append(sig.Args, types.Double)
	}
	return sig, nil
}

func resolvePartial(args []Expr) (Signature, error) {
	sig, err := resolveFloats(args)
	sig.Nullable = true
	return sig, err
}

func floatKernel(f func(float64) float64) Kernel {
	return func(_ *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a := floats(args[0])
		for _, i := range positions(sel, n) {
			x := a.at(int(i))
			r := f(x)
			if overflows(r, x, x) {
				return sqlerr.DataOutOfRange("DOUBLE", call.String())
			}
			out.F64[i] = r
		}
		return nil
	}
}

// partialKernel is floatKernel for a function that is NULL, perhaps with a warning, where it is not defined.
func partialKernel(f func(float64) float64, defined func(float64) bool, warn string) Kernel {
	return func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a := floats(args[0])
		for _, i := range positions(sel, n) {
			x := a.at(int(i))
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

func evalLog(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	x := floats(args[len(args)-1])
	for _, i := range positions(sel, n) {
		v, base := x.at(int(i)), math.E
		if len(args) == 2 {
			base = floats(args[0]).at(int(i))
		}
		if v <= 0 || base <= 1 {
			c.Warnings.Add(sqlerr.LevelWarning, codeInvalidLogarithm, "Invalid argument for logarithm")
			out.SetNull(int(i), n)
			continue
		}
		out.F64[i] = math.Log(v)
		if len(args) == 2 {
			out.F64[i] /= math.Log(base)
		}
	}
	return nil
}

func evalPow(_ *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	x, y := floats(args[0]), floats(args[1])
	for _, i := range positions(sel, n) {
		r := math.Pow(x.at(int(i)), y.at(int(i)))
		if overflows(r, x.at(int(i)), y.at(int(i))) {
			return sqlerr.DataOutOfRange("DOUBLE", call.String())
		}
		out.F64[i] = r
	}
	return nil
}

func evalAtan(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	y := floats(args[0])
	for _, i := range positions(sel, n) {
		if len(args) == 1 {
			out.F64[i] = math.Atan(y.at(int(i)))
			continue
		}
		out.F64[i] = math.Atan2(y.at(int(i)), floats(args[1]).at(int(i)))
	}
	return nil
}

// randState is MySQL's generator (mysys/my_rnd.cc), two coupled linear recurrences modulo 2^30 - 1.
type randState struct{ a, b uint64 }

const randMax = 0x3FFFFFFF

func newRandState(seed int64) *randState {
	s := uint32(seed)
	return &randState{uint64(s*0x10001+55555555) % randMax, uint64(s*0x10000001) % randMax}
}

func (r *randState) next() float64 {
	r.a = (r.a*3 + r.b) % randMax
	r.b = (r.a + r.b + 33) % randMax
	return float64(r.a) / randMax
}

func evalRand(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	state, _ := c.memo(call).(*randState)
	if state == nil {
		seed := rand.Int64()
		if c.RandSeed != nil {
			seed = c.RandSeed()
		}
		if len(args) == 1 && !args[0].IsNull(0) {
			seed = args[0].I64[0]
		} else if len(args) == 1 {
			seed = 0
		}
		state = newRandState(seed)
		c.remember(call, state)
	}
	varying := len(args) == 1 && !args[0].Const
	for _, i := range positions(sel, n) {
		if varying {
			// A seed that changes from row to row starts a sequence in each.
			seed := args[0].I64[i]
			if args[0].IsNull(int(i)) {
				seed = 0
			}
			state = newRandState(seed)
		}
		out.F64[i] = state.next()
	}
	return nil
}

func evalConv(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, from, to := texts(args[0]), ints(args[1]), ints(args[2])
	for _, i := range positions(sel, n) {
		r, ok := convertBase(s.at(int(i)), from.at(int(i)), to.at(int(i)))
		if !ok {
			out.SetNull(int(i), n)
			continue
		}
		out.Str[i] = r
	}
	return nil
}

// convertBase reads the digits that s begins with in one base and writes them in another. Numbers have 64 bits; more
// saturate.
func convertBase(s string, from, to int64) (string, bool) {
	valid := func(b int64) bool { return b >= 2 && b <= 36 || b <= -2 && b >= -36 }
	s = strings.TrimSpace(s)
	if !valid(from) || !valid(to) || s == "" {
		return "", false
	}
	signed := from < 0
	base := uint64(max(from, -from))
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	limit := uint64(math.MaxUint64)
	if signed {
		limit = math.MaxInt64
		if neg {
			limit++
		}
	}
	var v uint64
	for k := 0; k < len(s); k++ {
		d := digitOf(s[k])
		if d >= base {
			break
		}
		if v > (limit-d)/base {
			v = limit
			break
		}
		v = v*base + d
	}
	if neg {
		v = -v
	}
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	minus := to < 0 && int64(v) < 0
	if minus {
		v = -v
	}
	tb := uint64(max(to, -to))
	var buf [65]byte
	at := len(buf)
	for {
		at--
		buf[at] = digits[v%tb]
		v /= tb
		if v == 0 {
			break
		}
	}
	if minus {
		at--
		buf[at] = '-'
	}
	return string(buf[at:]), true
}

func digitOf(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'z':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return uint64(c-'A') + 10
	}
	return math.MaxUint64
}
