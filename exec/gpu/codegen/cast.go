package codegen

import (
	"fmt"
	"math"
	"time"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Conversions, as types.ConvertContext has them. What gives a warning there quotes the value, so it is left to the CPU.

// emitCast writes a cast.
func (t *Text) emitCast(c *expr.Cast, sc *Scope) (Value, error) {
	v, err := t.Emit(c.Arg, sc)
	if err != nil {
		return Value{}, err
	}
	from, to := c.Arg.Type(), c.To
	if v.Null == "true" || from.Kind == types.KindNull {
		return NullOf(form.ClassOf(to), to), nil
	}
	if from.Kind == types.KindTimestamp && !t.isUTC() {
		return Value{}, Refuse("a TIMESTAMP in a time zone other than UTC is read on the CPU only")
	}
	if expr.SameValues(from, to) {
		if v.Class == form.Code {
			v.Typ = to
			return v, nil
		}
		return t.represent(v, to)
	}
	if (c.Strict || c.Column != "") && !harmlessCast(c) {
		return Value{}, Refuse("converting %s to the column %s runs on the CPU only", from, c.Column)
	}
	if from.Kind == types.KindTimestamp {
		from.Kind = types.KindDatetime
	}
	out, ok := Value{}, false
	switch {
	case from.IsString():
		out, ok = t.stringToString(c, t.view(v), to)
	case from.Kind == types.KindEnum && to.IsString():
		out, ok = t.enumToString(v, from, to)
	case to.IsString():
		out, ok = t.toString(v, from, to)
	case to.IsFloat():
		out, ok = t.toDouble(c, v, from)
	case to.Kind == types.KindDecimal:
		out, ok = t.toDecimal(c, v, from)
	case to.IsInteger() && to.Kind != types.KindYear:
		out, ok = t.toInteger(c, v, from)
	case to.Kind == types.KindDate, to.Kind == types.KindDatetime:
		out, ok = t.toDatetime(c, v, from)
	case to.Kind == types.KindTime:
		out, ok = t.toTime(c, v, from)
	}
	if !ok {
		return Value{}, Refuse("converting %s to %s runs on the CPU only", from, to)
	}
	out.Null = v.Null
	return out, nil
}

// isUTC says whether the session's time zone is UTC.
func (t *Text) isUTC() bool { return t.Ctx.Location == nil || t.Ctx.Location == time.UTC }

// harmlessCast says whether a cast never fails and is cheap: integers and decimals that gain digits, dates that become datetimes.
func harmlessCast(c *expr.Cast) bool {
	from, to := c.Arg.Type(), c.To
	switch {
	case expr.SameValues(from, to):
		return from.Kind != types.KindTimestamp
	case from.IsInteger() && to.Kind == types.KindDouble:
		return true
	case ExactType(from) && to.Kind == types.KindDecimal:
		return growsOnly(from, to)
	case from.Kind == types.KindDate && to.Kind == types.KindDatetime:
		return true
	}
	return false
}

// growsOnly says whether every exact value of a type is one of a DECIMAL type, with no digit rounded away.
func growsOnly(from, to types.Type) bool {
	f := types.AsDecimal(from)
	up := int(to.Scale) - int(f.Scale)
	return up >= 0 && int(f.Precision)+up <= int(to.Precision)
}

// onCPU raises the error that makes the query run on the CPU, which words the warning.
func (t *Text) onCPU(condition string, v Value, e expr.Expr) {
	t.RaiseIf(unless(condition, v.Null), CodeOnCPU, e)
}

// temporalNumber is a temporal value's number form: C++ of an i128 and its scale.
func temporalNumber(v Value, from types.Type) (text string, scale int) {
	scale = int(from.Scale)
	unit := types.Pow10(types.MaxFsp - scale)
	switch from.Kind {
	case types.KindDate:
		return "(i128)date_number(" + v.Text + ")", 0
	case types.KindTime:
		return fmt.Sprintf("(i128)time_decimal<%d>(%s)", unit, v.Text), scale
	}
	return fmt.Sprintf("datetime_decimal<%d>(%s)", unit, v.Text), scale
}

func (t *Text) toDouble(c *expr.Cast, v Value, from types.Type) (Value, bool) {
	out, scale := Value{}, ScaleOf(from)
	switch {
	case from.IsFloat():
		out = t.Assign(types.Double, "%s", v.Text)
	case from.IsTemporal():
		text, scale := temporalNumber(v, from)
		out = t.Assign(types.Double, "decimal_to_double<%d>(%s)", scale, text)
	case scale > 0:
		out = t.Assign(types.Double, "decimal_to_double<%d>(%s)", scale, wide(v))
	case v.Class == form.Wide:
		out = t.Assign(types.Double, "wide_to_double(%s)", v.Text)
	case from.Phys() == types.PhysUint64:
		out = t.Assign(types.Double, "(f64)(u64)%s", v.Text)
	case v.Class == form.Int:
		out = t.Assign(types.Double, "(f64)%s", v.Text)
	default:
		return out, false
	}
	if c.To.Kind == types.KindFloat {
		t.onCPU(fmt.Sprintf("(math_fabs(%s) > %.1f)", out.Text, math.MaxFloat32), v, c)
		out = t.Assign(types.Float, "(f64)(f32)%s", out.Text)
	}
	return out, true
}

func (t *Text) toDecimal(c *expr.Cast, v Value, from types.Type) (Value, bool) {
	text, scale := "", ScaleOf(from)
	isNumber := ExactType(from) && v.Typ.Phys() != types.PhysUint64
	short := isNumber && narrowExact(v) && form.ClassOf(c.To) == form.Int
	switch {
	case from.IsTemporal():
		text, scale = temporalNumber(v, from)
		from = types.AsDecimal(from)
	case isExact(v):
		text = wide(v)
	default:
		return Value{}, false
	}
	to := int(c.To.Scale)
	if growsOnly(from, c.To) {
		if short {
			return t.Assign(c.To, "%s", timesPower(v, to-scale, form.Int)), true
		}
		if isNumber {
			return t.exactResult(c.To, timesPower(v, to-scale, form.Wide)), true
		}
		return t.exactResult(c.To, fmt.Sprintf("wrap_mul(%s, pow10(%d))", text, to-scale)), true
	}
	if short && to < scale && wholeDigits(from) < wholeDigits(c.To) {
		return t.Assign(c.To, "div_pow10<%d>(%s)", scale-to, v.Text), true
	}
	w := t.Name("w")
	t.Line("i128 %s;", w)
	t.onCPU(fmt.Sprintf("(rescale<%d, %d>(%s, %s) || !fits_decimal<%d>(%s))", scale, to, text, w, c.To.Precision, w), v, c)
	return t.exactResult(c.To, w), true
}

func (t *Text) toInteger(c *expr.Cast, v Value, from types.Type) (Value, bool) {
	to := c.To
	out := Value{}
	switch {
	case from.IsFloat():
		out = t.result(to)
		convert := "double_to_i64"
		if to.Kind == types.KindUint64 {
			convert = "double_to_u64"
		}
		t.onCPU(fmt.Sprintf("%s(%s, %s)", convert, v.Text, out.Text), v, c)
	case from.Kind == types.KindDecimal:
		w := t.Assign(types.Decimal(types.MaxDecimalPrecision, 0), "div_pow10<%d>(%s)", ScaleOf(from), wide(v))
		out = t.exactResult(to, w.Text)
		switch {
		case from.Precision-from.Scale < types.MaxShortDecimal: // fits
		case to.Kind == types.KindUint64:
			t.onCPU(fmt.Sprintf("(!fits_u64(%s) && !(%s < 0 && fits_i64(%s)))", w.Text, w.Text, w.Text), v, c)
		default:
			t.onCPU("(!fits_i64("+w.Text+"))", v, c)
		}
	case from.Kind == types.KindDate:
		out = t.Assign(to, "date_number(%s)", v.Text)
	case from.Kind == types.KindDatetime:
		// At the end of year 9999 rounding up has nowhere to go.
		out = t.Assign(to, "datetime_number(%s > max_datetime - %d ? %s : round_datetime<%d>(%s))", v.Text, types.MicrosPerSecond/2, v.Text,
			types.MicrosPerSecond, v.Text)
	case from.Kind == types.KindTime:
		out = t.Assign(to, "time_number(round_time<%d>(%s))", types.MicrosPerSecond, v.Text)
	case v.Class == form.Int: // integers, ENUMs; BIGINT and BIGINT UNSIGNED keep each other's bits
		out = t.Assign(to, "%s", v.Text)
		if from.Phys() == types.PhysUint64 && to.Kind != types.KindInt64 {
			t.onCPU("("+out.Text+" < 0)", v, c)
		}
	default:
		return out, false
	}
	if to.Kind != types.KindInt64 && to.Kind != types.KindUint64 {
		lo, hi := types.IntRange(to.Kind)
		t.onCPU(fmt.Sprintf("(%s < %d || %s > %d)", out.Text, lo, out.Text, hi), v, c)
	}
	return out, true
}

func (t *Text) toDatetime(c *expr.Cast, v Value, from types.Type) (Value, bool) {
	to := c.To
	micros := ""
	switch {
	case from.Kind == types.KindDate:
		return t.Assign(to, "%s * micros_per_day", v.Text), true
	case from.Kind == types.KindDatetime && to.Kind == types.KindDate:
		return t.Assign(to, "date_of(%s)", v.Text), true
	case from.Kind == types.KindDatetime:
		micros = v.Text
	case from.Kind == types.KindTime:
		today := types.Value{Type: types.Date, I: t.Ctx.Today()}
		sum := t.Assign(types.Datetime, "%s * micros_per_day + %s", t.constant(today).Text, v.Text)
		if to.Kind == types.KindDate {
			out := t.Assign(to, "date_of(%s)", sum.Text)
			t.onCPU("!valid_date("+out.Text+")", v, c)
			return out, true
		}
		micros = sum.Text
	case from.IsInteger():
		parsed := t.result(types.Datetime)
		n := v.Text
		bad := fmt.Sprintf("datetime_of_number(%s, %s)", n, parsed.Text)
		if from.Phys() == types.PhysUint64 {
			bad = "(" + bad + " | " + n + " < 0)"
		}
		t.onCPU(bad, v, c)
		if to.Kind == types.KindDate {
			return t.Assign(to, "date_of(%s)", parsed.Text), true
		}
		return t.Assign(to, "%s", parsed.Text), true
	default:
		return Value{}, false
	}
	unit := types.Pow10(types.MaxFsp - int(to.Scale))
	out := t.Assign(to, "round_datetime<%d>(%s)", unit, micros)
	t.onCPU("(!valid_datetime("+out.Text+"))", v, c)
	return out, true
}

func (t *Text) toTime(c *expr.Cast, v Value, from types.Type) (Value, bool) {
	unit := types.Pow10(types.MaxFsp - int(c.To.Scale))
	switch from.Kind {
	case types.KindTime:
		return t.Assign(c.To, "round_time<%d>(%s)", unit, v.Text), true
	case types.KindDatetime:
		return t.Assign(c.To, "round_time<%d>(time_of(%s))", unit, v.Text), true
	case types.KindDate:
		return t.Assign(c.To, "0"), true
	}
	return Value{}, false
}

// becomesString says whether what is converted to a type is a string no longer than what it is made of: a BINARY is filled up, a JSON has to be a document.
func becomesString(to types.Type) bool {
	return to.IsString() && to.Kind != types.KindBinary && to.Kind != types.KindJSON && to.Length != types.NoLength
}

// bounded says whether a type of strings has a length to which they are cut.
func bounded(to types.Type) bool {
	return to.Length > 0 && to.Kind != types.KindText && to.Kind != types.KindBlob
}

// stringToString cuts a string to a type's length. More than spaces lost gives a warning.
func (t *Text) stringToString(c *expr.Cast, v Value, to types.Type) (Value, bool) {
	if !becomesString(to) {
		return Value{}, false
	}
	out := v
	if bounded(to) {
		out = t.result(to)
		t.onCPU(fmt.Sprintf("fit_string<%v>(%s, %d, %s)", to.IsBinaryString(), v.Text, to.Length, out.Text), v, c)
	}
	if to.Kind == types.KindChar {
		out = t.Assign(to, "trim_right_spaces(%s)", out.Text)
	}
	out.Typ = to
	return out, true
}

// enumToString gives an ENUM's index as a code of a dictionary of its names; 0 is the empty string.
func (t *Text) enumToString(v Value, from, to types.Type) (Value, bool) {
	if !expr.SameValues(types.Varchar(types.TextLength(from)), to) {
		return Value{}, false
	}
	d, codes := t.Lookups.Enum(from.Enum)
	if d == nil {
		return Value{}, false
	}
	code, index := t.Name("x"), v.Text
	if v.Null != "" {
		index = v.Null + " ? 0 : " + index // a NULL's number may be any
	}
	t.Line("const u32 %s = %s[%s];", code, t.address(codes, "u32"), index)
	return codeOf(to, code, v.Null, d), true
}

// toString writes a number or a time as a string. Where that may be longer than the type it is the CPU's, which cuts and warns.
func (t *Text) toString(v Value, from, to types.Type) (Value, bool) {
	if !becomesString(to) || bounded(to) && int(to.Length) < types.TextLength(from) {
		return Value{}, false
	}
	text := ""
	switch {
	case from.Kind == types.KindYear:
		return Value{}, false
	case ExactType(from) && isExact(v):
		text = fmt.Sprintf("decimal_text(%s, %s, %d)", t.stringMemory(), wide(v), ScaleOf(from))
	case from.Kind == types.KindDate:
		text = fmt.Sprintf("date_text(%s, %s)", t.stringMemory(), v.Text)
	case from.Kind == types.KindDatetime:
		text = fmt.Sprintf("datetime_text(%s, %s, %d)", t.stringMemory(), v.Text, from.Scale)
	case from.Kind == types.KindTime:
		text = fmt.Sprintf("time_text(%s, %s, %d)", t.stringMemory(), v.Text, from.Scale)
	default:
		return Value{}, false
	}
	return t.making(to, v.Null, text), true
}
