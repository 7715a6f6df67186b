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

// Brought is what one place shows the others: a first pass, or nothing where all it says is that it has come so far.
type Brought struct {
	Rows, Counts, Begins gpukernels.Ptr
	Given                []uint32          // rows of each partition, in whole lines
	Behind               *gpukernels.Event // behind what has been launched; nil: it has been waited for
	Shows                []uint64          // of groups whose rows move: the words of groupby.Moving
	Again                bool              // the place has to run its pipeline again
}

// moving is what a query needs to move rows of joins between places.
type moving struct {
	place, places int
	builds        map[*physical.Build]bool // of joins whose rows move
	meeting       Meeting
	counts        *gpukernels.Stream  // by which counts come while kernels run; nil: none have
	beside        *gpukernels.Stream  // of kernels that run beside those of the query's stream; nil: none have
	events        []*gpukernels.Event // behind passes
}

// close gives back what moving rows took, when nothing of it runs any more.
func (m *moving) close() {
	for _, e := range m.events {
		e.Close()
	}
	for _, s := range []*gpukernels.Stream{m.counts, m.beside} {
		if s != nil {
			s.Close()
		}
	}
}

// owned are the partitions of a pass that this place owns: from .. to-1.
func (m *moving) owned(partitions int64) (from, to int64) {
	return int64(m.place) * partitions / int64(m.places), int64(m.place+1) * partitions / int64(m.places)
}
