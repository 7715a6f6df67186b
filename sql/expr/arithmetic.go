package expr

import (
	"math"
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The arithmetic operators (Reference Manual 14.6.1). Integers compute as BIGINT, UNSIGNED if an operand is; with a
// DECIMAL the computation is exact decimal; with a float or a string it is in DOUBLE; temporal operands stand for their
// number form.

const arithmeticCategory = "Arithmetic operators"

// division is a / b at the scale that SQL shows, rounded.
var division = &Function{Name: "div", Spelling: Spelling{Infix: "/"}, Category: arithmeticCategory, Syntax: "a / b", MinArgs: 2, MaxArgs: 2,
	Doc:     "Division. Exact operands give a DECIMAL with 4 more fractional digits than a; x / 0 is NULL with a warning.",
	Resolve: resolveDiv, Eval: evalDiv, Digits: Digits{Hidden: hiddenOfDiv}}

// longDivision is a / b with the digits that MySQL computes on with, the last one cut. See hidden.go.
var longDivision = &Function{Name: "div_cut", Spelling: Spelling{Infix: "/"}, MinArgs: 2, MaxArgs: 2, Resolve: resolveDiv, Eval: evalDiv}

// arithmeticFunctions are the arithmetic operators (Reference Manual 14.6.1).
func arithmeticFunctions() []*Function {
	const category = arithmeticCategory
	return []*Function{
		{Name: "add", Spelling: Spelling{Infix: "+"}, Category: category, Syntax: "a + b", MinArgs: 2, MaxArgs: 2,
			Doc:     "Addition.",
			Resolve: resolveAdditive, Eval: evalAdd, Total: totalDecimal, Digits: Digits{Hidden: HiddenOfSum}},
		{Name: "sub", Spelling: Spelling{Infix: "-"}, Category: category, Syntax: "a - b", MinArgs: 2, MaxArgs: 2,
			Doc:     "Subtraction. A negative result of UNSIGNED operands is out of range; sql_mode NO_UNSIGNED_SUBTRACTION does not change that.",
			Resolve: resolveAdditive, Eval: evalSub, Total: totalDecimal, Digits: Digits{Hidden: HiddenOfSum}},
		{Name: "mul", Spelling: Spelling{Infix: "*"}, Category: category, Syntax: "a * b", MinArgs: 2, MaxArgs: 2,
			Doc:     "Multiplication.",
			Resolve: resolveMul, Eval: evalMul, Total: totalDecimal, Digits: Digits{Hidden: hiddenOfProduct}},
		division,
		{Name: "intdiv", Spelling: Spelling{Infix: "DIV"}, Category: category, Syntax: "a DIV b", MinArgs: 2, MaxArgs: 2,
			Doc:     "Integer division: the quotient without its fraction, a BIGINT; x DIV 0 is NULL with a warning.",
			Resolve: resolveIntDiv, Eval: evalIntDiv, Digits: Digits{Hidden: HiddenOfSum}},
		{Name: "mod", Spelling: Spelling{Infix: "%"}, Category: category, Syntax: "a % b, a MOD b, MOD(a, b)", MinArgs: 2, MaxArgs: 2,
			Doc:     "Remainder, with a's sign; x % 0 is NULL with a warning.",
			Resolve: resolveMod, Eval: evalMod, Digits: Digits{Hidden: HiddenOfSum}},
		{Name: "neg", Category: category, Syntax: "-a", MinArgs: 1, MaxArgs: 1,
			Doc:     "Negation.",
			Resolve: resolveNeg, Eval: evalNeg, Digits: Digits{Hidden: HiddenOfSum}, Spelling: Spelling{Format: Prefixed("-")}},
	}
}

// Prefixed prints a call of one operand as an operator in front of it.
func Prefixed(op string) func(*Printer, *Call) {
	return func(p *Printer, c *Call) {
		p.Text(op)
		p.Term(c.Args[0])
	}
}

// NumericType is the type that an operand of type t has in arithmetic.
func NumericType(t types.Type) types.Type {
	switch {
	case t.Kind == types.KindNull, t.IsTemporal() && t.Scale == 0:
		return types.Int64
	case t.IsTemporal():
		return types.AsDecimal(t)
	case t.IsNumeric():
		return t
	}
	return types.Double
}

// CastNumeric is NumericType as a Signature's cast: KindNull for what is numeric already.
func CastNumeric(t types.Type) types.Type {
	n := NumericType(t)
	if n == t {
		return types.Null
	}
	return n
}

// exactType is the DECIMAL type of an exact operand. An integer literal has only as many digits as it is written with.
func exactType(e Expr) types.Type {
	t := NumericType(e.Type())
	if c, ok := e.(*Const); ok && t.IsInteger() && !c.Value.Null && e.Type().IsInteger() {
		n := types.Int128FromInt64(c.Value.I)
		if t.Kind == types.KindUint64 {
			n = types.Int128FromUint64(uint64(c.Value.I))
		}
		return types.Decimal(types.DecimalDigits(n), 0)
	}
	return types.AsDecimal(t)
}

type arithmetic uint8

const (
	integerArithmetic arithmetic = iota
	unsignedArithmetic
	decimalArithmetic
	floatArithmetic
)

// arithmeticOf says how operands of these types are computed with.
func arithmeticOf(args []Expr) arithmetic {
	kind := integerArithmetic
	for _, a := range args {
		t := NumericType(a.Type())
		switch {
		case t.IsFloat():
			return floatArithmetic
		case t.Kind == types.KindDecimal:
			kind = decimalArithmetic
		case t.IsUnsigned() && kind == integerArithmetic:
			kind = unsignedArithmetic
		}
	}
	return kind
}

// resolveArithmetic chooses integer, decimal (whose type the caller computes) or float arithmetic.
func resolveArithmetic(args []Expr, decimal func(a, b types.Type) types.Type) (Signature, error) {
	sig := Signature{Args: make([]types.Type, len(args))}
	for i, a := range args {
		sig.Args[i] = CastNumeric(a.Type())
	}
	switch arithmeticOf(args) {
	case floatArithmetic:
		for i, a := range args {
			sig.Args[i] = types.Double
			if a.Type().IsFloat() {
				sig.Args[i] = types.Null
			}
		}
		sig.Result = types.Double
	case decimalArithmetic:
		sig.Result = decimal(exactType(args[0]), exactType(args[1]))
	case unsignedArithmetic:
		sig.Result = types.Uint64
	default:
		sig.Result = types.Int64
	}
	return sig, nil
}

func resolveAdditive(args []Expr) (Signature, error) {
	return resolveArithmetic(args, types.AddType)
}

func resolveMul(args []Expr) (Signature, error) { return resolveArithmetic(args, types.MulType) }

func resolveDiv(args []Expr) (Signature, error) {
	sig, err := resolveArithmetic(args, types.DivType)
	if !sig.Result.IsFloat() {
		sig.Result = types.DivType(exactType(args[0]), exactType(args[1]))
	}
	sig.Nullable = true
	return sig, err
}

func resolveMod(args []Expr) (Signature, error) {
	sig, err := resolveArithmetic(args, types.ModType)
	if sig.Result.IsInteger() {
		// The remainder has the dividend's sign, and is UNSIGNED if the dividend is.
		sig.Result = types.Int64
		if NumericType(args[0].Type()).IsUnsigned() {
			sig.Result = types.Uint64
		}
	}
	sig.Nullable = true
	return sig, err
}

func resolveIntDiv(args []Expr) (Signature, error) {
	sig := Signature{Args: make([]types.Type, 2), Result: types.Int64, Nullable: true}
	for i, a := range args {
		t := NumericType(a.Type())
		sig.Args[i] = CastNumeric(a.Type())
		if t.IsFloat() {
			// MySQL converts doubles to DECIMAL for DIV.
			sig.Args[i] = types.Decimal(types.MaxDecimalPrecision, types.KeptDecimalScale)
		}
		if t.IsUnsigned() {
			sig.Result = types.Uint64
		}
	}
	return sig, nil
}

func resolveNeg(args []Expr) (Signature, error) {
	t := NumericType(args[0].Type())
	sig := Signature{Args: []types.Type{CastNumeric(args[0].Type())}, Result: t}
	if t.IsInteger() {
		sig.Result = types.Int64
	} else if t.IsFloat() {
		sig.Result = types.Double
	}
	return sig, nil
}

// totalDecimal: a DECIMAL of up to 18 digits that is the sum or product of shorter ones cannot overflow.
func totalDecimal(call *Call) bool {
	for _, a := range call.Args {
		if a.Type().Phys() != types.PhysInt64 {
			return false
		}
	}
	return call.Typ.Kind == types.KindDecimal && call.Typ.Phys() == types.PhysInt64 && exactScale(call)
}

// exactScale says whether the result keeps all fractional digits of the operands.
func exactScale(call *Call) bool {
	a, b := ScaleOf(call.Args[0].Type()), ScaleOf(call.Args[1].Type())
	if call.Fn.Name == "mul" {
		return ScaleOf(call.Typ) == a+b
	}
	return ScaleOf(call.Typ) == max(a, b)
}

// OutOfRange is error 1690 for a call.
func OutOfRange(call *Call) error {
	name := "BIGINT"
	switch {
	case call.Typ.Kind == types.KindUint64:
		name = "BIGINT UNSIGNED"
	case call.Typ.Kind == types.KindDecimal:
		name = "DECIMAL"
	case call.Typ.IsFloat():
		name = "DOUBLE"
	}
	text := Spelled(call)
	if call.Fn.Spelling.Infix != "" {
		text = "(" + text + ")"
	}
	return sqlerr.DataOutOfRange(name, text)
}

func check(ok bool, call *Call) error {
	if !ok {
		return OutOfRange(call)
	}
	return nil
}

// Overflows says whether an operation made an infinity or NaN of finite operands, which is error 1690. What it makes of others is
// IEEE 754's.
func Overflows(r, x, y float64) bool {
	return !types.IsFinite(r) && types.IsFinite(x) && types.IsFinite(y)
}

// checkFloats is check for an operator on two doubles. If some result is not finite, it looks for one that overflowed.
func checkFloats(finite bool, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if finite {
		return nil
	}
	a, b := Floats(args[0]), Floats(args[1])
	for _, i := range Positions(sel, n) {
		if Overflows(out.F64[i], a.At(int(i)), b.At(int(i))) {
			return OutOfRange(call)
		}
	}
	return nil
}

func add128(a, b types.Int128) (types.Int128, bool) { return a.Add(b) }
func sub128(a, b types.Int128) (types.Int128, bool) { return a.Sub(b) }
func mul128(a, b types.Int128) (types.Int128, bool) { return a.Mul(b) }

func evalAdd(_ *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	switch {
	case out.Type.IsFloat():
		return checkFloats(affine(out.F64, Floats(args[0]), 1, Floats(args[1]), 1, sel, n), call, out, args, sel, n)
	case out.Type.Kind == types.KindDecimal:
		return addDecimals(call, out, args, 1, add128, sel, n)
	case out.Type.Kind == types.KindUint64:
		return check(combineUnsigned(out.I64, Wides(args[0]), Wides(args[1]), add128, sel, n), call)
	}
	return check(addChecked(out.I64, Ints(args[0]), Ints(args[1]), sel, n), call)
}

func evalSub(_ *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	switch {
	case out.Type.IsFloat():
		return checkFloats(affine(out.F64, Floats(args[0]), 1, Floats(args[1]), -1, sel, n), call, out, args, sel, n)
	case out.Type.Kind == types.KindDecimal:
		return addDecimals(call, out, args, -1, sub128, sel, n)
	case out.Type.Kind == types.KindUint64:
		return check(combineUnsigned(out.I64, Wides(args[0]), Wides(args[1]), sub128, sel, n), call)
	}
	return check(subChecked(out.I64, Ints(args[0]), Ints(args[1]), sel, n), call)
}

// addDecimals adds, or with sign -1 subtracts.
func addDecimals(call *Call, out *column.Vector, args []*column.Vector, sign int64, f exact128, sel []int32, n int) error {
	as, bs, scale := ScaleOf(args[0].Type), ScaleOf(args[1].Type), ScaleOf(out.Type)
	common := max(as, bs)
	if scale >= common && narrow(out) && narrow(args[0]) && narrow(args[1]) {
		affine(out.I64, Ints(args[0]), types.Pow10(scale-as), Ints(args[1]), sign*types.Pow10(scale-bs), sel, n)
		return nil
	}
	common = max(common, scale)
	up := [2]int{common - as, common - bs}
	return check(combineWide(out, Wides(args[0]), Wides(args[1]), up, common-scale, f, sel, n), call)
}

// narrow says whether v's values, exact numbers, are int64s.
func narrow(v *column.Vector) bool { return v.Type.Phys() == types.PhysInt64 }

func evalMul(_ *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	switch {
	case out.Type.IsFloat():
		return checkFloats(multiply(out.F64, Floats(args[0]), Floats(args[1]), sel, n), call, out, args, sel, n)
	case out.Type.Kind == types.KindUint64:
		return check(combineUnsigned(out.I64, Wides(args[0]), Wides(args[1]), mul128, sel, n), call)
	case out.Type.Kind != types.KindDecimal:
		return check(mulChecked(out.I64, Ints(args[0]), Ints(args[1]), sel, n), call)
	}
	drop := ScaleOf(args[0].Type) + ScaleOf(args[1].Type) - ScaleOf(out.Type)
	bothNarrow := narrow(args[0]) && narrow(args[1])
	switch {
	case drop == 0 && narrow(out) && bothNarrow:
		multiply(out.I64, Ints(args[0]), Ints(args[1]), sel, n)
	case drop == 0 && bothNarrow && out.Type.Phys() == types.PhysInt128:
		// 18 and 18 digits, or 19 and 19 of two BIGINTs, fit 38.
		a, b := Ints(args[0]), Ints(args[1])
		for _, i := range Positions(sel, n) {
			out.I128[i] = types.MulInt64s(a.At(int(i)), b.At(int(i)))
		}
	case drop == 0 && out.Type.Phys() == types.PhysInt128:
		a, b, precision := Wides(args[0]), Wides(args[1]), int(out.Type.Precision)
		for _, i := range Positions(sel, n) {
			r, ok := a.At(int(i)).Mul(b.At(int(i)))
			if !ok || !types.FitsDecimal(r, precision) {
				return OutOfRange(call)
			}
			out.I128[i] = r
		}
	default:
		a, b := Wides(args[0]), Wides(args[1])
		as, bs, scale, precision := ScaleOf(args[0].Type), ScaleOf(args[1].Type), ScaleOf(out.Type), int(out.Type.Precision)
		for _, i := range Positions(sel, n) {
			r, ok := types.DecimalMul(a.At(int(i)), as, b.At(int(i)), bs, scale)
			if !ok || !types.FitsDecimal(r, precision) {
				return OutOfRange(call)
			}
			SetWide(out, int(i), r)
		}
	}
	return nil
}

// divisionByZero makes position i NULL: with a warning, or in a write in strict mode with an error.
func (c *Context) divisionByZero(out *column.Vector, i, n int) error {
	if c.SQLMode&ModeErrorForDivByZero != 0 {
		if c.Strict() {
			return sqlerr.DivisionByZero()
		}
		c.Warnings.AddError(sqlerr.DivisionByZero())
	}
	out.SetNull(i, n)
	return nil
}

// evalFloatDivision stores quotients of doubles, or remainders.
func evalFloatDivision(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int, givesRemainder bool) error {
	a, b := Floats(args[0]), Floats(args[1])
	for _, i := range Positions(sel, n) {
		x, y := a.At(int(i)), b.At(int(i))
		if y == 0 {
			if err := c.divisionByZero(out, int(i), n); err != nil {
				return err
			}
			continue
		}
		if givesRemainder {
			out.F64[i] = math.Mod(x, y)
			continue
		}
		r := x / y
		if Overflows(r, x, y) {
			return OutOfRange(call)
		}
		out.F64[i] = r
	}
	return nil
}

func evalDiv(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if out.Type.IsFloat() {
		return evalFloatDivision(c, call, out, args, sel, n, false)
	}
	a, b := Wides(args[0]), Wides(args[1])
	as, bs, scale, precision := ScaleOf(args[0].Type), ScaleOf(args[1].Type), ScaleOf(out.Type), int(out.Type.Precision)
	up := scale + bs - as
	cut := call.Fn.Name == "div_cut"
	limit := int64(-1)
	if narrow(args[0]) && narrow(args[1]) && up >= 0 && up <= types.MaxShortDecimal {
		limit = math.MaxInt64 / types.Pow10(up)
	}
	positions := Positions(sel, n)
	if limit >= 0 && !cut && narrow(out) {
		positions = divInts(out.I64, Ints(args[0]), Ints(args[1]), quotients{types.Pow10(up), limit, types.Pow10(precision) - 1}, positions)
	}
	for _, i := range positions {
		x, y := a.At(int(i)), b.At(int(i))
		if y.IsZero() {
			if err := c.divisionByZero(out, int(i), n); err != nil {
				return err
			}
			continue
		}
		var r types.Int128
		if sx := int64(x.Lo); sx <= limit && sx >= -limit {
			q := sx * types.Pow10(up)
			if cut {
				q /= int64(y.Lo)
			} else {
				q = divRound(q, int64(y.Lo))
			}
			r = types.Int128FromInt64(q)
		} else {
			var ok bool
			if cut && bs-as+scale <= types.MaxDecimalPrecision {
				r, ok = types.DecimalDivInt(x, as-scale, y, bs)
			} else {
				r, ok = types.DecimalDiv(x, as, y, bs, scale)
			}
			if !ok {
				return OutOfRange(call)
			}
		}
		if !types.FitsDecimal(r, precision) {
			return OutOfRange(call)
		}
		SetWide(out, int(i), r)
	}
	return nil
}

// quotients are decimals of 64 bits that divInts makes: dividends of at most limit are multiplied by factor, results are at most most.
type quotients struct{ factor, limit, most int64 }

// divInts stores rounded quotients, and returns the positions at which the divisor is 0 or the bounds do not hold.
func divInts(out []int64, a, b Reader[int64], q quotients, positions []int32) (left []int32) {
	for _, i := range positions {
		x, y := a.At(int(i)), b.At(int(i))
		if y == 0 || x > q.limit || x < -q.limit {
			left = append(left, i)
			continue
		}
		r := divRound(x*q.factor, y)
		if r > q.most || r < -q.most {
			left = append(left, i)
			continue
		}
		out[i] = r
	}
	return left
}

// divRound returns x/y rounded half away from zero.
func divRound(x, y int64) int64 {
	q, r := x/y, x%y
	ur, uy := uint64(r), uint64(y)
	if r < 0 {
		ur = -ur
	}
	if y < 0 {
		uy = -uy
	}
	if ur >= uy-ur {
		if (x < 0) != (y < 0) {
			return q - 1
		}
		return q + 1
	}
	return q
}

func evalIntDiv(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if y := args[1]; areInts(out, args) && y.Const && y.I64[0] > 0 {
		x, by := Ints(args[0]), y.I64[0]
		for _, i := range Positions(sel, n) {
			out.I64[i] = x.At(int(i)) / by
		}
		return nil
	}
	a, b := Wides(args[0]), Wides(args[1])
	as, bs := ScaleOf(args[0].Type), ScaleOf(args[1].Type)
	unsigned := out.Type.Kind == types.KindUint64
	for _, i := range Positions(sel, n) {
		x, y := a.At(int(i)), b.At(int(i))
		if y.IsZero() {
			if err := c.divisionByZero(out, int(i), n); err != nil {
				return err
			}
			continue
		}
		q, ok := types.DecimalDivInt(x, as, y, bs)
		if ok {
			if unsigned {
				_, ok = q.Uint64()
			} else {
				_, ok = q.Int64()
			}
		}
		if !ok {
			return OutOfRange(call)
		}
		out.I64[i] = int64(q.Lo)
	}
	return nil
}

// areInts says whether a function's operands and its value are signed integers, or decimals held as such, of one scale.
func areInts(out *column.Vector, args []*column.Vector) bool {
	scale := ScaleOf(out.Type)
	for _, v := range args {
		if v.Type.Phys() != types.PhysInt64 || ScaleOf(v.Type) != scale {
			return false
		}
	}
	return out.Type.Phys() == types.PhysInt64
}

// modInts stores the remainders of a division by a positive number. Where both are of 32 bits, two multiplications take the division's place
// (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
func modInts(out []int64, a Reader[int64], by int64, positions []int32) {
	if by > math.MaxUint32 {
		for _, i := range positions {
			out[i] = a.At(int(i)) % by
		}
		return
	}
	inverse := math.MaxUint64/uint64(by) + 1
	for _, i := range positions {
		x := a.At(int(i))
		sign := x >> 63
		size := uint64((x ^ sign) - sign)
		if size > math.MaxUint32 {
			out[i] = x % by
			continue
		}
		r, _ := bits.Mul64(inverse*size, uint64(by))
		out[i] = (int64(r) ^ sign) - sign // the dividend's sign
	}
}

func evalMod(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if out.Type.IsFloat() {
		return evalFloatDivision(c, call, out, args, sel, n, true)
	}
	if y := args[1]; areInts(out, args) && y.Const && y.I64[0] > 0 {
		modInts(out.I64, Ints(args[0]), y.I64[0], Positions(sel, n))
		return nil
	}
	a, b := Wides(args[0]), Wides(args[1])
	as, bs := ScaleOf(args[0].Type), ScaleOf(args[1].Type)
	for _, i := range Positions(sel, n) {
		y := b.At(int(i))
		if y.IsZero() {
			if err := c.divisionByZero(out, int(i), n); err != nil {
				return err
			}
			continue
		}
		r, _ := types.DecimalMod(a.At(int(i)), as, y, bs)
		if ScaleOf(out.Type) < max(as, bs) {
			r, _ = types.Rescale(r, max(as, bs), ScaleOf(out.Type))
		}
		SetWide(out, int(i), r)
	}
	return nil
}

func evalNeg(_ *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if out.Type.IsFloat() {
		a := Floats(args[0])
		for _, i := range Positions(sel, n) {
			out.F64[i] = -a.At(int(i))
		}
		return nil
	}
	a := Wides(args[0])
	for _, i := range Positions(sel, n) {
		r, _ := a.At(int(i)).Neg()
		if out.Type.IsInteger() {
			if _, ok := r.Int64(); !ok {
				return sqlerr.DataOutOfRange("BIGINT", Spelled(call))
			}
		}
		SetWide(out, int(i), r)
	}
	return nil
}
