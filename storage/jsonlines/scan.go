package jsonlines

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/radish-sql/radish/storage/textfile"
)

// kind is what a JSON value is.
type kind uint8

const (
	null kind = iota // also of a key that is not there
	boolean
	number
	text
	nested // an array or object
)

// value is a JSON value: its text, a string's without quotes and escapes. It may point into the block.
type value struct {
	kind kind
	text []byte
}

// shape returns what a value that is not null looks like.
func (v value) shape() textfile.Shape {
	switch v.kind {
	case text:
		if s := textfile.Classify(v.text); s.Temporal() || s.Special() {
			return s
		}
		return textfile.Text
	case nested:
		return textfile.Nested
	}
	return textfile.Classify(v.text)
}

// may says whether a column of a shape can have values of this kind.
func (f *fields) may(v value, s textfile.Shape) bool {
	switch {
	case !s.Known():
		return v.kind == text && f.shapeOf(v).IsText()
	case s.IsText() || s.Special():
		return true
	case s.Temporal():
		return v.kind == text
	case s.IsNested():
		return v.kind == nested
	}
	return v.kind == boolean || v.kind == number || v.kind == text && textfile.Classify(v.text).Special()
}

// scanner takes a block apart into objects and their fields.
type scanner struct {
	*textfile.Block
	at        int
	start     int  // of the field that was found last
	hasFields bool // the object has had fields
}

// maxDepth is how deep arrays and objects may lie in each other, as in the JSON functions of SQL.
const maxDepth = 100

// more says whether another line with something on it begins, and passes over those without.
func (s *scanner) more() bool {
	for s.at < len(s.Text) {
		switch s.Text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return true
		}
	}
	return false
}

// space passes over spaces and returns the byte behind them, '\n' at the end of the text.
func (s *scanner) space() byte {
	if s.at < len(s.Text) && s.Text[s.at] > ' ' {
		return s.Text[s.at]
	}
	return s.spaces()
}

// spaces is space where there are some.
func (s *scanner) spaces() byte {
	for ; s.at < len(s.Text); s.at++ {
		if c := s.Text[s.at]; c != ' ' && c != '\t' && c != '\r' {
			return c
		}
	}
	return '\n'
}

// wrong returns the error of something that is not what the syntax asks for.
func (s *scanner) wrong(expected string) error {
	if s.at == len(s.Text) || s.Text[s.at] == '\n' {
		return s.Errorf(s.at, "the line ends within an object; expected %s: every object stands on one line", expected)
	}
	r, _ := utf8.DecodeRune(s.Text[s.at:])
	return s.Errorf(s.at, "%s is no JSON here; expected %s", strconv.QuoteRune(r), expected)
}

// open begins an object.
func (s *scanner) open() error {
	if s.Text[s.at] != '{' {
		return s.Errorf(s.at, "the line is no JSON object; expected { at its start")
	}
	s.at++
	s.hasFields = false
	return nil
}

// passBad passes over the next line if it is no JSON object. It looks at all of the line, so that the same lines are bad whatever is wanted of them.
func (s *scanner) passBad() bool {
	line := *s
	err := line.open()
	for last := false; err == nil && !last; {
		if _, last, err = line.key(); err == nil && !last {
			_, err = line.value()
		}
	}
	if err == nil {
		return false
	}
	if end := bytes.IndexByte(s.Text[s.at:], '\n'); end >= 0 {
		s.at += end + 1
	} else {
		s.at = len(s.Text)
	}
	return true
}

// key returns the key of the next field of the object, whose value follows; last says that there is none, and the line is done.
func (s *scanner) key() (key []byte, last bool, err error) {
	c := s.space()
	switch {
	case c == '}':
		s.at++
		if s.space() != '\n' {
			return nil, false, s.Errorf(s.at, "text behind the object; expected the end of the line")
		}
		return nil, true, nil
	case s.hasFields && c == ',':
		s.at++
		c = s.space()
	case s.hasFields:
		return nil, false, s.wrong(", or }")
	}
	s.hasFields = true
	if c != '"' {
		return nil, false, s.wrong("a key in quotes")
	}
	s.start = s.at
	if key, err = s.string(); err != nil {
		return nil, false, err
	}
	if s.space() != ':' {
		return nil, false, s.wrong(": behind the key")
	}
	s.at++
	return key, false, nil
}

// pass passes over a value that nobody wants, as far as it has to be understood for that.
func (s *scanner) pass() error {
	switch c := s.space(); {
	case c == '"':
		for s.at++; ; s.at++ {
			s.at = plainEnd(s.Text, s.at)
			switch {
			case s.at >= len(s.Text) || s.Text[s.at] == '\n':
				s.at = min(s.at, len(s.Text))
				return s.wrong("a closing quote")
			case s.Text[s.at] == '"':
				s.at++
				return nil
			case s.Text[s.at] == '\\' && s.at+1 < len(s.Text) && s.Text[s.at+1] != '\n':
				s.at++
			}
		}
	case c == '-' || c-'0' <= 9:
		at := s.at
		for at < len(s.Text) && inNumber[s.Text[at]] {
			at++
		}
		s.at = at
		return nil
	}
	_, err := s.value()
	return err
}

// inNumber has the characters of numbers.
var inNumber = [256]bool{'-': true, '+': true, '.': true, 'e': true, 'E': true, '0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true}

const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainEnd returns where from at on the first quote, backslash or control character stands, the length of text if none does. It looks at eight bytes at a time: what is
// subtracted borrows into a byte's high bit where the byte is smaller.
func plainEnd(text []byte, at int) int {
	for ; at+8 <= len(text); at += 8 {
		x := binary.LittleEndian.Uint64(text[at:])
		quote, slash := x^('"'*eachByte), x^('\\'*eachByte)
		found := ((quote-eachByte)&^quote | (slash-eachByte)&^slash | (x-' '*eachByte)&^x) & highBits
		if found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(text) && text[at] != '"' && text[at] != '\\' && text[at] >= ' ' {
		at++
	}
	return at
}

func (s *scanner) value() (v value, err error) {
	c := s.space()
	start := s.at
	switch {
	case c == '"':
		v.kind = text
		v.text, err = s.string()
		return v, err
	case c == '{' || c == '[':
		v.kind = nested
		if err := s.skip(); err != nil {
			return v, err
		}
	case c == '-' || c-'0' <= 9:
		v.kind = number
		if !s.number() {
			return v, s.wrong("a digit: the number is malformed")
		}
	case s.take("true"), s.take("false"):
		v.kind = boolean
	case s.take("null"):
	default:
		return v, s.wrong("a value")
	}
	v.text = s.Text[start:s.at:s.at]
	return v, nil
}

// take passes over a word if it comes next.
func (s *scanner) take(word string) bool {
	if !bytes.HasPrefix(s.Text[s.at:], []byte(word)) {
		return false
	}
	s.at += len(word)
	return true
}

// number passes over a number, and stops where it is malformed.
func (s *scanner) number() (ok bool) {
	at, end := numberEnd(s.Text, s.at)
	s.at = at
	return at == end
}

// numberEnd returns where the number that begins at a byte ends (RFC 8259, section 6); at is less where it is malformed.
func numberEnd(b []byte, from int) (at, end int) {
	start := from
	if b[start] == '-' {
		start++
	}
	at = digits(b, start)
	if at > start+1 && b[start] == '0' { // no leading zeros
		return start + 1, at
	}
	if at > start && at < len(b) && b[at] == '.' {
		start = at + 1
		at = digits(b, start)
	}
	if at > start && at < len(b) && (b[at] == 'e' || b[at] == 'E') {
		if at++; at < len(b) && (b[at] == '-' || b[at] == '+') {
			at++
		}
		start = at
		at = digits(b, start)
	}
	if at == start {
		return at, at + 1
	}
	return at, at
}

// digits returns where the digits that begin at a byte end.
func digits(b []byte, at int) int {
	for at < len(b) && b[at]-'0' <= 9 {
		at++
	}
	return at
}

// skip passes over an array or object.
func (s *scanner) skip() error {
	start, depth := s.at, 1 // that of the object of the line
	for {
		if s.at == len(s.Text) || s.Text[s.at] == '\n' {
			return s.wrong("] or }")
		}
		switch s.Text[s.at] {
		case '"':
			if _, err := s.string(); err != nil {
				return err
			}
			continue
		case '{', '[':
			if depth++; depth > maxDepth {
				return s.Errorf(s.at, "arrays and objects lie more than %d deep in each other", maxDepth)
			}
		case '}', ']':
			if depth--; depth == 1 {
				s.at++
				return s.check(start)
			}
		}
		s.at++
	}
}

// check looks whether the text from start on, whose brackets match, is JSON.
func (s *scanner) check(start int) error {
	doc := s.Text[start:s.at]
	if json.Valid(doc) {
		return nil
	}
	var syntax *json.SyntaxError
	var into json.RawMessage
	if err := json.Unmarshal(doc, &into); errors.As(err, &syntax) {
		return s.Errorf(start+max(int(syntax.Offset)-1, 0), "no JSON: %s", syntax)
	}
	return s.Errorf(start, "no JSON")
}

// string passes over a string and returns what it stands for.
func (s *scanner) string() ([]byte, error) {
	s.at++
	start := s.at
	var b []byte // the string up to start, if it has escapes
	for {
		at := plainEnd(s.Text, s.at)
		s.at = at
		switch {
		case at == len(s.Text) || s.Text[at] == '\n':
			return nil, s.wrong("a closing quote")
		case s.Text[at] == '"':
			s.at++
			if b == nil {
				return s.Text[start:at:at], nil
			}
			return append(b, s.Text[start:at]...), nil
		case s.Text[at] != '\\':
			return nil, s.Errorf(at, "byte 0x%02x stands in a string; expected \\u%04x", s.Text[at], s.Text[at])
		}
		b = append(b, s.Text[start:at]...)
		var ok bool
		if b, ok = s.unescape(b); !ok {
			return nil, s.Errorf(at, "a malformed escape in a string")
		}
		start = s.at
	}
}

// escapes are the characters that may follow a backslash, and what they stand for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends what an escape stands for.
func (s *scanner) unescape(b []byte) ([]byte, bool) {
	if s.at+1 >= len(s.Text) {
		return b, false
	}
	c := s.Text[s.at+1]
	if c != 'u' {
		s.at += 2
		return append(b, escapes[c]), escapes[c] != 0
	}
	r, ok := s.codeUnit()
	if ok && utf16.IsSurrogate(r) {
		var low rune
		if low, ok = s.codeUnit(); ok {
			r = utf16.DecodeRune(r, low)
			ok = r != utf8.RuneError
		}
	}
	return utf8.AppendRune(b, r), ok
}

// codeUnit reads \uXXXX.
func (s *scanner) codeUnit() (rune, bool) {
	if len(s.Text)-s.at < 6 || s.Text[s.at] != '\\' || s.Text[s.at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.Text[s.at+2:s.at+6]), 16, 16)
	s.at += 6
	return rune(n), err == nil
}
