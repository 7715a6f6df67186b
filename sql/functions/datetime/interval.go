package datetime

import (
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Dates and times plus or minus an interval. The unit is the last operand, a constant string: date_add(d, 3, 'MONTH')
// is `d + INTERVAL 3 MONTH`.

// intervalFunctions add intervals.
func intervalFunctions() []*expr.Function {
	return []*expr.Function{
		{Name: "date_add", Category: category, Syntax: "DATE_ADD(t, INTERVAL n unit), t + INTERVAL n unit", MinArgs: 3, MaxArgs: 3,
			Doc:     "t and an interval later. A DATE stays a DATE if the unit has no part of a day; a string stays a string. Out of range is NULL with a warning.",
			Resolve: resolveDateAdd, Eval: dateAdd(false), Spelling: expr.Spelling{Format: plusInterval("+")}},
		{Name: "date_sub", Category: category, Syntax: "DATE_SUB(t, INTERVAL n unit), t - INTERVAL n unit", MinArgs: 3, MaxArgs: 3,
			Doc:     "t and an interval earlier; see DATE_ADD.",
			Resolve: resolveDateAdd, Eval: dateAdd(true), Spelling: expr.Spelling{Format: plusInterval("-")}},
	}
}

// plusInterval prints DATE_ADD and DATE_SUB as the operators that they are.
func plusInterval(op string) func(*expr.Printer, *expr.Call) {
	return func(p *expr.Printer, c *expr.Call) {
		p.Term(c.Args[0])
		p.Text(" ", op, " INTERVAL ")
		p.Term(c.Args[1])
		p.Text(" ", keywordText(c.Args[2]))
	}
}

func resolveDateAdd(args []expr.Expr) (expr.Signature, error) {
	unit, err := unitArg(args[2])
	if err != nil {
		return expr.Signature{}, err
	}
	sig := expr.Signature{Args: []types.Type{types.Null, types.Null, types.Null}, Nullable: true}
	n := args[1].Type()
	switch {
	case n.IsString(), n.Kind == types.KindDecimal, n.IsInteger() && n.Kind != types.KindUint64 && !unit.IsCompound():
	case n.Kind == types.KindNull:
		sig.Args[1] = types.Int64
	case unit.IsCompound():
		sig.Args[1] = expr.StringType(n)
	default:
		sig.Args[1] = types.Decimal(30, types.MaxFsp)
	}
	if unit.IsCompound() && n.Kind == types.KindDecimal {
		sig.Args[1] = expr.StringType(n)
	}
	// Fractions of a second come from a unit that has them, or from a number of seconds with a fraction.
	fsp := 0
	switch {
	case unit.HasMicroseconds(), unit == types.UnitSecond && (n.IsString() || n.IsFloat()):
		fsp = types.MaxFsp
	case unit == types.UnitSecond && n.Kind == types.KindDecimal:
		fsp = min(int(n.Scale), types.MaxFsp)
	}
	switch t := args[0].Type(); t.Kind {
	case types.KindDate:
		sig.Result = types.DatetimeFsp(fsp)
		if unit.IsDateUnit() {
			sig.Result = types.Date
		}
	case types.KindDatetime:
		sig.Result = types.DatetimeFsp(max(fsp, int(t.Scale)))
	case types.KindTimestamp:
		sig.Args[0] = types.DatetimeFsp(int(t.Scale))
		sig.Result = types.DatetimeFsp(max(fsp, int(t.Scale)))
	case types.KindTime:
		sig.Result = types.TimeFsp(max(fsp, int(t.Scale)))
		if unit.IsDateUnit() || unit == types.UnitYearMonth {
			sig.Args[0] = types.DatetimeFsp(int(t.Scale))
			sig.Result = types.DatetimeFsp(max(fsp, int(t.Scale)))
		}
	default:
		sig.Args[0] = expr.CastToString(args[0])
		sig.Result = types.Varchar(26)
	}
	return sig, nil
}

// dateAdd makes the kernel of DATE_ADD, or of DATE_SUB.
func dateAdd(subtracts bool) expr.Kernel {
	return func(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		unit, err := unitArg(call.Args[2])
		if err != nil {
			return err
		}
		span := intervals(args[1], unit, subtracts)
		var add func(i int, iv types.Interval) bool
		switch from := args[0].Type; {
		case from.Kind == types.KindDate && out.Type.Kind == types.KindDate:
			if iv, ok := constSpan(span, args[1]); ok && !iv.InMonths && iv.Count%types.MicrosPerDay == 0 {
				return addDays(c, out, expr.Ints(args[0]), iv.Count/types.MicrosPerDay, sel, n)
			}
			d := expr.Ints(args[0])
			add = func(i int, iv types.Interval) (ok bool) {
				out.I64[i], ok = types.AddDate(d.At(i), iv)
				return ok
			}
		case from.Kind == types.KindDate:
			d := expr.Ints(args[0])
			add = func(i int, iv types.Interval) (ok bool) {
				out.I64[i], ok = types.AddDatetime(types.DatetimeOfDate(d.At(i)), iv)
				return ok
			}
		case from.Kind == types.KindDatetime:
			d := expr.Ints(args[0])
			add = func(i int, iv types.Interval) (ok bool) {
				out.I64[i], ok = types.AddDatetime(d.At(i), iv)
				return ok
			}
		case from.Kind == types.KindTime:
			d := expr.Ints(args[0])
			add = func(i int, iv types.Interval) (ok bool) {
				out.I64[i], ok = types.AddTime(d.At(i), iv)
				return ok
			}
		default:
			return addToString(c, out, expr.Strings(args[0]), span, unit, sel, n)
		}
		for _, i := range expr.Positions(sel, n) {
			iv, ok := span(int(i))
			if !ok || !add(int(i), iv) {
				if err := datetimeOverflow(c, out, int(i), n); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// intervals returns the interval at each position of an interval's quantity.
func intervals(v *column.Vector, unit types.Unit, subtracts bool) func(i int) (types.Interval, bool) {
	at := func(i int) (types.Interval, bool) { return types.IntervalOf(expr.Ints(v).At(i), unit) }
	switch {
	case v.Type.IsString():
		s := expr.Strings(v)
		at = func(i int) (types.Interval, bool) { return types.ParseInterval(s.At(i), unit) }
	case v.Type.Kind == types.KindDecimal:
		w, scale := expr.Wides(v), int(v.Type.Scale)
		at = func(i int) (types.Interval, bool) { return types.IntervalOfDecimal(w.At(i), scale, unit) }
	}
	if subtracts {
		forward := at
		at = func(i int) (types.Interval, bool) {
			iv, ok := forward(i)
			return iv.Neg(), ok
		}
	}
	if v.Const {
		iv, ok := at(0)
		return func(int) (types.Interval, bool) { return iv, ok }
	}
	return at
}

// addDays adds a constant number of days to dates.
func addDays(c *expr.Context, out *column.Vector, d expr.Reader[int64], days int64, sel []int32, n int) error {
	bad := false
	for _, i := range expr.Positions(sel, n) {
		r := d.At(int(i)) + days
		out.I64[i] = r
		bad = bad || !types.ReachesDate(r)
	}
	if !bad {
		return nil
	}
	for _, i := range expr.Positions(sel, n) {
		if !types.ReachesDate(out.I64[i]) {
			if err := datetimeOverflow(c, out, int(i), n); err != nil {
				return err
			}
		}
	}
	return nil
}

// addToString adds to dates and times in strings: the result has a time of day if the string or the interval has.
func addToString(c *expr.Context, out *column.Vector, s expr.StringReader, span func(int) (types.Interval, bool), unit types.Unit, sel []int32, n int) error {
	for _, i := range expr.Positions(sel, n) {
		x := s.At(int(i))
		t, status := types.ParseDatetime(x, c.Location)
		if status == types.ConvertInvalid {
			if err := c.ConversionProblem(status, types.StringValue(x), types.Datetime, false); err != nil {
				return err
			}
			out.SetNull(int(i), n)
			continue
		}
		iv, ok := span(int(i))
		if ok {
			t, ok = types.AddDatetime(t, iv)
		}
		if !ok {
			if err := datetimeOverflow(c, out, int(i), n); err != nil {
				return err
			}
			continue
		}
		var err error
		out.Str[i], err = c.MakeString(longestDatetime, func(b []byte) []byte {
			switch {
			case unit.IsDateUnit() && !hasClock(x):
				return types.AppendDate(b, types.DateOf(t))
			case t%types.MicrosPerSecond != 0:
				return types.AppendDatetime(b, t, types.MaxFsp)
			}
			return types.AppendDatetime(b, t, 0)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hasClock says whether a string that is a date has a time of day too: more than three numbers, or more than eight digits in one. A colon may also stand between the parts of a date.
func hasClock(s string) bool {
	s = strings.TrimSpace(s)
	if strings.Trim(s, "0123456789") == "" {
		return len(s) >= 12
	}
	numbers := strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	return len(numbers) > 3 || strings.ContainsRune(s, 'T')
}

// datetimeOverflow makes position i NULL with warning 1441, an error in a strict write.
func datetimeOverflow(c *expr.Context, out *column.Vector, i, n int) error {
	e := sqlerr.New(sqlerr.CodeDatetimeOverflow, sqlerr.User, "Datetime function: datetime field overflow")
	if c.Strict() {
		return e
	}
	c.Warnings.AddError(e)
	out.SetNull(i, n)
	return nil
}

// constSpan returns the interval if it is the same for all rows.
func constSpan(span func(int) (types.Interval, bool), n *column.Vector) (types.Interval, bool) {
	if !n.Const {
		return types.Interval{}, false
	}
	return span(0)
}
