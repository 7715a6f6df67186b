package rowstore

import (
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/expr"
)

// Relation is what a sink has stored for a SinkScan: segments in order, or contiguous columns read in the order of an
// index.
type Relation struct {
	IDs  []expr.ColumnID // of the columns
	Segs []*Segment
	N    int

	Order []int32 // not nil: row i is row order[i] of packed
	Cols  []vec.Packed
}
