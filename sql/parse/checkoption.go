package parse

import "strings"

// CheckOption is what a CREATE or ALTER VIEW says about checking the rows that are written through it.
type CheckOption uint8

// What there is.
const (
	NoCheck CheckOption = iota
	LocalCheck
	CascadedCheck
)

// checkOption finds the WITH [CASCADED, LOCAL] CHECK OPTION at the end of a CREATE or ALTER VIEW: the parser knows it only with one of the two words,
// and then does not tell CASCADED from none. It returns the text of the piece with the clause blanked out.
func checkOption(text, piece string, p Piece) (blanked string, option CheckOption) {
	word := func(i int, want string) bool { return i >= 0 && i < len(p.tokens) && p.tokens[i].isWord(text, want) }
	end := len(p.tokens)
	if !word(end-2, "CHECK") || !word(end-1, "OPTION") {
		return piece, NoCheck
	}
	with := end - 3
	switch option = CascadedCheck; {
	case word(with, "CASCADED"):
		with--
	case word(with, "LOCAL"):
		with--
		option = LocalCheck
	}
	if !word(with, "WITH") || viewAt(text, p.tokens) < 0 {
		return piece, NoCheck
	}
	from, to := int(p.tokens[with].start)-p.Offset, int(p.tokens[end-1].end)-p.Offset
	return piece[:from] + strings.Repeat(" ", to-from) + piece[to:], option
}
