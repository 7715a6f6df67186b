package parse

import (
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// LocateName places an error at the first mention of a name, given as its parts ("test", "t" for test.t). It serves the
// nodes that the parser gives no position: tables, aliases, columns in INSERT and in DDL, hints. A mention behind FROM,
// JOIN, INTO, UPDATE, TABLE or a comma is preferred. The part "*" is any name, or a star. If the name is not in the text, e comes back without a place.
func (s *Statement) LocateName(e *sqlerr.Error, mode Mode, parts ...string) *sqlerr.Error {
	var tokens []token
	scan := newScanner(s.Text, mode)
	for t := scan.next(); t.kind != tokEnd; t = scan.next() {
		tokens = append(tokens, t)
	}
	found := -1
	for i := range tokens {
		if !s.names(tokens, i, parts) {
			continue
		}
		if introducesTable(s.Text, tokens, i-1) {
			return s.Locate(e, int(tokens[i].start))
		}
		if found < 0 {
			found = int(tokens[i].start)
		}
	}
	if found < 0 {
		return e
	}
	return s.Locate(e, found)
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
