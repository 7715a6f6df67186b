package jsondoc

import "github.com/radish-sql/radish/sql/interrupt"

// What is common in documents is scanned by functions that hold their offset in a register. They return -1 for the rest, rare or invalid,
// which a Reader then reads from its beginning: they need not tell one from the other.

// scannedBytes is the length of documents up to which they are scanned: nobody waits for that.
const scannedBytes = interrupt.ReadBytes

// Find returns the text of the value that a path finds in a whole document, "" if there is none. The path has keys and indexes from the
// beginning only. ok is false if the document is not valid.
func Find(c Statement, text string, path Path) (found string, ok bool) {
	if len(text) <= scannedBytes {
		at := scanSpace(text, 0)
		if from, to, end := scanFor(text, at, path, 0); end >= 0 && scanSpace(text, end) == len(text) {
			return text[from:to], true
		}
	}
	r := NewReader(c, text)
	found, ok = r.Seek(path, 0)
	return found, ok && r.Ended()
}

func scanSpace(s string, at int) int {
	for at < len(s) && s[at] <= ' ' && (s[at] == ' ' || s[at] == '\n' || s[at] == '\t' || s[at] == '\r') {
		at++
	}
	return at
}

// scanString returns the offset behind a string's end quote; at is behind the first one.
func scanString(s string, at int) int {
	for at = plainTo(s, at); at < len(s); at++ {
		switch c := s[at]; {
		case c == '"':
			return at + 1
		case c == '\\':
			if at++; at >= len(s) || s[at] == 'u' || !isEscape(s[at]) {
				return -1
			}
		case c < ' ':
			return -1
		}
	}
	return -1
}

func isEscape(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// scanKey returns where a member's key ends and where its value begins; at is where the key's first quote should be. Keys are of ASCII
// characters that stand for themselves.
func scanKey(s string, at int) (keyEnd, value int) {
	if at >= len(s) || s[at] != '"' {
		return -1, -1
	}
	for at = plainTo(s, at+1); at < len(s) && s[at] != '"'; at++ {
		if c := s[at]; c < ' ' || c >= 0x80 || c == '\\' {
			return -1, -1
		}
	}
	keyEnd = at
	if at = scanSpace(s, at+1); at >= len(s) || s[at] != ':' {
		return -1, -1
	}
	if at++; at < len(s) && s[at] == ' ' {
		at++
	}
	return keyEnd, scanSpace(s, at)
}

// scanValue returns the offset behind the value at an offset, which stands in depth others.
func scanValue(s string, at, depth int) int {
	if at < 0 || at >= len(s) {
		return -1
	}
	switch c := s[at]; {
	case c == '"':
		return scanString(s, at+1)
	case c >= '0' && c <= '9' || c == '-':
		return scanNumber(s, at)
	case c == '{' || c == '[':
		_, _, end := scanMembers(s, at, nil, depth)
		return end
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(s)-at >= len(word) && s[at:at+len(word)] == word {
			return at + len(word)
		}
	}
	return -1
}

// scanNumber is scanValue of an integer, a fraction or neither.
func scanNumber(s string, at int) int {
	if s[at] == '-' {
		at++
	}
	from := at
	for at < len(s) && s[at]-'0' <= 9 {
		at++
	}
	if at == from || s[from] == '0' && at > from+1 {
		return -1
	}
	if at < len(s) && s[at] == '.' {
		at++
		from = at
		for at < len(s) && s[at]-'0' <= 9 {
			at++
		}
		if at == from {
			return -1
		}
	}
	if at < len(s) && s[at]|0x20 == 'e' {
		return -1
	}
	return at
}

// scanFor returns where the value at an offset ends, and from where to where in it the value stands that a path finds; 0 and 0: there is none.
func scanFor(s string, at int, path Path, depth int) (from, to, end int) {
	if at < 0 || at >= len(s) {
		return 0, 0, -1
	}
	for len(path) > 0 && path[0].Kind == LegCell && path[0].From.n == 0 && s[at] != '[' {
		path = path[1:] // what is no array is one of itself
	}
	if len(path) == 0 {
		end = scanValue(s, at, depth)
		return at, end, end
	}
	open := byte('{')
	if path[0].Kind == LegCell {
		open = '['
	}
	if s[at] != open {
		return 0, 0, scanValue(s, at, depth)
	}
	return scanMembers(s, at, path, depth)
}

// scanMembers is scanFor in an array or an object, whose first byte stands at an offset and of which the first leg of the path, if there is a
// path, chooses a member.
func scanMembers(s string, at int, path Path, depth int) (from, to, end int) {
	isObject, last := s[at] == '{', s[at]+2 // { and }, [ and ] are two apart
	if depth >= MaxDepth {
		return 0, 0, -1
	}
	if at = scanSpace(s, at+1); at < len(s) && s[at] == last {
		return 0, 0, at + 1
	}
	for n := 0; ; n++ {
		here := false
		if isObject {
			key := at + 1
			keyEnd, value := scanKey(s, at)
			if keyEnd < 0 {
				return 0, 0, -1
			}
			here = path != nil && s[key:keyEnd] == path[0].Key
			at = value
		} else {
			here = path != nil && n == path[0].From.n
		}
		if here {
			from, to, at = scanFor(s, at, path[1:], depth+1) // of a key that stands there twice the last counts
		} else {
			at = scanValue(s, at, depth+1)
		}
		if at < 0 {
			return 0, 0, -1
		}
		if at = scanSpace(s, at); at >= len(s) {
			return 0, 0, -1
		}
		switch s[at] {
		case ',':
			at = scanSpace(s, at+1)
		case last:
			return from, to, at + 1
		default:
			return 0, 0, -1
		}
	}
}

// eachItem calls f with the items of an array or an object, a whole valid text without space around it, until f is false; key is without its quotes.
// ok is false where the text is not scanned.
func eachItem(s string, f func(key, item string) bool) (ok bool) {
	if len(s) > scannedBytes {
		return false
	}
	last := s[0] + 2
	at := scanSpace(s, 1)
	if at < len(s) && s[at] == last {
		return true
	}
	for {
		key := ""
		if last == '}' {
			keyEnd, value := scanKey(s, at)
			if keyEnd < 0 {
				return false
			}
			key, at = s[at+1:keyEnd], value
		}
		end := scanValue(s, at, 0)
		if end < 0 || !f(key, s[at:end]) {
			return end >= 0
		}
		if at = scanSpace(s, end); at >= len(s) || s[at] == last {
			return at < len(s)
		}
		at = scanSpace(s, at+1)
	}
}
