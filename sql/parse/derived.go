package parse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// derivedColumns finds the column names behind the alias of a derived table, (SELECT ...) AS t (a, b), for which the parser
// has a grammar behind LATERAL only. It returns the text of the piece with each alias and its list replaced by an
// identifier that is as long, so that positions stay, and holds the list's number; restoreAliases puts them into the tree.
func derivedColumns(text, piece string, p Piece) (replaced string, lists []columnList, err *sqlerr.Error) {
	var out []byte
	for i, t := range p.tokens {
		if !t.isOp(')') {
			continue
		}
		l, from, to, ok := columnListAt(text, p.tokens, i+1)
		if !ok || !isDerivedTable(text, p.tokens, i) {
			continue
		}
		begin, end := int(p.tokens[from].start)-p.Offset, int(p.tokens[to].end)-p.Offset
		if out == nil {
			out = []byte(piece)
		}
		var fits bool
		if l.code, fits = placeholder(out[begin:end], len(lists)); !fits {
			return "", nil, sqlerr.NotSupportedf("so many derived tables with names of columns", "name the columns inside, or write the alias longer").
				AtOffset(text, int(p.tokens[from].start))
		}
		lists = append(lists, l)
	}
	if lists == nil {
		return piece, nil, nil
	}
	return string(out), lists, nil
}

// columnList is the alias of a derived table with the names of its columns.
type columnList struct {
	code    string // the identifier that the parser sees
	alias   string
	columns []string
}

// columnListAt reads [AS] alias (name, ...) from tokens[at] on: tokens[from] is the alias, tokens[to] the closing parenthesis.
func columnListAt(text string, tokens []token, at int) (l columnList, from, to int, ok bool) {
	if wordIs(tokens, at, kwAs) {
		at++
	}
	from = at
	if l.alias, ok = nameAt(text, tokens, at); !ok || isKeyword(tokens[at]) || !opIs(tokens, at+1, '(') {
		return l, 0, 0, false
	}
	l.columns, to = namesAt(text, tokens, at+1)
	return l, from, to, l.columns != nil && !slices.ContainsFunc(tokens[at+2:to], isKeyword)
}

func isKeyword(t token) bool { return t.kind == tokWord && t.key != kwNone }

// namesAt reads the list of identifiers in parentheses that begins at a token, and returns the position of the closing one; nil: it is none.
func namesAt(text string, tokens []token, at int) (names []string, end int) {
	for at++; ; at += 2 {
		name, ok := nameAt(text, tokens, at)
		if !ok {
			return nil, 0
		}
		names = append(names, name)
		if opIs(tokens, at+1, ')') {
			return names, at + 1
		}
		if !opIs(tokens, at+1, ',') {
			return nil, 0
		}
	}
}

// nameAt returns the identifier that a token is, if it is a word or quoted.
func nameAt(text string, tokens []token, at int) (name string, ok bool) {
	if at >= len(tokens) {
		return "", false
	}
	t := tokens[at]
	name = text[t.start:t.end]
	switch {
	case t.kind == tokQuoted:
		quote := name[:1]
		return strings.ReplaceAll(name[1:len(name)-1], quote+quote, quote), true
	case t.kind == tokWord:
		return name, true
	}
	return "", false
}

// isDerivedTable says whether the parenthesis that tokens[end] closes holds a query and stands where a table may.
func isDerivedTable(text string, tokens []token, end int) bool {
	begin, depth := end, 0
	for ; begin >= 0; begin-- {
		if tokens[begin].isOp(')') {
			depth++
		} else if tokens[begin].isOp('(') {
			if depth--; depth == 0 {
				break
			}
		}
	}
	if begin < 1 {
		return false
	}
	if tokens[begin-1].isWord(text, seriesKeyword) {
		return tableMayStand(tokens, begin-1)
	}
	first := tokens[begin+1]
	for i := begin + 1; first.isOp('('); i++ {
		first = tokens[i]
	}
	if first.kind != tokWord {
		return false
	}
	switch strings.ToUpper(text[first.start:first.end]) {
	case "SELECT", "VALUES", "TABLE", "WITH":
	default:
		return false
	}
	return tableMayStand(tokens, begin)
}

// tableMayStand says whether a table may stand at a token.
func tableMayStand(tokens []token, at int) bool {
	if at == 0 {
		return false
	}
	before := tokens[at-1]
	return before.isOp(',') || before.isOp('(') ||
		before.kind == tokWord && (before.key == kwFrom || before.key == kwJoin || before.key == kwStraightJoin)
}

// placeholder overwrites an alias and its list by an identifier in backticks that no other table has, and returns the
// identifier. Line ends stay, so that lines are counted rightly.
func placeholder(region []byte, number int) (code string, fits bool) {
	last := len(region) - 1
	region[0], region[last] = '`', '`'
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	marked := false
	for i := 1; i < last; i++ {
		switch {
		case region[i] == '\n':
		case !marked:
			region[i], marked = 1, true // no alias holds it
		default:
			region[i] = digits[number%len(digits)]
			number /= len(digits)
		}
	}
	return string(region[1:last]), marked && number == 0
}

// restoreAliases gives the derived tables of a tree the aliases and columns that placeholders stand for.
func restoreAliases(n ast.Node, lists []columnList) {
	r := aliasRestorer{}
	for _, l := range lists {
		r[l.code] = l
	}
	n.Accept(r)
}

type aliasRestorer map[string]columnList

func (r aliasRestorer) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableSource); ok {
		if l, ok := r[t.AsName.O]; ok {
			t.AsName, t.ColumnNames = ast.NewCIStr(l.alias), nil
			for _, c := range l.columns {
				t.ColumnNames = append(t.ColumnNames, ast.NewCIStr(c))
			}
		}
	}
	return n, false
}

func (r aliasRestorer) Leave(n ast.Node) (ast.Node, bool) { return n, true }
