package distribute

import (
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
)

// Tuning says what is worth several places. It is the caller's: costs differ between devices of a host and hosts.
type Tuning struct {
	// MinRows is how many rows a plan has to scan in all; a smaller one runs at one place.
	MinRows int64
	// SliceRows is how many rows a table has to have to be sliced. Each place reads a smaller one whole.
	SliceRows int64
	// BroadcastRows is how many rows every place gets, if others need them all, without comparing that with other ways.
	BroadcastRows float64
	// BroadcastFactor is how many times as many they may be where the probe's rows, which are few or at one place, would have to move, too.
	BroadcastFactor float64
	// MovedRow prices more rows, where a build and a probe can meet in several ways.
	MovedRow cost.MovedRow
	// GatherGroups is how many groups of all places together are put together at one place. More are partitioned by their keys.
	GatherGroups float64
	// MovedRows is how many rows of a place may move for each group, so that this costs no more than groups of which each place makes most, which then move and are put together.
	MovedRows float64
	// ShrinkRows is how many rows of all places there have to be for each group of a place, so that places make groups of their own rows before anything moves.
	ShrinkRows float64
	// EvenGroups is how many groups for each place spread evenly enough.
	EvenGroups float64
	// TopRows is how many rows of an order each place finds for itself. For more, rows are gathered first and then sorted.
	TopRows int64
	// Moves says whether who runs the plan can move rows while it works on them, which is cheaper than to store them before (see Exchange). Of a Build these are the
	// rows of both sides of its join, by the join's keys. Of an Aggregate they are the rows that it groups, by its keys. The sink is one of the plan that is given. nil: of none.
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
	t := EverythingTuning()
	t.MinRows, t.SliceRows, t.BroadcastRows = 64<<20, 4<<20, 1<<16
	return t
}

// EverythingTuning distributes whatever can be, however small: for tests, and where a user wants all plans shared.
//
// Of MovedRows: on a pair of H100, 10^8 groups of 10^9 rows took 12 ms to move and to be put together. A row of 8 bytes takes 9 ps more to read over a link of 350 GB/s than to read at home. By
// the times of a pair of H200, both would cost the same at about 14 rows.
func EverythingTuning() Tuning {
	return Tuning{BroadcastFactor: 16, MovedRow: cost.DefaultMovedRow(), GatherGroups: 1 << 17, MovedRows: 13, ShrinkRows: 2, EvenGroups: 64, TopRows: 1 << 16}
}
