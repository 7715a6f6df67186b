package gpu

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/planner/physical"
)

// placing finds which pipelines can run on the device: those for which there is a kernel, and whose neighbours can.
type placing struct {
	plan *physical.Plan
	off  map[*physical.Pipeline]string // the reason
	// together lists, for each pipeline, those that have to be on the same side: they end in one sink, or one fills the build that the other
	// reads.
	together map[*physical.Pipeline][]neighbour
}

type neighbour struct {
	p   *physical.Pipeline
	why string
}

func (x *placing) on(p *physical.Pipeline) bool {
	_, off := x.off[p]
	return !off
}

func (x *placing) sides() {
	x.together = map[*physical.Pipeline][]neighbour{}
	feeders := map[physical.Sink][]*physical.Pipeline{}
	for _, p := range x.plan.Pipelines {
		feeders[p.Sink] = append(feeders[p.Sink], p)
	}
	join := func(a, b *physical.Pipeline, ab, ba string) {
		x.together[a] = append(x.together[a], neighbour{b, fmt.Sprintf(ab, b.ID)})
		x.together[b] = append(x.together[b], neighbour{a, fmt.Sprintf(ba, a.ID)})
	}
	for _, p := range x.plan.Pipelines {
		for _, f := range feeders[p.Sink] {
			if f.ID < p.ID {
				join(p, f, "it ends where pipeline %d does, which runs on the CPU", "it ends where pipeline %d does, which runs on the CPU")
			}
		}
		builds := map[*physical.Build]bool{}
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				builds[t.Build] = true
			}
		}
		if src, ok := p.Source.(*physical.UnmatchedScan); ok {
			builds[src.Build] = true
		}
		for b := range builds {
			for _, f := range feeders[b] {
				join(p, f, "the build of pipeline %d, which it reads, is on the CPU", "pipeline %d, which reads its build, runs on the CPU")
			}
		}
	}
}

// refuse takes the pipelines off the device for which there is no kernel, and their neighbours. It says whether there were any.
func (x *placing) refuse(g *program.Program, groups map[*physical.Aggregate]*physical.Pipeline) bool {
	var queue []*physical.Pipeline
	off := func(p *physical.Pipeline, why string) {
		if x.on(p) {
			x.off[p] = why
			queue = append(queue, p)
		}
	}
	for _, p := range x.plan.Pipelines {
		if err := g.Reason(p); err != nil && x.on(p) {
			off(p, err.Error())
		}
	}
	for _, p := range x.plan.Pipelines {
		// Groups that the CPU reads have to be stored as rows; where that cannot be, they are found on the CPU.
		if a, ok := p.Sink.(*physical.Aggregate); ok && groups[a] != nil {
			if err := g.Reason(groups[a]); err != nil {
				off(p, err.Error())
			}
		}
	}
	found := len(queue) > 0
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for _, n := range x.together[p] {
			if x.on(n.p) {
				why := n.why
				for _, back := range x.together[n.p] {
					if back.p == p {
						why = back.why
					}
				}
				off(n.p, why)
			}
		}
	}
	return found
}

// crossings makes a pipeline for each aggregation on the device that is read on the CPU: it stores the groups as rows.
func (x *placing) crossings() map[*physical.Aggregate]*physical.Pipeline {
	out := map[*physical.Aggregate]*physical.Pipeline{}
	filledHere := map[physical.Sink]bool{}
	for _, p := range x.plan.Pipelines {
		if !x.on(p) {
			filledHere[p.Sink] = true
		}
	}
	for _, p := range x.plan.Pipelines {
		src, ok := p.Source.(*physical.SinkScan)
		if !ok || x.on(p) || filledHere[src.From] {
			continue
		}
		a, ok := src.From.(*physical.Aggregate)
		if !ok || out[a] != nil {
			continue
		}
		cols := physical.SinkColumns(a)
		scan := &physical.SinkScan{From: a, Cols: cols}
		for _, c := range cols {
			scan.Ins = append(scan.Ins, c.ID)
		}
		out[a] = &physical.Pipeline{ID: len(x.plan.Pipelines) + len(out), Source: scan, Sink: &physical.Result{In: scan.Ins}, EstRows: a.EstGroups}
	}
	return out
}
