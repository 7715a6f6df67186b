package engine

import (
	"context"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Session is one connection, whose statements can be run. It runs one statement at a time and is not safe for concurrent use; sessions of one
// engine are independent.
type Session struct {
	*session.Session
	engine *Engine
}

// NewSession opens a session in the default database.
func (e *Engine) NewSession() *Session {
	return &Session{session.New(e.Database, query.RunBound), e}
}

// Database returns the current database.
func (s *Session) Database() string { return s.Session.Database }

// Warnings returns the warnings of the last statement, and its error if it had one, as SHOW WARNINGS does.
func (s *Session) Warnings() []sqlerr.Warning { return s.Session.Warnings.List() }

// Parse parses a text of statements under the session's sql_mode. An error in it is what SHOW WARNINGS then tells of, as if it were a
// statement's that had run.
func (s *Session) Parse(text string) ([]parse.Statement, error) {
	if list := s.Plans.Parsed(text, s.Vars.ParseMode); list != nil {
		return list, nil
	}
	again := s.Plans.Again(text)
	if again {
		text = strings.Clone(text)
	}
	held := memory.Account{Budget: s.engine.Statements, Operator: "parsing"}
	defer held.Close()
	list, err := parse.ParseWithin(text, s.Vars.ParseMode, held.Add)
	if err != nil {
		prepares(s.Session, err)
	} else if again {
		s.KeepText(text, list)
	}
	return list, err
}

// prepares forgets the warnings of the statement before, for another one was read and bound, with what error there is.
func prepares(s *session.Session, err error) {
	s.Warnings = &sqlerr.Warnings{}
	if e := sqlerr.From(err); e != nil {
		s.Warnings.Add(sqlerr.LevelError, e.Code, "%s", e.Message)
	}
}

// Execute runs one statement with the values of its ? markers. The statement ends when the result's rows have been
// read or closed, when ctx is cancelled, or when the engine is closed.
func (s *Session) Execute(ctx context.Context, stmt parse.Statement, params []types.Value) (*result.Result, error) {
	if err := s.engine.Alive(); err != nil {
		return nil, err
	}
	if err := s.Alive(); err != nil {
		return nil, err
	}
	if len(params) != len(stmt.Params) {
		return nil, sqlerr.WrongArguments("EXECUTE").
			WithHint("the statement has %d markers ?, and %d values were given", len(stmt.Params), len(params))
	}
	if !KeepsWarnings(stmt) {
		s.Last.Counted = session.CountsOf(s.Session.Warnings)
		s.Session.Warnings = &sqlerr.Warnings{NoNotes: s.Vars.Integer("sql_notes") == 0}
		s.WarnOf(stmt)
	}
	// The statement's own context ends with the caller's or the engine's, whichever comes first.
	run, cancel := context.WithCancel(fileaccess.LookOnce(ctx))
	unhook := context.AfterFunc(s.engine.Ctx, cancel)
	st := &session.Statement{Statement: stmt, Given: params, Session: s.Session, Runs: true}
	leave := s.engine.Stored.Enter()
	s.engine.Status.Questions.Add(1)
	s.Activity.Begin(stmt.Text, s.Session.Database, cancel)
	done := func() { unhook(); cancel(); st.End(); leave(); s.Activity.End(s.Session.Database) }
	list := s.Session.Warnings
	failed := func(err error) *sqlerr.Error {
		e := locate(s.Session, &stmt, sqlerr.From(err))
		list.Add(sqlerr.LevelError, e.Code, "%s", e.Message) // for SHOW ERRORS
		return s.engine.TellKept(e)
	}
	if err := st.TakeTree(stmt.Memory + session.StoredParams(stmt.Node, params)); err != nil {
		done()
		return nil, failed(err)
	}
	restore, err := s.ApplyHints(stmt.Node)
	if err != nil {
		done()
		return nil, failed(err)
	}
	if limit := s.Vars.MaxExecutionTime(); limit > 0 {
		var stop context.CancelFunc
		run, stop = context.WithTimeout(run, limit)
		inner := done
		done = func() { stop(); inner() }
	}
	st.Context = run
	res, err := attempt(st, list)
	s.Reading = nil
	restore()
	if err != nil {
		s.Last.RowCount = -1
		done()
		return nil, failed(err)
	}
	res.Failed = failed
	if st.Exprs != nil && st.Exprs.Session.GaveInsertID.Load() && res.LastInsertID == 0 {
		res.LastInsertID = s.LastInsertID.Load()
	}
	s.Last.RowCount = res.RowsAffected
	if res.HasRows() {
		s.Last.RowCount = -1
	}
	if res.Source == nil {
		done()
	} else if inner := res.Done; inner != nil {
		res.Done = func() { inner(); done() }
	} else {
		res.Done = done
	}
	return res, nil
}

// attempt runs a statement, and runs it anew where its files turn out to be other than they looked. list has its warnings.
func attempt(st *session.Statement, list *sqlerr.Warnings) (res *result.Result, err error) {
	s := st.Session
	err = sqlerr.Guard(func() (err error) {
		for changes := 0; ; {
			res, err = dispatch(st)
			if err = st.Misfits(err); !st.Again(err, &changes) {
				return err
			}
			list.Reset()
			s.WarnOf(st.Statement)
		}
	})
	return res, err
}

// KeepsWarnings says whether a statement is about the warnings of the one before: SHOW WARNINGS and SHOW ERRORS.
func KeepsWarnings(stmt parse.Statement) bool {
	show, ok := stmt.Node.(*ast.ShowStmt)
	return ok && (show.Tp == ast.ShowWarnings || show.Tp == ast.ShowErrors)
}

// GivesPlan says whether a statement is an EXPLAIN whose rows are the text of a plan; DESCRIBE of a table is not.
func GivesPlan(stmt parse.Statement) bool {
	n, ok := stmt.Node.(*ast.ExplainStmt)
	if !ok {
		return false
	}
	_, describe := n.Stmt.(*ast.ShowStmt)
	return !describe
}
