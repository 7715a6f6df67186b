package gpu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/radish-sql/radish/exec/gpu/exchange"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// shares is how the devices of a fleet share a plan: each is a place.
type shares struct {
	*distribute.Distributed
	devices []*Device // by place
	reach   bool      // all can reach the memory of all others
	parts   []map[*physical.TableScan]residency.Part
}

func newShares(d *distribute.Distributed, devices []*Device) *shares {
	s := &shares{Distributed: d, devices: devices[:d.Places], reach: reachEachOther(devices[:d.Places]), parts: make([]map[*physical.TableScan]residency.Part, d.Places)}
	for i := range s.parts {
		s.parts[i] = map[*physical.TableScan]residency.Part{}
	}
	for scan, parts := range d.Parts {
		for i, part := range parts {
			if part.From >= part.To { // which is not nothing where both are 0
				part.From, part.To = len(scan.Table.Groups()), len(scan.Table.Groups())
			}
			s.parts[i][scan] = residency.Part{From: part.From, To: part.To}
		}
	}
	return s
}

// follow has the spreads of a plan's pipelines be those of a plan that was made of it by cutting some of them.
func (s *shares) follow(cut *physical.Plan) {
	spread := make(map[*physical.Pipeline]distribute.Choice, len(cut.Pipelines))
	at := 0
	for _, p := range s.Plan.Pipelines {
		for {
			x := cut.Pipelines[at]
			spread[x] = s.Spread[p]
			at++
			if x.Sink == p.Sink {
				break
			}
		}
	}
	d := *s.Distributed
	d.Plan, d.Spread = cut, spread
	s.Distributed = &d
}

// multiplied are the sinks in which rows of all places come together that each place has made for itself, groups among them: all together are more than one place could make. What comes of
// a table's rows, each of which is at one place, is no more than one place would have.
func (s *shares) multiplied() map[physical.Sink]int {
	made := map[physical.Sink]bool{} // rows that are not a table's
	out := map[physical.Sink]int{}
	for _, p := range s.Plan.Pipelines {
		own := false
		switch src := p.Source.(type) {
		case *physical.SinkScan:
			_, groups := src.From.(*physical.Aggregate)
			own = groups || made[src.From]
		case *physical.UnmatchedScan:
			own = made[src.Build]
		}
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				own = own || made[t.Build]
			}
		}
		made[p.Sink] = made[p.Sink] || own
		if _, moves := s.Exchanges[p.Sink]; moves && own {
			out[p.Sink] = s.Places
			made[p.Sink] = false // its bound is that of all places from now on
		}
	}
	return out
}

// runsAt says whether a place runs a pipeline.
func (s *shares) runsAt(place int, p *physical.Pipeline) bool {
	return place == 0 || s.Spread[p].Spread.Everywhere()
}

// places are the parts of a running query, by place.
type places struct {
	ctx     context.Context // ends when a place fails
	stop    context.CancelCauseFunc
	devices []*Device
	queries []*run.Query
	moving  *exchange.Places
}

// startPlaces begins the query on all of its devices.
func (p *Placed) startPlaces(ctx context.Context, o run.Options) (*places, error) {
	x := &places{devices: p.shares.devices, queries: make([]*run.Query, len(p.shares.devices))}
	x.ctx, x.stop = context.WithCancelCause(ctx)
	var all sync.WaitGroup
	errs := make([]error, len(x.devices))
	for i, d := range x.devices {
		o.Parts, o.Place, o.Places = p.shares.parts[i], i, len(x.devices)
		own := o
		all.Go(func() {
			errs[i] = sqlerr.Guard(func() (err error) {
				x.queries[i], err = d.runner.Start(x.ctx, p.program, own)
				return err
			})
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		x.close()
		return nil, err
	}
	x.moving = exchange.New(x.queries, p.shares.reach, x.stop)
	return x, nil
}

// close ends what still runs, everywhere, before it gives anything back: a place may read what lies at another one.
func (x *places) close() {
	x.stop(context.Canceled)
	if x.moving != nil {
		_ = x.each(func(_ int, q *run.Query) error {
			_ = q.Memory().Stream.Sync(context.Background())
			return nil
		})
		x.moving.Close()
	}
	for _, q := range x.queries {
		if q != nil {
			q.Close()
		}
	}
}

// each calls f for all places at once.
func (x *places) each(f func(place int, q *run.Query) error) error { return x.moving.Each(f) }

// preparePlaces is Prepare for several devices.
func (p *Placed) preparePlaces(ctx context.Context) error {
	x, err := p.startPlaces(ctx, run.Options{Limit: p.limit, Background: true})
	if err != nil {
		return err
	}
	defer x.close()
	return x.each(func(_ int, q *run.Query) error {
		if err := q.Await(ctx); err != nil {
			return err
		}
		return q.Compiled()
	})
}

// failAt notes an error of one of the places.
func (r *Run) failAt(p *physical.Pipeline, err error) error {
	if err != nil && r.failed == nil {
		place := r.places.moving.Failed()
		r.failed, r.at, r.on, r.held = err, p, r.places.devices[place], r.places.queries[place].MemoryUsed()
	}
	return err
}

// everywhere runs a pipeline at its places, and behind the last one that ends in a sink the exchange of its rows.
func (r *Run) everywhere(p *physical.Pipeline, last bool) (profile.Pipeline, error) {
	begin := time.Now()
	s, x := r.placed.shares, r.places
	costs := make([]run.Cost, len(x.queries))
	err := x.each(func(i int, q *run.Query) (err error) {
		if !s.runsAt(i, p) {
			q.Skip(p)
			return nil
		}
		costs[i], err = q.RunPipeline(x.ctx, p, i == 0 && r.last(p))
		return err
	})
	if err != nil {
		return profile.Pipeline{ID: p.ID}, r.failAt(p, err)
	}
	var out profile.Pipeline
	if r.profiled {
		out = r.profileOfPlaces(p, costs, time.Since(begin))
	}
	e, ok := s.Exchanges[p.Sink]
	if !ok || !last {
		return out, nil
	}
	begin = time.Now()
	moved, err := r.exchange(p.Sink, e)
	if err == nil && r.profiled {
		err = x.each(func(_ int, q *run.Query) error { return q.Memory().Stream.Sync(x.ctx) })
	}
	if err != nil {
		return out, r.failAt(p, err)
	}
	if r.profiled {
		took := time.Since(begin)
		out.Wall += took
		out.GPU.Exchange = &profile.Exchange{Kind: e.Kind.String(), Link: s.link(), LinkRate: x.devices[1].copyRate(x.ctx, x.devices[0]), Rows: moved.Rows, Took: took}
		for i := range out.GPU.Places {
			out.GPU.Places[i].In, out.GPU.Places[i].Out = moved.In(i), moved.Out(i)
		}
	}
	return out, nil
}

// exchange moves the rows of a sink.
func (r *Run) exchange(s physical.Sink, e distribute.Exchange) (*exchange.Traffic, error) {
	x := r.places
	switch e.Kind {
	case distribute.Gather:
		return x.moving.Gather(x.ctx, s)
	case distribute.Broadcast:
		return x.moving.Broadcast(x.ctx, s)
	}
	return x.moving.Repartition(x.ctx, s, e.Keys)
}

// profileOfPlaces adds up what a pipeline has cost at its places: of kernels the longest time counts.
func (r *Run) profileOfPlaces(p *physical.Pipeline, costs []run.Cost, wall time.Duration) profile.Pipeline {
	s, x := r.placed.shares, r.places
	spread := s.Spread[p].Spread
	sum, uploaded, held := run.Cost{}, int64(0), int64(0)
	var all []profile.Place
	for i, c := range costs {
		if !s.runsAt(i, p) {
			continue
		}
		q := x.queries[i]
		if c.Bytes == 0 {
			c.Bytes = q.Scanned(p)
		}
		sum.Kernel, sum.Fill, sum.Compile, sum.Origin = max(sum.Kernel, c.Kernel), max(sum.Fill, c.Fill), max(sum.Compile, c.Compile), max(sum.Origin, c.Origin)
		sum.Bytes += c.Bytes
		sum.Launches += c.Launches
		uploaded += q.Uploaded(p)
		held = max(held, q.MemoryPeak())
		if i == 0 || spread == distribute.Replicated {
			sum.RowsIn, sum.RowsOut = c.RowsIn, c.RowsOut
		} else {
			if _, scans := p.Source.(*physical.TableScan); !scans { // whose rows are those of the table
				sum.RowsIn = addRows(sum.RowsIn, c.RowsIn)
			}
			sum.RowsOut = addRows(sum.RowsOut, c.RowsOut)
		}
		all = append(all, profile.Place{Device: x.devices[i].Name(), Rows: c.RowsOut, Kernel: c.Kernel + c.Fill, Bytes: c.Bytes})
	}
	for i := range all {
		all[i].Idle = sum.Kernel + sum.Fill - all[i].Kernel
	}
	out := r.profileOf(p, &sum, wall, uploaded, held)
	out.GPU.Places = all
	return out
}

// addRows adds numbers of rows, either of which may be unknown.
func addRows(a, b int64) int64 {
	if a == profile.Uncounted || b == profile.Uncounted {
		return profile.Uncounted
	}
	return a + b
}

// Name is what users call the device.
func (d *Device) Name() string { return fmt.Sprint("gpu", d.Info().Ordinal) }
