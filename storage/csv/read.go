package csv

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// reader loads some columns of texts.
type reader struct {
	ended func() error // says, between records, why to stop; nil: nothing does
	*Texts
	rewrites bool  // the options ask for it
	wanted   []int // by column: its index among those that are read; -1: it is not
	chosen   []int // the columns that are read
}

func (t *Texts) reader(ordinals []int) *reader {
	r := &reader{Texts: t, wanted: make([]int, len(t.names)), chosen: ordinals, rewrites: t.opts.writesOtherwise()}
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
	if t.opts.Rejects {
		return t.readRejects(ctx, schema, ordinals, limit)
	}
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
	hasHeader bool
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
		h.hasHeader = true
	case HeaderAuto:
		// What stands below a header may be malformed; below what is none it is the first record's matter, too.
		if h.hasHeader = looksLikeNames(h.names); h.hasHeader && slices.Contains(h.names, "") {
			rest, below := *s, make([]survey, len(h.names))
			_, err := r.classifyBlock(ctx, &rest, below, sampleRecords)
			h.hasHeader = err == nil && notAllText(shapesOf(below))
		}
	}
	if h.hasHeader {
		textfile.NameColumns(h.names)
	} else {
		for i := range h.names {
			h.names[i] = textfile.DefaultName(i)
		}
		s = &begin
	}
	if err := opts.rename(h.names, source.Name); err != nil {
		return h, err
	}
	from, found := s.at, make([]survey, len(h.names))
	rows, err := r.classifyBlock(ctx, s, found, sampleRecords)
	if err == nil && rows == 0 && !s.Last { // the first record below the names is longer than a block
		next, failed := secondBlock(ctx, source, opts)
		switch {
		case failed != nil:
			return h, failed
		case next == nil: // the names fill the block, and nothing follows
			s.Last = true
		default:
			s, from = next, 0
			rows, err = r.classifyBlock(ctx, s, found, sampleRecords)
		}
	}
	h.shapes = shapesOf(found)
	for i := range found {
		h.odd = append(h.odd, found[i].seen(h.names[i]))
		if opts.IgnoresErrors && found[i].standsOut() != nil {
			h.shapes[i] = found[i].most
		}
	}
	h.whole = s.at == len(s.Text) && s.Last
	h.density = float64(s.at-from) / float64(max(rows, 1))
	return h, err
}

// sampleMore widens the types to what the middle and the end of the first text have, too.
func (t *Texts) sampleMore(ctx context.Context, source textfile.Source, whole bool) {
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
		_, err := r.classifyBlock(ctx, newScanner(t.opts, &b), found, -1)
		return found, err
	}
	isWhole := func(text []byte) bool {
		_, err := survey(text)
		return err == nil
	}
	source.Sample(ctx, isWhole, func(b *textfile.Block) {
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
	return !s.quoted && (string(field) == t.opts.NullText || t.opts.NullTexts != nil && t.isOtherNull(field))
}

func (t *Texts) isOtherNull(field []byte) bool {
	return slices.Contains(t.opts.NullTexts, string(field))
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

// column returns an empty column of a block.
func (r *reader) column(column int, old *encoding.Data, limit int) *textfile.Column {
	switch given := r.given[column]; {
	case given != (types.Type{}):
		return textfile.NewColumnOf(given, old, limit)
	case old != nil:
		return textfile.NewColumnIn(*old, r.shapes[column], limit)
	}
	return textfile.NewColumn(r.shapes[column], limit)
}

// parse returns the columns of up to limit records. For old see [textfile.Parts].
func (r *reader) parse(s *scanner, limit int, old []encoding.Data) (piece, error) {
	columns := make([]*textfile.Column, len(r.chosen))
	expected := min(limit, (len(s.Text)-s.at)/max(1, len(r.at[s.Number]))+1) // a field has what ends it, at least
	for i, c := range r.chosen {
		if i < len(old) {
			columns[i] = r.column(c, &old[i], expected)
			continue
		}
		columns[i] = r.column(c, nil, expected)
	}
	fields := r.fieldsOf(s, columns)
	records := r.records(s, fields)
	rows, skipsEmpty := 0, r.skipsEmpty(s)
	for rows < limit && s.more(skipsEmpty) {
		if rows&1023 == 1023 && r.ended != nil {
			if err := r.ended(); err != nil {
				return piece{}, err
			}
		}
		begin := s.at
		err := records.next()
		if err == nil {
			rows++
			continue
		}
		if !r.opts.IgnoresErrors {
			return piece{}, err
		}
		for _, c := range fields {
			if c != nil && c.Rows() > rows {
				c.Truncate(rows)
			}
		}
		s.at = lineEnd(s.Text, begin)
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

// fieldsOf returns the column of each field of a text; nil: nobody wants it. Where errors are ignored the others are there, too, so that the same records are left out whatever is
// wanted of them.
func (r *reader) fieldsOf(s *scanner, columns []*textfile.Column) []*textfile.Column {
	fields := make([]*textfile.Column, len(r.at[s.Number]))
	for i, c := range r.at[s.Number] {
		switch {
		case r.wanted[c] >= 0:
			fields[i] = columns[r.wanted[c]]
		case r.opts.IgnoresErrors && !r.takesAll(c):
			fields[i] = r.column(c, nil, 0)
		}
	}
	return fields
}

// takesAll says whether a column takes every field.
func (t *Texts) takesAll(column int) bool {
	if given := t.given[column]; given != (types.Type{}) {
		return given.Kind == types.KindText || given.Kind == types.KindBlob
	}
	return t.shapes[column].IsText()
}

// skipsEmpty says whether empty lines are no records.
func (t *Texts) skipsEmpty(s *scanner) bool { return len(t.at[s.Number]) > 1 || t.opts.leavesOut() }

// recordReader adds the records of a block to the columns of their fields.
type recordReader struct {
	*reader
	s        *scanner
	fields   []*textfile.Column
	unwanted []int // by field: how many fields from there on nobody wants
}

func (r *reader) records(s *scanner, fields []*textfile.Column) *recordReader {
	out := &recordReader{reader: r, s: s, fields: fields, unwanted: make([]int, len(fields)+1)}
	for i := len(fields) - 1; i >= 0; i-- {
		if fields[i] == nil {
			out.unwanted[i] = out.unwanted[i+1] + 1
		}
	}
	return out
}

// next adds a record.
func (r *recordReader) next() error {
	s, begin := r.s, r.s.at
	for i := 0; ; i++ {
		if n := r.unwanted[i]; n > 0 {
			i += s.pass(n)
		}
		field, last, err := s.next()
		if err == nil && i == len(r.fields) {
			err = r.tooMany(s)
		}
		if err != nil {
			return err
		}
		switch c := r.fields[i]; {
		case c == nil:
		case r.isNull(s, field):
			c.AppendNull()
		case r.rewrites || !c.Append(field):
			if err := r.value(s, c, r.at[s.Number][i], field); err != nil {
				return err
			}
		}
		if !last {
			continue
		}
		if err := r.checkLast(s, begin, i); err != nil {
			return err
		}
		for _, c := range r.fields[i+1:] {
			if c != nil {
				c.AppendNull()
			}
		}
		return nil
	}
}

// value adds a field to a column, if it has to be rewritten for it or says why it does not fit.
func (r *reader) value(s *scanner, c *textfile.Column, column int, field []byte) error {
	text := field
	if r.rewrites && !r.takesAll(column) {
		var buf [64]byte
		var ok bool
		if text, ok = r.opts.meaning(field, buf[:0]); !ok && r.given[column] == (types.Type{}) {
			return &textfile.Misfit{Column: column, Position: s.position(), Text: shortened(field)}
		}
	}
	if r.rewrites && c.Append(text) {
		return nil
	}
	if given := r.given[column]; given != (types.Type{}) {
		err := s.errorf("'%s' is no %s, the type that the options give column '%s'", shortened(field), given, r.names[column])
		return sqlerr.From(err).WithHint("give the column another type, as types = {'%s': 'TEXT'}, or leave such records out by ignore_errors = true", r.names[column])
	}
	return &textfile.Misfit{Column: column, Position: s.position(), Text: shortened(field)}
}

// lineEnd returns where the line behind the one that begins at a position begins.
func lineEnd(text []byte, at int) int {
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return at + end + 1
	}
	return len(text)
}

// eachField calls f with the fields of one record, which must be as many as there are names.
func (t *Texts) eachField(s *scanner, f func(i int, field []byte) error) error {
	begin := s.at
	for i := 0; ; i++ {
		field, last, err := s.next()
		if err == nil && i == len(t.fields[s.Number]) {
			err = t.tooMany(s)
		}
		if err == nil {
			err = f(i, field)
		}
		if err != nil {
			return err
		}
		if last {
			return t.checkLast(s, begin, i)
		}
	}
}

func (t *Texts) tooMany(s *scanner) error {
	names := t.fields[s.Number]
	return hintAtErrors(s.errorf("a record of more than %d fields; expected %s", len(names), fieldCount(names)))
}

// checkLast says whether the i-th field, counted from 0, may be the last one of the record that begins at a position.
func (t *Texts) checkLast(s *scanner, begin, i int) error {
	names := t.fields[s.Number]
	if i+1 == len(names) || t.opts.PadsNulls {
		return nil
	}
	return hintAtErrors(s.Errorf(max(begin, s.start), "the record ends after %d fields; expected %s", i+1, fieldCount(names)))
}

// hintAtErrors says how records of another number of fields can be read.
func hintAtErrors(err error) error {
	return sqlerr.From(err).WithHint("read_csv('...', ignore_errors = true) leaves such records out, null_padding = true makes missing fields NULL; skip = 2 passes over lines before the table")
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
		if _, err := t.classifyBlock(ctx, s, found, -1); err != nil {
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
		odd[i] = total[i].seen(t.names[i])
	}
	return shapesOf(total), odd, err
}

// recordsBetweenLooks is after how many records a block's classification looks whether it is cancelled.
const recordsBetweenLooks = 256

// classifyBlock adds up to limit records (-1: all) to what is known of the columns, and returns how many there were.
func (t *Texts) classifyBlock(ctx context.Context, s *scanner, found []survey, limit int) (rows int, err error) {
	numbers := t.at[s.Number]
	var buf [64]byte
	rewrites, skipsEmpty := t.opts.writesOtherwise(), t.skipsEmpty(s)
	for rows != limit && s.more(skipsEmpty) {
		if rows%recordsBetweenLooks == 0 && ctx.Err() != nil {
			return rows, sqlerr.Interrupted(ctx.Err())
		}
		begin := s.at
		err := t.eachField(s, func(i int, field []byte) error {
			if t.isNull(s, field) {
				return nil
			}
			shape := textfile.Text
			if !rewrites {
				shape = textfile.Classify(field)
			} else if text, ok := t.opts.meaning(field, buf[:0]); ok {
				shape = textfile.Classify(text)
			}
			found[numbers[i]].add(s, field, shape)
			return nil
		})
		switch {
		case err == nil:
			rows++
		case t.opts.IgnoresErrors:
			s.at = lineEnd(s.Text, begin)
		default:
			return rows, err
		}
	}
	return rows, nil
}
