package parse

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// refuse finds what the parser would accept and mean something else by. Only such things are refused before parsing;
// what the parser rejects by itself is explained afterwards (see explain).
func refuse(text string, tokens []token) (offset int32, err *sqlerr.Error) {
	for i, t := range tokens {
		if t.kind == tokNumber {
			if e := refuseNumber(text[t.start:t.end]); e != nil {
				return t.start, e
			}
			continue
		}
		if t.kind != tokWord {
			continue
		}
		switch t.key {
		case kwAsof, kwSemi, kwAnti, kwPositional:
			if e := refuseJoin(text, tokens, i); e != nil {
				return t.start, e
			}
		case kwCube:
			// cube(a INT) in CREATE TABLE and cube(a) in INSERT INTO name a table; in GROUP BY it is a function that
			// does not exist, which would be said too late and less clearly.
			if !opIs(tokens, i+1, '(') || !inGroupBy(tokens, i) {
				continue
			}
			return t.start, sqlerr.NotSupportedf("GROUP BY CUBE(...)", "write GROUP BY ... WITH ROLLUP, or one SELECT per grouping joined by UNION ALL")
		case kwNone:
			if text[t.start] == '$' && t.end > t.start+1 && isDigits(text[t.start+1:t.end]) {
				return t.start, sqlerr.NotSupportedf("the parameter "+text[t.start:t.end], "write ? for each parameter in turn, or @name")
			}
		}
	}
	return 0, nil
}

// refuseJoin looks at t ASOF JOIN u, which the parser reads as the table t under the alias ASOF in an inner join with
// u. Where ASOF is a table or column itself, behind AS, a point, a comma or an operator, it may stand.
func refuseJoin(text string, tokens []token, i int) *sqlerr.Error {
	word := strings.ToUpper(text[tokens[i].start:tokens[i].end])
	name, ok := word+" JOIN", false
	switch {
	case wordIs(tokens, i+1, kwJoin):
		ok = true
	case wordIs(tokens, i+1, kwOuter) && wordIs(tokens, i+2, kwJoin):
		name, ok = word+" OUTER JOIN", true
	case tokens[i].key == kwAsof && wordIs(tokens, i+1, kwLeft) && wordIs(tokens, i+2, kwJoin):
		name, ok = "ASOF LEFT JOIN", true
	}
	if !ok || !endsTable(tokens, i-1) {
		return nil
	}
	instead := map[keyword]string{
		kwAsof:       "write a LATERAL subquery with ORDER BY and LIMIT 1",
		kwSemi:       "write WHERE EXISTS (...) or IN (...)",
		kwAnti:       "write WHERE NOT EXISTS (...)",
		kwPositional: "number the rows of both sides with ROW_NUMBER() and join on that",
	}[tokens[i].key]
	return sqlerr.NotSupportedf(name, "%s; if %s is the table's alias, write AS %s", instead, word, word)
}

// endsTable says whether token i can be the end of a table reference or of a join's condition.
func endsTable(tokens []token, i int) bool {
	if i < 0 {
		return false
	}
	switch t := tokens[i]; t.kind {
	case tokWord:
		// Behind a point even a keyword is a name. A NATURAL before FULL is no name.
		return !notOperand[t.key] || opIs(tokens, i-1, '.') || t.key == kwNatural
	case tokQuoted, tokString, tokNumber, tokVariable, tokParam:
		return true
	default:
		return t.isOp(')')
	}
}

// inGroupBy says whether token i begins an item of GROUP BY.
func inGroupBy(tokens []token, i int) bool {
	depth := 0
	for i--; i > 0; i-- {
		t := tokens[i]
		switch {
		case t.isOp(')'):
			depth++
		case t.isOp('('):
			if depth--; depth < 0 {
				return false
			}
		case depth > 0:
		case t.key == kwBy:
			return wordIs(tokens, i-1, kwGroup)
		case t.kind == tokWord && notOperand[t.key]:
			return false
		}
	}
	return false
}

// refuseNumber refuses decimal literals of more digits than DECIMAL holds. (The parser's own value of them panics above
// 81 digits.)
func refuseNumber(number string) *sqlerr.Error {
	if len(number) <= types.MaxDecimalScale {
		return nil
	}
	whole, fraction, _ := strings.Cut(number, ".")
	if !isDigits(whole) || !isDigits(fraction) {
		return nil // an exponent makes it a DOUBLE; or it is a name
	}
	whole = strings.TrimLeft(whole, "0")
	if digits := len(whole) + len(fraction); digits > types.MaxDecimalPrecision {
		return sqlerr.NotSupportedf(fmt.Sprintf("a number of %d digits", digits), "DECIMAL holds %d; with an exponent, as in 1.5e40, it is a DOUBLE", types.MaxDecimalPrecision)
	}
	if len(fraction) > types.MaxDecimalScale {
		return sqlerr.NotSupportedf(fmt.Sprintf("a number of %d decimal places", len(fraction)), "DECIMAL holds %d; with an exponent, as in 1.5e-40, it is a DOUBLE", types.MaxDecimalScale)
	}
	return nil
}

func wordIs(tokens []token, i int, key keyword) bool {
	return i >= 0 && i < len(tokens) && tokens[i].kind == tokWord && tokens[i].key == key
}

func opIs(tokens []token, i int, c byte) bool { return i >= 0 && i < len(tokens) && tokens[i].isOp(c) }

func isDigits(s string) bool {
	for i := range len(s) {
		if charClass[s[i]]&classDigit == 0 {
			return false
		}
	}
	return true
}
