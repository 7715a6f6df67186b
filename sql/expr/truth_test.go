package expr

import (
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/types"
)

// IS TRUE and IS FALSE (Reference Manual 14.4.2): 0.3 and a BOOLEAN that holds 2 are true.
func TestIsTruth(t *testing.T) {
	for _, c := range []struct {
		x             any
		isTrue, isNot string
	}{
		{1, "1", "0"}, {0, "0", "1"}, {nil, "0", "0"}, {dec("0.3"), "1", "0"}, {0.0, "0", "1"}, {"2abc", "1", "0"},
		{types.Value{Type: types.Bool, I: 2}, "1", "0"},
	} {
		for i, want := range []string{c.isTrue, c.isNot} {
			e := IsTruth(lit(c.x), i == 0)
			v, err := Eval1(e, testContext())
			if err != nil || show(v) != want || e.Nullable() {
				t.Errorf("%s = %s, %v (nullable %v); want %s", e, show(v), err, e.Nullable(), want)
			}
		}
	}
}

// A TIMESTAMP is shown, taken apart and compared in the session's time zone.
func TestTimestampsUseTheSessionsZone(t *testing.T) {
	ts := &Const{types.Value{Type: types.Type{Kind: types.KindTimestamp}, I: 1_700_000_000 * types.MicrosPerSecond}} // 2023-11-14 22:13:20 UTC
	c := testContext()
	c.Location = time.FixedZone("", 2*3600)
	for _, x := range []struct {
		e    Expr
		want string
	}{
		{NewCast(ts, types.Datetime), "2023-11-15 00:13:20"},
		{NewCast(ts, types.Text), "2023-11-15 00:13:20"},
		{must(NewCall("dayofmonth", ts)), "15"},
		{must(NewCompare(EQ, ts, lit("2023-11-15 00:13:20"))), "1"},
		{NewCast(lit("2023-11-15 00:13:20"), ts.Value.Type), "2023-11-14 22:13:20"},
	} {
		v, err := Eval1(x.e, c)
		if err != nil || show(v) != x.want {
			t.Errorf("%s = %s, %v; want %s", x.e, show(v), err, x.want)
		}
	}
}

// Operators print as they are written, with the parentheses that they need.
func TestPrinting(t *testing.T) {
	a := &Column{ID: 1, Table: "t", Name: "a", Typ: types.Int64}
	d := &Column{ID: 2, Name: "d", Typ: types.Date}
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{must(NewCall("mul", must(NewCall("add", a, lit(1))), must(NewCall("neg", a)))), "(t.a + 1) * (-t.a)"},
		{must(NewCall("date_sub", d, lit(3), lit("MONTH"))), "d - INTERVAL 3 MONTH"},
		{must(NewCall("extract", lit("YEAR"), d)), "extract(YEAR FROM d)"},
		{must(NewLike(lit("a"), lit("b%"), lit("\\"))), "'a' LIKE 'b%'"},
		{must(NewLike(lit("a"), lit("b%"), lit("|"))), "'a' LIKE 'b%' ESCAPE '|'"},
		{&Not{must(NewIn(nil, a, []Expr{lit(1), lit(nil)}))}, "NOT (t.a IN (1, NULL))"},
		{must(NewCall("coalesce", a, lit(0))), "coalesce(t.a, 0)"},
	} {
		if c.e.String() != c.want {
			t.Errorf("got %s, want %s", c.e, c.want)
		}
	}
}
