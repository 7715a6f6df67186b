package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// CheckOption is what WITH CHECK OPTION asks of the rows that are written through a view.
type CheckOption uint8

// What there is. A view without the option passes on what the views below it ask.
const (
	CheckNone     CheckOption = iota
	CheckLocal                // they satisfy the view's own condition, and what the views below ask
	CheckCascaded             // they satisfy the conditions of the view and of all below it
)

// updatable is a view through which rows of a table are written: each of its rows is one of the table's (MySQL manual, section 27.5.3).
type updatable struct {
	db, name string
	base     *table.Version
	levels   []viewLevel // from the table outwards; the last one is the view
	names    []string    // of the view's columns
	ordinals []int       // the table's columns that they are; -1: an expression
}

// viewLevel is a view over the one below it, or over the table.
type viewLevel struct {
	View
	db    string
	alias string // of what it selects from
	query *ast.SelectStmt
}

// Updatable says whether rows of a table can be updated and deleted through a view.
func (b *Binder) Updatable(db, name string) bool {
	u, err := b.updatable(db, name)
	return err == nil && u != nil
}

// updatable opens a view for writing. It returns nil if the view's rows are not those of one table.
func (b *Binder) updatable(db, name string) (*updatable, error) {
	u := &updatable{db: db, name: name}
	seen := map[string]bool{}
	cat := b.Catalog
	for {
		view, is := cat.View(db, name)
		if !is {
			break
		}
		if view.Err != nil {
			return nil, view.Err
		}
		from := singleTable(view)
		full := strings.ToLower(db + "." + name)
		if from == nil || seen[full] {
			return nil, nil
		}
		seen[full] = true
		level := viewLevel{View: view, db: db, alias: from.AsName.O, query: view.Select.(*ast.SelectStmt)}
		table := from.Source.(*ast.TableName)
		if level.alias == "" {
			level.alias = table.Name.O
		}
		u.levels = append([]viewLevel{level}, u.levels...)
		if table.Schema.O != "" {
			db = table.Schema.O
		}
		name, cat = table.Name.O, cat.Permanent()
	}
	if strings.EqualFold(db, "information_schema") || strings.EqualFold(name, "dual") {
		return nil, nil
	}
	var err error
	if u.base, err = cat.Table(db, name); err != nil {
		return nil, nil // a file, or a table that is gone, which reading the view tells
	}
	cols := b.TableColumns(u.base.Schema)
	out, _, err := b.through(u, cols)
	if err != nil {
		return nil, InView(u.db, u.name, err)
	}
	for i, e := range out {
		ordinal := -1
		for o, c := range cols {
			if e == expr.Expr(c) {
				ordinal = o
			}
		}
		u.ordinals = append(u.ordinals, ordinal)
		u.names = append(u.names, u.levels[len(u.levels)-1].Columns[i])
	}
	return u, nil
}

// singleTable returns the table, or view, that a view selects from, if each of its rows is one of that.
func singleTable(v View) *ast.TableSource {
	q, ok := v.Select.(*ast.SelectStmt)
	if !ok || v.IsTempTable || q.Distinct || q.GroupBy != nil || q.Having != nil || q.Limit != nil || q.With != nil || q.From == nil || len(q.WindowSpecs) > 0 ||
		q.Kind != ast.SelectStmtKindSelect || q.From.TableRefs.Right != nil {
		return nil
	}
	from, ok := q.From.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return nil
	}
	t, ok := from.Source.(*ast.TableName)
	if !ok {
		return nil
	}
	list := &rowFinder{}
	for _, f := range q.Fields.Fields {
		if f.Expr != nil {
			f.Expr.Accept(list)
		}
	}
	if list.hasOthers {
		return nil
	}
	if q.Where != nil {
		condition := &rowFinder{table: t}
		if q.Where.Accept(condition); condition.reads {
			return nil
		}
	}
	return from
}

// rowFinder looks for expressions that read other rows than the current one.
type rowFinder struct {
	hasOthers bool // aggregates, windows and subqueries
	table     *ast.TableName
	reads     bool // a subquery reads table
}

func (f *rowFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.AggregateFuncExpr, *ast.WindowFuncExpr, *ast.SubqueryExpr, *ast.ExistsSubqueryExpr:
		f.hasOthers = true
	case *ast.FuncCallExpr:
		f.hasOthers = f.hasOthers || x.FnName.L == "any_value"
	case *ast.TableName:
		f.reads = f.reads || f.table != nil && strings.EqualFold(x.Name.O, f.table.Name.O)
	}
	return n, false
}

func (f *rowFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// through binds what the columns of the view are, and the conditions of its levels (nil: there is none), over columns that stand for the table's.
func (b *Binder) through(u *updatable, cols []*expr.Column) (out, conditions []expr.Expr, err error) {
	locate := b.Locate
	b.Locate = nil // the texts are not the statement's
	defer func() { b.Locate = locate }()
	var names []string
	for i := range u.base.Schema.Columns {
		names = append(names, u.base.Schema.Columns[i].Name)
		out = append(out, cols[i])
	}
	for _, level := range u.levels {
		if err := b.grow(level.query); err != nil {
			return nil, nil, err
		}
		var condition expr.Expr
		if out, condition, err = b.throughLevel(&level, names, out); err != nil {
			return nil, nil, err
		}
		names, conditions = level.Columns, append(conditions, condition)
	}
	return out, conditions, nil
}

// throughLevel does so for one level over what is below it.
func (b *Binder) throughLevel(level *viewLevel, names []string, below []expr.Expr) (out []expr.Expr, condition expr.Expr, err error) {
	defer b.enterView(level.View, level.db)()
	sc := &scope{noAggregates: true, prefer: assignedFirst}
	for i, e := range below {
		sc.aliases = append(sc.aliases, aliasItem{name: names[i], e: e, table: level.alias})
	}
	if level.query.Where != nil {
		if condition, err = b.condition(level.query.Where, sc.within("where clause")); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range level.query.Fields.Fields {
		e, err := b.expr(f.Expr, sc)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, e)
	}
	return out, condition, nil
}

// viewRows binds the rows of a view with the numbers of the table's rows that they are. base are the table's columns.
func (b *Binder) viewRows(u *updatable, alias string) (node logical.Node, cols []scopeColumn, base []*expr.Column, rowID *expr.Column, err error) {
	scan, _ := b.scan(u.base, alias, u.db)
	base = scan.Cols
	rowID = b.rowID(scan)
	out, conditions, err := b.through(u, base)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	node = scan
	for _, c := range conditions {
		if c != nil {
			node = filter(node, c)
		}
	}
	p := &logical.Project{Input: node}
	for i, e := range out {
		c, is := e.(*expr.Column)
		if !is {
			c = b.alloc.New(alias, u.names[i], e.Type(), e.Nullable())
			c.Coercibility = coercibility(e)
			p.Items = append(p.Items, logical.Item{Col: c, Expr: e})
			if long := expr.WithHiddenDigits(e); long != e {
				shown := *c
				shown.Long = b.alloc.New(alias, u.names[i], long.Type(), long.Nullable())
				p.Items = append(p.Items, logical.Item{Col: shown.Long, Expr: long})
				c = &shown
			}
		}
		cols = append(cols, scopeColumn{col: c, db: u.db, table: alias, name: u.names[i]})
	}
	if len(p.Items) > 0 {
		for _, c := range scan.Cols {
			p.Items = append(p.Items, logical.Item{Col: c, Expr: c})
		}
		node = p
	}
	return node, cols, base, rowID, nil
}

// viewChecks binds what WITH CHECK OPTION asks of rows over columns that stand for the table's.
func (b *Binder) viewChecks(u *updatable, cols []*expr.Column) ([]Check, error) {
	if u == nil {
		return nil, nil
	}
	_, conditions, err := b.through(u, cols)
	if err != nil {
		return nil, err
	}
	var checks []Check
	cascaded := false
	for i := len(u.levels) - 1; i >= 0; i-- {
		option := u.levels[i].Check
		cascaded = cascaded || option == CheckCascaded
		if conditions[i] == nil || option == CheckNone && !cascaded {
			continue
		}
		if expr.HasSubquery(conditions[i]) {
			return nil, sqlerr.NotSupportedf("WITH CHECK OPTION of a view with a subquery in its WHERE", "a condition that is checked sees one row")
		}
		checks = append(checks, Check{Name: u.db + "." + u.name, Cond: expr.IsTruth(conditions[i], true), IsView: true})
	}
	return checks, nil
}

// CheckView checks the WITH CHECK OPTION of a view that Catalog has.
func (b *Binder) CheckView(db, name string) error {
	u, err := b.updatable(db, name)
	if err != nil {
		return err
	}
	if u == nil {
		return sqlerr.NonupdateableCheck(db, name)
	}
	_, err = b.viewChecks(u, b.TableColumns(u.base.Schema))
	return err
}

// written is what a statement writes to: a table, or a view over one.
type written struct {
	*table.Version
	view *updatable
}

// name is what the statement calls it.
func (w written) name() string {
	if w.view != nil {
		return w.view.name
	}
	return w.Schema.Name
}

// names returns the names by which the statement knows the table's columns; "": it sees none.
func (w written) names() []string {
	names := make([]string, len(w.Schema.Columns))
	for i := range names {
		if w.view == nil {
			names[i] = w.Schema.Columns[i].Name
		}
	}
	if w.view != nil {
		for i, o := range w.view.ordinals {
			if o >= 0 {
				names[o] = w.view.names[i]
			}
		}
	}
	return names
}

// columns returns the names of all columns that the statement sees, and the ordinals of those of the table that they are (-1: none).
func (w written) columns() (names []string, ordinals []int) {
	if w.view != nil {
		return w.view.names, w.view.ordinals
	}
	for i, name := range w.names() {
		names, ordinals = append(names, name), append(ordinals, i)
	}
	return names, ordinals
}

// insertable says whether a view takes new rows: each of its columns is another one of the table's.
func (u *updatable) insertable() bool {
	seen := map[int]bool{}
	for _, o := range u.ordinals {
		if o < 0 || seen[o] {
			return false
		}
		seen[o] = true
	}
	return true
}
