package background

import (
	"sync"

	"github.com/radish-sql/radish/exec/workqueue"
)

// mostAhead is how many statements may wait for their kernels to be written, aheadKnown how many are remembered not to be written again.
const (
	mostAhead  = 64
	aheadKnown = 4096
)

// CompilesAhead are the statements whose kernels are still to be written. They are written one after the other.
type CompilesAhead struct {
	queue *workqueue.Queue

	mu    sync.Mutex
	known map[uint64]bool // fingerprints
}

// NewCompilesAhead returns one without statements.
func NewCompilesAhead() *CompilesAhead {
	return &CompilesAhead{queue: workqueue.New(1, mostAhead), known: map[uint64]bool{}}
}

// Add has f run behind those that wait, unless that was done for the fingerprint before, or too many wait.
func (x *CompilesAhead) Add(fingerprint uint64, f func()) (added bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known[fingerprint] || !x.queue.Add(f) {
		return false
	}
	if len(x.known) >= aheadKnown {
		clear(x.known)
	}
	x.known[fingerprint] = true
	return true
}

// Known is how many statements are remembered.
func (x *CompilesAhead) Known() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.known)
}

// Count is how many statements wait, the one at work included.
func (x *CompilesAhead) Count() int { return x.queue.Count() }
