package program

import (
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// Loading is how a scan loads its columns, where there are ways that give the same rows.
type Loading uint8

// The loadings.
const (
	Suggested Loading = iota // as its estimates suggest
	Flipped                  // the columns behind its filters of all rows at once, where its estimates suggest those of the rows that pass, and the reverse
	RowByRow                 // each row's columns where they are used: the kernel compiles sooner, and runs longer over many rows
)

// hints say how kernels are written where that does not follow from the plan.
type hints struct {
	loading map[*physical.TableScan]Loading // of scans that do not follow their estimates
	hurried map[*physical.Pipeline]bool     // whose kernels are to be compiled soon
	// noPartitions: groups are not made in partitions of rows.
	noPartitions bool
}

// Program is what a plan's pipelines become on a device: a kernel for each, and the form of what they store between them. It is made
// without a device, from the plan and the forms of the tables' columns. It does not change afterwards, so several queries may run it.
type Program struct {
	*kernel.Pipelines
	Kernels map[*physical.Pipeline]*kernel.Kernel
	on      func(*physical.Pipeline) bool
	hints   hints

	choices *join.Choices // of joins, across pipelines

	Builds join.Forms
	Aggs   groupby.Forms
}

// outliner decides on one pipeline.
type outliner struct {
	*kernel.Outline
	g     *Program
	again bool // see outlineAll
}

// Reason is why a pipeline has no kernel; nil if it has one.
func (g *Program) Reason(p *physical.Pipeline) error { return g.Refused[p] }

// Form returns the form of a sink's rows that the host puts in.
func (g *Program) Form(s physical.Sink) (*kernel.RowForm, error) {
	if f := g.Sinks[s]; f != nil {
		return f, nil
	}
	return nil, kernel.RefuseHostInput()
}

// Side is the side of a join whose rows a pipeline's first kernel partitions; false: it partitions none.
func (g *Program) Side(p *physical.Pipeline) (radix.Side, bool) {
	if x := g.choices.Probe[p]; x != nil {
		return x.ProbeSide(), true
	}
	if b, ok := p.Sink.(*physical.Build); ok && g.Builds[b] != nil && g.Builds[b].Radix != nil {
		return g.Builds[b].Radix.BuildSide(), true
	}
	return radix.Side{}, false
}

// PartitionsTwice says whether the join of a Build, or an Aggregate, partitions its rows by hash in two passes.
func (g *Program) PartitionsTwice(s physical.Sink) bool {
	switch s := s.(type) {
	case *physical.Build:
		x := g.Builds[s].Radix
		return x != nil && !x.Merges() && x.BuildSide().Form().Passes == 2
	case *physical.Aggregate:
		x := g.Aggs[s].Partition
		return x != nil && x.Passes == 2
	}
	return false
}
