package codegen

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Rounding, signs and functions of doubles.

// emitMath makes a function of doubles whose result must be finite where its operands are.
func emitMath(format string) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
		args := make([]any, len(a))
		for i, v := range a {
			args[i] = v.Text
		}
		return t.floatResult(c, a, null, format, args...)
	}
}

// emitPartial makes a function of one double that is NULL where the condition does not hold; warns says whether that gives a warning.
func emitPartial(defined, format string, warns bool) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
		x := a[0].Text
		undefined := t.Name("n")
		t.Line("const bool %s = !(%s);", undefined, fmt.Sprintf(defined, x))
		if warns {
			t.warnIf(unless(undefined, null), c)
		}
		v := t.Assign(c.Typ, format, x)
		v.Null = undefined
		return v, nil
	}
}

func emitLog(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	if len(a) == 1 {
		return emitPartial("!(%s <= 0)", "math_log(%s)", true)(t, c, a, null)
	}
	undefined := t.Name("n")
	t.Line("const bool %s = %s <= 0 || %s <= 1;", undefined, a[1].Text, a[0].Text)
	t.warnIf(unless(undefined, null), c)
	v := t.Assign(c.Typ, "math_log(%s) / math_log(%s)", a[1].Text, a[0].Text)
	v.Null = undefined
	return v, nil
}

func emitAtan(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	if len(a) == 1 {
		return t.Assign(c.Typ, "math_atan(%s)", a[0].Text), nil
	}
	return t.Assign(c.Typ, "math_atan2(%s, %s)", a[0].Text, a[1].Text), nil
}

func emitAbs(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	x := a[0]
	switch {
	case c.Typ.IsFloat():
		return t.floatResult(c, a, null, "math_fabs(%s)", x.Text)
	case x.Class == form.Wide:
		return t.Assign(c.Typ, "(i128)magnitude(%s)", x.Text), nil
	case x.Typ.Phys() == types.PhysUint64:
		return t.Assign(c.Typ, "%s", x.Text), nil
	}
	v := t.Assign(c.Typ, "(%s)magnitude(%s)", form.ClassOf(c.Typ).CName(), x.Text)
	if c.Typ.Kind == types.KindInt64 && !IsSmallInteger(x.Typ) {
		t.rangeCheck("("+v.Text+" < 0)", null, c)
	}
	return v, nil
}

func emitSign(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	x := a[0].Text
	if a[0].Typ.Phys() == types.PhysUint64 {
		return t.Assign(c.Typ, "%s != 0", x), nil
	}
	return t.Assign(c.Typ, "(i64)!(%s <= 0) - (i64)(%s < 0)", x, x), nil // of NaN 1
}

// emitWhole makes FLOOR (-1) and CEIL (1).
func emitWhole(name string, direction int) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
		x, scale := a[0], ScaleOf(a[0].Typ)
		switch {
		case c.Typ.IsFloat():
			return t.floatResult(c, a, null, "math_"+name+"(%s)", x.Text)
		case scale == 0 && form.ClassOf(c.Typ) == x.Class:
			return t.Assign(c.Typ, "%s", x.Text), nil
		case x.Class == form.Int && x.Typ.Phys() == types.PhysInt64:
			return t.exactResult(c.Typ, fmt.Sprintf("whole_decimal<%d, %d>(%s)", scale, direction, x.Text)), nil
		}
		return t.exactResult(c.Typ, fmt.Sprintf("whole_decimal_long(%s, %d, %d)", wide(x), scale, direction)), nil
	}
}

// emitRound makes ROUND and TRUNCATE. A constant number of digits is part of the result's type, and so of the text.
func emitRound(cut bool) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
		x := a[0]
		digits, constant := int64(0), true
		text := "0"
		if len(a) == 2 {
			k, ok := c.Args[1].(*expr.Const)
			if constant = ok && !k.Value.Null; constant {
				digits = k.Value.I
			}
			text = a[1].Text
		}
		if c.Typ.IsFloat() {
			return t.floatResult(c, a, null, "round_double(%s, %s, %v)", x.Text, text, cut)
		}
		from, to := ScaleOf(x.Typ), ScaleOf(c.Typ)
		if to < from && (!constant || digits > int64(to)) { // a quotient has more digits than are shown, of which none is asked for
			text = fmt.Sprintf("(%s < %d ? %s : %d)", text, to, text, to)
		}
		if constant {
			d := int(min(max(digits, -2*types.MaxDecimalPrecision), int64(min(from, to))))
			digits := wholeDigits(c.Typ) - wholeDigits(x.Typ)
			enough := digits > 0 || digits == 0 && (cut || d == from) || c.Typ.IsInteger() && d == from
			if d >= 0 && d <= to && from-d <= types.MaxShortDecimal && enough && narrowExact(x) && form.ClassOf(c.Typ) == form.Int {
				down := "div_pow10"
				if cut {
					down = "cut_pow10"
				}
				return t.Assign(c.Typ, "wrap_mul(%s<%d>(%s), %s)", down, from-d, x.Text, power(to-d, form.Int)), nil
			}
		}
		w := t.Name("w")
		t.Line("i128 %s;", w)
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
	return func(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
		if c.Typ.IsString() {
			best := t.view(a[0])
			for _, v := range a[1:] {
				v = t.view(v)
				best = t.Assign(c.Typ, "compare_views(%s, %s) %s 0 ? %s : %s", v.Text, best.Text, op, v.Text, best.Text)
			}
			return best, nil
		}
		best, err := t.represent(a[0], c.Typ)
		if err != nil {
			return Value{}, err
		}
		for _, v := range a[1:] {
			if v, err = t.represent(v, c.Typ); err != nil {
				return Value{}, err
			}
			cast := ""
			if c.Typ.Phys() == types.PhysUint64 {
				cast = "(u64)"
			}
			// As the CPU has it: GREATEST takes what is not less, LEAST what is less.
			condition := fmt.Sprintf("%s%s < %s%s", cast, v.Text, cast, best.Text)
			if v.Class == form.Float {
				condition = compareFloats(expr.LT, v.Text, best.Text)
			}
			if op == ">" {
				condition = "!(" + condition + ")"
			}
			best = t.Assign(c.Typ, "%s ? %s : %s", condition, v.Text, best.Text)
		}
		return best, nil
	}
}

// emitInterval makes INTERVAL(n, a, b, ...), the number of ascending operands that are at most n.
func emitInterval(t *Text, c *expr.Call, sc *Scope) (Value, error) {
	args, err := t.all(c, sc)
	if err != nil {
		return Value{}, err
	}
	x := args[0]
	v := t.result(c.Typ)
	t.Line("%s = %s ? -1 : %d;", v.Text, nullText(x), len(args)-1)
	for k := len(args) - 1; k > 0; k-- {
		t.Line("if (!%s && !%s && %s) %s = %d;", nullText(x), nullText(args[k]), compareFloats(expr.GT, args[k].Text, x.Text), v.Text, k-1)
	}
	return v, nil
}
