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
}

// Brought is what one place shows the others: the rows of a pass, or an event behind which it does not read the others' any more.
type Brought struct {
	Device *gpukernels.Device
	Rows   gpukernels.Ptr
	First  []uint32 // row of each partition
	Given  []uint32 // rows of each, in whole lines
	Read   *gpukernels.Event
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
