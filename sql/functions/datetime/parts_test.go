package datetime_test

import (
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Parts of dates are those of package time, in batches of any size, within the years that are looked up and around them.
func TestPartsOfManyDates(t *testing.T) {
	parts := map[string]func(time.Time) int{
		"year": time.Time.Year, "month": func(d time.Time) int { return int(d.Month()) }, "dayofmonth": time.Time.Day, "dayofyear": time.Time.YearDay,
		"quarter": func(d time.Time) int { return (int(d.Month()) + 2) / 3 }, "dayofweek": func(d time.Time) int { return int(d.Weekday()) + 1 },
		"weekday": func(d time.Time) int { return (int(d.Weekday()) + 6) % 7 },
	}
	first := int(types.DaysFromCivil(1890, 1, 1))
	const days = 220 * 366
	for name, part := range parts {
		for _, typ := range []types.Type{types.Date, types.Datetime} {
			call, err := expr.NewCall(name, &expr.Column{ID: 1, Name: "d", Typ: typ})
			if err != nil {
				t.Fatal(err)
			}
			program, err := expr.Compile(call, map[expr.ColumnID]int{1: 0})
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{column.VectorSize, 1000} {
				for from := 0; from < days; from += size {
					v := column.New(typ, size)
					for i := range size {
						if v.I64[i] = int64(first + from + i); typ == types.Datetime {
							v.I64[i] = v.I64[i]*types.MicrosPerDay + 86_399*types.MicrosPerSecond
						}
					}
					out, err := program.Eval(&expr.Context{}, &column.Batch{N: size, Cols: []*column.Vector{v}})
					if err != nil {
						t.Fatal(err)
					}
					for i := range size {
						day := time.Unix(0, 0).UTC().AddDate(0, 0, first+from+i)
						if got, want := out.I64[i], part(day); got != int64(want) {
							t.Fatalf("%s of the %s %s: %d, want %d", name, typ, day.Format(time.DateOnly), got, want)
						}
					}
				}
			}
		}
	}
}
