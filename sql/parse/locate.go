package parse

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// LocateName locates an error at the first mention of a name, given as its parts ("test", "t" for test.t). It serves the
// nodes that the parser gives no position: tables, aliases, columns in INSERT and in DDL, hints. A mention behind FROM,
// JOIN, INTO, UPDATE, TABLE or a comma is preferred. The part "*" is any name, or a star. If the name is not in the text, e comes back without a position.
func (s *Statement) LocateName(e *sqlerr.Error, mode Mode, parts ...string) *sqlerr.Error {
	tokens, mentions := s.mentions(mode, parts)
	return s.locateAt(e, tokens, mentions, func(i int) bool { return introducesTable(s.Text, tokens, i-1) })
}

// LocateColumn is LocateName for a column, whose name a table before may have as well.
func (s *Statement) LocateColumn(e *sqlerr.Error, mode Mode, parts ...string) *sqlerr.Error {
	tokens, mentions := s.mentions(mode, parts)
	return s.locateAt(e, tokens, mentions, func(i int) bool { return opIs(tokens, i-1, ',') || !introducesTable(s.Text, tokens, i-1) })
}

// LocateLast is LocateName for what stands there twice: the last position is the one too many.
func (s *Statement) LocateLast(e *sqlerr.Error, mode Mode, parts ...string) *sqlerr.Error {
	tokens, mentions := s.mentions(mode, parts)
	slices.Reverse(mentions)
	return s.locateAt(e, tokens, mentions, func(int) bool { return true })
}

// mentions returns the statement's tokens and the numbers of those where a dotted name begins.
func (s *Statement) mentions(mode Mode, parts []string) (tokens []token, mentions []int) {
	scan := newScanner(s.Text, mode)
	for t := scan.next(); t.kind != tokEnd; t = scan.next() {
		tokens = append(tokens, t)
	}
	for i := range tokens {
		if s.names(tokens, i, parts) {
			mentions = append(mentions, i)
		}
	}
	return tokens, mentions
}

// locateAt gives an error the first position that is wanted, or else the first.
func (s *Statement) locateAt(e *sqlerr.Error, tokens []token, mentions []int, wanted func(i int) bool) *sqlerr.Error {
	if len(mentions) == 0 {
		return e
	}
	at := max(slices.IndexFunc(mentions, wanted), 0)
	return s.locateText(e, int(tokens[mentions[at]].start))
}

// LocateText locates an error at the first position where an expression stands as it is written in messages: `(t.a + 1)`, with more
// parentheses and names of tables than the statement has.
func (s *Statement) LocateText(e *sqlerr.Error, mode Mode, expression string) *sqlerr.Error {
	wanted := s.bare(expression, mode)
	tokens := s.bare(s.Text, mode)
	for i := 0; i+len(wanted) <= len(tokens) && len(wanted) > 0; i++ {
		same := true
		for k, w := range wanted {
			same = same && strings.EqualFold(tokens[i+k].text, w.text)
		}
		if same {
			return s.locateText(e, tokens[i].start)
		}
	}
	return e
}

// LocateExpression gives an error the position of the expression that it arose in: where the statement has it as messages write it, or else where it has
// one of its names, if only once. The expression's columns tell whether it can stand in the statement, or comes from a view.
func (s *Statement) LocateExpression(e *sqlerr.Error, mode Mode, x sqlerr.Expression) *sqlerr.Error {
	if located := s.LocateText(e, mode, x.Text); located.Pos.Known() {
		return located
	}
	tokens := s.bare(s.Text, mode)
	has := func(text string) bool {
		return slices.ContainsFunc(tokens, func(t bareToken) bool { return strings.EqualFold(t.text, text) })
	}
	for _, t := range s.bare(x.Text, mode) {
		if t.qualified && !has(t.text) {
			return e
		}
	}
	at := -1
	for _, t := range tokens {
		if !slices.ContainsFunc(x.Names, func(name string) bool { return strings.EqualFold(name, t.text) }) {
			continue
		}
		if at >= 0 {
			return e
		}
		at = t.start
	}
	if at < 0 {
		return e
	}
	return s.locateText(e, at)
}

// LocateValue locates an error at a value of INSERT ... VALUES: its row and column count from 0.
func (s *Statement) LocateValue(e *sqlerr.Error, mode Mode, row, column int) *sqlerr.Error {
	scan := newScanner(s.Text, mode)
	t := scan.next()
	for t.kind != tokEnd && !t.isWord(s.Text, "VALUES") && !t.isWord(s.Text, "VALUE") {
		t = scan.next()
	}
	depth, rows, columns, begins := 0, -1, 0, false
	for t = scan.next(); t.kind != tokEnd; t = scan.next() {
		if begins && rows == row && columns == column {
			return s.locateText(e, int(t.start))
		}
		begins = false
		switch {
		case t.isOp('('):
			if depth++; depth == 1 {
				rows, columns, begins = rows+1, 0, true
			}
		case t.isOp(')'):
			depth--
		case t.isOp(',') && depth == 1:
			columns, begins = columns+1, true
		}
	}
	return e
}

// bareToken is a token without quotes, at a byte offset.
type bareToken struct {
	text      string
	start     int
	qualified bool
}

// bare returns the tokens of a text without parentheses and the qualifiers of names.
func (s *Statement) bare(text string, mode Mode) []bareToken {
	var tokens []token
	scan := newScanner(text, mode)
	for t := scan.next(); t.kind != tokEnd; t = scan.next() {
		tokens = append(tokens, t)
	}
	var out []bareToken
	qualified := -1 // where a qualified name begins
	for i, t := range tokens {
		switch {
		case t.isOp('(') || t.isOp(')') || t.isOp('.'):
			continue
		case t.kind != tokOp && opIs(tokens, i+1, '.'):
			if qualified < 0 {
				qualified = int(t.start)
			}
			continue
		}
		b := bareToken{text: strings.Trim(text[t.start:t.end], "`"), start: int(t.start)}
		if qualified >= 0 {
			b.start, b.qualified, qualified = qualified, true, -1
		}
		out = append(out, b)
	}
	return out
}

// LocateSubquery locates an error about the value of a subquery, if the statement has but one that can stand for a value.
func (s *Statement) LocateSubquery(e *sqlerr.Error, mode Mode) *sqlerr.Error {
	var tokens []token
	scan := newScanner(s.Text, mode)
	for t := scan.next(); t.kind != tokEnd; t = scan.next() {
		tokens = append(tokens, t)
	}
	found := -1
	for i, t := range tokens {
		if !t.isOp('(') || i+1 == len(tokens) || !wordIs(tokens, i+1, kwSelect) && !tokens[i+1].isWord(s.Text, "WITH") || i == 0 || !s.takesValue(tokens[i-1]) {
			continue
		}
		if found >= 0 {
			return e
		}
		found = int(t.start)
	}
	if found < 0 {
		return e
	}
	return s.locateText(e, found)
}

// takesValue says whether a value may follow a token, rather than a table or a set of rows.
func (s *Statement) takesValue(t token) bool {
	switch t.key {
	case kwFrom, kwJoin, kwStraightJoin, kwIn, kwLateral, kwUnion, kwIntersect, kwExcept, kwInto:
		return false
	}
	for _, word := range []string{"EXISTS", "ANY", "SOME", "ALL", "AS"} { // AS: WITH name AS (SELECT ...)
		if t.isWord(s.Text, word) {
			return false
		}
	}
	return true
}

// names says whether the tokens from i on are the whole dotted name.
func (s *Statement) names(tokens []token, i int, parts []string) bool {
	if opIs(tokens, i-1, '.') {
		return false
	}
	for k, part := range parts {
		at := i + 2*k
		if at >= len(tokens) || k > 0 && !opIs(tokens, at-1, '.') {
			return false
		}
		if name := s.name(tokens[at]); !strings.EqualFold(name, part) && (part != "*" || name == "" && !opIs(tokens, at, '*')) {
			return false
		}
	}
	return !opIs(tokens, i+2*len(parts)-1, '.')
}

// name returns the name that a token is, without its quotes; "" for other tokens.
func (s *Statement) name(t token) string {
	text := s.Text[t.start:t.end]
	switch t.kind {
	case tokWord:
		return text
	case tokQuoted:
		quote := text[:1]
		return strings.ReplaceAll(text[1:len(text)-1], quote+quote, quote)
	}
	return ""
}

// introducesTable says whether a table's name may follow token i.
func introducesTable(text string, tokens []token, i int) bool {
	if i < 0 || tokens[i].kind != tokWord {
		return opIs(tokens, i, ',')
	}
	switch tokens[i].key {
	case kwFrom, kwJoin, kwStraightJoin, kwInto, kwUpdate, kwTable:
		return true
	}
	return strings.EqualFold(text[tokens[i].start:tokens[i].end], "EXISTS") // DROP TABLE IF EXISTS t
}
