package parse

import "strings"

// intoVariables finds SELECT ... INTO @a, @b, which the parser does not know, outside of parentheses. It returns the text of
// the piece with the clause blanked out, and the names of the variables; none: there is no such clause.
func intoVariables(text, piece string, p Piece) (blanked string, names []string) {
	if len(p.tokens) == 0 {
		return piece, nil
	}
	word := func(t token, want string) bool { return t.isWord(text, want) }
	if first := p.tokens[0]; !word(first, "SELECT") && !word(first, "WITH") && !word(first, "VALUES") && !word(first, "TABLE") && !first.isOp('(') {
		return piece, nil
	}
	depth := 0
	for i, t := range p.tokens {
		switch {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			depth--
		}
		if depth > 0 || !word(t, "INTO") {
			continue
		}
		end := i
		for j := i + 1; j < len(p.tokens) && p.tokens[j].kind == tokVariable; j += 2 {
			name := text[p.tokens[j].start+1 : p.tokens[j].end]
			if strings.HasPrefix(name, "@") {
				return piece, nil
			}
			names = append(names, strings.Trim(name, "`'\""))
			end = j
			if !opIs(p.tokens, j+1, ',') {
				break
			}
		}
		if end == i {
			return piece, nil
		}
		from, to := int(t.start)-p.Offset, int(p.tokens[end].end)-p.Offset
		return piece[:from] + strings.Repeat(" ", to-from) + piece[to:], names
	}
	return piece, nil
}
