package datetime

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Parts of dates and times beside those of extract.go, conversions between the temporal types, and day numbers
// (Reference Manual 14.7). What is no date or time is NULL with warning 1292, by way of the operand's cast.

// partFunctions take dates and times apart and put them together.
func partFunctions() []*expr.Function {
	fn := func(name, syntax, doc string, minArgs, maxArgs int, resolve func([]expr.Expr) (expr.Signature, error), eval expr.Kernel, aliases ...string) *expr.Function {
		return &expr.Function{Name: name, Aliases: aliases, Category: category, Syntax: syntax, Doc: doc,
			MinArgs: minArgs, MaxArgs: maxArgs, Resolve: resolve, Eval: eval}
	}
	return []*expr.Function{
		fn("hour", "HOUR(t)", "The hour; of a TIME it may exceed 23.", 1, 1, resolveClockPart, clockPart(func(t int64) int64 { return t / types.MicrosPerHour })),
		fn("minute", "MINUTE(t)", "The minute.", 1, 1, resolveClockPart, clockPart(func(t int64) int64 { return t / types.MicrosPerMinute % 60 })),
		fn("second", "SECOND(t)", "The second.", 1, 1, resolveClockPart, clockPart(func(t int64) int64 { return t / types.MicrosPerSecond % 60 })),
		fn("microsecond", "MICROSECOND(t)", "The microseconds behind the second.", 1, 1, resolveClockPart, clockPart(func(t int64) int64 { return t % types.MicrosPerSecond })),
		fn("dayname", "DAYNAME(d)", "The day of the week in English.", 1, 1, resolveDays(types.Varchar(9)), daysToString(types.DayName)),
		fn("monthname", "MONTHNAME(d)", "The month in English.", 1, 1, resolveDays(types.Varchar(9)), daysToString(types.MonthName)),
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

// fspOf returns the fractional digits that an operand has as a date or time. A string that is no literal may have six.
func fspOf(e expr.Expr) int {
	t := e.Type()
	switch {
	case t.IsTemporal():
		return int(t.Scale)
	case t.Kind == types.KindDecimal:
		return min(int(t.Scale), types.MaxFsp)
	case t.IsInteger(), t.Kind == types.KindNull:
		return 0
	}
	if c, ok := e.(*expr.Const); ok && t.IsString() {
		return types.LiteralFsp(c.Value.S)
	}
	return types.MaxFsp
}

// datetimeArg is the cast that makes an operand a DATETIME with all the digits that it has.
func datetimeArg(e expr.Expr) types.Type {
	if e.Type().Kind == types.KindDatetime {
		return types.Null
	}
	return types.DatetimeFsp(fspOf(e))
}

// timeArg is the cast that makes an operand a TIME with all the digits that it has.
func timeArg(e expr.Expr) types.Type {
	if e.Type().Kind == types.KindTime {
		return types.Null
	}
	return types.TimeFsp(fspOf(e))
}

// resolveClockPart takes temporal values as they are and everything else as a TIME.
func resolveClockPart(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: []types.Type{timeArg(args[0])}, Result: types.Int64}
	if k := args[0].Type().Kind; k == types.KindDate || k == types.KindDatetime {
		sig.Args[0] = types.Null
	}
	return sig, nil
}

// clockPart makes the kernel of a part of a time of day, which gets a non-negative time.
func clockPart(part func(t int64) int64) expr.Kernel {
	return func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		t := expr.Ints(args[0])
		switch args[0].Type.Kind {
		case types.KindDate:
			for _, i := range expr.Positions(sel, n) {
				out.I64[i] = 0
			}
		case types.KindDatetime:
			for _, i := range expr.Positions(sel, n) {
				x := t.At(int(i))
				out.I64[i] = part(x - dayOf(x)*types.MicrosPerDay)
			}
		default:
			for _, i := range expr.Positions(sel, n) {
				x := t.At(int(i))
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
func resolveDays(result types.Type) func(args []expr.Expr) (expr.Signature, error) {
	return func(args []expr.Expr) (expr.Signature, error) {
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
	expr.Reader[int64]
	isDatetime bool
}

func dates(v *column.Vector) daysReader {
	return daysReader{expr.Ints(v), v.Type.Kind == types.KindDatetime}
}

func (r daysReader) at(i int) int64 {
	if r.isDatetime {
		return dayOf(r.Reader.At(i))
	}
	return r.Reader.At(i)
}

func daysToInt(f func(days int64) int64) expr.Kernel {
	return func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		d := dates(args[0])
		for _, i := range expr.Positions(sel, n) {
			out.I64[i] = f(d.at(int(i)))
		}
		return nil
	}
}

func daysToString(f func(days int64) string) expr.Kernel {
	return func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		d := dates(args[0])
		for _, i := range expr.Positions(sel, n) {
			out.Str[i] = f(d.at(int(i)))
		}
		return nil
	}
}

func evalWeek(f func(days int64, mode int) int64) expr.Kernel {
	return func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		d := dates(args[0])
		mode := expr.ConstantInt(0)
		if len(args) == 2 {
			mode = expr.Ints(args[1])
		}
		for _, i := range expr.Positions(sel, n) {
			out.I64[i] = f(d.at(int(i)), int(mode.At(int(i))&7))
		}
		return nil
	}
}

func resolveToSeconds(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{datetimeArg(args[0])}, Result: types.Int64}, nil
}

func evalToSeconds(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	t := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		x := t.At(int(i))
		out.I64[i] = types.ToDays(types.DateOf(x))*86400 + types.TimeOf(x)/types.MicrosPerSecond
	}
	return nil
}

func resolveTime(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{timeArg(args[0])}, Result: types.TimeFsp(fspOf(args[0]))}, nil
}

// resolveTimesTo takes all operands as TIMEs.
func resolveTimesTo(result types.Type) func(args []expr.Expr) (expr.Signature, error) {
	return func(args []expr.Expr) (expr.Signature, error) {
		sig := expr.Signature{Result: result}
		for _, a := range args {
			sig.Args = append(sig.Args, timeArg(a))
		}
		return sig, nil
	}
}

// copyInts is the kernel of a function whose whole work its operand's cast does.
func copyInts(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	v := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = v.At(int(i))
	}
	return nil
}

func resolveTimestamp(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: []types.Type{datetimeArg(args[0])}, Result: types.DatetimeFsp(fspOf(args[0]))}
	if len(args) == 2 {
		sig.Args = append(sig.Args, timeArg(args[1]))
		sig.Result = types.DatetimeFsp(max(fspOf(args[0]), fspOf(args[1])))
		sig.Nullable = true
	}
	return sig, nil
}

func evalTimestamp(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if len(args) == 1 {
		return copyInts(c, call, out, args, sel, n)
	}
	d, t := expr.Ints(args[0]), expr.Ints(args[1])
	for _, i := range expr.Positions(sel, n) {
		r, ok := types.AddDatetime(d.At(int(i)), types.Interval{Count: t.At(int(i))})
		out.I64[i] = r
		if !ok {
			if err := datetimeOverflow(c, out, int(i), n); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolveMake resolves a function that makes a value of integers, if it can.
func resolveMake(result types.Type) func(args []expr.Expr) (expr.Signature, error) {
	return func(args []expr.Expr) (expr.Signature, error) {
		sig := expr.Signature{Result: result, Nullable: true}
		for range args {
			sig.Args = append(sig.Args, types.Int64)
		}
		return sig, nil
	}
}

func resolveInts(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolveMake(types.Int64)(args)
	sig.Nullable = false
	return sig, err
}

func evalFromDays(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	d := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		days, ok := types.FromDays(d.At(int(i)))
		out.I64[i] = days
		if !ok {
			out.SetNull(int(i), n)
		}
	}
	return nil
}

func evalMakeDate(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	year, day := expr.Ints(args[0]), expr.Ints(args[1])
	for _, i := range expr.Positions(sel, n) {
		days, ok := types.MakeDate(year.At(int(i)), day.At(int(i)))
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

func resolveMakeTime(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{types.Int64, types.Int64, secondsType}, Result: types.TimeFsp(fspOf(args[2])), Nullable: true, Capped: true}, nil
}

func evalMakeTime(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	hour, minute, second := expr.Ints(args[0]), expr.Ints(args[1]), expr.Int128s(args[2])
	for _, i := range expr.Positions(sel, n) {
		s := secondsOf(second.At(int(i)))
		t, ok := types.MakeTime(hour.At(int(i)), minute.At(int(i)), s)
		out.I64[i] = t
		if !ok {
			out.SetNull(int(i), n)
		} else if (t == types.MaxTime || t == types.MinTime) && max(hour.At(int(i)), -hour.At(int(i))) > 838 {
			if err := c.ConversionProblem(types.ConvertOutOfRange, types.StringValue(expr.Spelled(call)), types.Time, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func resolveSecToTime(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{secondsType}, Result: types.TimeFsp(fspOf(args[0]))}, nil
}

func evalSecToTime(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Int128s(args[0])
	for _, i := range expr.Positions(sel, n) {
		t, ok := types.SecToTime(secondsOf(s.At(int(i))))
		out.I64[i] = t
		if !ok {
			text := types.StringValue(types.FormatDecimal(s.At(int(i)), types.MaxFsp))
			if err := c.ConversionProblem(types.ConvertOutOfRange, text, types.Time, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func evalTimeToSec(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	t := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = types.TimeToSec(t.At(int(i)))
	}
	return nil
}

func periodKernel(f func(a, b int64) (int64, bool)) expr.Kernel {
	return func(_ *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a, b := expr.Ints(args[0]), expr.Ints(args[1])
		for _, i := range expr.Positions(sel, n) {
			v, ok := f(a.At(int(i)), b.At(int(i)))
			if !ok {
				return wrongArgumentsOf(call)
			}
			out.I64[i] = v
		}
		return nil
	}
}
