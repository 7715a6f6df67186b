package run

import (
	"context"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Meeting brings the places of a query together in the midst of a pipeline that all of them run.
type Meeting interface {
	// Meet returns what all places have brought, by place, once all are there. It fails when ctx ends.
	Meet(ctx context.Context, place int, brings Brought) ([]Brought, error)
	// Copy puts copies into a stream, whose device can read where the arrays lie. They leave most of the device to others.
	Copy(ctx context.Context, s *gpukernels.Stream, arrays []Transfer) error
}

// Transfer is an array that is copied.
type Transfer struct {
	To, From gpukernels.Ptr
	Bytes    int64
}

// Brought is what one place shows the others: the rows of a pass, or an event behind which it does not read the others' any more.
type Brought struct {
	Rows  gpukernels.Ptr
	First []uint32 // row of each partition
	Given []uint32 // rows of each, in whole lines
	Read  *gpukernels.Event
}

// moving is what a query needs to move rows of joins between places.
type moving struct {
	place, places int
	builds        map[*physical.Build]bool // of joins whose rows move
	meeting       Meeting
	copies        *gpukernels.Stream  // what the copies run on; nil: no rows have moved
	events        []*gpukernels.Event // of copies that may be waited for
}

// close gives back what moving rows took, when nothing of it runs any more.
func (m *moving) close() {
	for _, e := range m.events {
		e.Close()
	}
	if m.copies != nil {
		m.copies.Close()
	}
}

// owned are the partitions of a pass that this place owns: from .. to-1.
func (m *moving) owned(partitions int64) (from, to int64) {
	return int64(m.place) * partitions / int64(m.places), int64(m.place+1) * partitions / int64(m.places)
}

// fetches are the copies that bring the rows of the partitions from .. to-1 to x from the places where they are: its own lie there already, unless it has other memory now.
func (m *moving) fetches(x *sidePass, all []Brought, from, to, rowBytes int64) (arrays []Transfer) {
	filled := make([]uint32, to-from)
	for i := range all {
		b := &all[(m.place+i)%len(all)] // its own first, and not all places read the same one at once
		for p := from; p < to; p++ {
			n := int64(b.Given[p])
			dst := x.rows + gpukernels.Ptr(int64(x.first[p]+filled[p-from])*rowBytes)
			src := b.Rows + gpukernels.Ptr(int64(b.First[p])*rowBytes)
			filled[p-from] += b.Given[p]
			if n > 0 && dst != src {
				arrays = append(arrays, Transfer{dst, src, n * rowBytes})
			}
		}
	}
	return arrays
}
