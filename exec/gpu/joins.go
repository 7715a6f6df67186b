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
}

// Partitioning says which joins have both sides in partitions of their keys.
type Partitioning string

// The joins in partitions: those for which that costs less, as "" says, too; all for which there are kernels; none.
const (
	PartitionsByCost Partitioning = "auto"
	PartitionsAlways Partitioning = "always"
	PartitionsNever  Partitioning = "never"
)

// The bits of a key by which rows are partitioned in a pass.
const (
	LeastPartitionBits = radix.LeastBits
	MostPartitionBits  = radix.OnePassBits
)

// tune changes an architecture's numbers so that a statement gets the joins that it wants.
func (x Joins) tune(t *kernel.PartitionedJoins) {
	switch x.InPartitions {
	case PartitionsAlways:
		t.Rows, t.DenseRows, t.Forced = 0, 0, true
	case PartitionsNever:
		t.Rows, t.DenseRows = math.Inf(1), math.Inf(1)
	}
	if x.Passes > 0 {
		t.Passes, t.PassesMost = x.Passes, x.Passes
	}
	if x.Bits > 0 {
		t.Bits = x.Bits
	}
}
