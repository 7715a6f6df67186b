package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// BenchmarkStats has a column's statistics computed for the first time.
func BenchmarkFirstStats(b *testing.B) {
	const rows = 10_000_000
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range []struct {
		name string
		typ  types.Type
		of   func(row int64) int64
	}{
		{"100 strings", types.Text, func(int64) int64 { return r.Int64N(100) }},
		{"100000 strings", types.Text, func(int64) int64 { return r.Int64N(100_000) }},
		{"100 integers", types.Int32, func(int64) int64 { return r.Int64N(100) }},
		{"100000 integers", types.Int32, func(int64) int64 { return r.Int64N(100_000) }},
		{"10^9 integers", types.Int32, func(int64) int64 { return r.Int64N(1_000_000_000) }},
		{"a key", types.Int64, func(row int64) int64 { return row }},
		{"doubles", types.Double, func(int64) int64 { return r.Int64N(100_000_000) }},
	} {
		s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: x.typ}}}
		builder := NewBuilder(New(s))
		for first := int64(0); first < rows; first += RowGroupSize {
			n := min(rows-first, RowGroupSize)
			var d encoding.Data
			for row := range n {
				v := x.of(first + row)
				switch x.typ.Phys() {
				case types.PhysString:
					d.Strings = append(d.Strings, fmt.Sprintf("id%010d", v))
				case types.PhysFloat64:
					d.Floats = append(d.Floats, float64(v)/1e6)
				default:
					d.Ints = append(d.Ints, v)
				}
			}
			if err := builder.AppendColumns(int(n), []encoding.Data{d}); err != nil {
				b.Fatal(err)
			}
		}
		v, err := builder.Finish()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(x.name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				fresh := *v
				fresh.stats = newStatsCache(1)
				fresh.groups = nil
				for _, g := range v.groups {
					c := g.Columns[0]
					own := &encoding.Chunk{Kind: c.Kind, Type: c.Type, Rows: c.Rows, NullCount: c.NullCount, Base: c.Base, U8: c.U8, U16: c.U16, U32: c.U32, I64: c.I64, F64: c.F64, Dict: c.Dict, Offsets: c.Offsets, Bytes: c.Bytes, Min: c.Min, Max: c.Max, Sorted: c.Sorted}
					fresh.groups = append(fresh.groups, &RowGroup{First: g.First, Rows: g.Rows, Columns: []*encoding.Chunk{own}})
				}
				b.StartTimer()
				s := fresh.Stats(0)
				b.ReportMetric(s.Distinct, "distinct")
			}
		})
	}
}
