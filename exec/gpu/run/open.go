package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sizes"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// What a kernel reads and writes is opened before it is launched: columns of tables, stored rows, builds, groups.

// openInput brings what the pipeline reads to the device.
func (q *Query) openInput(ctx context.Context, k *kernel.Kernel, cost *Cost) error {
	for _, x := range k.All() {
		if err := q.inputs.openConstants(ctx, x); err != nil {
			return err
		}
	}
	switch src := k.Pipeline.Source.(type) {
	case *physical.TableScan:
		cost.RowsIn = q.inputs.rows(src)
		return q.inputs.openScan(ctx, k, src)
	case *physical.ValuesScan:
		cost.RowsIn = int64(len(src.Rows))
		return q.openValues(src)
	case *physical.UnmatchedScan:
		cost.RowsIn = q.outputs.builds[src.Build].taken
	case *physical.SinkScan:
		if r := q.outputs.rows[src.From]; r != nil {
			cost.RowsIn = r.count
		}
		if a, ok := src.From.(*physical.Aggregate); ok && q.outputs.groups[a] != nil {
			cost.RowsIn = q.outputs.groups[a].taken
		}
	}
	return nil
}

// sinkCapacity estimates the rows that come to a sink: a bound where one is known and not much too large, else what came before. all says that no more can
// come.
func (q *Query) sinkCapacity(s physical.Sink) (capacity int64, all bool) {
	all = true
	for _, p := range q.program.Feeders[s] {
		k := q.program.Kernels[p]
		if q.lacksSource(k) {
			continue
		}
		est := sizes.Reserve(p.EstRows)
		known := q.ready(k)
		if k.InOrder() {
			capacity = max(capacity, q.sourceRows(k)) // each row has a fixed position
			all = all && known
			continue
		}
		if multiplies(p) || !known || q.movesRows(p) {
			capacity += est
			all = false
			continue
		}
		bound := q.sourceBound(k)
		if bound > 1<<20 && bound > 2*est {
			all = false
			bound = est
		}
		capacity += bound
	}
	if n, ok := q.sizes.Before(s); ok && (!all || n < capacity/2 && q.sizes.Trusts) {
		capacity, all = n, false
		q.sizes.Trust(s, max(n, 1))
	}
	return max(capacity, 1), all
}

// lacksSource says that a pipeline goes over rows or groups that only another place has: it is to run there, into the same sink as one of this place.
func (q *Query) lacksSource(k *kernel.Kernel) bool {
	switch {
	case k.Rows.Groups != nil:
		return q.progress.finished(k.Rows.Groups) && q.outputs.groups[k.Rows.Groups] == nil
	case k.Rows.Of != nil:
		return q.progress.finished(k.Rows.Of) && q.outputs.rows[k.Rows.Of] == nil && q.outputs.partitioned(k.Rows.Of) == nil
	}
	return false
}

// ready says whether the number of rows of a pipeline's source is known, or a bound.
func (q *Query) ready(k *kernel.Kernel) bool {
	stored := func(s physical.Sink) bool {
		return q.progress.finished(s) && (!q.progress.uncounted(s) || q.outputs.rows[s].isBounded || q.sizes.IsTrusted(s))
	}
	switch src := k.Pipeline.Source.(type) {
	case *physical.TableScan:
		return q.inputs.spanned[src] != nil
	case *physical.SinkScan:
		if q.program.IsHost(src.From) {
			return q.outputs.rows[src.From] != nil
		}
		if a, ok := src.From.(*physical.Aggregate); ok {
			return q.progress.finished(a)
		}
		return stored(src.From)
	case *physical.UnmatchedScan:
		return stored(src.Build)
	}
	return true
}

// openOutput reserves memory for what the pipeline gives, unless an earlier one that ends in the same sink has.
func (q *Query) openOutput(k *kernel.Kernel) error {
	s := k.Pipeline.Sink
	if a, ok := s.(*physical.Aggregate); ok {
		if q.outputs.groups[a] != nil {
			return nil
		}
		return q.openGroups(a, q.firstGroups(a))
	}
	if q.outputs.rows[s] != nil {
		return nil
	}
	capacity, all := q.sinkCapacity(s)
	return q.openRows(s, capacity, all)
}

// overflows says whether rows may exceed the capacity of what a pipeline fills, or strings that of their memory.
func (q *Query) overflows(k *kernel.Kernel) bool {
	if k.MakesStrings() {
		return true
	}
	if q.sizes.IsTrusted(k.Pipeline.Sink) {
		return false
	}
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		return q.outputs.groups[a].form.Overflows()
	}
	return !q.sizes.HasSlots(k.Pipeline.Sink) && !q.outputs.rows[k.Pipeline.Sink].isBounded
}

// openRows reserves memory for a sink's rows, instead of what it had. all says that no more can come.
func (q *Query) openRows(s physical.Sink, capacity int64, all bool) error {
	q.outputs.freeRows(s)
	var err error
	if b, ok := s.(*physical.Build); ok {
		err = q.outputs.openBuild(b, capacity)
	} else {
		err = q.outputs.openArrays(s, capacity)
	}
	if err == nil {
		q.outputs.rows[s].isBounded = all
	}
	return err
}

// openGroups reserves memory for groups, instead of what they had.
func (q *Query) openGroups(p *physical.Aggregate, c groupby.Capacity) error {
	f := q.program.Aggs[p]
	if c.Behind > 0 && c.Slots+c.Behind >= math.MaxUint32 {
		return &gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: fmt.Sprintf("more than %d groups", uint32(math.MaxUint32))}
	}
	if tried := q.outputs.groups[p]; tried != nil {
		q.memory.FreeAll(tried.memory)
	}
	g := &groupRun{form: f, capacity: c}
	q.outputs.groups[p] = g
	if info := q.runner.Device.Info(); !info.Emulated() {
		left := info.SharedBytes
		for _, pl := range q.program.Feeders[p] { // joins in partitions have tables of their own in front
			left = min(left, q.program.Kernels[pl].SharedBytes())
		}
		g.copies = f.Copies(&q.program.Target.Tuning.Shared, left)
	}
	m := f.Memory(c, g.copies)
	g.held = newHeld(m)
	for _, w := range m.Counters {
		if err := q.control.Reset(w); err != nil {
			return err
		}
	}
	l := devicemem.Layout{What: "table of groups"}
	g.lay(&l, m)
	var err error
	if g.memory, err = q.memory.Lay(&l); err != nil {
		return err
	}
	return g.fill(q.memory.Stream, m)
}

// firstGroups is how many groups there is capacity for at first: as many as are expected.
func (q *Query) firstGroups(p *physical.Aggregate) groupby.Capacity {
	f := q.program.Aggs[p]
	if !f.Overflows() {
		return groupby.Capacity{}
	}
	x := groupby.Expected{Rows: math.MaxInt64, Places: int64(q.moving.places)}
	if n, ok := q.sizes.Before(p); ok {
		x.Before = &n
	}
	x.Slots, _ = q.sizes.SlotsBefore(p)
	for _, pl := range q.program.Feeders[p] {
		if k := q.program.Kernels[pl]; len(q.program.Feeders[p]) == 1 && !multiplies(pl) && !q.movesRows(pl) && q.ready(k) {
			x.Rows = q.sourceBound(k)
		}
	}
	c, asBefore := f.First(&x)
	if asBefore {
		q.sizes.Trust(p, 0)
	}
	return c
}

const (
	stringRowBytes   = 32 // a row's strings, as long as it is not known
	stringLeastBytes = 1 << 20
	stringMostBytes  = 1 << 30
)

// openStrings takes memory for the strings of a pipeline that starts.
func (q *Query) openStrings(k *kernel.Kernel) error {
	if q.outputs.strings[k.Pipeline] == nil {
		rows := int64(0) // whose strings stay
		switch {
		case !k.KeepsStrings():
		case q.ready(k):
			rows = q.sourceBound(k)
		default:
			rows = int64(min(k.Pipeline.EstRows, stringMostBytes))
		}
		bytes := min(max(rows*stringRowBytes, stringLeastBytes), stringMostBytes)
		if m, err := q.runner.Device.Memory(); err == nil {
			bytes = min(bytes, max(kernel.RoundUp(m.Free/8, devicemem.Unit), devicemem.Unit))
		}
		data, err := q.memory.Alloc("strings", bytes)
		if err != nil {
			return err
		}
		q.outputs.strings[k.Pipeline] = &stringRun{data: data, bytes: bytes}
	}
	return q.control.Reset(kernel.CounterWord{P: k.Pipeline, Of: madeStrings{}})
}

// growStrings looks whether the memory for a pipeline's strings was large enough. If not it takes as much as they need, empties the sink and returns true. A string without memory
// is empty, so a condition may have ended a search too early: if what was counted has not sufficed once, there is at least twice as much the next time.
func (q *Query) growStrings(k *kernel.Kernel) (bool, error) {
	if !k.MakesStrings() {
		return false, nil
	}
	x, used := q.outputs.strings[k.Pipeline], q.control.Counted(kernel.CounterWord{P: k.Pipeline, Of: madeStrings{}})
	if used <= x.bytes {
		return false, nil
	}
	q.memory.Free(x.data)
	delete(q.outputs.strings, k.Pipeline)
	if x.grown {
		used = max(used, 2*x.bytes)
	}
	bytes := kernel.RoundUp(used, devicemem.Unit)
	data, err := q.memory.Alloc("strings", bytes)
	if err != nil {
		return false, err
	}
	q.outputs.strings[k.Pipeline] = &stringRun{data, bytes, true}
	if err := q.forgetMatches(k.Pipeline.Sink); err != nil {
		return false, err
	}
	return true, q.emptySink(k.Pipeline.Sink)
}

// forgetMatches has the builds that pipelines into a sink probe note matches anew. All of these pipelines run again.
func (q *Query) forgetMatches(s physical.Sink) error {
	for _, p := range q.program.Feeders[s] {
		for _, t := range p.Transforms {
			probe, ok := t.(*physical.Probe)
			if !ok || !probe.Build.KeepUnmatched || !q.progress.done[p] {
				continue
			}
			if err := q.outputs.forgetMatches(probe.Build); err != nil {
				return err
			}
		}
	}
	return nil
}

// emptySink makes a sink as it was before its pipelines ran.
func (q *Query) emptySink(s physical.Sink) error {
	if a, ok := s.(*physical.Aggregate); ok {
		q.outputs.freeGroups(a)
		return q.openGroups(a, q.firstGroups(a))
	}
	r := q.outputs.rows[s]
	return q.openRows(s, r.capacity, r.isBounded)
}

// openBeside takes memory for what the kernels need that are about to be launched.
func (q *Query) openBeside(k *kernel.Kernel, g *groupRun) error {
	g.beside = besideRun{}
	m := g.form.Beside(&groupby.Source{Rows: q.sourceBound(k), Places: int64(q.moving.places), Owned: q.moving.owned, Block: q.runner.Device.Block})
	if m == nil {
		return nil
	}
	g.beside.held = newHeld(m)
	spared := false // there was no memory for an array, so what follows from it is not needed
	for i := range m.Arrays {
		x := &m.Arrays[i]
		at, err := gpukernels.Ptr(0), error(nil)
		switch {
		case x.Filled > 0:
			at, err = q.memory.Filled("partitions", x.Items, x.Unit, x.Fill)
		case x.Spared == nil || !spared:
			at, err = q.memory.Alloc("partitions", x.Items*int64(x.Unit))
		}
		if x.Spared != nil && (spared || errors.Is(err, gpukernels.ErrOutOfMemory)) {
			spared, g.beside.words[x.Spared] = true, 0
		} else if err != nil {
			return err
		}
		g.beside.memory = append(g.beside.memory, at)
		at -= gpukernels.Ptr(x.From * int64(x.Unit))
		g.beside.arrays[x.Key] = &at
	}
	return nil
}

// freeBeside frees what only the kernels of a pipeline needed that have been launched.
func (q *Query) freeBeside(g *groupRun) {
	q.memory.FreeAll(g.beside.memory)
	g.beside = besideRun{}
}

// startFirst is startSeen for a kernel that goes over rows one by one: it sees the first of them. It returns the row that the others begin with.
func (q *Query) startFirst(k *kernel.Kernel, from, to int64, launch func(r launchRange) error, cost *Cost) (first int64, err error) {
	first = min(from+k.LearnRows, to)
	if err := launch(launchRange{from: from, to: first}); err != nil {
		return 0, err
	}
	return first, q.launchOther(k.Learn, 1, cost)
}

// startSeen launches a kernel over some of its tiles, and the one that learns from these. It returns how the others are numbered, and how many they are.
func (q *Query) startSeen(k *kernel.Kernel, total, unit int64, launch func(r launchRange) error, cost *Cost) (every, left int64, err error) {
	every = max(total/((k.LearnRows+unit-1)/unit), 1)
	seen := (total + every - 1) / every
	if err := launch(launchRange{to: seen, every: every}); err != nil {
		return 0, 0, err
	}
	return -every, total - seen, q.launchOther(k.Learn, 1, cost)
}

// multiplies says whether a pipeline can give more rows than it reads. A kernel may take rows one by one nevertheless, as that of a sort-merge join does.
func multiplies(p *physical.Pipeline) bool {
	return slices.ContainsFunc(p.Transforms, kernel.Multiplies)
}
