package expr_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// A function that works on one long text looks again and again whether its statement has been cancelled, and ends at once if it has.
func TestLongStringsAreInterrupted(t *testing.T) {
	long, medium := "["+strings.Repeat("1234567,", 600_000)+"1]", "["+strings.Repeat("1234567,", 50_000)+"1]"
	for _, tc := range []struct {
		name string
		args []any
		want string // of the first characters of the result
	}{
		{"json_pretty", []any{medium}, "[\n  1234567,\n"},
		{"json_valid", []any{long}, "1"},
		{"json_extract", []any{long, "$[7]"}, "1234567"},
		{"regexp", []any{medium, "(7,|1)*b"}, "0"},
		{"regexp", []any{medium, "(7,|1)*]"}, "1"},
		{"replace", []any{long, "1", "12"}, "[12234567,12"},
		{"sha2", []any{long, 256}, ""},
		{"compress", []any{long}, ""},
		{"md5", []any{long}, ""},
		{"sha1", []any{long}, ""},
		{"upper", []any{"ä" + long}, "Ä[1234567,"},
		{"lower", []any{"Ä" + long}, "ä[1234567,"},
		{"reverse", []any{long}, "]1,7654321,"},
		{"soundex", []any{"b" + long}, "B000"},
		{"hex", []any{long}, "5B3132"},
		{"to_base64", []any{long}, "WzEyMzQ1Njcs"},
		{"convert", []any{"ä" + long, "ascii"}, "?[1234567,"},
		{"trim", []any{strings.Repeat("12", 3<<20) + "x", "12", "LEADING"}, "x"},
		{"substring_index", []any{long, ",", 600_000}, "[1234567,"},
		{"substring_index", []any{long, ",", -600_000}, "1234567,"},
		{"locate", []any{"X1", expr.Collate(&expr.Const{Value: types.StringValue(medium + "x1")}, types.CollationGeneralCI)}, "400004"},
		{"regexp_replace", []any{long, "[^,]+,", ""}, "1]"},
		{"regexp_substr", []any{long, "1]"}, "1]"},
		{"regexp_instr", []any{long, "z+"}, "0"},
		{"find_in_set", []any{"X", expr.Collate(&expr.Const{Value: types.StringValue(medium + ",x")}, types.CollationGeneralCI)}, "50002"},
	} {
		args := make([]expr.Expr, len(tc.args))
		for i, a := range tc.args {
			switch x := a.(type) {
			case string:
				args[i] = &expr.Const{Value: types.StringValue(x)}
			case int:
				args[i] = &expr.Const{Value: types.IntValue(int64(x))}
			case expr.Expr:
				args[i] = x
			}
		}
		e, err := expr.NewCall(tc.name, args...)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &countingContext{Context: context.Background(), left: 1 << 30}
		v, err := expr.Eval1(e, &expr.Context{Ctx: ctx})
		if got := v.Text(); err != nil || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %.20s, %v", tc.name, got, err)
		}
		looks := 1<<30 - ctx.left
		if looks < 4 { // strings that were made are counted, which is a look or two
			t.Errorf("%s: it looked %d times whether its statement goes on", tc.name, looks)
			continue
		}
		ctx.left = looks / 2
		if _, err = expr.Eval1(e, &expr.Context{Ctx: ctx}); err == nil || sqlerr.From(err).Kind != sqlerr.Cancelled || ctx.left < -4 {
			t.Errorf("%s: cancelled, it looked %d times more, and gave %v", tc.name, -ctx.left, err)
		}
	}
}

// A long constant is compiled without work on each of its characters.
func TestLongConstants(t *testing.T) {
	long := strings.Repeat("Ελληνικά ", 1<<20)
	quoted := strconv.Quote(long)
	e, err := expr.NewCall("length", &expr.Const{Value: types.StringValue(long)})
	if err != nil {
		t.Fatal(err)
	}
	var took, quoting time.Duration
	for range 10 { // other programs may delay either
		begin := time.Now()
		v, err := expr.Eval1(e, &expr.Context{})
		evaluated := time.Now()
		strconv.Quote(long)
		took, quoting = evaluated.Sub(begin), time.Since(evaluated)
		if err != nil || v.I != int64(len(quoted)-2) {
			t.Fatalf("%v, %v; want %d", v.I, err, len(quoted)-2)
		}
		if took <= quoting/2 {
			return
		}
	}
	t.Errorf("LENGTH of a constant took %v, where quoting it takes %v, and so each time before", took, quoting)
}

// countingContext is cancelled when somebody has looked at it often enough.
type countingContext struct {
	context.Context
	left int
}

// Err is that of a context.
func (c *countingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
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
