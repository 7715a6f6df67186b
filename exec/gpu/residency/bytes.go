package residency

import (
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// stringBegins says where the strings of each row group begin when all are laid end to end. It is found when first asked for, since codes have to be
// looked up for it.
type stringBegins struct {
	once sync.Once
	at   []int64
}

// padRows is how many rows behind the last one kernels may read, as zeros that are not NULL. They load whole tiles, of which the largest have 8 rows for
// each of 1,024 threads.
const padRows = 8 * 1024

// sizedForm is a column's form, with what else is needed to know its size.
type sizedForm struct {
	form.Column
	strings *stringBegins // of form.View
}

// begins returns where the strings of each row group begin, and where the last ones end.
func (t *stringBegins) begins(v *tables.Version, ordinal int) []int64 {
	t.once.Do(func() {
		t.at = make([]int64, 1, len(v.Groups())+1)
		_ = prepare(v.Groups(), ordinal, func(c *encoding.Chunk) (int64, error) { return stringBytes(c), nil }, func(_ *tables.RowGroup, size int64) error {
			t.at = append(t.at, t.at[len(t.at)-1]+size)
			return nil
		})
	})
	return t.at
}

// bytesOf says where the strings of a part begin, and how long they are.
func (t *stringBegins) bytesOf(v *tables.Version, ordinal int, part tables.Slice) (from, total int64) {
	begins := t.begins(v, ordinal)
	if part = part.Of(v); part.All() {
		return 0, begins[len(v.Groups())]
	}
	return begins[part.From], begins[part.To] - begins[part.From]
}

// stringBytes is the length of a chunk's strings end to end.
func stringBytes(c *encoding.Chunk) int64 {
	switch {
	case c.NullCount == c.Rows:
		return 0
	case c.Kind == encoding.RawString:
		return int64(c.Offsets[c.Rows] - c.Offsets[0])
	case c.Kind == encoding.Constant:
		return int64(c.Rows) * int64(len(c.Min.S))
	}
	total := int64(0)
	v := column.Vector{Type: c.Type}
	c.Decode(&v, 0, c.Rows)
	for i := range c.Rows {
		total += int64(len(v.StringAt(i)))
	}
	return total
}

// bytes is the device memory that a part of a column of this form takes.
func (f *sizedForm) bytes(v *tables.Version, ordinal int, part tables.Slice) int64 {
	first, end := part.Rows(v)
	rows := end - tileStart(first)
	size := (rows + padRows) * int64(f.Width)
	if f.Class == form.View {
		_, bytes := f.strings.bytesOf(v, ordinal, part)
		size += 8 + max(bytes, 1)
	}
	if f.HasNulls {
		size += bitmapBytes(rows)
	}
	return size
}

func bitmapBytes(rows int64) int64 { return (rows+padRows)/64*8 + 8 }

// prepare makes something of each group's chunk, on all processors, and uses it in the order of the groups.
func prepare[T any](groups []*tables.RowGroup, ordinal int, of func(*encoding.Chunk) (T, error), use func(*tables.RowGroup, T) error) error {
	workers := runtime.GOMAXPROCS(0)
	for some := range slices.Chunk(groups, 4*workers) {
		made := make([]T, len(some))
		var all errgroup.Group
		all.SetLimit(workers)
		for i := range some {
			all.Go(func() error {
				return sqlerr.Guard(func() (err error) {
					made[i], err = of(some[i].Columns[ordinal])
					return err
				})
			})
		}
		if err := all.Wait(); err != nil {
			return err
		}
		for i := range some {
			if err := use(some[i], made[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// tileStart is the first row of the largest tile that a row lies in: kernels load whole tiles.
func tileStart(row int64) int64 { return row / padRows * padRows }
