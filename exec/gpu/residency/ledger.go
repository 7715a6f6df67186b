package residency

import (
	"fmt"
	"math"
	"sync"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// ledger counts the device memory that queries and table columns hold together, and bounds it.
type ledger struct {
	mu     sync.Mutex
	used   int64
	sizes  map[gpukernels.Ptr]int64
	limits map[any]int64 // by who has set one; the least counts
	limit  int64         // 0: none
}

// take allocates memory, unless that would pass the limit.
func (m *ledger) take(s *gpukernels.Stream, bytes int64) (gpukernels.Ptr, error) {
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
func (m *ledger) give(s *gpukernels.Stream, p gpukernels.Ptr) {
	m.mu.Lock()
	m.used -= m.sizes[p]
	delete(m.sizes, p)
	m.mu.Unlock()
	_ = s.Free(p)
}

// bound sets the limit of one of those that share the device; 0: it has none. It returns by how much what is held is over the least of them.
func (m *ledger) bound(owner any, bytes int64) (over int64) {
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
func (m *ledger) left() (left, limit int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit == 0 {
		return math.MaxInt64, 0
	}
	return max(m.limit-m.used, 0), m.limit
}

// SetLimit bounds what queries and columns hold together, for as long as an owner wants it; 0: it no longer does. Where several owners set a limit, the least counts. Columns that
// no query uses are given up for it.
func (r *Residency) SetLimit(owner any, bytes int64) {
	if over := r.ledger.bound(owner, bytes); over > 0 {
		r.Evict(over)
	}
}

// Capacity is how much memory queries and table columns may hold together.
func (r *Residency) Capacity() int64 {
	_, limit := r.ledger.left()
	if all := r.device.Info().MemoryBytes; limit == 0 || limit > all {
		return all
	}
	return limit
}

// Limit is the limit that counts; 0: there is none.
func (r *Residency) Limit() int64 {
	_, limit := r.ledger.left()
	return limit
}

// Free gives back what Alloc gave.
func (r *Residency) Free(s *gpukernels.Stream, p gpukernels.Ptr) { r.ledger.give(s, p) }
