// Package locking holds the locking functions: locks by names of the program's own choice, which sessions hold (Reference Manual 14.14).
package locking

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions returns the functions of this chapter.
func Functions() []*expr.Function {
	const category = "Locking functions"
	fn := func(name, syntax, doc string, args []types.Type, result types.Type, f func(c *expr.Context, name string, seconds float64) (types.Value, error)) *expr.Function {
		return &expr.Function{Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: len(args), MaxArgs: len(args), Volatile: true, HasEffects: true, Nulls: expr.NullCustom,
			Resolve: func([]expr.Expr) (expr.Signature, error) {
				return expr.Signature{Args: args, Result: result, Nullable: true}, nil
			},
			Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
				if c.Locks == nil {
					return sqlerr.NotSupportedf(strings.ToUpper(name)+" here", "it needs a session")
				}
				for _, i := range expr.Positions(sel, n) {
					lock, seconds := "", 0.0
					if len(args) > 0 {
						lock = args[0].StringAt(int(i))
						if args[0].IsNull(int(i)) || lock == "" || utf8.RuneCountInString(lock) > 64 {
							return sqlerr.New(codeLockName, sqlerr.User, "Incorrect user-level lock name '%s'.", lock)
						}
					}
					if len(args) > 1 {
						if args[1].IsNull(int(i)) {
							return sqlerr.WrongArguments(name)
						}
						seconds = expr.Floats(args[1]).At(int(i))
					}
					v, err := f(c, strings.ToLower(lock), seconds)
					if err != nil {
						return err
					}
					if v.Null {
						out.SetNull(int(i), n)
					}
					out.I64[i] = v.I
				}
				return nil
			}}
	}
	number := func(n int64) types.Value { return types.IntValue(n) }
	named, null := []types.Type{types.Varchar(0)}, types.NullOf(types.Int64)
	return []*expr.Function{
		fn("get_lock", "GET_LOCK(name, seconds)", "Takes a named lock for the session, and waits for it (negative: however long); 1, or 0 when the time is up.", []types.Type{types.Varchar(0), types.Double}, types.Int64,
			func(c *expr.Context, name string, seconds float64) (types.Value, error) {
				wait := time.Duration(-1)
				if seconds >= 0 {
					wait = time.Duration(min(seconds, 1e9) * float64(time.Second))
				}
				ctx := c.Ctx
				if ctx == nil {
					ctx = context.Background()
				}
				got, err := c.Locks.Get(ctx, name, wait)
				return number(int64(expr.BoolToInt(got))), err
			}),
		fn("release_lock", "RELEASE_LOCK(name)", "Gives a named lock back: 1; 0 if another session holds it, NULL if nobody does.", named, types.Int64,
			func(c *expr.Context, name string, _ float64) (types.Value, error) {
				released, exists := c.Locks.Release(name)
				if !exists {
					return null, nil
				}
				return number(int64(expr.BoolToInt(released))), nil
			}),
		fn("release_all_locks", "RELEASE_ALL_LOCKS()", "Gives all named locks of the session back; how many there were.", nil, types.Int64,
			func(c *expr.Context, _ string, _ float64) (types.Value, error) {
				return number(c.Locks.ReleaseAll()), nil
			}),
		fn("is_free_lock", "IS_FREE_LOCK(name)", "Whether nobody holds a named lock.", named, types.Int64,
			func(c *expr.Context, name string, _ float64) (types.Value, error) {
				_, held := c.Locks.Holder(name)
				return number(int64(expr.BoolToInt(!held))), nil
			}),
		fn("is_used_lock", "IS_USED_LOCK(name)", "The number of the session that holds a named lock; NULL if nobody does.", named, types.Uint64,
			func(c *expr.Context, name string, _ float64) (types.Value, error) {
				session, held := c.Locks.Holder(name)
				if !held {
					return null, nil
				}
				return number(int64(session)), nil
			}),
	}
}

// codeLockName is MySQL's ER_USER_LOCK_WRONG_NAME.
const codeLockName sqlerr.Code = 3057
