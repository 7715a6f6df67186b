package parse

import "strings"

// barePoints blanks the point of a number such as `1.` in front of a word: the parser would take the word for a name, as behind the point of
// a qualified one, where MySQL reads SELECT 1. AS x.
func barePoints(text, piece string, p Piece) string {
	var out []byte
	for i, t := range p.tokens {
		if t.kind != tokNumber {
			continue
		}
		whole, rest, point := strings.Cut(text[t.start:t.end], ".")
		if !point || !isDigits(whole) || opIs(p.tokens, i-1, '.') {
			continue
		}
		before := rest == "" && i+1 < len(p.tokens) && p.tokens[i+1].kind == tokWord
		joined := rest != "" && lookupKeyword(rest) != kwNone // 1.AS
		if !before && !joined {
			continue
		}
		if out == nil {
			out = []byte(piece)
		}
		out[int(t.start)-p.Offset+len(whole)] = ' '
	}
	if out == nil {
		return piece
	}
	return string(out)
}
