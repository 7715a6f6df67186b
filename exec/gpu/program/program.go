package program

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// Program is what a plan's pipelines become on a device: a kernel for each, and the form of what they store between them. It is made
// without a device, from the plan and the forms of the tables' columns. It does not change afterwards, so several queries may run it.
type Program struct {
	*kernel.Pipelines
	on func(*physical.Pipeline) bool
	// Scans that load their columns in the other way than loadsAllRows would choose by their estimates: see WithFlippedLoading.
	flipped map[*physical.TableScan]bool

	Builds join.Forms
	Aggs   groupby.Forms
}

// New writes the kernels of the pipelines for which on is true. What the others' sinks hold comes from the host.
func New(plan *physical.Plan, target *kernel.Target, ctx *expr.Context, lookups *codegen.LookupCache, on func(*physical.Pipeline) bool) *Program {
	g := &Program{Pipelines: kernel.NewPipelines(plan, target, ctx, lookups), on: on}
	g.write()
	return g
}

// WithFlippedLoading writes the program again. The scans load their columns in the other way than their estimates suggest (loadsAllRows).
func (g *Program) WithFlippedLoading(scans map[*physical.TableScan]bool) *Program {
	flipped := &Program{Pipelines: kernel.NewPipelines(g.Plan, g.Target, g.Ctx, g.Lookups), on: g.on, flipped: scans}
	flipped.write()
	return flipped
}

// write decides everything, and then writes the kernels.
func (g *Program) write() {
	for _, p := range g.Plan.Pipelines {
		if !g.on(p) {
			g.Refused[p] = codegen.Refuse("not asked for")
		}
	}
	g.outline()
	for _, p := range g.Plan.Pipelines {
		if g.Refused[p] != nil {
			continue
		}
		k, err := g.generate(g.Outlines[p])
		if err != nil { // its text is too long, say: what reads its sink has it from the host
			g.Refused[p] = err
			g.outline()
			continue
		}
		g.Kernels[p] = k
	}
}

// Reason is why a pipeline has no kernel; nil if it has one.
func (g *Program) Reason(p *physical.Pipeline) error { return g.Refused[p] }

// Form returns the form of a sink's rows that the host puts in.
func (g *Program) Form(s physical.Sink) (*kernel.RowForm, error) {
	if f := g.Sinks[s]; f != nil {
		return f, nil
	}
	return nil, codegen.Refuse("its input was computed on the CPU")
}
