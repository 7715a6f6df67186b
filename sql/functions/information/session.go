// Package information holds the functions that tell of the session and of their operands' types (Reference Manual 14.15).
package information

import (
	"slices"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions about the session, and those with an effect beside their value.

const category = "Information functions"

// Functions returns the functions of this chapter.
func Functions() []*expr.Function { return slices.Concat(sessionFunctions(), typeFunctions()) }

// typeFunctions tell of the type of an operand.
func typeFunctions() []*expr.Function {
	ofType := func(name, syntax, doc string, f func(t types.Type) string) *expr.Function {
		return &expr.Function{Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1, Nulls: expr.NullCustom,
			Resolve: func([]expr.Expr) (expr.Signature, error) { return expr.Signature{Result: types.Varchar(64)}, nil },
			Eval: func(_ *expr.Context, call *expr.Call, out *column.Vector, _ []*column.Vector, sel []int32, n int) error {
				s := f(call.Args[0].Type())
				for _, i := range expr.Positions(sel, n) {
					out.Str[i] = s
				}
				return nil
			}}
	}
	collation := ofType("collation", "COLLATION(x)", "The collation of x; binary if x is no text.", func(t types.Type) string {
		if charsetOf(t) == "utf8mb4" {
			return "utf8mb4_bin"
		}
		return "binary"
	})
	collation.Under = collationOf
	return []*expr.Function{
		ofType("charset", "CHARSET(x)", "The character set of x: utf8mb4 or binary.", charsetOf),
		collation,
	}
}

// sessionFunctions tell of the session.
func sessionFunctions() []*expr.Function {
	text := func(name, syntax, doc string, nullable bool, get func(c *expr.Context) string, aliases ...string) *expr.Function {
		return &expr.Function{Name: name, Aliases: aliases, Category: category, Syntax: syntax, Doc: doc,
			Resolve: func([]expr.Expr) (expr.Signature, error) {
				return expr.Signature{Result: types.Varchar(288), Nullable: nullable}, nil
			},
			Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, _ []int32, n int) error {
				s := get(c)
				if s == "" && nullable {
					out.SetNull(0, n)
					return nil
				}
				out.Str[0] = s
				return nil
			}}
	}
	return []*expr.Function{
		text("database", "DATABASE()", "The current database; NULL if there is none.", true, func(c *expr.Context) string { return c.Session.Database }, "schema"),
		text("user", "USER()", "The session's user.", false, func(c *expr.Context) string { return c.Session.User }, "session_user", "system_user"),
		text("current_user", "CURRENT_USER()", "The session's user.", false, func(c *expr.Context) string { return c.Session.User }),
		text("version", "VERSION()", "The MySQL version that Radish follows, and its name.", false, serverVersion),
		{Name: "connection_id", Category: category, Syntax: "CONNECTION_ID()", Doc: "The session's number.",
			Resolve: func([]expr.Expr) (expr.Signature, error) { return expr.Signature{Result: types.Uint64}, nil },
			Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
				out.I64[0] = int64(c.Session.ConnID)
				return nil
			}},
		{Name: "row_count", Category: category, Syntax: "ROW_COUNT()",
			Doc:     "The rows that the last statement changed; -1 if it gave rows or failed.",
			Resolve: func([]expr.Expr) (expr.Signature, error) { return expr.Signature{Result: types.Int64}, nil },
			Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
				out.I64[0] = c.Session.RowCount
				return nil
			}},
		{Name: "found_rows", Category: category, Syntax: "FOUND_ROWS()",
			Doc:     "The rows that the last SELECT gave, or would have given without LIMIT if it had SQL_CALC_FOUND_ROWS.",
			Resolve: func([]expr.Expr) (expr.Signature, error) { return expr.Signature{Result: types.Int64}, nil },
			Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, _ []int32, _ int) error {
				out.I64[0] = c.Session.FoundRows
				return nil
			}},
		{Name: "last_insert_id", Category: category, Syntax: "LAST_INSERT_ID([n])", MaxArgs: 1, Volatile: true, HasEffects: true,
			Doc: "The first AUTO_INCREMENT value that the session's last INSERT made; with n: n, which is then also what the next call gives.",
			Resolve: func(args []expr.Expr) (expr.Signature, error) {
				return expr.Signature{Args: []types.Type{types.Uint64}[:len(args)], Result: types.Uint64}, nil
			},
			Eval: evalLastInsertID},
	}
}

// ServerVersion is what VERSION() gives where no system variable says otherwise: the MySQL version whose behaviour
// Radish follows, then its own name.
const ServerVersion = "8.0.36-radish"

func serverVersion(c *expr.Context) string {
	if c.Variables != nil {
		if v, ok := c.Variables.SystemVariable("version"); ok {
			return v.Text()
		}
	}
	return ServerVersion
}

func evalLastInsertID(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	last := c.Session.LastInsertID
	if last == nil {
		last = new(atomic.Int64)
	}
	for _, i := range expr.Positions(sel, n) {
		if len(args) > 0 {
			last.Store(int64(expr.Uints(args[0]).At(int(i))))
			if c.Session.GaveInsertID != nil {
				c.Session.GaveInsertID.Store(true)
			}
		}
		out.I64[i] = last.Load()
	}
	return nil
}

// charsetOf: only strings have a character set; numbers and dates count as binary.
func charsetOf(t types.Type) string {
	if t.IsString() && !t.IsBinaryString() || t.Kind == types.KindEnum {
		return "utf8mb4"
	}
	return "binary"
}

// collationOf makes a constant of COLLATION(x): the name of x's collation.
func collationOf(_ *expr.Function, args []expr.Expr) (expr.Expr, error) {
	c, _ := expr.CollationOf(args[0])
	return &expr.Const{Value: types.StringValue(c.String())}, nil
}
