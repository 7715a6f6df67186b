package distribute

import (
	"slices"

	"github.com/radish-sql/radish/planner/physical"
)

// copyPlan returns a plan with nodes of its own, which may be changed, over the same tables and expressions, and what each of its sinks was copied from. The pipelines' dependencies are left
// out: order finds them.
func copyPlan(plan *physical.Plan) (copied *physical.Plan, origins map[physical.Sink]physical.Sink) {
	sinks := map[physical.Sink]physical.Sink{}
	build := func(b *physical.Build) *physical.Build { return sinks[b].(*physical.Build) }
	out := *plan
	out.Pipelines = nil
	for _, p := range plan.Pipelines {
		q := &physical.Pipeline{Source: copySource(p.Source, sinks), EstRows: p.EstRows}
		for _, t := range p.Transforms {
			if probe, ok := t.(*physical.Probe); ok {
				x := *probe
				x.Build, x.Keys = build(probe.Build), slices.Clone(probe.Keys)
				t = &x
			}
			q.Transforms = append(q.Transforms, t)
		}
		if sinks[p.Sink] == nil {
			sinks[p.Sink] = copySink(p.Sink)
		}
		q.Sink = sinks[p.Sink]
		out.Pipelines = append(out.Pipelines, q)
	}
	origins = map[physical.Sink]physical.Sink{}
	for from, to := range sinks {
		origins[to] = from
	}
	return &out, origins
}

func copySource(s physical.Source, sinks map[physical.Sink]physical.Sink) physical.Source {
	switch s := s.(type) {
	case *physical.TableScan:
		x := *s
		x.RuntimeFilters = slices.Clone(s.RuntimeFilters)
		for i := range x.RuntimeFilters {
			x.RuntimeFilters[i].Build = sinks[x.RuntimeFilters[i].Build].(*physical.Build)
		}
		return &x
	case *physical.SinkScan:
		x := *s
		x.From = sinks[s.From]
		return &x
	case *physical.UnmatchedScan:
		x := *s
		x.Build = sinks[s.Build].(*physical.Build)
		return &x
	case *physical.ValuesScan:
		x := *s
		return &x
	}
	return s
}

func copySink(s physical.Sink) physical.Sink {
	switch s := s.(type) {
	case *physical.Build:
		x := *s
		x.MakeFilter, x.FilterDrops = slices.Clone(s.MakeFilter), slices.Clone(s.FilterDrops)
		return &x
	case *physical.Aggregate:
		x := *s
		x.Groups = slices.Clone(s.Groups)
		return &x
	case *physical.Sort:
		x := *s
		return &x
	case *physical.Window:
		x := *s
		return &x
	case *physical.Materialize:
		x := *s
		return &x
	case *physical.Result:
		x := *s
		return &x
	}
	return s
}
