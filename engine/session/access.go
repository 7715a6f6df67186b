package session

import (
	"sync"
	"time"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Location returns the session's time zone.
func (s *Session) Location() *time.Location { return s.Vars.Location }

// ParseMode returns the part of the session's sql_mode that decides how text is read.
func (s *Session) ParseMode() parse.Mode { return s.Vars.ParseMode }

// FileAccess is what the session's statements may do with files.
func (s *Session) FileAccess() *fileaccess.Policy { return s.Vars.Access }

// Confine gives a session that was made just now what its statements may do with files, which is for the program to say that asked for it.
func (s *Session) Confine(policy *fileaccess.Policy) { s.Vars.Access = policy }

// SetVariable gives a system variable a value, as SET name = value does.
func (s *Session) SetVariable(name, value string) error { return s.Vars.SetSystem(name, value) }

// HoldArguments counts bytes of a statement's arguments until release is called.
func (s *Session) HoldArguments(bytes int64) (release func(), err error) {
	budget := s.DB.KeptBudget
	if err := budget.Reserve("the statement's arguments", bytes); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { budget.Release(bytes) }), nil
}

// Hold counts statements that somebody keeps to run them, until release is called.
func (s *Session) Hold(list []parse.Statement) (release func(), err error) {
	return s.DB.Hold(list)
}
