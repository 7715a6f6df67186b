package run

import (
	"context"
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Rows of a join in partitions move between places behind the first pass. Each of its partitions has one owner: a run of their numbers, of about equal length. An owner has capacity for the
// rows of all places behind its own in the first place, so its own need not be copied. The second pass and the join go over what a place owns.
//
// Copies run beside kernels: those of the build's rows beside the first pass over the probe's, those of the probe's beside the second pass over the build's.

// Quiesce waits until nothing of the query runs on the device any more, whatever has become of it.
func (q *Query) Quiesce() {
	_ = q.memory.Stream.Sync(context.Background())
	if q.moving.copies != nil {
		_ = q.moving.copies.Sync(context.Background())
	}
}

// moves says whether a join moves the rows of its sides between places.
func (q *Query) moves(b *physical.Build) bool { return q.moving.builds[b] }

// movesRows says whether a pipeline gets rows of other places while it runs: what its source has is no bound of them.
func (q *Query) movesRows(p *physical.Pipeline) bool {
	return slices.ContainsFunc(p.Transforms, func(t physical.Transform) bool {
		probe, ok := t.(*physical.Probe)
		return ok && q.moves(probe.Build)
	})
}

// ownShare is how many rows a partition of the first pass is expected to have in the end, of which so many come from the place itself.
func (q *Query) ownShare(side radix.Side, partitions, p int64, share float64) float64 {
	if !q.moves(side.Join.Build()) {
		return share
	}
	if from, to := q.moving.owned(partitions); p < from || p >= to {
		return share
	}
	return share * float64(q.moving.places)
}

// event records an event on a stream.
func (q *Query) event(on *gpukernels.Stream) (*gpukernels.Event, error) {
	e, err := q.runner.Device.NewEvent()
	if err != nil {
		return nil, err
	}
	q.moving.events = append(q.moving.events, e)
	return e, on.Record(e)
}

// meet waits for all other places.
func (q *Query) meet(ctx context.Context, brings Brought) ([]Brought, error) {
	defer q.runner.Device.Span("meet")()
	return q.moving.meeting.Meet(ctx, q.moving.place, brings)
}

// move begins to exchange the partitions of a side's first pass, which has been waited for, with all other places. arrive waits for what comes.
func (q *Query) move(ctx context.Context, s *sideRun, form *partition.Form) error {
	defer q.runner.Device.Span("move rows")()
	if q.moving.copies == nil {
		var err error
		if q.moving.copies, err = q.runner.Device.NewStream(); err != nil {
			return err
		}
	}
	x := &s.passes[0]
	all, err := q.meet(ctx, Brought{Rows: x.rows, First: x.first, Given: x.given})
	if err != nil {
		return err
	}
	from, to := q.moving.owned(int64(len(x.given)))
	given := make([]uint32, len(x.given))
	for _, b := range all {
		for p := from; p < to; p++ {
			given[p] += b.Given[p]
		}
	}
	s.moved = &movedSide{own: x.rows}
	if err := q.reserveOwned(x, given, form); err != nil {
		return err
	}
	x.given = given
	if err := q.memory.Stream.Upload(x.counts, gpukernels.Bytes(given)); err != nil {
		return err
	}
	ready, err := q.event(q.memory.Stream) // the memory is there
	if err != nil {
		return err
	}
	if err := q.moving.copies.WaitFor(ready); err != nil {
		return err
	}
	if err := q.moving.meeting.Copy(ctx, q.moving.copies, q.moving.fetches(x, all, from, to, form.RowBytes)); err != nil {
		return err
	}
	s.moved.arrived, err = q.event(q.moving.copies)
	return err
}

// reserveOwned takes other memory for a pass if its partitions have too little capacity for what comes.
func (q *Query) reserveOwned(x *sidePass, given []uint32, form *partition.Form) (err error) {
	fits := true
	for p, n := range given {
		fits = fits && n <= x.first[p+1]-x.first[p]
	}
	if fits {
		return nil
	}
	first, next := make([]uint32, 1, len(x.first)), int64(0)
	for _, n := range given {
		next += int64(n)
		first = append(first, uint32(next))
	}
	if next >= math.MaxUint32 {
		return errTooManyRows
	}
	if x.rows, err = q.memory.Alloc("partitions", max(next, 1)*form.RowBytes); err != nil {
		return err
	}
	x.first = first
	return q.memory.Stream.Upload(x.begins, gpukernels.Bytes(first))
}

// arrive has the query's stream wait until a side's rows are there, and until no other place reads those that have moved away.
func (q *Query) arrive(ctx context.Context, s *sideRun) error {
	all, err := q.meet(ctx, Brought{Read: s.moved.arrived})
	if err != nil {
		return err
	}
	for _, b := range all {
		if err := q.memory.Stream.WaitFor(b.Read); err != nil {
			return err
		}
	}
	if s.moved.own != s.passes[0].rows {
		q.memory.Free(s.moved.own)
	}
	return nil
}

// What package exchange needs of a query that is one place of several.

// Device is the device that the query runs on, Memory what it allocates there.
func (q *Query) Device() *gpukernels.Device { return q.runner.Device }
func (q *Query) Memory() *devicemem.Memory  { return q.memory }

// Skip notes that a pipeline does not run at this place: its sink is complete as far as the place is concerned.
func (q *Query) Skip(p *physical.Pipeline) { q.progress.done[p] = true }

// Receive makes room for so many rows in the stead of those that a sink holds, which no pipeline may have pending. The rows before stay in memory until release is called, since
// other places still read them. The receiver fills the columns in the order of the query's stream.
func (q *Query) Receive(s physical.Sink, count int64) (to *results.Rows, release func(), err error) {
	var before []gpukernels.Ptr
	if r := q.outputs.rows[s]; r != nil {
		before = append(r.memory, r.sorted.Memory)
		delete(q.outputs.rows, s)
	}
	release = func() { q.memory.FreeAll(before) }
	if err := q.outputs.openArrays(s, max(count, 1)); err != nil {
		return nil, release, err
	}
	r := q.outputs.rows[s]
	r.all, r.count = true, count
	return q.Rows(s), release, nil
}

// Forget frees a sink's rows, which another place has taken.
func (q *Query) Forget(s physical.Sink) { q.outputs.freeRows(s) }

// Dictionary brings the strings of a dictionary to the device, until the query is closed.
func (q *Query) Dictionary(ctx context.Context, d *column.Dictionary) (gpukernels.Ptr, error) {
	return q.inputs.dictionary(ctx, d)
}
