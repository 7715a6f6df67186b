package codegen

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Arithmetic. The binder has chosen the types. Where they prove that a result fits, kernels check nothing.

// result declares a variable for what a call gives and returns it.
func (t *Text) result(typ types.Type) Value {
	v := Value{Class: form.ClassOf(typ), Typ: typ, Text: t.Name("x")}
	t.Line("%s %s;", v.Class.CName(), v.Text)
	return v
}

// Assign defines what a call gives.
func (t *Text) Assign(typ types.Type, format string, args ...any) Value {
	v := Value{Class: form.ClassOf(typ), Typ: typ, Text: t.Name("x")}
	if !t.silent {
		t.Line("const %s %s = %s;", v.Class.CName(), v.Text, fmt.Sprintf(format, args...))
	}
	return v
}

// rangeCheck raises error 1690 for a call where the condition holds and the result is not NULL anyway.
func (t *Text) rangeCheck(condition, null string, c *expr.Call) {
	t.RaiseIf(unless(condition, null), CodeOutOfRange, c)
}

// unless returns C++ that tests the condition only where the value is not NULL.
func unless(condition, null string) string {
	if null == "" {
		return condition
	}
	return condition + " & !" + null
}

// wholeDigits is the number of digits before the point of an exact type.
func wholeDigits(typ types.Type) int {
	d := types.AsDecimal(typ)
	return int(d.Precision) - int(d.Scale)
}

// exactResult stores an i128 text, which fits the type, in a variable of the type's class.
func (t *Text) exactResult(typ types.Type, text string) Value {
	return t.Assign(typ, "(%s)(%s)", form.ClassOf(typ).CName(), text)
}

// wideResult calls a function that stores an i128 and returns true where it is out of range.
func (t *Text) wideResult(c *expr.Call, null, format string, args ...any) Value {
	w := t.Name("w")
	t.Line("i128 %s;", w)
	t.rangeCheck(fmt.Sprintf(format, args...)+", "+w+")", null, c)
	return t.exactResult(c.Typ, w)
}

func emitAdditive(subtracts bool) strictEmitter {
	op, short, wrap, checked := "+", "short_add", "wrap_add", "add_i64"
	if subtracts {
		op, short, wrap, checked = "-", "short_sub", "wrap_sub", "sub_i64"
	}
	return func(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
		x, y := a[0], a[1]
		switch {
		case c.Typ.IsFloat():
			return t.floatResult(c, a, null, "%s %s %s", x.Text, op, y.Text)
		case c.Typ.Kind == types.KindDecimal:
			return t.addDecimals(c, x, y, subtracts, null), nil
		case c.Typ.Kind == types.KindUint64:
			v := t.result(c.Typ)
			t.rangeCheck(fmt.Sprintf("to_u64(%s %s %s, %s)", wide(x), op, wide(y), v.Text), null, c)
			return v, nil
		}
		if t.short(c) {
			return t.Assign(c.Typ, "%s(%s, %s)", short, x.Text, y.Text), nil
		}
		if IsSmallInteger(x.Typ) && IsSmallInteger(y.Typ) {
			return t.Assign(c.Typ, "%s(%s, %s)", wrap, x.Text, y.Text), nil
		}
		v := t.result(c.Typ)
		t.rangeCheck(fmt.Sprintf("%s(%s, %s, %s)", checked, x.Text, y.Text, v.Text), null, c)
		return v, nil
	}
}

// IsSmallInteger says whether an integer type has at most 32 bits, so that sums and products of two fit 64.
func IsSmallInteger(t types.Type) bool {
	return t.IsInteger() && t.Kind != types.KindInt64 && t.Kind != types.KindUint64
}

// floatResult defines a double that one or two doubles make, and raises an error where it overflows.
func (t *Text) floatResult(c *expr.Call, a []Value, null, format string, args ...any) (Value, error) {
	v := t.Assign(c.Typ, format, args...)
	t.rangeCheck(overflows(v, a), null, c)
	return v, nil
}

// overflows is C++ that is true if finite operands gave a double that is not finite. The operands are one double, or two.
func overflows(v Value, a []Value) string {
	second := a[0]
	if len(a) > 1 && a[1].Class == form.Float {
		second = a[1]
	}
	return fmt.Sprintf("overflows(%s, %s, %s)", v.Text, a[0].Text, second.Text)
}

// power is 10^n as C++.
func power(n int, class form.Class) string {
	if class == form.Wide {
		return fmt.Sprintf("pow10(%d)", n)
	}
	return fmt.Sprintf("%dLL", types.Pow10(n))
}

// timesPower is an exact value times 10^up in a class; the caller knows that it fits.
func timesPower(v Value, up int, class form.Class) string {
	text := v.Text
	if class == form.Wide {
		text = wide(v)
	}
	switch {
	case up == 0:
		return text
	case class == form.Wide && v.Class == form.Int && up <= types.MaxShortDecimal && v.Typ.Phys() != types.PhysUint64:
		return fmt.Sprintf("(i128)%s * %s", v.Text, power(up, form.Int))
	}
	return fmt.Sprintf("wrap_mul(%s, %s)", text, power(up, class))
}

func (t *Text) addDecimals(c *expr.Call, x, y Value, subtracts bool, null string) Value {
	as, bs, scale := ScaleOf(x.Typ), ScaleOf(y.Typ), ScaleOf(c.Typ)
	common := max(as, bs, scale)
	whole := max(wholeDigits(x.Typ), wholeDigits(y.Typ)) + 1
	class := form.ClassOf(c.Typ)
	if narrowExact(x) && narrowExact(y) && class == form.Int && scale >= max(as, bs) || whole+common <= types.MaxDecimalPrecision &&
		common == scale && whole+scale <= int(c.Typ.Precision) {
		wrap, short := "wrap_add", "short_add"
		if subtracts {
			wrap, short = "wrap_sub", "short_sub"
		}
		if class == form.Int && t.short(c) {
			wrap = short
		}
		return t.Assign(c.Typ, "%s(%s, %s)", wrap, t.aligned(c.Args[0], x, common-as, class), t.aligned(c.Args[1], y, common-bs, class))
	}
	return t.wideResult(c, null, "add_decimal<%d, %d, %d, %d>(%s, %s, %v", common-as, common-bs, common-scale, c.Typ.Precision, wide(x), wide(y), subtracts)
}

// aligned is an operand times 10^up, in a class that is known to hold it. The host computes literals.
func (t *Text) aligned(e expr.Expr, v Value, up int, class form.Class) string {
	k, ok := e.(*expr.Const)
	if !ok || k.Value.Null || !ExactType(k.Value.Type) {
		return timesPower(v, up, class)
	}
	digits := types.MaxShortDecimal
	if class == form.Wide {
		digits = types.MaxDecimalPrecision
	}
	n := k.Value.Unscaled()
	switch {
	case k.Value.Type.Phys() == types.PhysUint64:
		n = types.Int128FromUint64(uint64(k.Value.I))
	case k.Value.Type.IsInteger():
		n = types.Int128FromInt64(k.Value.I)
	}
	n, _ = n.Mul(types.Pow10Int128(up))
	return t.constant(types.DecimalValue(types.Decimal(digits, 0), n)).Text
}

// narrowExact says whether a value is a signed 64-bit integer.
func narrowExact(v Value) bool { return v.Typ.Phys() == types.PhysInt64 && v.Class == form.Int }

// product is the function of arith.cuh for a product that fits 64 bits.
func (t *Text) product(c *expr.Call) string {
	switch {
	case t.short(c):
		return "short_mul"
	case t.fits32(c.Args[0], ScaleOf(c.Args[0].Type())) && t.fits32(c.Args[1], ScaleOf(c.Args[1].Type())):
		return "wide_mul"
	}
	return "wrap_mul"
}

// short says whether a sum, difference or product of two integers or decimals is known to have at most 32 bits, and so are the operands, at the scale
// at which they are computed.
func (t *Text) short(c *expr.Call) bool {
	to := ScaleOf(c.Typ)
	a, b := to, to
	if c.Fn.Name == "mul" {
		a, b = ScaleOf(c.Args[0].Type()), ScaleOf(c.Args[1].Type())
	}
	return t.fits32(c, to) && t.fits32(c.Args[0], a) && t.fits32(c.Args[1], b)
}

// fits32 says whether an expression's values at a scale are known to be signed integers of 32 bits.
func (t *Text) fits32(e expr.Expr, scale int) bool {
	if t.Ranges == nil {
		return false
	}
	r, ok := t.Ranges.Of(e)
	if !ok {
		return false
	}
	r, ok = rescaled(r, ScaleOf(e.Type()), scale)
	return ok && r.Lo >= math.MinInt32 && r.Hi <= math.MaxInt32
}

func emitMul(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	x, y := a[0], a[1]
	switch {
	case c.Typ.IsFloat():
		return t.floatResult(c, a, null, "%s * %s", x.Text, y.Text)
	case c.Typ.Kind == types.KindUint64:
		v := t.result(c.Typ)
		t.rangeCheck(fmt.Sprintf("mul_to_u64(%s, %s, %s)", wide(x), wide(y), v.Text), null, c)
		return v, nil
	case c.Typ.Kind != types.KindDecimal:
		if IsSmallInteger(x.Typ) && IsSmallInteger(y.Typ) || t.short(c) {
			return t.Assign(c.Typ, "%s(%s, %s)", t.product(c), x.Text, y.Text), nil
		}
		v := t.result(c.Typ)
		t.rangeCheck(fmt.Sprintf("mul_i64(%s, %s, %s)", x.Text, y.Text, v.Text), null, c)
		return v, nil
	}
	drop := ScaleOf(x.Typ) + ScaleOf(y.Typ) - ScaleOf(c.Typ)
	narrow := narrowExact(x) && narrowExact(y)
	digits := int(types.AsDecimal(x.Typ).Precision) + int(types.AsDecimal(y.Typ).Precision)
	switch {
	case drop == 0 && narrow && form.ClassOf(c.Typ) == form.Int:
		return t.Assign(c.Typ, "%s(%s, %s)", t.product(c), x.Text, y.Text), nil
	case drop == 0 && narrow:
		return t.Assign(c.Typ, "(i128)%s * %s", x.Text, y.Text), nil
	case drop == 0 && digits <= int(c.Typ.Precision) && form.ClassOf(c.Typ) == form.Wide:
		return t.Assign(c.Typ, "wrap_mul(%s, %s)", wide(x), wide(y)), nil
	}
	return t.wideResult(c, null, "mul_decimal<%d, %d>(%s, %s", drop, c.Typ.Precision, wide(x), wide(y)), nil
}

// divisor writes the test for a divisor of 0 and its warning. It returns the condition under which the quotient is NULL.
func (t *Text) divisor(c *expr.Call, y Value, null string) string {
	zero := t.Name("n")
	t.Line("const bool %s = %s == 0;", zero, y.Text)
	if t.Ctx.SQLMode&expr.ModeErrorForDivByZero != 0 {
		t.warnOrRaise(unless(zero, null), c)
	}
	return zero
}

// warnOrRaise counts a warning, or in a strict write raises the error that it is there.
func (t *Text) warnOrRaise(condition string, e expr.Expr) {
	if t.Ctx.Writing && t.Ctx.SQLMode&expr.ModeStrict != 0 {
		t.RaiseIf(condition, CodeOnCPU, e)
		return
	}
	t.warnIf(condition, e)
}

func emitDiv(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	x, y := a[0], a[1]
	zero := t.divisor(c, y, null)
	if c.Typ.IsFloat() {
		v := t.Assign(c.Typ, "%s / (%s ? 1.0 : %s)", x.Text, zero, y.Text)
		v.Null = zero
		t.rangeCheck(overflows(v, a), orText(null, zero), c)
		return v, nil
	}
	up := ScaleOf(c.Typ) + ScaleOf(y.Typ) - ScaleOf(x.Typ)
	v := t.wideResult(c, orText(null, zero), "div_decimal<%d, %v, %d>(%s, %s", up, c.Fn.Name == "div_cut", c.Typ.Precision, wide(x), wide(y))
	v.Null = zero
	return v, nil
}

func emitIntDiv(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	x, y := a[0], a[1]
	if x.Class == form.Float || y.Class == form.Float {
		return Value{}, Refuse("DIV of doubles runs on the CPU only")
	}
	zero := t.divisor(c, y, null)
	w := t.Name("w")
	t.Line("i128 %s;", w)
	fits := "fits_i64"
	if c.Typ.Kind == types.KindUint64 {
		fits = "fits_u64"
	}
	t.rangeCheck(fmt.Sprintf("(div_whole(%s, %s, %d, %s) || !%s(%s))", wide(x), wide(y), ScaleOf(y.Typ)-ScaleOf(x.Typ), w, fits, w),
		orText(null, zero), c)
	v := t.exactResult(c.Typ, w)
	v.Null = zero
	return v, nil
}

func emitMod(t *Text, c *expr.Call, a []Value, null string) (v Value, err error) {
	x, y := a[0], a[1]
	zero := t.divisor(c, y, null)
	as, bs, scale := ScaleOf(x.Typ), ScaleOf(y.Typ), ScaleOf(c.Typ)
	switch {
	case c.Typ.IsFloat():
		v = t.Assign(c.Typ, "math_fmod(%s, %s)", x.Text, y.Text)
	case narrowExact(x) && narrowExact(y) && as == bs && form.ClassOf(c.Typ) == form.Int:
		v = t.Assign(c.Typ, "mod_i64(%s, %s)", x.Text, y.Text)
	case scale < max(as, bs):
		v = t.exactResult(c.Typ, fmt.Sprintf("div_pow10<%d>(mod_decimal(%s, %d, %s, %d))", max(as, bs)-scale, wide(x), as, wide(y), bs))
	default:
		v = t.exactResult(c.Typ, fmt.Sprintf("mod_decimal(%s, %d, %s, %d)", wide(x), as, wide(y), bs))
	}
	v.Null = zero
	return v, nil
}

func emitNeg(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	x := a[0]
	switch {
	case c.Typ.IsFloat():
		return t.Assign(c.Typ, "-%s", x.Text), nil
	case c.Typ.IsInteger():
		v := t.Assign(c.Typ, "wrap_sub(0, %s)", x.Text)
		if !IsSmallInteger(x.Typ) {
			t.rangeCheck("!fits_i64(-("+wide(x)+"))", null, c)
		}
		return v, nil
	}
	if form.ClassOf(c.Typ) == form.Wide {
		return t.Assign(c.Typ, "-(%s)", wide(x)), nil
	}
	return t.Assign(c.Typ, "wrap_sub(0, %s)", x.Text), nil
}

// emitBits makes an operator on 64 bits.
func emitBits(format string) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
		args := make([]any, len(a))
		for i, v := range a {
			args[i] = "(u64)" + v.Text
		}
		return t.Assign(c.Typ, "(i64)("+format+")", args...), nil
	}
}

// emitShift makes a shift, which gives 0 from 64 places on.
func emitShift(op string) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
		n := "(u64)" + a[1].Text
		return t.Assign(c.Typ, "%s > 63 ? 0 : (i64)((u64)%s %s (%s & 63))", n, a[0].Text, op, n), nil
	}
}

func emitXor(t *Text, _ *expr.Call, a []Value, null string) (Value, error) {
	return t.truthValue("(("+a[0].Text+" != 0) != ("+a[1].Text+" != 0))"+NotNull(null), null), nil
}

// harmlessArithmetic says whether a call of an exact operator needs no check.
func harmlessArithmetic(c *expr.Call) bool {
	a, b := c.Args[0].Type(), c.Args[1].Type()
	if c.Typ.IsInteger() {
		return IsSmallInteger(a) && IsSmallInteger(b) && c.Typ.Kind == types.KindInt64
	}
	if c.Typ.Kind != types.KindDecimal || a.Phys() != types.PhysInt64 || b.Phys() != types.PhysInt64 {
		return false
	}
	if c.Fn.Name == "mul" {
		return ScaleOf(c.Typ) == ScaleOf(a)+ScaleOf(b)
	}
	return c.Typ.Phys() == types.PhysInt64 && ScaleOf(c.Typ) >= max(ScaleOf(a), ScaleOf(b))
}

func always(*expr.Call) bool { return true }
