package jsondoc

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/radish-sql/radish/sql/interrupt"
)

// Reader reads a document from its text without copying what it can share. It knows valid documents only: where it fails, the text goes
// through encoding/json, which says what is wrong with it.
type Reader struct {
	c      Statement
	s      string
	at     int
	looked int   // where it looked last whether its statement goes on
	err    error // of the statement
	// Exact: the document is a value of type JSON, which can hold DECIMALs (see [Reread]).
	Exact bool
}

// NewReader returns a reader of a document.
func NewReader(c Statement, text string) Reader { return Reader{c: c, s: text} }

// Err returns the error that ended the statement while its document was read.
func (r *Reader) Err() error { return r.err }

// goesOn looks now and then whether the statement goes on.
func (r *Reader) goesOn() bool {
	if r.at-r.looked >= interrupt.PieceBytes {
		r.looked = r.at
		r.err = r.c.Interrupted()
	}
	return r.err == nil
}

func (r *Reader) space() {
	if r.at < len(r.s) && r.s[r.at] == ' ' { // one, as a rule
		r.at++
	}
	if r.at < len(r.s) && r.s[r.at] > ' ' {
		return
	}
	for r.at < len(r.s) && (r.s[r.at] == ' ' || r.s[r.at] == '\n' || r.s[r.at] == '\t' || r.s[r.at] == '\r') {
		r.at++
	}
}

func (r *Reader) take(c byte) bool {
	if r.at < len(r.s) && r.s[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *Reader) word(w string) bool {
	if len(r.s)-r.at < len(w) || r.s[r.at:r.at+len(w)] != w {
		return false
	}
	r.at += len(w)
	return true
}

// Ended says whether nothing but space is left.
func (r *Reader) Ended() bool {
	r.space()
	return r.at == len(r.s)
}

// plainTo returns a position up to which, from at on, s has ASCII characters that stand for themselves in a string. It looks at eight bytes at
// a time: what is subtracted borrows into a byte's high bit where the byte is smaller.
func plainTo(s string, at int) int {
	const eachByte, highBits = 0x0101010101010101, 0x8080808080808080
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; at+8 <= len(b); at += 8 {
		x := binary.LittleEndian.Uint64(b[at:])
		quote, slash := x^('"'*eachByte), x^('\\'*eachByte)
		if found := ((quote - eachByte) | (slash - eachByte) | (x - ' '*eachByte) | x) & highBits; found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	return at
}

// str reads a string with its quotes. plain says that what is between them is the string itself.
func (r *Reader) str() (token string, plain, ok bool) {
	start := r.at
	if !r.take('"') {
		return "", false, false
	}
	plain, ascii := true, byte(0)
	s, at := r.s, plainTo(r.s, r.at)
	for ; at < len(s); at++ {
		c := s[at]
		if ascii |= c; c > '\\' || c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		switch c {
		case '"':
			r.at = at + 1
			token = s[start:r.at]
			if ascii >= utf8.RuneSelf && !utf8.ValidString(token) {
				plain = false
			}
			return token, plain, true
		case '\\':
			plain = false
			if r.at = at + 1; !r.escape() {
				return "", false, false
			}
			at = r.at
		default:
			return "", false, false
		}
	}
	return "", false, false
}

// escape looks at what stands behind a backslash, and goes to its last byte.
func (r *Reader) escape() bool {
	if r.at >= len(r.s) {
		return false
	}
	switch r.s[r.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			r.at++
			if r.at >= len(r.s) || !isHex(r.s[r.at]) {
				return false
			}
		}
		return true
	}
	return false
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// textOf returns the string of a token.
func (r *Reader) textOf(token string, plain bool) (text string, ok bool) {
	if plain {
		return token[1 : len(token)-1], true
	}
	const copies = 3 // the bytes that are decoded, and a buffer that becomes a string
	if r.err = r.c.Hold(copies * len(token)); r.err != nil {
		return "", false
	}
	return unescaped(token)
}

func unescaped(token string) (text string, ok bool) {
	var out string // a variable of its own, since its memory is the heap's
	err := json.Unmarshal([]byte(token), &out)
	return out, err == nil
}

func (r *Reader) digits() bool {
	start := r.at
	for r.at < len(r.s) && r.s[r.at] >= '0' && r.s[r.at] <= '9' {
		r.at++
	}
	return r.at > start
}

func (r *Reader) number() bool {
	r.take('-')
	if !r.take('0') && !r.digits() {
		return false
	}
	if r.take('.') && !r.digits() {
		return false
	}
	if r.take('e') || r.take('E') {
		if !r.take('-') {
			r.take('+')
		}
		return r.digits()
	}
	return true
}

// skip reads a value that stands in depth others.
func (r *Reader) skip(depth int) bool {
	r.space()
	if r.at >= len(r.s) {
		return false
	}
	switch r.s[r.at] {
	case '"':
		_, _, ok := r.str()
		return ok
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case 'n':
		return r.word("null")
	case '{', '[':
		m, ok := r.members(depth)
		for ok && r.next(&m) {
			ok = r.skip(depth + 1)
		}
		return ok && !m.invalid
	}
	return r.number()
}

// members are those of an array or an object that is being read.
type members struct {
	isObject bool
	key      string // of an object's member, as it is written
	plain    bool   // what is between the key's quotes is the key itself
	n        int    // members that were begun
	invalid  bool   // the text is none of a document, or the statement has ended
}

// members begins to read an array or an object.
func (r *Reader) members(depth int) (m members, ok bool) {
	m.isObject = r.s[r.at] == '{'
	r.at++
	return m, depth < MaxDepth
}

// next goes to the value of the next member; it is false behind the last one.
func (r *Reader) next(m *members) bool {
	end := byte(']')
	if m.isObject {
		end = '}'
	}
	if r.space(); r.take(end) {
		return false
	}
	m.n++
	if m.n > 1 && !r.take(',') || !r.goesOn() {
		m.invalid = true
		return false
	}
	if !m.isObject {
		return true
	}
	r.space()
	var ok bool
	if m.key, m.plain, ok = r.str(); ok {
		r.space()
		ok = r.take(':')
	}
	m.invalid = !ok
	return ok
}

// Value reads a value into a tree. Without an error nil says that the document is not valid.
func (r *Reader) Value(depth int) (v *Value, err error) {
	if r.space(); r.at >= len(r.s) {
		return nil, nil
	}
	if err := r.c.Hold(valueBytes); err != nil {
		return nil, err
	}
	start := r.at
	switch r.s[r.at] {
	case '{', '[':
		v = &Value{Kind: Array}
		if r.s[r.at] == '{' {
			v.Kind = Object
		}
		m, ok := r.members(depth)
		for ok && r.next(&m) {
			if m.isObject {
				text, ok := r.textOf(m.key, m.plain)
				if !ok {
					return nil, r.err
				}
				v.Keys = append(v.Keys, text)
			}
			item, err := r.Value(depth + 1)
			if item == nil {
				return nil, cmp.Or(err, r.err)
			}
			v.Items = append(v.Items, item)
		}
		if !ok || m.invalid {
			return nil, r.err
		}
		v.normalize()
		return v, nil
	case '"':
		if token, plain, ok := r.str(); ok {
			if text, ok := r.textOf(token, plain); ok {
				return &Value{Kind: String, Text: text}, nil
			}
		}
		return nil, r.err
	case 't':
		if r.word("true") {
			return truthValue(true), nil
		}
	case 'f':
		if r.word("false") {
			return truthValue(false), nil
		}
	case 'n':
		if r.word("null") {
			return &Value{}, nil
		}
	default:
		if r.number() {
			return numberValue(r.s[start:r.at], r.Exact), nil
		}
	}
	return nil, nil
}

// Seek reads a value and returns the text of the one that a path finds in it, "" if there is none. The path has keys and indexes from the
// beginning only.
func (r *Reader) Seek(path Path, depth int) (found string, ok bool) {
	r.space()
	for len(path) > 0 && path[0].Kind == LegCell && path[0].From.n == 0 && r.at < len(r.s) && r.s[r.at] != '[' {
		path = path[1:] // what is no array is one of itself
	}
	if len(path) == 0 {
		start := r.at
		ok = r.skip(depth)
		return r.s[start:r.at], ok
	}
	leg, kind := &path[0], byte('{')
	if leg.Kind == LegCell {
		kind = '['
	}
	if r.at >= len(r.s) || r.s[r.at] != kind {
		return "", r.skip(depth)
	}
	m, ok := r.members(depth)
	for ok && r.next(&m) {
		here := m.n-1 == leg.From.n
		if leg.Kind == LegKey {
			if m.plain {
				here = m.key[1:len(m.key)-1] == leg.Key
			} else if text, valid := r.textOf(m.key, false); valid {
				here = text == leg.Key
			} else {
				return "", false
			}
		}
		if here {
			found, ok = r.Seek(path[1:], depth+1) // of a key that stands there twice the last counts
		} else {
			ok = r.skip(depth + 1)
		}
	}
	return found, ok && !m.invalid
}

// IsPlainString says whether nothing is left but a string that is written as it is.
func (r *Reader) IsPlainString() bool {
	_, plain, ok := r.str()
	return ok && plain && r.at == len(r.s)
}

// IsWritten says whether a value that was read, without space around it, is written as it stands: a string without escapes, or a short integer.
func IsWritten(text string) bool {
	switch {
	case text == "":
		return false
	case text[0] == '"':
		return strings.IndexByte(text, '\\') < 0 && utf8.ValidString(text)
	case len(text) > 18 || text == "-0":
		return false
	}
	digits := strings.TrimPrefix(text, "-")
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// Forward says whether a path has keys and indexes from the beginning only.
func (p Path) Forward() bool {
	for _, l := range p {
		if l.Kind != LegKey && (l.Kind != LegCell || l.From.Last) {
			return false
		}
	}
	return true
}
