package parse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// defaultCall is what the parser sees instead of an expression behind DEFAULT.
const defaultCall = "_()"

// defaultExpressions finds the expressions of DEFAULT (expression) in CREATE and ALTER TABLE, of which the parser reads calls of functions
// only. It returns the text of the piece with a call instead of each, as long as it, and where they stand in the piece;
// restoreDefaults puts them into the tree. Literals of one or two characters lose their parentheses instead.
func defaultExpressions(text, piece string, p Piece) (replaced string, spans [][2]int) {
	word := func(i int, want string) bool { return i >= 0 && i < len(p.tokens) && p.tokens[i].isWord(text, want) }
	creates := word(0, "CREATE")
	if !creates && !word(0, "ALTER") {
		return piece, nil
	}
	out := []byte(piece)
	depth := 0
	for i := 0; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			depth--
		}
		if !word(i, "DEFAULT") || !opIs(p.tokens, i+1, '(') || creates && depth != 1 || depth > 1 || !isColumnOption(p.tokens, i) {
			continue
		}
		end := closing(p.tokens, i+1)
		if end < i+3 {
			continue
		}
		from, to := int(p.tokens[i+1].end)-p.Offset, int(p.tokens[end].start)-p.Offset
		switch last := p.tokens[end-1]; {
		case to-from >= len(defaultCall):
			spans = append(spans, [2]int{from, to})
			copy(out[from:to], defaultCall+strings.Repeat(" ", to-from-len(defaultCall)))
		case last.kind == tokNumber || last.kind == tokString:
			out[from-1], out[to] = ' ', ' '
		}
		i = end
	}
	return string(out), spans
}

// isColumnOption says whether token i, which is DEFAULT, stands behind a column's type or another option of it. Behind SET the parser reads all
// expressions itself.
func isColumnOption(tokens []token, i int) bool {
	before := tokens[i-1]
	return before.kind == tokWord && before.key != kwSelect && before.key != kwSet || before.kind == tokQuoted || before.kind == tokString || before.isOp(')')
}

// closing returns the token that closes the parenthesis at token i; -1: there is none.
func closing(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch {
		case tokens[i].isOp('('):
			depth++
		case tokens[i].isOp(')'):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// restoreDefaults parses the expressions of spans and puts them where the calls stand in a tree.
func (w *worker) restoreDefaults(text string, p Piece, node ast.StmtNode, spans [][2]int) error {
	var columns []*ast.ColumnDef
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		columns = n.Cols
	case *ast.AlterTableStmt:
		for _, spec := range n.Specs {
			columns = append(columns, spec.NewColumns...)
		}
	}
	for _, c := range columns {
		for _, o := range c.Options {
			call, is := o.Expr.(*ast.FuncCallExpr)
			if o.Tp != ast.ColumnOptionDefaultValue || !is || call.FnName.O != "_" || len(spans) == 0 {
				continue
			}
			e, err := w.expressionAt(text, p, spans[0])
			if err != nil {
				return err
			}
			spans = spans[1:]
			if o.Expr = e; !isCall(e) {
				o.Expr = &ast.ParenthesesExpr{Expr: e}
			}
		}
	}
	if len(spans) > 0 {
		return sqlerr.ParseError("syntax error: DEFAULT with an expression stands behind a column's type only").AtOffset(text, p.Offset+spans[0][0])
	}
	return nil
}

func isCall(e ast.ExprNode) bool {
	_, is := e.(*ast.FuncCallExpr)
	return is
}

// expressionAt parses a part of a piece as an expression. Positions in it count from the piece's start: the parser gets SELECT and blanks in front.
func (w *worker) expressionAt(text string, p Piece, span [2]int) (ast.ExprNode, error) {
	return w.expressionOf(text, p.Text, p, span)
}

// expressionOf does so with what has become of the piece's text, which is as long.
func (w *worker) expressionOf(text, piece string, p Piece, span [2]int) (ast.ExprNode, error) {
	padded := []byte(piece[:span[1]])
	for i := range padded[:span[0]] {
		if padded[i] != '\n' {
			padded[i] = ' '
		}
	}
	copy(padded, "SELECT") // the piece begins with CREATE or ALTER and a blank
	nodes, _, err := w.parser.ParseSQL(string(padded))
	if err != nil {
		end := slices.IndexFunc(p.tokens, func(t token) bool { return int(t.start)-p.Offset >= span[1] })
		part := p
		if part.Text = string(padded); end >= 0 {
			part.tokens = p.tokens[:end]
		}
		return nil, convertError(text, part, err)
	}
	sel, ok := nodes[0].(*ast.SelectStmt)
	if !ok || sel.From != nil || len(sel.Fields.Fields) != 1 || sel.Fields.Fields[0].Expr == nil {
		return nil, sqlerr.ParseError("syntax error: one expression is expected here").AtOffset(text, p.Offset+span[0])
	}
	return sel.Fields.Fields[0].Expr, nil
}
