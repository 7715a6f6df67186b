package program

import (
	"errors"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Program is what a plan's pipelines become on a device: a kernel for each, and the form of what they store between them. It is made
// without a device, from the plan and the forms of the tables' columns.
type Program struct {
	*kernel.Pipelines
	on func(*physical.Pipeline) bool
	// Scans that load their columns in the other way than loadsAllRows would choose by their estimates: see WithFlippedLoading.
	flipped map[*physical.TableScan]bool

	reasons map[*physical.Pipeline]error
	Builds  map[*physical.Build]*BuildForm
	Aggs    map[*physical.Aggregate]*groupby.Form
	probes  map[*physical.Build][]*physical.Probe
}

// New writes the kernels of the pipelines for which on is true. What the others' sinks hold comes from the host.
func New(plan *physical.Plan, target *kernel.Target, ctx *expr.Context, lookups *codegen.LookupCache, on func(*physical.Pipeline) bool) *Program {
	g := &Program{Pipelines: &kernel.Pipelines{Plan: plan, Target: target, Ctx: ctx, Lookups: lookups}, on: on}
	g.decide()
	return g
}

// WithFlippedLoading writes the program again. The scans load their columns in the other way than their estimates suggest (loadsAllRows).
func (g *Program) WithFlippedLoading(scans map[*physical.TableScan]bool) *Program {
	flipped := &Program{Pipelines: &kernel.Pipelines{Plan: g.Plan, Target: g.Target, Ctx: g.Ctx, Lookups: g.Lookups}, on: g.on, flipped: scans}
	flipped.decide()
	return flipped
}

// decide writes all kernels until no decision changes any more.
func (g *Program) decide() {
	for !g.write() {
	}
}

// loadsAllRows says whether the kernel of a scan's pipeline loads the columns that come after its filters for all rows at once, since most of them are needed.
func (g *Program) loadsAllRows(scan *physical.TableScan) bool {
	all := len(scan.Filters) == 0 || scan.EstRows > float64(scan.Table.Rows())/16
	return all != g.flipped[scan]
}

// write writes all kernels; false: a decision has changed on the way.
func (g *Program) write() bool {
	g.Begin()
	g.reasons = map[*physical.Pipeline]error{}
	g.Builds = map[*physical.Build]*BuildForm{}
	g.Aggs = map[*physical.Aggregate]*groupby.Form{}
	g.probes = map[*physical.Build][]*physical.Probe{}
	for _, p := range g.Plan.Pipelines {
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				g.probes[t.Build] = append(g.probes[t.Build], t)
			}
		}
	}
	for _, p := range g.Plan.Pipelines {
		if !g.on(p) {
			g.reasons[p] = codegen.Refuse("not asked for")
			continue
		}
		k, err := g.generate(p)
		if errors.Is(err, kernel.ErrAgain) {
			return false
		}
		if err != nil {
			g.reasons[p] = err
			continue
		}
		g.Kernels[p] = k
	}
	return true
}

// Reason is why a pipeline has no kernel; nil if it has one.
func (g *Program) Reason(p *physical.Pipeline) error { return g.reasons[p] }

// loops says whether a transform goes over rows of a build, or copies of a row, one by one, of which there may be any number.
func (g *Program) loops(t physical.Transform) bool {
	probe, ok := t.(*physical.Probe)
	if !ok {
		return kernel.Multiplies(t)
	}
	f := g.Builds[probe.Build]
	if f == nil || f.Shape == BitmapBuild || f.Shape == DirectBuild {
		return false
	}
	return kernel.Multiplies(t) || f.Shape == LoopBuild || len(probe.Residual) > 0 || probe.Kind == logical.MarkJoin || probe.Build.KeepUnmatched
}

// perRow is the most rows that a probe gives for one: of a join that keeps rows without a match one at least, however few rows the build has.
func (g *Program) perRow(t *physical.Probe) float64 {
	if !kernel.Multiplies(t) {
		return 1
	}
	n := g.Bound(t.Build)
	if kernel.KeepsRows(t.Kind) {
		n = max(n, 1)
	}
	return n
}

// Form returns the form of a sink's rows, for who reads them.
func (g *Program) Form(s physical.Sink) (*kernel.RowForm, error) {
	if f := g.Sinks[s]; f != nil && !g.IsHost(s) {
		return f, nil
	}
	switch s.(type) {
	case *physical.Materialize, *physical.Sort, *physical.Window, *physical.Aggregate:
	default:
		return nil, codegen.Refuse("its input was computed on the CPU")
	}
	f := kernel.HostForm(physical.SinkColumns(s))
	g.Sinks[s] = f
	return f, nil
}
