package parse

import "strings"

// Outfile is what stands behind the name in INTO OUTFILE 'name' and is not MySQL's: words of ours.
type Outfile struct {
	Overwrites  bool     // what has the name gives way
	PartitionBy []string // the columns whose values name folders; none: a file is written
	Format      string   // an ending without the point, of the files in those folders; empty: it is not given
}

// outfile finds [FORMAT ending] [PARTITION BY (column, ...)] [OVERWRITE] behind SELECT ... INTO OUTFILE 'name', the last also at the statement's end. It returns the
// text of the piece with them blanked out.
func outfile(text, piece string, p Piece) (blanked string, o Outfile) {
	i := outfileAt(text, p.tokens)
	if i < 0 {
		return piece, o
	}
	blank := func(from, to int) {
		a, b := int(p.tokens[from].start)-p.Offset, int(p.tokens[to].end)-p.Offset
		piece = piece[:a] + strings.Repeat(" ", b-a) + piece[b:]
	}
	word := func(i int, want string) bool { return i < len(p.tokens) && p.tokens[i].isWord(text, want) }
	at := i + 1
	for at < len(p.tokens) {
		end := at
		switch {
		case word(at, "OVERWRITE") && !o.Overwrites:
			o.Overwrites = true
		case word(at, "FORMAT") && o.Format == "" && at+1 < len(p.tokens):
			end = at + 1
			if o.Format = formatAt(text, p.tokens[end]); o.Format == "" {
				return piece, o
			}
		case word(at, "PARTITION") && word(at+1, "BY") && opIs(p.tokens, at+2, '(') && o.PartitionBy == nil:
			if o.PartitionBy, end = namesAt(text, p.tokens, at+2); o.PartitionBy == nil {
				return piece, o
			}
		default:
			if last := len(p.tokens) - 1; word(last, "OVERWRITE") && !o.Overwrites {
				o.Overwrites = true
				blank(last, last)
			}
			return piece, o
		}
		blank(at, end)
		at = end + 1
	}
	return piece, o
}

// outfileAt returns the position of the name of INTO OUTFILE 'name' outside of parentheses, -1 if there is none.
func outfileAt(text string, tokens []token) int {
	depth := 0
	for i, t := range tokens {
		switch {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			depth--
		}
		if depth == 0 && i+2 < len(tokens) && t.isWord(text, "INTO") && tokens[i+1].isWord(text, "OUTFILE") && tokens[i+2].kind == tokString {
			return i + 2
		}
	}
	return -1
}

// formatAt returns a word or the text in quotes; empty: the token is neither.
func formatAt(text string, t token) string {
	switch t.kind {
	case tokWord:
		return text[t.start:t.end]
	case tokString:
		return text[t.start+1 : t.end-1]
	}
	return ""
}
