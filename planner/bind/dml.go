package bind

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Insert is a bound INSERT: the table, and a query that gives one column for each column of the table, of its type.
type Insert struct {
	Table       *table.Version
	Query       *logical.Query
	OnDuplicate OnDuplicate
	Upsert      *Upsert // of DuplicateUpdate
	Ignores     bool    // IGNORE: what cannot be stored is left out, with a warning
	Computed    []Computed
	Checks      []Check // over the columns of Query
	Given       []int   // the ordinals of the columns that the rows of VALUES give, in their order
}

// Update is a bound UPDATE of one table. Query gives the row number first, then the new values, and then what Computed and Checks of
// the target need besides.
type Update struct {
	Target
	Query   *logical.Query
	Ignores bool // as Multi.Ignores
}

// Delete is a bound DELETE from one table. Query gives the row numbers.
type Delete struct {
	Table *table.Version
	Query *logical.Query
}

// Insert binds INSERT and REPLACE ... VALUES, ... SET and ... SELECT.
func (b *Binder) Insert(s *ast.InsertStmt) (*Insert, error) {
	if len(s.PartitionNames) > 0 {
		return nil, noPartitions()
	}
	action := onDuplicate(s)
	b.lenient = s.IgnoreErr
	v, err := b.target(s.Table, "INSERT")
	if err != nil {
		return nil, err
	}
	targets, err := b.targetColumns(v, s.Columns)
	if err != nil {
		return nil, err
	}
	var rel *relation
	var given []int
	if s.Select != nil {
		for _, o := range targets {
			if err := mayAssign(v.Schema, &v.Schema.Columns[o], nil); err != nil {
				return nil, err
			}
		}
		rel, err = b.bindQuery(s.Select, nil)
		if err == nil && len(rel.cols) != len(targets) {
			err = sqlerr.WrongValueCount(1)
		}
	} else {
		rel, err = b.insertValues(s, v, &targets)
		given = targets
	}
	if err != nil {
		return nil, err
	}
	p := &logical.Project{Input: rel.node}
	q := &logical.Query{Root: p, Alloc: &b.alloc}
	source := map[int]expr.Expr{}
	for i, o := range targets {
		source[o] = rel.selected(i)
	}
	for o := range v.Schema.Columns {
		def := &v.Schema.Columns[o]
		var e expr.Expr
		if c, given := source[o]; given {
			e = b.assign(c, def)
		} else if e, err = b.columnDefault(def); err != nil {
			if v.view != nil && errors.Is(err, sqlerr.CodeNoDefaultForField) && !slices.Contains(v.view.ordinals, o) {
				err = sqlerr.NoDefaultForView(v.view.db, v.view.name)
			}
			return nil, err
		}
		c := b.alloc.New("", def.Name, def.Type, e.Nullable())
		p.Items = append(p.Items, logical.Item{Col: c, Expr: e})
		q.Cols = append(q.Cols, c)
		q.Names = append(q.Names, def.Name)
	}
	ins := &Insert{Table: v.Version, Query: q, OnDuplicate: action, Ignores: s.IgnoreErr, Given: given}
	if ins.Checks, err = b.targetChecks(&Target{Table: v.Version, view: v.view}, q.Cols); err != nil {
		return nil, err
	}
	if ins.Computed, err = b.Generated(v.Schema, q.Cols); err != nil {
		return nil, err
	}
	if action == DuplicateUpdate {
		err = b.upsert(s, ins, v, targets, rel)
	}
	return ins, err
}

// insertValues binds the rows of VALUES; DEFAULT stands for the column's default, an empty row for all defaults.
func (b *Binder) insertValues(s *ast.InsertStmt, into written, targets *[]int) (*relation, error) {
	schema := into.Schema
	earlier := &insertedRow{b: b, into: into}
	sc := &scope{clause: "field list", noAggregates: true, earlier: earlier}
	if len(s.Lists) > 0 && len(s.Lists[0]) == 0 && len(s.Columns) == 0 {
		*targets = nil // INSERT INTO t VALUES (), ()
	}
	v := &logical.Values{First: b.RowsBefore}
	rel := &relation{node: v}
	for r, list := range s.Lists {
		if r%1024 == 0 {
			if err := b.Ctx.Interrupted(); err != nil {
				return nil, err
			}
		}
		if len(list) != len(*targets) {
			err := sqlerr.WrongValueCount(int(b.RowsBefore) + r + 1)
			if len(list) == 0 {
				return nil, err
			}
			return nil, b.at(err, list[0])
		}
		row := make([]expr.Expr, len(list))
		earlier.row, earlier.targets = row, *targets
		for i, n := range list {
			def := &schema.Columns[(*targets)[i]]
			if err := mayAssign(schema, def, n); err != nil {
				return nil, err
			}
			e, err := b.inserted(n, def, sc)
			if err != nil {
				return nil, err
			}
			row[i] = b.assign(e, def)
		}
		v.Rows = append(v.Rows, row)
	}
	for i, o := range *targets {
		def := &schema.Columns[o]
		nullable := b.Rows != nil // perhaps: what is bound here holds for all rows
		for _, row := range v.Rows {
			nullable = nullable || row[i].Nullable()
		}
		c := b.alloc.New("", def.Name, def.Type, nullable)
		v.Cols = append(v.Cols, c)
		rel.cols = append(rel.cols, scopeColumn{col: c, name: def.Name})
	}
	return rel, nil
}

// inserted binds the value of a column in a new row. DEFAULT of an AUTO_INCREMENT column is NULL, of which storing makes the next number, or
// under NO_AUTO_VALUE_ON_ZERO 0.
func (b *Binder) inserted(n ast.ExprNode, def *table.ColumnDef, sc *scope) (expr.Expr, error) {
	switch {
	case !isDefault(n):
		return b.expr(n, sc)
	case def.IsAutoIncrement && b.Ctx.SQLMode&expr.ModeNoAutoValueOnZero != 0:
		return implicitDefault(def, true)
	}
	return b.columnDefault(def)
}

// updated binds the value that a row that is there gets in a column. DEFAULT of an AUTO_INCREMENT column is 0, as in MySQL.
func (b *Binder) updated(n ast.ExprNode, def *table.ColumnDef, sc *scope) (expr.Expr, error) {
	switch {
	case !isDefault(n):
		return b.expr(n, sc)
	case def.IsAutoIncrement:
		return implicitDefault(def, true)
	}
	return b.columnDefault(def)
}

func isDefault(n ast.ExprNode) bool {
	d, ok := n.(*ast.DefaultExpr)
	return ok && d.Name == nil
}

// assign converts e for storing it in a column: strictly, as sql_mode says, unless IGNORE makes warnings of errors.
func (b *Binder) assign(e expr.Expr, def *table.ColumnDef) expr.Expr {
	if e.Type() == def.Type {
		return e
	}
	return &expr.Cast{Arg: expr.BitsStored(e, def.Type), To: def.Type, Strict: b.Ctx.SQLMode&expr.ModeStrict != 0 && !b.lenient, Column: def.Name}
}

// columnDefault returns a column's default as an expression of the column's type.
func (b *Binder) columnDefault(def *table.ColumnDef) (expr.Expr, error) {
	switch {
	case def.Default == nil && (def.Nullable || def.IsAutoIncrement || def.Generated != nil):
		return &expr.Const{Value: types.NullOf(def.Type)}, nil
	case def.Default == nil:
		return nil, sqlerr.NoDefaultForField(def.Name)
	case def.Default.Expr == "":
		return &expr.Const{Value: def.Default.Value}, nil
	}
	text, err := parseExpr(def.Default.Expr)
	if err != nil {
		return nil, err
	}
	e, err := b.expr(text, &scope{clause: "default", noAggregates: true})
	if err != nil {
		return nil, err
	}
	return b.assign(e, def), nil
}

// target resolves the single table, or view over one, that a statement writes to; operation is what errors call the statement.
func (b *Binder) target(refs *ast.TableRefsClause, operation string) (written, error) {
	src, ok := refs.TableRefs.Left.(*ast.TableSource)
	if !ok || refs.TableRefs.Right != nil {
		return written{}, sqlerr.NotSupportedf("writing to several tables", "write to one table at a time")
	}
	name, ok := src.Source.(*ast.TableName)
	if !ok {
		return written{}, sqlerr.NotSupportedf("writing to a derived table", "name a base table")
	}
	if len(name.PartitionNames) > 0 {
		return written{}, b.at(noPartitions(), name)
	}
	db := name.Schema.O
	if db == "" {
		if db = b.Database; db == "" {
			return written{}, b.at(sqlerr.NoDatabaseSelected(), name)
		}
	}
	if strings.EqualFold(db, "information_schema") {
		return written{}, b.at(sqlerr.NotSupportedf("writing to information_schema", "it shows what CREATE, DROP and SET change"), name)
	}
	if view, isView := b.Catalog.View(db, name.Name.O); isView {
		u, err := b.updatable(db, name.Name.O)
		if err == nil && u == nil { // perhaps what it is over is gone
			_, err = b.bindView(view, db, name.Name.O, name.Name.O, &scope{})
		}
		switch {
		case err != nil:
			return written{}, b.at(err, name)
		case operation == "INSERT" && (u == nil || !u.insertable()):
			return written{}, b.at(sqlerr.NotInsertable(name.Name.O), name)
		case u == nil:
			return written{}, b.at(sqlerr.NotUpdatable(name.Name.O, operation), name)
		}
		return written{u.base, u}, nil
	}
	v, err := b.Catalog.Table(db, name.Name.O)
	if err == nil {
		err = knownKeys(name, v.Schema)
	}
	return written{Version: v}, b.at(err, name)
}

// noPartitions is the error of PARTITION (...) behind a table that is written.
func noPartitions() *sqlerr.Error {
	return sqlerr.New(sqlerr.CodePartitionClause, sqlerr.User, "PARTITION () clause on non partitioned table").WithHint("Radish has no partitioned tables: leave PARTITION out")
}

// InsertColumns returns the names of the columns of a table or view that takes new rows.
func (b *Binder) InsertColumns(refs *ast.TableRefsClause) ([]string, error) {
	v, err := b.target(refs, "INSERT")
	if err != nil {
		return nil, err
	}
	names, _ := v.columns()
	return names, nil
}

// targetColumns returns the ordinals that an INSERT names: all columns if it names none.
func (b *Binder) targetColumns(v written, names []*ast.ColumnName) ([]int, error) {
	if len(names) == 0 {
		_, ordinals := v.columns()
		return ordinals, nil
	}
	var out []int
	seen := map[int]bool{}
	for _, n := range names {
		o, err := b.targetColumn(v, n)
		if err != nil {
			return nil, err
		}
		if seen[o] {
			return nil, sqlerr.FieldSpecifiedTwice(n.Name.O)
		}
		seen[o] = true
		out = append(out, o)
	}
	return out, nil
}

// targetColumn returns the ordinal of a column that a statement assigns to.
func (b *Binder) targetColumn(v written, n *ast.ColumnName) (int, error) {
	if v.view == nil {
		if o := v.Schema.Ordinal(n.Name.O); o >= 0 {
			return o, nil
		}
	}
	names, ordinals := v.columns()
	for i, name := range names {
		if !strings.EqualFold(name, n.Name.O) {
			continue
		}
		if ordinals[i] < 0 {
			return 0, b.at(sqlerr.ColumnNotUpdatable(n.Name.O), n)
		}
		return ordinals[i], nil
	}
	return 0, b.at(sqlerr.UnknownColumn(n.OrigColName(), "field list", sqlerr.Suggest(n.Name.O, names)), n)
}

// touched are the rows that an UPDATE or DELETE of one table is about.
type touched struct {
	written
	node  logical.Node
	rowID *expr.Column
	base  []*expr.Column // the table's columns
	scope *scope         // what the statement calls them
}

// targetRows binds the rows of the target that an UPDATE or DELETE touches: a scan with row numbers, filtered, ordered
// and limited.
func (b *Binder) targetRows(
	refs *ast.TableRefsClause, operation string, where ast.ExprNode, order *ast.OrderByClause, limit *ast.Limit,
) (t touched, err error) {
	if t.written, err = b.target(refs, operation); err != nil {
		return t, err
	}
	src := refs.TableRefs.Left.(*ast.TableSource)
	name := src.Source.(*ast.TableName)
	alias := src.AsName.O
	if alias == "" {
		alias = name.Name.O
	}
	db := name.Schema.O
	if db == "" {
		db = b.Database
	}
	sc := &scope{}
	var node logical.Node
	if t.view != nil {
		if node, sc.cols, t.base, t.rowID, err = b.viewRows(t.view, alias); err != nil {
			return t, err
		}
	} else {
		scan, cols := b.scan(t.Version, alias, db)
		t.base = scan.Cols
		t.rowID = b.rowID(scan)
		node, sc.cols = scan, cols
	}
	t.scope = sc
	if where != nil {
		in := sc.within("where clause")
		in.noAggregates = true
		cond, err := b.condition(where, in)
		if err != nil {
			return t, err
		}
		node = filter(node, cond)
	}
	keys, err := b.bindOrderBy(order, sc, nil)
	if err != nil {
		return t, err
	}
	if len(keys) > 0 {
		s := &logical.Sort{Input: node, Count: logical.NoLimit}
		for _, k := range keys {
			s.Keys = append(s.Keys, logical.SortKey{Expr: expr.CollationKey(k.e), Desc: k.desc})
		}
		node = s
	}
	count, offset, err := b.limit(limit)
	if err != nil {
		return t, err
	}
	if count != logical.NoLimit || offset > 0 {
		node = &logical.Limit{Input: node, Count: count, Offset: offset}
	}
	t.node = node
	return t, nil
}

// Update binds UPDATE of one table.
func (b *Binder) Update(s *ast.UpdateStmt) (*Update, error) {
	b.lenient = s.IgnoreErr
	leave, err := b.enterWith(s.With, nil)
	if err != nil {
		return nil, err
	}
	defer leave()
	rows, err := b.targetRows(s.TableRefs, "UPDATE", s.Where, s.Order, s.Limit)
	if err != nil {
		return nil, err
	}
	schema, sc := rows.Schema, rows.scope
	sc.noAggregates = true
	u := &Update{Target: Target{Table: rows.Version, view: rows.view}, Ignores: s.IgnoreErr}
	q := rows.query(b)
	p := q.Root.(*logical.Project)
	at := map[int]int{}
	for _, a := range s.List {
		if _, err := b.resolve(a.Column, sc); err != nil {
			return nil, b.at(err, a.Column)
		}
		o, err := b.targetColumn(rows.written, a.Column)
		if err != nil {
			return nil, err
		}
		def := &schema.Columns[o]
		if def.Generated != nil {
			if err := mayAssign(schema, def, a.Expr); err != nil {
				return nil, err
			}
			continue
		}
		given, err := b.updated(a.Expr, def, sc)
		if err != nil {
			return nil, err
		}
		e := b.assign(given, def)
		if !u.Ignores {
			given = e
		}
		// Assignments take effect from left to right: a later one sees what an earlier one set (MySQL manual, UPDATE).
		c := b.alloc.New("", def.Name, given.Type(), given.Nullable())
		if i, again := at[o]; again {
			p.Items[i] = logical.Item{Col: c, Expr: given}
			q.Cols[i] = c
		} else {
			at[o] = len(p.Items)
			u.Ordinals, u.Values = append(u.Ordinals, o), append(u.Values, len(p.Items))
			p.Items = append(p.Items, logical.Item{Col: c, Expr: given})
			q.Cols = append(q.Cols, c)
			q.Names = append(q.Names, def.Name)
		}
		sc.assigned(a.Column.Name.O, e)
	}
	u.Query = q
	if u.Ignores {
		b.storeLater(&u.Target, q)
		return u, nil
	}
	if err := b.computeUpdate(u, rows.base); err != nil {
		return nil, err
	}
	return u, b.checkUpdate(u, rows.base)
}

// query gives the numbers of the rows.
func (t *touched) query(b *Binder) *logical.Query {
	p := &logical.Project{Input: t.node, Items: []logical.Item{{Col: t.rowID, Expr: t.rowID}}}
	return &logical.Query{Root: p, Cols: []*expr.Column{t.rowID}, Names: []string{t.rowID.Name}, Alloc: &b.alloc}
}

// storeLater binds the conversions of values that the query of an UPDATE IGNORE gives.
func (b *Binder) storeLater(t *Target, q *logical.Query) {
	for i, o := range t.Ordinals {
		t.Stored = append(t.Stored, b.assign(q.Cols[t.Values[i]], &t.Table.Schema.Columns[o]))
	}
}

// RowRules binds what is computed in rows of a target, and their checks, over columns that stand for the table's.
func (b *Binder) RowRules(t *Target, cols []*expr.Column) ([]Computed, []Check, error) {
	computed, err := b.Generated(t.Table.Schema, cols)
	if err != nil {
		return nil, nil, err
	}
	checks, err := b.targetChecks(t, cols)
	return computed, checks, err
}

// assigned makes a column's name mean e from now on.
func (s *scope) assigned(name string, e expr.Expr) {
	for _, c := range s.lookup("", s.cols[0].table, name) { // the columns of what is written come first
		name = c.name
	}
	s.aliases = slices.DeleteFunc(s.aliases, func(a aliasItem) bool { return a.name == name })
	s.aliases = append(s.aliases, aliasItem{name: name, e: e, table: s.cols[0].table})
	s.prefer = assignedFirst
}

// Delete binds DELETE from one table.
func (b *Binder) Delete(s *ast.DeleteStmt) (*Delete, error) {
	leave, err := b.enterWith(s.With, nil)
	if err != nil {
		return nil, err
	}
	defer leave()
	rows, err := b.targetRows(s.TableRefs, "DELETE", s.Where, s.Order, s.Limit)
	if err != nil {
		return nil, err
	}
	return &Delete{Table: rows.Version, Query: rows.query(b)}, nil
}
