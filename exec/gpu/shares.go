package gpu

import (
	"github.com/radish-sql/radish/exec/gpu/exchange"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	tables "github.com/radish-sql/radish/storage/table"
)

// shares is how the devices of a fleet share a plan: each is a place.
type shares struct {
	*distribute.Distributed
	devices  []*Device // by place
	canReach bool      // all can reach the memory of all others
	parts    []map[*physical.TableScan]tables.Slice
	pays     string // why they share it, where cost decides
}

func newShares(d *distribute.Distributed, devices []*Device) *shares {
	s := &shares{Distributed: d, devices: devices[:d.Places], canReach: reachEachOther(devices[:d.Places]), parts: make([]map[*physical.TableScan]tables.Slice, d.Places)}
	for i := range s.parts {
		s.parts[i] = map[*physical.TableScan]tables.Slice{}
	}
	for scan, parts := range d.Parts {
		for i, part := range parts {
			s.parts[i][scan] = part
		}
	}
	return s
}

// reachEachOther says whether all devices can reach the memory of all others.
func reachEachOther(devices []*Device) bool {
	all := make([]*gpukernels.Device, len(devices))
	for i, d := range devices {
		all[i] = d.runner.Device
	}
	return exchange.ReachEachOther(all)
}

// Explain has EXPLAIN print how the plan is shared, and why.
func (s *shares) Explain(where *physical.Placement) {
	s.Distributed.Explain(where)
	where.Shared = s.pays
}

// of returns the shares of a plan that is the same, or was made of it by cutting some of its pipelines.
func (s *shares) of(cut *physical.Plan) *shares {
	if cut == s.Plan {
		return s
	}
	spread := make(map[*physical.Pipeline]distribute.Choice, len(cut.Pipelines))
	at := 0
	for _, p := range s.Plan.Pipelines {
		for {
			x := cut.Pipelines[at]
			spread[x] = s.Spread[p]
			at++
			if x.Sink == p.Sink {
				break
			}
		}
	}
	d, out := *s.Distributed, *s
	d.Plan, d.Spread = cut, spread
	out.Distributed = &d
	return &out
}

// multiplied are the sinks in which rows of all places come together that each place has made for itself, groups among them: all together are more than one place could make. What comes of
// a table's rows, each of which is at one place, is no more than one place would have.
func (s *shares) multiplied() map[physical.Sink]int {
	made := map[physical.Sink]bool{} // rows that are not a table's
	out := map[physical.Sink]int{}
	for _, p := range s.Plan.Pipelines {
		own := false
		switch src := p.Source.(type) {
		case *physical.SinkScan:
			_, isAggregate := src.From.(*physical.Aggregate)
			own = isAggregate || made[src.From]
		case *physical.UnmatchedScan:
			own = made[src.Build]
		}
		_, moves := s.Exchanges[p.Sink]
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				_, movesInJoin := s.Exchanges[t.Build]
				own, moves = own || made[t.Build], moves || movesInJoin
			}
		}
		made[p.Sink] = made[p.Sink] || own
		if moves && own {
			out[p.Sink] = s.Places
			made[p.Sink] = false // its bound is that of all places from now on
		}
	}
	return out
}

// movingBuilds are the builds of joins that move the rows of both sides.
func (s *shares) movingBuilds() map[*physical.Build]bool {
	moving := map[*physical.Build]bool{}
	for sink := range s.Exchanges {
		if b, ok := sink.(*physical.Build); ok {
			moving[b] = true
		}
	}
	return moving
}

// movingGroups are the aggregations that move their rows.
func (s *shares) movingGroups() map[*physical.Aggregate]bool {
	moving := map[*physical.Aggregate]bool{}
	for sink := range s.Exchanges {
		if a, ok := sink.(*physical.Aggregate); ok {
			moving[a] = true
		}
	}
	return moving
}

// runsAt says whether a place runs a pipeline.
func (s *shares) runsAt(place int, p *physical.Pipeline) bool {
	return place == 0 || s.Spread[p].Spread.Everywhere()
}

// link is what the devices' bytes go over.
func (s *shares) link() string {
	if s.canReach {
		return "peer access"
	}
	return "the host, without peer access"
}
