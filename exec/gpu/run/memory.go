package run

import (
	"context"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
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

// words brings a dictionary's strings to the device, until the query is closed.
func (q *Query) words(ctx context.Context, d *column.Dictionary) (gpukernels.Ptr, error) {
	h := q.dicts[d]
	if h == nil {
		views, done, err := q.Residency.Dictionary(ctx, d)
		if err != nil {
			return 0, err
		}
		h = &heldDictionary{views, done}
		q.dicts[d] = h
	}
	return h.views, nil
}

// freeRows gives a sink's arrays back.
func (q *Query) freeRows(s physical.Sink) {
	r := q.rowsOf[s]
	if r == nil {
		return
	}
	q.freeAll(r.memory)
	q.free(r.sorted.memory)
	delete(q.rowsOf, s)
	if b, ok := s.(*physical.Build); ok {
		q.freeBuildSide(b)
		delete(q.builds, b)
	}
}

// freeGroups gives the arrays of an aggregation's groups back.
func (q *Query) freeGroups(a *physical.Aggregate) {
	q.freeAll(q.groups[a].memory)
	delete(q.groups, a)
}

// release frees what no pipeline that has still to run reads.
func (q *Query) release() {
	needed := map[physical.Sink]bool{}
	for _, p := range q.Plan.Pipelines {
		if q.done[p] && q.Finished(p.Sink) {
			continue
		}
		needed[p.Sink] = true
		switch src := p.Source.(type) {
		case *physical.SinkScan:
			needed[src.From] = true
		case *physical.UnmatchedScan:
			needed[src.Build] = true
		case *physical.ValuesScan:
			needed[program.ValuesSink(src)] = true
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
		if _, last := s.(*physical.Result); !last && !needed[s] && q.Finished(s) {
			q.freeRows(s)
		}
	}
	for a := range q.groups {
		if !needed[a] && q.Finished(a) && !q.readByHost(a) {
			q.freeGroups(a)
		}
	}
}

// Finished says whether all pipelines that end in a sink have run.
func (q *Query) Finished(s physical.Sink) bool {
	for _, p := range q.Feeders[s] {
		if !q.done[p] {
			return false
		}
	}
	return true
}

// readByHost says whether a pipeline without a kernel reads a sink.
func (q *Query) readByHost(s physical.Sink) bool {
	for _, p := range q.Plan.Pipelines {
		if src, ok := p.Source.(*physical.SinkScan); ok && src.From == s && q.Kernels[p] == nil {
			return true
		}
	}
	return false
}
