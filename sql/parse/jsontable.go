package parse

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	ptypes "github.com/pingcap/tidb/pkg/parser/types"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// JSONTable is a call of JSON_TABLE: the Source of an ast.TableSource.
type JSONTable struct {
	ast.ResultSetNode // what the parser saw instead of it, for the methods that only its nodes have
	Doc               ast.ExprNode
	Path              ast.ExprNode // a literal, as all its paths
	Columns           []JSONColumn
}

// JSONColumn is a column of JSON_TABLE.
type JSONColumn struct {
	Kind   JSONColumnKind
	Name   string
	Type   *ptypes.FieldType
	Path   ast.ExprNode
	Empty  JSONResponse
	Error  JSONResponse
	Nested []JSONColumn // of JSONNested
	tokens [2]int       // from which to which, not included, its type stands; of JSONNested the first is the path
}

// JSONColumnKind is a kind of column of JSON_TABLE.
type JSONColumnKind uint8

// The kinds of columns.
const (
	JSONPath       JSONColumnKind = iota // the value that the path finds
	JSONExists                           // whether the path finds any
	JSONOrdinality                       // the number of the row
	JSONNested                           // no column, but those of the rows that the path finds
)

// JSONResponse is what ON EMPTY or ON ERROR asks for.
type JSONResponse struct {
	Fails   bool         // ERROR
	Default ast.ExprNode // DEFAULT: a literal; nil: NULL, unless Fail
	token   int          // that the literal begins with
}

// Accept is part of ast.Node. What stands behind the document are literals, which say nothing to a visitor.
func (n *JSONTable) Accept(v ast.Visitor) (ast.Node, bool) {
	return acceptAround(v, n, func(n *JSONTable) *ast.ExprNode { return &n.Doc })
}

// Restore is part of ast.Node.
func (n *JSONTable) Restore(ctx *format.RestoreCtx) error {
	ctx.WriteKeyWord("JSON_TABLE")
	ctx.WritePlain("(")
	if err := n.Doc.Restore(ctx); err != nil {
		return err
	}
	ctx.WritePlain(", ")
	if err := restorePath(ctx, n.Path, n.Columns); err != nil {
		return err
	}
	ctx.WritePlain(")")
	return nil
}

func restorePath(ctx *format.RestoreCtx, path ast.ExprNode, columns []JSONColumn) error {
	if err := path.Restore(ctx); err != nil {
		return err
	}
	ctx.WriteKeyWord(" COLUMNS ")
	ctx.WritePlain("(")
	for i := range columns {
		if i > 0 {
			ctx.WritePlain(", ")
		}
		if err := columns[i].restore(ctx); err != nil {
			return err
		}
	}
	ctx.WritePlain(")")
	return nil
}

func (c *JSONColumn) restore(ctx *format.RestoreCtx) error {
	if c.Kind == JSONNested {
		ctx.WriteKeyWord("NESTED PATH ")
		return restorePath(ctx, c.Path, c.Nested)
	}
	ctx.WriteName(c.Name)
	ctx.WritePlain(" ")
	if c.Kind == JSONOrdinality {
		ctx.WriteKeyWord("FOR ORDINALITY")
		return nil
	}
	if err := c.Type.Restore(ctx); err != nil {
		return err
	}
	if c.Kind == JSONExists {
		ctx.WriteKeyWord(" EXISTS")
	}
	ctx.WriteKeyWord(" PATH ")
	if err := c.Path.Restore(ctx); err != nil {
		return err
	}
	if err := c.Empty.restore(ctx, " ON EMPTY"); err != nil {
		return err
	}
	return c.Error.restore(ctx, " ON ERROR")
}

func (r *JSONResponse) restore(ctx *format.RestoreCtx, on string) error {
	switch {
	case r.Fails:
		ctx.WriteKeyWord(" ERROR" + on)
	case r.Default != nil:
		ctx.WriteKeyWord(" DEFAULT ")
		if err := r.Default.Restore(ctx); err != nil {
			return err
		}
		ctx.WriteKeyWord(on)
	}
	return nil
}

// tableCall is a JSON_TABLE of a text.
type tableCall struct {
	code    string // the literal that the parser sees instead of its definition
	at      int    // the token JSON_TABLE
	path    int    // the token
	columns []JSONColumn
	swapped int // the token of an ON EMPTY that stands behind ON ERROR; 0: none does
}

// tableCalls finds the calls of JSON_TABLE, for which the parser has no grammar. It returns the text of the piece in which each is a derived table as
// long as it, (SELECT document, 'code'), so that positions stay; restoreTables puts them into the tree.
func tableCalls(text, piece string, p Piece) (replaced string, calls []tableCall, err *sqlerr.Error) {
	var out []byte
	for i, t := range p.tokens {
		if !t.isWord(text, "JSON_TABLE") || !opIs(p.tokens, i+1, '(') || !tableMayStand(p.tokens, i) {
			continue
		}
		c := tableCall{code: "\x03" + strconv.FormatInt(int64(len(calls)), 36), at: i}
		r := tableReader{text: text, tokens: p.tokens, call: &c}
		comma, columns, end, wrong := r.read()
		if wrong >= 0 {
			e := sqlerr.ParseError("syntax error in JSON_TABLE").WithHint("write JSON_TABLE(document, 'path' COLUMNS (column, ...)) AS alias; a column is name FOR ORDINALITY, " +
				"name type [EXISTS] PATH 'path' [{NULL | ERROR | DEFAULT 'json'} ON EMPTY] [the same ON ERROR], or NESTED PATH 'path' COLUMNS (...)")
			if wrong == len(p.tokens) {
				return "", nil, e.AtOffset(text, p.Offset+len(p.Text))
			}
			return "", nil, e.AtOffset(text, int(p.tokens[wrong].start))
		}
		literal := ",'" + c.code + "'"
		if len(literal) > len("COLUMNS") {
			return "", nil, sqlerr.NotSupportedf("so many calls of JSON_TABLE", "write several statements").AtOffset(text, int(t.start))
		}
		if out == nil {
			out = []byte(piece)
		}
		offset := func(token int) int { return int(p.tokens[token].start) - p.Offset }
		begin := offset(i)
		blank(out[begin:offset(i+2)])
		copy(out[begin:], "(SELECT")
		blank(out[offset(comma):offset(end)])
		copy(out[offset(columns):], literal)
		calls = append(calls, c)
	}
	if calls == nil {
		return piece, nil, nil
	}
	return string(out), calls, nil
}

// blank overwrites all but the ends of lines.
func blank(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

// tableReader reads a call of JSON_TABLE.
type tableReader struct {
	text   string
	tokens []token
	call   *tableCall
	at     int
}

func (r *tableReader) is(word string) bool {
	return r.at < len(r.tokens) && r.tokens[r.at].isWord(r.text, word)
}

func (r *tableReader) take(word string) bool {
	ok := r.is(word)
	if ok {
		r.at++
	}
	return ok
}

func (r *tableReader) takeOp(c byte) bool {
	ok := opIs(r.tokens, r.at, c)
	if ok {
		r.at++
	}
	return ok
}

func (r *tableReader) takeString() (token int, ok bool) {
	if r.at < len(r.tokens) && r.tokens[r.at].kind == tokString {
		r.at++
		return r.at - 1, true
	}
	return 0, false
}

// read reads the call and returns the tokens of the comma behind its document, its COLUMNS and its last parenthesis. wrong is the token that is none of
// its grammar; -1: there is none.
func (r *tableReader) read() (comma, columns, end, wrong int) {
	depth := 0
	for r.at = r.call.at + 1; r.at < len(r.tokens); r.at++ {
		if t := r.tokens[r.at]; t.isOp('(') {
			depth++
		} else if t.isOp(')') {
			if depth--; depth == 0 {
				break
			}
		} else if depth == 1 && t.isOp(',') {
			break
		}
	}
	comma = r.at
	if comma == r.call.at+2 || !r.takeOp(',') {
		return 0, 0, 0, r.at
	}
	var ok bool
	if r.call.path, ok = r.takeString(); !ok {
		return 0, 0, 0, r.at
	}
	columns = r.at
	if r.call.columns, ok = r.columns(); !ok || !opIs(r.tokens, r.at, ')') {
		return 0, 0, 0, r.at
	}
	return comma, columns, r.at, -1
}

func (r *tableReader) columns() (list []JSONColumn, ok bool) {
	if !r.take("COLUMNS") || !r.takeOp('(') {
		return nil, false
	}
	for {
		c, ok := r.column()
		if !ok {
			return nil, false
		}
		list = append(list, c)
		if r.takeOp(')') {
			return list, true
		}
		if !r.takeOp(',') {
			return nil, false
		}
	}
}

// column reads a column. Its literals are read later: paths are the tokens in front of the next clauses.
func (r *tableReader) column() (c JSONColumn, ok bool) {
	if r.is("NESTED") && r.at+1 < len(r.tokens) && (r.tokens[r.at+1].kind == tokString || r.tokens[r.at+1].isWord(r.text, "PATH")) {
		r.at++
		r.take("PATH")
		c.Kind = JSONNested
		if c.tokens[0], ok = r.takeString(); !ok {
			return c, false
		}
		c.Nested, ok = r.columns()
		return c, ok
	}
	if c.Name, ok = nameAt(r.text, r.tokens, r.at); !ok || isKeyword(r.tokens[r.at]) {
		return c, false
	}
	r.at++
	if r.take("FOR") {
		c.Kind = JSONOrdinality
		return c, r.take("ORDINALITY")
	}
	c.tokens[0] = r.at
	for depth := 0; r.at < len(r.tokens) && (depth > 0 || !r.is("PATH") && !r.is("EXISTS")); r.at++ {
		switch t := r.tokens[r.at]; {
		case t.isOp('('):
			depth++
		case t.isOp(')') && depth > 0:
			depth--
		case depth == 0 && t.kind != tokWord:
			return c, false
		}
	}
	if c.tokens[1] = r.at; c.tokens[0] == c.tokens[1] {
		return c, false
	}
	if r.take("EXISTS") {
		c.Kind = JSONExists
	}
	if !r.take("PATH") {
		return c, false
	}
	if _, ok = r.takeString(); !ok {
		return c, false
	}
	if c.Kind == JSONExists {
		return c, true
	}
	return c, r.responses(&c)
}

// responses reads ON EMPTY and ON ERROR. MySQL also takes them in the other order, and warns.
func (r *tableReader) responses(c *JSONColumn) bool {
	var have [2]bool
	for r.is("NULL") || r.is("ERROR") || r.is("DEFAULT") {
		var x JSONResponse
		begin := r.at
		switch {
		case r.take("NULL"):
		case r.take("ERROR"):
			x.Fails = true
		default:
			r.at++
			x.token = r.at
			if !r.takeOp('-') {
				r.takeOp('+')
			}
			if r.at >= len(r.tokens) || r.tokens[r.at].kind != tokString && r.tokens[r.at].kind != tokNumber {
				return false
			}
			r.at++
		}
		if !r.take("ON") {
			return false
		}
		which := 0
		if r.is("ERROR") {
			which = 1
		}
		if have[which] || !r.take([]string{"EMPTY", "ERROR"}[which]) {
			return false
		}
		if have[which] = true; which == 1 {
			c.Error = x
		} else if c.Empty = x; have[1] {
			r.call.swapped = begin
		}
	}
	return true
}

// restoreTables puts calls of JSON_TABLE into the tree of a piece.
func (w *worker) restoreTables(text, piece string, p Piece, s *Statement, calls []tableCall) error {
	r := &tableRestorer{parsed: piece, written: p.Text, calls: map[string]*JSONTable{}}
	for i := range calls {
		c := &calls[i]
		path, err := w.literalAt(text, p, c.path)
		if err != nil {
			return err
		}
		if err := w.finishColumns(text, p, c.columns); err != nil {
			return err
		}
		r.calls[c.code] = &JSONTable{Path: path, Columns: c.columns}
		if c.swapped > 0 {
			s.Warnings = append(s.Warnings, sqlerr.Warning{Level: sqlerr.LevelWarning, Code: codeDeprecated, Message: "ON ERROR before ON EMPTY is deprecated; write ON EMPTY first"})
		}
	}
	s.Node.Accept(r)
	for i := range calls {
		if r.calls[calls[i].code].Doc == nil {
			return sqlerr.ParseError("syntax error: JSON_TABLE is a table, which stands in FROM").WithHint("JSON_EXTRACT and JSON_VALUE give values").
				AtOffset(text, int(p.tokens[calls[i].at].start))
		}
	}
	return nil
}

// finishColumns reads the types and literals of columns.
func (w *worker) finishColumns(text string, p Piece, columns []JSONColumn) (err error) {
	for i := range columns {
		c := &columns[i]
		switch c.Kind {
		case JSONOrdinality:
			continue
		case JSONNested:
			if c.Path, err = w.literalAt(text, p, c.tokens[0]); err != nil {
				return err
			}
			if err = w.finishColumns(text, p, c.Nested); err != nil {
				return err
			}
			continue
		}
		if c.Type, err = w.columnType(text, p, c.tokens); err != nil {
			return err
		}
		path := c.tokens[1] + 1 // behind PATH
		if c.Kind == JSONExists {
			path++
		}
		if c.Path, err = w.literalAt(text, p, path); err != nil {
			return err
		}
		for _, o := range []*JSONResponse{&c.Empty, &c.Error} {
			if o.token > 0 {
				if o.Default, err = w.literalAt(text, p, o.token); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// literalAt reads the literal that begins at a token.
func (w *worker) literalAt(text string, p Piece, at int) (ast.ExprNode, error) {
	end := at
	if p.tokens[at].kind == tokOp { // its sign
		end++
	}
	return w.expressionAt(text, p, [2]int{int(p.tokens[at].start) - p.Offset, int(p.tokens[end].end) - p.Offset})
}

// columnType reads a type, which may have a character set and a collation, but nothing else that a column's definition has.
func (w *worker) columnType(text string, p Piece, tokens [2]int) (*ptypes.FieldType, error) {
	from, to := int(p.tokens[tokens[0]].start), int(p.tokens[tokens[1]-1].end)
	written := text[from:to]
	nodes, _, err := w.parser.ParseSQL("CREATE TABLE t (c " + written + ")")
	if err == nil && len(nodes) == 1 {
		if create, is := nodes[0].(*ast.CreateTableStmt); is && len(create.Cols) == 1 && len(create.Constraints) == 0 {
			def := create.Cols[0]
			for _, o := range def.Options {
				if o.Tp != ast.ColumnOptionCollate {
					return nil, sqlerr.ParseError("syntax error: a column of JSON_TABLE has a type only, not %s", written).AtOffset(text, from)
				}
				def.Tp.SetCollate(o.StrValue)
			}
			return def.Tp, nil
		}
	}
	return nil, sqlerr.ParseError("syntax error: %s is no type of a column", excerpt(written)).AtOffset(text, from)
}

// tableRestorer replaces the derived tables that the parser saw by calls, and puts their texts into the names of columns.
type tableRestorer struct {
	parsed, written string
	calls           map[string]*JSONTable
}

// Enter is part of ast.Visitor.
func (r *tableRestorer) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SelectField:
		if strings.Contains(x.OriginalText(), "\x03") {
			if at := strings.Index(r.parsed, x.OriginalText()); at >= 0 {
				x.SetText(nil, r.written[at:at+len(x.OriginalText())])
			}
		}
	case *ast.TableSource:
		q, is := x.Source.(*ast.SelectStmt)
		if !is || q.Fields == nil || len(q.Fields.Fields) != 2 {
			break
		}
		v, is := q.Fields.Fields[1].Expr.(ast.ValueExpr)
		if !is {
			break
		}
		if call := r.calls[v.GetString()]; call != nil && call.Doc == nil && q.Fields.Fields[0].Expr != nil {
			call.ResultSetNode, call.Doc = q, q.Fields.Fields[0].Expr
			x.Source = call
		}
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (r *tableRestorer) Leave(n ast.Node) (ast.Node, bool) { return n, true }
