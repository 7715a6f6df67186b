package exchange

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Gather brings the rows of a sink to the first place, in the order of the places. The others have none of them afterwards.
func (p *Places) Gather(ctx context.Context, s physical.Sink) (*Traffic, error) {
	return p.copyTo(ctx, s, func(place int) bool { return place == 0 })
}

// Broadcast brings the rows of all places to each of them, in the order of the places.
func (p *Places) Broadcast(ctx context.Context, s physical.Sink) (*Traffic, error) {
	return p.copyTo(ctx, s, func(int) bool { return true })
}

// copyTo brings all rows to some places. These fetch them; where they come from they are freed behind that.
func (p *Places) copyTo(ctx context.Context, s physical.Sink, gets func(place int) bool) (*Traffic, error) {
	x, err := p.begin(ctx, s)
	if err != nil {
		return nil, err
	}
	err = p.Each(func(i int, q *run.Query) error {
		if gets(i) {
			if err := x.fetch(i); err != nil {
				return err
			}
		}
		return q.Memory().Stream.Record(p.read[i])
	})
	if err != nil {
		return nil, err
	}
	return &x.traffic, p.Each(func(i int, q *run.Query) error {
		if x.from[i] != nil {
			if err := p.wait(i, p.read); err != nil {
				return err
			}
		}
		q.Memory().Free(x.packed[i].at)
		if gets(i) {
			x.release[i]()
		} else {
			q.Forget(s)
		}
		return nil
	})
}

// fetch copies the rows of all places to one.
func (x *move) fetch(place int) error {
	to, err := x.receive(place, x.traffic.Rows)
	if err != nil {
		return err
	}
	s := x.queries[place].Memory().Stream
	first := int64(0)
	for i, from := range x.from {
		if from == nil {
			continue
		}
		for _, a := range arrays(from, to) {
			dst, bytes := a.to+gpukernels.Ptr(first*a.width), from.Count*a.width
			if i == place {
				err = s.Copy(dst, a.from, bytes)
			} else {
				err = s.CopyFrom(dst, x.queries[i].Device(), a.from, bytes)
			}
			if err != nil {
				return err
			}
			x.traffic.count(place, i, bytes)
		}
		if err := x.fetchStrings(place, i, to, first, from.Count); err != nil {
			return err
		}
		first += from.Count
	}
	return nil
}
