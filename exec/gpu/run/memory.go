package run

import (
	"context"
	"sync/atomic"

	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/gpukernels"
)

// queryMemory is the device memory of a query. It comes from the pool of the device, in the order of the query's stream, and counts against the query's budget.
// It serves one goroutine.
type queryMemory struct {
	pool   *residency.Residency
	stream *gpukernels.Stream
	budget *memory.Budget
	held   map[gpukernels.Ptr]bool // has to be freed
	arena  arena

	// apart gives each array an allocation of its own. Tests set it, since the emulated device sees only what is written outside of an allocation.
	apart bool

	downloaded atomic.Int64 // bytes; any goroutine may read it
}

func newQueryMemory(pool *residency.Residency, s *gpukernels.Stream, apart bool) *queryMemory {
	return &queryMemory{pool: pool, stream: s, budget: pool.QueryBudget(0), held: map[gpukernels.Ptr]bool{}, apart: apart}
}

// alloc allocates what lives until it is freed, or until the query is closed. what says what it is for, in errors.
func (m *queryMemory) alloc(what string, bytes int64) (gpukernels.Ptr, error) {
	p, err := m.pool.Alloc(m.stream, m.budget, what, bytes)
	if err == nil {
		m.held[p] = true
	}
	return p, err
}

// free gives back what alloc gave. It does nothing with other addresses, 0 among them.
func (m *queryMemory) free(p gpukernels.Ptr) {
	if m.held[p] {
		delete(m.held, p)
		m.pool.Free(m.stream, p)
	}
}

// freeHeld frees all that is left.
func (m *queryMemory) freeHeld() {
	for p := range m.held {
		m.free(p)
	}
}

// filled allocates count items of a width that hold a value.
func (m *queryMemory) filled(what string, count int64, width int, value uint64) (gpukernels.Ptr, error) {
	p, err := m.alloc(what, count*int64(width))
	if err == nil && count > 0 {
		err = m.stream.Fill(p, value, width, count)
	}
	return p, err
}

// fetch downloads, and waits for the stream.
func (m *queryMemory) fetch(ctx context.Context, dst []byte, src gpukernels.Ptr) error {
	m.downloaded.Add(int64(len(dst)))
	return m.stream.Download(ctx, dst, src)
}
