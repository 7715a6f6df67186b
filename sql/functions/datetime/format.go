package datetime

import (
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Dates and times to text and back (Reference Manual 14.7).

// formatFunctions make strings of dates and times, and read them.
func formatFunctions() []*expr.Function {
	return []*expr.Function{
		{Name: "date_format", Category: category, Syntax: "DATE_FORMAT(t, format)", MinArgs: 2, MaxArgs: 2,
			Doc: "t as a string, by a format of % codes; names are English.", Resolve: resolveDateFormat, Eval: evalDateFormat},
		{Name: "time_format", Category: category, Syntax: "TIME_FORMAT(t, format)", MinArgs: 2, MaxArgs: 2,
			Doc:     "A TIME as a string, by a format; NULL for the codes of dates, zeros for those of numbers in dates.",
			Resolve: resolveTimeFormat, Eval: evalTimeFormat},
		{Name: "str_to_date", Category: category, Syntax: "STR_TO_DATE(s, format)", MinArgs: 2, MaxArgs: 2,
			Doc:     "The DATE, TIME or DATETIME that s is by the format; NULL with a warning if it is none.",
			Resolve: resolveStrToDate, Eval: evalStrToDate},
		{Name: "get_format", Category: category, Syntax: "GET_FORMAT(DATE | TIME | DATETIME, 'EUR' | 'USA' | 'JIS' | 'ISO' | 'INTERNAL')",
			MinArgs: 2, MaxArgs: 2, Doc: "The format by which a region writes dates.", Resolve: resolveGetFormat, Eval: evalGetFormat},
	}
}

// formattedType is the type of a string made by a format: a code may give as much as "Wednesday".
func formattedType(format expr.Expr) types.Type {
	if c, ok := format.(*expr.Const); ok && c.Value.Type.IsString() {
		codes := strings.Count(c.Value.S, "%")
		return types.Varchar(len(c.Value.S) - 2*min(codes, len(c.Value.S)/2) + 11*codes)
	}
	if n := types.TextLength(expr.StringType(format.Type())); n > 0 {
		return types.Varchar(timesFormatted * n)
	}
	return types.Text
}

// timesFormatted is how many times as long as its format a string is at most: %r is "11:59:59 PM".
const timesFormatted = 6

func resolveDateFormat(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{datetimeArg(args[0]), expr.CastToString(args[1])}, Result: formattedType(args[1])}, nil
}

func evalDateFormat(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	t, format := expr.Ints(args[0]), expr.Strings(args[1])
	for _, i := range expr.Positions(sel, n) {
		f := format.At(int(i))
		var err error
		out.Str[i], err = c.MakeString(timesFormatted*len(f), func(b []byte) []byte { return types.AppendDateFormat(b, t.At(int(i)), f) })
		if err != nil {
			return err
		}
	}
	return nil
}

func resolveTimeFormat(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{timeArg(args[0]), expr.CastToString(args[1])}, Result: formattedType(args[1]), Nullable: true}, nil
}

func evalTimeFormat(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	t, format := expr.Ints(args[0]), expr.Strings(args[1])
	for _, i := range expr.Positions(sel, n) {
		f, ok := format.At(int(i)), false
		var err error
		out.Str[i], err = c.MakeString(timesFormatted*len(f)+1, func(b []byte) []byte {
			b, ok = types.AppendTimeFormat(b, t.At(int(i)), f)
			return b
		})
		if err != nil {
			return err
		}
		if !ok {
			out.SetNull(int(i), n)
		}
	}
	return nil
}

// resolveStrToDate takes the result's type from a constant format; any other gives DATETIME(6).
func resolveStrToDate(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Args: []types.Type{expr.CastToString(args[0]), expr.CastToString(args[1])}, Result: types.DatetimeFsp(types.MaxFsp), Nullable: true}
	if c, ok := args[1].(*expr.Const); ok && c.Value.Type.IsString() && !c.Value.Null {
		sig.Result = types.StrToDateType(c.Value.S)
	}
	return sig, nil
}

func evalStrToDate(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, format := expr.Strings(args[0]), expr.Strings(args[1])
	for _, i := range expr.Positions(sel, n) {
		x := s.At(int(i))
		v, status := types.StrToDate(x, format.At(int(i)))
		kind := expr.LowerName(v.Type)
		if v.Type.Kind != out.Type.Kind {
			// The format was not known when the type was chosen.
			v, _ = c.Conversion().Cast(v, out.Type)
		}
		out.I64[i] = v.I
		if status <= types.ConvertRounded {
			continue
		}
		e := sqlerr.New(sqlerr.CodeWrongValueForType, sqlerr.User, "Incorrect %s value: '%s' for function str_to_date", kind, x)
		if status == types.ConvertTruncated {
			e = sqlerr.TruncatedWrongValue(kind, x)
		}
		if c.Strict() {
			return e
		}
		c.Warnings.AddError(e)
		if status == types.ConvertInvalid {
			out.SetNull(int(i), n)
		}
	}
	return nil
}

// formats are the results of GET_FORMAT by kind and region (Reference Manual 14.7, GET_FORMAT()).
var formats = map[string]map[string]string{
	"DATE": {"USA": "%m.%d.%Y", "JIS": "%Y-%m-%d", "ISO": "%Y-%m-%d", "EUR": "%d.%m.%Y", "INTERNAL": "%Y%m%d"},
	"DATETIME": {"USA": "%Y-%m-%d %H.%i.%s", "JIS": "%Y-%m-%d %H:%i:%s", "ISO": "%Y-%m-%d %H:%i:%s",
		"EUR": "%Y-%m-%d %H.%i.%s", "INTERNAL": "%Y%m%d%H%i%s"},
	"TIME": {"USA": "%h:%i:%s %p", "JIS": "%H:%i:%s", "ISO": "%H:%i:%s", "EUR": "%H.%i.%s", "INTERNAL": "%H%i%s"},
}

func resolveGetFormat(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{expr.CastToString(args[0]), expr.CastToString(args[1])}, Result: types.Varchar(17), Nullable: true}, nil
}

// longestFormatName is more than the two longest operands of GET_FORMAT together.
const longestFormatName = 64

func evalGetFormat(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	kind, region := expr.Strings(args[0]), expr.Strings(args[1])
	for _, i := range expr.Positions(sel, n) {
		if len(kind.At(int(i)))+len(region.At(int(i))) > longestFormatName {
			out.SetNull(int(i), n)
			continue
		}
		k := strings.ToUpper(kind.At(int(i)))
		if k == "TIMESTAMP" {
			k = "DATETIME"
		}
		f, ok := formats[k][strings.ToUpper(region.At(int(i)))]
		out.Str[i] = f
		if !ok {
			out.SetNull(int(i), n)
		}
	}
	return nil
}
