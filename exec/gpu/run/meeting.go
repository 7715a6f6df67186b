package run

import (
	"context"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Rows of a join in partitions move between places in the second pass. Each place owns a run of the first pass's partitions, all of about equal length. An owner's second pass
// goes over its own rows of these and over those of the other places, which it reads where they lie. So nothing is copied, and no memory waits for what comes.
//
// The host launches a second pass once all places have counted their first ones, and looks whether its partitions sufficed while the next kernel runs.

// Quiesce waits until nothing of the query runs on the device any more, whatever has become of it.
func (q *Query) Quiesce() {
	_ = q.memory.Stream.Sync(context.Background())
	for _, s := range []*gpukernels.Stream{q.moving.counts, q.moving.beside} {
		if s != nil {
			_ = s.Sync(context.Background())
		}
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

// meet waits for all other places.
func (q *Query) meet(ctx context.Context, brings Brought) ([]Brought, error) {
	defer q.runner.Device.Span("meet")()
	return q.moving.meeting.Meet(ctx, q.moving.place, brings)
}

// learnOthers has all places show each other the first pass of a side, which has been waited for. The rows of a partition are those that its owner will have then.
func (q *Query) learnOthers(ctx context.Context, s *sideRun) error {
	x := &s.passes[0]
	all, err := q.meet(ctx, Brought{Rows: x.rows, Counts: x.counts, Begins: x.begins, Given: x.given})
	if err != nil {
		return err
	}
	from, to := q.moving.owned(int64(len(x.given)))
	words := []uint64{uint64(from), uint64(to), uint64(len(all) - 1)}
	s.moved.rows = make([]int64, len(x.given))
	for i := range all {
		b := &all[(q.moving.place+i)%len(all)] // its own first, and not all places read the same one at once
		if i > 0 {
			words = append(words, uint64(b.Rows), uint64(b.Counts), uint64(b.Begins))
		}
		for p := from; p < to; p++ {
			s.moved.rows[p] += int64(b.Given[p])
		}
	}
	if s.moved.others, err = q.memory.Alloc("partitions", int64(8*len(words))); err != nil {
		return err
	}
	return q.memory.Stream.Upload(s.moved.others, gpukernels.Bytes(words))
}

// exceeds says whether more rows than memory was taken for come to some partition.
func (m *movedSide) exceeds(s *sideRun) bool {
	first := s.passes[1].first
	parts := (len(first) - 1) / len(m.rows)
	for p, n := range m.rows {
		if n > int64(first[(p+1)*parts]-first[p*parts]) {
			return true
		}
	}
	return false
}

// letGo frees the first passes of a join's sides, once no place reads them any more: each comes here when it has waited for its second passes.
func (q *Query) letGo(ctx context.Context, x *radix.Join) error {
	sides := []*sideRun{q.outputs.sides[x.BuildSide()], q.outputs.sides[x.ProbeSide()]}
	if sides[1].moved.read { // the pipeline runs once more, over what has moved
		return nil
	}
	if _, err := q.meet(ctx, Brought{}); err != nil {
		return err
	}
	for _, s := range sides {
		if !s.moved.read {
			s.moved.read = true
			q.outputs.freePass(&s.passes[0])
		}
	}
	return nil
}

// movingGroups says how the rows of the groups move that a pipeline ends in; nil: they do not.
func (q *Query) movingGroups(k *kernel.Kernel) *groupby.Moving {
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		return q.program.Aggs[a].Moving()
	}
	return nil
}

// moveGroups shows the other places what they need to know of this one's rows, and learns what it needs to know of theirs, before the kernels that come after a pipeline's are launched. The host waits for
// the other places' hosts alone: events order what the devices do.
func (q *Query) moveGroups(ctx context.Context, k *kernel.Kernel, m *groupby.Moving) error {
	brings, err := Brought{}, error(nil)
	for _, list := range m.Shows {
		for _, key := range list {
			word, err := q.word(k, key)
			if err != nil {
				return err
			}
			brings.Shows = append(brings.Shows, word)
		}
	}
	all, err := q.meetBehind(ctx, brings)
	if err != nil {
		return err
	}
	others := q.others(all)
	from, to := q.moving.owned(m.Partitions)
	words := []uint64{uint64(from), uint64(to), uint64(len(others))}
	at := 0
	for _, list := range m.Shows {
		for _, b := range others {
			words = append(words, b.Shows[at:at+len(list)]...)
		}
		at += len(list)
	}
	shown, err := q.memory.Alloc("partitions", int64(8*len(words)))
	if err != nil {
		return err
	}
	g := q.outputs.groups[k.Pipeline.Sink.(*physical.Aggregate)]
	g.beside.memory, g.beside.words[m.Others] = append(g.beside.memory, shown), uint64(shown)
	if err := q.memory.Stream.Upload(shown, gpukernels.Bytes(words)); err != nil {
		return err
	}
	return q.waitFor(others)
}

// meetBehind meets the other places. What they have launched then comes before what this one launches from now on, once it has waited for it.
func (q *Query) meetBehind(ctx context.Context, brings Brought) (all []Brought, err error) {
	if brings.Behind, err = q.event(q.memory.Stream); err != nil {
		return nil, err
	}
	return q.meet(ctx, brings)
}

// others are what the other places have brought, those behind this one first: not all read the same one at once.
func (q *Query) others(all []Brought) (others []Brought) {
	for i := 1; i < len(all); i++ {
		others = append(others, all[(q.moving.place+i)%len(all)])
	}
	return others
}

// waitFor has the query's stream wait for what other places have launched.
func (q *Query) waitFor(others []Brought) error {
	for _, b := range others {
		if err := q.memory.Stream.WaitFor(b.Behind); err != nil {
			return err
		}
	}
	return nil
}

// againAnywhere says whether any place makes its groups again because they were too many: all do then, since their rows come from all.
func (q *Query) againAnywhere(ctx context.Context, again bool) (bool, error) {
	all, err := q.meet(ctx, Brought{Again: again})
	return again || slices.ContainsFunc(all, func(b Brought) bool { return b.Again }), err
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

// besideStream is the stream of kernels that run beside those of the query's.
func (q *Query) besideStream() (s *gpukernels.Stream, err error) {
	if q.moving.beside == nil {
		q.moving.beside, err = q.runner.Device.NewStream()
	}
	return q.moving.beside, err
}

// fetchBehind downloads what is there behind an event, while the query's stream has other work already.
func (q *Query) fetchBehind(ctx context.Context, behind *gpukernels.Event, dst []byte, src gpukernels.Ptr) (err error) {
	if q.moving.counts == nil {
		if q.moving.counts, err = q.runner.Device.NewStream(); err != nil {
			return err
		}
	}
	if err := q.moving.counts.WaitFor(behind); err != nil {
		return err
	}
	q.memory.Downloaded.Add(int64(len(dst)))
	return q.moving.counts.Download(ctx, dst, src)
}

// What package exchange needs of a query that is one place of several.

// Device is the device that the query runs on, Memory what it allocates there.
func (q *Query) Device() *gpukernels.Device { return q.runner.Device }
func (q *Query) Memory() *devicemem.Memory  { return q.memory }

// Receive allocates memory for so many rows in the stead of those that a sink holds, which no pipeline may have pending. The rows before stay in memory until release is called, since
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
	r.isBounded, r.count = true, count
	return q.Rows(s), release, nil
}

// Forget frees a sink's rows, which another place has taken.
func (q *Query) Forget(s physical.Sink) { q.outputs.freeRows(s) }

// Dictionary brings the strings of a dictionary to the device, until the query is closed.
func (q *Query) Dictionary(ctx context.Context, d *column.Dictionary) (gpukernels.Ptr, error) {
	return q.inputs.dictionary(ctx, d)
}
