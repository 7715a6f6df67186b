package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Rows of many columns that are added to a table become a row group of their own where an open one would take too many bytes that nobody counts.
func TestWideRows(t *testing.T) {
	const rows = 5000
	wide := openBytes/8/rows + 1 // columns
	for _, tt := range []struct{ columns, groups int }{{3, 1}, {wide, 3}} {
		s := &Schema{Name: "t"}
		for i := range tt.columns {
			s.Columns = append(s.Columns, ColumnDef{Name: fmt.Sprint("c", i), Type: types.Int64})
		}
		v, at := New(s), 0
		for _, n := range []int{rows, rows, 1} {
			data := make([]encoding.Data, tt.columns)
			for i := range data {
				data[i] = encoding.Data{Type: types.Int64, Rows: n, Ints: make([]int64, n)}
				for j := range data[i].Ints {
					data[i].Ints[j] = int64(at+j) * int64(i+1)
				}
			}
			b := NewBuilder(v)
			if err := b.AppendData(n, data); err != nil {
				t.Fatal(err)
			}
			var err error
			if v, err = b.Finish(); err != nil {
				t.Fatal(err)
			}
			at += n
		}
		if len(v.Groups()) != tt.groups || v.Rows() != 2*rows+1 {
			t.Fatalf("%d columns: %d groups of %d rows, want %d of %d", tt.columns, len(v.Groups()), v.Rows(), tt.groups, 2*rows+1)
		}
		for _, g := range v.Groups() {
			for i, c := range g.Columns {
				for _, row := range []int{0, g.Rows - 1} {
					if got, want := c.At(row).I, (g.First+int64(row))*int64(i+1); got != want {
						t.Fatalf("column %d of row %d: %d, want %d", i, g.First+int64(row), got, want)
					}
				}
			}
		}
	}
}

// Rows of many columns that a builder was given are encoded where they lie: nothing copies them first.
func TestWideRowsAreNotCopied(t *testing.T) {
	const rows, batches = 2000, 4
	columns := 2*openBytes/8/rows/batches + 1
	s := &Schema{Name: "t"}
	cols := make([]*column.Vector, columns)
	r := rand.New(rand.NewPCG(20261129, 0))
	for i := range cols {
		s.Columns = append(s.Columns, ColumnDef{Name: fmt.Sprint("c", i), Type: types.Int64})
		cols[i] = column.New(types.Int64, rows)
		for j := range cols[i].I64 {
			cols[i].I64[j] = int64(r.Uint64())
		}
	}
	v := New(s)
	for range 2 {
		b := NewBuilder(v)
		for range batches {
			if err := b.Take(&column.Batch{N: rows, Cols: cols}); err != nil {
				t.Fatal(err)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var err error
		if v, err = b.Finish(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		once := s.plainBytes(rows * batches)
		if got := int64(after.TotalAlloc - before.TotalAlloc); got > once*3/2 && !underRace {
			t.Errorf("Finish allocated %d bytes for %d of values", got, once)
		}
	}
	if len(v.Groups()) != 2 {
		t.Errorf("%d groups, want 2", len(v.Groups()))
	}
}

// A builder asks for memory before its arrays grow, and ends a row group where there is none.
func TestBuilderWithoutMemory(t *testing.T) {
	const columns, batches, rows, limit = 100, 40, 1000, 12 << 20 // 32 MB of arrays in all
	s := &Schema{Name: "t"}
	cols := make([]*column.Vector, columns)
	for i := range cols {
		s.Columns = append(s.Columns, ColumnDef{Name: fmt.Sprint("c", i), Type: types.Int64})
		cols[i] = column.New(types.Int64, rows)
	}
	most := int64(0)
	b := NewBuilder(New(s)).Meter(WithMeter(t.Context(), func(bytes int64) error {
		if bytes > limit {
			return errors.New("too much")
		}
		most = max(most, bytes)
		return nil
	}))
	for range batches {
		if err := b.Append(&column.Batch{N: rows, Cols: cols}); err != nil {
			t.Fatal(err)
		}
		if got := b.Bytes(); got > most {
			t.Fatalf("%d bytes, and %d were asked for", got, most)
		}
	}
	v, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if v.Rows() != batches*rows || len(v.Groups()) < 3 {
		t.Errorf("%d rows in %d groups", v.Rows(), len(v.Groups()))
	}
}
