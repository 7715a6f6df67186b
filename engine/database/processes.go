package database

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/radish-sql/radish/engine/infoschema"
)

// Sessions are what those of a database do, by their numbers. They are held weakly: a session that nobody has any more needs no closing.
type Sessions struct {
	mu    sync.Mutex
	Begun atomic.Uint64 // sessions so far
	byID  map[uint64]weak.Pointer[Activity]
}

// Add notes a session that begins. remove is called at its end.
func (l *Sessions) Add(a *Activity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID = map[uint64]weak.Pointer[Activity]{}
	}
	l.byID[a.ID] = weak.Make(a)
}

// Remove forgets a session that has ended.
func (l *Sessions) Remove(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, id)
}

// List returns what the sessions do, in the order of their numbers.
func (l *Sessions) List() []*Activity {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*Activity
	for _, p := range l.byID {
		if a := p.Value(); a != nil {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *Activity) int { return int(int64(a.ID) - int64(b.ID)) })
	return out
}

// Activity is what others may know of a session, and do to it.
type Activity struct {
	ID       uint64 // of the session
	mu       sync.Mutex
	text     string // of the statement that runs; empty: none does
	Database string
	Since    time.Time
	cancel   context.CancelFunc // of the statement
	killed   bool
}

// Begin notes that a statement begins, which cancel ends.
func (a *Activity) Begin(text, database string, cancel context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text, a.Database, a.Since, a.cancel = text, database, time.Now(), cancel
}

// End notes that the statement has ended, and the session's database then.
func (a *Activity) End(database string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text, a.Database, a.Since, a.cancel = "", database, time.Now(), nil
}

// Kill ends the statement that runs, and the session if all says so.
func (a *Activity) Kill(all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.killed = a.killed || all
	if a.cancel != nil {
		a.cancel()
	}
}

// IsKilled says whether KILL has ended the session.
func (a *Activity) IsKilled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.killed
}

// Process is what information_schema tells of the session.
func (a *Activity) Process() infoschema.Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return infoschema.Process{ID: a.ID, Database: a.Database, Text: a.text, IsKilled: a.killed, LastChange: a.Since}
}
