package engine

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// TEMPORARY tables are tables of databases that are not listed, one for each session and database in which the session has made some. A
// name means the session's temporary table, if there is one, before the table or view that everyone sees.

// hiddenDatabase is where the session's temporary tables of a database are.
func (s *Session) hiddenDatabase(db string) string {
	return catalog.HiddenName(strconv.FormatUint(s.id, 10) + "-" + strings.ToLower(db))
}

// shadowing returns the hidden database of the session's temporary table of a name; empty: there is none.
func (s *Session) shadowing(db, name string) string {
	if len(s.temporary) == 0 || !s.temporary[catalog.NewTableID(db, name)] {
		return ""
	}
	return s.hiddenDatabase(db)
}

// TemporaryTables returns the names of the session's TEMPORARY tables in its database, sorted: information_schema does not list them.
func (s *Session) TemporaryTables() []string {
	if len(s.temporary) == 0 {
		return nil
	}
	return s.snapshot().Tables(s.hiddenDatabase(s.database))
}

// find returns the database and name of the table that a name means, temporary ones included.
func (s *Session) find(t *ast.TableName) (db, name string, err error) {
	db, name, err = s.qualify(t)
	if hidden := s.shadowing(db, name); err == nil && hidden != "" {
		db = hidden
	}
	return db, name, err
}

// isTemporary says whether a statement makes or drops TEMPORARY tables.
func isTemporary(n ast.StmtNode) bool {
	switch x := n.(type) {
	case *ast.CreateTableStmt:
		return x.TemporaryKeyword == ast.TemporaryLocal
	case *ast.DropTableStmt:
		return x.TemporaryKeyword == ast.TemporaryLocal
	}
	return false
}

// addTemporary makes a temporary table visible to the session. It is no part of a transaction: it stays if that is rolled back.
func (s *Session) addTemporary(st *statement, v *table.Version, db string) error {
	add := func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		if !snap.HasDatabase(v.Schema.Database) {
			var err error
			if snap, err = snap.WithDatabase(v.Schema.Database); err != nil {
				return nil, err
			}
		}
		return snap.CreateTable(v)
	}
	if err := s.engine.change(st.making("CREATE TABLE"), add); err != nil {
		return err
	}
	if s.temporary == nil {
		s.temporary = map[catalog.TableID]bool{}
	}
	s.temporary[catalog.NewTableID(db, v.Schema.Name)] = true
	return s.tx.amend(add)
}

// dropTemporaryTables runs DROP TEMPORARY TABLE.
func (s *Session) dropTemporaryTables(n *ast.DropTableStmt) (*Result, error) {
	for _, t := range n.Tables {
		db, name, err := s.qualify(t)
		if err != nil {
			return nil, err
		}
		hidden := s.shadowing(db, name)
		switch {
		case hidden == "" && n.IfExists:
			s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownTable, "Unknown table '%s.%s'", db, name)
			continue
		case hidden == "":
			return nil, sqlerr.UnknownTable(db+"."+name, "")
		}
		drop := func(snap *catalog.Snapshot) (*catalog.Snapshot, error) { return snap.DropTable(hidden, name) }
		if err := s.engine.change(dropping(s.engine), drop); err != nil {
			return nil, err
		}
		if err := s.tx.amend(drop); err != nil {
			return nil, err
		}
		s.forgetTemporary(db, name)
	}
	return &Result{}, nil
}

// dropping returns the account of a change that makes nothing.
func dropping(e *Engine) *memory.Account {
	return &memory.Account{Budget: e.stored.Budget, Operator: "DROP TABLE"}
}

func (s *Session) forgetTemporary(db, name string) {
	delete(s.temporary, catalog.NewTableID(db, name))
}

// dropTemporary drops the session's temporary tables at its end.
func (s *Session) dropTemporary() {
	done := map[string]bool{}
	for id := range s.temporary {
		hidden := s.hiddenDatabase(id.Database)
		if done[hidden] {
			continue
		}
		done[hidden] = true
		// The database is there, and dropping it needs no memory.
		_ = s.engine.change(dropping(s.engine), func(snap *catalog.Snapshot) (*catalog.Snapshot, error) { return snap.WithoutDatabase(hidden) })
	}
	s.temporary = nil
}

// amend makes a change to all states that the transaction may go back to, besides that of now: it is no part of the transaction.
func (tx *transaction) amend(edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
	if tx == nil || tx.base == nil {
		return nil
	}
	changed := map[*catalog.Snapshot]*catalog.Snapshot{}
	for _, state := range append([]*catalog.Snapshot{tx.base, tx.current}, tx.states()...) {
		if state == nil || changed[state] != nil {
			continue
		}
		next, err := edit(state)
		if err != nil {
			return err
		}
		changed[state] = next
	}
	tx.base, tx.current = changed[tx.base], changed[tx.current]
	for i := range tx.saved {
		if state := tx.saved[i].state; state != nil {
			tx.saved[i].state = changed[state]
		}
	}
	tx.forget()
	return nil
}

func (tx *transaction) states() (out []*catalog.Snapshot) {
	for _, p := range tx.saved {
		out = append(out, p.state)
	}
	return out
}
