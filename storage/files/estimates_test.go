package files_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
)

// TestDistinctEstimates compares what footers suggest with how many values columns have, over three files in folders that are partitions.
func TestDistinctEstimates(t *testing.T) {
	const rows = 20_000
	shapes := []struct {
		name string
		typ  types.Type
		want float64 // 0: there is no estimate
		off  float64 // the factor by which the estimate may be wrong
		of   func(r *rand.Rand, row int) types.Value
	}{
		{"key", types.Int64, 3 * rows, 1.001, func(_ *rand.Rand, row int) types.Value { return types.IntValue(int64(row)) }},
		{"order", types.Int64, 3 * rows / 8, 1.01, func(_ *rand.Rand, row int) types.Value { return types.IntValue(int64(row / 8 * 1000)) }},
		{"status", types.Text, 3, 1.001, func(r *rand.Rand, _ int) types.Value { return types.StringValue("FOP"[r.IntN(3):][:1]) }},
		{"clerk", types.Text, 1000, 1.1, func(r *rand.Rand, _ int) types.Value {
			return types.StringValue(fmt.Sprintf("Clerk#%09d", r.IntN(1000)))
		}},
		{"customer", types.Int64, 9000, 7, func(r *rand.Rand, _ int) types.Value { return types.IntValue(r.Int64N(9000) * 1e9) }},
		{"price", types.Double, 40, 1.001, func(r *rand.Rand, _ int) types.Value { return types.FloatValue(float64(r.IntN(40)) / 8) }},
		{"long", types.Text, 9, 1.001, func(r *rand.Rand, _ int) types.Value { return types.StringValue(fmt.Sprintf("%0200d", r.IntN(9))) }},
		{"text", types.Text, 3 * rows, 1.001, func(r *rand.Rand, row int) types.Value { return types.StringValue(fmt.Sprintf("%0200d", row)) }},
		{"none", types.Int64, 0, 1, func(*rand.Rand, int) types.Value { return types.NullOf(types.Int64) }},
	}
	var names []string
	var typs []types.Type
	for _, s := range shapes {
		names, typs = append(names, s.name), append(typs, s.typ)
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(20261128, 20))
	for i, month := range []string{"2", "10", "7"} {
		path := filepath.Join(dir, "month="+month, "x.parquet")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		b := &column.Batch{N: rows}
		at := i * rows
		for _, s := range shapes {
			v := column.New(s.typ, rows)
			for row := range rows {
				v.Set(row, rows, s.of(r, at+row))
			}
			b.Cols = append(b.Cols, v)
		}
		w, err := files.NewWriter(f, path, names, typs, files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	source, _, err := files.ParseName(filepath.Join(dir, "**", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := files.Open(context.Background(), fileaccess.Full(), source)
	if err != nil {
		t.Fatal(err)
	}
	estimates := set.Estimates()
	for i, s := range shapes {
		e := estimates[i]
		switch {
		case s.want == 0:
			if e != nil {
				t.Errorf("%s: %v values", s.name, e.Distinct)
			}
		case e == nil:
			t.Errorf("%s: nothing", s.name)
		case math.Max(e.Distinct/s.want, s.want/e.Distinct) > s.off:
			t.Errorf("%s: %v values, want %v", s.name, e.Distinct, s.want)
		}
	}
	if e := estimates[len(shapes)]; e == nil || e.Distinct != 3 {
		t.Errorf("month: %+v", e)
	}
}
