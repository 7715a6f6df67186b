package expr_test

import (
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// Result types, as MySQL 8.0 reports them (Reference Manual 14.6.1 and item_func.cc); DECIMALs beyond 38 digits as
// package types clamps them.
func TestResultTypes(t *testing.T) {
	col := func(t types.Type) expr.Expr { return &expr.Column{ID: 1, Name: "c", Typ: t, Null: true} }
	i, u, d := col(types.Int32), col(types.Uint32), col(types.Decimal(15, 2))
	f, s, day := col(types.Float), col(types.Varchar(10)), col(types.Date)
	moment := col(types.DatetimeFsp(3))
	for _, c := range []struct {
		fn   string
		args []expr.Expr
		want string
	}{
		{"add", []expr.Expr{i, i}, "BIGINT"},
		{"add", []expr.Expr{i, u}, "BIGINT UNSIGNED"},
		{"add", []expr.Expr{i, d}, "DECIMAL(16,2)"},
		{"add", []expr.Expr{d, exprtest.Lit(exprtest.Dec("0.005"))}, "DECIMAL(17,3)"},
		{"add", []expr.Expr{d, f}, "DOUBLE"},
		{"add", []expr.Expr{s, i}, "DOUBLE"},
		{"add", []expr.Expr{day, exprtest.Lit(1)}, "BIGINT"},
		{"add", []expr.Expr{moment, exprtest.Lit(1)}, "DECIMAL(18,3)"},
		{"sub", []expr.Expr{exprtest.Lit(1), d}, "DECIMAL(16,2)"},
		{"mul", []expr.Expr{d, d}, "DECIMAL(30,4)"},
		{"mul", []expr.Expr{col(types.Decimal(30, 4)), d}, "DECIMAL(38,6)"},
		{"mul", []expr.Expr{i, i}, "BIGINT"},
		{"div", []expr.Expr{i, i}, "DECIMAL(14,4)"},
		{"div", []expr.Expr{d, d}, "DECIMAL(21,6)"},
		{"div", []expr.Expr{exprtest.Lit(1), exprtest.Lit(3)}, "DECIMAL(5,4)"},
		{"div", []expr.Expr{f, i}, "DOUBLE"},
		{"intdiv", []expr.Expr{d, i}, "BIGINT"},
		{"intdiv", []expr.Expr{u, i}, "BIGINT UNSIGNED"},
		{"mod", []expr.Expr{i, u}, "BIGINT"},
		{"mod", []expr.Expr{u, i}, "BIGINT UNSIGNED"},
		{"mod", []expr.Expr{d, i}, "DECIMAL(15,2)"},
		{"neg", []expr.Expr{u}, "BIGINT"},
		{"neg", []expr.Expr{d}, "DECIMAL(15,2)"},
		{"abs", []expr.Expr{i}, "BIGINT"},
		{"ceil", []expr.Expr{d}, "BIGINT"},
		{"ceil", []expr.Expr{col(types.Decimal(30, 2))}, "DECIMAL(29,0)"},
		{"round", []expr.Expr{d}, "DECIMAL(14,0)"},
		{"round", []expr.Expr{d, exprtest.Lit(1)}, "DECIMAL(15,1)"},
		{"round", []expr.Expr{i}, "BIGINT"},
		{"round", []expr.Expr{f, exprtest.Lit(1)}, "DOUBLE"},
		{"coalesce", []expr.Expr{i, d}, "DECIMAL(15,2)"},
		{"coalesce", []expr.Expr{d, exprtest.Lit(0)}, "DECIMAL(15,2)"},
		{"coalesce", []expr.Expr{i, s}, "VARCHAR(11)"},
		{"if", []expr.Expr{i, day, moment}, "DATETIME(3)"},
		{"nullif", []expr.Expr{d, i}, "DECIMAL(15,2)"},
		{"concat", []expr.Expr{s, i}, "VARCHAR(21)"},
		{"substring", []expr.Expr{col(types.Char(15)), exprtest.Lit(1), exprtest.Lit(2)}, "VARCHAR(15)"},
		{"date_add", []expr.Expr{day, exprtest.Lit(1), exprtest.Lit("MONTH")}, "DATE"},
		{"date_add", []expr.Expr{day, exprtest.Lit(1), exprtest.Lit("HOUR")}, "DATETIME"},
		{"date_add", []expr.Expr{moment, exprtest.Lit(1), exprtest.Lit("MICROSECOND")}, "DATETIME(6)"},
		{"extract", []expr.Expr{exprtest.Lit("YEAR"), day}, "BIGINT"},
		{"like", []expr.Expr{s, s}, "BOOLEAN"},
		{"bitand", []expr.Expr{i, i}, "BIGINT UNSIGNED"},
	} {
		e, err := expr.NewCall(c.fn, c.args...)
		if err != nil {
			t.Errorf("%s%v: %v", c.fn, c.args, err)
		} else if e.Type().String() != c.want {
			t.Errorf("%s is %s, want %s", e, e.Type(), c.want)
		}
	}
}

// What NewCompare does to its operands, and above all that columns stay bare where a constant can be converted.
func TestCompareCasts(t *testing.T) {
	col := func(t types.Type) expr.Expr { return &expr.Column{ID: 1, Name: "c", Typ: t, Null: true} }
	enum := types.Type{Kind: types.KindEnum, Enum: &types.EnumMembers{Names: []string{"x", "y"}}}
	for _, c := range []struct {
		l, r expr.Expr
		want string
	}{
		{col(types.Date), exprtest.Lit("1994-01-01"), "c = '1994-01-01'"},
		{col(types.Date), exprtest.Lit("1994-01-01 12:00:00"), "CAST(c AS DATETIME(6)) = '1994-01-01 12:00:00.000000'"},
		{exprtest.Lit("1994-01-01"), col(types.Date), "'1994-01-01' = c"},
		{col(types.Date), exprtest.Lit(19940101), "c = '1994-01-01'"},
		{col(types.Datetime), exprtest.Lit("1994-01-01"), "c = '1994-01-01 00:00:00.000000'"},
		{col(types.Datetime), col(types.Date), "c = CAST(c AS DATETIME)"},
		{col(types.Date), col(types.Text), "CAST(c AS DATETIME(6)) = CAST(c AS DATETIME(6))"},
		{col(types.Decimal(15, 2)), exprtest.Lit(24), "c = 24.00"},
		{col(types.Decimal(15, 2)), exprtest.Lit(exprtest.Dec("0.05")), "c = 0.05"},
		{col(types.Decimal(15, 2)), exprtest.Lit(exprtest.Dec("0.055")), "CAST(c AS DECIMAL(16,3)) = 0.055"},
		{col(types.Int32), exprtest.Lit(exprtest.Dec("5.0")), "c = 5"},
		{col(types.Int32), exprtest.Lit(exprtest.Dec("5.5")), "CAST(c AS DECIMAL(11,1)) = 5.5"},
		{col(types.Int32), exprtest.Lit("5"), "c = 5"},
		{col(types.Int32), exprtest.Lit("5x"), "CAST(c AS DOUBLE) = CAST('5x' AS DOUBLE)"},
		{col(types.Int32), col(types.Int64), "c = c"},
		{col(types.Uint64), exprtest.Lit(5), "c = 5"},
		{col(types.Uint64), exprtest.Lit(-5), "CAST(c AS DECIMAL(20,0)) = -5"},
		{col(types.Uint64), col(types.Int64), "CAST(c AS DECIMAL(20,0)) = CAST(c AS DECIMAL(20,0))"},
		{col(types.Varchar(5)), exprtest.Lit(5), "CAST(c AS DOUBLE) = 5"},
		{col(types.Varchar(5)), exprtest.Lit("abc"), "c = 'abc'"},
		{col(types.Char(5)), col(types.Varchar(9)), "c = c"},
		{col(enum), exprtest.Lit("y"), "c = 'y'"},
		{col(types.Year), exprtest.Lit(98), "c = 1998"},
		{col(types.Year), exprtest.Lit(exprtest.Dec("98.0")), "c = 1998"},
		{col(types.Year), exprtest.Lit(24e0), "c = 2024"},
		{col(types.Double), exprtest.Lit(1), "c = 1"},
		{col(types.Int32), exprtest.Lit(nil), "c = NULL"},
		{col(types.Decimal(38, 0)), col(types.Decimal(38, 20)), "c = c"},
	} {
		e, err := expr.NewCompare(expr.EQ, c.l, c.r)
		if err != nil {
			t.Errorf("%s = %s: %v", c.l, c.r, err)
		} else if e.String() != c.want {
			t.Errorf("%s (%s) = %s (%s) becomes %s, want %s", c.l, c.l.Type(), c.r, c.r.Type(), e, c.want)
		}
	}
	if _, err := expr.NewCompare(expr.LT, col(types.Date), exprtest.Lit("no date")); err == nil || err.Error() == "" {
		t.Error("a DATE compared with a text that is none: no error")
	}
}

func TestInGroupsByType(t *testing.T) {
	d := &expr.Column{ID: 1, Name: "d", Typ: types.Decimal(15, 2)}
	e := exprtest.Must(expr.NewIn(nil, d, []expr.Expr{exprtest.Lit(1), exprtest.Lit(exprtest.Dec("2.50")), exprtest.Lit(nil), exprtest.Lit(exprtest.Dec("0.125"))}))
	const want = "(d IN (1.00, 2.50, NULL)) OR (CAST(d AS DECIMAL(16,3)) IN (0.125, NULL))"
	if e.String() != want {
		t.Errorf("got %s, want %s", e, want)
	}
}
