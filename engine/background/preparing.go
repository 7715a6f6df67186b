// Package background holds work for the GPU that no statement waits for: queries that are prepared while the CPU runs them (preparing.go), and kernels of
// prepared statements that are compiled before these run (ahead.go). It knows neither databases nor sessions: who asks passes a function that does the work.
package background

import (
	"context"
	"sync"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/workqueue"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// MostPreparing is how many statements are prepared for the GPU at once: each keeps a core busy, which queries want, too.
const MostPreparing = 2

// mostWaiting is how many more may wait for their turn; those that come then are prepared when they run again.
const mostWaiting = 256

// Preparations are the statements whose kernels are written and compiled, and whose columns are uploaded, while nobody waits, or while the CPU runs them. They
// go on when the statement has ended: the next run finds what they made.
type Preparations struct {
	queue *workqueue.Queue

	mu sync.Mutex
	by map[uint64]*preparation // by fingerprint
}

// NewPreparations returns one without statements.
func NewPreparations() *Preparations {
	return &Preparations{queue: workqueue.New(MostPreparing, mostWaiting), by: map[uint64]*preparation{}}
}

// preparation is one of them.
type preparation struct {
	done   chan struct{} // closed when the rest is there
	placed *gpu.Placed
	reason string // without placed: why the GPU cannot run it; "": it was cancelled
}

// Prepare has a statement prepared, for as long as the engine lives, and waits until it is or ctx ends. If the statement, run by somebody else, is already being
// prepared, it waits for that first.
func (x *Preparations) Prepare(ctx, engine context.Context, fingerprint uint64, f func(context.Context) (*gpu.Placed, string)) (*gpu.Placed, string) {
	for {
		p, mine := x.add(engine, fingerprint, f)
		if p == nil {
			return nil, ""
		}
		select {
		case <-p.done:
		case <-ctx.Done():
			return nil, ""
		}
		if mine {
			return p.placed, p.reason
		}
	}
}

// add returns the preparation of a statement, begun if there is none; mine says that it was. It is nil if too many wait.
func (x *Preparations) add(engine context.Context, fingerprint uint64, f func(context.Context) (*gpu.Placed, string)) (p *preparation, mine bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.by[fingerprint]; p != nil {
		return p, false
	}
	p = &preparation{done: make(chan struct{})}
	if !x.queue.Add(func() { x.run(engine, fingerprint, p, f) }) {
		return nil, false
	}
	x.by[fingerprint] = p
	return p, true
}

// run prepares a statement, unless its engine has ended.
func (x *Preparations) run(engine context.Context, fingerprint uint64, p *preparation, f func(context.Context) (*gpu.Placed, string)) {
	if engine.Err() == nil {
		if err := sqlerr.Guard(func() error { p.placed, p.reason = f(engine); return nil }); err != nil {
			p.reason = err.Error()
		}
	}
	if engine.Err() != nil {
		p.placed, p.reason = nil, ""
	}
	x.mu.Lock()
	delete(x.by, fingerprint)
	x.mu.Unlock()
	close(p.done)
}

// Count is how many statements are being prepared or wait for that.
func (x *Preparations) Count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.by)
}
