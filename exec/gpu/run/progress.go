package run

import (
	"slices"
	"time"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/load"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// progress says how far a query has come.
type progress struct {
	program *program.Program
	done    map[*physical.Pipeline]bool
	ran     []*physical.Pipeline // in order, done or begun

	// Pipelines that were launched and not waited for: what they have counted, and whether there was an error, is not known here.
	pending []*kernel.Kernel
	queued  int64 // rows that they read, and rows of sinks whose size is trusted
}

func newProgress(g *program.Program) *progress {
	return &progress{program: g, done: map[*physical.Pipeline]bool{}}
}

// settle returns the pipelines that are pending, and forgets them.
func (g *progress) settle() []*kernel.Kernel {
	pending := g.pending
	g.pending, g.queued = g.pending[:0], 0
	return pending
}

// restart forgets all that was run, and returns it.
func (g *progress) restart() []*physical.Pipeline {
	ran := g.ran
	g.ran = nil
	clear(g.done)
	g.settle()
	return ran
}

// finished says whether all pipelines that end in a sink have run.
func (g *progress) finished(s physical.Sink) bool {
	for _, p := range g.program.Feeders[s] {
		if !g.done[p] {
			return false
		}
	}
	return true
}

// readByHost says whether a pipeline without a kernel reads a sink.
func (g *progress) readByHost(s physical.Sink) bool {
	for _, p := range g.program.Plan.Pipelines {
		if src, ok := p.Source.(*physical.SinkScan); ok && src.From == s && g.program.Kernels[p] == nil {
			return true
		}
	}
	return false
}

// uncounted says whether a pipeline that ends in a sink is pending.
func (g *progress) uncounted(s physical.Sink) bool {
	return slices.ContainsFunc(g.pending, func(x *kernel.Kernel) bool { return x.Pipeline.Sink == s })
}

// uncounted is in the place of a number of rows that nobody has counted.
const uncounted = -1

// Cost is what a pipeline has cost.
type Cost struct {
	RowsIn, RowsOut int64         // uncounted: that is not known
	Bytes           int64         // of table columns that were scanned
	Kernel          time.Duration // on the device
	Fill            time.Duration // on the device before: its sink's memory gets its first state
	Compile         time.Duration
	Origin          gpukernels.Origin
	Launches        int
}

// compiled notes a kernel of the pipeline, all of which are compiled beside each other.
func (c *Cost) compiled(m *load.Kernel) {
	c.Origin = max(c.Origin, m.Origin)
	if m.Origin == gpukernels.Compiled {
		c.Compile = max(c.Compile, m.Module.CompileTime)
	}
}
