package parse

import (
	"strings"
)

// RowAlias is the name that INSERT ... VALUES (...) AS name [(columns)] gives the rows to be inserted, for ON DUPLICATE KEY UPDATE.
type RowAlias struct {
	Name    string
	Columns []string // nil: the names that they have in the table
}

// rowAlias finds the row alias of an INSERT, for which the parser has no grammar. It returns the text of the piece with the alias blanked
// out, and the alias; nil: there is none.
func rowAlias(text, piece string, p Piece) (blanked string, alias *RowAlias) {
	word := func(i int, want string) bool {
		return i < len(p.tokens) && p.tokens[i].isWord(text, want)
	}
	if !word(0, "INSERT") {
		return piece, nil
	}
	depth, rows := 0, false
	for i, t := range p.tokens {
		switch {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			depth--
		}
		if depth > 0 || t.kind != tokWord {
			continue
		}
		switch {
		case word(i, "VALUES"), word(i, "VALUE"), t.key == kwSet:
			rows = true
		case rows:
		case t.key == kwSelect, t.key == kwTable, word(i, "WITH"):
			return piece, nil
		}
		if !rows || t.key != kwAs {
			continue
		}
		var ok bool
		alias = &RowAlias{}
		if alias.Name, ok = nameAt(text, p.tokens, i+1); !ok {
			return piece, nil
		}
		end := i + 1
		if opIs(p.tokens, i+2, '(') {
			if alias.Columns, end = namesAt(text, p.tokens, i+2); alias.Columns == nil {
				return piece, nil
			}
		}
		if end+1 < len(p.tokens) && !wordIs(p.tokens, end+1, kwOn) {
			return piece, nil
		}
		from, to := int(t.start)-p.Offset, int(p.tokens[end].end)-p.Offset
		return piece[:from] + strings.Repeat(" ", to-from) + piece[to:], alias
	}
	return piece, nil
}
