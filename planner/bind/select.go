package bind

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// selectItem is a bound item of a select list.
type selectItem struct {
	name string
	e    expr.Expr // over FROM's columns and aggregates' columns, until lift
	bare bool      // a column as it is
	// of an item that is a bare column, for the scope of a derived table
	db, table string
}

// bindSelect binds one SELECT (or TABLE, or VALUES) in the order in which SQL evaluates it: FROM, WHERE, GROUP BY,
// HAVING, select list, DISTINCT, ORDER BY, LIMIT.
func (b *Binder) bindSelect(s *ast.SelectStmt, outer *scope) (*relation, error) {
	if s.SelectIntoOpt != nil {
		return nil, sqlerr.New(sqlerr.CodeWrongUsage, sqlerr.User, "INTO OUTFILE is not allowed in a subquery").
			WithHint("write it at the end of the whole statement; the last SELECT of a union has no parentheses then")
	}
	defer b.enterHints(s.TableHints)()
	leave, err := b.enterWith(s.With, outer)
	if err != nil {
		return nil, err
	}
	defer leave()
	if s.Kind == ast.SelectStmtKindValues {
		return b.bindValues(s, outer)
	}

	from := &scope{parent: outer}
	fromNode, node, err := b.bindSource(s, from)
	if err != nil {
		return nil, err
	}
	g := &grouping{b: b, from: from, input: node}
	list := from.within("field list")
	list.grouped = g
	if list.windows, err = newWindowing(b, s.WindowSpecs); err != nil {
		return nil, err
	}
	items, err := b.bindFields(s, list)
	if err != nil {
		return nil, err
	}
	list.aliases = aliasesOf(items)
	groupBy, err := g.bindGroupBy(s.GroupBy, list, items)
	if err != nil {
		return nil, err
	}
	havingClause, qualifyClause := splitHaving(s.Having)
	having, err := b.bindHaving(havingClause, s, list, items)
	if err != nil {
		return nil, err
	}
	qualify, err := b.bindQualify(qualifyClause, list)
	if err != nil {
		return nil, err
	}
	keys, err := b.bindOrderBy(s.OrderBy, list, items)
	if err != nil {
		return nil, err
	}

	if node, err = g.selected(groupBy, fromNode, items, &having, &qualify, keys, list); err != nil {
		return nil, err
	}
	if g.isRollup && s.OrderBy == nil && !s.Distinct {
		keys = g.rollupOrder()
	}
	var rel *relation
	if s.Distinct {
		rel, keys, err = b.distinct(node, items, keys)
		if err != nil {
			return nil, err
		}
		if s.Limit != nil {
			rel.parts = nil
		}
	} else {
		rel, keys = b.project(node, items, keys)
		rel.project = rel.node.(*logical.Project)
		rel.merges = s.From != nil && !g.active() && having == nil && qualify == nil && len(list.windows.nodes) == 0 && s.Limit == nil && !anySubquery(items)
	}
	return rel, b.orderAndLimit(rel, keys, s.Limit)
}

// selected returns the rows that are grouped, and for which HAVING and QUALIFY hold, with the columns of window functions.
func (g *grouping) selected(groupBy *ast.GroupByClause, fromNode logical.Node, items []selectItem, having, qualify *expr.Expr, keys []orderKey, list *scope) (logical.Node, error) {
	windows, node := list.windows, g.input
	if err := windows.bindAll(list); err != nil {
		return nil, err
	}
	if err := g.checkGroupings(); err != nil {
		return nil, err
	}
	if g.active() {
		var err error
		if node, err = g.build(groupBy, fromNode, items, having, qualify, keys, windows); err != nil {
			return nil, err
		}
	}
	if *having != nil {
		node = filter(node, *having)
	}
	node = windows.build(node)
	if *qualify != nil {
		node = filter(node, *qualify)
	}
	return node, nil
}

// bindSource binds FROM, whose names come into a scope, and WHERE.
func (b *Binder) bindSource(s *ast.SelectStmt, from *scope) (unfiltered, node logical.Node, err error) {
	node = oneRow()
	if s.From != nil && s.From.TableRefs != nil {
		if node, err = b.bindFrom(s.From.TableRefs, from); err != nil {
			return nil, nil, err
		}
	}
	if s.Where == nil {
		return node, node, nil
	}
	where := from.within("where clause")
	where.noAggregates = true
	cond, err := b.condition(s.Where, where)
	if err != nil {
		return nil, nil, err
	}
	return node, filter(node, cond), nil
}

func filter(n logical.Node, cond expr.Expr) logical.Node {
	preds := expr.Conjuncts(nil, cond)
	if f, ok := n.(*logical.Filter); ok {
		return &logical.Filter{Input: f.Input, Preds: append(append([]expr.Expr(nil), f.Preds...), preds...)}
	}
	return &logical.Filter{Input: n, Preds: preds}
}

// condition binds e as a truth value.
func (b *Binder) condition(e ast.ExprNode, sc *scope) (expr.Expr, error) {
	x, err := b.expr(e, sc)
	if err != nil {
		return nil, err
	}
	return expr.Truth(x), nil
}

// bindFields binds the select list, wildcards expanded.
func (b *Binder) bindFields(s *ast.SelectStmt, sc *scope) ([]selectItem, error) {
	if s.Kind == ast.SelectStmtKindTable || s.Fields == nil {
		items, err := starItems(sc, "", "")
		if err == nil && len(items) == 0 {
			err = b.noColumns(s)
		}
		if err == nil {
			b.recordFields(s, sc, items, []int{0})
		}
		return items, err
	}
	var items []selectItem
	starts := make([]int, 0, len(s.Fields.Fields)) // of each field, its first item
	for _, f := range s.Fields.Fields {
		starts = append(starts, len(items))
		if w := f.WildCard; w != nil {
			star, err := starItems(sc, w.Schema.O, w.Table.O)
			if err != nil {
				return nil, b.at(err, f)
			}
			switch {
			case len(star) > 0:
			case w.Table.O != "" && b.withoutColumns[strings.ToLower(w.Table.O)] == "":
				return nil, b.at(sqlerr.UnknownTableIn(w.Table.O, "field list", ""), f)
			default:
				return nil, b.at(b.noColumns(s), f)
			}
			if names, is := parse.IsCallOf(f.Expr, parse.StarExcept); is {
				if star, err = starWithout(star, names); err != nil {
					return nil, b.at(err, f)
				}
			}
			items = append(items, star...)
			continue
		}
		e, err := b.expr(f.Expr, sc)
		if err != nil {
			return nil, err
		}
		c, bare := parse.WithoutParentheses(f.Expr).(*ast.ColumnNameExpr)
		it := selectItem{e: e, name: f.AsName.O, bare: bare}
		switch {
		case it.name != "":
		case bare:
			it.name = c.Name.Name.O
		default:
			it.name = fieldText(f)
		}
		items = append(items, it)
	}
	b.recordFields(s, sc, items, starts)
	return items, nil
}

// noColumns is the error of a star that stands for nothing.
func (b *Binder) noColumns(s *ast.SelectStmt) error {
	if s.From == nil || len(b.withoutColumns) == 0 {
		return sqlerr.New(sqlerr.CodeNoTablesUsed, sqlerr.User, "No tables used")
	}
	var files []string
	for _, name := range slices.Sorted(maps.Values(b.withoutColumns)) {
		files = append(files, "'"+name+"'")
	}
	return sqlerr.New(sqlerr.CodeTableMustHaveColumns, sqlerr.User, "%s has no columns, for which * could stand", strings.Join(files, ", ")).WithHint("COUNT(*) counts their rows")
}

// fieldText is the name MySQL gives to an unnamed expression: its text; of a string literal, the string.
func fieldText(f *ast.SelectField) string {
	if v, ok := parse.WithoutParentheses(f.Expr).(ast.ValueExpr); ok {
		if s, ok := v.GetValue().(string); ok {
			return s
		}
	}
	if t := strings.TrimSpace(f.Text()); t != "" {
		return t
	}
	return strings.TrimSpace(f.Expr.Text())
}

// starItems expands * and table.*. The columns of one table stand in the order of the table, though USING may have moved them.
func starItems(sc *scope, db, table string) (items []selectItem, err error) {
	cols := sc.cols
	if table != "" { // two databases may each have a table of that name
		first := map[string]int{}
		for i := len(cols) - 1; i >= 0; i-- {
			first[strings.ToLower(cols[i].db)] = i
		}
		cols = slices.SortedStableFunc(slices.Values(cols), func(a, b scopeColumn) int {
			return cmp.Or(first[strings.ToLower(a.db)]-first[strings.ToLower(b.db)], a.ordinal-b.ordinal)
		})
	}
	for _, c := range cols {
		if table == "" && c.merged ||
			table != "" && !strings.EqualFold(c.table, table) ||
			db != "" && !strings.EqualFold(c.db, db) {
			continue
		}
		if err := c.readable(); err != nil {
			return nil, err
		}
		items = append(items, selectItem{name: c.name, e: c.col, bare: true, db: c.db, table: c.table})
	}
	return items, nil
}

func aliasesOf(items []selectItem) []aliasItem {
	out := make([]aliasItem, len(items))
	for i, it := range items {
		out[i] = aliasItem{name: it.name, e: it.e, bare: it.bare}
	}
	return out
}

// bindHaving binds HAVING: it sees the keys of GROUP BY and the select list's names before columns. Without GROUP BY those are the ones that the select list
// shows (Item_ref::fix_fields); columns that the groups determine may be named though they are not shown, where MySQL refuses them.
func (b *Binder) bindHaving(h *ast.HavingClause, s *ast.SelectStmt, list *scope, items []selectItem) (expr.Expr, error) {
	if h == nil {
		return nil, nil
	}
	sc := list.within("having clause")
	sc.prefer = keysFirst
	if s.GroupBy == nil {
		sc.listed = map[expr.ColumnID]bool{}
		for _, it := range items {
			if c, ok := it.e.(*expr.Column); ok {
				sc.listed[c.ID] = true
			}
		}
	}
	windows := sc.windows
	sc.windows = nil
	having, err := b.condition(h.Expr, sc)
	if err != nil {
		return nil, err
	}
	if err := windows.refuse(having, items); err != nil {
		return nil, b.at(err, h.Expr)
	}
	return having, nil
}

// orderKey is a bound ORDER BY item.
type orderKey struct {
	e    expr.Expr
	item int // the select item that it is, or -1
	desc bool
}

// bindOrderBy binds ORDER BY: positions, then names of the select list, then columns; in an expression columns first, as in MySQL
// (Item_field::fix_fields).
func (b *Binder) bindOrderBy(o *ast.OrderByClause, list *scope, items []selectItem) ([]orderKey, error) {
	if o == nil {
		return nil, nil
	}
	sc := list.within("order clause")
	var keys []orderKey
	if isAll(o.Items) {
		for i, it := range items {
			keys = append(keys, orderKey{it.e, i, o.Items[0].Desc})
		}
		return keys, nil
	}
	var listed *itemSet
	for _, by := range o.Items {
		if p, ok := by.Expr.(*ast.PositionExpr); ok {
			i, err := b.position(p, len(items), "order clause")
			if err != nil {
				return nil, err
			}
			keys = append(keys, orderKey{items[i].e, i, by.Desc})
			continue
		}
		sc.prefer = columnsFirst
		if _, name := parse.WithoutParentheses(by.Expr).(*ast.ColumnNameExpr); name {
			sc.prefer = listFirst
		}
		e, err := b.expr(by.Expr, sc)
		if err != nil {
			return nil, err
		}
		k := orderKey{e, -1, by.Desc}
		if listed == nil {
			listed = newItemSet(items)
		}
		k.item = listed.find(e)
		if _, ok := e.(*expr.Const); ok && k.item < 0 {
			continue // ordering by a constant orders nothing
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// position reads an ORDER BY or GROUP BY position and returns it from 0.
func (b *Binder) position(p *ast.PositionExpr, n int, clause string) (int, error) {
	if p.P != nil {
		v, err := b.paramOrLiteral(p.P)
		if err != nil {
			return 0, err
		}
		p.N = int(v.I)
	}
	if p.N < 1 || p.N > n {
		err := sqlerr.UnknownColumn(itoa(p.N), clause, "").WithHint("a position lies between 1 and %d here", n)
		return 0, b.at(err, p)
	}
	return p.N - 1, nil
}

// project computes the select list, and the sort keys that are not in it, and returns the relation with keys that are
// columns of it.
func (b *Binder) project(input logical.Node, items []selectItem, keys []orderKey) (*relation, []orderKey) {
	p := &logical.Project{Input: input}
	made := map[expr.ColumnID]bool{}
	own := logical.SetOfCols(input.Schema())
	column := func(e expr.Expr, table, name string) *expr.Column {
		if c, ok := e.(*expr.Column); ok && own.Has(c.ID) { // a column of an outer query gets an ID of its own
			shown := c.Shown()
			if !made[c.ID] {
				made[c.ID] = true
				p.Items = append(p.Items, logical.Item{Col: shown, Expr: c})
			}
			return shown
		}
		c := b.alloc.New(table, name, e.Type(), e.Nullable())
		c.Coercibility = coercibility(e)
		p.Items = append(p.Items, logical.Item{Col: c, Expr: e})
		return c
	}
	rel := &relation{}
	for _, it := range items {
		c := column(it.e, "", it.name)
		rel.cols = append(rel.cols, scopeColumn{col: c, db: it.db, table: it.table, name: it.name})
	}
	for i := range keys {
		if k := &keys[i]; k.item >= 0 {
			k.e = rel.cols[k.item].col
		} else {
			k.e = column(k.e, "", "sort key")
		}
	}
	rel.node = p
	return rel, keys
}

// distinct computes the select list and removes duplicates. What sorts the rows is computed from what they show; see project for the keys.
func (b *Binder) distinct(input logical.Node, items []selectItem, keys []orderKey) (*relation, []orderKey, error) {
	rel, _ := b.project(input, items, nil)
	all := *rel
	all.project, all.cols = rel.node.(*logical.Project), slices.Clone(rel.cols)
	b.removeDuplicates(rel)
	lost := logical.SetOfCols(input.Schema())
	for _, c := range rel.cols {
		lost.Remove(c.col.ID)
	}
	computed := false
	var listed *itemSet
	for i := range keys {
		k := &keys[i]
		if k.item >= 0 {
			k.e = rel.cols[k.item].col
			continue
		}
		if listed == nil {
			listed = newItemSet(items)
		}
		shown := ofItems(k.e, listed, rel.cols)
		if logical.UsesAny(shown, lost) {
			name := k.e.String()
			expr.Walk(shown, func(e expr.Expr) bool {
				if c, ok := e.(*expr.Column); ok && lost.Has(c.ID) {
					name = c.String()
				}
				return true
			})
			return nil, nil, sqlerr.OrderNotInDistinct(i+1, name)
		}
		k.e, computed = shown, true
	}
	if computed {
		shown := make([]selectItem, len(rel.cols))
		for i, c := range rel.cols {
			shown[i] = selectItem{name: c.name, e: c.col, db: c.db, table: c.table}
		}
		rel, keys = b.project(rel.node, shown, keys)
	}
	rel.parts = &parts{rels: []*relation{&all}}
	return rel, keys, nil
}

// itemSet finds select items by their expressions.
type itemSet struct {
	set   expr.Set
	first []int // of each expression in the set, the first item that it is
}

func newItemSet(items []selectItem) *itemSet {
	s := &itemSet{}
	for i, it := range items {
		if s.set.Add(it.e) {
			s.first = append(s.first, i)
		}
	}
	return s
}

// find returns the first item that e is, or -1.
func (s *itemSet) find(e expr.Expr) int {
	if n := s.set.Find(e); n >= 0 {
		return s.first[n]
	}
	return -1
}

// ofItems replaces parts of e that are select items by the columns that hold them.
func ofItems(e expr.Expr, items *itemSet, cols []scopeColumn) expr.Expr {
	if i := items.find(e); i >= 0 {
		return cols[i].col
	}
	children := e.Children()
	if len(children) == 0 {
		return e
	}
	return e.WithChildren(logical.MapEach(children, func(c expr.Expr) expr.Expr { return ofItems(c, items, cols) }))
}

// orderAndLimit puts ORDER BY and LIMIT on top of rel; keys are columns of it.
func (b *Binder) orderAndLimit(rel *relation, keys []orderKey, limit *ast.Limit) error {
	count, offset, err := b.limit(limit)
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		s := &logical.Sort{Input: rel.node, Count: logical.NoLimit}
		for _, k := range keys {
			s.Keys = append(s.Keys, logical.SortKey{Expr: expr.CollationKey(k.e), Desc: k.desc})
		}
		rel.node = s
	}
	if count != logical.NoLimit || offset > 0 {
		rel.node = &logical.Limit{Input: rel.node, Count: count, Offset: offset}
	}
	return nil
}

func (b *Binder) limit(l *ast.Limit) (count, offset int64, err error) {
	if l == nil {
		return logical.NoLimit, 0, nil
	}
	if count, err = b.limitValue(l.Count); err != nil {
		return 0, 0, err
	}
	if l.Offset != nil {
		if offset, err = b.limitValue(l.Offset); err != nil {
			return 0, 0, err
		}
	}
	return count, offset, nil
}

func (b *Binder) limitValue(e ast.ExprNode) (int64, error) {
	v, err := b.paramOrLiteral(e)
	if err != nil {
		return 0, err
	}
	if v.Null || !v.Type.IsInteger() || v.I < 0 && !v.Type.IsUnsigned() {
		return 0, b.at(sqlerr.WrongArguments("LIMIT").WithHint("LIMIT and OFFSET take integers that are not negative"), e)
	}
	if v.I < 0 { // an unsigned value above 2^63: no limit in practice
		return int64(^uint64(0) >> 1), nil
	}
	return v.I, nil
}

// bindValues binds VALUES ROW(...), ROW(...).
func (b *Binder) bindValues(s *ast.SelectStmt, outer *scope) (*relation, error) {
	sc := &scope{parent: outer, noAggregates: true}
	width := len(s.Lists[0].Values)
	rows := make([][]expr.Expr, len(s.Lists))
	for i, row := range s.Lists {
		if len(row.Values) != width {
			return nil, b.at(sqlerr.WrongValueCount(i+1), row)
		}
		for _, v := range row.Values {
			e, err := b.expr(v, sc)
			if err != nil {
				return nil, err
			}
			rows[i] = append(rows[i], e)
		}
	}
	rel := &relation{}
	v := &logical.Values{Rows: rows}
	var items []selectItem
	for c := range width {
		typ, nullable := rows[0][c].Type(), false
		values := make([]expr.Expr, len(rows))
		for i, row := range rows {
			if err := b.poll(); err != nil {
				return nil, err
			}
			values[i] = row[c]
			typ = commonType(typ, row[c].Type())
			nullable = nullable || row[c].Nullable()
		}
		typ, level, err := unite("VALUES", typ, values)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if err := b.poll(); err != nil {
				return nil, err
			}
			row[c] = castTo(row[c], typ)
		}
		name := "column_" + itoa(c)
		col := b.alloc.New("", name, typ, nullable)
		col.Coercibility = level
		v.Cols = append(v.Cols, col)
		rel.cols = append(rel.cols, scopeColumn{col: col, name: name})
		items = append(items, selectItem{name: name, e: col})
	}
	rel.node = v
	list := &scope{parent: outer, cols: rel.cols, aliases: aliasesOf(items)}
	keys, err := b.bindOrderBy(s.OrderBy, list, items)
	if err != nil {
		return nil, err
	}
	if len(keys) > 0 {
		rel, keys = b.project(v, items, keys)
	}
	return rel, b.orderAndLimit(rel, keys, s.Limit)
}
