package gpu

import (
	"math"

	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// Joins say how a statement wants its joins.
type Joins struct {
	InPartitions Partitioning
	Passes, Bits int // of joins in partitions; 0: as many as the rows need
	Sorted       Sorting
}

// Partitioning says which joins have both sides in partitions of their keys.
type Partitioning string

// The joins in partitions: those for which that costs less, as "" says, too; all for which there are kernels; none.
const (
	PartitionsByCost Partitioning = "auto"
	PartitionsAlways Partitioning = "always"
	PartitionsNever  Partitioning = "never"
)

// Sorting says which joins have both sides sorted and merged.
type Sorting string

// The joins that are sorted: those that a hint MERGE_JOIN asks for, as "" says, too; all for which there are kernels; none.
const (
	SortedByHint Sorting = "hint"
	SortedAlways Sorting = "always"
	SortedNever  Sorting = "never"
)

// The bits of a key by which rows are partitioned in a pass.
const (
	LeastPartitionBits = radix.LeastBits
	MostPartitionBits  = radix.OnePassBits
)

// tune changes an architecture's numbers so that a statement gets the joins that it wants.
func (x Joins) tune(t *kernel.Tuning) {
	switch x.InPartitions {
	case PartitionsAlways:
		t.Radix.Rows, t.Radix.Forced = 0, true
	case PartitionsNever:
		t.Radix.Rows = math.Inf(1)
	}
	if x.Passes > 0 {
		t.Radix.Passes, t.Radix.PassesMost = x.Passes, x.Passes
	}
	if x.Bits > 0 {
		t.Radix.Bits = x.Bits
	}
	switch x.Sorted {
	case SortedAlways:
		t.Merge.Forced = true
	case SortedNever:
		t.Merge.Hinted = false
	}
}
