package files_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/table"
)

var names = []string{"id", "word", "amount"}
var columns = []types.Type{types.Int64, types.Text, types.Decimal(15, 2)}

func batch(r *rand.Rand, n int) *column.Batch {
	var defs []table.ColumnDef
	for i := range names {
		defs = append(defs, table.ColumnDef{Name: names[i], Type: columns[i], Nullable: true})
	}
	b := batchtest.Batch(r, defs, n, false)
	for i := range n {
		// Values that CSV's inference takes for what they are.
		b.Cols[0].Set(i, n, types.IntValue(r.Int64N(1e6)))
		b.Cols[1].Set(i, n, types.StringValue(fmt.Sprint("w", r.IntN(9))))
		b.Cols[2].Set(i, n, types.Value{Type: columns[2], I: r.Int64N(1e6)})
	}
	return b
}

func write(t *testing.T, path string, batches ...*column.Batch) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := files.NewWriter(f, path, names, columns, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every format by its name, one file and several by a pattern, whole and some columns.
func TestRead(t *testing.T) {
	r := rand.New(rand.NewPCG(20260101, 1))
	for _, ext := range []string{"csv", "tsv", "psv", "txt", "parquet", "pq", "arrow", "feather", "ipc", "arrows",
		"jsonl", "ndjson", "csv.gz", "tsv.zst", "psv.gz", "txt.ZST", "jsonl.gz", "ndjson.zst"} {
		t.Run(ext, func(t *testing.T) {
			dir := t.TempDir()
			a, b := batch(r, 100), batch(r, 50)
			write(t, filepath.Join(dir, "part-1."+ext), a)
			write(t, filepath.Join(dir, "part-2."+ext), b)
			for _, tc := range []struct {
				pattern string
				want    []*column.Batch
			}{{"part-2." + ext, []*column.Batch{b}}, {"part-*." + ext, []*column.Batch{a, b}}} {
				want := batchtest.Texts(tc.want)
				v, err := files.Read(context.Background(), fileaccess.Full(), "d", "t", files.Source{Pattern: filepath.Join(dir, tc.pattern)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := batchtest.TableTexts(v); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%s: %v, want %v", tc.pattern, got, want)
				}
				for i, c := range v.Schema.Columns {
					if c.Name != names[i] || c.Type != columns[i] {
						t.Errorf("column %d is %s %s", i, c.Name, c.Type)
					}
				}
				some, err := files.Read(context.Background(), fileaccess.Full(), "d", "t", files.Source{Pattern: filepath.Join(dir, tc.pattern)}, []string{"AMOUNT", "id"})
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range batchtest.TableTexts(some) {
					if !slices.Equal(row, []string{want[i][2], want[i][0]}) {
						t.Fatalf("row %d: %v of %v", i, row, want[i])
					}
				}
			}
			_, err := files.Read(context.Background(), fileaccess.Full(), "d", "t", files.Source{Pattern: filepath.Join(dir, "part-1."+ext)}, []string{"amuont"})
			if !errors.Is(err, sqlerr.CodeUnknownColumn) || !strings.Contains(err.Error(), "did you mean 'amount'") {
				t.Error(err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	write(t, filepath.Join(dir, "a.parquet"), batch(r, 3))
	write(t, filepath.Join(dir, "a.csv"), batch(r, 3))
	for pattern, want := range map[string]error{"a.*": sqlerr.CodeWrongArguments, "b.*": sqlerr.CodeFileNotFound, "[": sqlerr.CodeFileNotFound,
		"none.csv": sqlerr.CodeFileNotFound, "none.parquet": sqlerr.CodeFileNotFound, "a.xlsx": sqlerr.NotSupported,
		"none.csv.gz": sqlerr.CodeFileNotFound, "none.jsonl": sqlerr.CodeFileNotFound, "a.parquet.gz": sqlerr.NotSupported, "a.json": sqlerr.CodeFileNotFound, "a.csv.bz2": sqlerr.NotSupported} {
		if _, err := files.Read(context.Background(), fileaccess.Full(), "d", "t", files.Source{Pattern: filepath.Join(dir, pattern)}, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
