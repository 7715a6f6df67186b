package exchange

import (
	"context"
	"errors"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// MostPlaces is how many places a query can have.
const MostPlaces = mostPlaces

// Places are the parts of a query, by place. They serve one goroutine, which has them work beside each other.
type Places struct {
	queries []*run.Query
	reach   bool // kernels of each place can read and write the memory of all others
	stop    context.CancelCauseFunc
	// What an exchange has put into the stream of each place: it may be read, and nobody reads it any more. Made by the first exchange.
	sent, read []*gpukernels.Event

	failed int // the place that failed first
}

// New returns the places of a query. The first error at one of them calls stop, which ends the work of all. reach says that all places can reach the memory of each other. Close
// it before the queries.
func New(queries []*run.Query, reach bool, stop context.CancelCauseFunc) *Places {
	return &Places{queries: queries, reach: reach, stop: stop}
}

// Close gives the events back. No place works any more.
func (p *Places) Close() {
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
	var all sync.WaitGroup
	at := func(i int, q *run.Query) {
		if err := sqlerr.Guard(func() error { return f(i, q) }); err != nil {
			once.Do(func() {
				first, p.failed = err, i
				p.stop(errElsewhere)
			})
		}
	}
	for i, q := range p.queries[1:] {
		all.Go(func() { at(i+1, q) })
	}
	at(0, p.queries[0])
	all.Wait()
	return first
}

// Failed is the place where the error of Each, or of an exchange, has happened.
func (p *Places) Failed() int { return p.failed }

// errElsewhere is why a place stops when another one has failed.
var errElsewhere = errors.New("gpu: another device has ended the query")

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

// move is one exchange.
type move struct {
	*Places
	ctx     context.Context
	sink    physical.Sink
	from    []*results.Rows // of each place; nil: it has none
	packed  []strings       // of each place: what its strings lie in
	release []func()        // of each place: frees from
	traffic Traffic
}

// Traffic is what an exchange has moved.
type Traffic struct {
	Rows  int64     // those that stayed at their place included
	Bytes [][]int64 // that went to each place, from each other one
}

// In is the bytes that came to a place from others, Out what others got of it.
func (t *Traffic) In(place int) (bytes int64) {
	for _, n := range t.Bytes[place] {
		bytes += n
	}
	return bytes
}

func (t *Traffic) Out(place int) (bytes int64) {
	for _, from := range t.Bytes {
		bytes += from[place]
	}
	return bytes
}

// count adds bytes that go from one place to another. Each place may count what it gets.
func (t *Traffic) count(to, from int, bytes int64) {
	if from != to {
		t.Bytes[to][from] += bytes
	}
}

// begin waits until all pipelines that end in a sink, and have been launched at their places, have ended.
func (p *Places) begin(ctx context.Context, s physical.Sink) (*move, error) {
	n := len(p.queries)
	x := &move{Places: p, ctx: ctx, sink: s, from: make([]*results.Rows, n), packed: make([]strings, n), release: make([]func(), n), traffic: Traffic{Bytes: make([][]int64, n)}}
	for i := range n {
		x.traffic.Bytes[i] = make([]int64, n)
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	err := p.Each(func(i int, q *run.Query) error {
		if err := q.Settle(ctx); err != nil {
			return err
		}
		if rows := q.Rows(s); rows != nil && rows.Count > 0 {
			x.from[i] = rows
			if !p.reach {
				return x.pack(i)
			}
		}
		return nil
	})
	for _, rows := range x.from {
		if rows != nil {
			x.traffic.Rows += rows.Count
		}
	}
	return x, err
}

// rows is how many rows a place had before the exchange.
func (x *move) rows(place int) int64 {
	if x.from[place] == nil {
		return 0
	}
	return x.from[place].Count
}

// receive makes room for rows at a place.
func (x *move) receive(place int, rows int64) (to *results.Rows, err error) {
	to, x.release[place], err = x.queries[place].Receive(x.sink, rows)
	return to, err
}

// array is what an exchange moves of a column: its items, or a byte for each that says whether there is a value.
type array struct {
	width    int64
	from, to gpukernels.Ptr
}

// arrays are those of two places' rows, which lie in the same way.
func arrays(from, to *results.Rows) (all []array) {
	for c := range to.Columns {
		of, at := &from.Columns[c], &to.Columns[c]
		all = append(all, array{of.Class.Width(), of.Data, at.Data})
		if at.Valid != 0 {
			all = append(all, array{1, of.Valid, at.Valid})
		}
	}
	return all
}
