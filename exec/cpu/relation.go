package cpu

import "github.com/radish-sql/radish/sql/expr"

// relation is what a sink has stored for a SinkScan: segments in order, or contiguous columns read in the order of an
// index.
type relation struct {
	ids  []expr.ColumnID // of the columns
	segs []*segment
	n    int

	order []int32 // not nil: row i is row order[i] of packed
	cols  []packedColumn
}
