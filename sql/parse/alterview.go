package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// viewHead is what stands before the query of an ALTER VIEW, for which the parser has no grammar.
type viewHead struct {
	text string // "ALGORITHM = MERGE VIEW v (a, b) AS "
	view int    // the token VIEW
}

// alterView finds an ALTER VIEW. It returns the text of the piece with all but the query blanked out, and the rest; nil: it is none.
func alterView(text, piece string, p Piece) (blanked string, head *viewHead) {
	view := viewAt(text, p.tokens)
	if view < 0 || !p.tokens[0].isWord(text, "ALTER") {
		return piece, nil
	}
	depth := 0
	for _, t := range p.tokens[view:] {
		switch {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			depth--
		case depth == 0 && t.key == kwAs:
			end := int(t.end) - p.Offset
			head = &viewHead{text: text[p.tokens[1].start:t.end], view: view}
			return strings.Repeat(" ", end) + piece[end:], head
		}
	}
	return piece, nil
}

// viewAt returns the number of the token VIEW in a CREATE or ALTER VIEW; -1: the statement is none.
func viewAt(text string, tokens []token) int {
	for i, t := range tokens {
		switch {
		case i == 0 && (t.isWord(text, "CREATE") || t.isWord(text, "ALTER")):
		case i == 0, t.key == kwAs, t.key == kwTable:
			return -1
		case t.isWord(text, "VIEW"):
			return i
		}
	}
	return -1
}

// defineView makes the tree of an ALTER VIEW, that of the CREATE VIEW with the same words, from its query's.
func (w *worker) defineView(text string, p Piece, head *viewHead, query ast.StmtNode) (*ast.CreateViewStmt, error) {
	nodes, _, err := w.parser.ParseSQL("CREATE " + head.text + " SELECT 1")
	if err != nil || len(nodes) != 1 {
		return nil, sqlerr.ParseError("syntax error in ALTER VIEW").
			WithHint("write ALTER VIEW name [(columns)] AS SELECT ...").AtOffset(text, int(p.tokens[head.view].start))
	}
	n := nodes[0].(*ast.CreateViewStmt)
	switch query.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		n.Select = query
		return n, nil
	}
	return nil, sqlerr.ParseError("syntax error: a view is defined by a query").AtOffset(text, p.Offset)
}
