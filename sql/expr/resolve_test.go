package expr

import (
	"testing"

	"github.com/radish-sql/radish/sql/types"
)

// Result types, as MySQL 8.0 reports them (Reference Manual 14.6.1 and item_func.cc); DECIMALs beyond 38 digits as
// package types clamps them.
func TestResultTypes(t *testing.T) {
	col := func(t types.Type) Expr { return &Column{ID: 1, Name: "c", Typ: t, Null: true} }
	i, u, d := col(types.Int32), col(types.Uint32), col(types.Decimal(15, 2))
	f, s, day := col(types.Float), col(types.Varchar(10)), col(types.Date)
	moment := col(types.DatetimeFsp(3))
	for _, c := range []struct {
		fn   string
		args []Expr
		want string
	}{
		{"add", []Expr{i, i}, "BIGINT"},
		{"add", []Expr{i, u}, "BIGINT UNSIGNED"},
		{"add", []Expr{i, d}, "DECIMAL(16,2)"},
		{"add", []Expr{d, lit(dec("0.005"))}, "DECIMAL(17,3)"},
		{"add", []Expr{d, f}, "DOUBLE"},
		{"add", []Expr{s, i}, "DOUBLE"},
		{"add", []Expr{day, lit(1)}, "BIGINT"},
		{"add", []Expr{moment, lit(1)}, "DECIMAL(18,3)"},
		{"sub", []Expr{lit(1), d}, "DECIMAL(16,2)"},
		{"mul", []Expr{d, d}, "DECIMAL(30,4)"},
		{"mul", []Expr{col(types.Decimal(30, 4)), d}, "DECIMAL(38,6)"},
		{"mul", []Expr{i, i}, "BIGINT"},
		{"div", []Expr{i, i}, "DECIMAL(14,4)"},
		{"div", []Expr{d, d}, "DECIMAL(21,6)"},
		{"div", []Expr{lit(1), lit(3)}, "DECIMAL(5,4)"},
		{"div", []Expr{f, i}, "DOUBLE"},
		{"intdiv", []Expr{d, i}, "BIGINT"},
		{"intdiv", []Expr{u, i}, "BIGINT UNSIGNED"},
		{"mod", []Expr{i, u}, "BIGINT"},
		{"mod", []Expr{u, i}, "BIGINT UNSIGNED"},
		{"mod", []Expr{d, i}, "DECIMAL(15,2)"},
		{"neg", []Expr{u}, "BIGINT"},
		{"neg", []Expr{d}, "DECIMAL(15,2)"},
		{"abs", []Expr{i}, "BIGINT"},
		{"ceil", []Expr{d}, "BIGINT"},
		{"ceil", []Expr{col(types.Decimal(30, 2))}, "DECIMAL(29,0)"},
		{"round", []Expr{d}, "DECIMAL(14,0)"},
		{"round", []Expr{d, lit(1)}, "DECIMAL(15,1)"},
		{"round", []Expr{i}, "BIGINT"},
		{"round", []Expr{f, lit(1)}, "DOUBLE"},
		{"coalesce", []Expr{i, d}, "DECIMAL(15,2)"},
		{"coalesce", []Expr{d, lit(0)}, "DECIMAL(15,2)"},
		{"coalesce", []Expr{i, s}, "VARCHAR(11)"},
		{"if", []Expr{i, day, moment}, "DATETIME(3)"},
		{"nullif", []Expr{d, i}, "DECIMAL(15,2)"},
		{"concat", []Expr{s, i}, "VARCHAR(21)"},
		{"substring", []Expr{col(types.Char(15)), lit(1), lit(2)}, "VARCHAR(15)"},
		{"date_add", []Expr{day, lit(1), lit("MONTH")}, "DATE"},
		{"date_add", []Expr{day, lit(1), lit("HOUR")}, "DATETIME"},
		{"date_add", []Expr{moment, lit(1), lit("MICROSECOND")}, "DATETIME(6)"},
		{"extract", []Expr{lit("YEAR"), day}, "BIGINT"},
		{"like", []Expr{s, s}, "BOOLEAN"},
		{"bitand", []Expr{i, i}, "BIGINT UNSIGNED"},
	} {
		e, err := NewCall(c.fn, c.args...)
		if err != nil {
			t.Errorf("%s%v: %v", c.fn, c.args, err)
		} else if e.Type().String() != c.want {
			t.Errorf("%s is %s, want %s", e, e.Type(), c.want)
		}
	}
}

// What NewCompare does to its operands, and above all that columns stay bare where a constant can be converted.
func TestCompareCasts(t *testing.T) {
	col := func(t types.Type) Expr { return &Column{ID: 1, Name: "c", Typ: t, Null: true} }
	enum := types.Type{Kind: types.KindEnum, Enum: &types.EnumMembers{Names: []string{"x", "y"}}}
	for _, c := range []struct {
		l, r Expr
		want string
	}{
		{col(types.Date), lit("1994-01-01"), "c = '1994-01-01'"},
		{col(types.Date), lit("1994-01-01 12:00:00"), "CAST(c AS DATETIME(6)) = '1994-01-01 12:00:00.000000'"},
		{lit("1994-01-01"), col(types.Date), "'1994-01-01' = c"},
		{col(types.Date), lit(19940101), "c = '1994-01-01'"},
		{col(types.Datetime), lit("1994-01-01"), "c = '1994-01-01 00:00:00.000000'"},
		{col(types.Datetime), col(types.Date), "c = CAST(c AS DATETIME)"},
		{col(types.Date), col(types.Text), "CAST(c AS DATETIME(6)) = CAST(c AS DATETIME(6))"},
		{col(types.Decimal(15, 2)), lit(24), "c = 24.00"},
		{col(types.Decimal(15, 2)), lit(dec("0.05")), "c = 0.05"},
		{col(types.Decimal(15, 2)), lit(dec("0.055")), "CAST(c AS DECIMAL(16,3)) = 0.055"},
		{col(types.Int32), lit(dec("5.0")), "c = 5"},
		{col(types.Int32), lit(dec("5.5")), "CAST(c AS DECIMAL(11,1)) = 5.5"},
		{col(types.Int32), lit("5"), "c = 5"},
		{col(types.Int32), lit("5x"), "CAST(c AS DOUBLE) = CAST('5x' AS DOUBLE)"},
		{col(types.Int32), col(types.Int64), "c = c"},
		{col(types.Uint64), lit(5), "c = 5"},
		{col(types.Uint64), lit(-5), "CAST(c AS DECIMAL(20,0)) = -5"},
		{col(types.Uint64), col(types.Int64), "CAST(c AS DECIMAL(20,0)) = CAST(c AS DECIMAL(20,0))"},
		{col(types.Varchar(5)), lit(5), "CAST(c AS DOUBLE) = 5"},
		{col(types.Varchar(5)), lit("abc"), "c = 'abc'"},
		{col(types.Char(5)), col(types.Varchar(9)), "c = c"},
		{col(enum), lit("y"), "c = 'y'"},
		{col(types.Year), lit(98), "c = 1998"},
		{col(types.Double), lit(1), "c = 1"},
		{col(types.Int32), lit(nil), "c = NULL"},
		{col(types.Decimal(38, 0)), col(types.Decimal(38, 20)), "c = c"},
	} {
		e, err := NewCompare(EQ, c.l, c.r)
		if err != nil {
			t.Errorf("%s = %s: %v", c.l, c.r, err)
		} else if e.String() != c.want {
			t.Errorf("%s (%s) = %s (%s) becomes %s, want %s", c.l, c.l.Type(), c.r, c.r.Type(), e, c.want)
		}
	}
	if _, err := NewCompare(LT, col(types.Date), lit("no date")); err == nil || err.Error() == "" {
		t.Error("a DATE compared with a text that is none: no error")
	}
}

func TestInGroupsByType(t *testing.T) {
	d := &Column{ID: 1, Name: "d", Typ: types.Decimal(15, 2)}
	e := must(NewIn(nil, d, []Expr{lit(1), lit(dec("2.50")), lit(nil), lit(dec("0.125"))}))
	const want = "(d IN (1.00, 2.50, NULL)) OR (CAST(d AS DECIMAL(16,3)) IN (0.125, NULL))"
	if e.String() != want {
		t.Errorf("got %s, want %s", e, want)
	}
}
