package expr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// drawnForCast is a value of type t, near the ends of other types' ranges now and then.
func drawnForCast(r *rand.Rand, t types.Type) types.Value {
	ends := []int64{0, 1, 127, 128, 255, 256, 32767, 65535, 1 << 23, 1 << 31, 1<<31 - 1, 1 << 32, 1<<53 - 1, 1 << 53, 1<<62 + 5}
	number := func() int64 {
		n := ends[r.IntN(len(ends))] + int64(r.IntN(3)) - 1
		if r.IntN(3) == 0 {
			n = int64(r.IntN(1000))
		}
		if r.IntN(2) == 0 {
			n = -n
		}
		return n
	}
	day := func() int64 { return types.MinDate + 366 + r.Int64N(types.MaxDate-types.MinDate-400) }
	switch {
	case t.IsString():
		texts := []string{
			fmt.Sprint(number()), fmt.Sprintf("%d.%d", number(), r.IntN(1000)), fmt.Sprintf("%d.50", r.IntN(1000)), fmt.Sprintf("%de%d", r.IntN(100), r.IntN(30)-15),
			fmt.Sprintf("%d%018d", r.IntN(100), r.IntN(1000)), " 12 ", "+5", "-0", "-0.0", ".5", "5.", "-", "", "12abc", "nan", "1.2.3", "0x1F", "--1", "00012",
			types.Value{Type: types.Date, I: day()}.Text(), types.Value{Type: types.Datetime, I: day()*types.MicrosPerDay + r.Int64N(86400)*types.MicrosPerSecond}.Text(),
			fmt.Sprintf("%04d-%02d-%02d", r.IntN(3000), r.IntN(14), r.IntN(33)), fmt.Sprintf("2020-02-03 %02d:%02d:%02d", r.IntN(26), r.IntN(62), r.IntN(62)),
			"2020-02-03T04:05:06", "2020-02-03 04:05:06.5", "20200203", "1-2-3", "0000-00-00",
		}
		return types.Value{Type: t, S: texts[r.IntN(len(texts))]}
	case t.IsFloat():
		return types.Value{Type: t, F: float64(number()) / []float64{1, 2, 3, 8, 1e-30}[r.IntN(5)]}
	case t.Kind == types.KindDecimal:
		return types.DecimalValue(t, types.Int128FromInt64(number()%types.Pow10(min(int(t.Precision), 18))))
	case t.Kind == types.KindDate:
		return types.Value{Type: t, I: day()}
	case t.Kind == types.KindDatetime:
		return types.Value{Type: t, I: day()*types.MicrosPerDay + r.Int64N(types.MicrosPerDay)}
	case t.Kind == types.KindUint64:
		return types.Value{Type: t, I: number()}
	}
	n, _ := types.ClampInt(number(), t.Kind)
	return types.Value{Type: t, I: n}
}

// Casts of vectors agree with package types value by value, whether they go into a column or not.
func TestCastsOfVectors(t *testing.T) {
	froms := []types.Type{
		types.Varchar(40), types.Text, types.Int8, types.Int32, types.Int64, types.Uint32, types.Uint64, types.Double, types.Decimal(9, 2), types.Decimal(18, 6),
		types.Decimal(30, 4), types.Date, types.DatetimeFsp(6),
	}
	tos := []types.Type{
		types.Int8, types.Uint8, types.Int32, types.Int64, types.Uint64, types.Double, types.Float, types.Decimal(5, 1), types.Decimal(18, 0), types.Decimal(18, 6), types.Decimal(38, 10),
		types.Date, types.Datetime, types.Varchar(30), types.Varchar(3), types.Char(4), types.Text, {Kind: types.KindBinary, Length: 12},
	}
	for _, from := range froms {
		for _, to := range tos {
			for _, column := range []string{"", "c"} {
				checkCastOfVector(t, from, to, column)
			}
		}
	}
}

func checkCastOfVector(t *testing.T, from, to types.Type, name string) {
	r := rand.New(rand.NewPCG(uint64(from.Kind)<<16|uint64(from.Scale), uint64(to.Kind)<<16|uint64(to.Scale)))
	const n = 300
	v := column.New(from, n)
	var sel []int32
	for i := range n {
		v.Set(i, n, drawnForCast(r, from))
		if r.IntN(10) == 0 {
			v.SetNull(i, n)
		}
		if r.IntN(3) > 0 {
			sel = append(sel, int32(i))
		}
	}
	e := &expr.Cast{Arg: &expr.Column{ID: 1, Name: "a", Typ: from, Null: true}, To: to, Column: name}
	p, err := expr.Compile(e, map[expr.ColumnID]int{1: 0})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Eval(exprtest.NewContext(), &column.Batch{N: n, Sel: sel, Cols: []*column.Vector{v}})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range sel {
		x := v.Value(int(i))
		convert := exprtest.NewContext().Conversion().Cast
		if name != "" {
			convert = exprtest.NewContext().Conversion().Store
		}
		want, _ := convert(x, to)
		if got := out.Value(int(i)); exprtest.Show(got) != exprtest.Show(want) || got.Null != want.Null {
			t.Errorf("%s as %s, column %q: %s is %s, want %s", from, to, name, x.Text(), exprtest.Show(got), exprtest.Show(want))
		}
	}
}
