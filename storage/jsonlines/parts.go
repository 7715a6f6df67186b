package jsonlines

import (
	"bytes"
	"fmt"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/jsontext"
	"github.com/radish-sql/radish/storage/textfile"
)

// parts reads some columns of the objects of a block.
type parts struct {
	*Objects
	s      scanner
	chosen []int    // the columns that are read
	wanted []int    // by key: the index of its column among those that are read; -1: it is not
	usual  [][]byte // by key: how it stands in a text, with its quotes and the colon; nil: with escapes
	row    []value  // of the columns that are read
	direct []kind   // of them: the kind of values that the column takes without further questions; null: none
}

// Parts returns a reader of the columns at ordinals of a block.
func (o *Objects) Parts(b *textfile.Block, ordinals []int) (textfile.Parts, error) {
	if err := b.CheckUTF8(); err != nil {
		return nil, err
	}
	p := &parts{Objects: o, s: scanner{Block: b}, chosen: ordinals, wanted: make([]int, len(o.fields.keys)), row: make([]value, len(ordinals))}
	for i, key := range o.fields.keys {
		p.wanted[i] = -1
		var usual []byte
		if text := []byte(key); plainEnd(text, 0) == len(text) {
			usual = []byte(`"` + key + `":`)
		}
		p.usual = append(p.usual, usual)
	}
	for i, c := range ordinals {
		p.wanted[c] = i
		p.direct = append(p.direct, o.fields.direct(c))
	}
	return p, nil
}

// direct returns the kind of values that a column takes if only their text has its form; null: more is asked of all.
func (f *fields) direct(column int) kind {
	switch shape := f.shapes[column]; {
	case f.given() || !shape.Known():
		return null
	case shape.IsText(), shape.Temporal() && !f.opts.Dates.Given():
		return text
	case shape.IsNested():
		return nested
	case shape.IsNumber():
		return number
	}
	return null
}

// Next implements [textfile.Parts]. The error is a [textfile.Misfit] if an object has a key or a value that the columns do not take.
func (p *parts) Next(limit int, old []encoding.Data) (rows int, data []encoding.Data, err error) {
	columns := make([]*textfile.Column, len(p.chosen))
	for i, c := range p.chosen {
		var before *encoding.Data
		if i < len(old) {
			before = &old[i]
		}
		columns[i] = p.column(c, before, limit)
	}
	for ; rows < limit && p.s.more(); rows++ {
		if p.fields.opts.IgnoresErrors && p.s.passBad() {
			for _, c := range columns {
				c.AppendNull()
			}
			continue
		}
		if err := p.object(); err != nil {
			return rows, nil, err
		}
		for i := range p.row {
			switch v := &p.row[i]; {
			case v.kind == null:
				columns[i].AppendNull()
			case v.kind == p.direct[i] && columns[i].Append(v.text):
			default:
				if err := p.add(columns[i], p.chosen[i], *v); err != nil {
					return rows, nil, err
				}
			}
		}
	}
	for _, c := range columns {
		data = append(data, c.Data())
	}
	return rows, data, nil
}

// column returns an empty column. For old see [textfile.Parts]; nil: there is none.
func (p *parts) column(column int, old *encoding.Data, limit int) *textfile.Column {
	switch {
	case p.fields.given():
		return textfile.NewColumnOf(p.fields.opts.Types[column], old, limit)
	case old != nil:
		return textfile.NewColumnIn(*old, p.fields.shapes[column], limit)
	}
	return textfile.NewColumn(p.fields.shapes[column], limit)
}

// add adds a value that is not null to a column.
func (p *parts) add(to *textfile.Column, column int, v value) error {
	if p.fields.given() {
		return p.addGiven(to, column, v)
	}
	shape, dates, field := p.fields.shapes[column], p.fields.opts.Dates, v.text
	if dates.Given() && v.kind == text && shape.Temporal() {
		var buf [64]byte
		var ok bool
		if field, ok = dates.Read(v.text, buf[:]); !ok && dates.Exclude(textfile.Classify(v.text)) {
			return p.misfit(column, v)
		}
	}
	if !p.fields.may(v, shape) || !to.Append(field) {
		return p.misfit(column, v)
	}
	return nil
}

func (p *parts) misfit(column int, v value) error {
	return &textfile.Misfit{Column: column, Position: p.position(), Text: string(v.text[:min(len(v.text), 60)])}
}

// addGiven adds a value to a column whose type the options give.
func (p *parts) addGiven(to *textfile.Column, column int, v value) error {
	given, field := p.fields.opts.Types[column], v.text
	switch {
	case v.kind != text:
	case given.Kind == types.KindJSON:
		field = jsontext.AppendString(nil, string(v.text))
	case !given.IsString():
		var buf [64]byte
		field, _ = p.fields.opts.Dates.Read(v.text, buf[:])
	}
	if to.Append(field) {
		return nil
	}
	if p.fields.opts.IgnoresErrors {
		to.AppendNull()
		return nil
	}
	return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "%s: '%s' is no %s, the type that the options give the key '%s'", p.position(), v.text[:min(len(v.text), 60)], given, p.names[column]).
		WithHint("give the key another type, as columns = {'%s': 'TEXT'}, or make such values of JSON lines NULL by ignore_errors = true", p.names[column])
}

// object reads the next object into row.
func (p *parts) object() error {
	s := &p.s
	if err := s.open(); err != nil {
		return err
	}
	clear(p.row)
	for next := 0; ; next++ {
		next = p.usualFields(next)
		text, last, err := s.key()
		if err != nil || last {
			return err
		}
		key := p.fields.find(text, next)
		if key < 0 && !p.fields.given() {
			return &textfile.Misfit{Column: -1, Position: p.position(), Text: string(text)}
		}
		if key < 0 { // the next key is looked for where this one was
			key, err = next-1, s.pass()
		} else if to := p.wanted[key]; to >= 0 {
			p.row[to], err = s.value()
		} else {
			err = s.pass()
		}
		if err != nil {
			return err
		}
		next = key
	}
}

var space = []byte{' '}

// usualFields reads fields from a key on as most writers write them: in the usual order, at most a space before a key and a value, and values that are numbers, or
// strings without escapes. It returns the key that it comes to, before which the scanner is then.
func (p *parts) usualFields(next int) int {
	b, at, last, hasFields := p.s.Text, p.s.at, p.s.start, p.s.hasFields
	for ; next < len(p.usual); next++ {
		start := at
		if hasFields && start < len(b) && b[start] == ',' {
			start++
		} else if hasFields {
			break
		}
		key := p.usual[next]
		if key == nil {
			break
		}
		if !bytes.HasPrefix(b[start:], key) {
			if !bytes.HasPrefix(b[start:], space) || !bytes.HasPrefix(b[start+1:], key) {
				break
			}
			start++
		}
		begin := start + len(key)
		if begin+1 >= len(b) {
			break
		}
		if b[begin] == ' ' {
			begin++
		}
		to, kind, end, behind := p.wanted[next], text, begin, 0 // where the value ends, and its quote
		if c := b[begin]; c == '"' {
			begin++
			if end = plainEnd(b, begin); end == len(b) || b[end] != '"' {
				break
			}
			behind = end + 1
		} else if c != '-' && c-'0' > 9 {
			break
		} else if to < 0 {
			for behind = begin; behind < len(b) && inNumber[b[behind]]; {
				behind++
			}
		} else if end, behind = numberEnd(b, begin); end != behind {
			break
		} else {
			kind = number
		}
		if to >= 0 {
			p.row[to] = value{kind, b[begin:end:end]}
		}
		at, last, hasFields = behind, start, true
	}
	p.s.at, p.s.start, p.s.hasFields = at, last, hasFields
	return next
}

func (p *parts) position() string {
	return fmt.Sprintf("'%s', line %d", p.s.Source, p.s.Line+bytes.Count(p.s.Text[:p.s.start], []byte{'\n'}))
}
