package residency

import (
	"fmt"
	"sync"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/gpukernels"
)

// ledger counts the device memory that queries and table columns hold together, and bounds it.
type ledger struct {
	all     *memory.Budget
	columns *memory.Budget // the part of it that entries take

	mu    sync.Mutex
	owned map[gpukernels.Ptr]allocation
	// By who has set one; the least counts.
	limits, columnLimits map[any]int64
}

// allocation is memory that is counted.
type allocation struct {
	bytes int64
	of    *memory.Budget
}

func newLedger() ledger {
	all := memory.NewDevice("gpu_memory_limit")
	return ledger{all: all, columns: all.DeviceChild(0, "radish_gpu_table_memory"), owned: map[gpukernels.Ptr]allocation{}, limits: map[any]int64{}, columnLimits: map[any]int64{}}
}

// Lack is the error of memory that a limit refuses. It is a gpukernels.ErrOutOfMemory, too.
type Lack struct {
	*memory.Shortage
	IsQuerys bool // the limit is the query's own: the device may have more
}

// Unwrap has errors.Is and errors.As find both.
func (e *Lack) Unwrap() []error { return []error{e.Shortage, gpukernels.ErrOutOfMemory} }

// take allocates memory within a budget. what it is for goes into the error.
func (l *ledger) take(s *gpukernels.Stream, of *memory.Budget, what string, bytes int64) (gpukernels.Ptr, error) {
	if err := of.Reserve(what, bytes); err != nil {
		if x, ok := err.(*memory.Shortage); ok {
			err = &Lack{x, x.Of != l.all && x.Of != l.columns}
		}
		return 0, err
	}
	p, err := s.Alloc(bytes)
	if err != nil {
		of.Release(bytes)
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	l.mu.Lock()
	l.owned[p] = allocation{bytes, of}
	l.mu.Unlock()
	return p, nil
}

// give frees memory. A device that is lost has nothing to give back, so errors do not matter.
func (l *ledger) give(s *gpukernels.Stream, p gpukernels.Ptr) {
	l.mu.Lock()
	a := l.owned[p]
	delete(l.owned, p)
	l.mu.Unlock()
	a.of.Release(a.bytes)
	_ = s.Free(p)
}

// bound sets the limit of one of those that share the device; 0: it has none. It returns by how many bytes what is held exceeds the least of them.
func (l *ledger) bound(owner any, bytes int64) (over int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return setLeast(l.all, l.limits, owner, bytes)
}

// boundColumns is bound for what table columns take.
func (l *ledger) boundColumns(owner any, bytes int64) (over int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return setLeast(l.columns, l.columnLimits, owner, bytes)
}

// setLeast gives a budget the least of several owners' limits, of which one changes. It returns by how many bytes what is held exceeds it.
func setLeast(of *memory.Budget, limits map[any]int64, owner any, bytes int64) (over int64) {
	if limits[owner] == bytes {
		return 0
	}
	if bytes == 0 {
		delete(limits, owner)
	} else {
		limits[owner] = bytes
	}
	least := int64(0)
	for _, limit := range limits {
		if least == 0 || limit < least {
			least = limit
		}
	}
	of.SetLimit(least)
	if least == 0 {
		return 0
	}
	return of.Used() - least
}
