package datetime

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The current date and time (Reference Manual 14.7): those of the statement's start, the same for all rows, so that
// constant folding may compute them.

const category = "Date and time functions"

// clocks give the time of the statement.
func clocks() []*expr.Function {
	clock := func(name, syntax, doc string, of func(fsp int) types.Type, now func(c *expr.Context) int64, aliases ...string) *expr.Function {
		return &expr.Function{Name: name, Aliases: aliases, Category: category, Syntax: syntax, Doc: doc, MaxArgs: 1,
			Resolve: func(args []expr.Expr) (expr.Signature, error) { return resolveNow(name, of, args) },
			Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, sel []int32, n int) error {
				t := types.TruncateDatetime(now(c), int(out.Type.Scale))
				for _, i := range expr.Positions(sel, n) {
					out.I64[i] = t
				}
				return nil
			}}
	}
	day := func(name, syntax, doc string, now func(c *expr.Context) int64, aliases ...string) *expr.Function {
		f := clock(name, syntax, doc, func(int) types.Type { return types.Date }, func(c *expr.Context) int64 { return types.DateOf(now(c)) }, aliases...)
		f.MaxArgs = 0
		f.Eval = func(c *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
			out.I64[0] = types.DateOf(now(c))
			return nil
		}
		return f
	}
	local := (*expr.Context).NowMicros
	utc := func(c *expr.Context) int64 { return c.Now.UnixMicro() }
	return []*expr.Function{
		clock("now", "NOW([fsp])", "The date and time at which the statement began. SYSDATE() is the same, as with MySQL's --sysdate-is-now.",
			types.DatetimeFsp, local, "current_timestamp", "localtime", "localtimestamp", "sysdate"),
		clock("utc_timestamp", "UTC_TIMESTAMP([fsp])", "NOW() in UTC.", types.DatetimeFsp, utc),
		clock("curtime", "CURTIME([fsp])", "The time of day at which the statement began.", types.TimeFsp,
			func(c *expr.Context) int64 { return types.TimeOf(local(c)) }, "current_time"),
		clock("utc_time", "UTC_TIME([fsp])", "CURTIME() in UTC.", types.TimeFsp, func(c *expr.Context) int64 { return types.TimeOf(utc(c)) }),
		day("curdate", "CURDATE()", "The date at which the statement began.", local, "current_date"),
		day("utc_date", "UTC_DATE()", "CURDATE() in UTC.", utc),
	}
}

// resolveNow takes the fractional digits, a literal, from 0 to 6.
func resolveNow(name string, of func(fsp int) types.Type, args []expr.Expr) (expr.Signature, error) {
	if len(args) == 0 {
		return expr.Signature{Result: of(0)}, nil
	}
	c, ok := args[0].(*expr.Const)
	if !ok || c.Value.Null || !c.Value.Type.IsInteger() || c.Value.I < 0 {
		return expr.Signature{}, sqlerr.WrongArguments(name)
	}
	if c.Value.I > types.MaxFsp {
		return expr.Signature{}, sqlerr.TooBigPrecision(int(min(c.Value.I, 1<<30)), name, types.MaxFsp)
	}
	return expr.Signature{Args: []types.Type{types.Null}, Result: of(int(c.Value.I))}, nil
}
