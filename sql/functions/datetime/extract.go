package datetime

import (
	"strings"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// EXTRACT and the parts of a date. Text is read as a DATETIME, or as a TIME where a part of the day is asked for and the
// text looks like one.

// extractFunctions give parts of dates.
func extractFunctions() []*expr.Function {
	return []*expr.Function{
		{Name: "extract", Category: category, Syntax: "EXTRACT(unit FROM t)", MinArgs: 2, MaxArgs: 2,
			Doc:     "A part of a date or time: YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND, MICROSECOND or a compound such as YEAR_MONTH.",
			Resolve: resolveExtract, Eval: evalExtract,
			Spelling: expr.Spelling{Format: func(p *expr.Printer, c *expr.Call) {
				p.Text("extract(", keywordText(c.Args[0]), " FROM ")
				p.Expr(c.Args[1])
				p.Text(")")
			}}},
		datePart("year", nil, "YEAR(d)", "The year.", types.YearOf),
		datePart("month", nil, "MONTH(d)", "The month, 1 to 12.", types.MonthOf),
		datePart("dayofmonth", []string{"day"}, "DAYOFMONTH(d)", "The day of the month, 1 to 31.", types.DayOf),
		datePart("quarter", nil, "QUARTER(d)", "The quarter, 1 to 4.", types.QuarterOf),
		datePart("dayofyear", nil, "DAYOFYEAR(d)", "The day of the year, 1 to 366.", types.DayOfYear),
		datePart("dayofweek", nil, "DAYOFWEEK(d)", "The day of the week, 1 for Sunday to 7.", types.DayOfWeek),
		datePart("weekday", nil, "WEEKDAY(d)", "The day of the week, 0 for Monday to 6.", types.Weekday),
	}
}

// datePart makes a function of the date alone.
func datePart(name string, aliases []string, syntax, doc string, part func(days int64) int) *expr.Function {
	known := &dayTable{part: part}
	return &expr.Function{
		Name: name, Aliases: aliases, Category: "Date and time functions", Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
		Resolve: resolveDatePart,
		Eval: func(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
			d := expr.Ints(args[0])
			parts := known.parts(n)
			if args[0].Type.Kind == types.KindDate {
				if sel == nil && !args[0].Const {
					known.lookUp(out.I64[:n], args[0].I64[:n], parts)
					return nil
				}
				for _, i := range expr.Positions(sel, n) {
					days := d.At(int(i))
					if k := uint64(days - firstKnownDay); k < uint64(len(parts)) {
						out.I64[i] = int64(parts[k])
					} else {
						out.I64[i] = int64(part(days))
					}
				}
				return nil
			}
			for _, i := range expr.Positions(sel, n) {
				days := types.DateOf(d.At(int(i)))
				if k := uint64(days - firstKnownDay); k < uint64(len(parts)) {
					out.I64[i] = int64(parts[k])
				} else {
					out.I64[i] = int64(part(days))
				}
			}
			return nil
		},
		Total: expr.Always,
	}
}

// dayTable has a part of the dates that most tables have: looking one up takes a quarter of the time of computing it.
type dayTable struct {
	part func(days int64) int
	once sync.Once
	days []int16
}

// lookUp stores the parts of dates, of which parts has those of the first known days.
func (t *dayTable) lookUp(out, dates []int64, parts []int16) {
	out = out[:len(dates)]
	for i, days := range dates {
		if k := uint64(days - firstKnownDay); k < uint64(len(parts)) {
			out[i] = int64(parts[k])
		} else {
			out[i] = int64(t.part(days))
		}
	}
}

const (
	firstKnownDay = -25567 // 1900-01-01
	knownDays     = 73_049 // up to 2099-12-31
)

// parts returns the part of each known day, for n rows; nothing for so few rows that making the table does not pay.
func (t *dayTable) parts(n int) []int16 {
	if n < column.VectorSize {
		return nil
	}
	t.once.Do(func() {
		t.days = make([]int16, knownDays)
		for k := range t.days {
			t.days[k] = int16(t.part(firstKnownDay + int64(k)))
		}
	})
	return t.days
}

// DatePart returns the unit that a call takes out of a DATE or DATETIME, and which: of YEAR(d), EXTRACT(YEAR FROM d) and the like. ok is false for other calls,
// and where the operand is something else.
func DatePart(c *expr.Call) (unit types.Unit, of expr.Expr, ok bool) {
	switch c.Fn.Name {
	case "year":
		return types.UnitYear, c.Args[0], true
	case "quarter":
		return types.UnitQuarter, c.Args[0], true
	case "month":
		return types.UnitMonth, c.Args[0], true
	case "dayofmonth":
		return types.UnitDay, c.Args[0], true
	case "extract":
		unit, err := unitArg(c.Args[0])
		kind := c.Args[1].Type().Kind
		return unit, c.Args[1], err == nil && (kind == types.KindDate || kind == types.KindDatetime)
	}
	return 0, nil, false
}

// keywordText prints a keyword that stands in a call as a constant string.
func keywordText(e expr.Expr) string {
	if c, ok := e.(*expr.Const); ok && !c.Value.Null {
		return c.Value.Text()
	}
	return e.String()
}

// resolveDatePart takes dates as they are and everything else as a DATETIME, NULL if it is none.
func resolveDatePart(args []expr.Expr) (expr.Signature, error) {
	t := args[0].Type()
	sig := expr.Signature{Args: []types.Type{types.Null}, Result: types.Int64}
	if t.Kind != types.KindDate && t.Kind != types.KindDatetime {
		sig.Args[0] = types.DatetimeFsp(types.MaxFsp)
	}
	return sig, nil
}

// unitArg reads a unit keyword, which stands in a call as a constant string.
func unitArg(e expr.Expr) (types.Unit, error) {
	if c, ok := e.(*expr.Const); ok {
		if u, ok := types.ParseUnit(c.Value.S); ok {
			return u, nil
		}
	}
	return 0, sqlerr.WrongArguments("a time unit: " + e.String())
}

func resolveExtract(args []expr.Expr) (expr.Signature, error) {
	if _, err := unitArg(args[0]); err != nil {
		return expr.Signature{}, err
	}
	t := args[1].Type()
	sig := expr.Signature{Args: []types.Type{types.Null, types.Null}, Result: types.Int64}
	switch {
	case t.Kind == types.KindDate, t.Kind == types.KindDatetime, t.Kind == types.KindTime:
	case t.IsString():
		sig.Nullable = true
	default:
		sig.Args[1] = types.DatetimeFsp(types.MaxFsp)
	}
	return sig, nil
}

func evalExtract(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	unit, err := unitArg(call.Args[0])
	if err != nil {
		return err
	}
	switch v := args[1]; {
	case v.Type.Kind == types.KindDate && unit == types.UnitYear:
		d := expr.Ints(v)
		for _, i := range expr.Positions(sel, n) {
			out.I64[i] = int64(types.YearOf(d.At(int(i))))
		}
	case v.Type.IsString():
		s := expr.Strings(v)
		for _, i := range expr.Positions(sel, n) {
			x := s.At(int(i))
			if !unit.IsDateUnit() && looksLikeTime(x) {
				if t, status := types.ParseTime(x, c.Location); status != types.ConvertInvalid {
					out.I64[i] = types.ExtractTime(t, unit)
					continue
				}
			}
			t, status := types.ParseDatetime(x, c.Location)
			if status == types.ConvertInvalid {
				if err := c.ConversionProblem(status, types.StringValue(x), types.Datetime, false); err != nil {
					return err
				}
				out.SetNull(int(i), n)
				continue
			}
			out.I64[i] = types.ExtractDatetime(t, unit)
		}
	default:
		extract := types.ExtractDatetime
		switch v.Type.Kind {
		case types.KindDate:
			extract = types.ExtractDate
		case types.KindTime:
			extract = types.ExtractTime
		}
		d := expr.Ints(v)
		for _, i := range expr.Positions(sel, n) {
			out.I64[i] = extract(d.At(int(i)), unit)
		}
	}
	return nil
}

// looksLikeTime says whether a string is a time rather than a date: it has a colon and, after its sign, no dash and no T.
func looksLikeTime(s string) bool {
	s = strings.TrimSpace(s)
	return strings.Contains(s, ":") && strings.LastIndexAny(s, "-T") <= 0
}
