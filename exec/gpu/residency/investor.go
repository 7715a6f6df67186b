package residency

import (
	"sync"
	"time"
	"weak"

	tables "github.com/radish-sql/radish/storage/table"
)

// investor uploads columns that nobody waits for.
type investor struct {
	mu      sync.Mutex
	waiting []weak.Pointer[tables.Version]
	running bool
	closed  bool
	stop    chan struct{}  // closed with it
	idle    sync.WaitGroup // it runs
}

func (x *investor) close() {
	x.mu.Lock()
	x.closed = true
	close(x.stop)
	x.mu.Unlock()
	x.idle.Wait()
}

// wait waits, or until the device is closed.
func (x *investor) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-x.stop:
	}
}

func (x *investor) isClosed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closed
}
