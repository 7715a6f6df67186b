package session

import (
	"sync/atomic"

	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Counts are how many warnings the statement before left: what @@warning_count and @@error_count give.
type Counts struct{ warnings, errors int64 }

// CountsOf counts warnings.
func CountsOf(w *sqlerr.Warnings) (c Counts) {
	c.warnings = w.Count()
	for _, one := range w.List() {
		if one.Level == sqlerr.LevelError {
			c.errors++
		}
	}
	return c
}

// sessionFacts is what variables ask of a session.
type sessionFacts struct{ session *Session }

var _ variables.Facts = sessionFacts{}

// ConnectionID implements [variables.Facts].
func (x sessionFacts) ConnectionID() uint64 { return x.session.ID }

// InsertID implements [variables.Facts].
func (x sessionFacts) InsertID() *atomic.Int64 { return x.session.LastInsertID }

// WarningCounts implements [variables.Facts].
func (x sessionFacts) WarningCounts() (warnings, errors int64) {
	return x.session.Last.Counted.warnings, x.session.Last.Counted.errors
}

// DatabaseCollation implements [variables.Facts].
func (x sessionFacts) DatabaseCollation() types.Collation {
	return x.session.DatabaseCollation(x.session.Database)
}

// Warn implements [variables.Facts].
func (x sessionFacts) Warn(code sqlerr.Code, format string, args ...any) {
	x.session.Warnings.Add(sqlerr.LevelWarning, code, format, args...)
}
