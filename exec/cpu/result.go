package cpu

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// queueBatches is how many batches wait for the client before workers have to, and again how many wait for an earlier
// morsel's to go out first.
const queueBatches = 64

const (
	// Workers hand over a batch when it has a vector of rows, or texts of resultTexts bytes.
	resultTexts = 1 << 20
	// queueBytes is how much each queue holds at most, unless a single batch is larger.
	queueBytes = 4 << 20
)

// queued is a batch in a queue, with the bytes that it has reserved.
type queued struct {
	*column.Batch
	bytes int64
}

// result is the sink that hands rows to the client: batches come out in the order of their morsels.
type result struct {
	q     *execution
	p     *physical.Result
	types []types.Type
	// wait: a consumer runs beside the workers, and they wait for it when the queue is full. Else the rows are few and
	// all kept.
	wait bool

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
	locals   []*resultLocal
}

func (q *execution) newResult(p *physical.Result) *result {
	r := &result{q: q, p: p, types: q.plan.Types(), locals: make([]*resultLocal, q.Threads)}
	r.cond.L = &r.mu
	return r
}

// streams says whether so many rows at most go to the client while the query runs. Else they are all kept first; that of texts, however long
// they may be, only for few rows where memory is limited.
func (r *result) streams(rows int) bool {
	if rows > syncRows {
		return true
	}
	return rows > syncTexts && r.q.Memory.Limited() && slices.ContainsFunc(r.types, types.Type.IsString)
}

type resultLocal struct {
	r     *result
	rows  rowstore.Store
	slots []int
	cols  []*column.Vector
	seq   int
}

func (r *result) Local(w *task.Worker, l *pipeline.Layout) (pipeline.LocalSink, error) {
	x := &resultLocal{r: r, cols: make([]*column.Vector, len(r.p.In)), slots: make([]int, len(r.p.In))}
	x.rows.Types = r.types
	x.rows.Mem = memory.Account{Budget: r.q.Memory, Operator: cmp.Or(r.q.cfg.Result, "result")}
	for i, id := range r.p.In {
		s, err := l.Lookup(&expr.Column{ID: id, Name: "of the result"})
		if err != nil {
			return nil, err
		}
		x.slots[i] = s
	}
	return x, nil
}

func (x *resultLocal) Begin(seq int) { x.seq = seq }

func (x *resultLocal) Push(b *column.Batch) error {
	for i, s := range x.slots {
		x.cols[i] = b.Cols[s]
	}
	if b.Rows() <= rowstore.LooseRows || !rowstore.IsLoose(x.cols) {
		return x.keep(b.Sel, b.N)
	}
	x.rows.Expect = column.VectorSize
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	for from := 0; from < len(sel); from += rowstore.LooseRows {
		if err := x.keep(sel[from:min(from+rowstore.LooseRows, len(sel))], b.N); err != nil {
			return err
		}
	}
	return nil
}

// keep takes some rows of the batch that was pushed, and hands over what is enough for one.
func (x *resultLocal) keep(sel []int32, n int) error {
	if err := x.rows.Append(x.cols, sel, n); err != nil {
		return err
	}
	if x.rows.N >= column.VectorSize || x.rows.Texts.Bytes >= resultTexts {
		return x.flush()
	}
	return nil
}

func (x *resultLocal) End(seq int) error {
	if err := x.flush(); err != nil {
		return err
	}
	x.r.complete(seq)
	return nil
}

func (x *resultLocal) flush() error {
	total, n := x.rows.Mem.Used(), int64(len(x.rows.Segs))
	if err := x.rows.Mem.Leave(total); err != nil {
		return err
	}
	for i, seg := range x.rows.Segs {
		b := &column.Batch{N: seg.N, Cols: make([]*column.Vector, len(seg.Cols))}
		for c, v := range seg.Cols {
			b.Cols[c] = &column.Vector{}
			vec.Slice(b.Cols[c], v, 0, seg.N)
		}
		bytes := total / n
		if i == 0 {
			bytes += total % n
		}
		if err := x.r.put(x.seq, queued{b, bytes}); err != nil {
			return err
		}
	}
	x.rows.Segs, x.rows.N, x.rows.Texts = nil, 0, rowstore.Arena{}
	return nil
}

// put hands over a batch of a morsel, waiting while the queue is full.
func (r *result) put(seq int, b queued) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.wait && !r.closed && !r.q.Stopped.Load() {
		if seq == r.next && len(r.ready) < queueBatches && r.offered < queueBytes || seq != r.next && r.held < queueBatches && r.waiting < queueBytes {
			break
		}
		r.cond.Wait()
	}
	if r.closed {
		return task.ErrStop
	}
	if err := r.q.Check(); err != nil {
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

// complete lets later morsels' batches out when an earlier one is done.
func (r *result) complete(seq int) {
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

// startPipeline says which morsel is the first of the pipeline that starts.
func (r *result) startPipeline(seq int) {
	r.mu.Lock()
	r.next = seq
	r.mu.Unlock()
}

func (r *result) Finish() error { return nil }

// end tells the consumer that nothing more comes.
func (r *result) end() {
	r.mu.Lock()
	r.finished = true
	r.cond.Broadcast()
	r.mu.Unlock()
}

// Cursor is the stream of a query's result.
type Cursor struct {
	q    *execution
	r    *result
	stop func() bool   // ends the watch over the context
	done chan struct{} // closed when no goroutine of the query runs any more; nil: none ever ran
	last bool
	lent int64 // bytes of the batch that Next gave last
}

// Next returns the next batch, or nil after the last. The batch is dense (no selection) and the caller's to keep.
func (c *Cursor) Next(ctx context.Context) (*column.Batch, error) {
	r := c.r
	if ctx.Done() != nil && c.done != nil {
		stop := context.AfterFunc(ctx, func() {
			r.mu.Lock()
			r.cond.Broadcast()
			r.mu.Unlock()
		})
		defer stop()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.q.Memory.Release(c.lent)
	c.lent = 0
	for {
		if err := c.q.Failure(); err != nil {
			return nil, sqlerr.From(err)
		}
		if err := ctx.Err(); err != nil {
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		}
		if c.last || r.closed {
			return nil, nil
		}
		if len(r.ready) > 0 {
			b := r.ready[0]
			r.ready = r.ready[1:]
			r.offered -= b.bytes
			c.lent = b.bytes
			r.cond.Broadcast()
			return b.Batch, nil
		}
		if r.finished {
			c.last = true
			return nil, nil
		}
		r.cond.Wait()
	}
}

// Close ends the query, waits for its workers and gives its memory back. It may be called more than once.
func (c *Cursor) Close() error {
	r := c.r
	r.mu.Lock()
	r.closed = true
	r.ready, r.pending = nil, nil
	c.lent = 0 // the query gives back all that it has reserved
	r.mu.Unlock()
	c.q.Stopped.Store(true)
	r.mu.Lock()
	r.cond.Broadcast()
	r.mu.Unlock()
	if c.done != nil {
		<-c.done
	}
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	c.q.close()
	return nil
}

// Plan is the plan that gives the rows.
func (c *Cursor) Plan() *physical.Plan { return c.q.plan }

// Profile returns what the query cost so far; it is complete once Next has returned nil. It has no operators unless
// the configuration asked for them.
func (c *Cursor) Profile() *profile.Plan {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	p := c.q.prof
	p.PeakMemory = c.q.Memory.Peak()
	return &p
}
