package cpu

import (
	"github.com/radish-sql/radish/exec/cpu/groupby"
	"github.com/radish-sql/radish/exec/cpu/join"
	"github.com/radish-sql/radish/exec/cpu/orderby"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/scan"
	"github.com/radish-sql/radish/exec/cpu/window"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
)

// source makes the source of a pipeline ready.
func (q *execution) source(pl *prepared) (pipeline.Source, error) {
	switch s := pl.p.Source.(type) {
	case *physical.TableScan:
		t, err := scan.NewTable(q.Query, pl.layout, s, q.runtimeFilter)
		pl.scan = t
		return t, err
	case *physical.SinkScan:
		if rel := q.received[s.From]; rel != nil {
			return scan.NewStored(q.Query, pl.layout, rel, s)
		}
		from, err := q.sink(s.From)
		if err != nil {
			return nil, err
		}
		if partitioned, ok := from.(*join.Partitioned); ok {
			return partitioned.Source(pl.layout), nil
		}
		r, ok := from.(pipeline.Stored)
		if !ok {
			return nil, sqlerr.Bug("a pipeline reads %T", s.From)
		}
		return scan.NewStored(q.Query, pl.layout, r.Relation(), s)
	case *physical.UnmatchedScan:
		return join.NewUnmatched(pl.layout, q.builds[s.Build], s)
	case *physical.ValuesScan:
		return scan.NewValues(q.Query, pl.layout, s), nil
	}
	return nil, sqlerr.Bug("unknown source %T", pl.p.Source)
}

// rowsInto returns about how many rows come into a sink.
func (q *execution) rowsInto(p physical.Sink) (rows float64) {
	for _, pl := range q.shared.Plan.All() {
		if pl.Sink == p {
			rows += pl.EstRows
		}
	}
	return rows
}

// sink returns the sink behind a physical one; all pipelines that end in it share it.
func (q *execution) sink(p physical.Sink) (pipeline.Sink, error) {
	if s, ok := q.sinks[p]; ok {
		return s, nil
	}
	var s pipeline.Sink
	switch p := p.(type) {
	case *physical.Build:
		b := join.NewBuild(q.Query, p, q.probes(p))
		if q.maySpill(p) {
			b.AllowSpill()
		}
		q.builds[p] = b
		s = b
	case *physical.Aggregate:
		a, err := groupby.New(q.Query, p, q.unreadKeys(p), q.rowsInto(p))
		if err != nil {
			return nil, err
		}
		s = a
	case *physical.Sort:
		s = orderby.New(q.Query, p)
	case *physical.Recursion:
		s = q.newRecursion(p)
	case *physical.Window:
		s = window.New(q.Query, p, q.rowsInto(p))
	case *physical.Materialize:
		s = &materialize{q: q.Query, p: p, locals: make([]*materializeLocal, q.Threads)}
	case *physical.Result:
		s = &result{q: q.shared, p: p, types: q.shared.Plan.Types()}
	default:
		return nil, sqlerr.Bug("unknown sink %T", p)
	}
	q.sinks[p] = s
	return s, nil
}

// unreadKeys returns the keys of an aggregate that no pipeline reads.
func (q *execution) unreadKeys(a *physical.Aggregate) (unread pipeline.IDSet) {
	var read pipeline.IDSet
	found := false
	for _, pl := range q.shared.Plan.All() {
		if s, ok := pl.Source.(*physical.SinkScan); ok && s.From == physical.Sink(a) {
			found = true
			for _, id := range s.Ins {
				read.Add(id)
			}
		}
	}
	for _, g := range a.Groups {
		if found && !read.Has(g.Col.ID) { // else something outside of the plan reads it
			unread.Add(g.Col.ID)
		}
	}
	return unread
}

// probes returns the probes of a build.
func (q *execution) probes(b *physical.Build) []*physical.Probe {
	var out []*physical.Probe
	for _, pl := range q.shared.Plan.All() {
		for _, t := range pl.Transforms {
			if p, ok := t.(*physical.Probe); ok && p.Build == b {
				out = append(out, p)
			}
		}
	}
	return out
}

// runtimeFilter returns a condition that holds for every value of a key in a build, or nil if there is none worth its cost.
func (q *execution) runtimeFilter(p *physical.Build, key int) *encoding.Predicate {
	b := q.builds[p]
	if b == nil {
		return nil
	}
	return b.RuntimeFilter(key)
}
