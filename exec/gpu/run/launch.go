package run

import (
	"context"
	"math"

	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// How a pipeline's kernels are launched: over what rows, as how many blocks, with what parameters.

// launchPairs is the most pairs of a nested loop in a launch, so that a cancelled query ends soon. groupby.LaunchRows limits its rows.
const launchPairs = 1 << 32

// openLaunches makes counters of limits 0, and takes memory for what only the launches of a pipeline's kernel need.
func (q *Query) openLaunches(k *kernel.Kernel) error {
	for _, t := range k.Pipeline.Transforms {
		if l, ok := t.(*physical.Limit); ok {
			if err := q.control.reset(kernel.CounterWord{P: k.Pipeline, Of: l}); err != nil {
				return err
			}
		}
	}
	if k.MakesStrings() {
		if err := q.openStrings(k); err != nil {
			return err
		}
	}
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok && q.program.Aggs[a].Partition != nil {
		return q.openPartitions(k, q.program.Aggs[a])
	}
	return nil
}

// start launches a pipeline's kernel over all its rows.
func (q *Query) start(ctx context.Context, k *kernel.Kernel, cost *Cost) error {
	if err := q.openLaunches(k); err != nil {
		return err
	}
	shared := q.sharedBytes(k)
	block := q.runner.Device.Block(k.Threads)
	f := q.kernels.modules[k].function // its pipeline has waited for it
	resident, err := q.residentBlocks(k, f, block, shared)
	if err != nil {
		return err
	}
	chunk := min(q.chunk(k), q.copiedRows(k, resident))
	total, step := int64(0), int64(1) // of tiles or rows
	unit := int64(1)
	if k.Rows.Scan != nil {
		total = q.inputs.spanned[k.Rows.Scan].tiles
		unit = int64(block * k.Items)
		step = max(chunk/unit, 1)
	} else {
		total = q.sourceRows(k) << q.sharers(k)
		step = chunk
	}
	q.progress.queued += total*unit + q.sizes.trusted[k.Pipeline.Sink]
	launch := func(r launchRange) error {
		q.launch = r
		n := r.to - r.from
		if k.Rows.Scan == nil {
			n = (n + int64(block) - 1) / int64(block)
		}
		params, err := q.params(k)
		if err != nil {
			return err
		}
		cost.Launches++
		return q.memory.Stream.Launch(f, min(n, resident), block, shared, params)
	}
	if err := q.outputs.openPutOff(k, total); err != nil {
		return err
	}
	first, every := int64(0), int64(0)
	switch {
	case k.Learn == nil:
	case k.Rows.Scan == nil:
		if first, err = q.startFirst(k, total, launch, cost); err != nil {
			return err
		}
	default:
		if every, total, err = q.startSeen(k, total, unit, launch, cost); err != nil {
			return err
		}
	}
	run := func() error {
		for from := first; from < total; from += step {
			if err := launch(launchRange{from: from, to: min(from+step, total), every: every}); err != nil {
				return err
			}
			if from+step < total {
				if err := q.memory.Stream.Sync(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if side, ok := q.sideOf(k); ok {
		err = q.startSide(ctx, k, side, run, cost)
		q.progress.pending = append(q.progress.pending, k)
		return err
	}
	if err := run(); err != nil {
		return err
	}
	if err := q.startPutOff(ctx, k, launch); err != nil {
		return err
	}
	q.progress.pending = append(q.progress.pending, k)
	return q.runThen(k, cost)
}

// sharers is log2 of how many threads share the copies of a row.
func (q *Query) sharers(k *kernel.Kernel) int {
	switch {
	case q.launch.later != nil:
		return q.sharersOf(q.launch.later.runs)
	case k.Rows.SharedBy == nil:
		return 0
	}
	return q.sharersOf(q.sourceRows(k))
}

// residentBlocks is how many blocks of a kernel the device runs at once.
func (q *Query) residentBlocks(k *kernel.Kernel, f *gpukernels.Function, block int, shared int64) (int64, error) {
	usage, err := f.Usage(block, shared)
	if err != nil {
		return 0, err
	}
	if info := q.runner.Device.Info(); info.Emulated() {
		return emulatedBlocks(k), nil
	}
	return int64(max(usage.Blocks, 1) * q.runner.multiprocessors()), nil
}

// emulatedBlocks is the grid of an emulated device: rows are appended in the source's order, for tests that count on that; several
// blocks put what they have together.
func emulatedBlocks(k *kernel.Kernel) int64 {
	if _, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		return 3
	}
	return 1
}

// chunk is the number of rows of one launch.
func (q *Query) chunk(k *kernel.Kernel) int64 {
	rows := int64(groupby.LaunchRows)
	for _, t := range k.Pipeline.Transforms {
		if t, ok := t.(*physical.Probe); ok {
			if f := q.program.Builds[t.Build]; f != nil && f.ComparesAll() {
				rows = min(rows, launchPairs/max(q.outputs.rows[t.Build].count, 1))
			}
		}
	}
	if p, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		rows = min(rows, q.outputs.groups[p].form.LaunchMost(&q.program.Target.Tuning.Launch))
	}
	return max(rows, int64(k.Threads))
}

// copiedRows is how many rows a launch may have so that no copy of a block's groups gets more than groupby.CopyRows. Blocks take tiles in turn, and the copies of
// one the rows of a tile.
func (q *Query) copiedRows(k *kernel.Kernel, blocks int64) int64 {
	p, ok := k.Pipeline.Sink.(*physical.Aggregate)
	if !ok || !q.outputs.groups[p].form.ByCopy {
		return math.MaxInt64
	}
	tile := q.inputs.tile(k)
	return max(int64(groupby.CopyRows)<<q.outputs.groups[p].shift/tile, 1) * tile * blocks
}

// runThen launches the kernels that come after a pipeline's, and frees what only they read.
func (q *Query) runThen(k *kernel.Kernel, cost *Cost) error {
	for _, sub := range k.Then {
		if err := q.launchOther(sub, math.MaxInt64, cost); err != nil {
			return err
		}
	}
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		for _, r := range q.outputs.groups[a].partitions {
			q.memory.Free(r.rows)
			q.memory.Free(r.given)
		}
		q.outputs.groups[a].partitions = nil
	}
	return nil
}

// launchOther launches a kernel besides a pipeline's own, as so many blocks or as many as run at once.
func (q *Query) launchOther(k *kernel.Kernel, most int64, cost *Cost) error {
	m, err := q.kernels.loaded(k)
	if err != nil {
		return err
	}
	cost.compiled(m)
	block, shared := q.runner.Device.Block(k.Threads), q.sharedBytes(k)
	resident, err := q.residentBlocks(k, m.function, block, shared)
	if err != nil {
		return err
	}
	params, err := q.params(k)
	if err != nil {
		return err
	}
	cost.Launches++
	return q.memory.Stream.Launch(m.function, min(resident, most), block, shared, params)
}

// compiled notes a kernel of the pipeline, all of which are compiled beside each other.
func (c *Cost) compiled(m *loadedKernel) {
	c.Origin = max(c.Origin, m.origin)
	if m.origin == gpukernels.Compiled {
		c.Compile = max(c.Compile, m.module.CompileTime)
	}
}
