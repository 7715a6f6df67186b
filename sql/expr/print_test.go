package expr_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Printing takes memory in proportion to the text, whatever the nodes are and however deep they lie.
func TestPrintingIsLinear(t *testing.T) {
	column := &expr.Column{ID: 1, Name: "a", Typ: types.Int64}
	one := &expr.Const{Value: types.IntValue(1)}
	call := func(name string, args ...expr.Expr) expr.Expr {
		e, err := expr.NewCall(name, args...)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, c := range []struct {
		deepen     func(e expr.Expr) expr.Expr
		open, rest string // around the inner text
	}{
		{func(e expr.Expr) expr.Expr { return &expr.Compare{Op: expr.LE, Left: e, Right: one} }, "(", ") <= 1"},
		{func(e expr.Expr) expr.Expr { return &expr.Or{Args: []expr.Expr{one, &expr.Not{Arg: e}}} }, "1 OR (NOT (", "))"},
		{func(e expr.Expr) expr.Expr { return &expr.IsNull{Arg: e} }, "(", ") IS NULL"},
		{func(e expr.Expr) expr.Expr {
			return &expr.In{Arg: e, List: []types.Value{types.IntValue(7)}, HasNull: true}
		}, "(", ") IN (7, NULL)"},
		{func(e expr.Expr) expr.Expr {
			return &expr.Case{Whens: []expr.When{{Cond: column, Then: one}}, Else: e, Typ: types.Int64}
		}, "CASE WHEN a THEN 1 ELSE ", " END"},
		{func(e expr.Expr) expr.Expr { return &expr.Cast{Arg: e, To: types.Int64} }, "CAST(", " AS BIGINT)"},
		{func(e expr.Expr) expr.Expr { return call("ifnull", e, one) }, "ifnull(", ", 1)"},
		{func(e expr.Expr) expr.Expr { return call("mod", e, one) }, "(", ") % 1"},
	} {
		const depth = 1000
		e := c.deepen(column)
		inner := e.String()
		for range depth {
			e = c.deepen(e)
		}
		want := strings.Repeat(c.open, depth) + inner + strings.Repeat(c.rest, depth)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := e.String()
		runtime.ReadMemStats(&after)
		if got != want {
			t.Errorf("%.60s ... is printed, expected %.60s ...", got, want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(20*len(want)+depth*100) { // a copy at each level is 500 times the text
			t.Errorf("%.40s...: %d bytes are allocated for a text of %d", want, took, len(want))
		}
	}
}
