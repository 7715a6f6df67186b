package parquet

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// compareLate reads a file's columns late, by random selections of random runs of rows, some columns along with others that are read in full, and compares them
// with the whole file.
func compareLate(t *testing.T, path string, whole *table.Version, r *rand.Rand) {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var tested, late []int
	var shared, sharedLate []*column.Dictionary
	var testedTypes []types.Type
	for o := range f.columns {
		if r.IntN(4) == 0 {
			tested, shared, testedTypes = append(tested, o), append(shared, column.NewDictionary()), append(testedTypes, f.columns[o].Type)
		} else {
			late, sharedLate = append(late, o), append(sharedLate, column.NewDictionary())
		}
	}
	shared = append(shared, sharedLate...)
	vectors := make([]column.Vector, len(late))
	row, held := int64(0), int64(0)
	for g := range f.Groups() {
		ctx := table.WithScratch(table.WithMeter(context.Background(), func(bytes int64) error { held = bytes; return nil }))
		in, err := f.Stream(ctx, g, tested, late, nil, shared)
		if err != nil {
			t.Fatal(err)
		}
		density := []int{1, 2, 5, 100}[r.IntN(4)]
		for {
			rows, chunks, err := in.Next(testedTypes)
			if err != nil {
				t.Fatal(err)
			}
			if rows == 0 {
				break
			}
			for i, o := range tested {
				for k := 0; k < rows; k += 1 + r.IntN(50) {
					want, _ := whole.Row(row + int64(k))
					if got := chunks[i].At(k); got.Text() != want[o].Text() || got.Null != want[o].Null {
						t.Fatalf("%s, row %d, column %s: %s, want %s", path, row+int64(k), f.columns[o].Name, got.Text(), want[o].Text())
					}
				}
			}
			for from := 0; from < rows; {
				n := min(rows-from, 1+r.IntN(column.VectorSize))
				for i, o := range late {
					var sel []int32
					for p := range n {
						if r.IntN(density) == 0 {
							sel = append(sel, int32(p))
						}
					}
					switch {
					case r.IntN(5) == 0, len(sel) == 0: // no row of this column is wanted
						continue
					case r.IntN(5) == 0:
						sel = nil
					}
					if err := in.Gather(&vectors[i], f.columns[o].Type, i, from, n, sel); err != nil {
						t.Fatal(err)
					}
					if sel == nil {
						for p := range n {
							sel = append(sel, int32(p))
						}
					}
					for _, p := range sel {
						want, _ := whole.Row(row + int64(from) + int64(p))
						if got := vectors[i].Value(int(p)); got.Text() != want[o].Text() || got.Null != want[o].Null {
							t.Fatalf("%s, row %d, column %s: %s, want %s", path, row+int64(from)+int64(p), f.columns[o].Name, got.Text(), want[o].Text())
						}
					}
				}
				from += n
			}
			row += int64(rows)
		}
		if in.Close(); held != 0 {
			t.Fatalf("%s: %d bytes are still counted", path, held)
		}
	}
	if row != whole.Rows() {
		t.Fatalf("%s: %d rows, want %d", path, row, whole.Rows())
	}
}

// Columns that are decoded for some rows only have the values that they have in the whole file, in all encodings, versions of pages and types of other writers.
func TestLateColumns(t *testing.T) {
	const seed = 20260104
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	files, err := filepath.Glob("testdata/v?_*.parquet")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range append(files, "testdata/long.parquet", "testdata/nulls.parquet") {
		whole := load(t, path)
		for range 20 {
			if compareLate(t, path, whole, r); whole.Rows() > 10000 {
				break
			}
		}
	}
}
