package table

import (
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// One row at a time into a table with a primary key, as a script of INSERT statements does it.
func BenchmarkAppendOneRow(b *testing.B) {
	s := testSchema(primary)
	r := testRand(b)
	rows := make([]*column.Batch, 1000)
	for i := range rows {
		rows[i] = batch(s, []row{testRow(r, s, int64(i))}, false)
	}
	v, at := New(s), int64(0)
	for b.Loop() {
		x := rows[at%1000]
		x.Cols[0].I64[0] = at
		at++
		next, err := v.Append(x)
		if err != nil {
			b.Fatal(err)
		}
		v = next
	}
}

// Row groups of sixteen columns like lineitem's, in the generator's form.
func BenchmarkBuildRowGroup(b *testing.B) {
	r := testRand(b)
	s := &Schema{Name: "t"}
	for range 16 {
		s.Columns = append(s.Columns, ColumnDef{Name: "c", Type: types.Int64})
	}
	cols := make([]encoding.Data, 16)
	spans := []int64{1 << 8, 1 << 16, 1 << 24, 1 << 40}
	for i := range cols {
		cols[i].Ints = make([]int64, RowGroupSize)
		for j := range cols[i].Ints {
			cols[i].Ints[j] = r.Int64N(spans[i%4])
		}
	}
	b.SetBytes(16 * 8 * RowGroupSize)
	for b.Loop() {
		builder := NewBuilder(New(s))
		if err := builder.AppendColumns(RowGroupSize, append([]encoding.Data(nil), cols...)); err != nil {
			b.Fatal(err)
		}
		if _, err := builder.Finish(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/RowGroupSize, "ns/row")
}

func BenchmarkStats(b *testing.B) {
	r := testRand(b)
	s := &Schema{Name: "t", Columns: []ColumnDef{{Name: "a", Type: types.Int64}, {Name: "b", Type: types.Int64}}}
	builder := NewBuilder(New(s))
	for range 16 {
		cols := []encoding.Data{{Ints: make([]int64, RowGroupSize)}, {Ints: make([]int64, RowGroupSize)}}
		for j := range RowGroupSize {
			cols[0].Ints[j], cols[1].Ints[j] = r.Int64N(1<<30), r.Int64N(2500)
		}
		if err := builder.AppendColumns(RowGroupSize, cols); err != nil {
			b.Fatal(err)
		}
	}
	v, err := builder.Finish()
	if err != nil {
		b.Fatal(err)
	}
	for i, name := range []string{"wide", "narrow"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				// A table that shares the chunks' sketches, as later versions do.
				fresh := *v
				fresh.stats = newStatsCache(2)
				fresh.Stats(i)
			}
		})
	}
}
