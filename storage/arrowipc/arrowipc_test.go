package arrowipc_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowipc"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/table"
)

func testRand(t testing.TB) *rand.Rand {
	const seed = 20260101
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func write(t *testing.T, stream bool, defs []table.ColumnDef, batches []*column.Batch) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.arrow")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var typs []types.Type
	for _, d := range defs {
		names, typs = append(names, d.Name), append(typs, d.Type)
	}
	var w *arrowipc.Writer
	if stream {
		w = arrowipc.NewStreamWriter(out, names, typs)
	} else if w, err = arrowipc.NewWriter(out, names, typs); err != nil {
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
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(path string, ordinals []int) (*table.Version, error) {
	f, err := arrowipc.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defs := f.Columns()
	if ordinals != nil {
		defs = nil
		for _, o := range ordinals {
			defs = append(defs, f.Columns()[o])
		}
	}
	b := table.NewBuilder(table.New(&table.Schema{Name: "t", Columns: defs}))
	if err := f.Load(context.Background(), b, ordinals); err != nil {
		return nil, err
	}
	return b.Finish()
}

func TestRoundTrip(t *testing.T) {
	r := testRand(t)
	defs := batchtest.Columns()
	var batches []*column.Batch
	for i, n := range []int{2048, 1, 0, 2048, 777} {
		batches = append(batches, batchtest.Batch(r, defs, n, i == 3))
	}
	want := batchtest.Texts(batches)
	for _, stream := range []bool{false, true} {
		path := write(t, stream, defs, batches)
		v, err := read(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := batchtest.TableTexts(v)
		if len(got) != len(want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Fatalf("row %d: %q, want %q", i, got[i], want[i])
			}
		}
		some, err := read(path, []int{5, 2})
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range batchtest.TableTexts(some) {
			if x[0] != want[i][5] || x[1] != want[i][2] {
				t.Fatalf("row %d: projected %q of %q", i, x, want[i])
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	r := testRand(t)
	defs := batchtest.Columns()
	for _, stream := range []bool{false, true} {
		good, err := os.ReadFile(write(t, stream, defs, []*column.Batch{batchtest.Batch(r, defs, 100, false), batchtest.Batch(r, defs, 100, false)}))
		if err != nil {
			t.Fatal(err)
		}
		bad := filepath.Join(t.TempDir(), "bad.arrow")
		for n := 0; n < len(good)-8; n += 1 + len(good)/50 {
			if err := os.WriteFile(bad, good[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			v, err := read(bad, nil)
			switch {
			case err == nil && stream && v.Rows()%100 == 0:
				// A stream that ends between batches is whole: its end mark is optional.
			case !errors.Is(err, sqlerr.CodeErrorOnRead) || !strings.Contains(err.Error(), "bad.arrow"):
				t.Errorf("stream %v, %d of %d bytes: %v", stream, n, len(good), err)
			}
		}
		for range 100 {
			content := append([]byte(nil), good...)
			content[r.IntN(len(content))] ^= byte(1 << r.IntN(8))
			if err := os.WriteFile(bad, content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _ = read(bad, nil) // an error or rows, but no panic
		}
	}
	if _, err := arrowipc.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, sqlerr.CodeFileNotFound) {
		t.Error(err)
	}
}
