package distribute

import (
	"slices"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/storage/table"
)

// finish puts the pipelines in order and decides which places run those that any place can.
func (x *planner) finish() *Distributed {
	d := &Distributed{
		Plan: x.plan, Places: x.places, Spread: map[*physical.Pipeline]Choice{}, Exchanges: map[physical.Sink]Exchange{}, Parts: map[*physical.TableScan][]table.Slice{}, Origins: x.origins,
	}
	x.dropFilters()
	streams := map[*physical.Pipeline]*stream{}
	pipelines := make([]*physical.Pipeline, len(x.done))
	for i, s := range x.done {
		streams[s.p], pipelines[i] = s, s.p
	}
	d.Plan.Pipelines = order(pipelines)
	wanted := map[physical.Sink]bool{} // at every place
	for _, p := range slices.Backward(d.Plan.Pipelines) {
		s := streams[p]
		c := Choice{Single, s.reason}
		switch {
		case s.lay == spread && s.keyed:
			c.Spread = Partitioned
		case s.lay == spread:
			c.Spread = Sliced
		case s.lay == common && wanted[p.Sink]:
			c.Spread = Replicated
			if _, moved := p.Source.(*physical.SinkScan); !moved {
				c.Reason += "; each GPU needs all of it"
			}
		}
		d.Spread[p] = c
		if c.Spread.Everywhere() {
			for _, from := range reads(p) {
				wanted[from] = true
			}
		}
		if scan, ok := p.Source.(*physical.TableScan); ok && s.lay == spread {
			d.Parts[scan] = x.sliced[scan].parts(x.places)
			for i, part := range d.Parts[scan] {
				if part.From >= part.To {
					d.Parts[scan][i] = table.NoSlice(scan.Table) // whichever they are
				}
			}
		}
	}
	for m, e := range x.exchanges {
		if e.Kind == Broadcast && !wanted[m] {
			e.Kind = Gather
		}
		d.Exchanges[m] = e
	}
	x.perPlace(d)
	return d
}

// perPlace has estimates be those of a place: kernels and tables are made for that.
func (x *planner) perPlace(d *Distributed) {
	share := 1 / float64(x.places)
	for _, p := range d.Plan.Pipelines {
		if s := d.Spread[p].Spread; s != Sliced && s != Partitioned {
			continue
		}
		p.EstRows *= share
		for i, t := range p.Transforms {
			switch t := t.(type) {
			case *physical.Unnest:
				c := *t
				c.EstRows *= share
				p.Transforms[i] = &c
			case *physical.Probe:
				t.EstRows *= share
			}
		}
	}
	for b, is := range x.builds {
		if is.where == byKeys || is.where == covering {
			b.EstRows *= share
		}
	}
}

// reads lists the sinks that a pipeline reads.
func reads(p *physical.Pipeline) (sinks []physical.Sink) {
	switch s := p.Source.(type) {
	case *physical.TableScan:
		for _, f := range s.RuntimeFilters {
			sinks = append(sinks, f.Build)
		}
	case *physical.SinkScan:
		sinks = append(sinks, s.From)
	case *physical.UnmatchedScan:
		sinks = append(sinks, s.Build)
	}
	for _, t := range p.Transforms {
		if t, ok := t.(*physical.Probe); ok {
			sinks = append(sinks, t.Build)
		}
	}
	return sinks
}

// order puts each pipeline behind those that it depends on, else in the order in which they come, and numbers them.
func order(pipelines []*physical.Pipeline) (out []*physical.Pipeline) {
	fill, probe := map[physical.Sink][]*physical.Pipeline{}, map[*physical.Build][]*physical.Pipeline{}
	for _, p := range pipelines {
		fill[p.Sink] = append(fill[p.Sink], p)
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				probe[t.Build] = append(probe[t.Build], p)
			}
		}
	}
	placed := map[*physical.Pipeline]bool{}
	var place func(p *physical.Pipeline)
	place = func(p *physical.Pipeline) {
		if placed[p] {
			return
		}
		placed[p] = true
		var deps []*physical.Pipeline
		for _, s := range reads(p) {
			deps = append(deps, fill[s]...)
		}
		if s, ok := p.Source.(*physical.UnmatchedScan); ok {
			deps = append(deps, probe[s.Build]...) // the rows are those that none of them matched
		}
		p.Deps = nil
		for _, q := range deps {
			if !slices.Contains(p.Deps, q) {
				p.Deps = append(p.Deps, q)
			}
			place(q)
		}
		p.ID = len(out)
		out = append(out, p)
	}
	for _, p := range pipelines {
		place(p)
	}
	return out
}
