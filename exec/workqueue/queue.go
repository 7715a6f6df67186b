// Package workqueue runs work that nobody waits for: columns that are uploaded and kernels that are compiled before a query asks for them.
package workqueue

import (
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Queue runs functions in their order, a few at once. It is safe for concurrent use.
type Queue struct {
	workers int // run at once
	most    int // may wait besides

	mu      sync.Mutex
	waiting []func()
	running int
	closed  bool
	idle    sync.WaitGroup
}

// New returns a queue that runs so many functions at once, and has so many wait at most.
func New(workers, most int) *Queue { return &Queue{workers: workers, most: most} }

// Add has f run behind those that wait. It does not if too many wait, or if the queue is closed. A panic of f ends f alone: whoever needs its work meets the same.
func (q *Queue) Add(f func()) (added bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.waiting) >= q.most {
		return false
	}
	q.waiting = append(q.waiting, f)
	if q.running < q.workers {
		q.running++
		q.idle.Go(q.work)
	}
	return true
}

// work runs what waits.
func (q *Queue) work() {
	for f := q.next(); f != nil; f = q.next() {
		_ = sqlerr.Guard(func() error { f(); return nil })
	}
}

// next takes the first that waits; nil: the worker ends.
func (q *Queue) next() (f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 || q.closed {
		q.running--
		return nil
	}
	f, q.waiting[0] = q.waiting[0], nil // else the list would keep what f holds
	q.waiting = q.waiting[1:]
	return f
}

// Count is how many functions wait or run.
func (q *Queue) Count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + q.running
}

// Close drops what waits, and returns when nothing runs any more.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed, q.waiting = true, nil
	q.mu.Unlock()
	q.idle.Wait()
}
