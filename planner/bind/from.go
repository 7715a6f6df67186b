package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// bindFrom binds a table expression and adds its columns to sc. What stands to its left is in sc.lateral, which LATERAL
// sees.
func (b *Binder) bindFrom(n ast.ResultSetNode, sc *scope) (logical.Node, error) {
	switch t := n.(type) {
	case *ast.Join:
		return b.bindJoin(t, sc)
	case *ast.TableSource:
		return b.bindTableSource(t, sc)
	case *ast.TableName:
		return b.bindTableName(t, t.Name.O, sc)
	}
	return nil, sqlerr.NotSupportedf("this table expression", "%T", n)
}

func (b *Binder) bindTableSource(t *ast.TableSource, sc *scope) (logical.Node, error) {
	if name, ok := t.Source.(*ast.TableName); ok {
		if name.TableSample != nil {
			return b.bindSample(name, t, sc)
		}
		alias := t.AsName.O
		if alias == "" {
			alias = name.Name.O
		}
		return b.bindTableName(name, alias, sc)
	}
	if join, ok := t.Source.(*ast.Join); ok {
		return b.bindJoin(join, sc)
	}
	if t.AsName.O == "" {
		return nil, b.at(mustHaveAlias(t), t)
	}
	if call, ok := t.Source.(*parse.JSONTable); ok {
		node, cols, err := b.jsonTable(call, t.AsName.O, sc.around())
		if err != nil {
			return nil, b.at(err, t)
		}
		return node, b.at(sc.add(cols), t)
	}
	if series, ok := t.Source.(*parse.Series); ok {
		node, cols, err := b.series(series, t.AsName.O, sc.around())
		if err != nil {
			return nil, b.at(err, t)
		}
		return node, b.at(sc.add(cols), t)
	}
	if sum, ok := t.Source.(*parse.Summary); ok {
		query, err := b.summary(sum)
		if err != nil {
			return nil, err
		}
		t = &ast.TableSource{Source: query, AsName: t.AsName, ColumnNames: t.ColumnNames}
	}
	around := sc.parent
	if t.Lateral {
		around = sc.around()
	}
	rel, err := b.bindQuery(t.Source, around)
	if err != nil {
		return nil, err
	}
	b.keepMerged(rel)
	if len(t.ColumnNames) > 0 && len(t.ColumnNames) != len(rel.cols) {
		return nil, b.at(sqlerr.ViewColumnList(), t)
	}
	cols := make([]scopeColumn, len(rel.cols))
	for i, c := range rel.cols {
		name := c.name
		if len(t.ColumnNames) > 0 {
			name = t.ColumnNames[i].O
		}
		cols[i] = scopeColumn{col: c.col, table: t.AsName.O, name: name}
	}
	node, cols := b.distinctIDs(rel.node, cols)
	if err := sc.add(cols); err != nil {
		return nil, b.at(err, t)
	}
	return node, nil
}

func mustHaveAlias(t *ast.TableSource) error {
	if _, ok := t.Source.(*parse.JSONTable); ok {
		return sqlerr.New(codeTableFunctionAlias, sqlerr.User, "Every table function must have an alias.").WithHint("write JSON_TABLE(...) AS alias")
	}
	return sqlerr.DerivedMustHaveAlias()
}

// around returns the scope around a LATERAL derived table.
func (s *scope) around() *scope {
	if s.lateral != nil {
		return s.lateral
	}
	return s.parent
}

// distinctIDs projects a column that a derived table shows twice under an ID of its own, so that each column of a scope
// can be named.
func (b *Binder) distinctIDs(node logical.Node, cols []scopeColumn) (logical.Node, []scopeColumn) {
	seen := map[expr.ColumnID]bool{}
	twice := false
	for _, c := range cols {
		twice = twice || seen[c.col.ID]
		seen[c.col.ID] = true
	}
	if !twice {
		return node, cols
	}
	clear(seen)
	items := make([]logical.Item, len(cols), 2*len(cols))
	for i, c := range cols {
		to := c.col
		if seen[c.col.ID] {
			to = b.alloc.New(c.table, c.name, c.col.Typ, c.col.Null)
			to.Coercibility, to.Long = c.col.Coercibility, c.col.Long
			cols[i].col = to
		} else if c.col.Long != nil {
			items = append(items, logical.Item{Col: c.col.Long, Expr: c.col.Long})
		}
		seen[c.col.ID] = true
		items[i] = logical.Item{Col: to, Expr: c.col}
	}
	return &logical.Project{Input: node, Items: items}, cols
}

// add puts cols into s. A table alias may stand only once in a FROM.
func (s *scope) add(cols []scopeColumn) error {
	if len(cols) > 0 && cols[0].table != "" {
		for _, c := range s.cols {
			if strings.EqualFold(c.table, cols[0].table) && strings.EqualFold(c.db, cols[0].db) {
				return sqlerr.NonUniqTable(cols[0].table)
			}
		}
	}
	for i := range cols {
		cols[i].ordinal = i
	}
	s.cols = append(s.cols, cols...)
	return nil
}

func (b *Binder) bindTableName(n *ast.TableName, alias string, sc *scope) (logical.Node, error) {
	if err := b.grow(n); err != nil {
		return nil, err
	}
	if n.TableSample != nil {
		return b.bindSample(n, &ast.TableSource{AsName: ast.NewCIStr(alias)}, sc)
	}
	if n.AsOf != nil || len(n.PartitionNames) > 0 {
		return nil, b.at(sqlerr.NotSupportedf("AS OF or PARTITION in FROM", "tables have one version and no partitions"), n)
	}
	db, name := n.Schema.O, n.Name.O
	if db == "" {
		if node, ok, err := b.bindCTE(name, alias, sc); ok || err != nil {
			return node, b.at(err, n)
		}
		if strings.EqualFold(name, "dual") {
			return oneRow(), nil
		}
		if v, ok, err := b.Catalog.File(name); err != nil {
			return nil, b.at(err, n)
		} else if ok {
			if alias == name {
				alias = v.Schema.Name // the file's name without folder and ending
			}
			node, cols := b.scan(v, alias, "")
			if len(cols) == 0 {
				if b.withoutColumns == nil {
					b.withoutColumns = map[string]string{}
				}
				b.withoutColumns[strings.ToLower(alias)] = name
			}
			return node, b.at(sc.add(cols), n)
		}
		if db = b.Database; db == "" {
			return nil, b.at(sqlerr.NoDatabaseSelected(), n)
		}
		if r := b.recording(); r != nil {
			r.tables[n] = db
		}
	}
	if view, ok := b.Catalog.View(db, name); ok {
		if view.Err != nil {
			return nil, b.at(view.Err, n)
		}
		return b.bindView(view, db, name, alias, sc)
	}
	v, err := b.Catalog.Table(db, name)
	if err != nil {
		return nil, b.at(err, n)
	}
	if err := knownKeys(n, v.Schema); err != nil {
		return nil, b.at(err, n)
	}
	node, cols := b.scan(v, alias, db)
	if sc.showsRowNumbers && !strings.EqualFold(db, "information_schema") {
		base := node.Cols
		cols = b.withRowNumber(cols, numbered{written{Version: v}, base}, b.rowID(node), alias, db)
	}
	return node, b.at(sc.add(cols), n)
}

// knownKeys says which key of USE, FORCE or IGNORE INDEX a table does not have. Those that it has change nothing.
func knownKeys(n *ast.TableName, schema *table.Schema) error {
	var keys []string
	for _, k := range schema.Keys {
		keys = append(keys, k.Name)
	}
	for _, hint := range n.IndexHints {
		for _, name := range hint.IndexNames {
			if !slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, name.O) }) {
				return sqlerr.NoSuchKey(name.O, n.Name.O, sqlerr.Suggest(name.O, keys))
			}
		}
	}
	return nil
}

// scan makes a scan of all columns of a table and their scope entries.
func (b *Binder) scan(v *table.Version, alias, db string) (*logical.Scan, []scopeColumn) {
	s := &logical.Scan{Table: v, Alias: alias}
	cols := make([]scopeColumn, len(v.Schema.Columns))
	for i := range v.Schema.Columns {
		def := &v.Schema.Columns[i]
		c := b.alloc.New(alias, def.Name, def.Type, def.Nullable)
		s.Cols = append(s.Cols, c)
		s.Ordinals = append(s.Ordinals, i)
		cols[i] = scopeColumn{col: c, db: db, table: alias, name: def.Name, foreign: def.Foreign}
	}
	return s, cols
}

func (b *Binder) bindView(view View, db, name, alias string, sc *scope) (logical.Node, error) {
	if sc.showsRowNumbers {
		if u, err := b.updatable(db, name); err == nil && u != nil {
			node, cols, base, id, err := b.viewRows(u, alias)
			if err != nil {
				return nil, err
			}
			return node, sc.add(b.withRowNumber(cols, numbered{written{u.base, u}, base}, id, alias, db))
		}
	}
	full := strings.ToLower(db + "." + name)
	for _, v := range b.viewing {
		if v == full {
			return nil, sqlerr.New(sqlerr.CodeViewInvalid, sqlerr.User, "`%s`.`%s` contains view recursion", db, name)
		}
	}
	b.viewing = append(b.viewing, full)
	leave := b.enterView(view, db)
	rel, err := b.bindQuery(view.Select, nil)
	leave()
	b.viewing = b.viewing[:len(b.viewing)-1]
	if err != nil {
		return nil, InView(db, name, err)
	}
	if !view.IsTempTable {
		b.keepMerged(rel)
	}
	cols := make([]scopeColumn, len(rel.cols))
	for i, c := range rel.cols {
		cols[i] = scopeColumn{col: c.col, db: db, table: alias, name: view.Columns[i]}
	}
	node, cols := b.distinctIDs(rel.node, cols)
	return node, sc.add(cols)
}

// InView says of an error in the query of a view that it is the view's: MySQL's 1356 if something that the view reads is gone.
func InView(db, name string, err error) *sqlerr.Error {
	e := *sqlerr.From(err)
	switch {
	case e.Kind == sqlerr.Cancelled || e.Kind == sqlerr.Resource:
		return &e
	case e.Code == sqlerr.CodeViewInvalid && e.Hint == "": // it reads itself
		return &e
	case slices.Contains(vanished, e.Code):
		return sqlerr.ViewInvalid(db, name, &e)
	}
	e.Message = "in view `" + db + "`.`" + name + "`: " + e.Message
	return &e
}

// vanished are errors that a query had not when a view was made of it.
var vanished = []sqlerr.Code{sqlerr.CodeUnknownColumn, sqlerr.CodeAmbiguousColumn, sqlerr.CodeNoSuchTable, sqlerr.CodeUnknownDatabase, sqlerr.CodeUnknownFunction,
	sqlerr.CodeViewInvalid}

// enterView makes names and literals mean what they mean in a view of db, until leave is called.
func (b *Binder) enterView(view View, db string) (leave func()) {
	ctes, database, literals, cat := b.ctes, b.Database, b.Ctx.Collation, b.Catalog
	b.ctes, b.Database, b.Ctx.Collation, b.Catalog = nil, db, view.Collation, cat.Permanent()
	return func() { b.ctes, b.Database, b.Ctx.Collation, b.Catalog = ctes, database, literals, cat }
}

// oneRow is the relation of one row and no columns: FROM DUAL, or no FROM.
func oneRow() *logical.Values { return &logical.Values{Rows: [][]expr.Expr{{}}} }

func (b *Binder) bindJoin(j *ast.Join, sc *scope) (logical.Node, error) {
	if j.Right == nil {
		return b.bindFrom(j.Left, sc)
	}
	left := &scope{parent: sc.parent, lateral: sc.lateral, showsRowNumbers: sc.showsRowNumbers}
	leftNode, err := b.bindFrom(j.Left, left)
	if err != nil {
		return nil, err
	}
	right := &scope{parent: sc.parent, lateral: sc.lateral, showsRowNumbers: sc.showsRowNumbers}
	if j.Tp != ast.RightJoin && j.Tp != parse.FullJoin { // its rows would have to come before those on their left
		right.lateral = &scope{parent: sc.around(), cols: left.cols, noAggregates: true}
	}
	rightNode, err := b.bindFrom(j.Right, right)
	if err != nil {
		return nil, err
	}
	for _, l := range left.cols {
		if len(right.cols) == 0 {
			break
		}
		for _, r := range right.cols {
			if l.table != "" && strings.EqualFold(l.table, r.table) && strings.EqualFold(l.db, r.db) {
				return nil, b.at(sqlerr.NonUniqTable(l.table), j.Right)
			}
		}
	}
	kind := logical.InnerJoin
	switch j.Tp {
	case ast.LeftJoin, ast.RightJoin:
		kind = logical.LeftJoin
	case parse.FullJoin:
		kind = logical.FullJoin
	}
	// The inputs' columns as the join gives them: NULLs may come in on the optional side.
	if j.Tp == ast.LeftJoin || j.Tp == parse.FullJoin {
		right.makeNullable()
	}
	if j.Tp == ast.RightJoin || j.Tp == parse.FullJoin {
		left.makeNullable()
	}

	var on []expr.Expr
	both := &scope{parent: sc.parent, clause: "on clause", noAggregates: true}
	both.cols = append(append(both.cols, left.cols...), right.cols...)
	switch {
	case j.NaturalJoin || len(j.Using) > 0:
		on, both.cols, err = b.bindUsing(j, left, right)
		if err != nil {
			return nil, b.at(err, j)
		}
	case j.On != nil:
		cond, err := b.condition(j.On.Expr, both)
		if err != nil {
			return nil, err
		}
		on = expr.Conjuncts(nil, cond)
	}
	if kind == logical.FullJoin && len(on) > 0 && j.On == nil {
		node := &logical.Join{Kind: kind, Left: leftNode, Right: rightNode, On: on, Hint: b.joinHint(both)}
		return b.mergeColumns(node, left, right, both.cols, sc)
	}
	if err := sc.addAll(both.cols); err != nil {
		return nil, b.at(err, j)
	}
	if j.Tp == ast.RightJoin {
		leftNode, rightNode = rightNode, leftNode
	}
	return &logical.Join{Kind: kind, Left: leftNode, Right: rightNode, On: on, Hint: b.joinHint(both)}, nil
}

// mergeColumns puts the common columns of a FULL JOIN with USING or NATURAL above it: the left one where it is not NULL, else the
// right one. cols is what bindUsing gives. Either side's own column can still be named with its table.
func (b *Binder) mergeColumns(join *logical.Join, left, right *scope, cols []scopeColumn, sc *scope) (logical.Node, error) {
	p := &logical.Project{Input: join}
	for _, s := range []*scope{left, right} {
		for _, c := range s.cols {
			p.Items = append(p.Items, logical.Item{Col: c.col, Expr: c.col})
			if long := c.col.Long; long != nil {
				p.Items = append(p.Items, logical.Item{Col: long, Expr: long})
			}
		}
	}
	var merged, rest []scopeColumn
	for i, c := range cols {
		if i >= len(join.On) { // the common columns come first, in the order of the conditions
			rest = append(rest, c)
			continue
		}
		twin := cols[len(cols)-len(join.On)+i]
		e, err := expr.NewCall("coalesce", c.col, twin.col)
		if err != nil {
			return nil, err
		}
		out := b.alloc.New("", c.name, e.Type(), e.Nullable())
		out.Coercibility = coercibility(e)
		p.Items = append(p.Items, logical.Item{Col: out, Expr: e})
		merged = append(merged, scopeColumn{col: out, name: c.name})
		c.merged = true
		rest = append(rest, c)
	}
	return p, sc.addAll(append(merged, rest...))
}

// makeNullable marks the columns of an outer join's optional side. The scope gets its own column descriptors with the
// same IDs; the scan below keeps the exact ones.
func (s *scope) makeNullable() {
	for i, c := range s.cols {
		if !c.col.Null {
			n := *c.col
			n.Null = true
			if n.Long != nil {
				long := *n.Long
				long.Null = true
				n.Long = &long
			}
			s.cols[i].col = &n
		}
	}
}

func (s *scope) addAll(cols []scopeColumn) error {
	s.cols = append(s.cols, cols...)
	return nil
}

// bindUsing makes the equalities of USING or NATURAL and the visible columns in the standard's order: the common
// columns first, once each, as the first table has them, then the rest of the first table, then that of the second. The
// first table of a RIGHT JOIN is the one on the right: MySQL takes it for a LEFT JOIN with its sides swapped.
func (b *Binder) bindUsing(j *ast.Join, left, right *scope) (on []expr.Expr, cols []scopeColumn, err error) {
	first, second := left, right
	if j.Tp == ast.RightJoin {
		first, second = right, left
	}
	var names []string
	if j.NaturalJoin {
		for _, c := range first.cols {
			if !c.merged && len(second.lookup("", "", c.name)) > 0 {
				names = append(names, c.name)
			}
		}
	}
	for _, u := range j.Using {
		names = append(names, u.Name.O)
	}
	place := func(name string) int {
		return slices.IndexFunc(first.cols, func(c scopeColumn) bool { return !c.merged && strings.EqualFold(c.name, name) })
	}
	slices.SortStableFunc(names, func(x, y string) int { return place(x) - place(y) })
	used := map[expr.ColumnID]bool{}
	var twins []scopeColumn
	var pairs [][2]scopeColumn
	for _, name := range names {
		l, err := one(left, name)
		if err != nil {
			return nil, nil, err
		}
		r, err := one(right, name)
		if err != nil {
			return nil, nil, err
		}
		eq, err := expr.NewCompare(expr.EQ, l.col, r.col)
		if err != nil {
			return nil, nil, err
		}
		on = append(on, eq)
		pairs = append(pairs, [2]scopeColumn{l, r})
		used[l.col.ID], used[r.col.ID] = true, true
		keep, twin := l, r
		if j.Tp == ast.RightJoin {
			keep, twin = r, l
		}
		cols = append(cols, keep)
		twin.merged = true
		twins = append(twins, twin)
	}
	for _, side := range []*scope{first, second} {
		for _, c := range side.cols {
			if !used[c.col.ID] {
				cols = append(cols, c)
			}
		}
	}
	cols = append(cols, twins...)
	if j.Tp != parse.FullJoin {
		b.recordJoin(j, &scope{cols: cols}, pairs)
	}
	return on, cols, nil
}

func one(s *scope, name string) (scopeColumn, error) {
	found := s.lookup("", "", name)
	switch {
	case len(found) == 0:
		return scopeColumn{}, sqlerr.UnknownColumn(name, "from clause", s.suggest(name))
	case len(found) > 1:
		return scopeColumn{}, sqlerr.AmbiguousColumn(name, "from clause")
	}
	return found[0], found[0].readable()
}
