package expr_test

import (
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// IS TRUE and IS FALSE (Reference Manual 14.4.2): 0.3 and a BOOLEAN that holds 2 are true.
func TestIsTruth(t *testing.T) {
	for _, c := range []struct {
		x             any
		isTrue, isNot string
	}{
		{1, "1", "0"}, {0, "0", "1"}, {nil, "0", "0"}, {exprtest.Dec("0.3"), "1", "0"}, {0.0, "0", "1"}, {"2abc", "1", "0"},
		{types.Value{Type: types.Bool, I: 2}, "1", "0"},
	} {
		for i, want := range []string{c.isTrue, c.isNot} {
			e := expr.IsTruth(exprtest.Lit(c.x), i == 0)
			v, err := expr.Eval1(e, exprtest.NewContext())
			if err != nil || exprtest.Show(v) != want || e.Nullable() {
				t.Errorf("%s = %s, %v (nullable %v); want %s", e, exprtest.Show(v), err, e.Nullable(), want)
			}
		}
	}
}

// A TIMESTAMP is shown, taken apart and compared in the session's time zone.
func TestTimestampsUseTheSessionsZone(t *testing.T) {
	ts := &expr.Const{Value: types.Value{Type: types.Type{Kind: types.KindTimestamp}, I: 1_700_000_000 * types.MicrosPerSecond}} // 2023-11-14 22:13:20 UTC
	c := exprtest.NewContext()
	c.Location = time.FixedZone("", 2*3600)
	for _, x := range []struct {
		e    expr.Expr
		want string
	}{
		{expr.NewCast(ts, types.Datetime), "2023-11-15 00:13:20"},
		{expr.NewCast(ts, types.Text), "2023-11-15 00:13:20"},
		{exprtest.Must(expr.NewCall("dayofmonth", ts)), "15"},
		{exprtest.Must(expr.NewCompare(expr.EQ, ts, exprtest.Lit("2023-11-15 00:13:20"))), "1"},
		{expr.NewCast(exprtest.Lit("2023-11-15 00:13:20"), ts.Value.Type), "2023-11-14 22:13:20"},
	} {
		v, err := expr.Eval1(x.e, c)
		if err != nil || exprtest.Show(v) != x.want {
			t.Errorf("%s = %s, %v; want %s", x.e, exprtest.Show(v), err, x.want)
		}
	}
}

// Operators print as they are written, with the parentheses that they need.
func TestPrinting(t *testing.T) {
	a := &expr.Column{ID: 1, Table: "t", Name: "a", Typ: types.Int64}
	d := &expr.Column{ID: 2, Name: "d", Typ: types.Date}
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{exprtest.Must(expr.NewCall("mul", exprtest.Must(expr.NewCall("add", a, exprtest.Lit(1))), exprtest.Must(expr.NewCall("neg", a)))), "(t.a + 1) * (-t.a)"},
		{exprtest.Must(expr.NewCall("date_sub", d, exprtest.Lit(3), exprtest.Lit("MONTH"))), "d - INTERVAL 3 MONTH"},
		{exprtest.Must(expr.NewCall("extract", exprtest.Lit("YEAR"), d)), "extract(YEAR FROM d)"},
		{exprtest.Must(expr.NewLike(exprtest.Lit("a"), exprtest.Lit("b%"), exprtest.Lit("\\"))), "'a' LIKE 'b%'"},
		{exprtest.Must(expr.NewLike(exprtest.Lit("a"), exprtest.Lit("b%"), exprtest.Lit("|"))), "'a' LIKE 'b%' ESCAPE '|'"},
		{&expr.Not{Arg: exprtest.Must(expr.NewIn(nil, a, []expr.Expr{exprtest.Lit(1), exprtest.Lit(nil)}))}, "NOT (t.a IN (1, NULL))"},
		{exprtest.Must(expr.NewCall("coalesce", a, exprtest.Lit(0))), "coalesce(t.a, 0)"},
	} {
		if c.e.String() != c.want {
			t.Errorf("got %s, want %s", c.e, c.want)
		}
	}
}
