package parse

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Rows are the rows of a long INSERT ... VALUES or REPLACE ... VALUES behind the first, which its tree leaves out: they are read from the
// text when they are stored, a block at a time. Their syntax has been checked. They hold no ? markers.
type Rows struct {
	text     string // as given to Parse
	from, to int    // where they stand in it: from the first one's parenthesis to behind the last one's
	head     string // the statement up to VALUES
	mode     Mode
}

// skipped is where the rows of a piece stand that have no tokens.
type skipped struct {
	values, first int // behind VALUES, and behind the first row
	from, to      int // of the rows behind that, as in Rows; to is 0 where none are left out
	special       bool
}

// minRows is from how many bytes of rows on they are left out of the tree.
const minRows = 4 << 10

// FieldKind is a kind of plain value in a row.
type FieldKind uint8

// The kinds of plain values. Signs belong to numbers.
const (
	FieldNull    FieldKind = iota
	FieldInteger           // digits
	FieldDecimal           // digits, a point, digits
	FieldFloat             // with an exponent
	FieldString            // of plain characters
	FieldEscaped           // a string with escapes or doubled quotes
	FieldHex               // x'4D'
	FieldTrue
	FieldFalse
)

// Field is a plain value in a row: its text, without the quotes of a string.
type Field struct {
	Kind  FieldKind
	quote byte // of a string
	Text  string
}

// rowReader reads rows that consist of plain values.
type rowReader struct {
	text          string
	hasEscapes    bool
	hasANSIQuotes bool
}

// space returns the first position from pos on that is no space.
func (r *rowReader) space(pos int) int {
	for pos < len(r.text) {
		switch r.text[pos] {
		case ' ', '\n', '\t', '\r':
			pos++
		default:
			return pos
		}
	}
	return pos
}

// row reads the row at pos and appends its values to fields. ok is false where it is none of plain values alone.
func (r *rowReader) row(pos int, fields []Field) (list []Field, end int, ok bool) {
	if pos >= len(r.text) || r.text[pos] != '(' {
		return fields, pos, false
	}
	for pos++; ; pos++ {
		f, end, ok := r.field(r.space(pos))
		if !ok {
			return fields, pos, false
		}
		fields = append(fields, f)
		if pos = r.space(end); pos >= len(r.text) {
			return fields, pos, false
		}
		switch r.text[pos] {
		case ',':
		case ')':
			return fields, pos + 1, true
		default:
			return fields, pos, false
		}
	}
}

func (r *rowReader) field(pos int) (f Field, end int, ok bool) {
	if pos >= len(r.text) {
		return f, pos, false
	}
	switch c := r.text[pos]; {
	case c == '\'', c == '"' && !r.hasANSIQuotes:
		return r.quoted(pos)
	case c == '-' || charClass[c]&classDigit != 0:
		return r.number(pos)
	case c == 'x' || c == 'X':
		if pos+1 >= len(r.text) || r.text[pos+1] != '\'' {
			return f, pos, false
		}
		f, end, ok = r.quoted(pos + 1)
		f.Kind = FieldHex
		return f, end, ok && len(f.Text)%2 == 0 && strings.Trim(f.Text, "0123456789abcdefABCDEF") == ""
	}
	for _, w := range plainWords {
		if end := pos + len(w.word); end < len(r.text) && strings.EqualFold(r.text[pos:end], w.word) && charClass[r.text[end]]&classIdent == 0 {
			return Field{Kind: w.kind, Text: r.text[pos:end]}, end, true
		}
	}
	return f, pos, false
}

var plainWords = []struct {
	word string
	kind FieldKind
}{{"NULL", FieldNull}, {"TRUE", FieldTrue}, {"FALSE", FieldFalse}}

func (r *rowReader) quoted(pos int) (f Field, end int, ok bool) {
	quote := r.text[pos]
	f.Kind, f.quote = FieldString, quote
	for p := pos + 1; p < len(r.text); p++ {
		switch c := r.text[p]; {
		case c == quote:
			if p+1 < len(r.text) && r.text[p+1] == quote {
				f.Kind = FieldEscaped
				p++
				continue
			}
			f.Text = r.text[pos+1 : p]
			return f, p + 1, true
		case c == '\\' && r.hasEscapes:
			f.Kind = FieldEscaped
			p++
		}
	}
	return f, pos, false
}

// mostDigits is how long a plain number may be: longer ones may be refused.
const mostDigits = 30

func (r *rowReader) number(pos int) (f Field, end int, ok bool) {
	start := pos
	digits := func() bool {
		from := pos
		for pos < len(r.text) && r.text[pos]-'0' <= 9 {
			pos++
		}
		return pos > from
	}
	if r.text[pos] == '-' {
		pos++
	}
	if !digits() {
		return f, start, false
	}
	f.Kind = FieldInteger
	if pos < len(r.text) && r.text[pos] == '.' {
		f.Kind = FieldDecimal
		if pos++; !digits() {
			return f, start, false
		}
	}
	if pos < len(r.text) && (r.text[pos] == 'e' || r.text[pos] == 'E') {
		f.Kind = FieldFloat
		pos++
		if pos < len(r.text) && (r.text[pos] == '+' || r.text[pos] == '-') {
			pos++
		}
		if exponent := pos; !digits() || pos-exponent > 2 { // 1e400 is refused
			return f, start, false
		}
	}
	if pos-start > mostDigits || pos < len(r.text) && charClass[r.text[pos]]&classIdent != 0 {
		return f, start, false
	}
	f.Text = r.text[start:pos]
	return f, pos, true
}

// Unescape returns the text of a string of plain characters or with escapes, whose quotes have been taken away.
func (r *Rows) Unescape(f Field) string {
	if f.Kind != FieldEscaped {
		return f.Text
	}
	backslash := !r.mode.HasNoBackslashEscapesMode()
	out := make([]byte, 0, len(f.Text))
	for i := 0; i < len(f.Text); i++ {
		c := f.Text[i]
		if c == '\\' && backslash {
			i++
			out = appendEscape(out, f.Text[i])
			continue
		}
		if c == f.quote {
			i++ // it is doubled
		}
		out = append(out, c)
	}
	return string(out)
}

// appendEscape appends what a backslash and c stand for (Reference Manual 11.1.1).
func appendEscape(out []byte, c byte) []byte {
	switch c {
	case 'n':
		c = '\n'
	case '0':
		c = 0
	case 'b':
		c = '\b'
	case 'Z':
		c = 26
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case '%', '_':
		out = append(out, '\\')
	}
	return append(out, c)
}

// rows passes over the rows of VALUES that follow the row that ends at pos, if they are many. The scanner then stands behind the last one; else it stays.
// Where the statement is not to be parsed, what follows the rows does not matter, nor whether the text has their end.
func (s *scanner) rows(pos int, parsed bool) (k skipped, ok bool) {
	before := s.pos
	r := rowReader{text: s.text, hasEscapes: s.hasEscapes, hasANSIQuotes: s.hasANSIQuotes}
	var fields []Field
	from, to := 0, pos
	for {
		next, more := s.comma(to, &r)
		if !more {
			break
		}
		if from == 0 {
			from = next
		}
		list, end, plain := r.row(next, fields[:0])
		fields = list
		if !plain {
			k.special = true
			if end = s.row(next); end < 0 && !parsed {
				s.inBang = false
				break
			} else if end < 0 {
				s.pos, s.inBang = before, false
				return k, false
			}
		}
		to = end
	}
	s.pos = to
	if t := s.next(); from == 0 || to-from < minRows || parsed && (s.inBang || t.kind != tokEnd && t.kind != tokWord && !t.isOp(';')) { // a row that is written ROW(...)
		s.pos, s.inBang = before, false
		return k, false
	}
	s.pos, s.inBang = to, false
	k.first, k.from, k.to = pos, from, to
	return k, true
}

// comma looks for a comma and a parenthesis behind a row that ends at pos, and returns the position of the parenthesis.
func (s *scanner) comma(pos int, r *rowReader) (next int, ok bool) {
	if p := r.space(pos); p < len(r.text) && r.text[p] == ',' {
		if p = r.space(p + 1); p < len(r.text) && r.text[p] == '(' {
			return p, true
		}
	}
	s.pos = pos // comments, perhaps
	if s.inBang || !s.next().isOp(',') {
		return 0, false
	}
	t := s.next()
	return int(t.start), t.isOp('(') && !s.inBang
}

// row passes over a row of any values at pos and returns where it ends: -1 if it has no end, or if it cannot be read by itself.
func (s *scanner) row(pos int) int {
	s.pos = pos
	for depth := 0; ; {
		switch t := s.next(); {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			if depth--; depth == 0 {
				return int(t.end)
			}
		case t.kind == tokEnd, t.kind == tokUnclosed, t.kind == tokParam, t.kind == tokHint, t.isOp(';'), s.inBang:
			return -1
		}
	}
}

// blockBytes is up to which length of text rows that are not plain are parsed at once.
const blockBytes = 64 << 10

// RowCursor reads rows from the first on. It must not be copied.
type RowCursor struct {
	rows   *Rows
	reader rowReader
	scan   *scanner // of the same text
	pos    int      // behind the last row that was read
	begun  bool
	last   int // where the row starts that was read last
	fields []Field
}

// Cursor returns a cursor in front of the first row.
func (r *Rows) Cursor() *RowCursor {
	scan := newScanner(r.text[:r.to], r.mode)
	return &RowCursor{rows: r, pos: r.from, scan: scan, reader: rowReader{text: scan.text, hasEscapes: scan.hasEscapes, hasANSIQuotes: scan.hasANSIQuotes}}
}

// next returns where the next row starts; -1 behind the last.
func (c *RowCursor) next() int {
	if !c.begun {
		c.begun = true
		return c.pos
	}
	if next, ok := c.scan.comma(c.pos, &c.reader); ok {
		return next
	}
	return -1
}

// Plain reads rows as long as they are plain. ok is false at a row that is not, which Special reads, and behind the last, where
// done is set. The fields are valid until the next call.
func (c *RowCursor) Plain() (fields []Field, ok, done bool) {
	if c.last = c.next(); c.last < 0 {
		return nil, false, true
	}
	fields, end, ok := c.reader.row(c.last, c.fields[:0])
	if c.fields = fields; ok {
		c.pos = end
	}
	return fields, ok, false
}

// Special parses the row that Plain gave last, with those behind it that are not plain either, as a statement that inserts nothing else. Its positions
// are those in the whole text.
func (c *RowCursor) Special() (Statement, error) {
	start := c.last
	for {
		end := c.scan.row(c.last)
		if end < 0 {
			return Statement{}, sqlerr.Bug("a row at byte %d has no end", c.last)
		}
		c.pos = end
		if end-start >= blockBytes {
			break
		}
		next, ok := c.scan.comma(end, &c.reader)
		if !ok {
			break
		}
		if _, _, plain := c.reader.row(next, c.fields[:0]); plain {
			break
		}
		c.last = next
	}
	return c.rows.parse(start, c.pos)
}

// parse parses the rows in a part of the text.
func (r *Rows) parse(from, to int) (Statement, error) {
	x := shortened{whole: r.text, text: r.head + r.text[from:to], at: len(r.head), moved: from - len(r.head)}
	w := workers.Get().(*worker)
	var out Statement
	var err error
	c := cutter{text: x.text, mode: r.mode, tokens: w.tokens}
	_ = c.each(func(p Piece) bool { // which fails where there is no memory alone, and asks for none
		out, err = w.parse(x.text, p, r.mode)
		return false
	})
	if err != nil {
		return Statement{}, x.move(sqlerr.From(err))
	}
	w.tokens = c.tokens
	workers.Put(w)
	out.short = &x
	return out, nil
}

// check parses the rows that are not plain, to find their errors.
func (r *Rows) check() error {
	c := r.Cursor()
	for {
		_, ok, done := c.Plain()
		switch {
		case done:
			return nil
		case ok:
			continue
		}
		if _, err := c.Special(); err != nil {
			return err
		}
	}
}

// parseLong parses a piece whose rows are left out of its tree.
func (w *worker) parseLong(text string, p Piece, mode Mode) (Statement, error) {
	first, rest := p.rows.first-p.Offset, p.rows.to-p.Offset // where the first row ends, and the last one
	x := &shortened{whole: text, text: p.Text[:first] + p.Text[rest:], from: p.Offset, at: first, moved: rest - first}
	for i := range p.tokens {
		t := &p.tokens[i]
		by := int32(p.Offset)
		if int(t.start) >= p.rows.to {
			by += int32(x.moved)
		}
		t.start -= by
		t.end -= by
	}
	s, err := w.parse(x.text, Piece{Text: x.text, Line: 1, tokens: p.tokens}, mode)
	if err != nil {
		return s, x.move(sqlerr.From(err))
	}
	if s.Node == nil {
		return s, sqlerr.Bug("an INSERT of many rows has no tree").AtOffset(text, p.Offset)
	}
	s.Text, s.Offset, s.Line, s.source, s.short = p.Text, p.Offset, p.Line, text, x
	s.Rows = &Rows{text: text, from: p.rows.from, to: p.rows.to, head: text[p.Offset:p.rows.values] + " ", mode: mode}
	if p.rows.special {
		err = s.Rows.check()
	}
	return s, err
}

// shortened is a text without a part of a longer one.
type shortened struct {
	whole, text string
	from        int // where it starts in the whole text
	at, moved   int // what stands from at on stands so much further behind in the whole text
}

// offset is the position in the whole text of one in the shortened text.
func (x *shortened) offset(at int) int {
	if at >= x.at {
		at += x.moved
	}
	return x.from + at
}

// move moves the position of an error to the whole text.
func (x *shortened) move(e *sqlerr.Error) *sqlerr.Error {
	if !e.Pos.Known() {
		return e
	}
	c := *e
	c.Pos, c.Text = sqlerr.Position{}, ""
	return c.AtOffset(x.whole, x.offset(e.Pos.Offset))
}

// Value returns the value of a field, in the type that Literal gives it. ok is false for what only the parser reads.
func (r *Rows) Value(f Field) (v types.Value, ok bool) {
	switch f.Kind {
	case FieldNull:
		return types.NullOf(types.Null), true
	case FieldTrue, FieldFalse:
		return types.BoolValue(f.Kind == FieldTrue), true
	case FieldInteger:
		i, err := strconv.ParseInt(f.Text, 10, 64)
		return types.IntValue(i), err == nil
	case FieldDecimal:
		v, err := decimal(f.Text)
		return v, err == nil
	case FieldFloat:
		x, ok := types.ParseFloat(f.Text)
		return types.FloatValue(x), ok
	case FieldHex:
		s, err := hex.DecodeString(f.Text)
		return bits(string(s)), err == nil
	}
	v, err := text(r.Unescape(f), "")
	return v, err == nil
}
