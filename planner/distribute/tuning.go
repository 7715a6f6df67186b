package distribute

import "github.com/radish-sql/radish/planner/physical"

// Tuning says what is worth several places. It is the caller's: costs differ between devices of a host and hosts.
type Tuning struct {
	// MinRows is how many rows a plan has to scan in all; a smaller one runs at one place.
	MinRows int64
	// SliceRows is how many rows a table has to have to be sliced. Each place reads a smaller one whole.
	SliceRows int64
	// BroadcastRows is how many rows every place gets, if others need them all, without comparing that with other ways.
	BroadcastRows float64
	// GatherGroups is how many groups of all places together are put together at one place. More are partitioned by their keys.
	GatherGroups float64
	// TopRows is how many rows of an order each place finds for itself. For more, rows are gathered first and then sorted.
	TopRows int64
	// Moves says of a Build whether who runs the plan can move the rows of both sides of its join by its keys while it joins them, and of an Aggregate whether rows can move by its keys while they are
	// grouped, which is cheaper than to store them before: see Exchange. The sink is one of the plan that is given. nil: of none.
	Moves func(physical.Sink) bool
	// Joins forces a way to join rows that lie over the places, where that way is right; tests force each.
	Joins Way
}

// Way is how a build and a probe whose rows lie over the places come together.
type Way uint8

// The ways.
const (
	ByCost   Way = iota
	ByCopies     // every place gets the whole build
	ByKeys       // both sides are partitioned by the join's keys
	ByHome       // the slices of both tables have the same keys, else ByKeys
)

// DefaultTuning is for GPUs of one host.
func DefaultTuning() Tuning {
	return Tuning{MinRows: 64 << 20, SliceRows: 4 << 20, BroadcastRows: 1 << 16, GatherGroups: 1 << 17, TopRows: 1 << 16}
}

// EverythingTuning distributes whatever can be, however small: for tests.
func EverythingTuning() Tuning { return Tuning{GatherGroups: 1 << 17, TopRows: 1 << 16} }
