package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Multi is a bound UPDATE or DELETE of rows that a join finds. Query gives, for each target, the number of its row, or NULL
// where an outer join has none. A row may come several times; it is written once, with the values of the first time.
type Multi struct {
	Query   *logical.Query
	Targets []Target
	// Ignores: IGNORE. What cannot be changed or deleted stays as it is, with a warning. An UPDATE's query then gives the new values as they
	// were computed, for Stored, and nothing for Computed and Checks, for which see [Binder.RowRules].
	Ignores bool
}

// Target is a table that an UPDATE or DELETE writes to. Numbers are positions among the columns of the query.
type Target struct {
	Table    *table.Version
	RowID    int
	Ordinals []int // of the columns that change; none: rows are deleted
	Values   []int // their new values
	Computed []Computed
	Checks   []Check
	Stored   []expr.Expr // with IGNORE: the new values in the columns' types
	view     *updatable  // through which the table is written; nil: it is named itself
}

// rowNumber is the name under which a FROM with row numbers shows those of a table. No statement can write it.
const rowNumber = "\x00row number"

// numbered is a table, or a view over one, whose row numbers a FROM shows.
type numbered struct {
	written
	base []*expr.Column // the table's columns
}

// withRowNumber adds the row number id to the columns of a table or view in a FROM.
func (b *Binder) withRowNumber(cols []scopeColumn, t numbered, id *expr.Column, alias, db string) []scopeColumn {
	if b.tables == nil {
		b.tables = map[expr.ColumnID]numbered{}
	}
	b.tables[id.ID] = t
	// merged keeps it out of NATURAL JOIN.
	return append(cols, scopeColumn{col: id, db: db, table: alias, name: rowNumber, merged: true})
}

// rowID adds the row number to what a scan gives.
func (b *Binder) rowID(scan *logical.Scan) *expr.Column {
	id := b.alloc.New(scan.Alias, "row number", types.Int64, false)
	scan.Cols = append(scan.Cols, id)
	scan.Ordinals = append(scan.Ordinals, logical.RowIDOrdinal)
	return id
}

// IsMulti says whether an UPDATE names several tables.
func IsMulti(s *ast.UpdateStmt) bool {
	src, ok := s.TableRefs.TableRefs.Left.(*ast.TableSource)
	if !ok || s.TableRefs.TableRefs.Right != nil {
		return true
	}
	_, isTable := src.Source.(*ast.TableName)
	return !isTable
}

// multi is a Multi while it is bound.
type multi struct {
	*Multi
	b       *Binder
	sc      *scope
	project *logical.Project
	at      map[expr.ColumnID]int // columns of the query
}

// multiRows binds the join and WHERE of an UPDATE or DELETE of several tables. joined, unless it is nil, is called when names of tables
// can be looked up.
func (b *Binder) multiRows(refs *ast.TableRefsClause, where ast.ExprNode, ordered bool, what string, joined func(m *multi) error) (*multi, error) {
	if ordered {
		return nil, sqlerr.New(sqlerr.CodeWrongUsage, sqlerr.User, "Incorrect usage of %s and ORDER BY or LIMIT", what)
	}
	m := &multi{Multi: &Multi{}, b: b, sc: &scope{showsRowNumbers: true, noAggregates: true}, at: map[expr.ColumnID]int{}}
	node, err := b.bindFrom(refs.TableRefs, m.sc)
	if err != nil {
		return nil, err
	}
	m.project = &logical.Project{}
	m.Query = &logical.Query{Root: m.project, Alloc: &b.alloc}
	if joined != nil {
		if err := joined(m); err != nil {
			return nil, err
		}
	}
	if where != nil {
		cond, err := b.condition(where, m.sc.within("where clause"))
		if err != nil {
			return nil, err
		}
		node = filter(node, cond)
	}
	m.project.Input = node
	return m, nil
}

// give makes e, or the column that it is, one of the query's and returns its position.
func (m *multi) give(e expr.Expr, name string) int {
	c, is := e.(*expr.Column)
	if !is {
		c = m.b.alloc.New("", name, e.Type(), e.Nullable())
	}
	if i, have := m.at[c.ID]; have {
		return i
	}
	i := len(m.Query.Cols)
	m.at[c.ID] = i
	m.project.Items = append(m.project.Items, logical.Item{Col: c, Expr: e})
	m.Query.Cols, m.Query.Names = append(m.Query.Cols, c), append(m.Query.Names, name)
	return i
}

// target returns the target of a table's alias; the names are as the statement writes them.
func (m *multi) target(db, alias string) (int, bool) {
	found := m.sc.lookup(db, alias, rowNumber)
	if alias == "" || len(found) != 1 {
		return 0, false
	}
	position := m.give(found[0].col, rowNumber)
	for i := range m.Targets {
		if m.Targets[i].RowID == position {
			return i, true
		}
	}
	t := m.b.tables[found[0].col.ID]
	m.Targets = append(m.Targets, Target{Table: t.Version, RowID: position, view: t.view})
	return len(m.Targets) - 1, true
}

// UpdateMulti binds an UPDATE of joined tables. Every new value is computed from the values that were there before.
func (b *Binder) UpdateMulti(s *ast.UpdateStmt) (*Multi, error) {
	b.lenient = s.IgnoreErr
	leave, err := b.enterWith(s.With, nil)
	if err != nil {
		return nil, err
	}
	defer leave()
	m, err := b.multiRows(s.TableRefs, s.Where, s.Order != nil || s.Limit != nil, "UPDATE", nil)
	if err != nil {
		return nil, err
	}
	for _, a := range s.List {
		found := m.sc.lookup(a.Column.Schema.O, a.Column.Table.O, a.Column.Name.O)
		switch {
		case len(found) == 0:
			return nil, b.at(sqlerr.UnknownColumn(a.Column.OrigColName(), "field list", m.sc.suggest(a.Column.Name.O)), a.Column)
		case len(found) > 1:
			return nil, b.at(sqlerr.AmbiguousColumn(a.Column.OrigColName(), "field list"), a.Column)
		}
		i, ok := m.target(found[0].db, found[0].table)
		if !ok {
			return nil, b.at(sqlerr.NotUpdatable(found[0].table, "UPDATE"), a.Column)
		}
		t := &m.Targets[i]
		o, err := b.targetColumn(written{t.Table, t.view}, a.Column)
		if err != nil {
			return nil, err
		}
		def := &t.Table.Schema.Columns[o]
		if def.Generated != nil {
			if err := mayAssign(t.Table.Schema, def, a.Expr); err != nil {
				return nil, err
			}
			continue
		}
		e, err := b.updated(a.Expr, def, m.sc)
		if err != nil {
			return nil, err
		}
		if !s.IgnoreErr {
			e = b.assign(e, def)
		}
		value := m.give(fresh(e), def.Name)
		if i := slices.Index(t.Ordinals, o); i >= 0 { // the last assignment counts
			t.Values[i] = value
			continue
		}
		t.Ordinals, t.Values = append(t.Ordinals, o), append(t.Values, value)
	}
	if m.Ignores = s.IgnoreErr; m.Ignores {
		for i := range m.Targets {
			b.storeLater(&m.Targets[i], m.Query)
		}
		return m.Multi, nil
	}
	for i := range m.Targets {
		if err := m.compute(&m.Targets[i]); err != nil {
			return nil, err
		}
		if err := m.check(&m.Targets[i]); err != nil {
			return nil, err
		}
	}
	return m.Multi, nil
}

// fresh keeps a plain column from being taken for the one of its table: a cast to its own type has a column of its own.
func fresh(e expr.Expr) expr.Expr {
	if _, is := e.(*expr.Column); is {
		return &expr.Cast{Arg: e, To: e.Type()}
	}
	return e
}

// columns returns the columns of a target's row as it was. Where it stands on the optional side of an outer join they can be NULL.
func (m *multi) columns(t *Target) []*expr.Column {
	base := m.b.tables[m.Query.Cols[t.RowID].ID].base
	cols := make([]*expr.Column, len(base))
	for o, c := range base {
		own := *c
		own.Null = true
		cols[o] = &own
		for _, s := range m.sc.cols {
			if s.col.ID == c.ID {
				cols[o] = s.col
			}
		}
	}
	return cols
}

// compute binds what a target computes besides what is assigned.
func (m *multi) compute(t *Target) error {
	w := &updating{b: m.b, schema: t.Table.Schema, old: m.columns(t), now: m.columns(t), assigned: t.Ordinals}
	for i, o := range t.Ordinals {
		w.now[o] = m.Query.Cols[t.Values[i]]
	}
	w.give = func(e expr.Expr, name string) (*expr.Column, int) {
		i := m.give(e, name)
		return m.Query.Cols[i], i
	}
	ordinals, slots, computed, err := w.compute()
	t.Ordinals, t.Values, t.Computed = append(t.Ordinals, ordinals...), append(t.Values, slots...), computed
	return err
}

// check binds the checks of a target over its row as it will be.
func (m *multi) check(t *Target) error {
	cols := m.columns(t)
	for i, o := range t.Ordinals {
		cols[o] = m.Query.Cols[t.Values[i]]
	}
	checks, err := m.b.targetChecks(t, cols)
	if err != nil {
		return err
	}
	for _, c := range checks {
		expr.Walk(c.Cond, func(e expr.Expr) bool {
			if c, is := e.(*expr.Column); is {
				m.give(c, c.Name)
			}
			return true
		})
	}
	t.Checks = checks
	return nil
}

// DeleteMulti binds a DELETE from joined tables.
func (b *Binder) DeleteMulti(s *ast.DeleteStmt) (*Multi, error) {
	leave, err := b.enterWith(s.With, nil)
	if err != nil {
		return nil, err
	}
	defer leave()
	m, err := b.multiRows(s.TableRefs, s.Where, s.Order != nil || s.Limit != nil, "DELETE", func(m *multi) error {
		for _, t := range s.Tables.Tables {
			if _, ok := m.target(t.Schema.O, t.Name.O); !ok {
				return b.at(m.notDeletable(t), t)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.Ignores = s.IgnoreErr
	return m.Multi, nil
}

// notDeletable is the error of a name in a DELETE of several tables that is none of their tables.
func (m *multi) notDeletable(t *ast.TableName) *sqlerr.Error {
	if slices.ContainsFunc(m.sc.cols, func(c scopeColumn) bool { return strings.EqualFold(c.table, t.Name.O) }) {
		return sqlerr.NotUpdatable(t.Name.O, "DELETE")
	}
	return sqlerr.New(sqlerr.CodeUnknownTableIn, sqlerr.User, "Unknown table '%s' in MULTI DELETE", t.Name.O).
		WithHint("name tables by their aliases, and list each one after USING or in the join too: DELETE FROM t USING t JOIN u ON ...")
}
