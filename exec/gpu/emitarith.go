package gpu

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Arithmetic. Its types were chosen by the binder; where they prove that a result fits, nothing is checked.

// result declares a variable for what a call gives and returns it.
func (t *kernelText) result(typ types.Type) value {
	v := value{class: form.ClassOf(typ), typ: typ, text: t.name("x")}
	t.line("%s %s;", v.class.CName(), v.text)
	return v
}

// assign defines what a call gives.
func (t *kernelText) assign(typ types.Type, format string, args ...any) value {
	v := value{class: form.ClassOf(typ), typ: typ, text: t.name("x")}
	t.line("const %s %s = %s;", v.class.CName(), v.text, fmt.Sprintf(format, args...))
	return v
}

// rangeCheck raises error 1690 for a call where the condition holds and the result is not NULL anyway.
func (t *kernelText) rangeCheck(condition, null string, c *expr.Call) {
	t.raiseIf(unless(condition, null), errOutOfRange, c)
}

// unless is a condition, which is evaluated first, where something is not NULL.
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
func (t *kernelText) exactResult(typ types.Type, text string) value {
	return t.assign(typ, "(%s)(%s)", form.ClassOf(typ).CName(), text)
}

// wideResult calls a function that stores an i128 and returns true where it is out of range.
func (t *kernelText) wideResult(c *expr.Call, null, format string, args ...any) value {
	w := t.name("w")
	t.line("i128 %s;", w)
	t.rangeCheck(fmt.Sprintf(format, args...)+", "+w+")", null, c)
	return t.exactResult(c.Typ, w)
}

func emitAdditive(minus bool) strictEmitter {
	op, short, wrap, checked := "+", "short_add", "wrap_add", "add_i64"
	if minus {
		op, short, wrap, checked = "-", "short_sub", "wrap_sub", "sub_i64"
	}
	return func(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
		x, y := a[0], a[1]
		switch {
		case c.Typ.IsFloat():
			return t.floatResult(c, a, null, "%s %s %s", x.text, op, y.text)
		case c.Typ.Kind == types.KindDecimal:
			return t.addDecimals(c, x, y, minus, null), nil
		case c.Typ.Kind == types.KindUint64:
			v := t.result(c.Typ)
			t.rangeCheck(fmt.Sprintf("to_u64(%s %s %s, %s)", wide(x), op, wide(y), v.text), null, c)
			return v, nil
		}
		if t.short(c) {
			return t.assign(c.Typ, "%s(%s, %s)", short, x.text, y.text), nil
		}
		if small(x.typ) && small(y.typ) {
			return t.assign(c.Typ, "%s(%s, %s)", wrap, x.text, y.text), nil
		}
		v := t.result(c.Typ)
		t.rangeCheck(fmt.Sprintf("%s(%s, %s, %s)", checked, x.text, y.text, v.text), null, c)
		return v, nil
	}
}

// small says whether an integer type has at most 32 bits, so that sums and products of two fit 64.
func small(t types.Type) bool {
	return t.IsInteger() && t.Kind != types.KindInt64 && t.Kind != types.KindUint64
}

// floatResult defines a double that one or two doubles make, and raises an error where it overflows.
func (t *kernelText) floatResult(c *expr.Call, a []value, null, format string, args ...any) (value, error) {
	v := t.assign(c.Typ, format, args...)
	t.rangeCheck(overflows(v, a), null, c)
	return v, nil
}

// overflows is C++ for: finite operands, one double or two before others, gave a double that is not finite.
func overflows(v value, a []value) string {
	second := a[0]
	if len(a) > 1 && a[1].class == form.Float {
		second = a[1]
	}
	return fmt.Sprintf("overflows(%s, %s, %s)", v.text, a[0].text, second.text)
}

// power is 10^n as C++.
func power(n int, class form.Class) string {
	if class == form.Wide {
		return fmt.Sprintf("pow10(%d)", n)
	}
	return fmt.Sprintf("%dLL", types.Pow10(n))
}

// timesPower is an exact value times 10^up in a class; the caller knows that it fits.
func timesPower(v value, up int, class form.Class) string {
	text := v.text
	if class == form.Wide {
		text = wide(v)
	}
	switch {
	case up == 0:
		return text
	case class == form.Wide && v.class == form.Int && up <= types.MaxShortDecimal && v.typ.Phys() != types.PhysUint64:
		return fmt.Sprintf("(i128)%s * %s", v.text, power(up, form.Int))
	}
	return fmt.Sprintf("wrap_mul(%s, %s)", text, power(up, class))
}

func (t *kernelText) addDecimals(c *expr.Call, x, y value, minus bool, null string) value {
	as, bs, scale := scaleOf(x.typ), scaleOf(y.typ), scaleOf(c.Typ)
	common := max(as, bs, scale)
	whole := max(wholeDigits(x.typ), wholeDigits(y.typ)) + 1
	class := form.ClassOf(c.Typ)
	if narrowExact(x) && narrowExact(y) && class == form.Int && scale >= max(as, bs) || whole+common <= types.MaxDecimalPrecision &&
		common == scale && whole+scale <= int(c.Typ.Precision) {
		wrap, short := "wrap_add", "short_add"
		if minus {
			wrap, short = "wrap_sub", "short_sub"
		}
		if class == form.Int && t.short(c) {
			wrap = short
		}
		return t.assign(c.Typ, "%s(%s, %s)", wrap, t.aligned(c.Args[0], x, common-as, class), t.aligned(c.Args[1], y, common-bs, class))
	}
	return t.wideResult(c, null, "add_decimal<%d, %d, %d, %d>(%s, %s, %v", common-as, common-bs, common-scale, c.Typ.Precision, wide(x), wide(y), minus)
}

// aligned is an operand times 10^up in a class, in which it is known to fit; of a literal the host computes it.
func (t *kernelText) aligned(e expr.Expr, v value, up int, class form.Class) string {
	k, ok := e.(*expr.Const)
	if !ok || k.Value.Null || !exactType(k.Value.Type) {
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
	return t.constant(types.DecimalValue(types.Decimal(digits, 0), n)).text
}

// narrowExact says whether a value is a signed 64-bit integer.
func narrowExact(v value) bool { return v.typ.Phys() == types.PhysInt64 && v.class == form.Int }

// product is the function of arith.cuh for a product that fits 64 bits.
func (t *kernelText) product(c *expr.Call) string {
	switch {
	case t.short(c):
		return "short_mul"
	case t.fits32(c.Args[0], fractionOf(c.Args[0].Type())) && t.fits32(c.Args[1], fractionOf(c.Args[1].Type())):
		return "wide_mul"
	}
	return "wrap_mul"
}

// short says whether a sum, difference or product of two integers or decimals is known to have at most 32 bits, and so are the operands, at the scale
// at which they are computed.
func (t *kernelText) short(c *expr.Call) bool {
	to := fractionOf(c.Typ)
	a, b := to, to
	if c.Fn.Name == "mul" {
		a, b = fractionOf(c.Args[0].Type()), fractionOf(c.Args[1].Type())
	}
	return t.fits32(c, to) && t.fits32(c.Args[0], a) && t.fits32(c.Args[1], b)
}

// fits32 says whether an expression's values at a scale are known to be signed integers of 32 bits.
func (t *kernelText) fits32(e expr.Expr, scale int) bool {
	if t.within == nil {
		return false
	}
	r, ok := t.within(e)
	if !ok {
		return false
	}
	r, ok = rescaled(r, fractionOf(e.Type()), scale)
	return ok && r.Lo >= math.MinInt32 && r.Hi <= math.MaxInt32
}

func emitMul(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	x, y := a[0], a[1]
	switch {
	case c.Typ.IsFloat():
		return t.floatResult(c, a, null, "%s * %s", x.text, y.text)
	case c.Typ.Kind == types.KindUint64:
		v := t.result(c.Typ)
		t.rangeCheck(fmt.Sprintf("mul_to_u64(%s, %s, %s)", wide(x), wide(y), v.text), null, c)
		return v, nil
	case c.Typ.Kind != types.KindDecimal:
		if small(x.typ) && small(y.typ) || t.short(c) {
			return t.assign(c.Typ, "%s(%s, %s)", t.product(c), x.text, y.text), nil
		}
		v := t.result(c.Typ)
		t.rangeCheck(fmt.Sprintf("mul_i64(%s, %s, %s)", x.text, y.text, v.text), null, c)
		return v, nil
	}
	drop := scaleOf(x.typ) + scaleOf(y.typ) - scaleOf(c.Typ)
	narrow := narrowExact(x) && narrowExact(y)
	digits := int(types.AsDecimal(x.typ).Precision) + int(types.AsDecimal(y.typ).Precision)
	switch {
	case drop == 0 && narrow && form.ClassOf(c.Typ) == form.Int:
		return t.assign(c.Typ, "%s(%s, %s)", t.product(c), x.text, y.text), nil
	case drop == 0 && narrow:
		return t.assign(c.Typ, "(i128)%s * %s", x.text, y.text), nil
	case drop == 0 && digits <= int(c.Typ.Precision) && form.ClassOf(c.Typ) == form.Wide:
		return t.assign(c.Typ, "wrap_mul(%s, %s)", wide(x), wide(y)), nil
	}
	return t.wideResult(c, null, "mul_decimal<%d, %d>(%s, %s", drop, c.Typ.Precision, wide(x), wide(y)), nil
}

// divisor names what says that a divisor is 0, and writes the warning that this gives. It returns where the quotient is NULL.
func (t *kernelText) divisor(c *expr.Call, y value, null string) string {
	zero := t.name("n")
	t.line("const bool %s = %s == 0;", zero, y.text)
	if t.ctx.SQLMode&expr.ModeErrorForDivByZero != 0 {
		t.warnOrRaise(unless(zero, null), c)
	}
	return zero
}

// warnOrRaise counts a warning, or in a strict write raises the error that it is there.
func (t *kernelText) warnOrRaise(condition string, e expr.Expr) {
	if t.ctx.Writing && t.ctx.SQLMode&expr.ModeStrict != 0 {
		t.raiseIf(condition, errOnCPU, e)
		return
	}
	t.warnIf(condition, e)
}

func emitDiv(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	x, y := a[0], a[1]
	zero := t.divisor(c, y, null)
	if c.Typ.IsFloat() {
		v := t.assign(c.Typ, "%s / (%s ? 1.0 : %s)", x.text, zero, y.text)
		v.null = zero
		t.rangeCheck(overflows(v, a), orText(null, zero), c)
		return v, nil
	}
	up := scaleOf(c.Typ) + scaleOf(y.typ) - scaleOf(x.typ)
	v := t.wideResult(c, orText(null, zero), "div_decimal<%d, %v, %d>(%s, %s", up, c.Fn.Name == "div_cut", c.Typ.Precision, wide(x), wide(y))
	v.null = zero
	return v, nil
}

func emitIntDiv(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	x, y := a[0], a[1]
	if x.class == form.Float || y.class == form.Float {
		return value{}, refuse("DIV of doubles runs on the CPU only")
	}
	zero := t.divisor(c, y, null)
	w := t.name("w")
	t.line("i128 %s;", w)
	fits := "fits_i64"
	if c.Typ.Kind == types.KindUint64 {
		fits = "fits_u64"
	}
	t.rangeCheck(fmt.Sprintf("(div_whole(%s, %s, %d, %s) || !%s(%s))", wide(x), wide(y), scaleOf(y.typ)-scaleOf(x.typ), w, fits, w),
		orText(null, zero), c)
	v := t.exactResult(c.Typ, w)
	v.null = zero
	return v, nil
}

func emitMod(t *kernelText, c *expr.Call, a []value, null string) (v value, err error) {
	x, y := a[0], a[1]
	zero := t.divisor(c, y, null)
	as, bs, scale := scaleOf(x.typ), scaleOf(y.typ), scaleOf(c.Typ)
	switch {
	case c.Typ.IsFloat():
		v = t.assign(c.Typ, "math_fmod(%s, %s)", x.text, y.text)
	case narrowExact(x) && narrowExact(y) && as == bs && form.ClassOf(c.Typ) == form.Int:
		v = t.assign(c.Typ, "mod_i64(%s, %s)", x.text, y.text)
	case scale < max(as, bs):
		v = t.exactResult(c.Typ, fmt.Sprintf("div_pow10<%d>(mod_decimal(%s, %d, %s, %d))", max(as, bs)-scale, wide(x), as, wide(y), bs))
	default:
		v = t.exactResult(c.Typ, fmt.Sprintf("mod_decimal(%s, %d, %s, %d)", wide(x), as, wide(y), bs))
	}
	v.null = zero
	return v, nil
}

func emitNeg(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	x := a[0]
	switch {
	case c.Typ.IsFloat():
		return t.assign(c.Typ, "-%s", x.text), nil
	case c.Typ.IsInteger():
		v := t.assign(c.Typ, "wrap_sub(0, %s)", x.text)
		if !small(x.typ) {
			t.rangeCheck("!fits_i64(-("+wide(x)+"))", null, c)
		}
		return v, nil
	}
	if form.ClassOf(c.Typ) == form.Wide {
		return t.assign(c.Typ, "-(%s)", wide(x)), nil
	}
	return t.assign(c.Typ, "wrap_sub(0, %s)", x.text), nil
}

// emitBits makes an operator on 64 bits.
func emitBits(format string) strictEmitter {
	return func(t *kernelText, c *expr.Call, a []value, _ string) (value, error) {
		args := make([]any, len(a))
		for i, v := range a {
			args[i] = "(u64)" + v.text
		}
		return t.assign(c.Typ, "(i64)("+format+")", args...), nil
	}
}

// emitShift makes a shift, which gives 0 from 64 places on.
func emitShift(op string) strictEmitter {
	return func(t *kernelText, c *expr.Call, a []value, _ string) (value, error) {
		n := "(u64)" + a[1].text
		return t.assign(c.Typ, "%s > 63 ? 0 : (i64)((u64)%s %s (%s & 63))", n, a[0].text, op, n), nil
	}
}

func emitXor(t *kernelText, _ *expr.Call, a []value, null string) (value, error) {
	return t.truthValue("(("+a[0].text+" != 0) != ("+a[1].text+" != 0))"+notNull(null), null), nil
}

// harmlessArithmetic says whether a call of an exact operator needs no check.
func harmlessArithmetic(c *expr.Call) bool {
	a, b := c.Args[0].Type(), c.Args[1].Type()
	if c.Typ.IsInteger() {
		return small(a) && small(b) && c.Typ.Kind == types.KindInt64
	}
	if c.Typ.Kind != types.KindDecimal || a.Phys() != types.PhysInt64 || b.Phys() != types.PhysInt64 {
		return false
	}
	if c.Fn.Name == "mul" {
		return scaleOf(c.Typ) == scaleOf(a)+scaleOf(b)
	}
	return c.Typ.Phys() == types.PhysInt64 && scaleOf(c.Typ) >= max(scaleOf(a), scaleOf(b))
}

func always(*expr.Call) bool { return true }
