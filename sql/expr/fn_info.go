package expr

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions about the session, and those with an effect beside their value.

// ServerVersion is what VERSION() gives where no system variable says otherwise: the MySQL version whose behaviour
// Radish follows, then its own name.
const ServerVersion = "8.0.36-radish"

func init() {
	const category = "Information functions"
	text := func(name, syntax, doc string, nullable bool, get func(c *Context) string, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Category: category, Syntax: syntax, Doc: doc,
			Resolve: func([]Expr) (Signature, error) {
				return Signature{Result: types.Varchar(288), Nullable: nullable}, nil
			},
			Eval: func(c *Context, _ *Call, out *column.Vector, _ []*column.Vector, _ []int32, n int) error {
				s := get(c)
				if s == "" && nullable {
					out.SetNull(0, n)
					return nil
				}
				out.Str[0] = s
				return nil
			}}
	}
	register(
		text("database", "DATABASE()", "The current database; NULL if there is none.", true, func(c *Context) string { return c.Database }, "schema"),
		text("user", "USER()", "The session's user.", false, func(c *Context) string { return c.User }, "session_user", "system_user"),
		text("current_user", "CURRENT_USER()", "The session's user.", false, func(c *Context) string { return c.User }),
		text("version", "VERSION()", "The MySQL version that Radish follows, and its name.", false, serverVersion),
		&Function{Name: "connection_id", Category: category, Syntax: "CONNECTION_ID()", Doc: "The session's number.",
			Resolve: func([]Expr) (Signature, error) { return Signature{Result: types.Uint64}, nil },
			Eval: func(c *Context, _ *Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
				out.I64[0] = int64(c.ConnID)
				return nil
			}},
		&Function{Name: "row_count", Category: category, Syntax: "ROW_COUNT()",
			Doc:     "The rows that the last statement changed; -1 if it gave rows or failed.",
			Resolve: func([]Expr) (Signature, error) { return Signature{Result: types.Int64}, nil },
			Eval: func(c *Context, _ *Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
				out.I64[0] = c.RowCount
				return nil
			}},
		&Function{Name: "found_rows", Category: category, Syntax: "FOUND_ROWS()",
			Doc:     "The rows that the last SELECT gave, or would have given without LIMIT if it had SQL_CALC_FOUND_ROWS.",
			Resolve: func([]Expr) (Signature, error) { return Signature{Result: types.Int64}, nil },
			Eval: func(c *Context, _ *Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
				out.I64[0] = c.FoundRows
				return nil
			}},
		&Function{Name: "uuid", Category: "Miscellaneous functions", Syntax: "UUID()", Volatile: true, Nulls: NullCustom,
			Doc:     "A new universally unique identifier: random (version 4), where MySQL's is made of time and host.",
			Resolve: func([]Expr) (Signature, error) { return Signature{Result: types.Varchar(36)}, nil },
			Eval:    evalUUID},
		&Function{Name: "sleep", Category: "Miscellaneous functions", Syntax: "SLEEP(seconds)", MinArgs: 1, MaxArgs: 1, Volatile: true, Nulls: NullCustom,
			Doc: "Waits for each row, then gives 0. Cancelling the statement ends it.",
			Resolve: func([]Expr) (Signature, error) {
				return Signature{Args: []types.Type{types.Double}, Result: types.Int64}, nil
			},
			Eval: evalSleep},
	)
}

func serverVersion(c *Context) string {
	if c.Variables != nil {
		if v, ok := c.Variables.SystemVariable("version"); ok {
			return v.Text()
		}
	}
	return ServerVersion
}

func evalUUID(_ *Context, _ *Call, out *column.Vector, _ []*column.Vector, sel []int32, n int) error {
	for _, i := range positions(sel, n) {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails: it crashes the program instead
		b[6] = b[6]&0x0f | 0x40
		b[8] = b[8]&0x3f | 0x80
		out.Str[i] = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return nil
}

func evalSleep(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	for _, i := range positions(sel, n) {
		out.I64[i] = 0
		seconds := floats(args[0]).at(int(i))
		if args[0].IsNull(int(i)) || !(seconds >= 0) {
			return sqlerr.WrongArguments("sleep.")
		}
		timer := time.NewTimer(time.Duration(min(seconds, 1e9) * float64(time.Second)))
		if c.Ctx == nil {
			<-timer.C
			continue
		}
		select {
		case <-timer.C:
		case <-c.Ctx.Done():
			timer.Stop()
			return sqlerr.Interrupted(c.Ctx.Err())
		}
	}
	return nil
}
