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
	"github.com/radish-sql/radish/exec/gpu/partition"
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
		est := int64(min(p.EstRows*1.3, 1<<40)) + 1024
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
		return q.progress.finished(s) && (!q.progress.uncounted(s) || q.outputs.rows[s].all || q.sizes.IsTrusted(s))
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
		return q.openGroups(a)
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
	switch s := k.Pipeline.Sink.(type) {
	case *physical.Aggregate:
		return q.outputs.groups[s].form.Shape >= groupby.PackedGroups
	case *physical.Build:
		if q.program.Builds[s].ByKey() {
			return false
		}
	}
	return !q.outputs.rows[k.Pipeline.Sink].all
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
		q.outputs.rows[s].all = all
	}
	return err
}

// openGroups reserves memory for groups: as many as are expected, or more than there was capacity for.
func (q *Query) openGroups(p *physical.Aggregate) error {
	f := q.program.Aggs[p]
	tried := q.outputs.groups[p]
	if tried != nil {
		q.memory.FreeAll(tried.memory)
	}
	g := &groupRun{form: f, arrays: make([]gpukernels.Ptr, len(f.Arrays))}
	q.outputs.groups[p] = g
	l := devicemem.Layout{What: "table of groups"}
	if f.Shape >= groupby.PackedGroups {
		if f.Partition != nil {
			if err := q.openHashed(g, tried); err != nil {
				return err
			}
		} else if g.slots = q.slots(p); tried != nil {
			g.slots = 4 * tried.slots
		}
		if f.Shape == groupby.KeyedGroups {
			l.Filled(&g.keys, g.slots, 4, 0)
		} else if g.capacity > 0 {
			l.Add(&g.keys, (g.slots+2+g.capacity)*8)
		} else {
			l.Filled(&g.keys, g.slots+2, 8, math.MaxUint64)
		}
		if err := q.control.Reset(kernel.CounterWord{Of: p}); err != nil {
			return err
		}
	}
	for i := range f.Arrays {
		a := &f.Arrays[i]
		if f.Shape == groupby.KeyedGroups && i >= f.KeyAt {
			l.Add(&g.arrays[i], g.size()*a.Width) // keys, which are written before they can be seen
			continue
		}
		if g.capacity > 0 {
			l.Add(&g.arrays[i], (g.size()+g.capacity)*a.Width)
			continue
		}
		l.Filled(&g.arrays[i], g.size()*a.Width/int64(a.Unit), a.Unit, a.Fill)
	}
	if f.PerfectHash != nil {
		g.layPerfectHash(&l)
	}
	var err error
	if g.memory, err = q.memory.Lay(&l); err != nil {
		return err
	}
	if g.capacity > 0 {
		return q.outputs.fillHashed(g)
	}
	if info := q.runner.Device.Info(); f.Shared && !info.Emulated() {
		left := info.SharedBytes
		for _, pl := range q.program.Feeders[p] { // joins in partitions have tables of their own in front
			left = min(left, q.program.Kernels[pl].SharedBytes())
		}
		g.shift = f.Copies(&q.program.Target.Tuning.Shared, left)
	}
	return nil
}

// slots is the number of slots that the groups of an aggregation are expected to need.
func (q *Query) slots(p *physical.Aggregate) int64 {
	slots := slotsFor(p.EstGroups)
	if n, ok := q.sizes.Before(p); ok {
		slots = slotsFor(float64(n))
		q.sizes.Trust(p, 0)
	} else if n, ok := q.sizes.SlotsBefore(p); ok {
		q.sizes.Trust(p, 0)
		return n
	}
	for _, pl := range q.program.Feeders[p] {
		if k := q.program.Kernels[pl]; len(q.program.Feeders[p]) == 1 && !multiplies(pl) && !q.movesRows(pl) && q.ready(k) {
			slots = min(slots, kernel.PowerOfTwo(2*max(q.sourceBound(k), 512)))
		}
	}
	return slots
}

// slotsFor is the number of slots of a table for about so many groups.
func slotsFor(groups float64) int64 {
	return kernel.PowerOfTwo(int64(min(max(2*groups, 2048), 1<<31)))
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
		return q.openGroups(a)
	}
	r := q.outputs.rows[s]
	return q.openRows(s, r.capacity, r.all)
}

// Memory of groups that are made in partitions, or with a perfect hash, and the launches that these need besides.

// openHashed takes memory for groups that are found by hashing in partitions. tried is what was too small, nil at first.
func (q *Query) openHashed(g, tried *groupRun) error {
	est := int64(g.form.Aggregate.EstGroups)
	if g.form.Partition.Moves {
		est /= int64(q.moving.places)
	}
	if n, ok := q.sizes.Before(g.form.Aggregate); ok {
		est = n
	}
	g.slots, g.capacity = q.program.Target.Tuning.Partition.Table(est)
	if tried != nil {
		g.slots, g.capacity = tried.slots, tried.capacity
		switch {
		case tried.appended > tried.capacity:
			g.capacity = tried.appended + tried.appended/4
		case tried.full:
			g.slots *= 16
		}
	}
	if err := errors.Join(q.control.Reset(kernel.CounterWord{Of: groupby.DirectGroups{P: g.form.Aggregate}}), q.control.Reset(kernel.CounterWord{Of: groupby.AppendedGroups{P: g.form.Aggregate}})); err != nil {
		return err
	}
	if g.slots+g.capacity >= math.MaxUint32 {
		return &gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: fmt.Sprintf("more than %d groups", uint32(math.MaxUint32))}
	}
	return nil
}

// fillHashed empties the table in device memory. What is appended behind it is written as a whole.
func (out *outputs) fillHashed(g *groupRun) error {
	err := out.memory.Stream.Fill(g.keys, math.MaxUint64, 8, g.slots+2)
	for i := 0; i < len(g.arrays) && err == nil; i++ {
		a := &g.form.Arrays[i]
		err = out.memory.Stream.Fill(g.arrays[i], a.Fill, a.Unit, (g.slots+2)*a.Width/int64(a.Unit))
	}
	return err
}

// openPartitions takes memory for the partitions of all rows. If there is none, all rows go to their groups directly.
func (q *Query) openPartitions(k *kernel.Kernel, f *groupby.Form) error {
	run := q.outputs.groups[f.Aggregate]
	run.partitions = nil
	rows := q.sourceBound(k)
	places := int64(1) // whose rows the second pass goes over
	if f.Partition.Moves {
		places = int64(q.moving.places)
	}
	for pass := range f.Partition.Passes {
		const blocks = 512 // each leaves a line that is not full
		count := int64(1) << (f.Partition.Bits * (pass + 1))
		share := float64(rows) / float64(int(1)<<f.Partition.Bits)
		slack := groupby.PartitionSlack
		if f.Partition.Hashed {
			slack = min(max(slack, groupby.SlackDeviations/math.Sqrt(max(f.Aggregate.EstGroups, 1)/float64(count))), groupby.SlackMost)
		}
		lines := int64(blocks)
		if pass == 1 {
			share = float64(places*run.partitions[0].capacity) / float64(int(1)<<f.Partition.Bits)
			lines = places * (run.partitions[0].capacity/int64(q.runner.Device.Block(partition.Threads)*f.Partition.Items()*partition.ChunkTiles) + 2)
		}
		r := partitionRun{capacity: (int64(share*(1+slack))/f.Partition.LineRows() + lines + 8) * f.Partition.LineRows()}
		r.capacity = min(r.capacity, q.program.Target.Tuning.Partition.Capacity)
		var err error
		if r.given, err = q.memory.Filled("partitions", count, 4, 0); err != nil {
			return err
		}
		first := int64(0)
		if f.Partition.Moves && pass == 1 { // only what this place owns of them
			from, to := q.moving.owned(f.Partition.Partitions(1))
			first, count = from*f.Partition.Partitions(1), (to-from)*f.Partition.Partitions(1)
		}
		r.memory, err = q.memory.Alloc("partitions", count*r.capacity*f.Partition.RowBytes)
		if errors.Is(err, gpukernels.ErrOutOfMemory) {
			r.capacity = 0
		} else if err != nil {
			return err
		}
		r.rows = r.memory - gpukernels.Ptr(first*r.capacity*f.Partition.RowBytes)
		run.partitions = append(run.partitions, r)
	}
	return nil
}

// layPerfectHash asks for the arrays of a perfect hash: no key has a slot at first.
func (g *groupRun) layPerfectHash(l *devicemem.Layout) {
	x := g.form.PerfectHash
	l.Filled(&g.perfectHash[groupby.PerfectHashTags], x.Slots, int(x.Tag), math.MaxUint64)
	l.Filled(&g.perfectHash[groupby.PerfectHashNumbers], x.Buckets, 1, 0)
	l.Add(&g.perfectHash[groupby.PerfectHashList], x.Tag*x.Slots)
	l.Add(&g.perfectHash[groupby.PerfectHashBefore], 2*x.Slots)
}

// startFirst is startSeen for a kernel that goes over rows one by one: it sees the first of them. It returns the row that the others begin with.
func (q *Query) startFirst(k *kernel.Kernel, from, to int64, launch func(r launchRange) error, cost *Cost) (first int64, err error) {
	g := q.outputs.groups[k.Pipeline.Sink.(*physical.Aggregate)]
	first = min(from+q.program.Target.Tuning.PerfectHash.Sample(int64(g.form.Aggregate.EstGroups)), to)
	if err := launch(launchRange{from: from, to: first}); err != nil {
		return 0, err
	}
	return first, q.launchOther(k.Learn, 1, cost)
}

// startSeen launches a kernel over some of its tiles, and the one that makes a perfect hash of the keys of these tiles' groups. It returns
// how the others are numbered, and how many they are.
func (q *Query) startSeen(k *kernel.Kernel, total, unit int64, launch func(r launchRange) error, cost *Cost) (every, left int64, err error) {
	g := q.outputs.groups[k.Pipeline.Sink.(*physical.Aggregate)]
	rows := q.program.Target.Tuning.PerfectHash.Sample(int64(g.form.Aggregate.EstGroups))
	every = max(total/((rows+unit-1)/unit), 1)
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
