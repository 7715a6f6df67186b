package parquet_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

// Columns like lineitem's: keys, decimals, dates, few and many strings.
func benchBatch(b *testing.B, n int) ([]string, []types.Type, *column.Batch) {
	r := batchtest.Rand(b)
	typs := []types.Type{types.Int64, types.Int64, types.Decimal(15, 2), types.Decimal(15, 2), types.Date, types.Char(1), types.Char(25), types.Varchar(44)}
	var names []string
	batch := &column.Batch{N: n}
	for c, t := range typs {
		names = append(names, fmt.Sprint("c", c))
		v := column.New(t, n)
		for i := range n {
			switch c {
			case 0:
				v.I64[i] = int64(i / 4)
			case 1, 2, 3:
				v.I64[i] = r.Int64N(200000)
			case 4:
				v.I64[i] = 8000 + r.Int64N(2500)
			case 5:
				v.Str[i] = "ANR"[r.IntN(3):][:1]
			case 6:
				v.Str[i] = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}[r.IntN(4)]
			case 7:
				v.Str[i] = fmt.Sprint("carefully final deposits ", r.IntN(1e6))
			}
		}
		batch.Cols = append(batch.Cols, v)
	}
	return names, typs, batch
}

func BenchmarkLoad(b *testing.B) {
	names, typs, batch := benchBatch(b, 500000)
	var defs []table.ColumnDef
	for i, t := range typs {
		defs = append(defs, table.ColumnDef{Name: names[i], Type: t})
	}
	path := format.Write(b, defs, []*column.Batch{batch})
	for b.Loop() {
		if v, err := format.Read(path, nil); err != nil || v.Rows() != 500000 {
			b.Fatal(v, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500000, "ns/row")
}

func BenchmarkWrite(b *testing.B) {
	names, typs, batch := benchBatch(b, 200000)
	for b.Loop() {
		w, err := parquet.NewWriter(io.Discard, names, typs)
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Write(batch); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200000, "ns/row")
}
