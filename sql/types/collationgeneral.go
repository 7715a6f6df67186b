package types

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// utf8mb4_general_ci replaces each character by one weight: the capital of its base letter, as Unicode 3.0 knew them. It follows
// from today's Unicode tables but for the letters that have got capitals since, and a few of its own.

// generalPages are the upper bytes of the characters that have another weight than themselves.
var generalPages = []rune{0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x1E, 0x1F, 0x21, 0x24, 0xFF}

// newCapitals are capitals in those pages that are younger than Unicode 3.0, or became their letters' capitals later.
var newCapitals = &unicode.RangeTable{R16: []unicode.Range16{
	{0x0220, 0x0220, 1}, {0x023A, 0x024E, 1}, {0x0370, 0x037F, 1}, {0x03CF, 0x03D8, 9}, {0x03F7, 0x03FF, 1}, {0x048A, 0x048A, 1},
	{0x04C5, 0x04CD, 4}, {0x04F6, 0x04F6, 1}, {0x04FA, 0x052E, 1}, {0x1EFA, 0x1EFE, 1}, {0x2132, 0x2132, 1}, {0x2183, 0x2183, 1}, {0x2C00, 0xABFF, 1},
}}

// ownWeights are what follows from no rule: the sharp s, the lunate sigma and epsilon, the Cyrillic short i, which keeps its breve, and
// the palochka.
var ownWeights = map[rune]rune{
	0x00DF: 'S', 0x03F2: 0x03A3, 0x03F5: 0x03F5, 0x0419: 0x0419, 0x0439: 0x0419, 0x04CF: 0x04CF,
}

// generalWeights holds the weights of generalPages.
var generalWeights = sync.OnceValue(func() *[256]*[256]rune {
	var pages [256]*[256]rune
	for _, page := range generalPages {
		pages[page] = new([256]rune)
		for low := range rune(256) {
			pages[page][low] = deriveGeneralWeight(page<<8 | low)
		}
	}
	return &pages
})

func deriveGeneralWeight(r rune) rune {
	if w, ok := ownWeights[r]; ok {
		return w
	}
	text := string(r)
	if base := []rune(norm.NFD.String(text)); len(base) > 1 && unicode.IsLetter(base[0]) && unicode.Is(unicode.Mn, base[1]) && norm.NFC.IsNormalString(text) {
		return deriveGeneralWeight(base[0])
	}
	if capital := unicode.ToUpper(r); !unicode.Is(newCapitals, capital) {
		return capital
	}
	return r
}

// generalWeight returns the weight of a character; all beyond the Basic Multilingual Plane have one.
func generalWeight(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	case r > 0xFFFF:
		return utf8.RuneError
	}
	if page := generalWeights()[r>>8]; page != nil {
		return page[r&0xFF]
	}
	return r
}
