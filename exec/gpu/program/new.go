package program

import (
	"maps"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// New writes the kernels of the pipelines for which on is true. What the others' sinks hold comes from the host.
func New(plan *physical.Plan, target *kernel.Target, ctx *expr.Context, lookups *lookup.Cache, on func(*physical.Pipeline) bool) *Program {
	return write(plan, target, ctx, lookups, on, hints{})
}

// WithLoading writes the program again. Scans that are not named load their columns as their estimates suggest.
func (g *Program) WithLoading(scans map[*physical.TableScan]Loading) *Program {
	return write(g.Plan, g.Target, g.Ctx, g.Lookups, g.on, hints{loading: scans, noPartitions: g.hints.noPartitions})
}

// Hurried writes the program again. Some pipelines' kernels are to be compiled soon: scans go row by row, and rows get their numbers one by one.
func (g *Program) Hurried(pipelines map[*physical.Pipeline]bool) *Program {
	loading := maps.Clone(g.hints.loading)
	if loading == nil {
		loading = map[*physical.TableScan]Loading{}
	}
	for p := range pipelines {
		if scan, ok := p.Source.(*physical.TableScan); ok {
			loading[scan] = RowByRow
		}
	}
	return write(g.Plan, g.Target, g.Ctx, g.Lookups, g.on, hints{loading, pipelines, g.hints.noPartitions})
}

// Partitions says whether groups are made in partitions of rows, and of how many rows at most.
func (g *Program) Partitions() (rows float64, ok bool) {
	for a, f := range g.Aggs {
		if f.Partition == nil {
			continue
		}
		ok = true
		for _, p := range g.Feeders[a] {
			rows = max(rows, p.EstRows)
		}
	}
	return rows, ok
}

// WithoutPartitions writes the program again. Groups are made without partitions of rows.
func (g *Program) WithoutPartitions() *Program {
	without := g.hints
	without.noPartitions = true
	return write(g.Plan, g.Target, g.Ctx, g.Lookups, g.on, without)
}

// write decides everything, and then writes the kernels.
func write(plan *physical.Plan, target *kernel.Target, ctx *expr.Context, lookups *lookup.Cache, on func(*physical.Pipeline) bool, hints hints) *Program {
	g := &Program{Pipelines: kernel.NewPipelines(plan, target, ctx, lookups), Kernels: map[*physical.Pipeline]*kernel.Kernel{}, on: on, hints: hints}
	g.Pipelines.NoPartitions = hints.noPartitions
	for _, p := range g.Plan.Pipelines {
		if !g.on(p) {
			g.Refused[p] = codegen.Refuse("not asked for")
		}
	}
	g.outline()
	for _, p := range g.Plan.Pipelines {
		if !g.IsHost(p.Sink) { // or it is refused, or another that ends in its sink, with which it goes to the CPU
			g.Kernels[p] = (&writer{Kernel: kernel.New(g.Outlines[p]), g: g}).generate()
		}
	}
	g.Answers.Forget()
	return g
}
