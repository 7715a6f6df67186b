package jsondoc

import (
	"cmp"
	"encoding/json"
	"unicode/utf8"

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

// str reads a string with its quotes. plain says that what is between them is the string itself.
func (r *Reader) str() (token string, plain, ok bool) {
	start := r.at
	if !r.take('"') {
		return "", false, false
	}
	plain, ascii := true, byte(0)
	for r.at < len(r.s) {
		stop := min(len(r.s), r.looked+interrupt.PieceBytes)
		if r.at >= stop && !r.goesOn() {
			return "", false, false
		}
		for ; r.at < stop; r.at++ {
			switch c := r.s[r.at]; {
			case c == '"':
				r.at++
				token = r.s[start:r.at]
				if ascii >= utf8.RuneSelf && !utf8.ValidString(token) {
					plain = false
				}
				return token, plain, true
			case c == '\\':
				plain = false
				if r.at++; !r.escape() {
					return "", false, false
				}
			case c < ' ':
				return "", false, false
			default:
				ascii |= c
			}
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
	return text, json.Unmarshal([]byte(token), &text) == nil
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
		return r.each(depth, func(int, string, bool) bool { return r.skip(depth + 1) })
	}
	return r.number()
}

// each reads an array or an object, with f reading each value. It gets the value's number and, in an object, its key as it is written.
func (r *Reader) each(depth int, f func(i int, key string, plain bool) bool) bool {
	if depth == MaxDepth {
		return false
	}
	object := r.s[r.at] == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	r.at++
	if r.space(); r.take(end) {
		return true
	}
	for i := 0; r.goesOn(); i++ {
		key, plain := "", true
		if object {
			r.space()
			ok := false
			if key, plain, ok = r.str(); !ok {
				return false
			}
			if r.space(); !r.take(':') {
				return false
			}
		}
		if !f(i, key, plain) {
			return false
		}
		if r.space(); r.take(end) {
			return true
		}
		if !r.take(',') {
			return false
		}
	}
	return false
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
		ok := r.each(depth, func(_ int, key string, plain bool) bool {
			if v.Kind == Object {
				text, ok := r.textOf(key, plain)
				if !ok {
					return false
				}
				v.Keys = append(v.Keys, text)
			}
			var item *Value
			item, err = r.Value(depth + 1)
			v.Items = append(v.Items, item)
			return item != nil
		})
		if !ok || err != nil {
			return nil, cmp.Or(err, r.err)
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
			return numberValue(r.s[start:r.at]), nil
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
	ok = r.each(depth, func(i int, key string, plain bool) bool {
		here := i == leg.From.n
		if leg.Kind == LegKey {
			text, ok := r.textOf(key, plain)
			if here = text == leg.Key; !ok {
				return false
			}
		}
		if !here {
			return r.skip(depth + 1)
		}
		var ok bool
		found, ok = r.Seek(path[1:], depth+1) // of a key that stands there twice the last counts
		return ok
	})
	return found, ok
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
