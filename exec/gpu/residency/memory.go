package residency

import (
	"errors"
	"time"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/gpukernels"
)

// Alloc takes device memory within a query's budget, evicting what nobody uses if need be. The caller frees it. What it is for goes into the error, which is
// a gpukernels.ErrOutOfMemory where memory is short, and a *Lack, too, where a limit is the reason.
func (r *Residency) Alloc(s *gpukernels.Stream, of *memory.Budget, what string, bytes int64) (gpukernels.Ptr, error) {
	for again := true; ; {
		address, err := r.ledger.take(s, of, what, bytes)
		if err == nil || !errors.Is(err, gpukernels.ErrOutOfMemory) {
			return address, err
		}
		own := (*Lack)(nil)
		limited := errors.As(err, &own)
		if limited && own.IsQuerys { // nothing that others hold would help
			return 0, err
		}
		if r.Evict(bytes) || r.takeBack() {
			continue
		}
		if !limited || !again {
			return 0, err
		}
		again = false // somebody else may have evicted since what was in the way
	}
}

// SetLimit bounds what queries and columns hold together, for as long as an owner wants it; 0: it no longer does. Where several owners set a limit, the least counts. Columns that
// no query uses are given up for it.
func (r *Residency) SetLimit(owner any, bytes int64) {
	if over := r.ledger.bound(owner, bytes); over > 0 {
		r.Evict(over)
	}
}

// LimitTables bounds what table columns take, for as long as an owner wants it; 0: it no longer does. Where several owners set a limit, the least counts. Columns that no query uses
// are given up for it.
func (r *Residency) LimitTables(owner any, bytes int64) {
	if over := r.ledger.boundColumns(owner, bytes); over > 0 {
		r.Evict(over)
	}
}

// TableCapacity is how much memory the table columns of a query may take which allows them so many bytes; 0: as many as there are. That leaves an eighth of the device to what the query
// holds besides.
func (r *Residency) TableCapacity(limit int64) int64 { return r.bounded(r.Capacity()/8*7, limit) }

// MostTables is TableCapacity of a query that holds nothing besides.
func (r *Residency) MostTables(limit int64) int64 { return r.bounded(r.Capacity(), limit) }

// bounded is the least of a number of bytes, of a query's limit for table columns, and of that of all queries.
func (r *Residency) bounded(bytes, limit int64) int64 {
	for _, l := range []int64{limit, r.ledger.columns.Limit()} {
		if l > 0 {
			bytes = min(bytes, l)
		}
	}
	return bytes
}

// QueryBudget is the budget of a query that may hold so many bytes of its own; 0: as many as there are. Its setting is radish_gpu_memory_limit.
func (r *Residency) QueryBudget(limit int64) *memory.Budget {
	return r.ledger.all.DeviceChild(limit, "radish_gpu_memory_limit")
}

// Capacity is how much memory queries and table columns may hold together.
func (r *Residency) Capacity() int64 {
	all := r.device.Info().MemoryBytes
	if limit := r.Limit(); limit > 0 {
		return min(limit, all)
	}
	return all
}

// Limit is the least limit that was set; 0: there is none.
func (r *Residency) Limit() int64 { return r.ledger.all.Limit() }

// Used is the memory that columns and dictionaries take.
func (r *Residency) Used() int64 { return r.ledger.columns.Used() }

// Free gives back what Alloc gave.
func (r *Residency) Free(s *gpukernels.Stream, p gpukernels.Ptr) { r.ledger.give(s, p) }

// Short says why the device has no memory left for more columns than it holds, and how long nobody tries again; "": it has, as far as is known.
func (r *Residency) Short() (reason string, left time.Duration) { return r.shortage.lasts() }

// RanShort notes that a query, which holds so much, got no more memory. One that holds half of the device's may be too large for it: that says nothing of others.
func (r *Residency) RanShort(held int64, reason string) {
	if held < r.Capacity()/2 {
		r.shortage.met(reason)
	}
}

// UseClock is for tests: the device's pauses pass by another clock, and one that lasts ends.
func (r *Residency) UseClock(now func() time.Time) {
	r.shortage.mu.Lock()
	defer r.shortage.mu.Unlock()
	r.shortage.now, r.shortage.until = now, time.Time{}
}

// Made is a column that a query has made on the device in the form of a table's, for a version that does not exist yet. It belongs to the query until Adopt or Discard.
type Made struct {
	Data  gpukernels.Ptr // address of the items
	Valid gpukernels.Ptr // address of the bitmap; 0: there is none

	class  form.Class
	width  int
	base   int64
	rows   int64
	memory []gpukernels.Ptr
	size   int64
}

// Discard frees a column that no version takes over. The stream that has made it is empty.
func (r *Residency) Discard(m *Made) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.discard(m)
}

// discard is Discard. The caller holds mu.
func (r *Residency) discard(m *Made) {
	if !r.closed {
		for _, p := range m.memory {
			r.ledger.give(r.freeing, p)
		}
	}
	m.memory = nil
}
