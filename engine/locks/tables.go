package locks

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
)

// Tables are the locks of LOCK TABLES. Before it does anything, a statement waits while another session has locked what it reads for writing, or what it
// writes at all. COMMIT waits in the same way for what the transaction has written.
//
// There are no deadlocks, because who waits holds no lock: LOCK TABLES gives back what the session has locked before, and takes all its locks at once.
type Tables struct {
	held    atomic.Int64 // tables that are locked; where there are none nobody looks further
	taken   atomic.Int64 // times that tables were locked
	mu      sync.Mutex
	tables  map[catalog.TableID]*tableLock
	changed chan struct{} // closed when a lock becomes free
}

type tableLock struct {
	writer  uint64 // the session that has locked it for writing; 0: none
	readers map[uint64]bool
}

// Use is what a statement does with a table.
type Use struct {
	Table  catalog.TableID
	Writes bool
}

// NewTables returns locks that nobody holds.
func NewTables() *Tables {
	return &Tables{tables: map[catalog.TableID]*tableLock{}, changed: make(chan struct{})}
}

// free says whether no other session's lock forbids the uses. mu is held.
func (l *Tables) free(session uint64, uses []Use) bool {
	for _, u := range uses {
		lock := l.tables[u.Table]
		if lock == nil {
			continue
		}
		if lock.writer != 0 && lock.writer != session {
			return false
		}
		for reader := range lock.readers {
			if u.Writes && reader != session {
				return false
			}
		}
	}
	return true
}

// IsHeld says whether any table is locked.
func (l *Tables) IsHeld() bool { return l.held.Load() > 0 }

// Await waits until no other session's lock forbids the uses, at most as long as lock_wait_timeout says.
func (l *Tables) Await(ctx context.Context, session uint64, uses []Use, timeout time.Duration) error {
	if !l.IsHeld() {
		return nil
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		l.mu.Lock()
		free, changed := l.free(session, uses), l.changed
		l.mu.Unlock()
		if free {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return sqlerr.LockWaitTimeout()
		case <-ctx.Done():
			return sqlerr.Interrupted(context.Cause(ctx))
		}
	}
}

// Allows says whether no other session's lock forbids the uses now.
func (l *Tables) Allows(session uint64, uses []Use) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.free(session, uses)
}

// TimesTaken counts the times that tables were locked.
func (l *Tables) TimesTaken() int64 { return l.taken.Load() }

// TryTake takes locks, all or none.
func (l *Tables) TryTake(session uint64, uses []Use) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.free(session, uses) {
		return false
	}
	for _, u := range uses {
		lock := l.tables[u.Table]
		if lock == nil {
			lock = &tableLock{readers: map[uint64]bool{}}
			l.tables[u.Table] = lock
		}
		if u.Writes {
			lock.writer = session
		} else {
			lock.readers[session] = true
		}
	}
	l.held.Store(int64(len(l.tables)))
	l.taken.Add(1)
	return true
}

// Release gives all locks of a session back.
func (l *Tables) Release(session uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, lock := range l.tables {
		delete(lock.readers, session)
		if lock.writer == session {
			lock.writer = 0
		}
		if lock.writer == 0 && len(lock.readers) == 0 {
			delete(l.tables, id)
		}
	}
	l.held.Store(int64(len(l.tables)))
	close(l.changed)
	l.changed = make(chan struct{})
}
