package session

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/locks"
	"github.com/radish-sql/radish/engine/targets"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
)

// ReleaseTables gives back what LOCK TABLES has locked.
func (s *Session) ReleaseTables() {
	if s.Locked != nil {
		s.Locked = nil
		s.DB.TableLocks.Release(s.ID)
	}
}

// settled waits until the statement may use its tables, and returns the catalog of a moment when it might: nobody who has locked one of
// them since has changed it there.
func (s *Session) settled(st *Statement) (*catalog.Snapshot, error) {
	for {
		taken := s.DB.TableLocks.TimesTaken()
		if err := s.mayUse(st); err != nil {
			return nil, err
		}
		if snap := s.DB.Catalog.Load(); s.DB.TableLocks.TimesTaken() == taken {
			return snap, nil
		}
	}
}

// mayUse waits until the statement may use its tables. A session that has locked tables may use no others.
func (s *Session) mayUse(st *Statement) error {
	tables := s.DB.TableLocks
	if _, is := st.Node.(*ast.LockTablesStmt); is || s.Locked == nil && !tables.IsHeld() {
		return nil
	}
	named, all := s.uses(st.Node)
	if s.Locked == nil {
		return tables.Await(st.Context, s.ID, all, s.Vars.LockWait())
	}
	for _, u := range named {
		switch write, have := s.Locked[u.Table]; {
		case !have:
			return sqlerr.TableNotLocked(u.Table.Name)
		case u.Writes && !write:
			return sqlerr.TableLockedForReading(u.Table.Name)
		}
	}
	return nil
}

// uses returns what a statement does with the tables and views that it names, and with those and the tables below the views.
func (s *Session) uses(n ast.StmtNode) (named, all []locks.Use) {
	f := tableFinder{expressions: map[string]bool{}}
	n.Accept(&f)
	writes := s.written(n)
	snap := s.Snapshot()
	for _, t := range f.tables {
		db, name, err := s.Qualify(t)
		if err != nil || t.Schema.O == "" && f.expressions[t.Name.L] || s.Shadowing(db, name) != "" {
			continue
		}
		if _, _, err := snap.Lookup(db, name); err != nil {
			continue // a file, of information_schema, an alias, or an error that the statement will give
		}
		u := locks.Use{Table: catalog.NewTableID(db, name), Writes: writes(t)}
		named = append(named, u)
		all = s.Expand(all, snap, u)
	}
	if drop, is := n.(*ast.DropDatabaseStmt); is {
		for _, name := range snap.Tables(drop.Name.O) {
			named = append(named, locks.Use{Table: catalog.NewTableID(drop.Name.L, name), Writes: true})
		}
		all = append(all, named...)
	}
	return named, all
}

// written says which of a statement's tables it changes.
func (s *Session) written(n ast.StmtNode) func(*ast.TableName) bool {
	within := func(parts ...ast.Node) func(*ast.TableName) bool {
		var f tableFinder
		for _, p := range parts {
			p.Accept(&f)
		}
		return func(t *ast.TableName) bool {
			for _, x := range f.tables {
				if x == t {
					return true
				}
			}
			return false
		}
	}
	// sources are those of a FROM that changed names.
	sources := func(from *ast.TableRefsClause, changed func(*targets.Table) bool) func(*ast.TableName) bool {
		all := targets.Sources(from.TableRefs)
		if len(all) == 1 || changed == nil {
			return within(from)
		}
		var parts []ast.Node
		for _, source := range all {
			if t := targets.TableOf(source, s.SchemaNamed); t != nil && changed(t) {
				parts = append(parts, source)
			}
		}
		return within(parts...)
	}
	switch x := n.(type) {
	case *ast.InsertStmt:
		return within(x.Table)
	case *ast.UpdateStmt:
		return sources(x.TableRefs, targets.Updated(x))
	case *ast.DeleteStmt:
		return sources(x.TableRefs, targets.Deleted(x))
	case *ast.CreateTableStmt:
		return within(x.Table)
	case *ast.CreateViewStmt:
		return within(x.ViewName)
	case *ast.LoadDataStmt:
		return within(x.Table)
	case *ast.ImportIntoStmt:
		return within(x.Table)
	}
	reads := accessOf(n) == accessRead
	return func(*ast.TableName) bool { return !reads }
}

// Expand adds a use, and if it is one of a view those of the tables below it.
func (s *Session) Expand(uses []locks.Use, snap *catalog.Snapshot, u locks.Use) []locks.Use {
	for _, have := range uses {
		if have == u {
			return uses
		}
	}
	uses = append(uses, u)
	_, view, err := snap.Lookup(u.Table.Database, u.Table.Name)
	if err != nil || view == nil {
		return uses
	}
	query, err := parse.One(view.SQL, parse.DefaultMode)
	if err != nil {
		return uses
	}
	f := tableFinder{expressions: map[string]bool{}}
	query.Node.Accept(&f)
	for _, t := range f.tables {
		id := catalog.NewTableID(t.Schema.L, t.Name.L)
		if id.Database == "" {
			if f.expressions[id.Name] {
				continue
			}
			id.Database = u.Table.Database
		}
		uses = s.Expand(uses, snap, locks.Use{Table: id, Writes: u.Writes})
	}
	return uses
}

// tableFinder collects the names of tables in a tree, and those of its common table expressions.
type tableFinder struct {
	tables      []*ast.TableName
	expressions map[string]bool
}

// Enter is part of ast.Visitor.
func (f *tableFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableName:
		f.tables = append(f.tables, x)
	case *ast.CommonTableExpression:
		if f.expressions != nil {
			f.expressions[x.Name.L] = true
		}
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (f *tableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
