package session

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// TEMPORARY tables are tables of databases that are not listed, one for each session and database in which the session has made some. A
// name means the session's temporary table, if there is one, before the table or view that everyone sees.

// HiddenDatabase is where the session's temporary tables of a database are.
func (s *Session) HiddenDatabase(db string) string {
	return catalog.HiddenName(strconv.FormatUint(s.ID, 10) + "-" + strings.ToLower(db))
}

// Shadowing returns the hidden database of the session's temporary table of a name; empty: there is none.
func (s *Session) Shadowing(db, name string) string {
	if len(s.Temporary) == 0 || !s.Temporary[catalog.NewTableID(db, name)] {
		return ""
	}
	return s.HiddenDatabase(db)
}

// TemporaryTables returns the names of the session's TEMPORARY tables in its database, sorted: information_schema does not list them.
func (s *Session) TemporaryTables() []string {
	if len(s.Temporary) == 0 {
		return nil
	}
	return s.Snapshot().Tables(s.HiddenDatabase(s.Database))
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

// AddTemporary makes a temporary table visible to the session. It is no part of a transaction: it stays if that is rolled back.
func (s *Session) AddTemporary(st *Statement, v *table.Version, db string) error {
	add := func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		if !snap.HasDatabase(v.Schema.Database) {
			var err error
			if snap, err = snap.WithDatabase(v.Schema.Database); err != nil {
				return nil, err
			}
		}
		return snap.CreateTable(v)
	}
	if err := s.DB.Change(st.Making("CREATE TABLE"), add); err != nil {
		return err
	}
	if s.Temporary == nil {
		s.Temporary = map[catalog.TableID]bool{}
	}
	s.Temporary[catalog.NewTableID(db, v.Schema.Name)] = true
	return s.Tx.Amend(add)
}

// Dropping returns the account of a change that makes nothing.
func Dropping(e *database.Database) *memory.Account {
	return &memory.Account{Budget: e.Stored.Budget, Operator: "DROP TABLE"}
}

// ForgetTemporary notes that a temporary table is gone.
func (s *Session) ForgetTemporary(db, name string) {
	delete(s.Temporary, catalog.NewTableID(db, name))
}

// dropTemporary drops the session's temporary tables at its end.
func (s *Session) dropTemporary() {
	done := map[string]bool{}
	for id := range s.Temporary {
		hidden := s.HiddenDatabase(id.Database)
		if done[hidden] {
			continue
		}
		done[hidden] = true
		// The database is there, and dropping it needs no memory.
		_ = s.DB.Change(Dropping(s.DB), func(snap *catalog.Snapshot) (*catalog.Snapshot, error) { return snap.WithoutDatabase(hidden) })
	}
	s.Temporary = nil
}

// Amend makes a change to all states that the transaction may go back to, besides that of now: it is no part of the transaction.
func (tx *Transaction) Amend(edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
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

func (tx *Transaction) states() (out []*catalog.Snapshot) {
	for _, p := range tx.saved {
		out = append(out, p.state)
	}
	return out
}
