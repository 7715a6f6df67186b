package exchange

import (
	"context"
	"errors"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// MostPlaces is how many places a query can have.
const MostPlaces = mostPlaces

// Places are the parts of a query, by place. They serve one goroutine, which has them work beside each other.
type Places struct {
	queries  []*run.Query
	canReach bool // kernels of each place can read and write the memory of all others
	stop     context.CancelCauseFunc
	// What an exchange has put into the stream of each place: it may be read, and nobody reads it any more. Made by the first exchange.
	sent, read []*gpukernels.Event

	workers *workers
	failed  int // the place that failed first
}

// New returns the places of a query. Each may be called before the queries are there. The first error at one of them calls stop, which ends the work of all. reach says that all places
// can reach the memory of each other. Close it, behind the queries.
func New(queries []*run.Query, reach bool, stop context.CancelCauseFunc) *Places {
	return &Places{queries: queries, canReach: reach, stop: stop, workers: newWorkers(len(queries) - 1)}
}

// Close gives the events back. No place works any more.
func (p *Places) Close() {
	p.workers.stop()
	for _, e := range append(p.sent, p.read...) {
		if e != nil {
			e.Close()
		}
	}
	p.sent, p.read = nil, nil
}

// Each calls f for every place, all at once, and waits for all. The error is the first one that happened.
func (p *Places) Each(f func(place int, q *run.Query) error) error {
	var first error
	var once sync.Once
	at := func(i int) {
		if err := sqlerr.Guard(func() error { return f(i, p.queries[i]) }); err != nil {
			once.Do(func() {
				first, p.failed = err, i
				p.stop(errOtherPlace)
			})
		}
	}
	p.workers.each(func(i int) { at(i + 1) }, func() { at(0) })
	return first
}

// Failed is the place where the error of Each, or of an exchange, has happened.
func (p *Places) Failed() int { return p.failed }

// errOtherPlace is why a place stops when another one has failed.
var errOtherPlace = errors.New("gpu: another device has ended the query")

// open makes the events.
func (p *Places) open() error {
	if p.sent != nil {
		return nil
	}
	p.sent, p.read = make([]*gpukernels.Event, len(p.queries)), make([]*gpukernels.Event, len(p.queries))
	for i, q := range p.queries {
		for _, e := range []**gpukernels.Event{&p.sent[i], &p.read[i]} {
			var err error
			if *e, err = q.Device().NewEvent(); err != nil {
				return err
			}
		}
	}
	return nil
}

// wait has a place's stream wait for an event of all other places.
func (p *Places) wait(place int, events []*gpukernels.Event) error {
	for i, e := range events {
		if i == place {
			continue
		}
		if err := p.queries[place].Memory().Stream.WaitFor(e); err != nil {
			return err
		}
	}
	return nil
}
