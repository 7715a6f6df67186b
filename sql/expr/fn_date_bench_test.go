package expr

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// The functions of dates that queries compute for every row: ns/op is for one batch of 2,048.
func BenchmarkDateFunctions(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	d, dt := column.New(types.Date, column.VectorSize), column.New(types.Datetime, column.VectorSize)
	for i := range column.VectorSize {
		d.I64[i] = int64(8000 + r.IntN(2500))
		dt.I64[i] = d.I64[i]*types.MicrosPerDay + r.Int64N(86400)*types.MicrosPerSecond
	}
	batch := &column.Batch{N: column.VectorSize, Cols: []*column.Vector{d, dt}}
	slots := map[ColumnID]int{1: 0, 2: 1}
	day, moment := &Column{ID: 1, Name: "d", Typ: types.Date}, &Column{ID: 2, Name: "dt", Typ: types.Datetime}
	text := func(s string) Expr { return &Const{types.StringValue(s)} }
	for _, c := range []struct {
		name, fn string
		args     []Expr
	}{
		{"YEAR(date)", "year", []Expr{day}},
		{"YEAR(datetime)", "year", []Expr{moment}},
		{"MONTH(date)", "month", []Expr{day}},
		{"EXTRACT(MONTH FROM datetime)", "extract", []Expr{text("MONTH"), moment}},
		{"HOUR(datetime)", "hour", []Expr{moment}},
		{"date+90 DAY", "date_add", []Expr{day, &Const{types.IntValue(90)}, text("DAY")}},
		{"date+1 MONTH", "date_add", []Expr{day, &Const{types.IntValue(1)}, text("MONTH")}},
		{"DATE(datetime)", "date", []Expr{moment}},
		{"DATEDIFF(datetime, date)", "datediff", []Expr{moment, day}},
		{"TIMESTAMPDIFF(MONTH)", "timestampdiff", []Expr{text("MONTH"), day, moment}},
		{"DATE_FORMAT", "date_format", []Expr{day, text("%Y-%m")}},
		{"WEEK(date)", "week", []Expr{day}},
	} {
		b.Run(c.name, func(b *testing.B) {
			call, err := NewCall(c.fn, c.args...)
			if err != nil {
				b.Fatal(err)
			}
			p, err := Compile(call, slots)
			if err != nil {
				b.Fatal(err)
			}
			ctx := testContext()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(ctx, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
