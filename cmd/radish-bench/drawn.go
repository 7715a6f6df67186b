package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

// drawnTable is a table whose values follow from the numbers of their rows, so that any part of it can be made at any time, on any processor.
type drawnTable struct {
	name    string
	rows    int64
	columns []drawnColumn
	// watch, where it is set, sees each row group's numbers by column, as they are drawn: for totals. Several calls run at the same time. It must
	// neither change nor keep them.
	watch func(numbers [][]int64)
}

// drawnColumn is a column: each row has a number, and each number a value. A column whose values are doubles has them in millionths, one of decimals in
// units of the last place.
type drawnColumn struct {
	name string
	typ  types.Type
	draw func(row int64) int64 // nil: the numbers are those of the earlier column same
	same int
	text func(b []byte, number int64) []byte // of columns of strings
	// words are the texts by number, of a column of few texts; nil: text makes them.
	// All of them are in the column's dictionary.
	words []string
}

// micro is how many steps of a double's numbers are one.
const micro = 1_000_000

// drawn returns a function that draws from 0 to n-1 by a hash of the row's number. Each salt is a column of its own.
func drawn(salt uint64, n int64) func(row int64) int64 {
	start := splitMix(salt)
	return func(row int64) int64 { return below(splitMix(start+uint64(row)), n) }
}

// drawnFrom returns a function that draws from least to most.
func drawnFrom(salt uint64, least, most int64) func(row int64) int64 {
	draw := drawn(salt, most-least+1)
	return func(row int64) int64 { return least + draw(row) }
}

// permutation is a permutation of 0..n-1 in no visible order: a Feistel network over just enough bits, applied until the result is below n
// (cycle walking: Black and Rogaway 2002, section 4).
type permutation struct {
	n             uint64
	right         int // bits of the right half
	leftM, rightM uint64
	keys          [4]uint64
}

func newPermutation(salt uint64, n int64) *permutation {
	width := max(bits.Len64(uint64(n-1)), 2)
	p := &permutation{n: uint64(n), right: width / 2}
	p.rightM, p.leftM = 1<<p.right-1, 1<<(width-p.right)-1
	for i := range p.keys {
		p.keys[i] = splitMix(salt*uint64(len(p.keys)) + uint64(i))
	}
	return p
}

// of returns what i becomes.
func (p *permutation) of(i int64) int64 {
	x := uint64(i)
	for {
		l, r := x>>p.right, x&p.rightM
		l ^= splitMix(r+p.keys[0]) & p.leftM
		r ^= splitMix(l+p.keys[1]) & p.rightM
		l ^= splitMix(r+p.keys[2]) & p.leftM
		r ^= splitMix(l+p.keys[3]) & p.rightM
		if x = l<<p.right | r; x < p.n {
			return int64(x)
		}
	}
}

// inverse returns what becomes i.
func (p *permutation) inverse(i int64) int64 {
	x := uint64(i)
	for {
		l, r := x>>p.right, x&p.rightM
		r ^= splitMix(l+p.keys[3]) & p.rightM
		l ^= splitMix(r+p.keys[2]) & p.leftM
		r ^= splitMix(l+p.keys[1]) & p.rightM
		l ^= splitMix(r+p.keys[0]) & p.leftM
		if x = l<<p.right | r; x < p.n {
			return int64(x)
		}
	}
}

// padded writes a number with leading zeros. It has no more than 20 digits.
func padded(b []byte, n int64, digits int) []byte {
	var text [20]byte
	for i := digits - 1; i >= 0; i-- {
		text[i], n = byte('0'+n%10), n/10
	}
	return append(b, text[:digits]...)
}

// numbers draws the numbers of n rows, by column. Columns that have the same numbers share them.
func (t *drawnTable) numbers(first int64, n int) [][]int64 {
	out := make([][]int64, len(t.columns))
	for c := range t.columns {
		draw := t.columns[c].draw
		if draw == nil {
			out[c] = out[t.columns[c].same]
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
func (c *drawnColumn) data(numbers []int64, dictionary *column.Dictionary) encoding.Data {
	var d encoding.Data
	switch {
	case c.words != nil:
		d.Dict, d.Codes = dictionary, make([]uint32, len(numbers))
		for i, n := range numbers {
			d.Codes[i] = uint32(n)
		}
	case c.text != nil:
		d.Offsets, d.Bytes = make([]uint32, len(numbers)+1), make([]byte, 0, 12*len(numbers))
		for i, n := range numbers {
			d.Bytes = c.text(d.Bytes, n)
			d.Offsets[i+1] = uint32(len(d.Bytes))
		}
	case c.typ.IsFloat():
		d.Floats = make([]float64, len(numbers))
		for i, n := range numbers {
			d.Floats[i] = float64(n) / micro
		}
	default:
		d.Ints = numbers
	}
	return d
}

// vector is data for Parquet's writer.
func (c *drawnColumn) vector(numbers []int64) *column.Vector {
	v := column.New(c.typ, len(numbers))
	var buf []byte
	for i, n := range numbers {
		switch {
		case c.words != nil:
			v.Str[i] = c.words[n]
		case c.text != nil:
			buf = c.text(buf[:0], n)
			v.Str[i] = string(buf)
		case c.typ.IsFloat():
			v.F64[i] = float64(n) / micro
		default:
			v.I64[i] = n
		}
	}
	return v
}

// create makes the table in a database; one of that name is dropped.
func (t *drawnTable) create(ctx context.Context, db *database) error {
	if err := db.exec(ctx, "DROP TABLE IF EXISTS "+t.name); err != nil {
		return err
	}
	v, err := t.version(ctx)
	if err != nil {
		return fmt.Errorf("table %s: %w", t.name, err)
	}
	return db.engine.Register(v)
}

// version makes the table.
func (t *drawnTable) version(ctx context.Context) (*table.Version, error) {
	schema := &table.Schema{Database: engine.DefaultDatabase, Name: t.name}
	for _, c := range t.columns {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: c.name, Type: c.typ})
	}
	builder := table.NewBuilder(table.New(schema))
	dictionaries := make([]*column.Dictionary, len(t.columns))
	for c := range t.columns {
		if words := t.columns[c].words; words != nil {
			dictionaries[c] = column.NewDictionary(words...)
			builder.UseDictionary(c, dictionaries[c])
		}
	}
	return fillTable(ctx, builder, t.rows, func(first int64, n int) []encoding.Data {
		numbers := t.numbers(first, n)
		if t.watch != nil {
			t.watch(numbers)
		}
		cols := make([]encoding.Data, len(t.columns))
		for c := range t.columns {
			cols[c] = t.columns[c].data(numbers[c], dictionaries[c])
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

// handOverDrawn gives DuckDB tables, as Parquet files of some of their rows each, which go once they are read.
func handOverDrawn(ctx context.Context, tables []*drawnTable, duck *duckDB, threads int, compress bool) error {
	folder, err := os.MkdirTemp("", "radish-tables-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, t := range tables {
		step := partRows * int64(threads)
		for first := int64(0); first < t.rows; first += step {
			var files []string
			g, ctx := errgroup.WithContext(ctx)
			for from := first; from < min(first+step, t.rows); from += partRows {
				path := filepath.Join(folder, fmt.Sprintf("%s-%d.parquet", t.name, from))
				files = append(files, path)
				g.Go(func() error { return t.export(ctx, path, from, min(from+partRows, t.rows)) })
			}
			if err := g.Wait(); err != nil {
				return err
			}
			if err := duck.take(t.name, files, first == 0, compress); err != nil {
				return err
			}
		}
	}
	return nil
}

// export writes the rows from first to before end as Parquet.
func (t *drawnTable) export(ctx context.Context, path string, first, end int64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(t.write(ctx, file, first, end), file.Close())
}

func (t *drawnTable) write(ctx context.Context, file *os.File, first, end int64) error {
	var names []string
	var cols []types.Type
	for _, c := range t.columns {
		names, cols = append(names, c.name), append(cols, c.typ)
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
		numbers := t.numbers(first, n)
		b := &column.Batch{N: n}
		for c := range t.columns {
			b.Cols = append(b.Cols, t.columns[c].vector(numbers[c]))
		}
		if err := w.Write(b); err != nil {
			return err
		}
	}
	return w.Close()
}
