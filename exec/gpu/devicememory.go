package gpu

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// memoryLedger counts the device memory that queries and table columns hold together, and bounds it.
type memoryLedger struct {
	mu     sync.Mutex
	used   int64
	sizes  map[gpukernels.Ptr]int64
	limits map[any]int64 // by who has set one; the least counts
	limit  int64         // 0: none
}

// take allocates memory, unless that would pass the limit.
func (m *memoryLedger) take(s *gpukernels.Stream, bytes int64) (gpukernels.Ptr, error) {
	m.mu.Lock()
	if m.limit > 0 && m.used+bytes > m.limit {
		err := &gpukernels.Error{
			Kind:    gpukernels.KindOutOfMemory,
			Message: fmt.Sprintf("%s more are wanted, and of the %s that gpu_memory_limit allows %s are held", sqlerr.FormatBytes(bytes), sqlerr.FormatBytes(m.limit), sqlerr.FormatBytes(m.used)),
		}
		m.mu.Unlock()
		return 0, err
	}
	m.used += bytes
	m.mu.Unlock()
	p, err := s.Alloc(bytes)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.used -= bytes
		return 0, err
	}
	m.sizes[p] = bytes
	return p, nil
}

// give frees memory. A device that is lost has nothing to give back, so errors are nobody's.
func (m *memoryLedger) give(s *gpukernels.Stream, p gpukernels.Ptr) {
	m.mu.Lock()
	m.used -= m.sizes[p]
	delete(m.sizes, p)
	m.mu.Unlock()
	_ = s.Free(p)
}

// bound sets the limit of one of those that share the device; 0: it has none. It returns by how much what is held is over the least of them.
func (m *memoryLedger) bound(owner any, bytes int64) (over int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limits[owner] == bytes {
		return 0
	}
	if bytes == 0 {
		delete(m.limits, owner)
	} else {
		m.limits[owner] = bytes
	}
	m.limit = 0
	for _, l := range m.limits {
		if m.limit == 0 || l < m.limit {
			m.limit = l
		}
	}
	if m.limit == 0 {
		return 0
	}
	return m.used - m.limit
}

// left is how much more may be held, and how much that is in all; unbounded if there is no limit.
func (m *memoryLedger) left() (left, limit int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit == 0 {
		return math.MaxInt64, 0
	}
	return max(m.limit-m.used, 0), m.limit
}

// LimitMemory bounds what queries and table columns together hold of the device's memory; 0: only the device does. Where several set a limit, the least counts. Columns
// that no query uses are given up for it.
func (d *Device) LimitMemory(owner any, bytes int64) {
	if over := d.res.ledger.bound(owner, bytes); over > 0 {
		d.res.makeRoom(over)
	}
}

// capacity is how much memory queries and table columns may hold together.
func (d *Device) capacity() int64 {
	if _, limit := d.res.ledger.left(); limit > 0 {
		return min(limit, d.Info().MemoryBytes)
	}
	return d.Info().MemoryBytes
}

// shortage is a time in which a device's memory is full, of other processes' or of queries that run: nothing is uploaded that the CPU can do without, until a
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

// Short says why the device has no memory left for more columns than it holds, and how long nobody tries again; "": it has, as far as is known.
func (d *Device) Short() (reason string, left time.Duration) { return d.shortage.lasts() }

// Refuse has the advisor know why the device could not run a statement that nobody was waiting for; a lack of memory that others hold says nothing of the statement.
func (d *Device) Refuse(fingerprint uint64, reason string) {
	if full, _ := d.Short(); full == "" {
		d.advisor.Refuse(fingerprint, reason)
	}
}

// ranShort notes that a query, which holds so much, got no more memory. One that holds half of the device's may be too large for it: that says nothing of others.
func (d *Device) ranShort(held int64, reason string) {
	if held < d.capacity()/2 {
		d.shortage.met(reason)
	}
}

// UseClock is for tests: the device's pauses pass by another clock, and one that lasts ends.
func (d *Device) UseClock(now func() time.Time) {
	d.shortage.mu.Lock()
	defer d.shortage.mu.Unlock()
	d.shortage.now, d.shortage.until = now, time.Time{}
}
