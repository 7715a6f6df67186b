package codegen

import (
	"fmt"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Dates and times.

// days is the date of a DATE or DATETIME.
func days(v Value) string {
	if v.Typ.Kind == types.KindDate {
		return v.Text
	}
	return "date_of(" + v.Text + ")"
}

// emitDays makes a function of a date: format has the days.
func emitDays(format string) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
		return t.Assign(c.Typ, format, days(a[0])), nil
	}
}

// emitWeek makes WEEK and YEARWEEK, whose mode is the second operand or 0.
func emitWeek(name string) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
		mode := "0"
		if len(a) == 2 {
			mode = a[1].Text
		}
		return t.Assign(c.Typ, "%s(%s, %s)", name, days(a[0]), mode), nil
	}
}

// emitClock makes a part of a time of day: format has a non-negative TIME.
func emitClock(format string) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
		switch a[0].Typ.Kind {
		case types.KindDate:
			return t.Assign(c.Typ, "0"), nil
		case types.KindDatetime:
			return t.Assign(c.Typ, format, "time_of("+a[0].Text+")"), nil
		}
		return t.Assign(c.Typ, format, "(i64)magnitude("+a[0].Text+")"), nil
	}
}

// unitOf reads a unit keyword, which is a constant string.
func unitOf(e expr.Expr) (types.Unit, error) {
	if c, ok := e.(*expr.Const); ok {
		if u, ok := types.ParseUnit(c.Value.S); ok {
			return u, nil
		}
	}
	return 0, Refuse("the time unit %s is not known", e)
}

// clockParts are parts of a time t and a day of the month, by unit.
var clockParts = map[types.Unit]string{
	types.UnitMicrosecond:       "t % 1000000",
	types.UnitSecond:            "t / 1000000 % 60",
	types.UnitMinute:            "t / 60000000 % 60",
	types.UnitHour:              "t / 3600000000LL",
	types.UnitSecondMicrosecond: "t / 1000000 % 60 * 1000000 + t % 1000000",
	types.UnitMinuteMicrosecond: "clock_number(t) % 10000 * 1000000 + t % 1000000",
	types.UnitMinuteSecond:      "clock_number(t) % 10000",
	types.UnitHourMicrosecond:   "clock_number(t) * 1000000 + t % 1000000",
	types.UnitHourSecond:        "clock_number(t)",
	types.UnitHourMinute:        "clock_number(t) / 100",
	types.UnitDayMicrosecond:    "(day * 1000000 + clock_number(t)) * 1000000 + t % 1000000",
	types.UnitDaySecond:         "day * 1000000 + clock_number(t)",
	types.UnitDayMinute:         "(day * 1000000 + clock_number(t)) / 100",
	types.UnitDayHour:           "day * 100 + t / 3600000000LL",
}

// dateParts are parts of a date, by unit.
var dateParts = map[types.Unit]string{
	types.UnitYear: "year_of(%s)", types.UnitMonth: "month_of(%s)", types.UnitDay: "day_of(%s)", types.UnitQuarter: "quarter_of(%s)",
	types.UnitWeek: "week(%s, 0)", types.UnitYearMonth: "date_number(%s) / 100",
}

func emitExtract(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	unit, err := unitOf(c.Args[0])
	if err != nil {
		return Value{}, err
	}
	v := a[1]
	if !v.Typ.IsTemporal() {
		return Value{}, Refuse("EXTRACT from %s runs on the CPU only", v.Typ)
	}
	if format, ok := dateParts[unit]; ok {
		if v.Typ.Kind == types.KindTime {
			return t.Assign(c.Typ, "0"), nil
		}
		return t.Assign(c.Typ, format, days(v)), nil
	}
	part, ok := clockParts[unit]
	if !ok {
		return Value{}, Refuse("EXTRACT of %s runs on the CPU only", unit)
	}
	out := t.result(c.Typ)
	t.Open("{")
	switch v.Typ.Kind {
	case types.KindTime:
		t.Line("const i64 t = (i64)magnitude(%s), day = 0;", v.Text)
	case types.KindDate:
		t.Line("const i64 t = 0, day = day_of(%s);", v.Text)
	default:
		t.Line("const i64 t = time_of(%s), day = day_of(date_of(%s));", v.Text, v.Text)
	}
	if v.Typ.Kind == types.KindTime {
		t.Line("%s = (%s < 0 ? -1 : 1) * (%s);", out.Text, v.Text, part)
	} else {
		t.Line("%s = %s;", out.Text, part)
	}
	t.Close()
	return out, nil
}

func emitDateDiff(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	return t.Assign(c.Typ, "%s - %s", days(a[0]), days(a[1])), nil
}

func emitTimestampDiff(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	unit, err := unitOf(c.Args[0])
	if err != nil {
		return Value{}, err
	}
	if a[1].Typ.Kind != types.KindDatetime || a[2].Typ.Kind != types.KindDatetime {
		return Value{}, Refuse("TIMESTAMPDIFF of %s runs on the CPU only", a[1].Typ)
	}
	size, ok := types.IntervalOf(1, unit)
	switch {
	case !ok || unit.IsCompound():
		return Value{}, Refuse("TIMESTAMPDIFF in %s runs on the CPU only", unit)
	case unit.IsMonthUnit():
		return t.Assign(c.Typ, "months_between(%s, %s) / %d", a[1].Text, a[2].Text, size.Count), nil
	}
	return t.Assign(c.Typ, "(%s - %s) / %d", a[2].Text, a[1].Text, size.Count), nil
}

func emitToSeconds(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	return t.Assign(c.Typ, "(date_of(%s) - min_date) * 86400 + time_of(%s) / 1000000", a[0].Text, a[0].Text), nil
}

// emitMaybe makes a function of integers that is NULL where it returns true; its last parameter is the result.
func emitMaybe(name string) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
		out, args := t.result(c.Typ), ""
		for _, v := range a {
			args += v.Text + ", "
		}
		out.Null = t.Name("n")
		t.Line("const bool %s = %s(%s%s);", out.Null, name, args, out.Text)
		return out, nil
	}
}

// emitSame makes a function whose work its operand's cast does.
func emitSame(t *Text, c *expr.Call, a []Value, _ string) (Value, error) {
	return t.Assign(c.Typ, "%s", a[0].Text), nil
}

// emitDateAdd makes DATE_ADD and DATE_SUB; of TIMESTAMPADD the operands come in another order.
func emitDateAdd(subtracts bool) strictEmitter {
	return func(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
		return t.dateAdd(c, a[0], a[1], c.Args[1], c.Args[2], subtracts, null)
	}
}

func emitTimestampAdd(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	return t.dateAdd(c, a[2], a[1], c.Args[1], c.Args[0], false, null)
}

// dateAdd adds count of a unit to a moment. Out of range is NULL with a warning.
func (t *Text) dateAdd(c *expr.Call, moment, count Value, countExpr, unitExpr expr.Expr, subtracts bool, null string) (Value, error) {
	unit, err := unitOf(unitExpr)
	if err != nil {
		return Value{}, err
	}
	if !moment.Typ.IsTemporal() {
		return Value{}, Refuse("an interval added to %s runs on the CPU only", moment.Typ)
	}
	span, tooLong, err := t.interval(countExpr, count, unit, subtracts)
	if err != nil {
		return Value{}, err
	}
	add, inDays := "", unit.IsDateUnit() && !unit.IsMonthUnit()
	text := moment.Text
	switch from := moment.Typ.Kind; {
	case from == types.KindDate && c.Typ.Kind == types.KindDate && unit.IsMonthUnit():
		add = "add_months"
	case from == types.KindDate && c.Typ.Kind == types.KindDate && inDays:
		add = "add_days"
		span = "(" + span + " / micros_per_day)"
	case from == types.KindTime && !unit.IsMonthUnit():
		add = "add_to_time"
	case from == types.KindDate && c.Typ.Kind == types.KindDatetime:
		text = "(" + text + " * micros_per_day)"
		add = "add_micros"
	case from == types.KindDatetime && unit.IsMonthUnit():
		add = "add_months_datetime"
	case from == types.KindDatetime:
		add = "add_micros"
	default:
		return Value{}, Refuse("%s runs on the CPU only", c)
	}
	out := t.result(c.Typ)
	out.Null = t.Name("n")
	t.Line("const bool %s = %s%s(%s, %s, %s);", out.Null, tooLong, add, text, span, out.Text)
	t.warnOrRaise(unless(out.Null, null), c)
	return out, nil
}

// interval returns the interval in microseconds or months, and C++ that says whether it is out of range, empty or ending in "|".
func (t *Text) interval(e expr.Expr, count Value, unit types.Unit, subtracts bool) (span, tooLong string, err error) {
	if c, ok := e.(*expr.Const); ok && !c.Value.Null {
		v := c.Value
		var iv types.Interval
		switch {
		case v.Type.IsString():
			iv, ok = types.ParseInterval(v.S, unit)
		case v.Type.Kind == types.KindDecimal:
			iv, ok = types.IntervalOfDecimal(v.Unscaled(), int(v.Type.Scale), unit)
		default:
			iv, ok = types.IntervalOf(v.I, unit)
		}
		if !ok {
			return "", "", Refuse("the interval %s is out of range", e)
		}
		if subtracts {
			iv = iv.Neg()
		}
		return "(i64)" + t.Literal(uint64(iv.Count)), "", nil
	}
	size, ok := types.IntervalOf(1, unit)
	if !count.Typ.IsInteger() || count.Typ.Phys() == types.PhysUint64 || unit.IsCompound() || !ok {
		return "", "", Refuse("an interval of %s %s that is not constant runs on the CPU only", count.Typ, unit)
	}
	name := t.Name("x")
	t.Line("i64 %s;", name)
	long := t.Name("n")
	t.Line("const bool %s = interval_of(%s, %d, %s);", long, count.Text, size.Count, name)
	if subtracts {
		return fmt.Sprintf("wrap_sub(0, %s)", name), long + " | ", nil
	}
	return name, long + " | ", nil
}

// emitTimestamp makes TIMESTAMP(t [, time]).
func emitTimestamp(t *Text, c *expr.Call, a []Value, null string) (Value, error) {
	if len(a) == 1 {
		return t.Assign(c.Typ, "%s", a[0].Text), nil
	}
	out := t.result(c.Typ)
	out.Null = t.Name("n")
	t.Line("const bool %s = add_micros(%s, %s, %s);", out.Null, a[0].Text, a[1].Text, out.Text)
	t.warnOrRaise(unless(out.Null, null), c)
	return out, nil
}
