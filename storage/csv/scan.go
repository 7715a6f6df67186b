package csv

import (
	"bytes"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// scanner takes a block apart into fields.
type scanner struct {
	source    Source
	delimiter byte
	quote     byte
	noQuote   bool
	text      []byte
	at        int
	first     bool // the block holds the text's first record
	ends      int  // of lines in the block
	line      int  // of text[at]
	lineStart int  // where that line begins
	// The field that next found: a quoted one's start is after its quote.
	start  int
	quoted bool
}

func newScanner(source Source, opts Options, b block) *scanner {
	return &scanner{source: source, delimiter: opts.delimiter(), quote: opts.quote(), noQuote: opts.NoQuote, text: b.text, first: b.first, ends: b.ends, line: b.line}
}

// more says whether another record begins. With skipEmpty it passes over empty lines.
func (s *scanner) more(skipEmpty bool) bool {
	for skipEmpty && s.at < len(s.text) {
		switch {
		case s.text[s.at] == '\n':
			s.at++
		case s.text[s.at] == '\r' && s.at+1 < len(s.text) && s.text[s.at+1] == '\n':
			s.at += 2
		default:
			return true
		}
		s.newLine()
	}
	return s.at < len(s.text)
}

func (s *scanner) newLine() { s.line, s.lineStart = s.line+1, s.at }

// next returns the next field of the record and whether it is the last one. The field may point into the block.
func (s *scanner) next() (field []byte, last bool, err error) {
	text := s.text
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
			s.newLine()
			return text[start:end:end], true, nil
		case c == s.quote && !s.noQuote:
			s.start = i
			return nil, false, s.errorf("a quote inside a field that does not begin with one; expected the whole field in quotes, and quotes in it doubled")
		}
	}
	s.at = i
	return text[start:i:i], true, nil
}

func (s *scanner) nextQuoted() (field []byte, last bool, err error) {
	text := s.text
	open, line, lineStart := s.at, s.line, s.lineStart
	s.at++
	s.start, s.quoted = s.at, true
	begin := s.at
	var unescaped []byte
	for {
		i := bytes.IndexByte(text[s.at:], s.quote)
		if i < 0 {
			s.start, s.line, s.lineStart = open, line, lineStart
			return nil, false, s.errorf("a quote that is not closed; expected a closing quote before the end of the file")
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
		s.countLines(open, end)
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
		return nil, false, s.errorf("text after a closing quote; expected a delimiter or the end of the line")
	}
	s.newLine()
	return field, true, nil
}

// countLines adds the line ends in text[from:to].
func (s *scanner) countLines(from, to int) {
	if n := bytes.Count(s.text[from:to], []byte{'\n'}); n > 0 {
		s.line += n
		s.lineStart = from + bytes.LastIndexByte(s.text[from:to], '\n') + 1
	}
}

// errorf returns an error at the field's start.
func (s *scanner) errorf(format string, args ...any) error {
	return s.errorAt(s.start, format, args...)
}

// errorAt returns an error at an offset. A record's last field has already moved the scanner to the next line, so the line is
// counted anew.
func (s *scanner) errorAt(offset int, format string, args ...any) error {
	line, lineStart := s.line, s.lineStart
	if offset < lineStart {
		line -= bytes.Count(s.text[offset:lineStart], []byte{'\n'})
		lineStart = bytes.LastIndexByte(s.text[:offset], '\n') + 1
	}
	column := 1 + utf8.RuneCount(s.text[lineStart:max(offset, lineStart)])
	e := sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, format, args...)
	e.Message = "'" + s.source.Name + "', " + sqlerr.Position{Line: line, Column: column}.String() + ": " + e.Message
	return e
}

// checkUTF8 returns an error for text that is not UTF-8.
func (s *scanner) checkUTF8() error {
	if utf8.Valid(s.text) {
		return nil
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(s.text[i:])
		if r == utf8.RuneError && size == 1 {
			at := *s
			at.countLines(0, i)
			return at.errorAt(i, "byte 0x%02x is not UTF-8; expected the file in UTF-8", s.text[i])
		}
		i += size
	}
}
