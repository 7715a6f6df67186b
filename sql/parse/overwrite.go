package parse

import "strings"

// overwrites finds the OVERWRITE of SELECT ... INTO OUTFILE 'file' OVERWRITE, or at the statement's end: a word of ours, which lets the
// statement take the place of a file that exists. It returns the text of the piece with the word blanked out.
func overwrites(text, piece string, p Piece) (blanked string, found bool) {
	word := func(i int, want string) bool { return i < len(p.tokens) && p.tokens[i].isWord(text, want) }
	depth := 0
	for i, t := range p.tokens {
		switch {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			depth--
		}
		if depth > 0 || !word(i, "INTO") || !word(i+1, "OUTFILE") || i+2 >= len(p.tokens) || p.tokens[i+2].kind != tokString {
			continue
		}
		at := i + 3
		if !word(at, "OVERWRITE") {
			at = len(p.tokens) - 1
		}
		if at < i+3 || !word(at, "OVERWRITE") {
			return piece, false
		}
		from, to := int(p.tokens[at].start)-p.Offset, int(p.tokens[at].end)-p.Offset
		return piece[:from] + strings.Repeat(" ", to-from) + piece[to:], true
	}
	return piece, false
}
