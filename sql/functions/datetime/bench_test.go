package datetime_test

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
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
	slots := map[expr.ColumnID]int{1: 0, 2: 1}
	day, moment := &expr.Column{ID: 1, Name: "d", Typ: types.Date}, &expr.Column{ID: 2, Name: "dt", Typ: types.Datetime}
	text := func(s string) expr.Expr { return &expr.Const{Value: types.StringValue(s)} }
	for _, c := range []struct {
		name, fn string
		args     []expr.Expr
	}{
		{"YEAR(date)", "year", []expr.Expr{day}},
		{"YEAR(datetime)", "year", []expr.Expr{moment}},
		{"MONTH(date)", "month", []expr.Expr{day}},
		{"EXTRACT(MONTH FROM datetime)", "extract", []expr.Expr{text("MONTH"), moment}},
		{"HOUR(datetime)", "hour", []expr.Expr{moment}},
		{"date+90 DAY", "date_add", []expr.Expr{day, &expr.Const{Value: types.IntValue(90)}, text("DAY")}},
		{"date+1 MONTH", "date_add", []expr.Expr{day, &expr.Const{Value: types.IntValue(1)}, text("MONTH")}},
		{"DATE(datetime)", "date", []expr.Expr{moment}},
		{"DATEDIFF(datetime, date)", "datediff", []expr.Expr{moment, day}},
		{"TIMESTAMPDIFF(MONTH)", "timestampdiff", []expr.Expr{text("MONTH"), day, moment}},
		{"DATE_FORMAT", "date_format", []expr.Expr{day, text("%Y-%m")}},
		{"WEEK(date)", "week", []expr.Expr{day}},
	} {
		b.Run(c.name, func(b *testing.B) {
			call, err := expr.NewCall(c.fn, c.args...)
			if err != nil {
				b.Fatal(err)
			}
			p, err := expr.Compile(call, slots)
			if err != nil {
				b.Fatal(err)
			}
			ctx := exprtest.NewContext()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(ctx, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
