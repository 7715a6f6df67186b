package batchtest

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Seed is the seed of the tests of file formats; a test that fails shows it.
const Seed = 20260101

// Rand returns a source of random numbers that are the same each time.
func Rand(t testing.TB) *rand.Rand {
	t.Logf("seed %d", Seed)
	return rand.New(rand.NewPCG(Seed, 1))
}

// Format is a file format that has a schema.
type Format struct {
	NewWriter func(f *os.File, names []string, columns []types.Type) (Writer, error)
	Open      func(path string) (File, error)
}

// Writer writes batches.
type Writer interface {
	Write(*column.Batch) error
	Close() error
}

// File is an open file.
type File interface {
	Columns() []table.ColumnDef
	Load(ctx context.Context, b *table.Builder, ordinals []int) error
	io.Closer
}

// Write writes batches to a file of the test's own.
func (f Format) Write(t testing.TB, defs []table.ColumnDef, batches []*column.Batch) (path string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var names []string
	var columns []types.Type
	for _, d := range defs {
		names, columns = append(names, d.Name), append(columns, d.Type)
	}
	w, err := f.NewWriter(out, names, columns)
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
	return out.Name()
}

// Read loads the columns at ordinals of a file, nil for all.
func (f Format) Read(path string, ordinals []int) (*table.Version, error) {
	file, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	defs := file.Columns()
	if ordinals != nil {
		defs = nil
		for _, o := range ordinals {
			defs = append(defs, file.Columns()[o])
		}
	}
	b := table.NewBuilder(table.New(&table.Schema{Name: "t", Columns: defs}))
	if err := file.Load(context.Background(), b, ordinals); err != nil {
		return nil, err
	}
	return b.Finish()
}

// RoundTrip checks that what is written is read back, all columns and two of them. same compares a value that was read with
// the one that was written.
func (f Format) RoundTrip(t *testing.T, same func(typ types.Type, got, want string) bool) {
	r := Rand(t)
	defs := Columns()
	var batches []*column.Batch
	for i, n := range []int{2048, 1, 0, 2048, 777} {
		batches = append(batches, Batch(r, defs, n, i == 3))
	}
	want := Texts(batches)
	path := f.Write(t, defs, batches)
	all := make([]int, len(defs))
	for i := range all {
		all[i] = i
	}
	for _, ordinals := range [][]int{nil, {5, 2}} {
		v, err := f.Read(path, ordinals)
		if err != nil {
			t.Fatal(err)
		}
		if ordinals == nil {
			ordinals = all
		}
		got := TableTexts(v)
		if len(got) != len(want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
		for i := range want {
			for at, c := range ordinals {
				if !same(defs[c].Type, got[i][at], want[i][c]) {
					t.Fatalf("row %d, %s: %q, want %q", i, defs[c].Type, got[i][at], want[i][c])
				}
			}
		}
	}
}

// Damaged checks that files that are cut off give an error that names them, and files with bytes changed such an error or
// rows, but no panic. whole says whether a file of which only the first n bytes are left may be read all the same.
func (f Format) Damaged(t *testing.T, whole func(n int, v *table.Version) bool) {
	r := Rand(t)
	defs := Columns()
	good, err := os.ReadFile(f.Write(t, defs, []*column.Batch{Batch(r, defs, 100, false), Batch(r, defs, 100, false)}))
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.file")
	try := func(name string, content []byte) (*table.Version, error) {
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := f.Read(bad, nil)
		if err != nil && !strings.Contains(err.Error(), "bad.file") {
			t.Errorf("%s: the error does not name the file: %v", name, err)
		}
		return v, err
	}
	for n := 0; n < len(good)-8; n += 1 + len(good)/50 {
		v, err := try("cut off", good[:n])
		if !errors.Is(err, sqlerr.CodeErrorOnRead) && !(err == nil && whole(n, v)) {
			t.Errorf("%d of %d bytes: %v", n, len(good), err)
		}
	}
	refused := 0
	for range 50 {
		content := append([]byte(nil), good...)
		for range 1 + r.IntN(8) {
			content[r.IntN(len(content))] ^= byte(1 << r.IntN(8))
		}
		if _, err := try("changed", content); err != nil {
			refused++
		}
	}
	t.Logf("%d of 50 damaged files refused", refused)
	if _, err := try("text", []byte("a,b\n1,2\n")); !errors.Is(err, sqlerr.CodeErrorOnRead) {
		t.Error(err)
	}
	if _, err := f.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, sqlerr.CodeFileNotFound) {
		t.Error(err)
	}
}
