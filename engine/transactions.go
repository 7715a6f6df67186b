package engine

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/engine/locks"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
)

// lockTables runs LOCK TABLES.
func lockTables(st *session.Statement, n *ast.LockTablesStmt) (*result.Result, error) {
	s := st.Session
	mentioned := map[catalog.TableID]bool{}
	for _, t := range n.TableLocks {
		db, name, err := s.Qualify(t.Table)
		if err != nil {
			return nil, err
		}
		id := catalog.NewTableID(db, name)
		if mentioned[id] {
			return nil, sqlerr.NonUniqTable(name)
		}
		mentioned[id] = true
	}
	s.ReleaseTables()
	snap := s.Snapshot()
	named := map[catalog.TableID]bool{}
	var uses []locks.Use
	for _, t := range n.TableLocks {
		db, name, err := s.Qualify(t.Table)
		if err != nil {
			return nil, err
		}
		if s.Shadowing(db, name) != "" || strings.EqualFold(db, infoschema.Name) {
			continue
		}
		if _, _, err := snap.Lookup(db, name); err != nil {
			return nil, err
		}
		forWriting := t.Type != ast.TableLockRead && t.Type != ast.TableLockReadLocal
		id := catalog.NewTableID(db, name)
		named[id] = named[id] || forWriting
		uses = s.Expand(uses, snap, locks.Use{Table: id, Writes: forWriting})
	}
	tables := s.DB.TableLocks
	for {
		if err := tables.Await(st.Context, s.ID, uses, s.Vars.LockWait()); err != nil {
			return nil, err
		}
		unlock, err := s.DB.LockWrites(st.Context) // what is being written ends first
		if err != nil {
			return nil, err
		}
		taken := tables.TryTake(s.ID, uses)
		unlock()
		if taken {
			s.Locked = named
			return &result.Result{}, nil
		}
	}
}

// unlockTables runs UNLOCK TABLES, which ends a transaction if there are locks.
func unlockTables(st *session.Statement) (*result.Result, error) {
	s := st.Session
	if s.Locked == nil {
		return &result.Result{}, nil
	}
	err := s.Commit(st.Context)
	s.ReleaseTables()
	return &result.Result{}, err
}

// beginStatement runs BEGIN and START TRANSACTION.
func beginStatement(st *session.Statement, n *ast.BeginStmt) (*result.Result, error) {
	s := st.Session
	if n.AsOf != nil {
		return nil, sqlerr.NotSupportedf("START TRANSACTION ... AS OF", "a transaction reads the newest state")
	}
	if err := s.Commit(st.Context); err != nil {
		return nil, err
	}
	s.ReleaseTables()
	s.Begin(n.ReadOnly)
	words := strings.Fields(strings.ToUpper(st.Text)) // which say what the parser's tree does not
	if slices.Contains(words, "WRITE") {
		s.Tx.ReadOnly = false
	}
	if slices.Contains(words, "CONSISTENT") {
		s.Tx.Start(s.DB.Catalog.Load())
	}
	return &result.Result{}, nil
}

func commitStatement(st *session.Statement, n *ast.CommitStmt) (*result.Result, error) {
	s := st.Session
	tx := s.Tx
	if err := s.Commit(st.Context); err != nil {
		return nil, err
	}
	return &result.Result{}, complete(s, n.CompletionType, tx)
}

func rollbackStatement(s *session.Session, n *ast.RollbackStmt) (*result.Result, error) {
	if n.SavepointName != "" {
		return &result.Result{}, s.RollbackTo(n.SavepointName)
	}
	tx := s.Tx
	s.Rollback()
	return &result.Result{}, complete(s, n.CompletionType, tx)
}

// complete does what COMMIT and ROLLBACK do besides: AND CHAIN begins a transaction like the one before.
func complete(s *session.Session, c ast.CompletionType, before *session.Transaction) error {
	switch c {
	case ast.CompletionTypeChain:
		s.Begin(false)
		if before != nil {
			s.Tx.ReadOnly, s.Tx.Serializable = before.ReadOnly, before.Serializable
		}
	case ast.CompletionTypeRelease:
		return sqlerr.NotSupportedf("RELEASE", "the transaction is ended; close the connection by itself")
	}
	return nil
}

// savepoint runs SAVEPOINT. Outside a transaction it has no effect, as in MySQL.
func savepoint(s *session.Session, n *ast.SavepointStmt) (*result.Result, error) {
	if s.Tx == nil && s.Vars.Integer("autocommit") == 0 {
		s.Begin(false)
	}
	if s.Tx != nil {
		s.Tx.Save(n.Name)
	}
	return &result.Result{}, nil
}

func releaseSavepoint(s *session.Session, n *ast.ReleaseSavepointStmt) (*result.Result, error) {
	return &result.Result{}, s.ForgetSavepoint(n.Name)
}
