package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/gpu/sizes"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// A pipeline is waited for where something here depends on what its kernel has counted: that its sink was large enough, how many rows there are to
// launch the next one over, that there was no error. It is not waited for what is known without its counts, or what the next kernel reads itself.

// sortsHeld says whether a sink is a Sort whose rows are so few that they are ordered without knowing how many they are.
func (q *Query) sortsHeld(sink physical.Sink) bool {
	s, ok := sink.(*physical.Sort)
	return ok && (q.outputs.rows[s].isBounded || q.sizes.IsTrusted(s)) && q.outputs.rows[s].capacity <= sort.HeldRows && s.Count != 0 && s.Offset < q.outputs.rows[s].capacity
}

// readsCounts says whether a launch of a kernel depends on how many rows pipelines gave that are still pending.
func (q *Query) readsCounts(k *kernel.Kernel) bool {
	if len(q.progress.pending) == 0 {
		return false
	}
	if s := k.Rows.Of; s != nil && q.progress.uncounted(s) && q.outputs.most(s) > sort.HeldRows && !q.sizes.IsTrusted(s) {
		return true
	}
	for i := range k.Params {
		if w, ok := k.Params[i].Key.(kernel.RowCount); ok && q.progress.uncounted(w.Sink) {
			return true
		}
	}
	return false
}

// Settle waits for the pipelines that are pending and learns what they have counted, or that one of them met an error.
func (q *Query) Settle(ctx context.Context) error {
	if len(q.progress.pending) == 0 {
		return nil
	}
	end := q.control.Size
	for _, k := range q.progress.pending {
		end = max(end, q.resultEnd(k))
	}
	words, err := q.control.Read(ctx, end)
	if err != nil {
		return err
	}
	pending := q.progress.settle()
	if slices.ContainsFunc(pending, func(k *kernel.Kernel) bool { return q.outgrown(k.Pipeline) }) {
		return sizes.ErrTooSmall // which may be the reason for an error
	}
	if code, site := q.control.Failure(); code != 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: error %d at site %d of pipeline %d or one before it", ErrOnHost, code, site, pending[len(pending)-1].Pipeline.ID)
	}
	for _, k := range pending {
		for _, x := range k.All() {
			if q.control.Warned(x) {
				return fmt.Errorf("%w: there are warnings", ErrOnHost)
			}
		}
		q.learn(k)
		if r := q.outputs.rows[k.Pipeline.Sink]; r != nil {
			r.count = q.control.Counted(kernel.CounterWord{Of: k.Pipeline.Sink})
			if s, ok := k.Pipeline.Sink.(*physical.Sort); ok && r.sorted.Memory != 0 {
				r.count = q.control.Counted(kernel.CounterWord{Of: sortedCount{s}})
			}
			if q.resultEnd(k) > 0 {
				r.copied = results.Copy{Words: words, From: q.control.At}
			}
		}
	}
	return nil
}

// resultEnd is where a pipeline's result ends, from the control block on, if it is so small and so near that both are fetched by one copy; else 0.
func (q *Query) resultEnd(k *kernel.Kernel) int64 {
	_, is := k.Pipeline.Sink.(*physical.Result)
	r := q.outputs.rows[k.Pipeline.Sink]
	if !is || q.memory.Apart || len(r.memory) > 0 {
		return 0
	}
	end := gpukernels.Ptr(0)
	for i := range r.form.Cols {
		if r.data[i] < q.control.At {
			return 0
		}
		end = max(end, r.data[i]+gpukernels.Ptr(r.capacity*r.form.Cols[i].Form.Class.Width()), r.valid[i]+gpukernels.Ptr(r.capacity))
	}
	if end < q.control.At || end > q.memory.FirstEnd() {
		return 0
	}
	return int64(end - q.control.At)
}

// outgrown says whether a size that was trusted is too small after all. What the pipeline has counted is known.
func (q *Query) outgrown(p *physical.Pipeline) bool {
	capacity, ok := q.sizes.Trusted[p.Sink]
	return ok && q.control.Counted(kernel.CounterWord{Of: p.Sink}) > capacity
}

// learn notes what a pipeline that has been waited for tells of sizes.
func (q *Query) learn(k *kernel.Kernel) {
	if !q.progress.finished(k.Pipeline.Sink) {
		return
	}
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		q.learnSlots(a)
		return
	}
	n := q.control.Counted(kernel.CounterWord{Of: k.Pipeline.Sink})
	if !k.InOrder() && !q.sizes.HasSlots(k.Pipeline.Sink) {
		q.sizes.Remember(k.Pipeline.Sink, n)
	}
	// All groups were stored as rows.
	if src, ok := k.Pipeline.Source.(*physical.SinkScan); ok && len(q.program.Feeders[k.Pipeline.Sink]) == 1 {
		if a, ok := src.From.(*physical.Aggregate); ok && onlyProjects(k.Pipeline) {
			q.sizes.Remember(a, n)
		}
	}
}

// learnSlots notes how many slots a table of groups has, if they sufficed.
func (q *Query) learnSlots(a *physical.Aggregate) {
	g := q.outputs.groups[a]
	if g == nil {
		return
	}
	if slots := g.form.Sufficed(g.capacity, q.control.Counted); slots > 0 {
		q.sizes.RememberSlots(a, slots)
	}
}

// onlyProjects says whether a pipeline gives a row for each row of its source.
func onlyProjects(p *physical.Pipeline) bool {
	for _, t := range p.Transforms {
		if _, ok := t.(*physical.Project); !ok {
			return false
		}
	}
	return true
}
