package bind

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// OnDuplicate is what an INSERT does with a row whose unique key is taken.
type OnDuplicate uint8

// What there is.
const (
	DuplicateError   OnDuplicate = iota
	DuplicateIgnore              // INSERT IGNORE: the row is left out
	DuplicateReplace             // REPLACE: the rows in its way are deleted
	DuplicateUpdate              // ON DUPLICATE KEY UPDATE: the first row in its way is changed
)

// Upsert is the change of ON DUPLICATE KEY UPDATE.
type Upsert struct {
	Old      []*expr.Column // the columns of the row in the table
	New      []*expr.Column // and of the row that was to be inserted: VALUES(column)
	Ordinals []int          // the columns that change
	Exprs    []expr.Expr    // their new values, over Old and New
}

// onDuplicate says what s does with a row whose unique key is taken.
func onDuplicate(s *ast.InsertStmt) OnDuplicate {
	switch {
	case s.IsReplace:
		return DuplicateReplace
	case len(s.OnDuplicate) > 0:
		return DuplicateUpdate
	case s.IgnoreErr:
		return DuplicateIgnore
	}
	return DuplicateError
}

// upsert binds the assignments of ON DUPLICATE KEY UPDATE, which take effect from left to right as those of UPDATE do.
// rel is what is inserted.
func (b *Binder) upsert(s *ast.InsertStmt, ins *Insert, v written, targets []int, rel *relation) error {
	schema, names := ins.Table.Schema, v.names()
	u := &Upsert{New: ins.Query.Cols}
	sc := &scope{clause: "field list", noAggregates: true, inserted: map[string]*expr.Column{}}
	for o := range schema.Columns {
		def := &schema.Columns[o]
		c := b.alloc.New(schema.Name, def.Name, def.Type, def.Nullable)
		u.Old = append(u.Old, c)
		if names[o] != "" {
			sc.cols = append(sc.cols, scopeColumn{col: c, db: schema.Database, table: v.name(), name: names[o]})
			sc.inserted[strings.ToLower(names[o])] = u.New[o]
		}
	}
	if err := b.addAlias(sc, v, u.New, targets); err != nil {
		return err
	}
	if s.Select != nil {
		sc.parent = selected(rel, u.New, targets)
	}
	at := map[int]int{}
	for _, a := range s.OnDuplicate {
		o, err := b.targetColumn(v, a.Column)
		if err != nil {
			return err
		}
		def := &schema.Columns[o]
		if def.Generated != nil {
			if err := mayAssign(schema, def, a.Expr); err != nil {
				return err
			}
			continue
		}
		e, err := b.updated(a.Expr, def, sc)
		if err != nil {
			return err
		}
		if err := standsAlone(e, u); err != nil {
			return err
		}
		e = b.assign(e, def)
		if i, again := at[o]; again {
			u.Exprs[i] = e
		} else {
			at[o] = len(u.Ordinals)
			u.Ordinals, u.Exprs = append(u.Ordinals, o), append(u.Exprs, e)
		}
		sc.assigned(a.Column.Name.O, e)
	}
	ins.Upsert = u
	return nil
}

// addAlias lets the names of a row alias mean the columns of the row that was to be inserted, of which the statement gives those at the
// ordinals of targets.
func (b *Binder) addAlias(sc *scope, v written, news []*expr.Column, targets []int) error {
	if b.Alias == nil {
		return nil
	}
	own, names := v.names(), b.Alias.Columns
	if names != nil && len(names) != len(targets) {
		return sqlerr.ViewColumnList()
	}
	if strings.EqualFold(b.Alias.Name, v.name()) {
		return sqlerr.NonUniqTable(b.Alias.Name)
	}
	first := len(sc.cols)
	for i, o := range targets {
		c := scopeColumn{col: news[o], table: b.Alias.Name, name: own[o]}
		if names != nil {
			c.name = names[i]
		}
		for _, other := range sc.cols[first:] {
			if strings.EqualFold(other.name, c.name) {
				return sqlerr.DupFieldName(c.name)
			}
		}
		sc.cols = append(sc.cols, c)
	}
	return nil
}

// selected is the scope around the assignments of INSERT ... SELECT: the columns of the select list mean the values that were to be
// inserted.
func selected(rel *relation, news []*expr.Column, targets []int) *scope {
	sc := &scope{noAggregates: true}
	for i, o := range targets {
		from := rel.cols[i]
		sc.cols = append(sc.cols, scopeColumn{col: news[o], table: cmp.Or(from.table, from.col.Table), name: from.name})
	}
	return sc
}

// standsAlone refuses subqueries that see the row: those that do not are run once, before the rows are written.
func standsAlone(e expr.Expr, u *Upsert) error {
	if !expr.HasSubquery(e) {
		return nil
	}
	row := map[expr.ColumnID]bool{}
	for _, c := range slices.Concat(u.Old, u.New) {
		row[c.ID] = true
	}
	var err error
	expr.Walk(e, func(e expr.Expr) bool {
		s, is := e.(*expr.Subquery)
		if !is {
			return true
		}
		sees := false
		alone := &logical.Project{Input: logical.OneRow(), Items: []logical.Item{{Expr: s}}}
		for _, id := range alone.FreeColumns() {
			sees = sees || row[id]
		}
		if sees {
			err = sqlerr.NotSupportedf("a subquery that sees the row in ON DUPLICATE KEY UPDATE",
				"select its value into a column of the rows to insert and name that by VALUES(column)")
		}
		return false
	})
	return err
}

// insertedValue binds VALUES(column).
func (b *Binder) insertedValue(x *ast.ValuesExpr, sc *scope) (expr.Expr, error) {
	for s := sc; s != nil; s = s.parent {
		if s.inserted == nil {
			continue
		}
		if c := s.inserted[x.Column.Name.Name.L]; c != nil {
			return c, nil
		}
		return nil, sqlerr.UnknownColumn(x.Column.Name.OrigColName(), sc.clauseName(), sc.suggest(x.Column.Name.Name.O))
	}
	return nil, sqlerr.NotSupportedf("VALUES(column)", "it stands for a value that ON DUPLICATE KEY UPDATE did not insert")
}
