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

// Where the digits of a quotient count beyond those that are shown, and where they do not. MySQL 8.0's source says so
// (Item_func_numhybrid::val_str rounds, val_decimal does not), and MariaDB answers the same but for comparisons, which it rounds.
func TestWhereHiddenDigitsCount(t *testing.T) {
	third := must(NewCall("div", lit(1), lit(3)))
	twoThirds := must(NewCall("div", lit(2), lit(3)))
	one := must(NewCall("mul", third, lit(3))) // 0.999999999, shown as 1.0000
	call := func(name string, args ...Expr) Expr { return must(NewCall(name, args...)) }
	text := types.Varchar(30)
	for _, c := range []struct {
		e    Expr
		want string
	}{
		// Texts, JSON: as it is shown.
		{call("concat", twoThirds), "0.6667"}, {call("concat", one, one), "1.00001.0000"}, {NewCast(twoThirds, text), "0.6667"}, {NewCast(one, types.Text), "1.0000"},
		{NewCast(one, types.Blob), "1.0000"}, {NewCast(one, types.Char(3)), "1.0"}, {must(NewLike(one, lit("1%"), lit("\\"))), "1"}, {call("length", twoThirds), "6"},
		{call("md5", one), "4e1a5e22b549a15d7d232566af3e3628"}, {call("replace", twoThirds, lit("6"), lit("x")), "0.xxx7"}, {call("json_array", one), "[1.0000]"}, {call("reverse", twoThirds), "7666.0"},
		{call("strcmp", one, lit("1.0000")), "0"}, {call("concat_ws", lit("-"), one, lit(1)), "1.0000-1"}, {call("left", one, lit(1)), "1"}, {call("instr", one, lit("9")), "0"},
		{call("lower", call("neg", twoThirds)), "-0.6667"}, {call("concat", call("abs", call("neg", twoThirds))), "0.6667"}, {call("find_in_set", one, lit("0.999999999,1.0000")), "2"},
		{call("concat", call("add", third, third)), "0.6667"}, {call("elt", lit(1), one), "1.0000"}, {call("hex", call("concat", one)), "312E30303030"},
		// Arithmetic, and what is ABS of it.
		{call("mul", call("abs", third), lit(3)), "1.0000"}, {call("add", third, lit(dec("0.00000000001"))), "0.33333333301"}, {call("sub", one, lit(dec("0.9999999990000"))), "0.0000000000000"},
		// What rounds.
		{call("floor", one), "0"}, {call("ceil", one), "1"}, {call("round", one), "1"}, {call("truncate", one, lit(0)), "0"}, {call("truncate", twoThirds, lit(4)), "0.6666"}, {call("truncate", twoThirds, lit(8)), "0.6666"},
		{call("round", twoThirds, lit(8)), "0.6667"}, {call("round", twoThirds, lit(2)), "0.67"}, {call("round", call("div", lit(1), lit(201)), lit(2)), "0.00"}, {call("sign", call("sub", one, lit(1))), "-1"},
		{call("format", twoThirds, lit(8)), "0.66666667"},
		// Casts to numbers, comparisons as numbers.
		{NewCast(one, types.Decimal(20, 10)), "0.9999999990"}, {NewCast(one, types.Double), "0.999999999"}, {NewCast(one, types.Int64), "1"},
		{must(NewCompare(LT, one, lit(1))), "1"}, {must(NewIn(nil, one, []Expr{lit(1), lit(2)})), "0"}, {must(NewBetween(one, lit(1), lit(2))), "0"}, {must(NewCompare(EQ, one, lit("1"))), "0"},
		// Elsewhere as it is shown.
		{call("coalesce", one, lit(5)), "1.0000"}, {call("mul", call("if", lit(1), third, lit(0)), lit(3)), "0.9999"}, {call("greatest", one, lit(0)), "1.0000"},
	} {
		v, err := Eval1(c.e, testContext())
		if err != nil || show(v) != c.want {
			t.Errorf("%s = %s, %v; want %s", c.e, show(v), err, c.want)
		}
	}
}
