package devicemem

import (
	"context"
	"sync/atomic"

	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/gpukernels"
)

// Memory is the device memory of a query. It serves one goroutine.
type Memory struct {
	Stream     *gpukernels.Stream // orders all work of the query
	Budget     *memory.Budget
	Downloaded atomic.Int64 // bytes; any goroutine may read it

	pool  *residency.Residency
	held  map[gpukernels.Ptr]bool // has to be freed
	arena arena

	// Apart gives each array an allocation of its own. Tests set it, since the emulated device sees only what is written outside of an allocation.
	Apart bool
}

// arena is memory for a query's small things, zero at first. What is taken stays until the query is closed.
type arena struct {
	next     gpukernels.Ptr
	left     int64
	firstEnd gpukernels.Ptr // of the memory that was taken first
}

// New returns the memory of a query whose work a stream orders, without a limit.
func New(pool *residency.Residency, s *gpukernels.Stream, apart bool) *Memory {
	return &Memory{pool: pool, Stream: s, Budget: pool.QueryBudget(0), held: map[gpukernels.Ptr]bool{}, Apart: apart}
}

// Alloc allocates what lives until it is freed, or until the query is closed. what says what it is for, in errors.
func (m *Memory) Alloc(what string, bytes int64) (gpukernels.Ptr, error) {
	p, err := m.pool.Alloc(m.Stream, m.Budget, what, bytes)
	if err == nil {
		m.held[p] = true
	}
	return p, err
}

// Free gives back what Alloc gave. It does nothing with other addresses, 0 among them.
func (m *Memory) Free(p gpukernels.Ptr) {
	if m.held[p] {
		delete(m.held, p)
		m.pool.Free(m.Stream, p)
	}
}

// Close frees all that is left.
func (m *Memory) Close() {
	for p := range m.held {
		m.Free(p)
	}
}

// Filled allocates count items of a width that hold a value.
func (m *Memory) Filled(what string, count int64, width int, value uint64) (gpukernels.Ptr, error) {
	p, err := m.Alloc(what, count*int64(width))
	if err == nil && count > 0 {
		err = m.Stream.Fill(p, value, width, count)
	}
	return p, err
}

// Fetch downloads, and waits for the stream.
func (m *Memory) Fetch(ctx context.Context, dst []byte, src gpukernels.Ptr) error {
	m.Downloaded.Add(int64(len(dst)))
	return m.Stream.Download(ctx, dst, src)
}
