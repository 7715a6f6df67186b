package exchange

import (
	"context"
	"slices"

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

// copiedByKernel is up to how many bytes one kernel copies all arrays that a place gets: a call for each would take longer.
const copiedByKernel = 4 << 20

// fetch copies the rows of all places to one.
func (x *move) fetch(place int) error {
	to, err := x.receive(place, x.traffic.Rows)
	if err != nil {
		return err
	}
	var copies []transfer
	first, bytes := int64(0), int64(0)
	for i, from := range x.from {
		if from == nil {
			continue
		}
		for _, a := range arrays(from, to) {
			c := transfer{i, a.to + gpukernels.Ptr(first*a.width), a.from, from.Count * a.width}
			copies, bytes = append(copies, c), bytes+c.bytes
			x.traffic.count(place, i, c.bytes)
		}
		first += from.Count
	}
	if x.canReach && bytes <= copiedByKernel {
		err = x.copyByKernel(place, copies, bytes)
	} else {
		err = x.copyEach(place, copies)
	}
	if err != nil || x.canReach {
		return err
	}
	first = 0
	for i, from := range x.from {
		if from == nil {
			continue
		}
		if err := x.fetchStrings(place, i, to, first, from.Count); err != nil {
			return err
		}
		first += from.Count
	}
	return nil
}

// transfer is an array that a place gets from a place, perhaps itself.
type transfer struct {
	from     int
	dst, src gpukernels.Ptr
	bytes    int64
}

// copyEach puts a copy into a place's stream for each array.
func (x *move) copyEach(place int, copies []transfer) (err error) {
	s := x.queries[place].Memory().Stream
	for _, c := range copies {
		if c.from == place {
			err = s.Copy(c.dst, c.src, c.bytes)
		} else {
			err = s.CopyFrom(c.dst, x.queries[c.from].Device(), c.src, c.bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyByKernel has a kernel read all arrays, of so many bytes, those of peers, too.
func (x *move) copyByKernel(place int, copies []transfer, bytes int64) error {
	for part := range slices.Chunk(copies, copiedTogether) {
		words := make([]uint64, 1+3*copiedTogether)
		words[0] = uint64(len(part))
		for i, c := range part {
			words[1+3*i], words[2+3*i], words[3+3*i] = uint64(c.dst), uint64(c.src), uint64(c.bytes)
		}
		if err := launch(x.ctx, x.queries[place].Memory().Stream, "copy_arrays", blocks(bytes/16+1), words...); err != nil {
			return err
		}
	}
	return nil
}
