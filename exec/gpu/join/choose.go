package join

import (
	"slices"

	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
)

// partitioned has both sides of a join in partitions of their keys.
var partitioned = &Algorithm{
	Name:      radix.Name,
	explained: "partitioned hash",
	applies:   func(d *demand) bool { return d.radix != nil },
	byKey:     true,
	memory: func(m *Memory, f *Form) {
		m.Rows = 0 // the runner has them in partitions
		if f.Radix.MayBeUnknown() {
			m.AddFilled(f.Radix.Nulls(), 1, 4, 0)
		}
	},
}

// Choices are what is decided of a plan's joins across pipelines. A later pipeline can show that one of them does not hold: it is noted here, and everything is decided again.
type Choices struct {
	views map[Key]bool               // keys that are stored as views, since some probe's strings are not of the build's dictionary
	whole map[*physical.Build]bool   // builds that are not partitioned after all
	no    map[*physical.Build]string // why builds are not sorted although somebody wants it
	// Builds that could be partitioned, but cost less unpartitioned, with both costs as text.
	cheaper map[*physical.Build]string
	radix   map[*physical.Build]*radix.Join
	Probe   map[*physical.Pipeline]*radix.Join // the join that a pipeline's rows are partitioned for
}

// NewChoices returns those of a plan of which nothing is known yet.
func NewChoices() *Choices {
	return &Choices{views: map[Key]bool{}, whole: map[*physical.Build]bool{}, no: map[*physical.Build]string{}, cheaper: map[*physical.Build]string{}}
}

// Key is a build's key.
type Key struct {
	P  *physical.Build
	At int
}

// Partition decides which joins are partitioned. A pipeline's rows are partitioned for one join at most: Cut has cut those that have several.
func (c *Choices) Partition(g *kernel.Pipelines) {
	c.radix, c.Probe = map[*physical.Build]*radix.Join{}, map[*physical.Pipeline]*radix.Join{}
	for _, p := range g.Plan.Pipelines {
		x := c.candidate(g, p)
		if x == nil {
			continue
		}
		if c.Probe[p] != nil || !readsFor(p, len(p.Transforms), c.radix) || c.Probe[x.Pipeline()] != nil || !readsFor(x.Pipeline(), x.At(), c.radix) {
			if x.Merges() {
				c.no[x.Build()] = "a pipeline of its sides has another join whose rows are stored, or that gives several rows for one"
			}
			continue
		}
		c.radix[x.Build()], c.Probe[x.Pipeline()] = x, x
	}
}

// candidate is the join of the build that a pipeline fills, if it should be partitioned; nil: there is none.
func (c *Choices) candidate(g *kernel.Pipelines, p *physical.Pipeline) *radix.Join {
	b, ok := p.Sink.(*physical.Build)
	if !ok || g.IsShared(b) || b.IsSearched() {
		return nil
	}
	if c.no[b] == "" {
		x, no := radix.Sorted(g, b, p)
		if x != nil {
			return x
		}
		c.no[b] = no
	}
	if c.whole[b] {
		return nil
	}
	if n, _ := matches(g, b); n >= g.Target.Tuning.Runs.Apart && wantsRuns(g, demandOf(g, b)) {
		return nil // blocks would follow long chains in few partitions
	}
	x, no := radix.Candidate(g, b, p)
	c.cheaper[b] = no
	return x
}

// Cut returns a plan that is cut where rows come to partitions that its pipelines could not write as they are: behind another join in partitions, or one that gives several rows for one.
func Cut(plan *physical.Plan, target *kernel.Target) *physical.Plan {
	g := kernel.NewPipelines(plan, target, nil, nil)
	c := NewChoices()
	joins := map[*physical.Build]*radix.Join{}
	for _, p := range plan.Pipelines {
		if x := c.candidate(g, p); x != nil && isCuttable(p) && isCuttable(x.Pipeline()) {
			joins[x.Build()] = x
		}
	}
	cuts := map[*physical.Pipeline][]int{}
	for _, p := range plan.Pipelines {
		first, has := 0, false // the first transform behind the last cut, and whether a join in partitions has come since then
		cut := func(at int) {
			if has || !readsFor(&physical.Pipeline{Source: sourceBehind(p, first), Transforms: p.Transforms[first:at]}, at-first, joins) {
				cuts[p] = append(cuts[p], at)
				first, has = at, false
			}
		}
		for i, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok && joins[t.Build] != nil {
				cut(i)
				has = true
			}
		}
		if b, ok := p.Sink.(*physical.Build); ok && joins[b] != nil {
			cut(len(p.Transforms))
		}
	}
	if len(cuts) == 0 {
		return plan
	}
	return plan.Cut(cuts)
}

// sourceBehind is what gives a pipeline's rows behind a cut in front of a transform.
func sourceBehind(p *physical.Pipeline, at int) physical.Source {
	if at == 0 {
		return p.Source
	}
	return &physical.SinkScan{From: &physical.Materialize{}}
}

// isCuttable says whether a pipeline gives the same rows if it is cut: neither their order nor their number counts.
func isCuttable(p *physical.Pipeline) bool {
	return !fromOrder(p) && !slices.ContainsFunc(p.Transforms, func(t physical.Transform) bool { _, ok := t.(*physical.Limit); return ok })
}

// fromOrder says whether the rows of a pipeline's source have an order.
func fromOrder(p *physical.Pipeline) bool { return (&kernel.Outline{Pipeline: p}).FromOrder() }

// AreSettled says whether all has been decided about the joins that are partitioned. Those that the pipeline of a probe did not come to are not, the next time.
func (c *Choices) AreSettled() bool {
	settled := true
	for b, x := range c.radix {
		if !x.IsSettled() {
			c.drop(b)
			settled = false
		}
	}
	return settled
}

// drop notes that a build's join is not partitioned, or not sorted, after all.
func (c *Choices) drop(b *physical.Build) {
	if x := c.radix[b]; x != nil && x.Merges() {
		c.no[b] = x.Refusal()
		return
	}
	c.whole[b] = true
}

// Merges says whether a transform is a join whose sides are sorted: it gives a thread one row at a time.
func (c *Choices) Merges(t physical.Transform) bool {
	p, ok := t.(*physical.Probe)
	if !ok {
		return false
	}
	x := c.radix[p.Build]
	return x != nil && x.Merges()
}

// IsPartitioned says whether the rows of a pipeline's scan go to partitions, so that each thread takes its rows in turn.
func (c *Choices) IsPartitioned(p *physical.Pipeline) bool {
	b, ok := p.Sink.(*physical.Build)
	return c.Probe[p] != nil || ok && c.radix[b] != nil
}

// readsFor says whether a pipeline's rows can go to partitions in front of a transform: a table or an earlier pipeline has them, in no order, and a row gives at most one.
func readsFor(p *physical.Pipeline, at int, partitioned map[*physical.Build]*radix.Join) bool {
	switch p.Source.(type) {
	case *physical.TableScan, *physical.SinkScan:
	default:
		return false
	}
	for _, t := range p.Transforms[:at] {
		switch t := t.(type) {
		case *physical.Filter, *physical.Project:
		case *physical.Probe:
			if kernel.Multiplies(t) || partitioned[t.Build] != nil {
				return false
			}
		default:
			return false
		}
	}
	return !fromOrder(p)
}

// demandOf looks at all probes of a build.
func demandOf(g *kernel.Pipelines, b *physical.Build) *demand {
	d := &demand{build: b, on: b.On(physical.GPU), wantsOne: true, arrays: &g.Target.Tuning.Arrays}
	for _, p := range g.Plan.Pipelines {
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok && t.Build == b {
				d.hasMarks = d.hasMarks || t.Kind == logical.MarkJoin
				d.hasResidual = d.hasResidual || len(t.Residual) > 0
				d.wantsOne = d.wantsOne && (b.Unique || t.Kind == logical.SemiJoin || t.Kind == logical.AntiJoin)
			}
		}
	}
	return d
}
