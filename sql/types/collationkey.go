package types

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Key returns the collation key of s: AppendKey's bytes.
func (c Collation) Key(s string) string {
	if c.Bytewise() {
		return s
	}
	return string(c.AppendKey(nil, s))
}

// KeyScratch is how many bytes it takes at most, about, to make the key of a string of n bytes, the key among them.
func (c Collation) KeyScratch(n int) int {
	switch c {
	case CollationGeneralCI:
		return 4 * n
	case CollationAiCI, CollationAsCI, CollationAsCS, CollationUnicode520CI:
		return 20 * n // weights of 4 bytes and keys of up to 5 for each character, in slices that grow by copying
	}
	return n
}

// AppendKey appends to dst the collation key of s: of two strings, the one that comes first has the key that comes first by its
// bytes, and equal strings have equal keys. Keys of one collation can be compared with each other only.
func (c Collation) AppendKey(dst []byte, s string) []byte {
	switch c {
	case CollationGeneralCI:
		return appendGeneralKey(dst, s)
	case CollationAiCI:
		return appendPrimaryKey(dst, s)
	case CollationAsCI, CollationAsCS:
		return appendUnicodeKey(dst, s, c)
	case CollationUnicode520CI:
		return appendPaddedKey(dst, s)
	}
	return append(dst, s...)
}

// appendGeneralKey makes the key of utf8mb4_general_ci: the folded characters in UTF-8, whose bytes are in the order of code
// points. Strings compare as if an endless row of spaces followed each. Therefore trailing spaces are left out. Behind every
// other space, and behind the one that stands for all at the end, a byte says how what follows the spaces compares
// with a space: 1 less, 2 there is nothing else, 3 greater.
func appendGeneralKey(dst []byte, s string) []byte {
	s = strings.TrimRight(s, " ")
	dst = slices.Grow(dst, len(s)+2)
	for i, r := range s {
		if r != ' ' {
			dst = utf8.AppendRune(dst, generalWeight(r))
			continue
		}
		mark := byte(3)
		if strings.TrimLeft(s[i:], " ")[0] < ' ' {
			mark = 1
		}
		dst = append(dst, ' ', mark)
	}
	return append(dst, ' ', 2)
}

// unicodeCollators holds collators of golang.org/x/text, one of which serves one goroutine at a time.
var unicodeCollators = [...]sync.Pool{
	// Of utf8mb4_unicode_520_ci too.
	CollationAiCI: {New: func() any { return newUnicodeCollator(collate.IgnoreDiacritics, collate.IgnoreCase) }},
	CollationAsCI: {New: func() any { return newUnicodeCollator(collate.IgnoreCase) }},
	CollationAsCS: {New: func() any { return newUnicodeCollator() }},
}

// longestPooled is the length of strings whose collator is kept for others.
const longestPooled = 64 << 10

type unicodeCollator struct {
	*collate.Collator
	buffer collate.Buffer
}

func newUnicodeCollator(options ...collate.Option) *unicodeCollator {
	return &unicodeCollator{Collator: collate.New(language.Und, options...)}
}

// appendUnicodeKey makes the key of one of the collations utf8mb4_0900_*: the weights of the Unicode Collation Algorithm (UTS #10)
// level by level, in the order of CLDR's root, as golang.org/x/text has them.
func appendUnicodeKey(dst []byte, s string, c Collation) []byte {
	u := unicodeCollators[c].Get().(*unicodeCollator)
	dst = append(dst, u.KeyFromString(&u.buffer, s)...)
	u.buffer.Reset()
	if len(s) < longestPooled { // its buffers are as long
		unicodeCollators[c].Put(u)
	}
	return dst
}

// primaryKeys are the primary weights of the ASCII characters, none of which takes part in a contraction.
var primaryKeys = sync.OnceValue(func() *[utf8.RuneSelf]string {
	var keys [utf8.RuneSelf]string
	for i := range keys {
		keys[i] = string(appendUnicodeKey(nil, string(rune(i)), CollationAiCI))
	}
	return &keys
})

// appendPrimaryKey is appendUnicodeKey of utf8mb4_0900_ai_ci, in which a string's key is the sequence of its characters' primary
// weights, and so faster for ASCII.
func appendPrimaryKey(dst []byte, s string) []byte {
	from := len(dst)
	dst = slices.Grow(dst, 2*len(s))
	keys := primaryKeys()
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return appendUnicodeKey(dst[:from], withoutCyrillicMarks(s), CollationAiCI)
		}
		dst = append(dst, keys[s[i]]...)
	}
	return dst
}

// appendPaddedKey makes the key of utf8mb4_unicode_520_ci: the primary weights, as if an endless row of spaces followed each string; see
// appendGeneralKey. Other characters that have the weight of a space are spaces too.
func appendPaddedKey(dst []byte, s string) []byte {
	var buf [128]byte
	key := appendUnicodeKey(buf[:0], s, CollationAiCI)
	space := primaryKeys()[' ']
	for spaces := 0; len(key) > 0; {
		weight := key[:2]
		if key[0]&0x80 != 0 { // of three bytes
			weight = key[:3]
		}
		key = key[len(weight):]
		if string(weight) == space {
			spaces++
			continue
		}
		mark := byte(3)
		if string(weight) < space {
			mark = 1
		}
		for ; spaces > 0; spaces-- {
			dst = append(append(dst, space...), mark)
		}
		dst = append(dst, weight...)
	}
	return append(append(dst, space...), 2)
}

// withoutCyrillicMarks leaves out the marks on Cyrillic letters but the breve of the short i. The tables of golang.org/x/text, of UCA 6.2, make
// letters of their own of Ї, Ў, Ѓ and their like. Since UCA 8 these have been equal to their base letters.
func withoutCyrillicMarks(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x0400 && r < 0x0530 }) {
		return s
	}
	var b strings.Builder
	base, above := rune(0), false // the letter before marks, and whether it has had one above
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.Mn, r) {
			base, above = r, false
		} else if unicode.Is(unicode.Cyrillic, base) {
			first := !above
			above = above || norm.NFD.PropertiesString(string(r)).CCC() == 230
			if r != 0x0306 || !first || base != 'И' && base != 'и' {
				continue
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}
