package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

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
func onDuplicate(s *ast.InsertStmt) (OnDuplicate, error) {
	switch {
	case s.IsReplace:
		return DuplicateReplace, nil
	case len(s.OnDuplicate) > 0 && s.IgnoreErr:
		return 0, sqlerr.NotSupportedf("INSERT IGNORE with ON DUPLICATE KEY UPDATE", "leave IGNORE out: no key can be taken")
	case len(s.OnDuplicate) > 0:
		return DuplicateUpdate, nil
	case s.IgnoreErr:
		return DuplicateIgnore, nil
	}
	return DuplicateError, nil
}

// upsert binds the assignments of ON DUPLICATE KEY UPDATE, which take effect from left to right as those of UPDATE do.
func (b *Binder) upsert(s *ast.InsertStmt, ins *Insert) error {
	schema := ins.Table.Schema
	u := &Upsert{New: ins.Query.Cols}
	sc := &scope{clause: "field list", noAggregates: true, inserted: map[string]*expr.Column{}}
	for o := range schema.Columns {
		def := &schema.Columns[o]
		c := b.alloc.New(schema.Name, def.Name, def.Type, def.Nullable)
		u.Old = append(u.Old, c)
		sc.cols = append(sc.cols, scopeColumn{col: c, db: schema.Database, table: schema.Name, name: def.Name})
		sc.inserted[strings.ToLower(def.Name)] = u.New[o]
	}
	at := map[int]int{}
	for _, a := range s.OnDuplicate {
		o, err := b.targetColumn(schema, a.Column)
		if err != nil {
			return err
		}
		def := &schema.Columns[o]
		e, err := b.valueOrDefault(a.Expr, def, sc)
		if err != nil {
			return err
		}
		if hasSubquery(e) {
			return sqlerr.NotSupportedf("a subquery in ON DUPLICATE KEY UPDATE", "select its value into a column of the rows to insert and name that by VALUES(column)")
		}
		e = b.assign(e, def)
		if i, again := at[o]; again {
			u.Exprs[i] = e
		} else {
			at[o] = len(u.Ordinals)
			u.Ordinals, u.Exprs = append(u.Ordinals, o), append(u.Exprs, e)
		}
		sc.assigned(o, e)
	}
	ins.Upsert = u
	return nil
}

func hasSubquery(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		_, is := e.(*expr.Subquery)
		found = found || is
		return !found
	})
	return found
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
