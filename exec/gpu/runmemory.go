package gpu

import (
	"context"
	"fmt"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Device memory of a query: it is taken from the device's pool, and given back when the last pipeline that reads it is done.

// overLimit is a lack of memory that the query's own limit makes: the device may have more.
type overLimit struct{ lack gpukernels.Error }

func (e *overLimit) Error() string { return e.lack.Error() }
func (e *overLimit) Unwrap() error { return &e.lack }

// take allocates what its caller gives back, if need be of what resident columns give up.
func (q *query) take(bytes int64) (gpukernels.Ptr, error) {
	if q.limit > 0 && q.used+bytes > q.limit {
		return 0, &overLimit{gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: fmt.Sprintf("%s more are wanted, and radish_gpu_memory_limit is %s", sqlerr.FormatBytes(bytes), sqlerr.FormatBytes(q.limit))}}
	}
	return q.res.Alloc(q.stream, bytes)
}

// give frees what take has allocated.
func (q *query) give(p gpukernels.Ptr) { q.res.Free(q.stream, p) }

// alloc allocates what lives until it is freed or the query is closed.
func (q *query) alloc(bytes int64) (gpukernels.Ptr, error) {
	p, err := q.take(bytes)
	if err != nil {
		return 0, err
	}
	q.memory[p] = bytes
	q.used += bytes
	q.peak = max(q.peak, q.used)
	return p, nil
}

func (q *query) free(p gpukernels.Ptr) {
	if _, ok := q.memory[p]; !ok {
		return
	}
	q.used -= q.memory[p]
	delete(q.memory, p)
	q.give(p)
}

// words brings a dictionary's strings to the device, until the query is closed.
func (q *query) words(ctx context.Context, d *column.Dictionary) (gpukernels.Ptr, error) {
	h := q.dicts[d]
	if h == nil {
		views, done, err := q.res.Dictionary(ctx, d)
		if err != nil {
			return 0, err
		}
		h = &heldDictionary{views, done}
		q.dicts[d] = h
	}
	return h.views, nil
}

// filled is memory of count items of a width that hold a value.
func (q *query) filled(count int64, width int, value uint64) (gpukernels.Ptr, error) {
	p, err := q.alloc(count * int64(width))
	if err == nil && count > 0 {
		err = q.stream.Fill(p, value, width, count)
	}
	return p, err
}

// freeRows gives a sink's arrays back.
func (q *query) freeRows(s physical.Sink) {
	r := q.rowsOf[s]
	if r == nil {
		return
	}
	q.freeAll(r.memory)
	q.free(r.sorted.memory)
	delete(q.rowsOf, s)
	if b, ok := s.(*physical.Build); ok {
		delete(q.builds, b)
	}
}

// freeGroups gives the arrays of an aggregation's groups back.
func (q *query) freeGroups(a *physical.Aggregate) {
	q.freeAll(q.groups[a].memory)
	delete(q.groups, a)
}

// release frees what no pipeline that has still to run reads.
func (q *query) release() {
	needed := map[physical.Sink]bool{}
	for _, p := range q.plan.Pipelines {
		if q.done[p] && q.finished(p.Sink) {
			continue
		}
		needed[p.Sink] = true
		switch src := p.Source.(type) {
		case *physical.SinkScan:
			needed[src.From] = true
		case *physical.UnmatchedScan:
			needed[src.Build] = true
		case *physical.ValuesScan:
			needed[valuesSink(src)] = true
		case *physical.TableScan:
			for _, f := range src.RuntimeFilters {
				needed[f.Build] = true
			}
		}
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				needed[t.Build] = true
			}
		}
	}
	for s := range q.rowsOf {
		if _, last := s.(*physical.Result); !last && !needed[s] && q.finished(s) {
			q.freeRows(s)
		}
	}
	for a := range q.groups {
		if !needed[a] && q.finished(a) && !q.readByHost(a) {
			q.freeGroups(a)
		}
	}
}

// finished says whether all pipelines that end in a sink have run.
func (q *query) finished(s physical.Sink) bool {
	for _, p := range q.feeders[s] {
		if !q.done[p] {
			return false
		}
	}
	return true
}

// readByHost says whether a pipeline without a kernel reads a sink.
func (q *query) readByHost(s physical.Sink) bool {
	for _, p := range q.plan.Pipelines {
		if src, ok := p.Source.(*physical.SinkScan); ok && src.From == s && q.kernels[p] == nil {
			return true
		}
	}
	return false
}
