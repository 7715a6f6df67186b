package datetime

import (
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The literals DATE 'text', TIME 'text' and TIMESTAMP 'text' (Reference Manual 11.1.3), which the parser makes calls of
// functions with names that nobody can write. A string that is no such value is error 1525.

// literals are the typed literals.
func literals() []*expr.Function {
	literal := func(name, syntax, doc, kind string, of func(fsp int) types.Type, parse func(s string, zone *time.Location) (int64, bool)) *expr.Function {
		return &expr.Function{Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
			Resolve: func(args []expr.Expr) (expr.Signature, error) {
				sig := expr.Signature{Args: []types.Type{expr.CastToString(args[0])}, Result: of(fspOf(args[0]))}
				if c, ok := args[0].(*expr.Const); ok && !c.Value.Null {
					if _, ok := parse(c.Value.Text(), nil); !ok {
						return sig, wrongLiteral(kind, c.Value.Text())
					}
				}
				return sig, nil
			},
			Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
				s := expr.Strings(args[0])
				for _, i := range expr.Positions(sel, n) {
					v, ok := parse(s.At(int(i)), c.Location)
					if !ok {
						return wrongLiteral(kind, s.At(int(i)))
					}
					out.I64[i] = v
				}
				return nil
			}}
	}
	return []*expr.Function{
		literal("dateliteral", "DATE 'text'", "A DATE.", "DATE", func(int) types.Type { return types.Date }, parseDateLiteral).ParsedAs("'tidb`.(dateliteral"),
		literal("timeliteral", "TIME 'text'", "A TIME with as many fractional digits as are written.", "TIME", types.TimeFsp, parseTimeLiteral).ParsedAs("'tidb`.(timeliteral"),
		literal("timestampliteral", "TIMESTAMP 'text'", "A DATETIME with as many fractional digits as are written.", "DATETIME",
			types.DatetimeFsp, parseTimestampLiteral).ParsedAs("'tidb`.(timestampliteral"),
	}
}

func wrongLiteral(kind, text string) error {
	return sqlerr.New(sqlerr.CodeWrongValue, sqlerr.User, "Incorrect %s value: '%s'", kind, text)
}

func parseDateLiteral(s string, zone *time.Location) (int64, bool) {
	t, status := types.ParseDatetime(s, zone)
	return types.DateOf(t), status == types.ConvertOK && !hasClock(s)
}

func parseTimeLiteral(s string, zone *time.Location) (int64, bool) {
	t, status := types.ParseTime(s, zone)
	if m, err := parseMoment(&expr.Context{Location: zone}, s); err != nil || m.isDate {
		return 0, false
	}
	return t, status == types.ConvertOK
}

func parseTimestampLiteral(s string, zone *time.Location) (int64, bool) {
	t, status := types.ParseDatetime(s, zone)
	return t, status == types.ConvertOK && hasClock(s)
}
