package table

import (
	"fmt"
	"math"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// TestDrawnDistinct compares the distinct values of large columns, estimated from some of their rows, with the counts.
func TestDrawnDistinct(t *testing.T) {
	r := testRand(t)
	const rows = drawnFrom + 5*RowGroupSize/2
	for i, x := range []struct {
		name  string
		typ   types.Type
		of    func(row int64) int64 // less than 0: NULL
		least float64               // the least and the greatest estimate, as parts of the count
		most  float64
	}{
		{"a key in order", types.Int64, func(row int64) int64 { return row * 3 }, 0.93, 1.07},
		{"four rows a value, in order", types.Int64, func(row int64) int64 { return row / 4 * 5 }, 0.93, 1.07},
		{"a key in no order", types.Int64, func(row int64) int64 { return row * 7919 % 100_000_007 }, 0.93, 1.07},
		{"300000 integers", types.Int32, func(int64) int64 { return r.Int64N(300_000) }, 0.95, 1.05},
		{"70000 integers", types.Int32, func(int64) int64 { return r.Int64N(70_000) * 1001 }, 0.95, 1.05},
		{"7000 integers, a seventh NULL", types.Int32, func(row int64) int64 { return (r.Int64N(7000)*101+1)*min(row%7, 1) - 1 }, 0.95, 1.05},
		{"200 integers", types.Int32, func(int64) int64 { return r.Int64N(200) }, 0.95, 1.05},
		{"doubles", types.Double, func(int64) int64 { return r.Int64N(1e12) }, 0.93, 1.07},
		{"decimals", types.Decimal(30, 0), func(int64) int64 { return r.Int64N(500_000) }, 0.95, 1.05},
		{"300 strings", types.Text, func(int64) int64 { return r.Int64N(300) }, 0.95, 1.05},
		{"40000 strings", types.Text, func(int64) int64 { return r.Int64N(40_000) }, 0.95, 1.05},
		{"strings of their own", types.Text, func(row int64) int64 { return row }, 0.93, 1.07},
		{"half one value", types.Int64, func(row int64) int64 { return (row % 2) * r.Int64N(200_000) * 12345 }, 0.9, 1.1},
		{"skewed", types.Int64, func(int64) int64 { return int64(math.Exp(r.Float64() * 14)) }, 0.5, 2},
	} {
		if testing.Short() && i%3 != 0 {
			continue
		}
		builder := NewBuilder(New(&Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: x.typ, Nullable: true}}}))
		count := map[int64]bool{}
		values := 0
		for first := int64(0); first < rows; first += RowGroupSize {
			n := int(min(rows-first, RowGroupSize))
			d := encoding.Data{}
			null := false
			var valid []bool
			for row := range n {
				v := x.of(first + int64(row))
				valid = append(valid, v >= 0)
				null = null || v < 0
				v = max(v, 0)
				if valid[row] {
					count[v] = true
					values++
				}
				switch x.typ.Phys() {
				case types.PhysString:
					d.Strings = append(d.Strings, fmt.Sprintf("text %09d", v))
				case types.PhysFloat64:
					d.Floats = append(d.Floats, float64(v)/1024)
				case types.PhysInt128:
					d.Wide = append(d.Wide, types.Int128FromInt64(v))
				default:
					d.Ints = append(d.Ints, v)
				}
			}
			if null {
				d.Valid = column.NewBitmap(n, true)
				for row, ok := range valid {
					if !ok {
						d.Valid.Clear(row)
					}
				}
			}
			if err := builder.AppendColumns(n, []encoding.Data{d}); err != nil {
				t.Fatal(err)
			}
		}
		v, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		got := v.Stats(0).Distinct / float64(len(count))
		t.Logf("%-32s %8d values, estimated %9.0f, %.3f of that; drawn: %v", x.name, len(count), v.Stats(0).Distinct, got, v.draws(0))
		if got < x.least || got > x.most {
			t.Errorf("%s: %.0f distinct values, counted are %d", x.name, v.Stats(0).Distinct, len(count))
		}
		again := *v
		again.stats = newStatsCache(1)
		if now := again.Stats(0).Distinct; now != v.Stats(0).Distinct {
			t.Errorf("%s: once more there are %.0f values, not %.0f", x.name, now, v.Stats(0).Distinct)
		}
	}
}
