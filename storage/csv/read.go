package csv

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// reader loads some columns of texts.
type reader struct {
	ended func() error // says, between records, why to stop; nil: nothing does
	*Texts
	wanted []int // by column: its place among those that are read; -1: it is not
	chosen []int // the columns that are read
}

func (t *Texts) reader(ordinals []int) *reader {
	r := &reader{Texts: t, wanted: make([]int, len(t.names)), chosen: ordinals}
	for i := range r.wanted {
		r.wanted[i] = -1
	}
	for i, o := range ordinals {
		r.wanted[o] = i
	}
	return r
}

// piece is what a block gives.
type piece struct {
	rows int
	cols []encoding.Data
}

// Read returns a new table of the columns at ordinals (nil: all), in that order, with at least the first limit rows (less than 0: all). Fields of
// other columns are passed over. The error is a [textfile.Misfit] if a value does not fit its column's type.
func (t *Texts) Read(ctx context.Context, database, name string, ordinals []int, limit int64) (*table.Version, error) {
	schema, ordinals := textfile.Chosen(database, name, t.Columns(), ordinals)
	r := t.reader(ordinals)
	r.ended = ctx.Err
	return textfile.ReadTable(ctx, schema, limit, func(ctx context.Context, add textfile.Add) error {
		return textfile.Each(ctx, t.opts.cutAt(), t.sources, r.parseBlock, func(p piece) error { return add(p.rows, p.cols) })
	})
}

// head is what the first block of a text shows.
type head struct {
	delimiter byte
	names     []string
	header    bool
	shapes    []textfile.Shape
	odd       []*Odd
	density   float64 // bytes of a row
	whole     bool    // the text is one block, and all of it was looked at
}

// sampleRecords is how many records of the first block are looked at for types.
const sampleRecords = 20000

// firstBlock returns a scanner of the block with a text's first record; nil: the text is empty. It finds out the delimiter if none is given.
func firstBlock(ctx context.Context, source textfile.Source, opts Options) (*scanner, error) {
	var first *textfile.Block
	err := textfile.Head(ctx, source, opts.cutAt(), func(b *textfile.Block) (bool, error) {
		if b.First {
			first = b
		}
		return b.First, b.CheckUTF8()
	})
	if err != nil || first == nil {
		return nil, err
	}
	if opts.Delimiter == 0 {
		opts.Delimiter = sniff(opts, first)
	}
	return newScanner(opts, first), nil
}

// secondBlock returns a scanner of the block behind that with a text's first record; nil: there is none.
func secondBlock(ctx context.Context, source textfile.Source, opts Options) (*scanner, error) {
	var second *textfile.Block
	first := false
	err := textfile.Head(ctx, source, opts.cutAt(), func(b *textfile.Block) (bool, error) {
		if first {
			second = b
			return true, b.CheckUTF8()
		}
		first = b.First
		return false, nil
	})
	if err != nil || second == nil {
		return nil, err
	}
	return newScanner(opts, second), nil
}

func sample(ctx context.Context, source textfile.Source, opts Options) (head, error) {
	s, err := firstBlock(ctx, source, opts)
	if err != nil {
		return head{}, err
	}
	if s == nil {
		return head{}, sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s' is empty: expected at least a line of column names", source.Name)
	}
	begin := *s
	h := head{delimiter: s.delimiter}
	opts.Delimiter = s.delimiter
	if h.names, err = s.record(); err != nil {
		return head{}, err
	}
	at := make([]int, len(h.names))
	for i := range at {
		at[i] = i
	}
	r := Texts{opts: opts, names: h.names, fields: [][]string{h.names}, at: [][]int{at}}
	switch opts.Header {
	case HeaderYes:
		h.header = true
	case HeaderAuto:
		// What stands below a header may be malformed; below what is none it is the first record's matter, too.
		if h.header = looksLikeNames(h.names); h.header && slices.Contains(h.names, "") {
			rest, below := *s, make([]survey, len(h.names))
			_, err := r.classifyBlock(&rest, below, sampleRecords)
			h.header = err == nil && notAllText(shapesOf(below))
		}
	}
	if h.header {
		textfile.NameColumns(h.names)
	} else {
		for i := range h.names {
			h.names[i] = textfile.DefaultName(i)
		}
		s = &begin
	}
	from, found := s.at, make([]survey, len(h.names))
	rows, err := r.classifyBlock(s, found, sampleRecords)
	if err == nil && rows == 0 && !s.Last { // the first record below the names is longer than a block
		if s, err = secondBlock(ctx, source, opts); err != nil || s == nil {
			return h, err
		}
		from = 0
		rows, err = r.classifyBlock(s, found, sampleRecords)
	}
	h.shapes = shapesOf(found)
	for i := range found {
		h.odd = append(h.odd, found[i].standsOut())
	}
	h.whole = s.at == len(s.Text) && s.Last
	h.density = float64(s.at-from) / float64(max(rows, 1))
	return h, err
}

// sampleMore widens the types to what the middle and the end of the first text have, too.
func (t *Texts) sampleMore(source textfile.Source, whole bool) {
	if whole {
		return
	}
	at := make([]int, len(t.names))
	for i := range at {
		at[i] = i
	}
	r := Texts{opts: t.opts, names: t.names, fields: [][]string{t.fields[0]}, at: [][]int{at}}
	survey := func(text []byte) ([]survey, error) {
		found := make([]survey, len(t.names))
		b := textfile.Block{Text: text}
		if err := b.CheckUTF8(); err != nil {
			return nil, err
		}
		_, err := r.classifyBlock(newScanner(t.opts, &b), found, -1)
		return found, err
	}
	isWhole := func(text []byte) bool {
		_, err := survey(text)
		return err == nil
	}
	source.Sample(isWhole, func(b *textfile.Block) {
		found, _ := survey(b.Text)
		for i := range found {
			wider := t.shapes[i].Join(found[i].all)
			t.doubted = t.doubted || wider.IsText() && !t.shapes[i].IsText() && t.shapes[i].Known()
			t.shapes[i] = wider
		}
	})
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

// skipHeader passes over the header of a text's first block.
func (t *Texts) skipHeader(s *scanner) error {
	if t.opts.Header != HeaderYes || !s.First {
		return nil
	}
	_, err := s.record()
	return err
}

// isNull says whether the field that s has just found is NULL.
func (t *Texts) isNull(s *scanner, field []byte) bool {
	return !s.quoted && string(field) == t.opts.NullText
}

// parseBlock returns the columns of a block.
func (r *reader) parseBlock(b *textfile.Block) (piece, error) {
	s, err := r.begin(b)
	if err != nil {
		return piece{}, err
	}
	return r.parse(s, s.Lines+1, nil)
}

// begin returns a scanner of a block's first row.
func (r *reader) begin(b *textfile.Block) (*scanner, error) {
	s := newScanner(r.opts, b)
	if err := s.CheckUTF8(); err != nil {
		return nil, err
	}
	return s, r.skipHeader(s)
}

// parse returns the columns of up to limit records. For old see [textfile.Parts].
func (r *reader) parse(s *scanner, limit int, old []encoding.Data) (piece, error) {
	columns := make([]*textfile.Column, len(r.chosen))
	for i, c := range r.chosen {
		if i < len(old) {
			columns[i] = textfile.NewColumnIn(old[i], r.shapes[c], limit)
			continue
		}
		columns[i] = textfile.NewColumn(r.shapes[c], limit)
	}
	numbers := r.at[s.Number]
	fields := make([]*textfile.Column, len(numbers)) // nil: nobody wants it
	for i, c := range numbers {
		if r.wanted[c] >= 0 {
			fields[i] = columns[r.wanted[c]]
		}
	}
	rows := 0
	for ; rows < limit && s.more(len(fields) > 1); rows++ {
		if rows&1023 == 1023 && r.ended != nil {
			if err := r.ended(); err != nil {
				return piece{}, err
			}
		}
		err := r.eachField(s, func(i int, field []byte) error {
			c := fields[i]
			switch {
			case c == nil:
			case r.isNull(s, field):
				c.AppendNull()
			case !c.Append(field):
				return &textfile.Misfit{Column: numbers[i], Place: s.place(), Text: shortened(field)}
			}
			return nil
		})
		if err != nil {
			return piece{}, err
		}
	}
	out := piece{rows, make([]encoding.Data, len(columns))}
	for i, c := range columns {
		for c.Rows() < rows { // of a column that this text does not have
			c.AppendNull()
		}
		out.cols[i] = c.Data()
	}
	return out, nil
}

// eachField calls f with the fields of one record, which must be as many as there are names.
func (t *Texts) eachField(s *scanner, f func(i int, field []byte) error) error {
	names := t.fields[s.Number]
	begin := s.at
	for i := 0; ; i++ {
		field, last, err := s.next()
		if err != nil {
			return err
		}
		if i == len(names) {
			return s.errorf("a record of more than %d fields; expected %s", len(names), fieldCount(names))
		}
		if err := f(i, field); err != nil {
			return err
		}
		if last && i+1 < len(names) {
			return s.Errorf(max(begin, s.start), "the record ends after %d fields; expected %s", i+1, fieldCount(names))
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

// classify returns the shapes of all values of all texts, and those that stand out.
func (t *Texts) classify(ctx context.Context) ([]textfile.Shape, []*Odd, error) {
	total := make([]survey, len(t.names))
	var mu sync.Mutex
	err := textfile.Each(ctx, t.opts.cutAt(), t.sources, func(b *textfile.Block) (struct{}, error) {
		s := newScanner(t.opts, b)
		if err := s.CheckUTF8(); err != nil {
			return struct{}{}, err
		}
		if err := t.skipHeader(s); err != nil {
			return struct{}{}, err
		}
		found := make([]survey, len(t.names))
		if _, err := t.classifyBlock(s, found, -1); err != nil {
			return struct{}{}, err
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range total {
			total[i].join(&found[i])
		}
		return struct{}{}, nil
	}, func(struct{}) error { return nil })
	odd := make([]*Odd, len(total))
	for i := range total {
		odd[i] = total[i].standsOut()
	}
	return shapesOf(total), odd, err
}

// classifyBlock adds up to limit records (-1: all) to what is known of the columns, and returns how many there were.
func (t *Texts) classifyBlock(s *scanner, found []survey, limit int) (rows int, err error) {
	numbers := t.at[s.Number]
	for ; rows != limit && s.more(len(numbers) > 1); rows++ {
		err := t.eachField(s, func(i int, field []byte) error {
			if !t.isNull(s, field) {
				found[numbers[i]].add(s, field)
			}
			return nil
		})
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}
