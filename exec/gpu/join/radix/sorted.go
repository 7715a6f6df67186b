package radix

import (
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
)

// Sorted returns the join of a build that feeder fills, if both sides are to be sorted by its keys and merged. no says why they are not although somebody wants it.
func Sorted(g *kernel.Pipelines, b *physical.Build, feeder *physical.Pipeline) (x *Join, no string) {
	tuning, why := &g.Target.Tuning.Merge, ""
	switch {
	case tuning.Forced:
		why = "radish_gpu_join_sorted is 'always'"
	case b.Sorted && tuning.Hinted:
		why = "hint MERGE_JOIN"
	default:
		return nil, ""
	}
	for i := range b.Keys {
		if b.NullSafe != nil && b.NullSafe[i] {
			return nil, "NULL equals NULL by <=>"
		}
	}
	if b.KeepUnmatched {
		return nil, "rows of the build without a match are wanted"
	}
	if x = only(g, b, feeder); x == nil {
		return nil, "it is not the only join of its build, or not by equality"
	}
	if no = unsorted(x.probe); no != "" {
		return nil, no
	}
	x.isSorted, x.why = true, why
	return x, ""
}

// unsorted says why there are no kernels that merge for a probe; "": there are.
func unsorted(p *physical.Probe) string {
	switch p.Kind {
	case logical.InnerJoin:
		return ""
	case logical.LeftJoin, logical.SemiJoin, logical.AntiJoin, logical.SingleJoin:
		if len(p.Residual) > 0 {
			return "it has conditions besides the equality and is no inner join"
		}
		return ""
	}
	return "its kind needs more than the matches of each row"
}

// Merges says whether the sides are sorted and merged.
func (x *Join) Merges() bool { return x.isSorted }

// Refusal says why Settle or SettleProbe has found that the sides cannot be sorted.
func (x *Join) Refusal() string {
	if x.no == "" {
		return "the kernels of its pipelines cannot be written so"
	}
	return x.no
}

// sortedWord is a word about the rows of a side that are sorted, or of their join.
type sortedWord struct {
	of
	isProbe bool
	what    SortedItem
}

// SortedItem is what a word of a side is.
type SortedItem uint8

// Addresses of which the kernel that joins reads the sorted ones; where rows come; and what there is where rows can have several matches.
const (
	SortedRadixKeys    SortedItem = iota // the address of radix keys,
	SortedValues                         // of values
	SortedRows                           // and of whole rows
	SortedCounter                        // the address of the counter of rows while they come
	SortedCapacity                       // how many there is capacity for
	SortedCount                          // and how many they are
	SortedSplits                         // of both sides: the address of the build's rows in front of each tile
	SortedList                           // the address of the list of pieces of pairs
	SortedListCapacity                   // its capacity
	SortedListPairs                      // how many pairs a piece has
	SortedListed                         // whether the kernel goes over the list and no longer over tiles
)

// Sorted is the key of a word of a side.
func (s Side) Sorted(what SortedItem) any { return sortedWord{of{s.Join.build}, s.IsProbe, what} }

// Splits is the key of the address of the build's rows in front of each tile.
func (x *Join) Splits() any { return x.BuildSide().Sorted(SortedSplits) }

// value is the half of a row that is sorted beside its radix key; less than 0: it carries more, and its number is sorted.
func (s Side) value() int {
	switch halves := s.layout().Halves; len(halves) {
	case 0:
		return 0 // any: nobody reads it
	case 1:
		return halves[0]
	}
	return -1
}

// KeepsRows says whether whole rows are kept beside what is sorted.
func (s Side) KeepsRows() bool { return s.value() < 0 }
