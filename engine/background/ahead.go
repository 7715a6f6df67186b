package background

import (
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// mostAhead is how many statements may wait for their kernels to be written, aheadKnown how many are remembered not to be written again.
const (
	mostAhead  = 64
	aheadKnown = 4096
)

// CompilesAhead are the statements whose kernels are still to be written. They are written one after the other.
type CompilesAhead struct {
	mu      sync.Mutex
	waiting []func()
	running bool
	Known   map[uint64]bool // fingerprints
}

// Add has f run behind those that wait, unless that was done for the fingerprint before, or too many wait.
func (x *CompilesAhead) Add(fingerprint uint64, f func()) (added bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.Known[fingerprint] || len(x.waiting) >= mostAhead {
		return false
	}
	if x.Known == nil || len(x.Known) >= aheadKnown {
		x.Known = map[uint64]bool{}
	}
	x.Known[fingerprint] = true
	x.waiting = append(x.waiting, f)
	if !x.running {
		x.running = true
		go x.work()
	}
	return true
}

func (x *CompilesAhead) work() {
	for {
		x.mu.Lock()
		if len(x.waiting) == 0 {
			x.running = false
			x.mu.Unlock()
			return
		}
		f := x.waiting[0]
		x.waiting = x.waiting[1:]
		x.mu.Unlock()
		_ = sqlerr.Guard(func() error { f(); return nil }) // who runs the statement meets the same error
	}
}

// Count is how many statements wait, the one at work included.
func (x *CompilesAhead) Count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(x.waiting)
	if x.running {
		n++
	}
	return n
}
