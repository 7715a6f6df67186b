package engine

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/ddl"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// createTable runs CREATE TABLE, with LIKE and with a query, and CREATE TEMPORARY TABLE.
func (s *Session) createTable(st *statement, n *ast.CreateTableStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	db, name, err := s.qualify(n.Table)
	if err != nil {
		return nil, err
	}
	snap := s.snapshot()
	dbName, err := snap.DatabaseName(db)
	if err != nil {
		return nil, err
	}
	taken := n.TemporaryKeyword == ast.TemporaryLocal && s.shadowing(db, name) != ""
	if n.TemporaryKeyword == ast.TemporaryNone && snap.Exists(db, name) {
		taken = true
	}
	if taken {
		if n.IfNotExists {
			s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeTableExists, "Table '%s' already exists", name)
			return &Result{}, nil
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
		dbName = s.hiddenDatabase(dbName)
	}
	schema, err := s.newDefinition(snap, n, dbName, name, s.databaseCollation(db))
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
		if v, rows, err = s.fillNew(st, v, q); err != nil {
			return nil, err
		}
	}
	if n.TemporaryKeyword == ast.TemporaryLocal {
		return &Result{RowsAffected: rows}, s.addTemporary(st, v, db)
	}
	return &Result{RowsAffected: rows}, st.change("CREATE TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		return snap.CreateTable(v)
	})
}

// newDefinition begins the definition of the table that a statement makes in a database: with the definition that LIKE names, or with the collation of its database.
func (s *Session) newDefinition(snap *catalog.Snapshot, n *ast.CreateTableStmt, db, name string, collation types.Collation) (*table.Schema, error) {
	if n.ReferTable == nil {
		return &table.Schema{Database: db, Name: name, Collation: collation}, nil
	}
	fromDB, from, err := s.find(n.ReferTable)
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
func (s *Session) fillNew(st *statement, v *table.Version, q *logical.Query) (filled *table.Version, rows int64, err error) {
	computed, checks, err := st.binder().TableRules(v.Schema, q.Cols)
	if err != nil {
		return nil, 0, err
	}
	rules, err := write.NewRules(st, v, computed, checks, q.Cols)
	if err != nil {
		return nil, 0, err
	}
	if !s.checking { // else the table stays empty
		if v, rows, err = s.fill(st, v, q, "CREATE TABLE", rules); err != nil {
			return nil, 0, err
		}
		rules.Settle()
	}
	return v, rows, write.CheckRows(st, v, v.Schema.Foreign)
}

func (s *Session) dropTable(st *statement, n *ast.DropTableStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if n.TemporaryKeyword != ast.TemporaryNone {
		return s.dropTemporaryTables(n)
	}
	var temporary []*ast.TableName
	err = st.change("DROP TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		var dropped []*table.Schema
		for _, t := range n.Tables {
			db, name, err := s.qualify(t)
			if err != nil {
				return nil, err
			}
			if hidden := s.shadowing(db, name); hidden != "" && !n.IsView {
				db, temporary = hidden, append(temporary, t)
			}
			if n.IfExists && !snap.Exists(db, name) {
				s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownTable, "Unknown table '%s.%s'", db, name)
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
				s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownTable, "Unknown table '%s.%s'", db, name)
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
		if db, name, err := s.qualify(t); err == nil {
			s.forgetTemporary(db, name)
		}
	}
	return &Result{}, nil
}

func (s *Session) createDatabase(st *statement, n *ast.CreateDatabaseStmt) (*Result, error) {
	if catalog.IsHidden(n.Name.O) {
		return nil, sqlerr.New(sqlerr.CodeWrongDatabaseName, sqlerr.User, "Incorrect database name '%s'", n.Name.O)
	}
	return &Result{RowsAffected: 1}, st.change("CREATE DATABASE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		if snap.HasDatabase(n.Name.O) && n.IfNotExists {
			s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeDBCreateExists, "Can't create database '%s'; database exists", n.Name.O)
			return snap, nil
		}
		snap, err := snap.WithDatabase(n.Name.O)
		if err != nil {
			return nil, err
		}
		return withDatabaseOptions(snap, n.Name.O, n.Options)
	})
}

func (s *Session) dropDatabase(st *statement, n *ast.DropDatabaseStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	err = st.change("DROP DATABASE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		if catalog.IsHidden(n.Name.O) {
			return nil, sqlerr.NoSuchDatabaseToDrop(n.Name.O)
		}
		if !snap.HasDatabase(n.Name.O) && n.IfExists {
			s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeDBDropExists, "Can't drop database '%s'; database doesn't exist", n.Name.O)
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
	if err == nil && strings.EqualFold(s.database, n.Name.O) {
		s.database = ""
	}
	return &Result{}, err
}

// createIndex keeps an index's definition. A unique one is enforced, so the rows there are checked.
func (s *Session) createIndex(st *statement, n *ast.CreateIndexStmt) (*Result, error) {
	if n.KeyType != ast.IndexKeyTypeNone && n.KeyType != ast.IndexKeyTypeUnique {
		return nil, sqlerr.NotSupportedf("a FULLTEXT or SPATIAL index", "create a plain index")
	}
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.changeSchema(st, "CREATE INDEX", n.Table, func(schema *table.Schema) error { return ddl.AddIndex(schema, n) })
}

func (s *Session) dropIndex(st *statement, n *ast.DropIndexStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.changeSchema(st, "DROP INDEX", n.Table, func(schema *table.Schema) error { return ddl.DropIndex(schema, n) })
}

// changeSchema gives a table a changed copy of its definition.
func (s *Session) changeSchema(st *statement, operation string, t *ast.TableName, change func(*table.Schema) error) (*Result, error) {
	db, name, err := s.find(t)
	if err != nil {
		return nil, err
	}
	return &Result{}, st.change(operation, func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
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
		next, err := v.WithKeys(st.ctx, schema.Own())
		if err != nil {
			return nil, err
		}
		return snap.ReplaceTable(next)
	})
}

func (s *Session) renameTable(st *statement, n *ast.RenameTableStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return &Result{}, st.change("RENAME TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		for _, r := range n.TableToTables {
			fromDB, from, err := s.qualify(r.OldTable)
			if err != nil {
				return nil, err
			}
			toDB, to, err := s.qualify(r.NewTable)
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
