package kernel

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	tables "github.com/radish-sql/radish/storage/table"
)

// Unbounded is the bound of rows where none is known.
var Unbounded = math.Inf(1)

// SharedRest is the bytes of a block's shared memory that a kernel may need besides its tables.
const SharedRest = 2 << 10

// Pipelines is what the kernels of a plan share while they are written: who feeds what, how rows between them are stored, and the device that they are for.
type Pipelines struct {
	Plan    *physical.Plan
	Target  *Target
	Ctx     *expr.Context
	Lookups *codegen.LookupCache

	Kernels map[*physical.Pipeline]*Kernel
	Sinks   map[physical.Sink]*RowForm
	Feeders map[physical.Sink][]*physical.Pipeline

	// Decisions that a later pipeline may change; then all is written anew.
	views map[any]bool // strings that must be stored as views: by storedKey
	nulls map[any]bool // columns that can hold NULL after all
}

// Begin forgets all kernels and forms, but not the decisions.
func (g *Pipelines) Begin() {
	g.Kernels = map[*physical.Pipeline]*Kernel{}
	g.Sinks = map[physical.Sink]*RowForm{}
	g.Feeders = map[physical.Sink][]*physical.Pipeline{}
	if g.views == nil {
		g.views, g.nulls = map[any]bool{}, map[any]bool{}
	}
	for _, p := range g.Plan.Pipelines {
		g.Feeders[p.Sink] = append(g.Feeders[p.Sink], p)
	}
}

// StoreView decides that a stored column of strings holds views, not codes. All is to be written anew then.
func (g *Pipelines) StoreView(sink physical.Sink, at int) error {
	g.views[storedKey{sink, at}] = true
	return ErrAgain
}

// Target is what kernels depend on of the device and the library that they are written for.
type Target struct {
	LaunchWords     int                                              // the most parameters of a launch
	Includes        func(source string) string                       // the lines that include the device headers that a source needs
	Columns         func(v *tables.Version, ordinal int) form.Column // the form of a table's column
	SharedBytes     int64                                            // of a block, for tables
	Multiprocessors int
	Tuning          Tuning
}

// IsHost says whether a sink is filled by the host: not all pipelines that end in it have kernels.
func (g *Pipelines) IsHost(s physical.Sink) bool {
	for _, p := range g.Feeders[s] {
		if g.Kernels[p] == nil {
			return true
		}
	}
	return false
}

// Bound is the most rows that can come to a sink; infinite if that is not known. Like the ranges of values it is relied on: counts are taken to be no
// larger, and sums to need no more bits than so many terms do.
func (g *Pipelines) Bound(s physical.Sink) float64 {
	if g.IsHost(s) {
		return Unbounded
	}
	n := 0.0
	for _, p := range g.Feeders[s] {
		n += g.Kernels[p].MaxRows
	}
	return n
}

// Multiplies says whether a transform can give several rows for one.
func Multiplies(t physical.Transform) bool {
	switch t := t.(type) {
	case *physical.Repeat:
		return true
	case *physical.Probe:
		switch t.Kind {
		case logical.InnerJoin, logical.LeftJoin, logical.FullJoin:
			return !t.Build.Unique || t.Build.On(physical.GPU) == physical.NestedLoopJoin
		}
	}
	return false
}

// KeepsRows says whether a join gives each probe row exactly once if no row has several matches.
func KeepsRows(kind logical.JoinKind) bool {
	switch kind {
	case logical.LeftJoin, logical.FullJoin, logical.MarkJoin, logical.SingleJoin:
		return true
	}
	return false
}

// Times is a product of bounds: nothing, however often, is nothing.
func Times(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a * b
}
