package database

import (
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// keptToFree: errors tell what sessions keep from one part in so many of the memory limit on.
const keptToFree = 8

// TellKept adds to an error of memory what sessions keep, where that is much.
func (db *Database) TellKept(err *sqlerr.Error) *sqlerr.Error {
	limit, used := db.Opts.MemoryLimit, db.KeptBudget.Used()
	if err.Kind != sqlerr.Resource || err.Code != sqlerr.CodeCapacityExceeded || limit <= 0 || used < limit/keptToFree || strings.Contains(err.Hint, "frees") {
		return err
	}
	hint := "user variables and prepared statements hold " + sqlerr.FormatBytes(used) + "; SET @name = NULL, DEALLOCATE PREPARE and closing what a program has prepared free that"
	if err.Hint != "" {
		hint = err.Hint + "; " + hint
	}
	return err.WithHint("%s", hint)
}

// collectedWithin is how long it takes, about, until what a collection has found is given back.
const collectedWithin = 5 * time.Millisecond

// Hold counts statements that somebody keeps to run them, against the database's budget, until release is called.
func (db *Database) Hold(list []parse.Statement) (release func(), err error) {
	bytes := parse.Kept(list)
	err = db.KeptBudget.Reserve("prepared statements", bytes)
	if err != nil { // perhaps for those that nobody has any more, which the collector finds
		runtime.GC()
		time.Sleep(collectedWithin)
		err = db.KeptBudget.Reserve("prepared statements", bytes)
	}
	if err != nil {
		return nil, sqlerr.From(err).WithHint("closing statements that were prepared frees what they hold; or raise the memory limit (memory_limit or --memory-limit)")
	}
	budget := db.KeptBudget // all that the function holds: not the engine
	return sync.OnceFunc(func() { budget.Release(bytes) }), nil
}
