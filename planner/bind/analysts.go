package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsontable"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// What analysts write beyond MySQL's grammar; sql/parse/analysts.go says how it comes into the tree.

// starWithout takes the columns that EXCLUDE names out of those of a star.
func starWithout(star []selectItem, names []ast.ExprNode) ([]selectItem, error) {
	for _, n := range names {
		name := n.(ast.ValueExpr).GetString()
		is := func(it selectItem) bool { return strings.EqualFold(it.name, name) }
		if !slices.ContainsFunc(star, is) {
			all := make([]string, len(star))
			for i, it := range star {
				all[i] = it.name
			}
			return nil, sqlerr.UnknownColumn(name, "EXCLUDE", sqlerr.Suggest(name, all))
		}
		star = slices.DeleteFunc(star, is)
	}
	if len(star) == 0 {
		return nil, sqlerr.New(sqlerr.CodeTableMustHaveColumns, sqlerr.User, "EXCLUDE leaves no column")
	}
	return star, nil
}

// isAll says whether the items of GROUP BY or ORDER BY are ALL.
func isAll(items []*ast.ByItem) bool {
	if len(items) != 1 {
		return false
	}
	_, is := parse.IsCallOf(items[0].Expr, parse.AllItems)
	return is
}

// groupByAll groups by the items of the select list that use neither aggregates nor window functions, and are no constants. It says whether there is any.
func (g *grouping) groupByAll(items []selectItem, aggs int, windows *windowing) bool {
	for _, it := range items {
		if g.usesAggregates(it.e, aggs) || windows.refuse(it.e, items) != nil {
			continue
		}
		if _, constant := it.e.(*expr.Const); constant {
			continue
		}
		g.addGroup(it.e, it.name)
		g.keys = append(g.keys, it.e)
		g.written = append(g.written, len(g.groups))
	}
	return len(g.keys) > 0
}

// splitHaving returns the condition of HAVING and that of QUALIFY; nil: there is none.
func splitHaving(h *ast.HavingClause) (having *ast.HavingClause, qualify ast.ExprNode) {
	if h == nil {
		return nil, nil
	}
	args, is := parse.IsCallOf(h.Expr, parse.QualifyCall)
	if !is || len(args) != 2 {
		return h, nil
	}
	if v, is := args[0].(ast.ValueExpr); is && v.GetValue() == int64(1) {
		return nil, args[1]
	}
	return &ast.HavingClause{Expr: args[0]}, args[1]
}

// bindQualify binds the condition of QUALIFY, which sees columns, then names of the select list, and window functions.
func (b *Binder) bindQualify(e ast.ExprNode, list *scope) (expr.Expr, error) {
	if e == nil {
		return nil, nil
	}
	return b.condition(e, list.within("qualify clause"))
}

// series binds generate_series, whose operands see the tables before it.
func (b *Binder) series(call *parse.Series, alias string, around *scope) (logical.Node, []scopeColumn, error) {
	if n := len(call.Args); n != 2 && n != 3 {
		return nil, nil, sqlerr.WrongParamCount("generate_series")
	}
	bounds := make([]expr.Expr, 3)
	bounds[2] = &expr.Const{Value: types.IntValue(1)}
	for i, a := range call.Args {
		e, err := b.expr(a, &scope{parent: around, clause: "a table function argument", noAggregates: true})
		if err != nil {
			return nil, nil, err
		}
		if t := e.Type(); t.Kind != types.KindNull && !t.IsInteger() {
			return nil, nil, b.at(sqlerr.WrongArguments("generate_series").WithHint("it takes integers; for dates write '2024-01-01' + INTERVAL i DAY over a series i"), a)
		}
		bounds[i] = castTo(e, types.Int64)
	}
	doc, err := expr.NewCall("json_array", bounds...)
	if err != nil {
		return nil, nil, err
	}
	t := &jsontable.Table{Name: alias, IsSeries: true, Columns: []jsontable.Column{{Name: "generate_series", Type: types.Int64}}}
	col := b.alloc.New(alias, t.Columns[0].Name, types.Int64, true)
	node := &logical.Unnest{Input: logical.OneRow(), Doc: doc, Table: t, Cols: []*expr.Column{col}, Ordinals: []int{0}}
	return node, []scopeColumn{{col: col, table: alias, name: col.Name}}, nil
}

// bindSample binds a table with TABLESAMPLE: each row with the probability that the percents say, or so many rows at random.
func (b *Binder) bindSample(n *ast.TableName, t *ast.TableSource, sc *scope) (logical.Node, error) {
	sample := n.TableSample
	plain := *n
	plain.TableSample = nil
	amount := ast.ExprNode(nil)
	if v, is := sample.Expr.(ast.ValueExpr); is { // the parser wraps the expression in a value
		amount, _ = v.GetValue().(ast.ExprNode)
	}
	if amount == nil {
		amount = sample.Expr
	}
	if amount == nil || sample.SampleMethod == ast.SampleMethodTypeTiDBRegion {
		return nil, b.at(sqlerr.NotSupportedf("TABLESAMPLE without a number", "write TABLESAMPLE 10 PERCENT, TABLESAMPLE BERNOULLI (10) or TABLESAMPLE (100 ROWS)"), n)
	}
	seed := sample.RepeatableSeed
	if v, is := seed.(ast.ValueExpr); is {
		if e, is := v.GetValue().(ast.ExprNode); is {
			seed = e
		}
	}
	v, err := b.paramOrLiteral(amount)
	if err != nil {
		return nil, err
	}
	byRow := sample.SampleClauseUnit == ast.SampleClauseUnitTypeRow
	size, _ := types.Cast(v, types.Double)
	if size.Null || size.F < 0 || !byRow && size.F > 100 {
		return nil, b.at(sqlerr.WrongArguments("TABLESAMPLE").WithHint("percents lie between 0 and 100"), amount)
	}
	alias := t.AsName
	if alias.O == "" {
		alias = n.Name
	}
	inner := alias
	if n.Schema.O == "" {
		if f, ok, err := b.Catalog.File(n.Name.O); err == nil && ok && alias.O == n.Name.O {
			alias, inner = ast.NewCIStr(f.Schema.Name), ast.CIStr{}
		}
	}
	query := &ast.SelectStmt{SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true}, Kind: ast.SelectStmtKindSelect,
		Fields: &ast.FieldList{Fields: []*ast.SelectField{{WildCard: &ast.WildCardField{}}}},
		From:   &ast.TableRefsClause{TableRefs: &ast.Join{Left: &ast.TableSource{Source: &plain, AsName: inner}}}}
	if byRow {
		query.OrderBy = &ast.OrderByClause{Items: []*ast.ByItem{{Expr: parse.RandomNumber(seed), NullOrder: true}}}
		query.Limit = &ast.Limit{Count: amount}
	} else {
		query.Where = parse.SampleCondition(amount, seed)
	}
	return b.bindTableSource(&ast.TableSource{Source: query, AsName: alias, ColumnNames: t.ColumnNames}, sc)
}

// summary returns the query that SUMMARIZE means: one row of aggregates over what is summarised, of which each column gets a row.
func (b *Binder) summary(sum *parse.Summary) (ast.ResultSetNode, error) {
	// The columns are those of the query, which is bound for them alone.
	source := sum.ResultSetNode
	saved := b.record
	b.record = nil
	rel, err := b.bindQuery(source, nil)
	b.record = saved
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, c := range rel.cols {
		if name := strings.ToLower(c.name); seen[name] {
			return nil, sqlerr.DupFieldName(c.name).WithHint("SUMMARIZE needs columns of different names")
		} else {
			seen[name] = true
		}
	}
	if len(rel.cols) == 0 {
		return nil, sqlerr.New(sqlerr.CodeNoTablesUsed, sqlerr.User, "SUMMARIZE needs columns")
	}
	var row, rows strings.Builder
	row.WriteString("SELECT COUNT(*) AS n")
	for i, c := range rel.cols {
		t, name := c.col.Typ, quoteName(c.name)
		number := func(aggregate string) string {
			if t.IsNumeric() {
				return fmt.Sprintf("CAST(%s AS CHAR)", fmt.Sprintf(aggregate, name))
			}
			return "NULL"
		}
		place := func(part string) string {
			if t.IsTemporal() && t.Kind != types.KindTime && t.Kind != types.KindYear || t.IsNumeric() {
				return fmt.Sprintf("CAST(QUANTILE_CONT(%s, %s) AS CHAR)", name, part)
			}
			return "NULL"
		}
		extreme := func(fn string) string {
			if t.Kind == types.KindJSON {
				return fmt.Sprintf("%s(CAST(%s AS CHAR))", fn, name)
			}
			return fmt.Sprintf("CAST(%s(%s) AS CHAR)", fn, name)
		}
		if t.Kind == types.KindBlob || t.Kind == types.KindBinary || t.Kind == types.KindVarbinary {
			extreme = func(fn string) string { return fmt.Sprintf("HEX(%s(%s))", fn, name) }
		}
		fmt.Fprintf(&row, ", %s AS a%d, %s AS b%d, APPROX_COUNT_DISTINCT(%s) AS c%d, %s AS d%d, %s AS e%d, %s AS f%d, %s AS g%d, %s AS h%d, COUNT(%s) AS i%d",
			extreme("MIN"), i, extreme("MAX"), i, name, i, number("AVG(%s)"), i, number("STDDEV_SAMP(%s)"), i, place("0.25"), i, place("0.5"), i, place("0.75"), i, name, i)
		if i > 0 {
			rows.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&rows, "SELECT %s AS column_name, %s AS column_type, a%d AS min, b%d AS max, c%d AS approx_unique, d%d AS avg, e%d AS std, f%d AS q25, g%d AS q50, h%d AS q75, n AS count, "+
			"IF(n = 0, NULL, CAST((n - i%d) / n * 100 AS DECIMAL(5,2))) AS null_percentage FROM s", types.QuoteText(c.name), types.QuoteText(strings.ToLower(t.String())), i, i, i, i, i, i, i, i, i)
	}
	s, err := parse.One("WITH s AS ("+row.String()+" FROM (SELECT 1) AS summarized) "+rows.String(), parse.DefaultMode)
	if err != nil {
		return nil, sqlerr.Bug("SUMMARIZE: %v", err)
	}
	put := summarized{source: source}
	s.Node.Accept(&put)
	return s.Node.(ast.ResultSetNode), nil
}

// summarized puts what is summarised in its place.
type summarized struct{ source ast.ResultSetNode }

// Enter is part of ast.Visitor.
func (p *summarized) Enter(n ast.Node) (ast.Node, bool) {
	if t, is := n.(*ast.TableSource); is && t.AsName.L == "summarized" {
		t.Source = p.source
		return n, true
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (p *summarized) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// quoteName returns a name in backticks.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
