package residency

import (
	"sync"
	"time"
)

// shortage is a time in which a device's memory is full, of other processes' or of queries that run. Nothing is uploaded that the CPU can do without, until a
// pause has passed, which doubles when that is too early.
type shortage struct {
	mu     sync.Mutex
	now    func() time.Time
	until  time.Time
	pause  time.Duration
	reason string
}

const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// met notes that memory was asked for in vain.
func (x *shortage) met(reason string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.now()
	switch {
	case now.Before(x.until): // another query that had begun before
		return
	case now.Sub(x.until) > lastPause:
		x.pause = firstPause
	default:
		x.pause = min(2*x.pause, lastPause)
	}
	x.until, x.reason = now.Add(x.pause), reason
}

// lasts says what was in vain, and how long nothing is tried; "": nothing keeps anybody from trying.
func (x *shortage) lasts() (reason string, left time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if left = x.until.Sub(x.now()); left <= 0 {
		return "", 0
	}
	return x.reason, left
}
