package csv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

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
	ends
}

// ends are the bytes at which bare fields end, among 64 of the text: a bit for each.
type ends struct {
	base       int // where the 64 bytes begin
	from       int // the bits are those of the bytes from here on
	delimiters uint64
	others     uint64 // line ends and quotes
}

func newScanner(opts Options, b *textfile.Block) *scanner {
	return &scanner{Block: b, delimiter: opts.delimiter(), quote: opts.quote(), noQuote: opts.NoQuote, ends: ends{from: -1}}
}

const endsBytes = 64

// find has the bits be those from a position of the text on. Eight bytes are compared at a time.
func (s *scanner) find(at int) {
	if e := &s.ends; at > e.from && e.from >= 0 && at < e.base+endsBytes {
		behind := ^uint64(0) << (at - e.base)
		e.from, e.delimiters, e.others = at, e.delimiters&behind, e.others&behind
		return
	}
	s.base, s.from = at, at
	rest, there := s.Text[at:], ^uint64(0)
	var end [endsBytes]byte
	if len(rest) < endsBytes {
		there = 1<<copy(end[:], rest) - 1
		rest = end[:]
	}
	quote := s.quote
	if s.noQuote {
		quote = '\n'
	}
	s.delimiters, s.others = 0, 0
	block := (*[endsBytes]byte)(rest)
	for i := 0; i < endsBytes; i += 8 {
		x := binary.LittleEndian.Uint64(block[i : i+8])
		s.delimiters |= equal(x, s.delimiter) >> 56 << i
		s.others |= (equal(x, '\n') | equal(x, quote)) >> 56 << i
	}
	s.delimiters &= there
	s.others &= there
}

// equal has in its upper eight bits which bytes of x are b.
func equal(x uint64, b byte) uint64 {
	const each, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	x ^= uint64(b) * each
	zeros := ^((x&low + low) | x | low) // the highest bit of each byte that is zero
	return zeros >> 7 * 0x0102040810204080
}

// pass passes over up to n bare fields that end in delimiters, and returns how many there are.
func (s *scanner) pass(n int) (passed int) {
	for at := s.at; passed < n; {
		if s.from != at || at == s.base+endsBytes {
			s.find(at)
		}
		for ; passed < n && s.delimiters != 0; passed++ {
			first := s.delimiters & -s.delimiters
			if s.others&(first-1) != 0 {
				return passed
			}
			s.delimiters ^= first
			at = s.base + bits.TrailingZeros64(first) + 1
			s.at, s.from = at, at
		}
		if at = s.base + endsBytes; passed < n && (s.others != 0 || at >= len(s.Text)) {
			return passed
		}
	}
	return passed
}

// fieldEnd returns where the bare field ends, at the length of the text if nothing else ends it.
func (s *scanner) fieldEnd() int {
	at := s.at
	for {
		if s.from != at || at == s.base+endsBytes {
			s.find(at)
		}
		if all := s.delimiters | s.others; all != 0 {
			at = s.base + bits.TrailingZeros64(all)
			s.delimiters &= all - 1
			s.others &= all - 1
			s.from = at + 1
			return at
		}
		if at = s.base + endsBytes; at >= len(s.Text) {
			return len(s.Text)
		}
	}
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
	i := s.fieldEnd()
	if i == len(text) {
		s.at = i
		return text[start:i:i], true, nil
	}
	switch text[i] {
	case s.delimiter:
		s.at = i + 1
		return text[start:i:i], false, nil
	case '\n':
		end := i
		if end > start && text[end-1] == '\r' {
			end--
		}
		s.at = i + 1
		return text[start:end:end], true, nil
	}
	s.start = i
	return nil, false, s.hintAtQuotes(s.errorf("a quote inside a field that does not begin with one; expected the whole field in quotes, and quotes in it doubled"))
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
