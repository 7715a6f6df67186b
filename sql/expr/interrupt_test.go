package expr_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// A function that works on one long text ends soon after its statement has been cancelled, and gives the same as on a short one if it
// has not.
func TestLongTextsAreInterrupted(t *testing.T) {
	long := "[" + strings.Repeat("1,", 2_50_000) + "1]"
	for _, tc := range []struct {
		name string
		args []any
		want string // of the first characters of the result
	}{
		{"json_pretty", []any{long}, "[\n  1,\n"},
		{"json_valid", []any{long}, "1"},
		{"json_extract", []any{long, "$[7]"}, "1"},
		{"json_array", []any{long}, `["[1,1,`},
		{"regexp", []any{long, "(1|,1)*b"}, "0"},
		{"regexp", []any{long, "(1|,1)*]"}, "1"},
		{"replace", []any{long, "1", "12"}, "[12,12,"},
		{"sha2", []any{long, 256}, ""},
		{"compress", []any{long}, ""},
	} {
		args := make([]expr.Expr, len(tc.args))
		for i, a := range tc.args {
			switch x := a.(type) {
			case string:
				args[i] = &expr.Const{Value: types.StringValue(x)}
			case int:
				args[i] = &expr.Const{Value: types.IntValue(int64(x))}
			}
		}
		e, err := expr.NewCall(tc.name, args...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		start := time.Now()
		v, err := expr.Eval1(e, &expr.Context{Ctx: ctx})
		whole := time.Since(start)
		if got := v.Text(); err != nil || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %.20s, %v", tc.name, got, err)
		}
		time.AfterFunc(whole/5, cancel)
		start = time.Now()
		_, err = expr.Eval1(e, &expr.Context{Ctx: ctx})
		took := time.Since(start)
		cancel()
		if whole > 50*time.Millisecond && err == nil && tc.name != "json_array" {
			t.Errorf("%s: cancelled after %v, it went on for %v of %v", tc.name, whole/5, took, whole)
		}
		if err != nil && sqlerr.From(err).Kind != sqlerr.Cancelled {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// Of keys that stand twice in an object the last counts, in whatever order and number they come (Reference Manual 13.5).
func TestLargeObjects(t *testing.T) {
	const n = 50_000
	var b strings.Builder
	b.WriteString("{")
	for i := range n { // 7919 and n share no factor
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`"k` + types.IntValue(int64(i*7919%n)).Text() + `":` + types.IntValue(int64(i)).Text())
	}
	b.WriteString(`,"k5":"last"}`)
	doc := &expr.Const{Value: types.StringValue(b.String())}
	for _, tc := range []struct{ path, want string }{{"$.k5", `"last"`}, {"$.k7919", "1"}} {
		e, err := expr.NewCall("json_extract", doc, &expr.Const{Value: types.StringValue(tc.path)})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := expr.Eval1(e, &expr.Context{}); err != nil || v.Text() != tc.want {
			t.Errorf("%s: %s, %v; want %s", tc.path, v.Text(), err, tc.want)
		}
	}
	e, err := expr.NewCall("json_length", doc)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := expr.Eval1(e, &expr.Context{}); err != nil || v.I != n {
		t.Errorf("%d members, %v; want %d", v.I, err, n)
	}
}
