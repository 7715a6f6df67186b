package kernel

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	tables "github.com/radish-sql/radish/storage/table"
)

// Unbounded is the bound of rows where none is known.
var Unbounded = math.Inf(1)

// SharedRest is the bytes of a block's shared memory that a kernel may need besides its tables.
const SharedRest = 2 << 10

// BlockShared is the bytes of a multiprocessor's shared memory that the device takes for each block besides.
const BlockShared = 1 << 10

// Pipelines is what the kernels of a plan share: which pipelines feed which sinks, the decisions about each pipeline and about the rows between them, and the device. It does not change once the kernels are written.
type Pipelines struct {
	Plan    *physical.Plan
	Target  *Target
	Ctx     *expr.Context
	Lookups *lookup.Cache
	Answers *lookup.Answers // of Lookups, while kernels are decided on and written

	NoPartitions bool // groups are not made in partitions of rows

	Feeders  map[physical.Sink][]*physical.Pipeline
	Refused  map[*physical.Pipeline]error // why a pipeline has no kernel
	Outlines map[*physical.Pipeline]*Outline
	Sinks    map[physical.Sink]*RowForm
}

// NewPipelines returns the pipelines of a plan. Nothing is decided yet.
func NewPipelines(plan *physical.Plan, target *Target, ctx *expr.Context, lookups *lookup.Cache) *Pipelines {
	g := &Pipelines{
		Plan: plan, Target: target, Ctx: ctx, Lookups: lookups, Answers: lookups.Answers(),
		Feeders: map[physical.Sink][]*physical.Pipeline{}, Refused: map[*physical.Pipeline]error{},
	}
	for _, p := range plan.Pipelines {
		g.Feeders[p.Sink] = append(g.Feeders[p.Sink], p)
	}
	return g
}

// Target is what kernels depend on of the device and the library that they are written for.
type Target struct {
	LaunchWords     int                                              // the most parameters that a launch passes: kernels read others from memory
	Includes        func(source string) string                       // the lines that include the device headers that a source needs
	Columns         func(v *tables.Version, ordinal int) form.Column // the form of a table's column
	Places          map[physical.Sink]int                            // sinks in which the rows of several devices come together, and of how many
	Moves           map[*physical.Aggregate]bool                     // aggregations whose rows move between devices
	SharedBytes     int64                                            // of a block, for tables
	Multiprocessors int
	MemoryBytes     int64 // that queries and columns may hold together; 0: any number
	Tuning          Tuning
}

// RefuseHostInput is why a pipeline has no kernel whose source the host fills with what cannot be read on the device.
func RefuseHostInput() error { return codegen.Refuse("its input was computed on the CPU") }

// IsHost says whether a sink is filled by the host: not all pipelines that end in it have kernels.
func (g *Pipelines) IsHost(s physical.Sink) bool {
	return slices.ContainsFunc(g.Feeders[s], func(p *physical.Pipeline) bool { return g.Refused[p] != nil })
}

// IsShared says whether several pipelines end in a sink, so that what is known of one's values need not hold for all.
func (g *Pipelines) IsShared(s physical.Sink) bool { return len(g.Feeders[s]) > 1 }

// Bound is the most rows that can come to a sink; infinite if that is not known. Like the ranges of values it is relied on: counts are taken to be no
// larger, and sums to need no more bits than so many terms do.
func (g *Pipelines) Bound(s physical.Sink) float64 {
	if g.IsHost(s) {
		return Unbounded
	}
	n := 0.0
	for _, p := range g.Feeders[s] {
		n += g.Outlines[p].MaxRows
	}
	return Times(n, float64(max(g.Target.Places[s], 1)))
}

// Times is a product of bounds: nothing, however often, is nothing.
func Times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}
