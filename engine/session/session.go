package session

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/values"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Session is one connection: a current database, variables and the warnings of its last statement. It runs one
// statement at a time and is not safe for concurrent use; sessions of one engine are independent.
type Session struct {
	DB        *database.Database
	run       RunQuery
	ID        uint64
	Database  string
	Vars      variables.Settings
	Warnings  *sqlerr.Warnings
	Last      LastStatement
	Temporary map[catalog.TableID]bool // the TEMPORARY tables, by the names that they go by
	Locked    map[catalog.TableID]bool // what LOCK TABLES named, and whether for writing; nil: nothing is locked
	Reading   *catalog.Snapshot        // what a SELECT outside of a transaction reads, while it is planned
	Tx        *Transaction             // nil: each statement commits by itself
	next      oneShot
	Values    *values.Kept
	Plans     plans.OfSession

	Activity     *database.Activity
	describing   bool                      // the columns of views are being listed
	Checking     bool                      // within Check
	Outfiles     map[string]*table.Version // files that statements would have written which Check has seen, by absolute names
	LastInsertID *atomic.Int64             // what LAST_INSERT_ID() gives
	GPUTold      GPUTrouble                // what the client has been warned of
}

// RunQuery plans and starts a bound query of a statement.
type RunQuery func(st *Statement, q *logical.Query) (*result.Result, error)

// LastStatement is what functions and variables tell of the statement before.
type LastStatement struct {
	RowCount  int64  // ROW_COUNT()
	FoundRows int64  // FOUND_ROWS()
	Counted   Counts // of its warnings, once the next one runs
}

// New begins a session in the default database. run runs bound queries for its statements.
func New(e *database.Database, run RunQuery) *Session {
	s := &Session{DB: e, run: run, ID: e.Sessions.Begun.Add(1), Database: database.DefaultDatabase, Warnings: &sqlerr.Warnings{}, Last: LastStatement{RowCount: -1}, LastInsertID: new(atomic.Int64)}
	s.Activity = &database.Activity{ID: s.ID, Database: s.Database, Since: time.Now()}
	s.Values = values.New(e.KeptBudget)
	s.Vars.Init(e, s.Values, sessionFacts{s})
	runtime.AddCleanup(s, (*values.Kept).Close, s.Values)
	e.Sessions.Add(s.Activity)
	runtime.AddCleanup(s, e.Sessions.Remove, s.ID)
	return s
}

// Killed says whether KILL has ended the session.
func (s *Session) Killed() bool {
	return s.Activity.IsKilled()
}

// Alive reports that the session was killed; a transaction that it had begun is rolled back.
func (s *Session) Alive() error {
	if !s.Killed() {
		return nil
	}
	s.Rollback()
	return sqlerr.New(sqlerr.CodeSessionKilled, sqlerr.User, "The session was killed.")
}

// Find returns the database and name of the table that a name means, temporary ones included.
func (s *Session) Find(t *ast.TableName) (db, name string, err error) {
	db, name, err = s.Qualify(t)
	if hidden := s.Shadowing(db, name); err == nil && hidden != "" {
		db = hidden
	}
	return db, name, err
}

// GPUTrouble is what keeps 'auto' from a GPU that there is.
type GPUTrouble uint8

// What keeps 'auto' from a GPU.
const (
	GPUUsable GPUTrouble = iota
	GPUFull              // its memory is
	GPULost
)

// TellOnce warns the client of trouble, unless it has been warned of it since the GPU was last usable.
func (s *Session) TellOnce(what GPUTrouble, reason string) {
	if s.GPUTold == what {
		return
	}
	s.GPUTold = what
	s.Warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownError, "radish_device = 'auto' uses the CPU: %s", reason)
}

// DatabaseCollation returns the collation of new tables in a database that name none.
func (s *Session) DatabaseCollation(db string) types.Collation {
	if c, ok := s.Snapshot().Collation(db); ok {
		return c
	}
	return s.Vars.Collation("collation_server")
}

// Device is the session's radish_device.
func (s *Session) Device() gpu.Setting {
	return gpu.Setting(s.Vars.Text("radish_device"))
}

// Qualify returns the database and name that a table name means.
func (s *Session) Qualify(t *ast.TableName) (db, name string, err error) {
	db = t.Schema.O
	if db == "" {
		db = s.Database
	}
	if db == "" {
		return "", "", sqlerr.NoDatabaseSelected()
	}
	return db, t.Name.O, nil
}

// SchemaNamed returns the schema of the table that a name means; nil: there is none, or it is a view.
func (s *Session) SchemaNamed(name *ast.TableName) *table.Schema {
	db, bare, err := s.Find(name)
	if err != nil {
		return nil
	}
	v, err := s.Snapshot().Table(db, bare)
	if err != nil {
		return nil
	}
	return v.Schema
}

// WarnOf adds what reading a statement's text warned of.
func (s *Session) WarnOf(stmt parse.Statement) {
	for _, w := range stmt.Warnings {
		s.Warnings.Add(w.Level, w.Code, "%s", w.Message)
	}
}

// StaysOnCPU says whether no query is planned for a GPU now. What a GPU would do with columns depends on their values.
func (s *Session) StaysOnCPU() bool {
	if s.Device() != gpu.Auto || s.DB.Auto.Instead != "" {
		return s.Device() == gpu.Never
	}
	_, open := s.DB.GPUIfOpen()
	return !open
}
