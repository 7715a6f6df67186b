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

// JoinSeconds are what a join takes on an H200 in partitions, and by a hash table: by a key of 4 bytes, with a value of 4 bytes a side. CALL radish_calibrate() compares joins with them.
func JoinSeconds(build, probe int) (partitions, table float64) {
	const (
		ps       = 1e-12
		columns  = 8  // bytes of a row,
		moved    = 16 // those that one pass writes and reads,
		inTables = 32 // and those of a row, its links and its slots
	)
	c := kernel.TuningOf(0).Joins
	b, p := float64(build), float64(probe)
	return c.InPartitions((b+p)*(columns+moved)) * ps, c.ByTable(kernel.JoinTable{Bytes: inTables * b, Rows: b, Probes: p, Filtered: p}) * ps
}
