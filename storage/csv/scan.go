package csv

import (
	"bytes"
	"fmt"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/textfile"
)

// scanner takes a block apart into fields.
type scanner struct {
	*textfile.Block
	delimiter byte
	quote     byte
	noQuote   bool
	at        int
	// The field that next found: a quoted one's start is after its quote.
	start  int
	quoted bool
}

func newScanner(opts Options, b *textfile.Block) *scanner {
	return &scanner{Block: b, delimiter: opts.delimiter(), quote: opts.quote(), noQuote: opts.NoQuote}
}

// more says whether another record begins. With skipEmpty it passes over empty lines.
func (s *scanner) more(skipEmpty bool) bool {
	for skipEmpty && s.at < len(s.Text) {
		switch {
		case s.Text[s.at] == '\n':
			s.at++
		case s.Text[s.at] == '\r' && s.at+1 < len(s.Text) && s.Text[s.at+1] == '\n':
			s.at += 2
		default:
			return true
		}
	}
	return s.at < len(s.Text)
}

// next returns the next field of the record and whether it is the last one. The field may point into the block.
func (s *scanner) next() (field []byte, last bool, err error) {
	text := s.Text
	s.quoted = false
	if s.at < len(text) && text[s.at] == s.quote && !s.noQuote {
		return s.nextQuoted()
	}
	start := s.at
	s.start = start
	i := start
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == s.delimiter:
			s.at = i + 1
			return text[start:i:i], false, nil
		case c == '\n':
			end := i
			if end > start && text[end-1] == '\r' {
				end--
			}
			s.at = i + 1
			return text[start:end:end], true, nil
		case c == s.quote && !s.noQuote:
			s.start = i
			return nil, false, s.hintAtQuotes(s.errorf("a quote inside a field that does not begin with one; expected the whole field in quotes, and quotes in it doubled"))
		}
	}
	s.at = i
	return text[start:i:i], true, nil
}

func (s *scanner) nextQuoted() (field []byte, last bool, err error) {
	text := s.Text
	open := s.at
	s.at++
	s.start, s.quoted = s.at, true
	begin := s.at
	var unescaped []byte
	for {
		i := bytes.IndexByte(text[s.at:], s.quote)
		if i < 0 {
			s.start = open
			return nil, false, s.hintAtQuotes(s.errorf("a quote that is not closed; expected a closing quote before the end of the file"))
		}
		end := s.at + i
		if end+1 < len(text) && text[end+1] == s.quote {
			unescaped = append(unescaped, text[begin:end+1]...)
			s.at = end + 2
			begin = s.at
			continue
		}
		field = text[begin:end:end]
		if unescaped != nil {
			field = append(unescaped, field...)
		}
		s.at = end + 1
		break
	}
	switch {
	case s.at == len(text):
		return field, true, nil
	case text[s.at] == s.delimiter:
		s.at++
		return field, false, nil
	case text[s.at] == '\n':
		s.at++
	case text[s.at] == '\r' && s.at+1 < len(text) && text[s.at+1] == '\n':
		s.at += 2
	default:
		s.start = s.at
		return nil, false, s.hintAtQuotes(s.errorf("text after a closing quote; expected a delimiter or the end of the line"))
	}
	return field, true, nil
}

// errorf returns an error at the field's start.
func (s *scanner) errorf(format string, args ...any) error { return s.Errorf(s.start, format, args...) }

// hintAtQuotes says how misplaced quotes can be read.
func (s *scanner) hintAtQuotes(err error) error {
	return sqlerr.From(err).WithHint("read_csv('...', quote = '') takes quotes for characters like others; ignore_errors = true leaves such records out")
}

// record returns the fields of the next record.
func (s *scanner) record() (fields []string, err error) {
	for last := false; !last; {
		var field []byte
		if field, last, err = s.next(); err != nil {
			return nil, err
		}
		fields = append(fields, string(field))
	}
	return fields, nil
}

// line returns the line that the field stands in, position says so for messages.
func (s *scanner) line() int { return s.Line + bytes.Count(s.Text[:s.start], []byte{'\n'}) }

func (s *scanner) position() string { return fmt.Sprintf("'%s', line %d", s.Source, s.line()) }
