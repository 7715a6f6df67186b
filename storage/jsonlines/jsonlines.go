// Package jsonlines reads and writes files of JSON objects, one on each line, as tables: a row for each object, a column for each key.
//
// Reading goes in blocks of lines (storage/textfile). Keys and types follow from a sample; a later line that has another key, or a value that its column's type
// does not hold, is a [textfile.Misfit], after which [Objects.Settle] looks through all lines. Values of columns that nobody wants are passed over.
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
	"slices"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// sampleLines is how many lines of the first text's first block are looked at for keys and types, furtherLines of each other text.
const (
	sampleLines  = 20000
	furtherLines = 1000
)

// maxKeys bounds the keys of a file, so that one whose keys are data does not become a table that nobody can use. It is MySQL's
// limit for a table's columns.
const maxKeys = 4096

// Options say how texts are read.
type Options struct {
	IgnoresErrors bool // a line that is no JSON object is a row of NULLs, as in DuckDB, and so is a value that has not the type which the options give
	// Names are the keys that are read, and no others, with their types; none: those that there are.
	Names []string
	Types []types.Type
	Dates textfile.DateForms
}

// Objects are one or more texts of objects that make one table. Their keys and types follow from a sample, until [Objects.Settle] has looked at all. Objects do not
// change: they may be read by several goroutines.
type Objects struct {
	sources []textfile.Source
	fields  *fields
	names   []string // of the columns
	settled bool
	density float64
}

// Open looks at the beginnings of texts, and at the middle and the end of the first.
func Open(ctx context.Context, opts Options, sources ...textfile.Source) (*Objects, error) {
	ctx = textfile.Metered(ctx)
	o := &Objects{sources: sources, fields: newFields(opts), settled: len(opts.Names) > 0}
	for i, source := range sources {
		lines := furtherLines
		if i == 0 {
			lines = sampleLines
		}
		err := textfile.Head(ctx, source, 0, func(b *textfile.Block) (bool, error) {
			rows, bytes, err := o.fields.classify(ctx, b, lines)
			if i == 0 && b.First {
				o.density = float64(bytes) / float64(max(rows, 1))
			}
			return b.First, err
		})
		if err != nil {
			return nil, err
		}
		source.Sample(ctx, func(text []byte) bool {
			_, _, err := newFields(opts).classify(ctx, &textfile.Block{Text: text}, -1)
			return err == nil
		}, func(b *textfile.Block) { _, _, _ = o.fields.classify(ctx, b, -1) })
	}
	if err := ctx.Err(); err != nil { // fewer samples would be remembered
		return nil, sqlerr.Interrupted(err)
	}
	if len(o.fields.keys) == 0 {
		return o.Settle(ctx, nil)
	}
	o.nameColumns()
	return o, nil
}

func (o *Objects) nameColumns() {
	o.names = slices.Clone(o.fields.keys)
	textfile.NameColumns(o.names)
}

// Sources returns the texts.
func (o *Objects) Sources() []textfile.Source { return o.sources }

// Columns returns the table's columns.
func (o *Objects) Columns() []table.ColumnDef {
	columns := make([]table.ColumnDef, len(o.names))
	for i, s := range o.fields.shapes {
		columns[i] = table.ColumnDef{Name: o.names[i], Type: s.Type(), Nullable: true}
		if o.fields.given() {
			columns[i].Type = o.fields.opts.Types[i]
		}
	}
	return columns
}

// Looks says what a column of strings looks like that the options for dates could read; "": nothing.
func (o *Objects) Looks(column int) string {
	if o.fields.given() || !o.fields.shapes[column].IsText() {
		return ""
	}
	return o.fields.looks[column].Note(o.names[column], false)
}

// Settled says whether keys and types follow from all objects.
func (o *Objects) Settled() bool { return o.settled }

// Shown says whether the sample has a value of a column.
func (o *Objects) Shown(column int) bool { return o.fields.shapes[column].Known() }

// Density returns about how many bytes of text a row has.
func (o *Objects) Density() float64 { return o.density }

// Quote returns 0: a line end is a record's end wherever it stands.
func (o *Objects) Quote() byte { return 0 }

// Settle returns the objects with keys and types that hold all of them. cause is what made reading fail; it may be nil.
func (o *Objects) Settle(ctx context.Context, cause error) (*Objects, error) {
	next := *o
	var bad *textfile.Misfit
	if o.settled && errors.As(cause, &bad) && bad.Column >= 0 {
		// Classified by all of its values, and still one of them is not read as what it looks like.
		f := *o.fields
		f.shapes = slices.Clone(f.shapes)
		f.shapes[bad.Column] = textfile.Text
		next.fields = &f
		return &next, nil
	}
	var err error
	if next.fields, err = classifyAll(textfile.Metered(ctx), o.fields.opts, o.sources); err != nil {
		return nil, err
	}
	if len(next.fields.keys) == 0 {
		return nil, sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s' has no keys: expected JSON objects, in .jsonl one on each line, in .json also in an array", o.sources[0].Name)
	}
	next.settled = true
	next.nameColumns()
	return &next, nil
}

// Read returns a new table of the columns at ordinals (nil: all), in that order, with at least the first limit rows (less than 0: all). The error is a [textfile.Misfit] if an object
// has a key or a value that the columns do not take.
func (o *Objects) Read(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error) {
	schema, ordinals := textfile.Chosen(database, name, o.Columns(), ordinals)
	type piece struct {
		rows int
		cols []encoding.Data
	}
	return textfile.ReadTable(ctx, schema, limit, func(ctx context.Context, add textfile.Add) error {
		return textfile.Each(ctx, 0, o.sources, func(b *textfile.Block) (out piece, err error) {
			p, err := o.Parts(b, ordinals)
			if err == nil {
				out.rows, out.cols, err = p.Next(b.Lines+1, nil)
			}
			return out, err
		}, func(p piece) error { return add(p.rows, p.cols) })
	})
}

// fields are the keys of a text and what their values look like.
type fields struct {
	opts   Options
	keys   []string
	index  map[string]int
	shapes []textfile.Shape
	looks  []textfile.Lookalike // of strings
}

func newFields(opts Options) *fields {
	f := &fields{opts: opts, index: map[string]int{}}
	for i, name := range opts.Names {
		f.keys = append(f.keys, name)
		f.index[name] = i
		f.shapes, f.looks = append(f.shapes, textfile.Text), append(f.looks, textfile.Lookalike{})
	}
	return f
}

// given says whether the options give the keys and their types.
func (f *fields) given() bool { return len(f.opts.Names) > 0 }

// find returns the index of a key, -1 if it is not there. next is where it stands if this object's keys have the usual order.
func (f *fields) find(key []byte, next int) int {
	if next < len(f.keys) && f.keys[next] == string(key) {
		return next
	}
	if i, ok := f.index[string(key)]; ok {
		return i
	}
	return -1
}

// add returns the index of a key, a new one if need be; -1: it is not read.
func (f *fields) add(key []byte, next int) int {
	i := f.find(key, next)
	if i < 0 && !f.given() {
		i = len(f.keys)
		f.keys = append(f.keys, string(key))
		f.index[f.keys[i]] = i
		f.shapes, f.looks = append(f.shapes, textfile.Shape{}), append(f.looks, textfile.Lookalike{})
	}
	return i
}

// shapeOf returns what a value that is not null looks like.
func (f *fields) shapeOf(v value) textfile.Shape {
	if v.kind == text && f.opts.Dates.Given() {
		var buf [64]byte
		if text, ok := f.opts.Dates.Read(v.text, buf[:]); ok {
			return textfile.Classify(text)
		}
		if f.opts.Dates.Exclude(textfile.Classify(v.text)) {
			return textfile.Text
		}
	}
	return v.shape()
}

// linesBetweenLooks is after how many lines a block's classification looks whether it is cancelled.
const linesBetweenLooks = 256

// classify adds the keys and shapes of up to limit lines (-1: all) of a block, and returns how many rows and bytes those are.
func (f *fields) classify(ctx context.Context, b *textfile.Block, limit int) (rows, bytes int, err error) {
	if err := b.CheckUTF8(); err != nil {
		return 0, 0, err
	}
	s := scanner{Block: b}
	for ; rows != limit && s.more(); rows++ {
		if rows%linesBetweenLooks == 0 && ctx.Err() != nil {
			return rows, s.at, sqlerr.Interrupted(ctx.Err())
		}
		if f.opts.IgnoresErrors && s.passBad() {
			continue
		}
		if err := s.open(); err != nil {
			return rows, s.at, err
		}
		for i := 0; ; i++ {
			key, last, err := s.key()
			if err != nil {
				return rows, s.at, err
			}
			if last {
				break
			}
			v, err := s.value()
			if err != nil {
				return rows, s.at, err
			}
			if i = f.add(key, i); i == maxKeys {
				return rows, s.at, b.Errorf(s.start, "more than %d different keys: too many for a table's columns", maxKeys)
			}
			if i >= 0 && v.kind != null && !f.shapes[i].IsText() {
				f.shapes[i] = f.shapes[i].Join(f.shapeOf(v))
			}
			if i >= 0 && v.kind != null {
				f.looks[i].Add(v.text, textfile.Text)
			}
		}
	}
	return rows, s.at, nil
}

// classifyAll returns the keys and shapes of all objects of all texts.
func classifyAll(ctx context.Context, opts Options, sources []textfile.Source) (*fields, error) {
	all := newFields(opts)
	err := textfile.Each(ctx, 0, sources, func(b *textfile.Block) (*fields, error) {
		f := newFields(opts)
		_, _, err := f.classify(ctx, b, -1)
		return f, err
	}, func(f *fields) error {
		for i, key := range f.keys {
			at := all.add([]byte(key), i)
			all.shapes[at] = all.shapes[at].Join(f.shapes[i])
			all.looks[at].Join(&f.looks[i])
		}
		if len(all.keys) > maxKeys {
			return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s' has more than %d different keys: too many for a table's columns", sources[0].Name, maxKeys)
		}
		return nil
	})
	return all, err
}
