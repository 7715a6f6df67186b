package expr

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The current date and time (Reference Manual 14.7): those of the statement's start, the same for all rows, so that
// constant folding may compute them.

const dateCategory = "Date and time functions"

// clocks give the time of the statement.
func clocks() []*Function {
	clock := func(name, syntax, doc string, of func(fsp int) types.Type, now func(c *Context) int64, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Category: dateCategory, Syntax: syntax, Doc: doc, MaxArgs: 1,
			Resolve: func(args []Expr) (Signature, error) { return resolveNow(name, of, args) },
			Eval: func(c *Context, _ *Call, out *column.Vector, _ []*column.Vector, sel []int32, n int) error {
				t := types.TruncateDatetime(now(c), int(out.Type.Scale))
				for _, i := range positions(sel, n) {
					out.I64[i] = t
				}
				return nil
			}}
	}
	day := func(name, syntax, doc string, now func(c *Context) int64, aliases ...string) *Function {
		f := clock(name, syntax, doc, func(int) types.Type { return types.Date }, func(c *Context) int64 { return types.DateOf(now(c)) }, aliases...)
		f.MaxArgs = 0
		f.Eval = func(c *Context, _ *Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
			out.I64[0] = types.DateOf(now(c))
			return nil
		}
		return f
	}
	local := (*Context).nowMicros
	utc := func(c *Context) int64 { return c.Now.UnixMicro() }
	return []*Function{
		clock("now", "NOW([fsp])", "The date and time at which the statement began. SYSDATE() is the same, as with MySQL's --sysdate-is-now.",
			types.DatetimeFsp, local, "current_timestamp", "localtime", "localtimestamp", "sysdate"),
		clock("utc_timestamp", "UTC_TIMESTAMP([fsp])", "NOW() in UTC.", types.DatetimeFsp, utc),
		clock("curtime", "CURTIME([fsp])", "The time of day at which the statement began.", types.TimeFsp,
			func(c *Context) int64 { return types.TimeOf(local(c)) }, "current_time"),
		clock("utc_time", "UTC_TIME([fsp])", "CURTIME() in UTC.", types.TimeFsp, func(c *Context) int64 { return types.TimeOf(utc(c)) }),
		day("curdate", "CURDATE()", "The date at which the statement began.", local, "current_date"),
		day("utc_date", "UTC_DATE()", "CURDATE() in UTC.", utc),
	}
}

// resolveNow takes the fractional digits, a literal, from 0 to 6.
func resolveNow(name string, of func(fsp int) types.Type, args []Expr) (Signature, error) {
	if len(args) == 0 {
		return Signature{Result: of(0)}, nil
	}
	c, ok := args[0].(*Const)
	if !ok || c.Value.Null || !c.Value.Type.IsInteger() || c.Value.I < 0 {
		return Signature{}, sqlerr.WrongArguments(name)
	}
	if c.Value.I > types.MaxFsp {
		return Signature{}, sqlerr.TooBigPrecision(int(min(c.Value.I, 1<<30)), name, types.MaxFsp)
	}
	return Signature{Args: []types.Type{types.Null}, Result: of(int(c.Value.I))}, nil
}
