package exchange

import (
	"context"
	"sync"
	"time"

	"github.com/radish-sql/radish/exec/gpu/run"
)

// Meeting is where the places of a query meet in the midst of a pipeline. It is a run.Meeting.
type Meeting struct {
	places   int
	patience time.Duration

	mu    sync.Mutex // guards round
	round *round
}

// round is one time that they meet.
type round struct {
	brought []run.Brought
	missing int
	all     chan struct{} // closed when nobody is missing
}

var _ run.Meeting = (*Meeting)(nil)

// NewMeeting returns a meeting of so many places.
func NewMeeting(places int) *Meeting {
	m := &Meeting{places: places, patience: patience(places)}
	m.begin()
	return m
}

// begin opens the next round. The caller holds mu, or is alone.
func (m *Meeting) begin() {
	m.round = &round{brought: make([]run.Brought, m.places), missing: m.places, all: make(chan struct{})}
}

// Meet waits until all places are there. A place whose ctx has ended leaves, and the others with it, since theirs ends, too.
func (m *Meeting) Meet(ctx context.Context, place int, brings run.Brought) ([]run.Brought, error) {
	m.mu.Lock()
	r := m.round
	r.brought[place] = brings
	if r.missing--; r.missing == 0 {
		m.begin()
		close(r.all)
	}
	m.mu.Unlock()
	if _, _, there := look(r.all, m.patience); there {
		return r.brought, nil
	}
	select {
	case <-r.all:
		return r.brought, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
