package lookup

import (
	"context"
	"errors"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// TestLookupOfEndedStatement cancels statements, and takes their memory away, before and while they make a table of an expression's values. That is the
// statement's error; the next one makes the table.
func TestLookupOfEndedStatement(t *testing.T) {
	words := make([]string, chunk+10)
	for i := range words {
		words[i] = string(rune('a'+i%26)) + types.IntValue(int64(i)).Text()
	}
	dict := column.NewDictionary(words...)
	col := &expr.Column{ID: 1, Name: "s", Typ: types.Varchar(20)}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	calls, stop := 0, func() {}
	e := &expr.Call{Typ: types.Int64, Args: []expr.Expr{col}, Fn: &expr.Function{
		Name: "probed", Nulls: expr.NullCustom,
		Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, _ []int32, n int) error {
			calls++
			stop()
			for i := range n {
				out.I64[i] = int64(len(args[0].Str[i]))
			}
			return c.Interrupted()
		},
	}}
	cache := New(1 << 20)
	of := func(ctx *expr.Context) error {
		_, err := cache.Answers().Of(e, col, dict, false, ctx)
		return err
	}
	if err := of(&expr.Context{Ctx: cancelled}); !errors.Is(err, sqlerr.Cancelled) || calls != 0 {
		t.Errorf("a statement that has ended: %v after %d calls", err, calls)
	}
	during, cancel := context.WithCancel(t.Context())
	stop = cancel
	if err := of(&expr.Context{Ctx: during}); !errors.Is(err, sqlerr.Cancelled) || calls != 1 {
		t.Errorf("a statement that ends meanwhile: %v after %d calls", err, calls)
	}
	stop = func() {}
	for range 2 {
		if err := of(&expr.Context{Ctx: t.Context()}); err != nil || calls != 3 {
			t.Errorf("the next statement: %v after %d calls", err, calls)
		}
	}
	if cache.recent.Len() != 1 || len(cache.entries) != 1 || cache.bytes < 8*len(words) {
		t.Errorf("%d entries of %d bytes are kept", cache.recent.Len(), cache.bytes)
	}
}

// TestAnswersStay asks for tables, a dictionary and an enumeration again once strings have come and the statement has ended: nothing that was decided by the first answers may be otherwise.
func TestAnswersStay(t *testing.T) {
	dict := column.NewDictionary("a", "b")
	col := &expr.Column{ID: 1, Name: "s", Typ: types.Varchar(20)}
	e := &expr.Compare{Op: expr.GT, Left: col, Right: &expr.Const{Value: types.StringValue("a")}}
	ctx, cancel := context.WithCancel(t.Context())
	asked := &expr.Context{Ctx: ctx}
	a := New(1).Answers() // the cache keeps one thing
	table, err := a.Of(e, col, dict, false, asked)
	if err != nil || table.Entries != 2 {
		t.Fatalf("%v, %v", table, err)
	}
	union := a.Union(dict, []string{"z"})
	dict.Add("c")
	cancel()
	a.Strings(dict) // which it keeps now
	if again, err := a.Of(e, col, dict, false, asked); err != nil || again != table {
		t.Errorf("another table, %v", err)
	}
	if other, err := a.Of(e, col, dict, true, asked); err != nil || other.Entries != 2 || !other.NullGivesNull {
		t.Errorf("with NULL: %v, %v", other, err)
	}
	if again := a.Union(dict, []string{"z"}); again != union || a.Union(dict, []string{"y"}) == union {
		t.Error("another dictionary")
	}
	a.Forget()
	if _, err := a.Of(e, col, dict, false, asked); !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("another program's first question: %v", err)
	}
}
