package schedule

import (
	"context"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
)

const (
	// queueBatches is how many batches wait for the client before workers have to, and again, for each thread, how many wait for an earlier
	// morsel's to go out first. If these were fewer than a morsel's, most of many workers would wait for their turn.
	queueBatches = 64
	// queueBytes is how much they hold at most, unless a single batch is larger. Under a memory limit threads do not count.
	queueBytes = 4 << 20
)

// queued is a batch in a queue, with the bytes that it has reserved.
type queued struct {
	*column.Batch
	bytes int64
}

// release gives back what a device has of the batch.
func (b queued) release() {
	if b.Stored != nil {
		b.Stored.Release()
	}
}

// Queue hands the rows of a result to the client: batches come out in the order of their morsels. Any number of workers put, one client takes.
type Queue struct {
	state *State
	mem   *memory.Budget
	// waits: a client reads beside the workers, and they wait for it when the queue is full. Else the rows are few and all kept.
	waits bool
	turns int // times queueBatches may wait for an earlier morsel's

	mu       sync.Mutex
	cond     sync.Cond
	next     int              // the morsel whose batches go out now
	pending  map[int][]queued // of later morsels
	done     map[int]bool     // later morsels that are complete
	held     int              // batches in pending
	waiting  int64            // bytes of pending
	ready    []queued
	offered  int64 // bytes of ready
	finished bool
	closed   bool
	lent     int64 // bytes of the batch that was taken last
}

func (r *Queue) init(state *State, mem *memory.Budget, threads int) {
	r.state, r.mem, r.turns = state, mem, 1
	if !mem.Limited() {
		r.turns = threads
	}
	r.cond.L = &r.mu
}

// wake lets those who wait see that something has changed.
func (r *Queue) wake() {
	r.mu.Lock()
	r.cond.Broadcast()
	r.mu.Unlock()
}

// Start says which morsel is the first of the pipeline that starts.
func (r *Queue) Start(seq int) {
	r.mu.Lock()
	r.next = seq
	r.mu.Unlock()
}

// Put hands over a batch of a morsel, for which so many bytes are reserved, waiting while the queue is full. It returns ErrStop if the client
// wants no more.
func (r *Queue) Put(seq int, batch *column.Batch, bytes int64) error {
	b := queued{batch, bytes}
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.waits && !r.closed && !r.state.Stopped.Load() {
		if seq == r.next && len(r.ready) < queueBatches && r.offered < queueBytes || seq != r.next && r.held < r.turns*queueBatches && r.waiting < int64(r.turns)*queueBytes {
			break
		}
		r.cond.Wait()
	}
	if r.closed {
		b.release()
		return ErrStop
	}
	if err := r.state.Check(); err != nil {
		b.release()
		return err
	}
	if seq == r.next {
		r.ready = append(r.ready, b)
		r.offered += b.bytes
		r.cond.Broadcast()
		return nil
	}
	if r.pending == nil {
		r.pending, r.done = map[int][]queued{}, map[int]bool{}
	}
	r.pending[seq] = append(r.pending[seq], b)
	r.held++
	r.waiting += b.bytes
	return nil
}

// Complete lets later morsels' batches out when an earlier one is done.
func (r *Queue) Complete(seq int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq != r.next {
		if r.done == nil {
			r.pending, r.done = map[int][]queued{}, map[int]bool{}
		}
		r.done[seq] = true
		return
	}
	for {
		r.next++
		for _, b := range r.pending[r.next] {
			r.ready = append(r.ready, b)
			r.offered += b.bytes
			r.waiting -= b.bytes
			r.held--
		}
		delete(r.pending, r.next)
		if !r.done[r.next] {
			break
		}
		delete(r.done, r.next)
	}
	r.cond.Broadcast()
}

// end tells the client that nothing more comes.
func (r *Queue) end() {
	r.mu.Lock()
	r.finished = true
	r.cond.Broadcast()
	r.mu.Unlock()
}

// take returns the next batch, or nil after the last. beside says that workers run beside the client.
func (r *Queue) take(ctx context.Context, beside bool) (*column.Batch, error) {
	if ctx.Done() != nil && beside {
		stop := context.AfterFunc(ctx, r.wake)
		defer stop()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mem.Release(r.lent)
	r.lent = 0
	for {
		if err := r.state.Failure(); err != nil {
			return nil, sqlerr.From(err)
		}
		if err := ctx.Err(); err != nil {
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		}
		if r.closed {
			return nil, nil
		}
		if len(r.ready) > 0 {
			b := r.ready[0]
			r.ready[0] = queued{} // else the list would keep the batch
			r.ready = r.ready[1:]
			r.offered -= b.bytes
			if r.lent = b.bytes; b.Stored != nil { // whoever stores the rows counts them from now on
				r.mem.Release(r.lent)
				r.lent = 0
			}
			r.cond.Broadcast()
			return b.Batch, nil
		}
		if r.finished {
			return nil, nil
		}
		r.cond.Wait()
	}
}

// close throws away what waits, and has those who put more stop.
func (r *Queue) close() {
	r.mu.Lock()
	r.closed = true
	for _, b := range r.ready {
		b.release()
	}
	for _, batches := range r.pending {
		for _, b := range batches {
			b.release()
		}
	}
	r.ready, r.pending = nil, nil
	r.lent = 0 // the query gives back all that it has reserved
	r.mu.Unlock()
	r.state.Stopped.Store(true)
	r.wake()
}
