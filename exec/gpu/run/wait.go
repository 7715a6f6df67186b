package run

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// A pipeline is waited for where something here depends on what its kernel has counted: that its sink had room for all, how many rows there are to
// launch the next one over, that there was no error. What is known without, or can be asked by the next kernel, is no reason to wait.

// sortsHeld says whether a sink is a Sort whose rows are so few that they are ordered without knowing how many they are.
func (q *Query) sortsHeld(sink physical.Sink) bool {
	s, ok := sink.(*physical.Sort)
	return ok && (q.rowsOf[s].all || q.isTrusted(s)) && q.rowsOf[s].capacity <= sort.HeldRows && s.Count != 0 && s.Offset < q.rowsOf[s].capacity
}

// finish waits for a pipeline that was started. Where its sink had too little room it is made larger, and all pipelines that end there run again.
func (q *Query) finish(ctx context.Context, k *kernel.Kernel, cost *Cost) error {
	for tries := 0; ; tries++ {
		if err := q.Settle(ctx); err != nil {
			return err
		}
		again, err := q.grow(k)
		if err != nil || !again {
			return err
		}
		if tries > 40 {
			return fmt.Errorf("gpu: pipeline %d does not come to an end", k.Pipeline.ID)
		}
		for _, f := range q.Feeders[k.Pipeline.Sink] {
			if !q.done[f] {
				continue
			}
			if err := q.start(ctx, q.Kernels[f], cost); err != nil {
				return err
			}
		}
	}
}

// readsCounts says whether a launch of a kernel depends on how many rows pipelines gave that are still pending.
func (q *Query) readsCounts(k *kernel.Kernel) bool {
	if len(q.pending) == 0 {
		return false
	}
	if s := k.Rows.Of; s != nil && q.uncounted(s) && q.most(s) > sort.HeldRows && !q.isTrusted(s) {
		return true
	}
	for i := range k.Params {
		if w, ok := k.Params[i].Key.(kernel.RowCount); ok && q.uncounted(w.Sink) {
			return true
		}
	}
	return false
}

// uncounted says whether a pipeline that ends in a sink is pending.
func (q *Query) uncounted(s physical.Sink) bool {
	return slices.ContainsFunc(q.pending, func(x *kernel.Kernel) bool { return x.Pipeline.Sink == s })
}

// Settle waits for the pipelines that are pending and learns what they have counted, or that one of them met an error.
func (q *Query) Settle(ctx context.Context) error {
	if len(q.pending) == 0 {
		return nil
	}
	end := q.controlSize
	for _, k := range q.pending {
		end = max(end, q.resultEnd(k))
	}
	words := make([]uint64, (end+7)/8)
	q.counts = gpukernels.Bytes(words)[:end]
	if err := q.fetch(ctx, q.counts, q.control); err != nil {
		return err
	}
	pending := q.pending
	q.pending, q.queued = q.pending[:0], 0
	if slices.ContainsFunc(pending, func(k *kernel.Kernel) bool { return q.outgrown(k.Pipeline) }) {
		return errTooSmall // which may be the reason for an error
	}
	if code := binary.LittleEndian.Uint32(q.counts); code != 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: error %d at site %d of pipeline %d or one before it", ErrOnHost, code, binary.LittleEndian.Uint32(q.counts[4:]), pending[len(pending)-1].Pipeline.ID)
	}
	for _, k := range pending {
		for _, x := range k.All() {
			for i := range x.Sites {
				if binary.LittleEndian.Uint64(q.counts[q.warnings[x]+8*i:]) > 0 {
					return fmt.Errorf("%w: there are warnings", ErrOnHost)
				}
			}
		}
		q.learn(k)
		if r := q.rowsOf[k.Pipeline.Sink]; r != nil {
			r.count = q.counted(kernel.CounterWord{Of: k.Pipeline.Sink})
			if s, ok := k.Pipeline.Sink.(*physical.Sort); ok && r.sorted.memory != 0 {
				r.count = q.counted(kernel.CounterWord{Of: sortedCount{s}})
			}
			if q.resultEnd(k) > 0 {
				r.copied = hostCopy{words, q.control}
			}
		}
	}
	return nil
}

// hostCopy is a copy of device memory from an address on.
type hostCopy struct {
	words []uint64
	from  gpukernels.Ptr
}

// resultEnd is where a pipeline's result ends, from the control block on, if it is so small and so near that both are fetched by one copy; else 0.
func (q *Query) resultEnd(k *kernel.Kernel) int64 {
	_, is := k.Pipeline.Sink.(*physical.Result)
	r := q.rowsOf[k.Pipeline.Sink]
	if !is || q.apart || len(r.memory) > 0 {
		return 0
	}
	end := gpukernels.Ptr(0)
	for i := range r.form.Cols {
		if r.data[i] < q.control {
			return 0
		}
		end = max(end, r.data[i]+gpukernels.Ptr(r.capacity*r.form.Cols[i].Form.Class.Width()), r.valid[i]+gpukernels.Ptr(r.capacity))
	}
	if end < q.control || end > q.arena.firstEnd {
		return 0
	}
	return int64(end - q.control)
}

// most is the number of a sink's rows, or a bound where it is not known here.
func (q *Query) most(s physical.Sink) int64 {
	r := q.rowsOf[s]
	if q.uncounted(s) && r.sorted.memory == 0 {
		return r.capacity
	}
	return r.count
}

// held is the address of the number of a sink's rows; 0: it is known here.
func (q *Query) held(s physical.Sink) uint64 {
	if !q.uncounted(s) {
		return 0
	}
	w := kernel.CounterWord{Of: s}
	if x, ok := s.(*physical.Sort); ok && q.rowsOf[s].sorted.memory != 0 {
		w = kernel.CounterWord{Of: sortedCount{x}}
	}
	return uint64(q.control) + uint64(q.counterAt(w))
}

// watch has kernels whose loops may be long end soon after ctx has: they read a word of the host's memory, which is set then. Until unwatch was called
// they may run.
func (q *Query) watch(ctx context.Context) {
	if q.cancelled == nil {
		q.unwatch = func() {}
		return
	}
	told := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		q.cancelled.Set()
		close(told)
	})
	q.unwatch = func() {
		if !forget() {
			<-told
		}
		_ = q.stream.Sync(context.Background()) // its kernels end by what they are told
	}
}

// stopwatch measures what a pipeline takes on the device; a nil one does not.
type stopwatch struct {
	q                *Query
	from, middle, to *gpukernels.Event
}

// startClock begins to measure a pipeline, if that is wanted.
func (q *Query) startClock() (*stopwatch, error) {
	if !q.timed {
		return nil, nil
	}
	w := &stopwatch{q: q}
	for _, e := range []**gpukernels.Event{&w.from, &w.middle, &w.to} {
		var err error
		if *e, err = q.Device.NewEvent(); err != nil {
			w.close()
			return nil, err
		}
	}
	if err := q.stream.Record(w.from); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// lap parts what is measured in two.
func (w *stopwatch) lap() error {
	if w == nil {
		return nil
	}
	return w.q.stream.Record(w.middle)
}

// stop gives the times before the lap and since.
func (w *stopwatch) stop() (before, since time.Duration, err error) {
	if w == nil {
		return 0, 0, nil
	}
	if err = w.q.stream.Record(w.to); err != nil {
		return 0, 0, err
	}
	if before, err = w.middle.Since(w.from); err != nil {
		return 0, 0, err
	}
	since, err = w.to.Since(w.middle)
	return before, since, err
}

func (w *stopwatch) close() {
	if w == nil {
		return
	}
	for _, e := range []*gpukernels.Event{w.from, w.middle, w.to} {
		if e != nil {
			e.Close()
		}
	}
}
