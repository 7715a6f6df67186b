package files_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
)

// TestDuplicateNames: columns whose names differ in case only, or not at all, get _1, _2 and so on in every format that can have such names.
func TestDuplicateNames(t *testing.T) {
	names := []string{"x", "X", "x_1", "x"}
	b := &column.Batch{N: 1}
	for i := range names {
		v := column.New(types.Int64, 1)
		v.Set(0, 1, types.IntValue(int64(i)))
		b.Cols = append(b.Cols, v)
	}
	for _, ending := range []string{"parquet", "arrow", "arrows", "csv"} {
		path := filepath.Join(t.TempDir(), "x."+ending)
		writeNamed(t, path, names, b)
		source, _, err := files.ParseName(path)
		if err != nil {
			t.Fatal(err)
		}
		set, err := files.Open(context.Background(), fileaccess.Full(), source)
		if err != nil {
			t.Errorf("%s: %v", ending, err)
			continue
		}
		for i, want := range []string{"x", "X_1", "x_1_1", "x_2"} {
			if got := set.Columns[i].Name; got != want {
				t.Errorf("%s: column %d is %s, want %s", ending, i, got, want)
			}
		}
		v, err := files.Read(context.Background(), fileaccess.Full(), "d", "t", source, []string{"x_2", "X_1"})
		if err != nil {
			t.Errorf("%s: %v", ending, err)
			continue
		}
		if row, _ := v.Row(0); row[0].I != 3 || row[1].I != 1 {
			t.Errorf("%s: %v", ending, row)
		}
	}
}

func writeNamed(t *testing.T, path string, names []string, b *column.Batch) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var typs []types.Type
	for _, v := range b.Cols {
		typs = append(typs, v.Type)
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
}
