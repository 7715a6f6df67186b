package run

import (
	"errors"
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Memory of groups that are made in partitions, or with a perfect hash, and the launches that these need besides.

// openHashed takes memory for groups that are found by hashing in partitions. tried is what was too small, nil at first.
func (q *Query) openHashed(g, tried *groupRun) error {
	est := int64(g.form.Aggregate.EstGroups)
	if n, ok := q.sizes.before(g.form.Aggregate); ok {
		est = n
	}
	g.slots, g.capacity = q.program.Target.Tuning.Partition.Table(est)
	if tried != nil {
		g.slots, g.capacity = tried.slots, tried.capacity
		if tried.appended > tried.capacity {
			g.capacity = tried.appended + tried.appended/4
		} else {
			g.slots *= 16
		}
	}
	if err := errors.Join(q.control.reset(kernel.CounterWord{Of: groupby.DirectGroups{P: g.form.Aggregate}}), q.control.reset(kernel.CounterWord{Of: groupby.AppendedGroups{P: g.form.Aggregate}})); err != nil {
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
			share = float64(run.partitions[0].capacity) / float64(int(1)<<f.Partition.Bits)
			lines = run.partitions[0].capacity/int64(q.runner.Device.Block(partition.Threads)*f.Partition.Items()*partition.ChunkTiles) + 2
		}
		r := partitionRun{capacity: (int64(share*(1+slack))/f.Partition.LineRows() + lines + 8) * f.Partition.LineRows()}
		r.capacity = min(r.capacity, q.program.Target.Tuning.Partition.Capacity)
		var err error
		if r.given, err = q.memory.Filled("partitions", count, 4, 0); err != nil {
			return err
		}
		r.rows, err = q.memory.Alloc("partitions", count*r.capacity*f.Partition.RowBytes)
		if errors.Is(err, gpukernels.ErrOutOfMemory) {
			r.capacity = 0
		} else if err != nil {
			return err
		}
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
