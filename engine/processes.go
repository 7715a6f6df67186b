package engine

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// sessions are an engine's, by their numbers. They are held weakly: a session that nobody has any more needs no closing.
type sessions struct {
	mu    sync.Mutex
	begun atomic.Uint64 // sessions so far
	byID  map[uint64]weak.Pointer[Session]
}

func (l *sessions) add(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID = map[uint64]weak.Pointer[Session]{}
	}
	l.byID[s.id] = weak.Make(s)
	runtime.AddCleanup(s, l.remove, s.id)
}

func (l *sessions) remove(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, id)
}

// list returns the sessions in the order of their numbers.
func (l *sessions) list() []*Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*Session
	for _, p := range l.byID {
		if s := p.Value(); s != nil {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *Session) int { return int(int64(a.id) - int64(b.id)) })
	return out
}

// activity is what others may know of a session, and do to it.
type activity struct {
	mu       sync.Mutex
	text     string // of the statement that runs; empty: none does
	database string
	since    time.Time
	cancel   context.CancelFunc // of the statement
	killed   bool
}

func (a *activity) begin(text, database string, cancel context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text, a.database, a.since, a.cancel = text, database, time.Now(), cancel
}

func (a *activity) end(database string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text, a.database, a.since, a.cancel = "", database, time.Now(), nil
}

// kill ends the statement that runs, and the session if all says so.
func (a *activity) kill(all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.killed = a.killed || all
	if a.cancel != nil {
		a.cancel()
	}
}

// Killed says whether KILL has ended the session.
func (s *Session) Killed() bool {
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	return s.activity.killed
}

// alive reports that the session was killed; a transaction that it had begun is rolled back.
func (s *Session) alive() error {
	if !s.Killed() {
		return nil
	}
	s.rollback()
	return sqlerr.New(sqlerr.CodeSessionKilled, sqlerr.User, "The session was killed.")
}

// kill runs KILL and KILL QUERY.
func (s *Session) kill(st *statement, n *ast.KillStmt) (*Result, error) {
	id := n.ConnectionID
	if n.Expr != nil {
		v, err := s.evaluate(st, n.Expr)
		if err != nil {
			return nil, err
		}
		number, status := types.Cast(v, types.Uint64)
		if v.Null || status > types.ConvertRounded {
			return nil, sqlerr.WrongArguments("KILL").WithHint("give the number of a session; SHOW PROCESSLIST lists them")
		}
		id = uint64(number.I)
	}
	for _, other := range s.engine.sessions.list() {
		if other.id == id {
			other.activity.kill(!n.Query)
			if !n.Query { // it may be idle, and its client not know of its end for long
				s.engine.tableLocks.Release(id)
				s.engine.locks.Of(id).ReleaseAll()
			}
			return &Result{}, nil
		}
	}
	return nil, sqlerr.New(sqlerr.CodeNoSuchThread, sqlerr.User, "Unknown thread id: %d", id).WithHint("SHOW PROCESSLIST lists the numbers of sessions")
}

var processColumns = []ResultColumn{
	{Name: "Id", Type: types.Uint64}, {Name: "User", Type: types.Text}, {Name: "Host", Type: types.Text}, {Name: "db", Type: types.Text, Nullable: true},
	{Name: "Command", Type: types.Text}, {Name: "Time", Type: types.Int64}, {Name: "State", Type: types.Text, Nullable: true}, {Name: "Info", Type: types.Text, Nullable: true},
}
