package datetime

import (
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Differences and sums of dates and times (Reference Manual 14.7).

// differences are sums and differences of dates and times.
func differences() []*expr.Function {
	return []*expr.Function{
		{Name: "adddate", Category: category, Syntax: "ADDDATE(t, INTERVAL n unit), ADDDATE(t, days)", MinArgs: 3, MaxArgs: 3,
			Doc: "As DATE_ADD.", Resolve: resolveDateAdd, Eval: dateAdd(false)},
		{Name: "subdate", Category: category, Syntax: "SUBDATE(t, INTERVAL n unit), SUBDATE(t, days)", MinArgs: 3, MaxArgs: 3,
			Doc: "As DATE_SUB.", Resolve: resolveDateAdd, Eval: dateAdd(true)},
		{Name: "timestampadd", Category: category, Syntax: "TIMESTAMPADD(unit, n, t)", MinArgs: 3, MaxArgs: 3,
			Doc: "As DATE_ADD(t, INTERVAL n unit).", Resolve: resolveTimestampAdd, Eval: evalTimestampAdd},
		{Name: "datediff", Category: category, Syntax: "DATEDIFF(a, b)", MinArgs: 2, MaxArgs: 2,
			Doc: "The days from b to a, without their times of day.", Resolve: resolveDateDiff, Eval: evalDateDiff},
		{Name: "timestampdiff", Category: category, Syntax: "TIMESTAMPDIFF(unit, a, b)", MinArgs: 3, MaxArgs: 3,
			Doc: "The whole units from a to b.", Resolve: resolveTimestampDiff, Eval: evalTimestampDiff},
		{Name: "timediff", Category: category, Syntax: "TIMEDIFF(a, b)", MinArgs: 2, MaxArgs: 2,
			Doc: "The TIME from b to a; NULL unless both are times or both dates with times.", Resolve: resolveTimeDiff, Eval: evalTimeDiff},
		{Name: "addtime", Category: category, Syntax: "ADDTIME(t, time)", MinArgs: 2, MaxArgs: 2,
			Doc:     "A TIME or DATETIME plus a time. A string stays one; a DATE counts as the time 00:00:00.",
			Resolve: resolveAddTime, Eval: addTimeKernel(1)},
		{Name: "subtime", Category: category, Syntax: "SUBTIME(t, time)", MinArgs: 2, MaxArgs: 2,
			Doc: "A TIME or DATETIME minus a time; see ADDTIME.", Resolve: resolveAddTime, Eval: addTimeKernel(-1)},
	}
}

// wrongArgumentsOf is MySQL's error 1210 for operands of a call that it refuses.
func wrongArgumentsOf(call *expr.Call) error { return sqlerr.WrongArguments(call.Fn.Name) }

// resolveTimestampAdd is resolveDateAdd with the operands in TIMESTAMPADD's order.
func resolveTimestampAdd(args []expr.Expr) (expr.Signature, error) {
	sig, err := resolveDateAdd([]expr.Expr{args[2], args[1], args[0]})
	if err == nil {
		sig.Args[0], sig.Args[2] = sig.Args[2], sig.Args[0]
	}
	return sig, err
}

func evalTimestampAdd(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	turned := *call
	turned.Args = []expr.Expr{call.Args[2], call.Args[1], call.Args[0]}
	return dateAdd(false)(c, &turned, out, []*column.Vector{args[2], args[1], args[0]}, sel, n)
}

func resolveDateDiff(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Result: types.Int64}
	for _, a := range args {
		day, err := resolveDatePart([]expr.Expr{a})
		if err != nil {
			return sig, err
		}
		sig.Args = append(sig.Args, day.Args[0])
	}
	return sig, nil
}

func evalDateDiff(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a, b := dates(args[0]), dates(args[1])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = a.at(int(i)) - b.at(int(i))
	}
	return nil
}

func resolveTimestampDiff(args []expr.Expr) (expr.Signature, error) {
	unit, err := unitArg(args[0])
	if err != nil {
		return expr.Signature{}, err
	}
	if unit.IsCompound() {
		return expr.Signature{}, sqlerr.WrongArguments("TIMESTAMPDIFF: the unit " + unit.String() + " is of several parts")
	}
	return expr.Signature{Args: []types.Type{types.Null, datetimeArg(args[1]), datetimeArg(args[2])}, Result: types.Int64}, nil
}

func evalTimestampDiff(_ *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	unit, err := unitArg(call.Args[0])
	if err != nil {
		return err
	}
	a, b := expr.Ints(args[1]), expr.Ints(args[2])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = types.TimestampDiff(unit, a.At(int(i)), b.At(int(i)))
	}
	return nil
}

// hasDate says whether a temporal type has a date.
func hasDate(t types.Type) bool {
	return t.Kind == types.KindDate || t.Kind == types.KindDatetime || t.Kind == types.KindTimestamp
}

// resolveTimeDiff: if one operand's type has a date both are DATETIMEs, if one is a TIME or a number both are TIMEs. Strings
// are left as they are: each may be either.
func resolveTimeDiff(args []expr.Expr) (expr.Signature, error) {
	a, b := args[0].Type(), args[1].Type()
	sig := expr.Signature{Result: types.TimeFsp(max(fspOf(args[0]), fspOf(args[1]))), Nullable: true}
	switch {
	case a.IsString() && b.IsString():
		sig.Args = []types.Type{types.Null, types.Null}
	case hasDate(a) || hasDate(b):
		sig.Args = []types.Type{datetimeArg(args[0]), datetimeArg(args[1])}
		if a.Kind == types.KindTime || b.Kind == types.KindTime {
			sig.Args = []types.Type{types.Null, types.Null} // NULL for want of a common kind
		}
	default:
		sig.Args = []types.Type{timeArg(args[0]), timeArg(args[1])}
	}
	return sig, nil
}

func evalTimeDiff(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a, b := moments(args[0]), moments(args[1])
	for _, i := range expr.Positions(sel, n) {
		x, err := a.at(c, int(i))
		if err != nil {
			return err
		}
		y, err := b.at(c, int(i))
		if err != nil {
			return err
		}
		if x.bad || y.bad || x.isDate != y.isDate {
			out.SetNull(int(i), n)
			continue
		}
		if err := storeTime(c, out, int(i), x.micros-y.micros); err != nil {
			return err
		}
	}
	return nil
}

// storeTime stores a TIME, cut to the type's range with a warning.
func storeTime(c *expr.Context, out *column.Vector, i int, micros int64) error {
	t, ok := types.SecToTime(micros)
	out.I64[i] = t
	if ok {
		return nil
	}
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	text := types.FormatDecimal(types.Int128FromInt64(micros/types.MicrosPerHour), 0) + types.FormatTime(micros%types.MicrosPerHour, 0)[2:]
	e := sqlerr.TruncatedWrongValue("time", sign+text)
	if c.Strict() {
		return e
	}
	c.Warnings.AddError(e)
	return nil
}

// moment is a point in time or, without a date, a TIME.
type moment struct {
	micros      int64
	isDate      bool
	bad         bool // a string that is neither
	hasFraction bool // it has a fraction
}

// momentReader reads a temporal operand, or a string that is one.
type momentReader struct {
	v *column.Vector
}

func moments(v *column.Vector) momentReader { return momentReader{v} }

func (r momentReader) at(c *expr.Context, i int) (moment, error) {
	if r.v.Type.IsString() {
		return parseMoment(c, r.v.StringAt(i))
	}
	x := expr.Ints(r.v).At(i)
	if r.v.Type.Kind == types.KindDate {
		return moment{micros: types.DatetimeOfDate(x), isDate: true}, nil
	}
	return moment{micros: x, isDate: r.v.Type.Kind != types.KindTime}, nil
}

// parseMoment reads a string as a DATETIME if it is one, every other as a TIME.
func parseMoment(c *expr.Context, s string) (moment, error) {
	trimmed := strings.TrimLeft(s, " \t\n\v\f\r")
	if !strings.HasPrefix(trimmed, "-") {
		if t, ok := types.DatetimeForTime(trimmed, c.Location); ok {
			return moment{micros: t, isDate: true, hasFraction: t%types.MicrosPerSecond != 0}, nil
		}
	}
	t, status := types.ParseTime(s, c.Location)
	if status > types.ConvertRounded {
		if err := c.ConversionProblem(status, types.StringValue(s), types.Time, false); err != nil {
			return moment{}, err
		}
	}
	return moment{micros: t, bad: status == types.ConvertInvalid, hasFraction: t%types.MicrosPerSecond != 0}, nil
}

func resolveAddTime(args []expr.Expr) (expr.Signature, error) {
	t := args[0].Type()
	fsp := max(fspOf(args[0]), fspOf(args[1]))
	sig := expr.Signature{Args: []types.Type{types.Null, timeArg(args[1])}, Result: types.TimeFsp(fsp), Nullable: true}
	switch {
	case args[1].Type().IsString():
		sig.Args[1] = types.Null
	case hasDate(args[1].Type()) && args[1].Type().Kind != types.KindDate:
		sig.Args[1] = types.Null // a date cannot be added: NULL
	}
	switch {
	case t.Kind == types.KindDatetime || t.Kind == types.KindTimestamp:
		sig.Args[0] = datetimeArg(args[0])
		sig.Result = types.DatetimeFsp(fsp)
	case t.Kind == types.KindTime || t.Kind == types.KindDate:
		sig.Args[0] = timeArg(args[0])
	default:
		sig.Args[0] = expr.CastToString(args[0])
		sig.Result = types.Varchar(26)
	}
	return sig, nil
}

func addTimeKernel(sign int64) expr.Kernel {
	return func(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		a, b := moments(args[0]), moments(args[1])
		for _, i := range expr.Positions(sel, n) {
			x, err := a.at(c, int(i))
			if err != nil {
				return err
			}
			y, err := b.at(c, int(i))
			if err != nil {
				return err
			}
			if x.bad || y.bad || y.isDate {
				out.SetNull(int(i), n)
				continue
			}
			sum := x.micros + sign*y.micros
			if x.isDate && !types.ReachesDatetime(sum) {
				if err := datetimeOverflow(c, out, int(i), n); err != nil {
					return err
				}
				continue
			}
			if !out.Type.IsString() {
				out.I64[i] = sum
				if !x.isDate {
					err = storeTime(c, out, int(i), sum)
				}
			} else {
				err = storeMoment(c, out, int(i), sum, x, y)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// longestDatetime is how many bytes a DATETIME has with all digits.
const longestDatetime = len("2000-01-01 00:00:00.000000")

// storeMoment stores as a string the sum of x, which says whether it has a date, and y.
func storeMoment(c *expr.Context, out *column.Vector, i int, sum int64, x, y moment) (err error) {
	fsp := 0
	if x.hasFraction || y.hasFraction || sum%types.MicrosPerSecond != 0 {
		fsp = types.MaxFsp
	}
	if x.isDate {
		out.Str[i], err = c.MakeString(longestDatetime, func(b []byte) []byte { return types.AppendDatetime(b, sum, fsp) })
		return err
	}
	t := column.Vector{Type: types.Time, I64: []int64{0}}
	if err := storeTime(c, &t, 0, sum); err != nil {
		return err
	}
	out.Str[i], err = c.MakeString(longestDatetime, func(b []byte) []byte { return types.AppendTime(b, t.I64[0], fsp) })
	return err
}
