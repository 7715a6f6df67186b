package expr

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Parts of dates and times beside those of fn_extract.go, conversions between the temporal types, and day numbers
// (Reference Manual 14.7). What is no date or time is NULL with warning 1292, by way of the operand's cast.

// partFunctions take dates and times apart and put them together.
func partFunctions() []*Function {
	fn := func(name, syntax, doc string, minArgs, maxArgs int, resolve func([]Expr) (Signature, error), eval Kernel, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Category: dateCategory, Syntax: syntax, Doc: doc,
			MinArgs: minArgs, MaxArgs: maxArgs, Resolve: resolve, Eval: eval}
	}
	return []*Function{
		fn("hour", "HOUR(t)", "The hour; of a TIME it may exceed 23.", 1, 1, resolveClockPart, clockPart(func(t int64) int64 { return t / types.MicrosPerHour })),
		fn("minute", "MINUTE(t)", "The minute.", 1, 1, resolveClockPart, clockPart(func(t int64) int64 { return t / types.MicrosPerMinute % 60 })),
		fn("second", "SECOND(t)", "The second.", 1, 1, resolveClockPart, clockPart(func(t int64) int64 { return t / types.MicrosPerSecond % 60 })),
		fn("microsecond", "MICROSECOND(t)", "The microseconds behind the second.", 1, 1, resolveClockPart, clockPart(func(t int64) int64 { return t % types.MicrosPerSecond })),
		fn("dayname", "DAYNAME(d)", "The day of the week in English.", 1, 1, resolveDays(types.Varchar(9)), daysToText(types.DayName)),
		fn("monthname", "MONTHNAME(d)", "The month in English.", 1, 1, resolveDays(types.Varchar(9)), daysToText(types.MonthName)),
		fn("week", "WEEK(d [, mode])", "The week of the year; the modes 0 to 7 say when weeks begin and which is the first (0).",
			1, 2, resolveDays(types.Int64), evalWeek(func(days int64, mode int) int64 { return int64(types.Week(days, mode)) })),
		fn("weekofyear", "WEEKOFYEAR(d)", "The ISO week, WEEK(d, 3).", 1, 1, resolveDays(types.Int64),
			daysToInt(func(days int64) int64 { return int64(types.Week(days, 3)) })),
		fn("yearweek", "YEARWEEK(d [, mode])", "The week with the year that it belongs to, as YYYYWW.", 1, 2, resolveDays(types.Int64), evalWeek(types.YearWeek)),
		fn("to_days", "TO_DAYS(d)", "The days from year 0 to d.", 1, 1, resolveDays(types.Int64), daysToInt(types.ToDays)),
		fn("last_day", "LAST_DAY(d)", "The last day of d's month.", 1, 1, resolveDays(types.Date), daysToInt(types.LastDay)),
		fn("date", "DATE(t)", "The date of a DATETIME.", 1, 1, resolveDays(types.Date), daysToInt(func(days int64) int64 { return days })),
		fn("to_seconds", "TO_SECONDS(t)", "The seconds from year 0 to t.", 1, 1, resolveToSeconds, evalToSeconds),
		fn("time", "TIME(t)", "The time of day of a DATETIME.", 1, 1, resolveTime, copyInts),
		fn("timestamp", "TIMESTAMP(t [, time])", "t as a DATETIME, plus the time.", 1, 2, resolveTimestamp, evalTimestamp),
		fn("from_days", "FROM_DAYS(n)", "The date of a day number; NULL before 0001-01-01 and after 9999-12-31, where MySQL gives the zero date.",
			1, 1, resolveMake(types.Date), evalFromDays),
		fn("makedate", "MAKEDATE(year, n)", "The n-th day of a year.", 2, 2, resolveMake(types.Date), evalMakeDate),
		fn("maketime", "MAKETIME(h, m, s)", "The TIME of hour, minute and second; NULL unless m and s are 0 to 59.", 3, 3, resolveMakeTime, evalMakeTime),
		fn("sec_to_time", "SEC_TO_TIME(n)", "A number of seconds as a TIME.", 1, 1, resolveSecToTime, evalSecToTime),
		fn("time_to_sec", "TIME_TO_SEC(t)", "A TIME in seconds, cut to whole ones.", 1, 1, resolveTimesTo(types.Int64), evalTimeToSec),
		fn("period_add", "PERIOD_ADD(p, n)", "The period YYMM or YYYYMM n months later, as YYYYMM.", 2, 2, resolveInts, periodKernel(types.PeriodAdd)),
		fn("period_diff", "PERIOD_DIFF(p, q)", "The months from period q to p.", 2, 2, resolveInts, periodKernel(types.PeriodDiff)),
	}
}

// fspOf returns the fractional digits that an operand has as a date or time. Text that is not a literal may have six.
func fspOf(e Expr) int {
	t := e.Type()
	switch {
	case t.IsTemporal():
		return int(t.Scale)
	case t.Kind == types.KindDecimal:
		return min(int(t.Scale), types.MaxFsp)
	case t.IsInteger(), t.Kind == types.KindNull:
		return 0
	}
	if c, ok := e.(*Const); ok && t.IsString() {
		return types.LiteralFsp(c.Value.S)
	}
	return types.MaxFsp
}

// datetimeArg is the cast that makes an operand a DATETIME with all the digits that it has.
func datetimeArg(e Expr) types.Type {
	if e.Type().Kind == types.KindDatetime {
		return types.Null
	}
	return types.DatetimeFsp(fspOf(e))
}

// timeArg is the cast that makes an operand a TIME with all the digits that it has.
func timeArg(e Expr) types.Type {
	if e.Type().Kind == types.KindTime {
		return types.Null
	}
	return types.TimeFsp(fspOf(e))
}

// resolveClockPart takes temporal values as they are and everything else as a TIME.
func resolveClockPart(args []Expr) (Signature, error) {
	sig := Signature{Args: []types.Type{timeArg(args[0])}, Result: types.Int64}
	if k := args[0].Type().Kind; k == types.KindDate || k == types.KindDatetime {
		sig.Args[0] = types.Null
	}
	return sig, nil
}

// clockPart makes the kernel of a part of a time of day, which gets a non-negative time.
func clockPart(part func(t int64) int64) Kernel {
	return func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		t := ints(args[0])
		switch args[0].Type.Kind {
		case types.KindDate:
			for _, i := range positions(sel, n) {
				out.I64[i] = 0
			}
		case types.KindDatetime:
			for _, i := range positions(sel, n) {
				x := t.at(int(i))
				out.I64[i] = part(x - dayOf(x)*types.MicrosPerDay)
			}
		default:
			for _, i := range positions(sel, n) {
				x := t.at(int(i))
				out.I64[i] = part(max(x, -x))
			}
		}
		return nil
	}
}

// dayOf is types.DateOf without a branch: counted from the first DATETIME no quotient is negative.
func dayOf(datetime int64) int64 {
	return int64(uint64(datetime-types.MinDatetime)/types.MicrosPerDay) + types.MinDate
}

// resolveDays resolves a function of a date, with integers after it.
func resolveDays(result types.Type) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig, err := resolveDatePart(args)
		sig.Result = result
		for range args[1:] {
			sig.Args = append(sig.Args, types.Int64)
		}
		return sig, err
	}
}

// daysReader reads the date of a DATE or DATETIME operand.
type daysReader struct {
	reader[int64]
	datetime bool
}

func dates(v *column.Vector) daysReader {
	return daysReader{ints(v), v.Type.Kind == types.KindDatetime}
}

func (r daysReader) at(i int) int64 {
	if r.datetime {
		return dayOf(r.reader.at(i))
	}
	return r.reader.at(i)
}

func daysToInt(f func(days int64) int64) Kernel {
	return func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		d := dates(args[0])
		for _, i := range positions(sel, n) {
			out.I64[i] = f(d.at(int(i)))
		}
		return nil
	}
}

func daysToText(f func(days int64) string) Kernel {
	return func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		d := dates(args[0])
		for _, i := range positions(sel, n) {
			out.Str[i] = f(d.at(int(i)))
		}
		return nil
	}
}

func evalWeek(f func(days int64, mode int) int64) Kernel {
	return func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		d := dates(args[0])
		mode := reader[int64]{v: []int64{0}}
		if len(args) == 2 {
			mode = ints(args[1])
		}
		for _, i := range positions(sel, n) {
			out.I64[i] = f(d.at(int(i)), int(mode.at(int(i))&7))
		}
		return nil
	}
}

func resolveToSeconds(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{datetimeArg(args[0])}, Result: types.Int64}, nil
}

func evalToSeconds(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	t := ints(args[0])
	for _, i := range positions(sel, n) {
		x := t.at(int(i))
		out.I64[i] = types.ToDays(types.DateOf(x))*86400 + types.TimeOf(x)/types.MicrosPerSecond
	}
	return nil
}

func resolveTime(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{timeArg(args[0])}, Result: types.TimeFsp(fspOf(args[0]))}, nil
}

// resolveTimesTo takes all operands as TIMEs.
func resolveTimesTo(result types.Type) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig := Signature{Result: result}
		for _, a := range args {
			sig.Args = append(sig.Args, timeArg(a))
		}
		return sig, nil
	}
}

// copyInts is the kernel of a function whose whole work its operand's cast does.
func copyInts(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	v := ints(args[0])
	for _, i := range positions(sel, n) {
		out.I64[i] = v.at(int(i))
	}
	return nil
}

func resolveTimestamp(args []Expr) (Signature, error) {
	sig := Signature{Args: []types.Type{datetimeArg(args[0])}, Result: types.DatetimeFsp(fspOf(args[0]))}
	if len(args) == 2 {
		sig.Args = append(sig.Args, timeArg(args[1]))
		sig.Result = types.DatetimeFsp(max(fspOf(args[0]), fspOf(args[1])))
		sig.Nullable = true
	}
	return sig, nil
}

func evalTimestamp(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if len(args) == 1 {
		return copyInts(c, call, out, args, sel, n)
	}
	d, t := ints(args[0]), ints(args[1])
	for _, i := range positions(sel, n) {
		r, ok := types.AddDatetime(d.at(int(i)), types.Interval{Micros: t.at(int(i))})
		out.I64[i] = r
		if !ok {
			if err := c.datetimeOverflow(out, int(i), n); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolveMake resolves a function that makes a value of integers, if it can.
func resolveMake(result types.Type) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig := Signature{Result: result, Nullable: true}
		for range args {
			sig.Args = append(sig.Args, types.Int64)
		}
		return sig, nil
	}
}

func resolveInts(args []Expr) (Signature, error) {
	sig, err := resolveMake(types.Int64)(args)
	sig.Nullable = false
	return sig, err
}

func evalFromDays(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	d := ints(args[0])
	for _, i := range positions(sel, n) {
		days, ok := types.FromDays(d.at(int(i)))
		out.I64[i] = days
		if !ok {
			out.SetNull(int(i), n)
		}
	}
	return nil
}

func evalMakeDate(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	year, day := ints(args[0]), ints(args[1])
	for _, i := range positions(sel, n) {
		days, ok := types.MakeDate(year.at(int(i)), day.at(int(i)))
		out.I64[i] = days
		if !ok {
			out.SetNull(int(i), n)
		}
	}
	return nil
}

// secondsType is the DECIMAL in which a number of seconds is read: 19 digits and the microseconds.
var secondsType = types.Decimal(19+types.MaxFsp, types.MaxFsp)

// secondsOf returns a number of seconds, a secondsType, in microseconds, as near to it as an int64 can be.
func secondsOf(u types.Int128) int64 {
	if n, ok := u.Int64(); ok {
		return n
	}
	if u.Sign() < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

func resolveMakeTime(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{types.Int64, types.Int64, secondsType}, Result: types.TimeFsp(fspOf(args[2])), Nullable: true}, nil
}

func evalMakeTime(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	hour, minute, second := ints(args[0]), ints(args[1]), int128s(args[2])
	for _, i := range positions(sel, n) {
		s := secondsOf(second.at(int(i)))
		t, ok := types.MakeTime(hour.at(int(i)), minute.at(int(i)), s)
		out.I64[i] = t
		if !ok {
			out.SetNull(int(i), n)
		} else if (t == types.MaxTime || t == types.MinTime) && max(hour.at(int(i)), -hour.at(int(i))) > 838 {
			if err := c.conversionProblem(types.ConvertOutOfRange, types.StringValue(call.String()), types.Time, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func resolveSecToTime(args []Expr) (Signature, error) {
	return Signature{Args: []types.Type{secondsType}, Result: types.TimeFsp(fspOf(args[0]))}, nil
}

func evalSecToTime(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := int128s(args[0])
	for _, i := range positions(sel, n) {
		t, ok := types.SecToTime(secondsOf(s.at(int(i))))
		out.I64[i] = t
		if !ok {
			text := types.StringValue(types.FormatDecimal(s.at(int(i)), types.MaxFsp))
			if err := c.conversionProblem(types.ConvertOutOfRange, text, types.Time, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func evalTimeToSec(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	t := ints(args[0])
	for _, i := range positions(sel, n) {
		out.I64[i] = types.TimeToSec(t.at(int(i)))
	}
	return nil
}

func periodKernel(f func(a, b int64) (int64, bool)) Kernel {
	return func(_ *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a, b := ints(args[0]), ints(args[1])
		for _, i := range positions(sel, n) {
			v, ok := f(a.at(int(i)), b.at(int(i)))
			if !ok {
				return wrongArgumentsOf(call)
			}
			out.I64[i] = v
		}
		return nil
	}
}
