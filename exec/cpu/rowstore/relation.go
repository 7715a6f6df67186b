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

	// Later is not nil if the rows, N at most, are made when they are read, since all of them do not fit the memory.
	Later Later
}

// Later are rows that are made part by part. Parts may be read at once, and more than once.
type Later interface {
	// Parts returns the number of parts.
	Parts() int
	// Read calls give with the segments of a part, which are gone when it returns. An error of give ends it and is returned.
	Read(part int, give func(*Segment) error) error
	// Close gives back what is held for them. Nobody reads them any more.
	Close()
}

// Forget lets go of the rows, which nobody reads any more.
func (r *Relation) Forget() {
	if r.Later != nil {
		r.Later.Close()
	}
	r.Segs, r.Cols, r.Order, r.Later = nil, nil, nil, nil
}
