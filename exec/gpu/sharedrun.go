package gpu

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/exchange"
	"github.com/radish-sql/radish/exec/gpu/run"
)

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
	x.moving = exchange.New(x.queries, p.shares.canReach, x.stop)
	o.Moving, o.Meeting = p.shares.movingBuilds(), exchange.NewMeeting(len(x.devices))
	err := x.each(func(i int, _ *run.Query) (err error) {
		own := o
		own.Parts, own.Windows, own.Place, own.Places = p.parts(i), p.windows[i], i, len(x.devices)
		x.queries[i], err = x.devices[i].runner.Start(x.ctx, p.program, own)
		return err
	})
	if err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

// close ends what still runs, everywhere, before it gives anything back: a place may read what lies at another one.
func (x *places) close() {
	x.stop(context.Canceled)
	for _, f := range []func(*run.Query){(*run.Query).Quiesce, (*run.Query).Close} {
		_ = x.each(func(_ int, q *run.Query) error {
			if q != nil {
				f(q)
			}
			return nil
		})
	}
	x.moving.Close()
}

// each calls f for all places at once.
func (x *places) each(f func(place int, q *run.Query) error) error { return x.moving.Each(f) }

// preparePlaces is Prepare for several devices.
func (p *Placed) preparePlaces(ctx context.Context, o run.Options) error {
	x, err := p.startPlaces(ctx, o)
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
