package gpu

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Rounding, signs and functions of doubles.

// emitMath makes a function of doubles whose result must be finite where its operands are.
func emitMath(format string) strictEmitter {
	return func(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
		args := make([]any, len(a))
		for i, v := range a {
			args[i] = v.text
		}
		return t.floatResult(c, a, null, format, args...)
	}
}

// emitPartial makes a function of one double that is NULL where the condition does not hold; warns says whether that gives a warning.
func emitPartial(defined, format string, warns bool) strictEmitter {
	return func(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
		x := a[0].text
		undefined := t.name("n")
		t.line("const bool %s = !(%s);", undefined, fmt.Sprintf(defined, x))
		if warns {
			t.warnIf(unless(undefined, null), c)
		}
		v := t.assign(c.Typ, format, x)
		v.null = undefined
		return v, nil
	}
}

func emitLog(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	if len(a) == 1 {
		return emitPartial("!(%s <= 0)", "math_log(%s)", true)(t, c, a, null)
	}
	undefined := t.name("n")
	t.line("const bool %s = %s <= 0 || %s <= 1;", undefined, a[1].text, a[0].text)
	t.warnIf(unless(undefined, null), c)
	v := t.assign(c.Typ, "math_log(%s) / math_log(%s)", a[1].text, a[0].text)
	v.null = undefined
	return v, nil
}

func emitAtan(t *kernelText, c *expr.Call, a []value, _ string) (value, error) {
	if len(a) == 1 {
		return t.assign(c.Typ, "math_atan(%s)", a[0].text), nil
	}
	return t.assign(c.Typ, "math_atan2(%s, %s)", a[0].text, a[1].text), nil
}

func emitAbs(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
	x := a[0]
	switch {
	case c.Typ.IsFloat():
		return t.floatResult(c, a, null, "math_fabs(%s)", x.text)
	case x.class == form.Wide:
		return t.assign(c.Typ, "(i128)magnitude(%s)", x.text), nil
	case x.typ.Phys() == types.PhysUint64:
		return t.assign(c.Typ, "%s", x.text), nil
	}
	v := t.assign(c.Typ, "(%s)magnitude(%s)", form.ClassOf(c.Typ).CName(), x.text)
	if c.Typ.Kind == types.KindInt64 && !small(x.typ) {
		t.rangeCheck("("+v.text+" < 0)", null, c)
	}
	return v, nil
}

func emitSign(t *kernelText, c *expr.Call, a []value, _ string) (value, error) {
	x := a[0].text
	if a[0].typ.Phys() == types.PhysUint64 {
		return t.assign(c.Typ, "%s != 0", x), nil
	}
	return t.assign(c.Typ, "(i64)!(%s <= 0) - (i64)(%s < 0)", x, x), nil // of NaN 1
}

// emitWhole makes FLOOR (-1) and CEIL (1).
func emitWhole(name string, direction int) strictEmitter {
	return func(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
		x, scale := a[0], scaleOf(a[0].typ)
		switch {
		case c.Typ.IsFloat():
			return t.floatResult(c, a, null, "math_"+name+"(%s)", x.text)
		case scale == 0 && form.ClassOf(c.Typ) == x.class:
			return t.assign(c.Typ, "%s", x.text), nil
		case x.class == form.Int && x.typ.Phys() == types.PhysInt64:
			return t.exactResult(c.Typ, fmt.Sprintf("whole_decimal<%d, %d>(%s)", scale, direction, x.text)), nil
		}
		return t.exactResult(c.Typ, fmt.Sprintf("whole_decimal_long(%s, %d, %d)", wide(x), scale, direction)), nil
	}
}

// emitRound makes ROUND and TRUNCATE. A constant number of digits is part of the result's type, and so of the text.
func emitRound(cut bool) strictEmitter {
	return func(t *kernelText, c *expr.Call, a []value, null string) (value, error) {
		x := a[0]
		digits, constant := int64(0), true
		text := "0"
		if len(a) == 2 {
			k, ok := c.Args[1].(*expr.Const)
			if constant = ok && !k.Value.Null; constant {
				digits = k.Value.I
			}
			text = a[1].text
		}
		if c.Typ.IsFloat() {
			return t.floatResult(c, a, null, "round_double(%s, %s, %v)", x.text, text, cut)
		}
		from, to := scaleOf(x.typ), scaleOf(c.Typ)
		if to < from && (!constant || digits > int64(to)) { // a quotient has more digits than are shown, of which none is asked for
			text = fmt.Sprintf("(%s < %d ? %s : %d)", text, to, text, to)
		}
		if constant {
			d := int(min(max(digits, -2*types.MaxDecimalPrecision), int64(min(from, to))))
			room := wholeDigits(c.Typ) - wholeDigits(x.typ)
			enough := room > 0 || room == 0 && (cut || d == from) || c.Typ.IsInteger() && d == from
			if d >= 0 && d <= to && from-d <= types.MaxShortDecimal && enough && narrowExact(x) && form.ClassOf(c.Typ) == form.Int {
				down := "div_pow10"
				if cut {
					down = "cut_pow10"
				}
				return t.assign(c.Typ, "wrap_mul(%s<%d>(%s), %s)", down, from-d, x.text, power(to-d, form.Int)), nil
			}
		}
		w := t.name("w")
		t.line("i128 %s;", w)
		fits := fmt.Sprintf("fits_decimal<%d>(%s)", c.Typ.Precision, w)
		switch {
		case c.Typ.Kind == types.KindUint64:
			fits = "fits_u64(" + w + ")"
		case c.Typ.IsInteger():
			fits = "fits_i64(" + w + ")"
		}
		t.rangeCheck(fmt.Sprintf("(round_decimal(%s, %d, %s, %d, %v, %s) || !%s)", wide(x), from, text, to, cut, w, fits), null, c)
		return t.exactResult(c.Typ, w), nil
	}
}

// emitExtreme makes GREATEST (">") and LEAST ("<").
func emitExtreme(op string) strictEmitter {
	return func(t *kernelText, c *expr.Call, a []value, _ string) (value, error) {
		if c.Typ.IsString() {
			best := t.view(a[0])
			for _, v := range a[1:] {
				v = t.view(v)
				best = t.assign(c.Typ, "compare_views(%s, %s) %s 0 ? %s : %s", v.text, best.text, op, v.text, best.text)
			}
			return best, nil
		}
		best, err := t.represent(a[0], c.Typ)
		if err != nil {
			return value{}, err
		}
		for _, v := range a[1:] {
			if v, err = t.represent(v, c.Typ); err != nil {
				return value{}, err
			}
			cast := ""
			if c.Typ.Phys() == types.PhysUint64 {
				cast = "(u64)"
			}
			// As the CPU has it: GREATEST takes what is not less, LEAST what is less.
			condition := fmt.Sprintf("%s%s < %s%s", cast, v.text, cast, best.text)
			if v.class == form.Float {
				condition = compareFloats(expr.LT, v.text, best.text)
			}
			if op == ">" {
				condition = "!(" + condition + ")"
			}
			best = t.assign(c.Typ, "%s ? %s : %s", condition, v.text, best.text)
		}
		return best, nil
	}
}

// emitInterval makes INTERVAL(n, a, b, ...), the number of ascending operands that are at most n.
func emitInterval(t *kernelText, c *expr.Call, sc *scope) (value, error) {
	args, err := t.all(c, sc)
	if err != nil {
		return value{}, err
	}
	x := args[0]
	v := t.result(c.Typ)
	t.line("%s = %s ? -1 : %d;", v.text, nullText(x), len(args)-1)
	for k := len(args) - 1; k > 0; k-- {
		t.line("if (!%s && !%s && %s) %s = %d;", nullText(x), nullText(args[k]), compareFloats(expr.GT, args[k].text, x.text), v.text, k-1)
	}
	return v, nil
}
