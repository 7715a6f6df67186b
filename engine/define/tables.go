package define

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/change"
	"github.com/radish-sql/radish/engine/ddl"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// withDatabaseOptions applies the options of CREATE DATABASE.
func withDatabaseOptions(snap *catalog.Snapshot, db string, options []*ast.DatabaseOption) (*catalog.Snapshot, error) {
	for _, o := range options {
		if o.Tp != ast.DatabaseOptionCollate {
			continue
		}
		c, err := expr.ParseStringCollation(o.Value)
		if err != nil {
			return nil, err
		}
		if snap, err = snap.WithCollation(db, c); err != nil {
			return nil, err
		}
	}
	return snap, nil
}

// CreateTable runs CREATE TABLE, with LIKE and with a query, and CREATE TEMPORARY TABLE.
func CreateTable(st *session.Statement, n *ast.CreateTableStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	db, name, err := s.Qualify(n.Table)
	if err != nil {
		return nil, err
	}
	snap := s.Snapshot()
	dbName, err := snap.DatabaseName(db)
	if err != nil {
		return nil, err
	}
	taken := n.TemporaryKeyword == ast.TemporaryLocal && s.Shadowing(db, name) != ""
	if n.TemporaryKeyword == ast.TemporaryNone && snap.Exists(db, name) {
		taken = true
	}
	if taken {
		if n.IfNotExists {
			s.Warnings.AddNote(sqlerr.TableExists(name))
			return &result.Result{}, nil
		}
		return nil, sqlerr.TableExists(name)
	}
	switch {
	case n.TemporaryKeyword == ast.TemporaryGlobal:
		return nil, sqlerr.NotSupportedf("a GLOBAL TEMPORARY table", "CREATE TEMPORARY TABLE makes one for the session")
	case n.Partition != nil:
		return nil, sqlerr.NotSupportedf("PARTITION BY", "tables are kept in row groups with zone maps instead")
	}
	if n.TemporaryKeyword == ast.TemporaryLocal {
		dbName = s.HiddenDatabase(dbName)
	}
	schema, err := newDefinition(s, snap, n, dbName, name, s.DatabaseCollation(db))
	if err != nil {
		return nil, err
	}
	q, err := ddl.Create(st, snap, schema, n)
	if err != nil {
		return nil, err
	}
	schema = schema.Own()
	v := table.New(schema)
	for _, o := range n.Options {
		if o.Tp == ast.TableOptionAutoIncrement && o.UintValue > 1 && schema.AutoIncrement() >= 0 {
			v.SkipAuto(int64(min(o.UintValue, 1<<63-1)) - 1)
		}
	}
	var rows int64
	if q != nil {
		if v, rows, err = fillNew(st, v, q); err != nil {
			return nil, err
		}
	}
	if n.TemporaryKeyword == ast.TemporaryLocal {
		return &result.Result{RowsAffected: rows}, s.AddTemporary(st, v, db)
	}
	return &result.Result{RowsAffected: rows}, st.Publish("CREATE TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		return snap.CreateTable(v)
	})
}

// newDefinition begins the definition of the table that a statement makes in a database: with the definition that LIKE names, or with the collation of its database.
func newDefinition(s *session.Session, snap *catalog.Snapshot, n *ast.CreateTableStmt, db, name string, collation types.Collation) (*table.Schema, error) {
	if n.ReferTable == nil {
		return &table.Schema{Database: db, Name: name, Collation: collation}, nil
	}
	fromDB, from, err := s.Find(n.ReferTable)
	if err != nil {
		return nil, err
	}
	v, err := snap.Table(fromDB, from)
	if err != nil {
		return nil, err
	}
	return ddl.Like(v.Schema, db, name), nil
}

// fillNew fills a new table from a query.
func fillNew(st *session.Statement, v *table.Version, q *logical.Query) (filled *table.Version, rows int64, err error) {
	s := st.Session
	computed, checks, err := st.Binder().TableRules(v.Schema, q.Cols)
	if err != nil {
		return nil, 0, err
	}
	rules, err := write.NewRules(st, v, computed, checks, q.Cols)
	if err != nil {
		return nil, 0, err
	}
	if !s.Checking { // else the table stays empty
		if v, rows, err = change.Fill(st, v, q, "CREATE TABLE", rules); err != nil {
			return nil, 0, err
		}
		rules.Settle()
	}
	return v, rows, write.CheckRows(st, v, v.Schema.Foreign)
}

// DropTable runs DROP TABLE and DROP VIEW.
func DropTable(st *session.Statement, n *ast.DropTableStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if n.TemporaryKeyword != ast.TemporaryNone {
		return dropTemporaryTables(s, n)
	}
	var temporary []*ast.TableName
	err = st.Publish("DROP TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		var dropped []*table.Schema
		for _, t := range n.Tables {
			db, name, err := s.Qualify(t)
			if err != nil {
				return nil, err
			}
			if hidden := s.Shadowing(db, name); hidden != "" && !n.IsView {
				db, temporary = hidden, append(temporary, t)
			}
			if n.IfExists && !snap.Exists(db, name) {
				s.Warnings.AddNote(sqlerr.UnknownTable(db+"."+name, ""))
				continue
			}
			drop := snap.DropTable
			if n.IsView {
				drop = snap.DropView
			}
			next, err := drop(db, name)
			if err != nil {
				if !n.IfExists {
					return nil, err
				}
				s.Warnings.AddNote(sqlerr.UnknownTable(db+"."+name, ""))
				continue
			}
			if v, err := snap.Table(db, name); err == nil {
				dropped = append(dropped, v.Schema)
			}
			snap = next
		}
		return snap, ddl.MayDrop(st, snap, dropped)
	})
	if err != nil {
		return nil, err
	}
	for _, t := range temporary {
		if db, name, err := s.Qualify(t); err == nil {
			s.ForgetTemporary(db, name)
		}
	}
	return &result.Result{}, nil
}

// CreateDatabase runs CREATE DATABASE.
func CreateDatabase(st *session.Statement, n *ast.CreateDatabaseStmt) (*result.Result, error) {
	s := st.Session
	if catalog.IsHidden(n.Name.O) {
		return nil, sqlerr.New(sqlerr.CodeWrongDatabaseName, sqlerr.User, "Incorrect database name '%s'", n.Name.O)
	}
	return &result.Result{RowsAffected: 1}, st.Publish("CREATE DATABASE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		if snap.HasDatabase(n.Name.O) && n.IfNotExists {
			s.Warnings.AddNote(sqlerr.DatabaseExists(n.Name.O))
			return snap, nil
		}
		snap, err := snap.WithDatabase(n.Name.O)
		if err != nil {
			return nil, err
		}
		return withDatabaseOptions(snap, n.Name.O, n.Options)
	})
}

// DropDatabase runs DROP DATABASE.
func DropDatabase(st *session.Statement, n *ast.DropDatabaseStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	err = st.Publish("DROP DATABASE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		if catalog.IsHidden(n.Name.O) {
			return nil, sqlerr.NoSuchDatabaseToDrop(n.Name.O)
		}
		if !snap.HasDatabase(n.Name.O) && n.IfExists {
			s.Warnings.AddNote(sqlerr.NoSuchDatabaseToDrop(n.Name.O))
			return snap, nil
		}
		var dropped []*table.Schema
		for _, name := range snap.Tables(n.Name.O) {
			if v, err := snap.Table(n.Name.O, name); err == nil {
				dropped = append(dropped, v.Schema)
			}
		}
		next, err := snap.WithoutDatabase(n.Name.O)
		if err != nil {
			return nil, err
		}
		return next, ddl.MayDrop(st, next, dropped)
	})
	if err == nil && strings.EqualFold(s.Database, n.Name.O) {
		s.Database = ""
	}
	return &result.Result{}, err
}

// CreateIndex keeps an index's definition. A unique one is enforced, so the rows there are checked.
func CreateIndex(st *session.Statement, n *ast.CreateIndexStmt) (*result.Result, error) {
	s := st.Session
	if n.KeyType != ast.IndexKeyTypeNone && n.KeyType != ast.IndexKeyTypeUnique {
		return nil, sqlerr.NotSupportedf("a FULLTEXT or SPATIAL index", "create a plain index")
	}
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return changeSchema(st, "CREATE INDEX", n.Table, func(schema *table.Schema) error { return ddl.AddIndex(schema, n) })
}

// DropIndex runs DROP INDEX.
func DropIndex(st *session.Statement, n *ast.DropIndexStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return changeSchema(st, "DROP INDEX", n.Table, func(schema *table.Schema) error { return ddl.DropIndex(schema, n) })
}

// changeSchema gives a table a changed copy of its definition.
func changeSchema(st *session.Statement, operation string, t *ast.TableName, change func(*table.Schema) error) (*result.Result, error) {
	s := st.Session
	db, name, err := s.Find(t)
	if err != nil {
		return nil, err
	}
	return &result.Result{}, st.Publish(operation, func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		v, err := snap.Table(db, name)
		if err != nil {
			return nil, err
		}
		schema := *v.Schema
		schema.Keys = append([]table.Key(nil), schema.Keys...)
		if err := change(&schema); err != nil {
			return nil, err
		}
		if err := ddl.CheckForeignKeys(st, snap, &schema, v.Schema); err != nil {
			return nil, err
		}
		next, err := v.WithKeys(st.Context, schema.Own())
		if err != nil {
			return nil, err
		}
		return snap.ReplaceTable(next)
	})
}

// RenameTable runs RENAME TABLE.
func RenameTable(st *session.Statement, n *ast.RenameTableStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return &result.Result{}, st.Publish("RENAME TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		for _, r := range n.TableToTables {
			fromDB, from, err := s.Qualify(r.OldTable)
			if err != nil {
				return nil, err
			}
			toDB, to, err := s.Qualify(r.NewTable)
			if err != nil {
				return nil, err
			}
			if snap, err = snap.RenameTable(fromDB, from, toDB, to); err != nil {
				return nil, err
			}
		}
		return snap, nil
	})
}

// dropTemporaryTables runs DROP TEMPORARY TABLE.
func dropTemporaryTables(s *session.Session, n *ast.DropTableStmt) (*result.Result, error) {
	for _, t := range n.Tables {
		db, name, err := s.Qualify(t)
		if err != nil {
			return nil, err
		}
		hidden := s.Shadowing(db, name)
		switch {
		case hidden == "" && n.IfExists:
			s.Warnings.AddNote(sqlerr.UnknownTable(db+"."+name, ""))
			continue
		case hidden == "":
			return nil, sqlerr.UnknownTable(db+"."+name, "")
		}
		drop := func(snap *catalog.Snapshot) (*catalog.Snapshot, error) { return snap.DropTable(hidden, name) }
		if err := s.DB.Change(session.Dropping(s.DB), drop); err != nil {
			return nil, err
		}
		if err := s.Tx.Amend(drop); err != nil {
			return nil, err
		}
		s.ForgetTemporary(db, name)
	}
	return &result.Result{}, nil
}
