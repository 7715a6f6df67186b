package engine

import (
	"sync"
	"time"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// What the ways in need of an engine and its sessions besides statements.

// Register makes a table that was built outside SQL visible under the name in its schema.
func (e *Engine) Register(v *table.Version) error {
	if err := e.alive(); err != nil {
		return err
	}
	building := &memory.Account{Budget: e.stored.Budget, Operator: "the registration of a table"}
	return e.change(building, func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		return snap.CreateTable(v)
	})
}

// Location returns the session's time zone.
func (s *Session) Location() *time.Location { return s.vars.location }

// ParseMode returns the part of the session's sql_mode that decides how text is read.
func (s *Session) ParseMode() parse.Mode { return s.vars.parseMode }

// FileAccess is what the session's statements may do with files.
func (s *Session) FileAccess() *fileaccess.Policy { return s.vars.access }

// Confine gives a session that was made just now what its statements may do with files, which is for the program to say that asked for it.
func (s *Session) Confine(policy *fileaccess.Policy) { s.vars.access = policy }

// SetVariable gives a system variable a value, as SET name = value does.
func (s *Session) SetVariable(name, value string) error { return s.vars.setSystem(name, value) }

// HoldArguments counts bytes of a statement's arguments until release is called.
func (s *Session) HoldArguments(bytes int64) (release func(), err error) {
	budget := s.engine.keptBudget
	if err := budget.Reserve("the statement's arguments", bytes); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { budget.Release(bytes) }), nil
}

// Hold counts statements that somebody keeps to run them, until release is called.
func (s *Session) Hold(list []parse.Statement) (release func(), err error) {
	return s.engine.Hold(list)
}
