// Package drawn makes tables whose values follow from the numbers of their rows, so that what a query has to give is known without running it.
package drawn

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/column"
	enginedb "github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

// Table is a table whose values follow from the numbers of their rows, so that any part of it can be made at any time, on any processor.
type Table struct {
	Name    string
	Rows    int64
	Columns []Column
	// Watch, where it is set, sees each row group's numbers by column, as they are drawn: for totals. Several calls run at the same time. It must
	// neither change nor keep them.
	Watch func(numbers [][]int64)
}

// Column is a column: each row has a number, and each number a value. A column whose values are doubles has them in millionths, one of decimals in
// units of the last place.
type Column struct {
	Name string
	Typ  types.Type
	Draw func(row int64) int64 // nil: the numbers are those of the earlier column same
	Same int
	Text func(b []byte, number int64) []byte // of columns of strings
	// Words are the strings by number, of a column of few strings; nil: text makes them.
	// All of them are in the column's dictionary.
	Words []string
}

// Micro is how many steps of a double's numbers are one.
const Micro = 1_000_000

// Uniform returns a function that draws from 0 to n-1 by a hash of the row's number. Each salt is a column of its own.
func Uniform(salt uint64, n int64) func(row int64) int64 {
	start := SplitMix(salt)
	return func(row int64) int64 { return Below(SplitMix(start+uint64(row)), n) }
}

// UniformFrom returns a function that draws from least to most.
func UniformFrom(salt uint64, least, most int64) func(row int64) int64 {
	draw := Uniform(salt, most-least+1)
	return func(row int64) int64 { return least + draw(row) }
}

// Permutation is a permutation of 0..n-1 in no visible order: a Feistel network over just enough bits, applied until the result is below n
// (cycle walking: Black and Rogaway 2002, section 4).
type Permutation struct {
	n             uint64
	right         int // bits of the right half
	leftM, rightM uint64
	keys          [4]uint64
}

func NewPermutation(salt uint64, n int64) *Permutation {
	width := max(bits.Len64(uint64(n-1)), 2)
	p := &Permutation{n: uint64(n), right: width / 2}
	p.rightM, p.leftM = 1<<p.right-1, 1<<(width-p.right)-1
	for i := range p.keys {
		p.keys[i] = SplitMix(salt*uint64(len(p.keys)) + uint64(i))
	}
	return p
}

// Of returns what i becomes.
func (p *Permutation) Of(i int64) int64 {
	x := uint64(i)
	for {
		l, r := x>>p.right, x&p.rightM
		l ^= SplitMix(r+p.keys[0]) & p.leftM
		r ^= SplitMix(l+p.keys[1]) & p.rightM
		l ^= SplitMix(r+p.keys[2]) & p.leftM
		r ^= SplitMix(l+p.keys[3]) & p.rightM
		if x = l<<p.right | r; x < p.n {
			return int64(x)
		}
	}
}

// Inverse returns what becomes i.
func (p *Permutation) Inverse(i int64) int64 {
	x := uint64(i)
	for {
		l, r := x>>p.right, x&p.rightM
		r ^= SplitMix(l+p.keys[3]) & p.rightM
		l ^= SplitMix(r+p.keys[2]) & p.leftM
		r ^= SplitMix(l+p.keys[1]) & p.rightM
		l ^= SplitMix(r+p.keys[0]) & p.leftM
		if x = l<<p.right | r; x < p.n {
			return int64(x)
		}
	}
}

// Padded writes a number with leading zeros. It has no more than 20 digits.
func Padded(b []byte, n int64, digits int) []byte {
	var text [20]byte
	for i := digits - 1; i >= 0; i-- {
		text[i], n = byte('0'+n%10), n/10
	}
	return append(b, text[:digits]...)
}

// Numbers draws the numbers of n rows, by column. Columns that have the same numbers share them.
func (t *Table) Numbers(first int64, n int) [][]int64 {
	out := make([][]int64, len(t.Columns))
	for c := range t.Columns {
		draw := t.Columns[c].Draw
		if draw == nil {
			out[c] = out[t.Columns[c].Same]
			continue
		}
		out[c] = make([]int64, n)
		for i := range out[c] {
			out[c][i] = draw(first + int64(i))
		}
	}
	return out
}

// data turns numbers into a row group's column. It takes them over where it can. The dictionary has the column's words in order.
func (c *Column) data(numbers []int64, dictionary *column.Dictionary) encoding.Data {
	var d encoding.Data
	switch {
	case c.Words != nil:
		d.Dict, d.Codes = dictionary, make([]uint32, len(numbers))
		for i, n := range numbers {
			d.Codes[i] = uint32(n)
		}
	case c.Text != nil:
		d.Offsets, d.Bytes = make([]uint32, len(numbers)+1), make([]byte, 0, 12*len(numbers))
		for i, n := range numbers {
			d.Bytes = c.Text(d.Bytes, n)
			d.Offsets[i+1] = uint32(len(d.Bytes))
		}
	case c.Typ.IsFloat():
		d.Floats = make([]float64, len(numbers))
		for i, n := range numbers {
			d.Floats[i] = float64(n) / Micro
		}
	default:
		d.Ints = numbers
	}
	return d
}

// vector is data for Parquet's writer.
func (c *Column) vector(numbers []int64) *column.Vector {
	v := column.New(c.Typ, len(numbers))
	var buf []byte
	for i, n := range numbers {
		switch {
		case c.Words != nil:
			v.Str[i] = c.Words[n]
		case c.Text != nil:
			buf = c.Text(buf[:0], n)
			v.Str[i] = string(buf)
		case c.Typ.IsFloat():
			v.F64[i] = float64(n) / Micro
		default:
			v.I64[i] = n
		}
	}
	return v
}

// Create makes the table in a database; one of that name is dropped.
func (t *Table) Create(ctx context.Context, db *database.DB) error {
	if err := db.Exec(ctx, "DROP TABLE IF EXISTS "+t.Name); err != nil {
		return err
	}
	v, err := t.Version(ctx)
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	return db.Engine.Register(v)
}

// Version makes the table.
func (t *Table) Version(ctx context.Context) (*table.Version, error) {
	schema := &table.Schema{Database: enginedb.DefaultDatabase, Name: t.Name}
	for _, c := range t.Columns {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: c.Name, Type: c.Typ})
	}
	builder := table.NewBuilder(table.New(schema))
	dictionaries := make([]*column.Dictionary, len(t.Columns))
	for c := range t.Columns {
		if words := t.Columns[c].Words; words != nil {
			dictionaries[c] = column.NewDictionary(words...)
			builder.UseDictionary(c, dictionaries[c])
		}
	}
	return fillTable(ctx, builder, t.Rows, func(first int64, n int) []encoding.Data {
		numbers := t.Numbers(first, n)
		if t.Watch != nil {
			t.Watch(numbers)
		}
		cols := make([]encoding.Data, len(t.Columns))
		for c := range t.Columns {
			cols[c] = t.Columns[c].data(numbers[c], dictionaries[c])
		}
		return cols
	})
}

// fillTable gives a builder row groups that part makes, on all processors and a bounded number of them at once, and finishes the table.
func fillTable(ctx context.Context, b *table.Builder, rows int64, part func(first int64, n int) []encoding.Data) (*table.Version, error) {
	type group struct {
		rows int
		cols []encoding.Data
	}
	parts := make(chan chan group, runtime.GOMAXPROCS(0))
	go func() {
		defer close(parts)
		for first := int64(0); first < rows && ctx.Err() == nil; first += table.RowGroupSize {
			c := make(chan group, 1)
			parts <- c
			go func() {
				n := int(min(rows-first, table.RowGroupSize))
				c <- group{n, part(first, n)}
			}()
		}
	}()
	var failed error
	for c := range parts {
		g := <-c
		if failed == nil {
			failed = b.AppendColumns(g.rows, g.cols)
		}
	}
	if failed == nil {
		failed = ctx.Err()
	}
	if failed != nil {
		return nil, failed
	}
	return b.Finish()
}

// HandOver gives DuckDB tables, as Parquet files of some of their rows each, which go once they are read.
func HandOver(ctx context.Context, tables []*Table, duck *peers.DuckDB, threads int, compress bool) error {
	folder, err := os.MkdirTemp("", "radish-tables-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, t := range tables {
		step := peers.PartRows * int64(threads)
		for first := int64(0); first < t.Rows; first += step {
			var files []string
			g, ctx := errgroup.WithContext(ctx)
			for from := first; from < min(first+step, t.Rows); from += peers.PartRows {
				path := filepath.Join(folder, fmt.Sprintf("%s-%d.parquet", t.Name, from))
				files = append(files, path)
				g.Go(func() error { return t.export(ctx, path, from, min(from+peers.PartRows, t.Rows)) })
			}
			if err := g.Wait(); err != nil {
				return err
			}
			if err := duck.Take(t.Name, files, first == 0, compress); err != nil {
				return err
			}
		}
	}
	return nil
}

// export writes the rows from first to before end as Parquet.
func (t *Table) export(ctx context.Context, path string, first, end int64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(t.write(ctx, file, first, end), file.Close())
}

func (t *Table) write(ctx context.Context, file *os.File, first, end int64) error {
	var names []string
	var cols []types.Type
	for _, c := range t.Columns {
		names, cols = append(names, c.Name), append(cols, c.Typ)
	}
	w, err := parquet.NewWriter(file, names, cols)
	if err != nil {
		return err
	}
	const chunk = 1 << 16
	for ; first < end; first += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(chunk, end-first))
		numbers := t.Numbers(first, n)
		b := &column.Batch{N: n}
		for c := range t.Columns {
			b.Cols = append(b.Cols, t.Columns[c].vector(numbers[c]))
		}
		if err := w.Write(b); err != nil {
			return err
		}
	}
	return w.Close()
}
