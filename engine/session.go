package engine

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// Session is one connection: a current database, variables and the warnings of its last statement. It runs one
// statement at a time and is not safe for concurrent use; sessions of one engine are independent.
type Session struct {
	engine    *Engine
	id        uint64
	database  string
	vars      variables
	warnings  *sqlerr.Warnings
	last      lastStatement
	temporary map[catalog.TableID]bool // the TEMPORARY tables, by the names that they go by
	locked    map[catalog.TableID]bool // what LOCK TABLES named, and whether for writing; nil: nothing is locked
	reading   *catalog.Snapshot        // what a SELECT outside of a transaction reads, while it is planned
	tx        *transaction             // nil: each statement commits by itself
	next      oneShot
	values    *sessionValues
	plans     sessionPlans

	activity     *activity
	describing   bool                      // the columns of views are being listed
	checking     bool                      // within Check
	outfiles     map[string]*table.Version // files that statements would have written which Check has seen, by absolute names
	lastInsertID *atomic.Int64             // what LAST_INSERT_ID() gives
	gpuTold      gpuTrouble                // what the client has been warned of
}

// lastStatement is what functions and variables tell of the statement before.
type lastStatement struct {
	rowCount  int64  // ROW_COUNT()
	foundRows int64  // FOUND_ROWS()
	counted   counts // of its warnings, once the next one runs
}

// NewSession opens a session in the default database.
func (e *Engine) NewSession() *Session {
	s := &Session{engine: e, id: e.sessions.begun.Add(1), database: DefaultDatabase, warnings: &sqlerr.Warnings{}, last: lastStatement{rowCount: -1}, lastInsertID: new(atomic.Int64)}
	s.activity = &activity{database: s.database, since: time.Now()}
	s.vars.init(e)
	s.vars.session = s
	s.values = newSessionValues(e.keptBudget)
	runtime.AddCleanup(s, (*sessionValues).close, s.values)
	e.sessions.add(s)
	return s
}

// Database returns the current database.
func (s *Session) Database() string { return s.database }

// Warnings returns the warnings of the last statement, and its error if it had one, as SHOW WARNINGS does.
func (s *Session) Warnings() []sqlerr.Warning { return s.warnings.List() }

// Parse parses a text of statements under the session's sql_mode. An error in it is what SHOW WARNINGS then tells of, as if it were a
// statement's that had run.
func (s *Session) Parse(text string) ([]parse.Statement, error) {
	if list := s.plans.parsed(text, s.vars.parseMode); list != nil {
		return list, nil
	}
	again := s.plans.again(text)
	if again {
		text = strings.Clone(text)
	}
	held := memory.Account{Budget: s.engine.statements, Operator: "parsing"}
	defer held.Close()
	list, err := parse.ParseWithin(text, s.vars.parseMode, held.Add)
	if err != nil {
		s.prepares(err)
	} else if again {
		s.keepText(text, list)
	}
	return list, err
}

// prepares forgets the warnings of the statement before, for another one was read and bound, with what error there is.
func (s *Session) prepares(err error) {
	s.warnings = &sqlerr.Warnings{}
	if e := sqlerr.From(err); e != nil {
		s.warnings.Add(sqlerr.LevelError, e.Code, "%s", e.Message)
	}
}

// Execute runs one statement with the values of its ? markers. The statement ends when the result's rows have been
// read or closed, when ctx is cancelled, or when the engine is closed.
func (s *Session) Execute(ctx context.Context, stmt parse.Statement, params []types.Value) (*Result, error) {
	if err := s.engine.alive(); err != nil {
		return nil, err
	}
	if err := s.alive(); err != nil {
		return nil, err
	}
	if len(params) != len(stmt.Params) {
		return nil, sqlerr.WrongArguments("EXECUTE").
			WithHint("the statement has %d markers ?, and %d values were given", len(stmt.Params), len(params))
	}
	if !KeepsWarnings(stmt) {
		s.last.counted = countsOf(s.warnings)
		s.warnings = &sqlerr.Warnings{NoNotes: s.vars.integer("sql_notes") == 0}
		s.warnOf(stmt)
	}
	// The statement's own context ends with the caller's or the engine's, whichever comes first.
	run, cancel := context.WithCancel(fileaccess.LookOnce(ctx))
	unhook := context.AfterFunc(s.engine.ctx, cancel)
	st := &statement{Statement: stmt, params: params, session: s, runs: true}
	leave := s.engine.stored.Enter()
	s.engine.status.questions.Add(1)
	s.activity.begin(stmt.Text, s.database, cancel)
	done := func() { unhook(); cancel(); st.end(); leave(); s.activity.end(s.database) }
	list := s.warnings
	failed := func(err error) *sqlerr.Error {
		e := s.locate(&stmt, sqlerr.From(err))
		list.Add(sqlerr.LevelError, e.Code, "%s", e.Message) // for SHOW ERRORS
		return s.engine.tellKept(e)
	}
	if err := st.takeTree(stmt.Memory + storedParams(stmt.Node, params)); err != nil {
		done()
		return nil, failed(err)
	}
	restore, err := s.applyHints(stmt.Node)
	if err != nil {
		done()
		return nil, failed(err)
	}
	if limit := s.vars.maxExecutionTime(); limit > 0 {
		var stop context.CancelFunc
		run, stop = context.WithTimeout(run, limit)
		inner := done
		done = func() { stop(); inner() }
	}
	st.ctx = run
	res, err := s.attempt(st, list)
	s.reading = nil
	restore()
	if err != nil {
		s.last.rowCount = -1
		done()
		return nil, failed(err)
	}
	res.failed = failed
	if st.context != nil && st.context.Session.GaveInsertID.Load() && res.LastInsertID == 0 {
		res.LastInsertID = s.lastInsertID.Load()
	}
	s.last.rowCount = res.RowsAffected
	if res.HasRows() {
		s.last.rowCount = -1
	}
	if res.source == nil {
		done()
	} else if inner := res.done; inner != nil {
		res.done = func() { inner(); done() }
	} else {
		res.done = done
	}
	return res, nil
}

// attempt runs a statement, and runs it anew where its files turn out to be other than they looked. list has its warnings.
func (s *Session) attempt(st *statement, list *sqlerr.Warnings) (res *Result, err error) {
	err = sqlerr.Guard(func() (err error) {
		for changes := 0; ; {
			res, err = s.dispatch(st)
			if err = st.misfits(err); !st.again(err, &changes) {
				return err
			}
			list.Reset()
			s.warnOf(st.Statement)
		}
	})
	return res, err
}

// warnOf adds what reading a statement's text warned of.
func (s *Session) warnOf(stmt parse.Statement) {
	for _, w := range stmt.Warnings {
		s.warnings.Add(w.Level, w.Code, "%s", w.Message)
	}
}

// KeepsWarnings says whether a statement is about the warnings of the one before: SHOW WARNINGS and SHOW ERRORS.
func KeepsWarnings(stmt parse.Statement) bool {
	show, ok := stmt.Node.(*ast.ShowStmt)
	return ok && (show.Tp == ast.ShowWarnings || show.Tp == ast.ShowErrors)
}

// statement is a statement while it runs.
type statement struct {
	parse.Statement
	ctx      context.Context
	params   []types.Value
	session  *Session
	context  *expr.Context
	accounts accounts
	files    filesRead
	takes    string         // what errors call who takes the rows of its query; empty: the client does
	into     *table.Version // who takes them stores them behind its rows, as they are; nil: nobody does
	plan     *planRun       // what the session keeps of it; nil: it was bound
	rest     *insertedRows  // of a long INSERT ... VALUES; nil: there are none
	relies   bool           // on the tables that it reads: see transaction.rely
	runs     bool           // it is being executed, not only looked at
	once     bool           // it has effects besides its result: see statement.effects
	began    bool           // some of it was evaluated
	reads    *tableReads    // what binding it asks of the catalog; nil: nobody wants to know
}

// accounts count the memory of a statement that is not its query's.
type accounts struct {
	budget  *memory.Budget // of the statement as a whole; nil until somebody asks
	strings memory.Account // strings that functions make outside of queries
	made    memory.Account // what it has made so far to be stored
	tree    memory.Account // what a long text became
}

func (a *accounts) close() {
	a.made.Close()
	a.strings.Close()
	a.tree.Close()
}

// filesRead are the data files that a statement reads.
type filesRead struct {
	uses       map[string]*fileUse // by the names in the statement
	held       []func()            // give back what they hold
	byOutlines bool                // they are planned for by their outlines: nothing of them is read
	fetched    fetched             // what reading them into memory has cost
	loaded     *table.Version      // the fields of the file of LOAD DATA
}

// giveBack ends the use of the files, which are looked at anew when the statement names them again.
func (f *filesRead) giveBack() {
	for _, giveBack := range f.held {
		giveBack()
	}
	f.held, f.uses = nil, nil
}

// takeTree counts what a long text became, or long values.
func (st *statement) takeTree(bytes int64) error {
	if bytes == 0 {
		return nil
	}
	st.accounts.tree.Budget, st.accounts.tree.Operator = st.memory(), "the statement and its values"
	return st.accounts.tree.Add(bytes)
}

// storedParams returns the bytes of long values that a statement stores: they are copied on their way.
func storedParams(n ast.StmtNode, params []types.Value) int64 {
	const long = 1 << 20
	bytes := int64(0)
	for i := range params {
		bytes += int64(len(params[i].S))
	}
	if bytes < long || !writes(n) {
		return 0
	}
	return bytes
}

// end gives back what the statement holds besides its query's memory.
func (st *statement) end() {
	st.files.giveBack()
	st.accounts.close()
}

// memory returns the budget of the statement, which lies within the engine's.
func (st *statement) memory() *memory.Budget {
	if st.accounts.budget == nil {
		s := st.session
		st.accounts.budget = s.engine.statements.Child(s.vars.memoryLimit())
	}
	return st.accounts.budget
}

// making returns the account of what the statement makes to be stored; operation is what errors call it.
func (st *statement) making(operation string) *memory.Account {
	st.accounts.made.Budget, st.accounts.made.Operator = st.session.engine.stored.Budget, operation
	return &st.accounts.made
}

// change makes what the statement has made visible, to the session alone while it is in a transaction; see [Engine.change].
func (st *statement) change(operation string, edit func(*catalog.Snapshot) (*catalog.Snapshot, error)) error {
	if tx := st.session.tx; tx != nil {
		return tx.change(st.making(operation), edit)
	}
	return st.session.engine.change(st.making(operation), edit)
}

// exprContext returns what expressions may know of the statement.
func (st *statement) exprContext() *expr.Context {
	if st.context == nil {
		s := st.session
		loc := s.vars.location
		st.context = &expr.Context{
			Ctx: st.ctx, Now: s.vars.now().In(loc), Location: loc, SQLMode: s.vars.exprMode, Collation: s.vars.collation("collation_connection"), Warnings: s.warnings,
			Writing: writes(st.Node), Variables: &s.vars,
			Session: expr.SessionFacts{
				Database: s.database, User: "root@localhost", ConnID: s.id, RowCount: s.last.rowCount, FoundRows: s.last.foundRows, LastInsertID: s.lastInsertID, GaveInsertID: new(atomic.Bool),
			},
			Locks: s.engine.locks.Of(s.id),
			Added: s.engine.added, Effects: st.effects, Strings: st.accounts.strings.Set,
		}
		st.accounts.strings = memory.Account{Budget: st.memory(), Operator: "the values of expressions"}
	}
	return st.context
}

// writes says whether a statement stores values, so that strict mode makes errors of warnings.
func writes(n ast.StmtNode) bool {
	switch x := n.(type) {
	case *ast.InsertStmt:
		return !x.IgnoreErr
	case *ast.UpdateStmt:
		return !x.IgnoreErr
	case *ast.DeleteStmt:
		return !x.IgnoreErr
	case *ast.CreateTableStmt, *ast.ImportIntoStmt:
		return true
	}
	return false
}

// catalogView returns the catalog as the session sees it now.
func (st *statement) catalogView() *catalogView {
	return &catalogView{statement: st, session: st.session, snap: st.session.snapshot()}
}

// binder returns a binder for the statement over the catalog as it is now.
func (st *statement) binder() *bind.Binder {
	s := st.session
	return &bind.Binder{
		Catalog: st.catalogView(), Database: s.database, Ctx: st.exprContext(), Params: st.params, Alias: st.Alias,
		Locate: st.Locate, Rows: st.Rows,
	}
}
