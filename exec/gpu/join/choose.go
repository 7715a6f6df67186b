package join

import (
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// partitioned has both sides of a join in partitions of their keys.
var partitioned = &Algorithm{
	Name:    radix.Name,
	applies: func(d *demand) bool { return d.radix != nil },
	byKey:   true,
	memory: func(m *Memory, f *Form) {
		m.Rows = 0 // the runner has them in partitions
		if f.Radix.MayBeUnknown() {
			m.addFilled(f.Radix.Nulls(), 1, 4, 0)
		}
	},
}

// Choices are what is decided of a plan's joins across pipelines. A later pipeline can show that one of them does not hold: it is noted here, and everything is decided again.
type Choices struct {
	views map[Key]bool             // keys that are stored as views, since some probe's strings are not of the build's dictionary
	whole map[*physical.Build]bool // builds that are not partitioned after all
	radix map[*physical.Build]*radix.Join
	Probe map[*physical.Pipeline]*radix.Join // the join that a pipeline's rows are partitioned for
}

// NewChoices returns those of a plan of which nothing is known yet.
func NewChoices() *Choices {
	return &Choices{views: map[Key]bool{}, whole: map[*physical.Build]bool{}}
}

// Key is a build's key.
type Key struct {
	P  *physical.Build
	At int
}

// Partition decides which joins are partitioned. A pipeline's rows are partitioned for one join at most.
func (c *Choices) Partition(g *kernel.Pipelines) {
	c.radix, c.Probe = map[*physical.Build]*radix.Join{}, map[*physical.Pipeline]*radix.Join{}
	for _, p := range g.Plan.Pipelines {
		b, ok := p.Sink.(*physical.Build)
		if !ok || c.whole[b] || g.IsShared(b) || c.Probe[p] != nil || !scansFor(p, len(p.Transforms), c) {
			continue
		}
		if n, _ := matches(g, b); n >= g.Target.Tuning.Runs.Apart && wantsRuns(g, demandOf(g, b)) {
			continue // blocks would follow long chains in few partitions
		}
		x := radix.Candidate(g, b, p)
		if x == nil || c.Probe[x.Pipeline()] != nil || !scansFor(x.Pipeline(), x.At(), c) {
			continue
		}
		c.radix[b], c.Probe[x.Pipeline()] = x, x
	}
}

// AreSettled says whether all has been decided about the joins that are partitioned. Those that the pipeline of a probe did not come to are not, the next time.
func (c *Choices) AreSettled() bool {
	settled := true
	for b, x := range c.radix {
		if !x.IsSettled() {
			c.whole[b], settled = true, false
		}
	}
	return settled
}

// IsPartitioned says whether the rows of a pipeline's scan go to partitions, so that each thread takes its rows in turn.
func (c *Choices) IsPartitioned(p *physical.Pipeline) bool {
	b, ok := p.Sink.(*physical.Build)
	return c.Probe[p] != nil || ok && c.radix[b] != nil
}

// scansFor says whether a pipeline's rows can go to partitions in front of a transform: they are a table's, and a row gives at most one.
func scansFor(p *physical.Pipeline, at int, c *Choices) bool {
	if _, ok := p.Source.(*physical.TableScan); !ok {
		return false
	}
	for _, t := range p.Transforms[:at] {
		switch t := t.(type) {
		case *physical.Filter, *physical.Project:
		case *physical.Probe:
			if kernel.Multiplies(t) || c.radix[t.Build] != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}
