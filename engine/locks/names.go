// Package locks has the locks that statements take by name: those of GET_LOCK, and those of LOCK TABLES.
package locks

import (
	"context"
	"sync"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Names are the locks of GET_LOCK.
type Names struct {
	mu      sync.Mutex
	held    map[string]*namedLock
	changed chan struct{} // closed when a lock becomes free
}

type namedLock struct {
	session uint64
	times   int64
}

// NewNames returns locks that nobody holds.
func NewNames() *Names {
	return &Names{held: map[string]*namedLock{}, changed: make(chan struct{})}
}

// Of returns the locks as a session sees them.
func (l *Names) Of(session uint64) OfSession { return OfSession{l, session} }

// freed wakes those who wait. mu is held.
func (l *Names) freed() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// OfSession is the [expr.Locks] of a session.
type OfSession struct {
	*Names
	session uint64
}

// Get implements [expr.Locks].
func (l OfSession) Get(ctx context.Context, name string, wait time.Duration) (bool, error) {
	var over <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	for {
		l.mu.Lock()
		lock := l.held[name]
		if lock == nil {
			lock = &namedLock{session: l.session}
			l.held[name] = lock
		}
		if lock.session == l.session {
			lock.times++
			l.mu.Unlock()
			return true, nil
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-over:
			return false, nil
		case <-ctx.Done():
			return false, sqlerr.Interrupted(context.Cause(ctx))
		}
	}
}

// Release implements [expr.Locks].
func (l OfSession) Release(name string) (released, exists bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.held[name]
	if lock == nil || lock.session != l.session {
		return false, lock != nil
	}
	if lock.times--; lock.times == 0 {
		delete(l.held, name)
		l.freed()
	}
	return true, true
}

// ReleaseAll implements [expr.Locks].
func (l OfSession) ReleaseAll() (count int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, lock := range l.held {
		if lock.session == l.session {
			count += lock.times
			delete(l.held, name)
		}
	}
	if count > 0 {
		l.freed()
	}
	return count
}

// Holder implements [expr.Locks].
func (l OfSession) Holder(name string) (session uint64, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.held[name]
	if lock == nil {
		return 0, false
	}
	return lock.session, true
}
