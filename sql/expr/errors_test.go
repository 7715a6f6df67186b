package expr_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

func TestOverflowIsAnError(t *testing.T) {
	const most = 9223372036854775807
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{exprtest.Must(expr.NewCall("add", exprtest.Lit(int64(most)), exprtest.Lit(1))), "BIGINT value is out of range in '(9223372036854775807 + 1)'"},
		{exprtest.Must(expr.NewCall("sub", exprtest.Lit(-most), exprtest.Lit(2))), "BIGINT value is out of range in '(-9223372036854775807 - 2)'"},
		{exprtest.Must(expr.NewCall("mul", exprtest.Lit(int64(most)), exprtest.Lit(2))), "BIGINT value is out of range in '(9223372036854775807 * 2)'"},
		{exprtest.Must(expr.NewCall("sub", exprtest.Lit(uint64(1)), exprtest.Lit(uint64(2)))), "BIGINT UNSIGNED value is out of range in '(1 - 2)'"},
		{exprtest.Must(expr.NewCall("add", exprtest.Lit(uint64(1<<64-1)), exprtest.Lit(1))), "BIGINT UNSIGNED value is out of range in '(18446744073709551615 + 1)'"},
		{exprtest.Must(expr.NewCall("intdiv", exprtest.Lit(int64(-most-1)), exprtest.Lit(-1))), "BIGINT value is out of range in '(-9223372036854775808 DIV -1)'"},
		{exprtest.Must(expr.NewCall("neg", exprtest.Lit(int64(-most-1)))), "BIGINT value is out of range in '--9223372036854775808'"},
		{exprtest.Must(expr.NewCall("mul", exprtest.Lit(1e308), exprtest.Lit(10))), "DOUBLE value is out of range in '(1e308 * 10)'"},
		{exprtest.Must(expr.NewCall("exp", exprtest.Lit(1000))), "DOUBLE value is out of range in 'exp(1000)'"},
		{exprtest.Must(expr.NewCall("mul", exprtest.Lit(exprtest.Dec(strings.Repeat("9", 38))), exprtest.Lit(10))), "DECIMAL value is out of range in '(" + strings.Repeat("9", 38) + " * 10)'"},
	} {
		_, err := expr.Eval1(c.e, exprtest.NewContext())
		if !errors.Is(err, sqlerr.CodeDataOutOfRange) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.e, err, c.want)
		}
		if f := expr.Fold(c.e, exprtest.NewContext()); !expr.Equal(f, c.e) {
			t.Errorf("%s folds to %s", c.e, f)
		}
	}
}

// An error is raised only for rows that are selected and reach the expression.
func TestErrorsOnlyOfRowsThatGetThere(t *testing.T) {
	a := &expr.Column{ID: 1, Name: "a", Typ: types.Int64, Null: true}
	b := &column.Batch{N: 4, Cols: []*column.Vector{{Type: types.Int64, I64: []int64{1, 1 << 62, 3, 1 << 62}, Valid: column.Bitmap{0b0111}}}}
	slots := map[expr.ColumnID]int{1: 0}
	square := exprtest.Must(expr.NewCall("mul", a, a))
	guard := exprtest.Must(expr.NewCompare(expr.LT, a, exprtest.Lit(1000)))
	for _, c := range []struct {
		e    expr.Expr
		sel  []int32
		fail bool
	}{
		{square, nil, true},
		{square, []int32{0, 2, 3}, false}, // row 3 is NULL, whatever its slot holds
		{exprtest.Must(expr.NewCase([]expr.When{{Cond: guard, Then: square}}, exprtest.Lit(0))), nil, false},
		{exprtest.Must(expr.NewCall("if", guard, square, exprtest.Lit(0))), nil, false},
		{&expr.And{Args: []expr.Expr{guard, exprtest.Must(expr.NewCompare(expr.GT, square, exprtest.Lit(0)))}}, nil, false},
		{&expr.And{Args: []expr.Expr{exprtest.Must(expr.NewCompare(expr.GT, square, exprtest.Lit(0))), guard}}, nil, true},
		{&expr.Or{Args: []expr.Expr{&expr.Not{Arg: guard}, exprtest.Must(expr.NewCompare(expr.GT, square, exprtest.Lit(0)))}}, nil, false},
		{exprtest.Must(expr.NewCall("coalesce", a, square)), nil, false},
	} {
		p, err := expr.Compile(c.e, slots)
		if err != nil {
			t.Fatal(err)
		}
		batch := *b
		batch.Sel = c.sel
		if _, err = p.Eval(exprtest.NewContext(), &batch); (err != nil) != c.fail {
			t.Errorf("%s over %v: %v", c.e, c.sel, err)
		}
		if c.e.Type().Kind == types.KindBool {
			if _, err = p.Select(exprtest.NewContext(), &batch, nil); (err != nil) != c.fail {
				t.Errorf("selecting %s over %v: %v", c.e, c.sel, err)
			}
		}
	}
}

func TestDivisionByZero(t *testing.T) {
	for _, fn := range []string{"div", "intdiv", "mod"} {
		for _, zero := range []any{0, exprtest.Dec("0.0"), 0.0} {
			e := exprtest.Must(expr.NewCall(fn, exprtest.Lit(1), exprtest.Lit(zero)))
			c := exprtest.NewContext()
			v, err := expr.Eval1(e, c)
			if err != nil || !v.Null {
				t.Errorf("%s: %v, %v; want NULL", e, v, err)
			}
			if w := c.Warnings.List(); len(w) != 1 || w[0].Code != sqlerr.CodeDivisionByZero || w[0].Message != "Division by 0" {
				t.Errorf("%s warns %v", e, w)
			}
			c.Writing = true
			if _, err = expr.Eval1(e, c); !errors.Is(err, sqlerr.CodeDivisionByZero) {
				t.Errorf("%s in a strict write: %v", e, err)
			}
			c.SQLMode = 0
			if v, err = expr.Eval1(e, c); err != nil || !v.Null || c.Warnings.Count() != 1 {
				t.Errorf("%s without sql_mode: %v, %v, %d warnings", e, v, err, c.Warnings.Count())
			}
		}
	}
}

func TestCastProblems(t *testing.T) {
	for _, c := range []struct {
		from types.Value
		cast expr.Cast
		want string // the value
		warn string
		code sqlerr.Code
	}{
		{types.StringValue("12abc"), expr.Cast{To: types.Int64}, "12", "Truncated incorrect INTEGER value: '12abc'", 1292},
		{types.StringValue("abc"), expr.Cast{To: types.Double}, "0", "Truncated incorrect DOUBLE value: 'abc'", 1292},
		{types.StringValue("2020-02-30"), expr.Cast{To: types.Date}, "NULL", "Incorrect date value: '2020-02-30'", 1292},
		{types.StringValue("abcdef"), expr.Cast{To: types.Char(3)}, "abc", "Truncated incorrect CHAR(3) value: 'abcdef'", 1292},
		{types.IntValue(300), expr.Cast{To: types.Int8, Column: "c"}, "127", "Out of range value for column 'c' at row 1", 1264},
		{types.StringValue("abc"), expr.Cast{To: types.Int32, Column: "c"}, "0", "Incorrect integer value: 'abc' for column 'c' at row 1", 1366},
		{types.StringValue("abcdef"), expr.Cast{To: types.Varchar(3), Column: "c"}, "abc", "Data truncated for column 'c' at row 1", 1265}, // strictly: 1406
		{types.StringValue("12abc"), expr.Cast{To: types.Int32, Column: "c"}, "12", "Data truncated for column 'c' at row 1", 1265},
		{types.StringValue("x"), expr.Cast{To: types.Date, Column: "c"}, "NULL", "Incorrect date value: 'x' for column 'c' at row 1", 1292},
		{types.StringValue("2.5"), expr.Cast{To: types.Int32, Column: "c"}, "3", "", 0}, // assignment rounds, CAST cuts
		{types.StringValue("2.5"), expr.Cast{To: types.Int64}, "2", "Truncated incorrect INTEGER value: '2.5'", 1292},
	} {
		e := c.cast
		e.Arg = &expr.Const{Value: c.from}
		ctx := exprtest.NewContext()
		v, err := expr.Eval1(&e, ctx)
		if err != nil || exprtest.Show(v) != c.want {
			t.Errorf("%s: %s, %v; want %s", &e, exprtest.Show(v), err, c.want)
		}
		w := ctx.Warnings.List()
		if c.warn == "" && len(w) > 0 || c.warn != "" && (len(w) != 1 || w[0].Message != c.warn || w[0].Code != c.code) {
			t.Errorf("%s warns %v, want %s", &e, w, c.warn)
		}
		e.Strict = true
		if e.To.Kind == types.KindVarchar {
			c.code, c.warn = 1406, "Data too long for column 'c' at row 1"
		}
		if _, err = expr.Eval1(&e, exprtest.NewContext()); (err != nil) != (c.warn != "") && e.Column != "" {
			t.Errorf("%s strictly: %v", &e, err)
		} else if err != nil && e.Column != "" && (!errors.Is(err, c.code) || !strings.Contains(err.Error(), c.warn)) {
			t.Errorf("%s strictly: %v, want %s", &e, err, c.warn)
		}
	}
}

func TestWrongCalls(t *testing.T) {
	if _, err := expr.NewCall("substrin", exprtest.Lit("a"), exprtest.Lit(1)); !errors.Is(err, sqlerr.CodeUnknownFunction) || !strings.Contains(err.Error(), "substrin") {
		t.Errorf("unknown function: %v", err)
	}
	if _, err := expr.NewCall("substring", exprtest.Lit("a")); !errors.Is(err, sqlerr.CodeWrongParamCount) {
		t.Errorf("too few operands: %v", err)
	}
	if _, err := expr.NewCall("regexp_like", exprtest.Lit("a"), exprtest.Lit("(")); err != nil {
		t.Errorf("a bad pattern is an error when it is run, not before: %v", err)
	}
	if _, err := expr.Eval1(exprtest.Must(expr.NewCall("regexp_like", exprtest.Lit("a"), exprtest.Lit("("))), exprtest.NewContext()); !errors.Is(err, sqlerr.CodeRegexp) {
		t.Errorf("a bad pattern: %v", err)
	}
	if _, err := expr.Compile(&expr.Column{ID: 9, Name: "x", Typ: types.Int64}, nil); err == nil {
		t.Error("a column without a slot compiles")
	}
}

// An overflow is found in whichever row it is, and other values are those of math/big, in batches that no step divides.
func TestOverflowOfAnyRow(t *testing.T) {
	a, b := &expr.Column{ID: 1, Name: "a", Typ: types.Int64}, &expr.Column{ID: 2, Name: "b", Typ: types.Int64}
	pairs := map[string][2]int64{"add": {math.MaxInt64, 1}, "sub": {math.MinInt64, 1}, "mul": {math.MaxInt64, 2}}
	exact := map[string]func(z, x, y *big.Int) *big.Int{"add": (*big.Int).Add, "sub": (*big.Int).Sub, "mul": (*big.Int).Mul}
	for name, pair := range pairs {
		program, err := expr.Compile(exprtest.Must(expr.NewCall(name, a, b)), map[expr.ColumnID]int{1: 0, 2: 1})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 11; n++ {
			for bad := -1; bad < n; bad++ { // -1: no row overflows
				x, y := column.New(types.Int64, n), column.New(types.Int64, n)
				for i := range n {
					x.I64[i], y.I64[i] = int64(i*7919-30_000), int64(5-i)
				}
				if bad >= 0 {
					x.I64[bad], y.I64[bad] = pair[0], pair[1]
				}
				out, err := program.Eval(exprtest.NewContext(), &column.Batch{N: n, Cols: []*column.Vector{x, y}})
				if (err != nil) != (bad >= 0) {
					t.Fatalf("%s of %d rows, row %d overflowing: %v", name, n, bad, err)
				}
				for i := 0; err == nil && i < n; i++ {
					want := exact[name](new(big.Int), big.NewInt(x.I64[i]), big.NewInt(y.I64[i]))
					if out.I64[i] != want.Int64() {
						t.Fatalf("%s of %d rows: row %d is %d, want %s", name, n, i, out.I64[i], want)
					}
				}
			}
		}
	}
}
