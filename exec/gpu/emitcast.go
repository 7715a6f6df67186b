package gpu

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
func (t *kernelText) emitCast(c *expr.Cast, sc *scope) (value, error) {
	v, err := t.emit(c.Arg, sc)
	if err != nil {
		return value{}, err
	}
	from, to := c.Arg.Type(), c.To
	if v.null == "true" || from.Kind == types.KindNull {
		return nullOf(form.ClassOf(to), to), nil
	}
	if from.Kind == types.KindTimestamp && !t.utc() {
		return value{}, refuse("a TIMESTAMP in a time zone other than UTC is read on the CPU only")
	}
	if expr.SameValues(from, to) {
		if v.class == form.Code {
			v.typ = to
			return v, nil
		}
		return t.represent(v, to)
	}
	if (c.Strict || c.Column != "") && !harmlessCast(c) {
		return value{}, refuse("converting %s to the column %s runs on the CPU only", from, c.Column)
	}
	if from.Kind == types.KindTimestamp {
		from.Kind = types.KindDatetime
	}
	out, ok := value{}, false
	switch {
	case from.IsString():
		out, ok = t.stringToString(c, t.view(v), to)
	case from.Kind == types.KindEnum && to.IsString():
		out, ok = t.enumToString(v, from, to)
	case to.IsString():
		out, ok = t.toText(v, from, to)
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
		return value{}, refuse("converting %s to %s runs on the CPU only", from, to)
	}
	out.null = v.null
	return out, nil
}

// utc says whether the session's time zone is UTC.
func (t *kernelText) utc() bool { return t.ctx.Location == nil || t.ctx.Location == time.UTC }

// harmlessCast says whether a cast never fails and is cheap: integers and decimals that gain digits, dates that become datetimes.
func harmlessCast(c *expr.Cast) bool {
	from, to := c.Arg.Type(), c.To
	switch {
	case expr.SameValues(from, to):
		return from.Kind != types.KindTimestamp
	case from.IsInteger() && to.Kind == types.KindDouble:
		return true
	case exactType(from) && to.Kind == types.KindDecimal:
		return growsOnly(from, to)
	case from.Kind == types.KindDate && to.Kind == types.KindDatetime:
		return true
	}
	return false
}

func exactType(t types.Type) bool { return t.IsInteger() || t.Kind == types.KindDecimal }

// growsOnly says whether every exact value of a type is one of a DECIMAL type, with no digit rounded away.
func growsOnly(from, to types.Type) bool {
	f := types.AsDecimal(from)
	up := int(to.Scale) - int(f.Scale)
	return up >= 0 && int(f.Precision)+up <= int(to.Precision)
}

// onCPU raises the error that makes the query run on the CPU, which words the warning.
func (t *kernelText) onCPU(condition string, v value, e expr.Expr) {
	t.raiseIf(unless(condition, v.null), errOnCPU, e)
}

// number is a temporal value's number form: C++ of an i128 and its scale.
func temporalNumber(v value, from types.Type) (text string, scale int) {
	scale = int(from.Scale)
	unit := types.Pow10(types.MaxFsp - scale)
	switch from.Kind {
	case types.KindDate:
		return "(i128)date_number(" + v.text + ")", 0
	case types.KindTime:
		return fmt.Sprintf("(i128)time_decimal<%d>(%s)", unit, v.text), scale
	}
	return fmt.Sprintf("datetime_decimal<%d>(%s)", unit, v.text), scale
}

func (t *kernelText) toDouble(c *expr.Cast, v value, from types.Type) (value, bool) {
	out, scale := value{}, scaleOf(from)
	switch {
	case from.IsFloat():
		out = t.assign(types.Double, "%s", v.text)
	case from.IsTemporal():
		text, scale := temporalNumber(v, from)
		out = t.assign(types.Double, "decimal_to_double<%d>(%s)", scale, text)
	case scale > 0:
		out = t.assign(types.Double, "decimal_to_double<%d>(%s)", scale, wide(v))
	case v.class == form.Wide:
		out = t.assign(types.Double, "wide_to_double(%s)", v.text)
	case from.Phys() == types.PhysUint64:
		out = t.assign(types.Double, "(f64)(u64)%s", v.text)
	case v.class == form.Int:
		out = t.assign(types.Double, "(f64)%s", v.text)
	default:
		return out, false
	}
	if c.To.Kind == types.KindFloat {
		t.onCPU(fmt.Sprintf("(math_fabs(%s) > %.1f)", out.text, math.MaxFloat32), v, c)
		out = t.assign(types.Float, "(f64)(f32)%s", out.text)
	}
	return out, true
}

func (t *kernelText) toDecimal(c *expr.Cast, v value, from types.Type) (value, bool) {
	text, scale := "", scaleOf(from)
	number := exactType(from) && v.typ.Phys() != types.PhysUint64
	short := number && narrowExact(v) && form.ClassOf(c.To) == form.Int
	switch {
	case from.IsTemporal():
		text, scale = temporalNumber(v, from)
		from = types.AsDecimal(from)
	case isExact(v):
		text = wide(v)
	default:
		return value{}, false
	}
	to := int(c.To.Scale)
	if growsOnly(from, c.To) {
		if short {
			return t.assign(c.To, "%s", timesPower(v, to-scale, form.Int)), true
		}
		if number {
			return t.exactResult(c.To, timesPower(v, to-scale, form.Wide)), true
		}
		return t.exactResult(c.To, fmt.Sprintf("wrap_mul(%s, pow10(%d))", text, to-scale)), true
	}
	if short && to < scale && wholeDigits(from) < wholeDigits(c.To) {
		return t.assign(c.To, "div_pow10<%d>(%s)", scale-to, v.text), true
	}
	w := t.name("w")
	t.line("i128 %s;", w)
	t.onCPU(fmt.Sprintf("(rescale<%d, %d>(%s, %s) || !fits_decimal<%d>(%s))", scale, to, text, w, c.To.Precision, w), v, c)
	return t.exactResult(c.To, w), true
}

func (t *kernelText) toInteger(c *expr.Cast, v value, from types.Type) (value, bool) {
	to := c.To
	out := value{}
	switch {
	case from.IsFloat():
		out = t.result(to)
		convert := "double_to_i64"
		if to.Kind == types.KindUint64 {
			convert = "double_to_u64"
		}
		t.onCPU(fmt.Sprintf("%s(%s, %s)", convert, v.text, out.text), v, c)
	case from.Kind == types.KindDecimal:
		w := t.assign(types.Decimal(types.MaxDecimalPrecision, 0), "div_pow10<%d>(%s)", scaleOf(from), wide(v))
		out = t.exactResult(to, w.text)
		switch {
		case from.Precision-from.Scale < types.MaxShortDecimal: // fits
		case to.Kind == types.KindUint64:
			t.onCPU(fmt.Sprintf("(!fits_u64(%s) && !(%s < 0 && fits_i64(%s)))", w.text, w.text, w.text), v, c)
		default:
			t.onCPU("(!fits_i64("+w.text+"))", v, c)
		}
	case from.Kind == types.KindDate:
		out = t.assign(to, "date_number(%s)", v.text)
	case from.Kind == types.KindDatetime:
		// At the end of year 9999 rounding up has nowhere to go.
		out = t.assign(to, "datetime_number(%s > max_datetime - %d ? %s : round_datetime<%d>(%s))", v.text, types.MicrosPerSecond/2, v.text,
			types.MicrosPerSecond, v.text)
	case from.Kind == types.KindTime:
		out = t.assign(to, "time_number(round_time<%d>(%s))", types.MicrosPerSecond, v.text)
	case v.class == form.Int: // integers, ENUMs; BIGINT and BIGINT UNSIGNED keep each other's bits
		out = t.assign(to, "%s", v.text)
		if from.Phys() == types.PhysUint64 && to.Kind != types.KindInt64 {
			t.onCPU("("+out.text+" < 0)", v, c)
		}
	default:
		return out, false
	}
	if to.Kind != types.KindInt64 && to.Kind != types.KindUint64 {
		lo, hi := types.IntRange(to.Kind)
		t.onCPU(fmt.Sprintf("(%s < %d || %s > %d)", out.text, lo, out.text, hi), v, c)
	}
	return out, true
}

func (t *kernelText) toDatetime(c *expr.Cast, v value, from types.Type) (value, bool) {
	to := c.To
	micros := ""
	switch {
	case from.Kind == types.KindDate:
		return t.assign(to, "%s * micros_per_day", v.text), true
	case from.Kind == types.KindDatetime && to.Kind == types.KindDate:
		return t.assign(to, "date_of(%s)", v.text), true
	case from.Kind == types.KindDatetime:
		micros = v.text
	case from.Kind == types.KindTime:
		today := types.Value{Type: types.Date, I: t.ctx.Today()}
		sum := t.assign(types.Datetime, "%s * micros_per_day + %s", t.constant(today).text, v.text)
		if to.Kind == types.KindDate {
			out := t.assign(to, "date_of(%s)", sum.text)
			t.onCPU("!valid_date("+out.text+")", v, c)
			return out, true
		}
		micros = sum.text
	case from.IsInteger():
		parsed := t.result(types.Datetime)
		n := v.text
		bad := fmt.Sprintf("datetime_of_number(%s, %s)", n, parsed.text)
		if from.Phys() == types.PhysUint64 {
			bad = "(" + bad + " | " + n + " < 0)"
		}
		t.onCPU(bad, v, c)
		if to.Kind == types.KindDate {
			return t.assign(to, "date_of(%s)", parsed.text), true
		}
		return t.assign(to, "%s", parsed.text), true
	default:
		return value{}, false
	}
	unit := types.Pow10(types.MaxFsp - int(to.Scale))
	out := t.assign(to, "round_datetime<%d>(%s)", unit, micros)
	t.onCPU("(!valid_datetime("+out.text+"))", v, c)
	return out, true
}

func (t *kernelText) toTime(c *expr.Cast, v value, from types.Type) (value, bool) {
	unit := types.Pow10(types.MaxFsp - int(c.To.Scale))
	switch from.Kind {
	case types.KindTime:
		return t.assign(c.To, "round_time<%d>(%s)", unit, v.text), true
	case types.KindDatetime:
		return t.assign(c.To, "round_time<%d>(time_of(%s))", unit, v.text), true
	case types.KindDate:
		return t.assign(c.To, "0"), true
	}
	return value{}, false
}

// becomesText says whether what is converted to a type is a text no longer than what it is made of: a BINARY is filled up, a JSON has to be a document.
func becomesText(to types.Type) bool {
	return to.IsString() && to.Kind != types.KindBinary && to.Kind != types.KindJSON && to.Length != types.NoLength
}

// bounded says whether a type of texts has a length to which they are cut.
func bounded(to types.Type) bool {
	return to.Length > 0 && to.Kind != types.KindText && to.Kind != types.KindBlob
}

// stringToString cuts a text to a type's length. More than spaces lost gives a warning.
func (t *kernelText) stringToString(c *expr.Cast, v value, to types.Type) (value, bool) {
	if !becomesText(to) {
		return value{}, false
	}
	out := v
	if bounded(to) {
		out = t.result(to)
		t.onCPU(fmt.Sprintf("fit_string<%v>(%s, %d, %s)", to.IsBinaryString(), v.text, to.Length, out.text), v, c)
	}
	if to.Kind == types.KindChar {
		out = t.assign(to, "trim_right_spaces(%s)", out.text)
	}
	out.typ = to
	return out, true
}

// enumToString gives an ENUM's index as a code of a dictionary of its names; 0 is the empty text.
func (t *kernelText) enumToString(v value, from, to types.Type) (value, bool) {
	if !expr.SameValues(types.Varchar(types.TextLength(from)), to) {
		return value{}, false
	}
	d, codes := t.lookups.enum(from.Enum)
	if d == nil {
		return value{}, false
	}
	code, index := t.name("x"), v.text
	if v.null != "" {
		index = v.null + " ? 0 : " + index // a NULL's number may be any
	}
	t.line("const u32 %s = %s[%s];", code, t.address(codes, "u32"), index)
	return codeOf(to, code, v.null, d), true
}
