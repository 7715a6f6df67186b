package parquet_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

func testRand(t testing.TB) *rand.Rand {
	const seed = 20260101
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// write writes batches to a file of the test's own.
func write(t *testing.T, defs []table.ColumnDef, batches []*column.Batch) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var typs []types.Type
	for _, d := range defs {
		names, typs = append(names, d.Name), append(typs, d.Type)
	}
	w, err := parquet.NewWriter(out, names, typs)
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
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// read loads the columns at ordinals of a file.
func read(path string, ordinals []int) (*table.Version, error) {
	f, err := parquet.Open(path)
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
	v, err := read(write(t, defs, batches), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, got := batchtest.Texts(batches), batchtest.TableTexts(v)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for c := range want[i] {
			// Parquet has no seconds: what was written with none comes back with three zeros.
			if typ := defs[c].Type; got[i][c] != want[i][c] && (typ.Scale != 0 || !typ.IsTemporal() || got[i][c] != want[i][c]+".000") {
				t.Fatalf("row %d, %s: %q, want %q", i, typ, got[i][c], want[i][c])
			}
		}
	}
}

// More rows than a row group, so that the file has several, and a projection.
func TestRowGroupsAndProjection(t *testing.T) {
	r := testRand(t)
	defs := []table.ColumnDef{{Name: "a", Type: types.Int64}, {Name: "few", Type: types.Text}, {Name: "many", Type: types.Text}}
	var batches []*column.Batch
	const total = 2*table.RowGroupSize + 5000
	for n := 0; n < total; n += 10000 {
		b := batchtest.Batch(r, defs, min(10000, total-n), false)
		for i := range b.N {
			b.Cols[0].Set(i, b.N, types.IntValue(int64(n+i)))
			b.Cols[2].Set(i, b.N, types.StringValue(strings.Repeat("x", i%7)+types.IntValue(r.Int64()).Text()))
		}
		batches = append(batches, b)
	}
	path := write(t, defs, batches)
	whole, err := read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	some, err := read(path, []int{2, 0})
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

// Files cut off anywhere, and with bytes changed, give an error or rows, but never a panic.
func TestDamaged(t *testing.T) {
	r := testRand(t)
	defs := batchtest.Columns()
	path := write(t, defs, []*column.Batch{batchtest.Batch(r, defs, 200, false)})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.parquet")
	try := func(name string, content []byte) error {
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := read(bad, nil)
		if err != nil && !strings.Contains(err.Error(), "bad.parquet") {
			t.Errorf("%s: the error does not name the file: %v", name, err)
		}
		return err
	}
	for n := 0; n < len(good); n += 1 + len(good)/50 {
		if err := try("cut off", good[:n]); !errors.Is(err, sqlerr.CodeErrorOnRead) {
			t.Errorf("%d of %d bytes: %v", n, len(good), err)
		}
	}
	refused := 0
	for range 150 {
		content := append([]byte(nil), good...)
		for range 1 + r.IntN(8) {
			content[r.IntN(len(content))] ^= byte(1 << r.IntN(8))
		}
		if try("changed", content) != nil {
			refused++
		}
	}
	t.Logf("%d of 150 damaged files refused", refused)
	if err := try("text", []byte("a,b\n1,2\n")); !errors.Is(err, sqlerr.CodeErrorOnRead) {
		t.Error(err)
	}
	if _, err := parquet.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, sqlerr.CodeFileNotFound) {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	defs := batchtest.Columns()
	f, err := parquet.Open(write(t, defs, []*column.Batch{batchtest.Batch(testRand(t), defs, 10, false)}))
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
