package expr

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Locking functions: locks by names of the program's own choice, which sessions hold (Reference Manual 14.14).

// lockFunctions take and give back locks.
func lockFunctions() []*Function {
	const category = "Locking functions"
	fn := func(name, syntax, doc string, args []types.Type, result types.Type, f func(c *Context, name string, seconds float64) (types.Value, error)) *Function {
		return &Function{Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: len(args), MaxArgs: len(args), Volatile: true, Nulls: NullCustom,
			Resolve: func([]Expr) (Signature, error) { return Signature{Args: args, Result: result, Nullable: true}, nil },
			Eval: func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
				if c.Locks == nil {
					return sqlerr.NotSupportedf(strings.ToUpper(name)+" here", "it needs a session")
				}
				for _, i := range positions(sel, n) {
					lock, seconds := "", 0.0
					if len(args) > 0 {
						lock = strings.ToLower(texts(args[0]).at(int(i)))
						if args[0].IsNull(int(i)) || lock == "" || utf8.RuneCountInString(lock) > 64 {
							return sqlerr.New(codeLockName, sqlerr.User, "Incorrect user-level lock name '%s'.", lock)
						}
					}
					if len(args) > 1 {
						if args[1].IsNull(int(i)) {
							return sqlerr.WrongArguments(name)
						}
						seconds = floats(args[1]).at(int(i))
					}
					v, err := f(c, lock, seconds)
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
	return []*Function{
		fn("get_lock", "GET_LOCK(name, seconds)", "Takes a named lock for the session, and waits for it (negative: however long); 1, or 0 when the time is up.", []types.Type{types.Varchar(0), types.Double}, types.Int64,
			func(c *Context, name string, seconds float64) (types.Value, error) {
				wait := time.Duration(-1)
				if seconds >= 0 {
					wait = time.Duration(min(seconds, 1e9) * float64(time.Second))
				}
				ctx := c.Ctx
				if ctx == nil {
					ctx = context.Background()
				}
				got, err := c.Locks.Get(ctx, name, wait)
				return number(int64(b2i(got))), err
			}),
		fn("release_lock", "RELEASE_LOCK(name)", "Gives a named lock back: 1; 0 if another session holds it, NULL if nobody does.", named, types.Int64,
			func(c *Context, name string, _ float64) (types.Value, error) {
				released, exists := c.Locks.Release(name)
				if !exists {
					return null, nil
				}
				return number(int64(b2i(released))), nil
			}),
		fn("release_all_locks", "RELEASE_ALL_LOCKS()", "Gives all named locks of the session back; how many there were.", nil, types.Int64,
			func(c *Context, _ string, _ float64) (types.Value, error) { return number(c.Locks.ReleaseAll()), nil }),
		fn("is_free_lock", "IS_FREE_LOCK(name)", "Whether nobody holds a named lock.", named, types.Int64,
			func(c *Context, name string, _ float64) (types.Value, error) {
				_, held := c.Locks.Holder(name)
				return number(int64(b2i(!held))), nil
			}),
		fn("is_used_lock", "IS_USED_LOCK(name)", "The number of the session that holds a named lock; NULL if nobody does.", named, types.Uint64,
			func(c *Context, name string, _ float64) (types.Value, error) {
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
