package expr_test

import (
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// What MySQL 8.0 answers: a quotient shows four more digits, and computes on with nine, eighteen, ...
func TestQuotientsKeepHiddenDigits(t *testing.T) {
	div := func(a, b any) expr.Expr { return exprtest.Must(expr.NewCall("div", exprtest.Lit(a), exprtest.Lit(b))) }
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{div(1, 3), "0.3333"},
		{exprtest.Must(expr.NewCall("mul", div(1, 3), exprtest.Lit(3))), "1.0000"},
		{exprtest.Must(expr.NewCall("mul", div(2, 3), exprtest.Lit(1000000))), "666666.6660"},
		{exprtest.Must(expr.NewCompare(expr.EQ, exprtest.Must(expr.NewCall("mul", div(1, 3), exprtest.Lit(3))), exprtest.Lit(1))), "0"},
		{exprtest.Must(expr.NewCompare(expr.EQ, div(1, 4), exprtest.Lit(exprtest.Dec("0.25")))), "1"},
		{exprtest.Must(expr.NewCompare(expr.GE, exprtest.Lit(-91), exprtest.Must(expr.NewCall("mul", div(91, 59), exprtest.Lit(-59))))), "0"},
		{exprtest.Must(expr.NewCall("add", div(1, 3), div(1, 3))), "0.6667"},
		{exprtest.Must(expr.NewCall("div", div(10, 3), exprtest.Lit(3))), "1.11111111"},
		{exprtest.Must(expr.NewCall("neg", div(2, 3))), "-0.6667"},
		{exprtest.Must(expr.NewCall("intdiv", exprtest.Must(expr.NewCall("mul", div(1, 3), exprtest.Lit(3000))), exprtest.Lit(1))), "999"},
		{exprtest.Must(expr.NewCall("coalesce", div(1, 3), exprtest.Lit(0))), "0.3333"},
		{exprtest.Must(expr.NewCall("nullif", exprtest.Lit(1), div(3, 3))), "NULL"},
		{exprtest.Must(expr.NewCall("nullif", div(3, 3), exprtest.Lit(1))), "NULL"},
		{exprtest.Must(expr.NewCall("nullif", div(2, 3), div(1, 2))), "0.6667"},
		{exprtest.Must(expr.NewCall("nullif", div(1, 3), exprtest.Lit(exprtest.Dec("0.3333")))), "0.3333"},
		{exprtest.Must(expr.NewCall("nullif", div(1, 3), exprtest.Lit(exprtest.Dec("0.333333333")))), "NULL"},
	} {
		v, err := expr.Eval1(c.e, exprtest.NewContext())
		if err != nil || exprtest.Show(v) != c.want {
			t.Errorf("%s = %s, %v; want %s", c.e, exprtest.Show(v), err, c.want)
		}
	}
	// A quotient that cannot hold more digits than it shows is rounded.
	wide := expr.NewCast(exprtest.Lit(2), types.Decimal(38, 4))
	v, err := expr.Eval1(exprtest.Must(expr.NewCall("div", wide, expr.NewCast(exprtest.Lit(3), types.Decimal(38, 4)))), exprtest.NewContext())
	if err != nil || exprtest.Show(v) != "0.66666667" {
		t.Errorf("2/3 of wide decimals = %s (%s), %v", exprtest.Show(v), v.Type, err)
	}
}

// Where the digits of a quotient count beyond those that are shown, and where they do not. MySQL 8.0's source says so
// (Item_func_numhybrid::val_str rounds, val_decimal does not), and MariaDB answers the same but for comparisons, which it rounds.
func TestWhereHiddenDigitsCount(t *testing.T) {
	third := exprtest.Must(expr.NewCall("div", exprtest.Lit(1), exprtest.Lit(3)))
	twoThirds := exprtest.Must(expr.NewCall("div", exprtest.Lit(2), exprtest.Lit(3)))
	one := exprtest.Must(expr.NewCall("mul", third, exprtest.Lit(3))) // 0.999999999, shown as 1.0000
	call := func(name string, args ...expr.Expr) expr.Expr { return exprtest.Must(expr.NewCall(name, args...)) }
	text := types.Varchar(30)
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		// Strings, JSON: as it is shown.
		{call("concat", twoThirds), "0.6667"}, {call("concat", one, one), "1.00001.0000"}, {expr.NewCast(twoThirds, text), "0.6667"}, {expr.NewCast(one, types.Text), "1.0000"},
		{expr.NewCast(one, types.Blob), "1.0000"}, {expr.NewCast(one, types.Char(3)), "1.0"}, {exprtest.Must(expr.NewLike(one, exprtest.Lit("1%"), exprtest.Lit("\\"))), "1"}, {call("length", twoThirds), "6"},
		{call("md5", one), "4e1a5e22b549a15d7d232566af3e3628"}, {call("replace", twoThirds, exprtest.Lit("6"), exprtest.Lit("x")), "0.xxx7"}, {call("json_array", one), "[1.0000]"}, {call("reverse", twoThirds), "7666.0"},
		{call("strcmp", one, exprtest.Lit("1.0000")), "0"}, {call("concat_ws", exprtest.Lit("-"), one, exprtest.Lit(1)), "1.0000-1"}, {call("left", one, exprtest.Lit(1)), "1"}, {call("instr", one, exprtest.Lit("9")), "0"},
		{call("lower", call("neg", twoThirds)), "-0.6667"}, {call("concat", call("abs", call("neg", twoThirds))), "0.6667"}, {call("find_in_set", one, exprtest.Lit("0.999999999,1.0000")), "2"},
		{call("concat", call("add", third, third)), "0.6667"}, {call("elt", exprtest.Lit(1), one), "1.0000"}, {call("hex", call("concat", one)), "312E30303030"},
		// Arithmetic, and what is ABS of it.
		{call("mul", call("abs", third), exprtest.Lit(3)), "1.0000"}, {call("add", third, exprtest.Lit(exprtest.Dec("0.00000000001"))), "0.33333333301"}, {call("sub", one, exprtest.Lit(exprtest.Dec("0.9999999990000"))), "0.0000000000000"},
		// What rounds.
		{call("floor", one), "0"}, {call("ceil", one), "1"}, {call("round", one), "1"}, {call("truncate", one, exprtest.Lit(0)), "0"}, {call("truncate", twoThirds, exprtest.Lit(4)), "0.6666"}, {call("truncate", twoThirds, exprtest.Lit(8)), "0.6666"},
		{call("round", twoThirds, exprtest.Lit(8)), "0.6667"}, {call("round", twoThirds, exprtest.Lit(2)), "0.67"}, {call("round", call("div", exprtest.Lit(1), exprtest.Lit(201)), exprtest.Lit(2)), "0.00"}, {call("sign", call("sub", one, exprtest.Lit(1))), "-1"},
		{call("format", twoThirds, exprtest.Lit(8)), "0.66666667"},
		// Casts to numbers, comparisons as numbers.
		{expr.NewCast(one, types.Decimal(20, 10)), "0.9999999990"}, {expr.NewCast(one, types.Double), "0.999999999"}, {expr.NewCast(one, types.Int64), "1"},
		{exprtest.Must(expr.NewCompare(expr.LT, one, exprtest.Lit(1))), "1"}, {exprtest.Must(expr.NewIn(nil, one, []expr.Expr{exprtest.Lit(1), exprtest.Lit(2)})), "0"}, {exprtest.Must(expr.NewBetween(one, exprtest.Lit(1), exprtest.Lit(2))), "0"}, {exprtest.Must(expr.NewCompare(expr.EQ, one, exprtest.Lit("1"))), "0"},
		// What chooses hands them on.
		{call("mul", call("if", exprtest.Lit(1), third, exprtest.Lit(0)), exprtest.Lit(3)), "1.0000"}, {call("mul", call("coalesce", third, exprtest.Lit(0)), exprtest.Lit(3)), "1.0000"},
		{call("mul", call("nullif", third, exprtest.Lit(0)), exprtest.Lit(3)), "1.0000"}, {call("mul", call("greatest", third, exprtest.Lit(exprtest.Dec("0.33333"))), exprtest.Lit(3)), "1.00000"},
		{call("mul", exprtest.Must(expr.NewCase([]expr.When{{Cond: exprtest.Lit(1), Then: third}}, exprtest.Lit(0))), exprtest.Lit(3)), "1.0000"}, {call("concat", call("if", exprtest.Lit(1), twoThirds, exprtest.Lit(0))), "0.6667"},
		{call("nullif", one, exprtest.Lit(exprtest.Dec("0.999999999"))), "NULL"},
		// Elsewhere as it is shown.
		{call("coalesce", one, exprtest.Lit(5)), "1.0000"}, {call("greatest", one, exprtest.Lit(0)), "1.0000"},
	} {
		v, err := expr.Eval1(c.e, exprtest.NewContext())
		if err != nil || exprtest.Show(v) != c.want {
			t.Errorf("%s = %s, %v; want %s", c.e, exprtest.Show(v), err, c.want)
		}
	}
}
