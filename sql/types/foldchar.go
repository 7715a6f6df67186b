package types

import (
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// charClasses tells which characters of a collation are equal one by one. It is filled as characters are met, and read without locks.
type charClasses struct {
	seed  sync.Once
	ascii [utf8.RuneSelf]byte // what stands for an ASCII character
	// pages have, by code point, 1 more than the character that stands for all of a class; 0: it has not been looked up.
	pages [unicode.MaxRune>>8 + 1]atomic.Pointer[[256]atomic.Int32]

	mu    sync.Mutex
	first map[string]rune // by key: the first character seen that has it
}

var classes [len(collations)]charClasses

// classesOf returns the classes of a collation, those of the ASCII characters first, so that one of them stands for its class.
func classesOf(c Collation) *charClasses {
	m := &classes[c]
	m.seed.Do(func() {
		m.first = map[string]rune{}
		for i := range m.ascii {
			m.ascii[i] = byte(m.find(c, rune(i)))
		}
	})
	return m
}

// find returns what stands for r, which no ASCII character is but while the classes are made.
func (m *charClasses) find(c Collation, r rune) rune {
	page := m.pages[r>>8].Load()
	if page != nil {
		if class := page[r&255].Load(); class != 0 {
			return class - 1
		}
	}
	key := c.Key(string(r))
	if c == CollationUnicode520CI { // whose keys have no spaces at their ends
		key = string(appendUnicodeKey(nil, string(r), CollationAiCI))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	class, known := m.first[key]
	if !known {
		class = r
		m.first[key] = r
	}
	if page = m.pages[r>>8].Load(); page == nil {
		page = new([256]atomic.Int32)
		m.pages[r>>8].Store(page)
	}
	page[r&255].Store(class + 1)
	return class
}

// FoldChar returns a character that stands for all characters equal to r: LIKE compares strings character by character. Which it is
// differs from process to process; an ASCII character if one is among them.
func (c Collation) FoldChar(r rune) rune {
	switch {
	case c == CollationGeneralCI:
		return generalWeight(r)
	case c.Bytewise():
		return r
	case r < utf8.RuneSelf:
		return rune(classesOf(c).ascii[r])
	}
	return classesOf(c).find(c, r)
}

// AppendFolded appends s with FoldChar of its characters.
func (c Collation) AppendFolded(dst []byte, s string) []byte {
	if c.Bytewise() {
		return append(dst, s...)
	}
	ascii := asciiFold(c)
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			dst = append(dst, ascii[b])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, c.FoldChar(r))
		i += n
	}
	return dst
}

// asciiFold returns what stands for the ASCII characters.
func asciiFold(c Collation) *[utf8.RuneSelf]byte {
	if c == CollationGeneralCI {
		return generalASCII()
	}
	return &classesOf(c).ascii
}

// generalASCII are the weights of utf8mb4_general_ci for the ASCII characters, which are ASCII characters.
var generalASCII = sync.OnceValue(func() *[utf8.RuneSelf]byte {
	var weights [utf8.RuneSelf]byte
	for i := range weights {
		weights[i] = byte(generalWeight(rune(i)))
	}
	return &weights
})
