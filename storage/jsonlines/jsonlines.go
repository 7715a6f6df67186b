// Package jsonlines reads and writes files of JSON objects, one on each line, as tables: a row for each object, a column for each key.
//
// Reading goes in blocks of lines (storage/textfile). Keys and types are inferred from the first block; should a later line have
// another key, or a value that its column's type does not hold, the whole file is looked through and read again, so the result depends on
// all values and not on where they stand.
//
//   - Columns stand in the order in which their keys first appear. A key that an object lacks is NULL in its row, like null. Of equal
//     keys in one object the last counts. Keys that differ in case only get _1, _2, ... as a CSV file's names do.
//   - Types that are inferred, each only if all values of the column have its form: BOOL of true and false; BIGINT, DECIMAL and DOUBLE
//     of numbers, as of a CSV file's; DATE, DATETIME and TIME of strings in ISO 8601; JSON of arrays and objects, whose text stays as it is. All
//     else is TEXT: strings without their quotes, other values as they are written. A column without values is TEXT.
//   - Text is UTF-8; a byte order mark at the start and empty lines are passed over.
package jsonlines

import (
	"context"
	"errors"
	"fmt"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// sampleLines is how many lines of the first block are looked at for keys and types.
const sampleLines = 20000

// maxKeys bounds the keys of a file, so that one whose keys are data does not become a table that nobody can use. It is MySQL's
// limit for a table's columns.
const maxKeys = 4096

// Read returns a new table of the objects in one or more texts.
func Read(ctx context.Context, database, name string, sources ...textfile.Source) (*table.Version, error) {
	ctx = textfile.Metered(ctx)
	f := newFields()
	err := textfile.Head(ctx, sources[0], 0, func(b *textfile.Block) (bool, error) {
		return b.First, f.classify(b, sampleLines)
	})
	if err != nil {
		return nil, err
	}
	for round := 0; ; round++ {
		names := append([]string(nil), f.keys...)
		textfile.NameColumns(names)
		schema := &table.Schema{Database: database, Name: name}
		for i, s := range f.shapes {
			schema.Columns = append(schema.Columns, table.ColumnDef{Name: names[i], Type: s.Type(), Nullable: true})
		}
		b := table.NewBuilder(table.New(schema)).Meter(ctx)
		err := textfile.Each(ctx, 0, sources, f.parse, func(cols []encoding.Data) error {
			if len(cols) == 0 || cols[0].Rows == 0 {
				return nil
			}
			return b.AppendData(cols[0].Rows, cols)
		})
		var bad misfit
		switch {
		case err == nil && len(f.keys) == 0:
			return nil, sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s' has no keys: expected JSON objects, in .jsonl one on each line, in .json also in an array", sources[0].Name)
		case err == nil:
			return b.Finish()
		case !errors.As(err, &bad):
			return nil, err
		case round > 0:
			// Classified by all of its values, and still one of them is not read as what it looks like.
			f.shapes[bad.column] = textfile.Text
		default:
			if f, err = classifyAll(ctx, sources); err != nil {
				return nil, err
			}
		}
	}
}

// misfit is the error of a value that does not fit the type inferred for its column, or of a key that was not there before.
type misfit struct{ column int }

func (m misfit) Error() string {
	return fmt.Sprintf("a value does not fit the type of key %d", m.column+1)
}

// fields are the keys of a text and what their values look like.
type fields struct {
	keys   []string
	index  map[string]int
	shapes []textfile.Shape
}

func newFields() *fields { return &fields{index: map[string]int{}} }

// find returns the place of a key, -1 if it is not there. next is where it stands if this object's keys have the usual order.
func (f *fields) find(key []byte, next int) int {
	if next < len(f.keys) && f.keys[next] == string(key) {
		return next
	}
	if i, ok := f.index[string(key)]; ok {
		return i
	}
	return -1
}

// add returns the place of a key, a new one if need be.
func (f *fields) add(key []byte, next int) int {
	i := f.find(key, next)
	if i < 0 {
		i = len(f.keys)
		f.keys = append(f.keys, string(key))
		f.index[f.keys[i]] = i
		f.shapes = append(f.shapes, textfile.Shape{})
	}
	return i
}

// classify adds the keys and shapes of up to limit lines (-1: all) of a block.
func (f *fields) classify(b *textfile.Block, limit int) error {
	if err := b.CheckUTF8(); err != nil {
		return err
	}
	s := scanner{Block: b}
	for n := 0; n != limit && s.more(); n++ {
		if err := s.open(); err != nil {
			return err
		}
		for i := 0; ; i++ {
			key, v, last, err := s.field()
			if err != nil {
				return err
			}
			if last {
				break
			}
			if i = f.add(key, i); i == maxKeys {
				return b.Errorf(s.start, "more than %d different keys: too many for a table's columns", maxKeys)
			}
			if v.kind != null && !f.shapes[i].IsText() {
				f.shapes[i] = f.shapes[i].Join(v.shape())
			}
		}
	}
	return nil
}

// classifyAll returns the keys and shapes of all objects of all texts.
func classifyAll(ctx context.Context, sources []textfile.Source) (*fields, error) {
	all := newFields()
	err := textfile.Each(ctx, 0, sources, func(b *textfile.Block) (*fields, error) {
		f := newFields()
		return f, f.classify(b, -1)
	}, func(f *fields) error {
		for i, key := range f.keys {
			at := all.add([]byte(key), i)
			all.shapes[at] = all.shapes[at].Join(f.shapes[i])
		}
		if len(all.keys) > maxKeys {
			return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s' has more than %d different keys: too many for a table's columns", sources[0].Name, maxKeys)
		}
		return nil
	})
	return all, err
}

// parse returns the columns of a block.
func (f *fields) parse(b *textfile.Block) ([]encoding.Data, error) {
	if err := b.CheckUTF8(); err != nil {
		return nil, err
	}
	columns := make([]*textfile.Column, len(f.keys))
	for i := range columns {
		columns[i] = textfile.NewColumn(f.shapes[i], b.Lines+1)
	}
	row := make([]value, len(f.keys))
	s := scanner{Block: b}
	for s.more() {
		if err := s.open(); err != nil {
			return nil, err
		}
		clear(row)
		for i := 0; ; i++ {
			key, v, last, err := s.field()
			if err != nil {
				return nil, err
			}
			if last {
				break
			}
			if i = f.find(key, i); i < 0 {
				return nil, misfit{len(f.keys)}
			}
			row[i] = v
		}
		for i, v := range row {
			if v.kind == null {
				columns[i].AppendNull()
			} else if !v.may(f.shapes[i]) || !columns[i].Append(v.text) {
				return nil, misfit{i}
			}
		}
	}
	out := make([]encoding.Data, len(columns))
	for i, c := range columns {
		out[i] = c.Data()
	}
	return out, nil
}
