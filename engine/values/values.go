// Package values holds what a session keeps for its client, and counts its memory: user variables, whose types are in uservariables.go, and prepared
// statements.
package values

import (
	"strings"
	"unsafe"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Kept are the user variables and prepared statements of a session. They count against the database's budget until the session ends.
type Kept struct {
	Variables map[string]types.Value // user variables, by lower-case names
	Prepared  map[string]parse.Statement

	ofVariables, ofPrepared, OfTexts, OfClient memory.Account
}

const (
	variableBytes = 2 * (unsafe.Sizeof(types.Value{}) + unsafe.Sizeof("")) // of an entry of a map that grows
)

// New returns values that count against a budget.
func New(b *memory.Budget) *Kept {
	return &Kept{
		Variables:   map[string]types.Value{},
		Prepared:    map[string]parse.Statement{},
		ofVariables: memory.Account{Budget: b, Operator: "user variables"},
		ofPrepared:  memory.Account{Budget: b, Operator: "prepared statements"},
		OfTexts:     memory.Account{Budget: b, Operator: "statements that came again"},
		OfClient:    memory.Account{Budget: b, Operator: "the client"},
	}
}

// Close forgets everything.
func (k *Kept) Close() {
	clear(k.Variables)
	clear(k.Prepared)
	k.ofVariables.Close()
	k.ofPrepared.Close()
	k.OfTexts.Close()
	k.OfClient.Close()
}

// Set gives @name a value. What it was is gone only if the new one fits.
func (k *Kept) Set(name string, v types.Value) error {
	name = strings.ToLower(name)
	bytes := int64(len(name)+len(v.S)) + int64(variableBytes)
	if old, is := k.Variables[name]; is {
		bytes = int64(len(v.S) - len(old.S))
	}
	if err := Grow(&k.ofVariables, bytes); err != nil {
		return err.WithHint("SET @name = NULL frees what a variable holds; or raise the memory limit (memory_limit or --memory-limit)")
	}
	v.S = strings.Clone(v.S) // it, and the name, may be parts of a long statement, or of a longer string
	k.Variables[strings.Clone(name)] = v
	return nil
}

// Prepare keeps a statement by its name. None has it.
func (k *Kept) Prepare(name string, stmt parse.Statement) error {
	if err := Grow(&k.ofPrepared, stmt.Kept); err != nil {
		return err.WithHint("DEALLOCATE PREPARE name frees a prepared statement; or raise the memory limit (memory_limit or --memory-limit)")
	}
	k.Prepared[strings.Clone(name)] = stmt
	return nil
}

// Deallocate forgets the statement of a name, and says whether there was one.
func (k *Kept) Deallocate(name string) bool {
	stmt, is := k.Prepared[name]
	delete(k.Prepared, name)
	_ = k.ofPrepared.Set(k.ofPrepared.Used() - stmt.Kept) // which takes nothing
	return is
}

// Grow adds bytes, which may be negative, to an account. On an error it is as before.
func Grow(a *memory.Account, bytes int64) *sqlerr.Error {
	before := a.Used()
	if err := a.Set(before + bytes); err != nil {
		_ = a.Set(before) // which takes nothing
		return sqlerr.From(err)
	}
	return nil
}
