package parquet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

var format = batchtest.Format{
	NewWriter: func(f *os.File, names []string, columns []types.Type) (batchtest.Writer, error) {
		return parquet.NewWriter(f, names, columns)
	},
	Open: func(path string) (batchtest.File, error) { return parquet.Open(path) },
}

func TestRoundTrip(t *testing.T) {
	format.RoundTrip(t, func(typ types.Type, got, want string) bool {
		// Parquet has no seconds: what was written with none comes back with three zeros.
		return got == want || typ.Scale == 0 && typ.IsTemporal() && got == want+".000"
	})
}

func TestDamaged(t *testing.T) {
	format.Damaged(t, func(int, *table.Version) bool { return false })
}

// More rows than a row group, so that the file has several, and a projection.
func TestRowGroupsAndProjection(t *testing.T) {
	r := batchtest.Rand(t)
	defs := []table.ColumnDef{{Name: "a", Type: types.Int64}, {Name: "few", Type: types.Text}, {Name: "many", Type: types.Text}}
	var batches []*column.Batch
	const total = table.RowGroupSize + 5000
	for n := 0; n < total; n += 10000 {
		b := batchtest.Batch(r, defs, min(10000, total-n), false)
		for i := range b.N {
			b.Cols[0].Set(i, b.N, types.IntValue(int64(n+i)))
			b.Cols[2].Set(i, b.N, types.StringValue(strings.Repeat("x", i%7)+types.IntValue(r.Int64()).Text()))
		}
		batches = append(batches, b)
	}
	path := format.Write(t, defs, batches)
	whole, err := format.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	some, err := format.Read(path, []int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	if whole.Rows() != total || some.Rows() != total || some.Schema.Columns[0].Name != "many" {
		t.Fatalf("%d and %d rows", whole.Rows(), some.Rows())
	}
	for i := 0; i < total; i += 13 {
		b := batches[i/10000]
		w, _ := whole.Row(int64(i))
		s, _ := some.Row(int64(i))
		for c := range 3 {
			if want := b.Cols[c].Value(i % 10000); w[c].Text() != want.Text() || w[c].Null != want.Null {
				t.Fatalf("row %d: %v, want %v", i, w[c], want)
			}
		}
		if s[0].S != w[2].S || s[1].I != w[0].I {
			t.Fatalf("row %d: projected %v of %v", i, s, w)
		}
	}
}

func TestCancelled(t *testing.T) {
	defs := batchtest.Columns()
	f, err := parquet.Open(format.Write(t, defs, []*column.Batch{batchtest.Batch(batchtest.Rand(t), defs, 10, false)}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := table.NewBuilder(table.New(&table.Schema{Name: "t", Columns: f.Columns()}))
	if err := f.Load(ctx, b, nil); !errors.Is(err, sqlerr.Cancelled) {
		t.Fatal(err)
	}
}

// TestForeign reads files of DuckDB 2.0.0, which wrote
//
//	lz4_raw:  SELECT i::INT AS i, CASE WHEN i % 7 = 0 THEN NULL ELSE 'row ' || (i * i % 13) END AS s,
//	          (i * 1.25)::DECIMAL(12, 2) AS d, i::DOUBLE / 4 AS f FROM range(500) r(i)
//	interval: SELECT 1 AS a, INTERVAL 3 DAYS AS v
func TestForeign(t *testing.T) {
	v, err := format.Read("testdata/lz4_raw.parquet", nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Rows() != 500 {
		t.Fatalf("%d rows", v.Rows())
	}
	for i := range v.Rows() {
		values, _ := v.Row(i)
		text := "NULL"
		if i%7 != 0 {
			text = fmt.Sprintf("row %d", i*i%13)
		}
		want := []string{fmt.Sprint(i), text, fmt.Sprintf("%.2f", float64(i)*1.25), fmt.Sprint(float64(i) / 4)}
		for c, w := range want {
			if got := values[c].Text(); got != w {
				t.Fatalf("row %d, column %d: %s, want %s", i, c, got, w)
			}
		}
	}
	// INTERVAL is text, as DuckDB writes it.
	f, err := parquet.Open("testdata/interval.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if cols := f.Columns(); cols[0].Foreign != "" || cols[1].Name != "v" || cols[1].Type != types.Text || cols[1].Foreign != "" {
		t.Errorf("columns %+v", cols)
	}
	if v, err := format.Read("testdata/interval.parquet", nil); err != nil || fmt.Sprint(batchtest.TableTexts(v)) != "[[1 3 days]]" {
		t.Error(v, err)
	}
}
