package expr

import (
	"testing"

	"github.com/radish-sql/radish/sql/types"
)

// What MySQL 8.0 answers: a quotient shows four more digits, and computes on with nine, eighteen, ...
func TestQuotientsKeepHiddenDigits(t *testing.T) {
	div := func(a, b any) Expr { return must(NewCall("div", lit(a), lit(b))) }
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{div(1, 3), "0.3333"},
		{must(NewCall("mul", div(1, 3), lit(3))), "1.0000"},
		{must(NewCall("mul", div(2, 3), lit(1000000))), "666666.6660"},
		{must(NewCompare(EQ, must(NewCall("mul", div(1, 3), lit(3))), lit(1))), "0"},
		{must(NewCompare(EQ, div(1, 4), lit(dec("0.25")))), "1"},
		{must(NewCompare(GE, lit(-91), must(NewCall("mul", div(91, 59), lit(-59))))), "0"},
		{must(NewCall("add", div(1, 3), div(1, 3))), "0.6667"},
		{must(NewCall("div", div(10, 3), lit(3))), "1.11111111"},
		{must(NewCall("neg", div(2, 3))), "-0.6667"},
		{must(NewCall("intdiv", must(NewCall("mul", div(1, 3), lit(3000))), lit(1))), "999"},
		{must(NewCall("coalesce", div(1, 3), lit(0))), "0.3333"},
		{must(NewCall("nullif", lit(1), div(3, 3))), "NULL"},
		{must(NewCall("nullif", div(3, 3), lit(1))), "NULL"},
		{must(NewCall("nullif", div(2, 3), div(1, 2))), "0.6667"},
		{must(NewCall("nullif", div(1, 3), lit(dec("0.3333")))), "0.3333"},
		{must(NewCall("nullif", div(1, 3), lit(dec("0.333333333")))), "NULL"},
	} {
		v, err := Eval1(c.e, testContext())
		if err != nil || show(v) != c.want {
			t.Errorf("%s = %s, %v; want %s", c.e, show(v), err, c.want)
		}
	}
	// A quotient that has no room for more digits than it shows is rounded.
	wide := NewCast(lit(2), types.Decimal(38, 4))
	v, err := Eval1(must(NewCall("div", wide, NewCast(lit(3), types.Decimal(38, 4)))), testContext())
	if err != nil || show(v) != "0.66666667" {
		t.Errorf("2/3 of wide decimals = %s (%s), %v", show(v), v.Type, err)
	}
}
