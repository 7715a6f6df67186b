package parse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// putExtensionBack puts what was found into the tree of a piece; before is the text that its parts are read from.
func (w *worker) putExtensionBack(text string, before, piece string, p Piece, s *Statement, x *extension) error {
	r := &extensionRestorer{x: x, piece: piece, written: p.Text, summaries: map[string]*Summary{},
		filters: map[int]*filterClause{}, stars: map[int]*starClause{}, series: map[int]bool{}}
	for i := range x.summaries {
		c := &x.summaries[i]
		node, err := w.summarized(text, x.without(before, c.query), p, c)
		if err != nil {
			return err
		}
		r.summaries[c.code] = node
	}
	for i := range x.filters {
		r.filters[x.filters[i].call] = &x.filters[i]
	}
	for i := range x.stars {
		r.stars[x.stars[i].field] = &x.stars[i]
	}
	for _, c := range x.series {
		r.series[c.first] = true
	}
	r.parse = func(span [2]int) (ast.ExprNode, error) {
		return w.expressionOf(text, x.without(before, span), p, span)
	}
	s.Node = r.wrapped(s.Node)
	s.Node.Accept(r)
	if r.err != nil {
		return r.err
	}
	if err := r.qualify(text, p); err != nil {
		return err
	}
	return r.missed(text, p)
}

// summarized parses what SUMMARIZE is about.
func (w *worker) summarized(text, before string, p Piece, c *summaryClause) (*Summary, error) {
	padded := []byte(before[:c.query[1]])
	blank(padded[:c.query[0]])
	if c.isTable {
		copy(padded[c.query[0]-len("TABLE "):], "TABLE ")
	}
	nodes, _, err := w.parser.ParseSQL(string(padded))
	if err != nil {
		part := p
		end := slices.IndexFunc(p.tokens, func(t token) bool { return int(t.start)-p.Offset >= c.query[1] })
		if part.Text = string(padded); end >= 0 {
			part.tokens = p.tokens[:end]
		}
		return nil, convertError(text, part, err)
	}
	q, is := nodes[0].(ast.ResultSetNode)
	if !is {
		return nil, sqlerr.ParseError("syntax error: SUMMARIZE takes a table, a file in backticks or a query").AtOffset(text, int(p.tokens[c.at].start))
	}
	return &Summary{ResultSetNode: q}, nil
}

// extensionRestorer puts it into the tree.
type extensionRestorer struct {
	x              *extension
	piece, written string
	summaries      map[string]*Summary
	filters        map[int]*filterClause
	stars          map[int]*starClause
	series         map[int]bool
	selects        []*ast.SelectStmt
	parse          func(span [2]int) (ast.ExprNode, error)
	err            error
}

// wrapped replaces a whole statement by its summary.
func (r *extensionRestorer) wrapped(n ast.StmtNode) ast.StmtNode {
	switch s := n.(type) {
	case *ast.ExplainStmt:
		s.Stmt = r.wrapped(s.Stmt)
	case *ast.SelectStmt:
		if sum := r.summaryOf(s); sum != nil {
			return allOf(sum, "summary")
		}
	}
	return n
}

// summaryOf returns the summary that a query stands for; nil: none.
func (r *extensionRestorer) summaryOf(q *ast.SelectStmt) *Summary {
	if q.From != nil || q.Fields == nil || len(q.Fields.Fields) != 1 {
		return nil
	}
	v, is := q.Fields.Fields[0].Expr.(ast.ValueExpr)
	if !is || !strings.HasPrefix(v.GetString(), "\x05") {
		return nil
	}
	sum := r.summaries[v.GetString()]
	delete(r.summaries, v.GetString())
	return sum
}

// Enter is part of ast.Visitor.
func (r *extensionRestorer) Enter(n ast.Node) (ast.Node, bool) {
	switch e := n.(type) {
	case *ast.SelectStmt:
		r.selects = append(r.selects, e)
	case *ast.SelectField:
		r.field(e)
	case *ast.AggregateFuncExpr:
		e.F = r.filter(e.OriginTextPosition(), e.F, e.Args)
	case *ast.WindowFuncExpr:
		e.Name = r.filter(e.OriginTextPosition(), e.Name, e.Args)
	case *ast.FuncCallExpr:
		if e.FnName.O == modeInText {
			e.FnName = ast.NewCIStr("mode")
		}
		if name := r.filter(e.OriginTextPosition(), e.FnName.L, e.Args); name != e.FnName.L {
			e.FnName = ast.NewCIStr(name)
		}
	case *ast.GroupByClause:
		if len(e.Items) == 1 && isAllInText(e.Items[0].Expr) {
			e.Items[0].Expr = &ast.FuncCallExpr{FnName: ast.NewCIStr(AllItems)}
		}
	case *ast.OrderByClause:
		if len(e.Items) == 1 && isAllInText(e.Items[0].Expr) {
			e.Items[0].Expr = &ast.FuncCallExpr{FnName: ast.NewCIStr(AllItems)}
		}
	case *ast.TableSource:
		r.table(e)
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (r *extensionRestorer) Leave(n ast.Node) (ast.Node, bool) {
	if call, is := n.(*ast.FuncCallExpr); is && call.FnName.O == "MAX" { // as filter has called it
		return &ast.AggregateFuncExpr{F: "max", Args: call.Args}, true
	}
	return n, true
}

func isAllInText(e ast.ExprNode) bool {
	v, is := e.(ast.ValueExpr)
	return is && v.GetString() == "\x04"
}

// field gives a field the text that was written, and a star the names that it leaves out.
func (r *extensionRestorer) field(f *ast.SelectField) {
	if f.WildCard != nil {
		if c := r.stars[f.Offset]; c != nil {
			call := &ast.FuncCallExpr{FnName: ast.NewCIStr(StarExcept)}
			for _, name := range c.columns {
				call.Args = append(call.Args, ast.NewValueExpr(name, "", ""))
			}
			f.Expr = call
			delete(r.stars, f.Offset)
		}
		return
	}
	end := f.Offset + len(f.OriginalText())
	if end > len(r.piece) || r.piece[f.Offset:end] != f.OriginalText() {
		return
	}
	changed := false
	for _, e := range r.x.edits {
		if e[0] >= end && strings.TrimSpace(r.piece[end:e[0]]) == "" && strings.TrimSpace(r.piece[e[0]:e[1]]) == "" {
			end, changed = e[1], true
		}
		changed = changed || f.Offset <= e[0] && e[0] < end
	}
	if changed {
		f.SetText(nil, r.written[f.Offset:end])
	}
}

// calledAggregates are the aggregates whose calls the parser reads as those of functions.
var calledAggregates = map[string]bool{
	"arg_max": true, "arg_min": true, "max_by": true, "min_by": true, "corr": true, "covar_pop": true, "covar_samp": true, "median": true, "mode": true,
	"quantile": true, "quantile_cont": true, "quantile_disc": true, "regr_avgx": true, "regr_avgy": true, "regr_count": true, "regr_intercept": true,
	"regr_r2": true, "regr_slope": true, "regr_sxx": true, "regr_sxy": true, "regr_syy": true,
}

// filtered are the other aggregates that take a FILTER: all skip rows in which their first operand is NULL.
var filtered = map[string]bool{
	"count": true, "sum": true, "avg": true, "min": true, "max": true, "bit_and": true, "bit_or": true, "bit_xor": true, "std": true, "stddev": true,
	"stddev_pop": true, "stddev_samp": true, "var_pop": true, "var_samp": true, "variance": true, "group_concat": true, "approx_count_distinct": true,
}

// filter gives the aggregate at a position, whose operands are args, the condition behind it, and returns the aggregate's name.
func (r *extensionRestorer) filter(position int, name string, args []ast.ExprNode) string {
	c := r.filters[position]
	if c == nil || r.err != nil {
		return name
	}
	fn := strings.ToLower(name)
	if fn == "any_value" { // the value of any row that passes
		fn, name = "max", "MAX"
	}
	if !filtered[fn] && !calledAggregates[fn] || len(args) == 0 {
		return name
	}
	cond, err := r.parse(c.cond)
	if err != nil {
		r.err = err
		return name
	}
	delete(r.filters, position)
	args[0] = &ast.CaseExpr{WhenClauses: []*ast.WhenClause{{Expr: cond, Result: args[0]}}}
	return name
}

// table replaces the derived tables that the parser saw by series and summaries.
func (r *extensionRestorer) table(t *ast.TableSource) {
	q, is := t.Source.(*ast.SelectStmt)
	if !is {
		return
	}
	if sum := r.summaryOf(q); sum != nil {
		t.Source = sum
		if t.AsName.O == "" {
			t.AsName = ast.NewCIStr("summary")
		}
		return
	}
	if q.From != nil || q.Fields == nil || len(q.Fields.Fields) == 0 || !r.series[q.Fields.Fields[0].Offset] {
		return
	}
	delete(r.series, q.Fields.Fields[0].Offset)
	s := &Series{}
	for _, f := range q.Fields.Fields {
		if f.Expr == nil || f.AsName.O != "" {
			r.err = sqlerr.ParseError("syntax error in generate_series").WithHint(seriesHint)
			return
		}
		s.Args = append(s.Args, f.Expr)
	}
	// As a derived table it may have names of columns, and sees the tables before.
	s.ResultSetNode = &ast.SelectStmt{Kind: ast.SelectStmtKindSelect, Fields: q.Fields}
	t.Source, t.Lateral = allOf(s, "generate_series"), true
	if t.AsName.O == "" {
		t.AsName = ast.NewCIStr("generate_series")
	}
}

// allOf returns SELECT * FROM a table.
func allOf(table ast.ResultSetNode, alias string) *ast.SelectStmt {
	return &ast.SelectStmt{SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true}, Kind: ast.SelectStmtKindSelect,
		Fields: &ast.FieldList{Fields: []*ast.SelectField{{WildCard: &ast.WildCardField{}}}},
		From:   &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: table, AsName: ast.NewCIStr(alias)}}}}
}

const seriesHint = "write generate_series(first, last), or generate_series(first, last, step) with a step that is not 0, all integers"

// qualify gives queries the conditions of QUALIFY.
func (r *extensionRestorer) qualify(text string, p Piece) error {
	for _, c := range r.x.qualifies {
		var of *ast.SelectStmt
		for _, s := range r.selects {
			if s.Fields == nil || len(s.Fields.Fields) == 0 {
				continue
			}
			if at := s.Fields.Fields[0].Offset; at > c.query && (of == nil || at < of.Fields.Fields[0].Offset) {
				of = s
			}
		}
		if of == nil {
			return sqlerr.ParseError("syntax error near 'QUALIFY'").AtOffset(text, int(p.tokens[c.at].start))
		}
		cond, err := r.parse(c.cond)
		if err != nil {
			return err
		}
		cond.Accept(r) // FILTER in it
		if r.err != nil {
			return r.err
		}
		having := ast.ExprNode(ast.NewValueExpr(int64(1), "", ""))
		if of.Having != nil {
			having = of.Having.Expr
		}
		of.Having = &ast.HavingClause{Expr: &ast.FuncCallExpr{FnName: ast.NewCIStr(QualifyCall), Args: []ast.ExprNode{having, cond}}}
	}
	return nil
}

// missed is the error of what was not found in the tree.
func (r *extensionRestorer) missed(text string, p Piece) error {
	for _, c := range r.filters {
		return sqlerr.ParseError("syntax error: FILTER stands behind an aggregate function").
			WithHint("JSON_ARRAYAGG and JSON_OBJECTAGG take none: use a derived table with WHERE").AtOffset(text, int(p.tokens[c.at].start))
	}
	for _, c := range r.stars {
		return sqlerr.ParseError("syntax error: EXCLUDE stands behind the * of a select list").AtOffset(text, int(p.tokens[c.at].start))
	}
	for _, c := range r.x.series {
		if r.series[c.first] {
			return sqlerr.ParseError("syntax error: generate_series is a table, which stands in FROM").WithHint(seriesHint).AtOffset(text, int(p.tokens[c.at].start))
		}
	}
	for _, c := range r.x.summaries {
		if r.summaries[c.code] != nil {
			return sqlerr.ParseError("syntax error: SUMMARIZE stands before a table or a query, as a statement or in parentheses in FROM").AtOffset(text, int(p.tokens[c.at].start))
		}
	}
	return nil
}

// analystsWriter replaces, for Restore, the calls that stand for ALL and QUALIFY by nodes that write these.
type analystsWriter struct{ undo []func() }

// Enter is part of ast.Visitor.
func (a *analystsWriter) Enter(n ast.Node) (ast.Node, bool) {
	switch c := n.(type) {
	case *ast.GroupByClause:
		a.all(c.Items)
	case *ast.OrderByClause:
		a.all(c.Items)
	case *ast.HavingClause:
		if args, is := IsCallOf(c.Expr, QualifyCall); is && len(args) == 2 {
			call := c.Expr
			a.undo = append(a.undo, func() { c.Expr = call })
			c.Expr = &qualified{call, args[0], args[1]}
		}
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (a *analystsWriter) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (a *analystsWriter) all(items []*ast.ByItem) {
	if len(items) == 0 {
		return
	}
	if _, is := IsCallOf(items[0].Expr, AllItems); is {
		item, call := items[0], items[0].Expr
		a.undo = append(a.undo, func() { item.Expr = call })
		item.Expr = &allWord{call}
	}
}

// restore gives the tree its calls back.
func (a *analystsWriter) restore() {
	for _, undo := range a.undo {
		undo()
	}
}

// allWord writes ALL.
type allWord struct{ ast.ExprNode }

// Accept keeps visitors out.
func (n *allWord) Accept(ast.Visitor) (ast.Node, bool) { return n, true }

// Restore writes it.
func (*allWord) Restore(ctx *format.RestoreCtx) error {
	ctx.WriteKeyWord("ALL")
	return nil
}

// qualified writes the conditions of HAVING and QUALIFY.
type qualified struct {
	ast.ExprNode
	having, qualify ast.ExprNode
}

// Accept lets visitors see both conditions.
func (n *qualified) Accept(v ast.Visitor) (ast.Node, bool) {
	if _, ok := n.having.Accept(v); !ok {
		return n, false
	}
	_, ok := n.qualify.Accept(v)
	return n, ok
}

// Restore writes them. If there is no HAVING, it takes the word away that the clause has written.
func (n *qualified) Restore(ctx *format.RestoreCtx) error {
	b, is := ctx.In.(*strings.Builder)
	if v, one := n.having.(ast.ValueExpr); one && is && v.GetValue() == int64(1) {
		before := strings.TrimSuffix(b.String(), "HAVING ")
		b.Reset()
		b.WriteString(before)
	} else {
		if err := n.having.Restore(ctx); err != nil {
			return err
		}
		ctx.WritePlain(" ")
	}
	ctx.WriteKeyWord("QUALIFY ")
	return n.qualify.Restore(ctx)
}

// IsCallOf says whether an expression is a call of a function, and returns its operands.
func IsCallOf(e ast.ExprNode, name string) (args []ast.ExprNode, is bool) {
	call, is := e.(*ast.FuncCallExpr)
	if !is || call.FnName.L != name || call.Schema.O != "" {
		return nil, false
	}
	return call.Args, true
}

// SampleCondition returns the condition that TABLESAMPLE with percents means: RAND(seed) < percent / 100.
func SampleCondition(percent, seed ast.ExprNode) ast.ExprNode {
	part := &ast.BinaryOperationExpr{Op: opcode.Div, L: percent, R: ast.NewValueExpr(int64(100), "", "")}
	return &ast.BinaryOperationExpr{Op: opcode.LT, L: RandomNumber(seed), R: part}
}

// RandomNumber returns a call of RAND; seed may be nil.
func RandomNumber(seed ast.ExprNode) ast.ExprNode {
	call := &ast.FuncCallExpr{FnName: ast.NewCIStr("rand")}
	if seed != nil {
		call.Args = []ast.ExprNode{seed}
	}
	return call
}
