package parse

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// JSON_VALUE(doc, path [RETURNING type] [{NULL | ERROR | DEFAULT v} ON EMPTY] [{NULL | ERROR | DEFAULT v} ON ERROR]): the parser has no grammar for
// what stands behind the path. It is read from the tokens, and the call gets operands instead of it. They are a NULL of the type, what to do
// where nothing is found, with its value, and what to do about errors, with its value.

// valueOperands is how many operands there are then.
const valueOperands = 7

// The operands that say what to do instead of giving a value.
const (
	orNull = iota
	orError
	orDefault
)

// valueClause is the end of a call of JSON_VALUE.
type valueClause struct {
	code         string // the string that the parser sees
	returning    string // the type's text
	empty, error otherwise
}

// otherwise is what one of its clauses says.
type otherwise struct {
	kind  int
	value [2]int // of orDefault: where its literal stands in the piece
}

// valueClauses finds the ends of calls of JSON_VALUE. It returns the text of the piece with each of them replaced by an operand that is as long.
func valueClauses(text, piece string, p Piece) (replaced string, clauses []valueClause, err *sqlerr.Error) {
	var out []byte
	for i, t := range p.tokens {
		if !t.isWord(text, "JSON_VALUE") || !opIs(p.tokens, i+1, '(') {
			continue
		}
		from, to := clauseOfCall(text, p.tokens, i+1)
		if from < 0 {
			continue
		}
		c := valueClause{code: "\x01" + strconv.Itoa(len(clauses)), returning: "CHAR(512)"}
		if at := c.read(text, p, from, to); at >= 0 {
			return "", nil, sqlerr.ParseError("syntax error in JSON_VALUE").
				WithHint("behind the path stand RETURNING type, {NULL | ERROR | DEFAULT literal} ON EMPTY, and the same ON ERROR, each of which may be missing").
				AtOffset(text, int(p.tokens[at].start))
		}
		if out == nil {
			out = []byte(piece)
		}
		begin, end := int(p.tokens[from].start)-p.Offset, int(p.tokens[to].start)-p.Offset
		blank(out[begin:end])
		copy(out[begin:end], ",'"+c.code+"'")
		clauses = append(clauses, c)
	}
	if clauses == nil {
		return piece, nil, nil
	}
	return string(out), clauses, nil
}

// clauseOfCall returns the tokens, from included and to not, that stand behind the operands of the call whose parenthesis is tokens[open].
func clauseOfCall(text string, tokens []token, open int) (from, to int) {
	from, depth, commas := -1, 0, 0
	for i := open; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			if depth--; depth == 0 {
				return from, i
			}
		case depth == 1 && t.isOp(','):
			commas++
		case depth == 1 && from < 0 && commas == 1 && startsClause(text, t) && (tokens[i-1].kind != tokOp || tokens[i-1].isOp(')')):
			from = i
		}
	}
	return -1, 0
}

func startsClause(text string, t token) bool {
	return t.isWord(text, "RETURNING") || startsOtherwise(text, t)
}

func startsOtherwise(text string, t token) bool {
	return t.isWord(text, "NULL") || t.isWord(text, "ERROR") || t.isWord(text, "DEFAULT")
}

// read reads the clauses and returns the token that is wrong; -1: none is.
func (c *valueClause) read(text string, p Piece, from, to int) (wrong int) {
	at := from
	word := func(i int, want string) bool { return i < to && p.tokens[i].isWord(text, want) }
	if word(at, "RETURNING") {
		first := at + 1
		for at++; at < to && !startsOtherwise(text, p.tokens[at]); at++ {
		}
		if at == first {
			return at
		}
		c.returning = text[p.tokens[first].start:p.tokens[at-1].end]
	}
	for _, on := range []struct {
		what string
		o    *otherwise
	}{{"EMPTY", &c.empty}, {"ERROR", &c.error}} {
		if at == to {
			break
		}
		begin, end := at, at+1
		for end < to && !word(end, "ON") {
			end++
		}
		if !word(end, "ON") || !word(end+1, "EMPTY") && !word(end+1, "ERROR") {
			return min(end, to)
		}
		if !word(end+1, on.what) {
			continue
		}
		switch {
		case word(begin, "NULL") && end == begin+1:
		case word(begin, "ERROR") && end == begin+1:
			on.o.kind = orError
		case word(begin, "DEFAULT") && end > begin+1:
			on.o.kind = orDefault
			on.o.value = [2]int{int(p.tokens[begin+1].start) - p.Offset, int(p.tokens[end-1].end) - p.Offset}
		default:
			return begin
		}
		at = end + 2
	}
	if at < to {
		return at
	}
	return -1
}

// restoreClauses gives the calls of JSON_VALUE in a tree of a piece the operands that stand for what was behind their paths, and the
// columns that are named by their texts these.
func (w *worker) restoreClauses(text, piece string, p Piece, n ast.Node, clauses []valueClause) error {
	r := &clauseRestorer{parsed: piece, written: p.Text, clauses: map[string]*[]ast.ExprNode{}}
	for _, c := range clauses {
		nodes, _, err := w.parser.ParseSQL("SELECT CAST(NULL AS " + c.returning + ")")
		if err != nil || len(nodes) != 1 {
			return sqlerr.ParseError("JSON_VALUE does not give a %s", c.returning).
				WithHint("RETURNING takes FLOAT, DOUBLE, DECIMAL(p, s), SIGNED, UNSIGNED, DATE, TIME, DATETIME, YEAR, CHAR(n) and JSON").
				AtOffset(text, p.Offset+strings.Index(p.Text, c.returning))
		}
		args := []ast.ExprNode{nodes[0].(*ast.SelectStmt).Fields.Fields[0].Expr}
		for _, o := range []otherwise{c.empty, c.error} {
			value := ast.ExprNode(ast.NewValueExpr(nil, "", ""))
			if o.kind == orDefault {
				if value, err = w.expressionAt(text, p, o.value); err != nil {
					return err
				}
			}
			args = append(args, ast.NewValueExpr(int64(o.kind), "", ""), value)
		}
		r.clauses[c.code] = &args
	}
	n.Accept(r)
	return nil
}

type clauseRestorer struct {
	parsed, written string
	clauses         map[string]*[]ast.ExprNode
}

// Enter is part of ast.Visitor.
func (r *clauseRestorer) Enter(n ast.Node) (ast.Node, bool) {
	if f, is := n.(*ast.SelectField); is && strings.Contains(f.OriginalText(), "\x01") {
		if at := strings.Index(r.parsed, f.OriginalText()); at >= 0 {
			f.SetText(nil, r.written[at:at+len(f.OriginalText())])
		}
	}
	if call, is := n.(*ast.FuncCallExpr); is && call.FnName.L == "json_value" && len(call.Args) == 3 {
		if v, is := call.Args[2].(ast.ValueExpr); is {
			if args := r.clauses[v.GetString()]; args != nil {
				call.Args = append(call.Args[:2:2], *args...)
			}
		}
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (r *clauseRestorer) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// clauseWriter puts, for Restore, the operands of JSON_VALUE behind its path into one node that writes them as clauses.
type clauseWriter struct {
	calls []*ast.FuncCallExpr
	args  [][]ast.ExprNode
}

// Enter is part of ast.Visitor.
func (c *clauseWriter) Enter(n ast.Node) (ast.Node, bool) {
	if call, is := n.(*ast.FuncCallExpr); is && call.FnName.L == "json_value" && len(call.Args) == valueOperands {
		c.calls, c.args = append(c.calls, call), append(c.args, call.Args)
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (c *clauseWriter) Leave(n ast.Node) (ast.Node, bool) {
	if call, is := n.(*ast.FuncCallExpr); is && call.FnName.L == "json_value" && len(call.Args) == valueOperands {
		call.Args = []ast.ExprNode{call.Args[0], &pathWithClauses{call.Args[1], call.Args[2:]}}
	}
	return n, true
}

// restore gives the calls their operands back.
func (c *clauseWriter) restore() {
	for i, call := range c.calls {
		call.Args = c.args[i]
	}
}

// pathWithClauses is a path with what stands behind it.
type pathWithClauses struct {
	ast.ExprNode
	operands []ast.ExprNode
}

// Accept keeps visitors out.
func (n *pathWithClauses) Accept(ast.Visitor) (ast.Node, bool) { return n, true }

// Restore writes it.
func (n *pathWithClauses) Restore(ctx *format.RestoreCtx) error {
	if err := n.ExprNode.Restore(ctx); err != nil {
		return err
	}
	cast, is := n.operands[0].(*ast.FuncCastExpr)
	if !is {
		return sqlerr.WrongParamCount("json_value")
	}
	ctx.WriteKeyWord(" RETURNING ")
	cast.Tp.RestoreAsCastType(ctx, cast.ExplicitCharSet)
	for i, on := range []string{" ON EMPTY", " ON ERROR"} {
		kind, value := n.operands[1+2*i].(ast.ValueExpr), n.operands[2+2*i]
		switch kind.GetValue() {
		case int64(orError):
			ctx.WriteKeyWord(" ERROR" + on)
		case int64(orDefault):
			ctx.WriteKeyWord(" DEFAULT ")
			if err := value.Restore(ctx); err != nil {
				return err
			}
			ctx.WriteKeyWord(on)
		}
	}
	return nil
}
