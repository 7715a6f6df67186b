package csv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// Read returns a new table of the rows of one or more texts, which have the same columns. Names come from the first
// text's header, or are column1, column2, ...; types are inferred.
func Read(ctx context.Context, database, name string, opts Options, sources ...textfile.Source) (*table.Version, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	ctx = textfile.Metered(ctx)
	sources = slices.Clone(sources)
	for i := range sources {
		sources[i] = withLineFeeds(sources[i], opts.cutAt())
	}
	first, err := sample(ctx, sources[0], opts)
	if err != nil {
		return nil, err
	}
	opts.Delimiter = first.delimiter
	shapes := first.shapes
	for round := 0; ; round++ {
		r := &reader{opts: opts, header: first.header, names: first.names, shapes: shapes}
		columns := make([]table.ColumnDef, len(shapes))
		for i, s := range shapes {
			columns[i] = table.ColumnDef{Name: first.names[i], Type: s.Type(), Nullable: true}
		}
		b := table.NewBuilder(table.New(&table.Schema{Database: database, Name: name, Columns: columns})).Meter(ctx)
		err := r.load(ctx, b, sources)
		var bad misfit
		switch {
		case err == nil:
			return b.Finish()
		case !errors.As(err, &bad):
			return nil, err
		case round > 0:
			// Classified by all of its values, and still one of them is not read as what it looks like.
			shapes[bad.column] = textfile.Text
		default:
			if shapes, err = r.classify(ctx, sources, len(shapes)); err != nil {
				return nil, err
			}
		}
	}
}

// head is what the first block of a text shows.
type head struct {
	delimiter byte
	names     []string
	header    bool
	shapes    []textfile.Shape
}

// sampleRecords is how many records of the first block are looked at for types.
const sampleRecords = 20000

func sample(ctx context.Context, source textfile.Source, opts Options) (head, error) {
	var first *textfile.Block
	err := textfile.Head(ctx, source, opts.cutAt(), func(b *textfile.Block) (bool, error) {
		if b.First {
			first = b
		}
		return b.First, b.CheckUTF8()
	})
	if err != nil {
		return head{}, err
	}
	if first == nil {
		return head{}, sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s' is empty: expected at least a line of column names", source.Name)
	}
	if opts.Delimiter == 0 {
		opts.Delimiter = sniff(opts, first)
	}
	h := head{delimiter: opts.Delimiter}
	s := newScanner(opts, first)
	for last := false; !last; {
		var field []byte
		if field, last, err = s.next(); err != nil {
			return head{}, err
		}
		h.names = append(h.names, string(field))
	}
	h.shapes = make([]textfile.Shape, len(h.names))
	r := reader{opts: opts, names: h.names}
	below := s
	switch opts.Header {
	case HeaderYes:
		h.header = true
	case HeaderAuto:
		// What stands below a header may be malformed; below what is none it is the first record's matter, too.
		rest := *s
		h.header = looksLikeNames(h.names) && (!slices.Contains(h.names, "") || r.classifyBlock(&rest, h.shapes, sampleRecords) == nil && notAllText(h.shapes))
		clear(h.shapes)
	}
	if h.header {
		textfile.NameColumns(h.names)
	} else {
		for i := range h.names {
			h.names[i] = textfile.DefaultName(i)
		}
		below = newScanner(opts, first)
	}
	return h, r.classifyBlock(below, h.shapes, sampleRecords)
}

// looksLikeNames says whether all fields are text or empty, not all of them empty.
func looksLikeNames(fields []string) bool {
	named := false
	for _, f := range fields {
		if f == "" {
			continue
		}
		if s := textfile.Classify([]byte(f)); !s.IsText() && !s.Special() {
			return false
		}
		named = true
	}
	return named
}

func notAllText(shapes []textfile.Shape) bool {
	return slices.ContainsFunc(shapes, func(s textfile.Shape) bool { return s.Known() && !s.IsText() })
}

// reader loads texts of known columns.
type reader struct {
	opts   Options
	header bool
	names  []string         // by field
	shapes []textfile.Shape // by field
}

// skipHeader passes over the header of a text's first block.
func (r *reader) skipHeader(s *scanner) error {
	if !r.header || !s.First {
		return nil
	}
	for last := false; !last; {
		var err error
		if _, last, err = s.next(); err != nil {
			return err
		}
	}
	return nil
}

// misfit is the error of a value that does not fit the type inferred for its column.
type misfit struct{ column int }

func (m misfit) Error() string {
	return fmt.Sprintf("a value does not fit the type of field %d", m.column+1)
}

// load adds all rows to a builder.
func (r *reader) load(ctx context.Context, b *table.Builder, sources []textfile.Source) error {
	return textfile.Each(ctx, r.opts.cutAt(), sources, r.parseBlock, func(cols []encoding.Data) error {
		if len(cols) == 0 || cols[0].Rows == 0 {
			return nil
		}
		return b.AppendData(cols[0].Rows, cols)
	})
}

// isNull says whether the field that s has just found is NULL.
func (r *reader) isNull(s *scanner, field []byte) bool {
	return !s.quoted && string(field) == r.opts.NullText
}

// parseBlock returns the columns of a block.
func (r *reader) parseBlock(b *textfile.Block) ([]encoding.Data, error) {
	s := newScanner(r.opts, b)
	if err := s.CheckUTF8(); err != nil {
		return nil, err
	}
	if err := r.skipHeader(s); err != nil {
		return nil, err
	}
	columns := make([]*textfile.Column, len(r.shapes))
	for i, shape := range r.shapes {
		columns[i] = textfile.NewColumn(shape, s.Lines+1)
	}
	for s.more(len(columns) > 1) {
		err := r.eachField(s, func(i int, field []byte) error {
			c := columns[i]
			switch {
			case r.isNull(s, field):
				c.AppendNull()
			case !c.Append(field):
				return misfit{i}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([]encoding.Data, len(columns))
	for i, c := range columns {
		out[i] = c.Data()
	}
	return out, nil
}

// eachField calls f with the fields of one record, which must be as many as there are names.
func (r *reader) eachField(s *scanner, f func(i int, field []byte) error) error {
	begin := s.at
	for i := 0; ; i++ {
		field, last, err := s.next()
		if err != nil {
			return err
		}
		if i == len(r.names) {
			return s.errorf("a record of more than %d fields; expected %s", len(r.names), fieldCount(r.names))
		}
		if err := f(i, field); err != nil {
			return err
		}
		if last && i+1 < len(r.names) {
			return s.Errorf(max(begin, s.start), "the record ends after %d fields; expected %s", i+1, fieldCount(r.names))
		}
		if last {
			return nil
		}
	}
}

func fieldCount(names []string) string {
	shown := names
	if len(shown) > 8 {
		shown = append(slices.Clone(shown[:8]), "...")
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(shown, ", "))
}

// classify returns the shapes of all values of all texts.
func (r *reader) classify(ctx context.Context, sources []textfile.Source, columns int) ([]textfile.Shape, error) {
	total := make([]textfile.Shape, columns)
	var mu sync.Mutex
	err := textfile.Each(ctx, r.opts.cutAt(), sources, func(b *textfile.Block) (struct{}, error) {
		s := newScanner(r.opts, b)
		if err := s.CheckUTF8(); err != nil {
			return struct{}{}, err
		}
		if err := r.skipHeader(s); err != nil {
			return struct{}{}, err
		}
		shapes := make([]textfile.Shape, columns)
		if err := r.classifyBlock(s, shapes, -1); err != nil {
			return struct{}{}, err
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range total {
			total[i] = total[i].Join(shapes[i])
		}
		return struct{}{}, nil
	}, func(struct{}) error { return nil })
	return total, err
}

// classifyBlock joins the shapes of up to limit records (-1: all) to shapes.
func (r *reader) classifyBlock(s *scanner, shapes []textfile.Shape, limit int) error {
	for n := 0; n != limit && s.more(len(r.names) > 1); n++ {
		err := r.eachField(s, func(i int, field []byte) error {
			if !r.isNull(s, field) && !shapes[i].IsText() {
				shapes[i] = shapes[i].Join(textfile.Classify(field))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
