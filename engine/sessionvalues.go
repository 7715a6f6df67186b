package engine

import (
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// sessionValues are the user variables and prepared statements of a session. They count against the database's budget until the session ends.
type sessionValues struct {
	variables map[string]types.Value // user variables, by lower-case names
	prepared  map[string]parse.Statement

	ofVariables, ofPrepared, ofTexts, ofClient memory.Account
}

const (
	variableBytes = 2 * (unsafe.Sizeof(types.Value{}) + unsafe.Sizeof("")) // of an entry of a map that grows
	keptToFree    = 8                                                      // errors tell what sessions keep from one part in so many of the limit on
)

func newSessionValues(b *memory.Budget) *sessionValues {
	return &sessionValues{
		variables:   map[string]types.Value{},
		prepared:    map[string]parse.Statement{},
		ofVariables: memory.Account{Budget: b, Operator: "user variables"},
		ofPrepared:  memory.Account{Budget: b, Operator: "prepared statements"},
		ofTexts:     memory.Account{Budget: b, Operator: "statements that came again"},
		ofClient:    memory.Account{Budget: b, Operator: "the client"},
	}
}

// close forgets everything.
func (k *sessionValues) close() {
	clear(k.variables)
	clear(k.prepared)
	k.ofVariables.Close()
	k.ofPrepared.Close()
	k.ofTexts.Close()
	k.ofClient.Close()
}

// set gives @name a value. What it was is gone only if the new one fits.
func (k *sessionValues) set(name string, v types.Value) error {
	name = strings.ToLower(name)
	bytes := int64(len(name)+len(v.S)) + int64(variableBytes)
	if old, is := k.variables[name]; is {
		bytes = int64(len(v.S) - len(old.S))
	}
	if err := grow(&k.ofVariables, bytes); err != nil {
		return err.WithHint("SET @name = NULL frees what a variable holds; or raise the memory limit (memory_limit or --memory-limit)")
	}
	v.S = strings.Clone(v.S) // it, and the name, may be parts of a long statement, or of a longer string
	k.variables[strings.Clone(name)] = v
	return nil
}

// prepare keeps a statement by its name. None has it.
func (k *sessionValues) prepare(name string, stmt parse.Statement) error {
	if err := grow(&k.ofPrepared, stmt.Kept); err != nil {
		return err.WithHint("DEALLOCATE PREPARE name frees a prepared statement; or raise the memory limit (memory_limit or --memory-limit)")
	}
	k.prepared[strings.Clone(name)] = stmt
	return nil
}

// deallocate forgets the statement of a name, and says whether there was one.
func (k *sessionValues) deallocate(name string) bool {
	stmt, is := k.prepared[name]
	delete(k.prepared, name)
	_ = k.ofPrepared.Set(k.ofPrepared.Used() - stmt.Kept) // which takes nothing
	return is
}

// grow adds bytes, which may be negative, to an account. On an error it is as before.
func grow(a *memory.Account, bytes int64) *sqlerr.Error {
	before := a.Used()
	if err := a.Set(before + bytes); err != nil {
		_ = a.Set(before) // which takes nothing
		return sqlerr.From(err)
	}
	return nil
}

// tellKept adds to an error of memory what sessions keep, where that is much.
func (e *Engine) tellKept(err *sqlerr.Error) *sqlerr.Error {
	limit, used := e.opts.MemoryLimit, e.keptBudget.Used()
	if err.Kind != sqlerr.Resource || err.Code != sqlerr.CodeCapacityExceeded || limit <= 0 || used < limit/keptToFree || strings.Contains(err.Hint, "frees") {
		return err
	}
	hint := "user variables and prepared statements hold " + sqlerr.FormatBytes(used) + "; SET @name = NULL, DEALLOCATE PREPARE and closing what a program has prepared free that"
	if err.Hint != "" {
		hint = err.Hint + "; " + hint
	}
	return err.WithHint("%s", hint)
}

// HoldForClient counts bytes, instead of those before, that the session's client holds. what is what errors call them.
func (s *Session) HoldForClient(what string, bytes int64) error {
	s.values.ofClient.Operator = what
	if err := grow(&s.values.ofClient, bytes-s.values.ofClient.Used()); err != nil {
		return err
	}
	return nil
}

// collectedWithin is how long it takes, about, until what a collection has found is given back.
const collectedWithin = 5 * time.Millisecond

// Hold counts statements that somebody keeps to run them, against the database's budget, until release is called.
func (e *Engine) Hold(list []parse.Statement) (release func(), err error) {
	bytes := parse.Kept(list)
	err = e.keptBudget.Reserve("prepared statements", bytes)
	if err != nil { // perhaps for those that nobody has any more, which the collector finds
		runtime.GC()
		time.Sleep(collectedWithin)
		err = e.keptBudget.Reserve("prepared statements", bytes)
	}
	if err != nil {
		return nil, sqlerr.From(err).WithHint("closing statements that were prepared frees what they hold; or raise the memory limit (memory_limit or --memory-limit)")
	}
	budget := e.keptBudget // all that the function holds: not the engine
	return sync.OnceFunc(func() { budget.Release(bytes) }), nil
}
