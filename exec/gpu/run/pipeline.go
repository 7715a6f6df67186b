package run

import (
	"context"
	"errors"
	"math"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sizes"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// How a pipeline runs. Its input and its sink are opened, its kernel is launched over all rows, and where something depends on what that counts it is waited for. A sink
// that was too small is made larger and filled again.

// launchPairs is the most pairs of a nested loop in a launch, so that a cancelled query ends soon. kernel.MostLaunched limits its rows.
const launchPairs = 1 << 32

// RunPipeline runs one pipeline. What its sources read has been run or put in before. Where nothing here depends on what its kernel counts, it
// is not waited for: wait says so. An error may then be a later call's.
func (q *Query) RunPipeline(ctx context.Context, p *physical.Pipeline, wait bool) (Cost, error) {
	cost, err := q.runOnce(ctx, p, wait)
	if errors.Is(err, sizes.ErrTooSmall) {
		err = q.runAgain(ctx, &cost)
	}
	return cost, err
}

func (q *Query) runOnce(ctx context.Context, p *physical.Pipeline, wait bool) (Cost, error) {
	var cost Cost
	q.progress.ran = append(q.progress.ran, p)
	k := q.program.Kernels[p]
	if k == nil {
		return cost, q.program.Reason(p)
	}
	defer q.runner.Device.Span("pipeline", p.ID)()
	if ctx.Err() != nil {
		return cost, context.Cause(ctx)
	}
	if q.readsCounts(k) {
		if err := q.Settle(ctx); err != nil {
			return cost, err
		}
	}
	if err := q.openInput(ctx, k, &cost); err != nil {
		return cost, err
	}
	m, err := q.kernels.Loaded(k)
	if err != nil {
		return cost, err
	}
	cost.compiled(m)
	clock, err := q.clock.Start()
	if err != nil {
		return cost, err
	}
	defer clock.Close()
	if err := q.openOutput(k); err != nil {
		return cost, err
	}
	if err := clock.Lap(); err != nil {
		return cost, err
	}
	q.progress.done[p] = true
	order := q.ends(p.Sink)
	if err := q.start(ctx, k, &cost); err != nil {
		return cost, err
	}
	if wait || order != nil && !q.sortsHeld(p.Sink) || q.clock.Wanted || q.overflows(k) || q.movingGroups(k) != nil || q.progress.queued > kernel.MostLaunched {
		if err := q.finish(ctx, k, &cost); err != nil {
			return cost, err
		}
	}
	if cost.Fill, cost.Kernel, err = clock.Stop(); err != nil {
		return cost, err
	}
	if r := q.outputs.rows[p.Sink]; r != nil {
		cost.RowsOut = r.count
	}
	if q.clock.Wanted {
		if cost.RowsOut, err = q.countSink(ctx, p.Sink, cost.RowsOut); err != nil {
			return cost, err
		}
	}
	if order != nil {
		if err := q.order(ctx, p.Sink, order); err != nil {
			return cost, err
		}
	}
	q.outputs.release()
	return cost, nil
}

// runAgain runs all pipelines again that have run, and waits for the counts.
func (q *Query) runAgain(ctx context.Context, cost *Cost) error {
	ran := q.progress.restart()
	q.sizes.TrustNone()
	for s := range q.outputs.rows {
		q.outputs.freeRows(s)
	}
	for a := range q.outputs.groups {
		q.outputs.freeGroups(a)
	}
	if err := q.control.Clear(); err != nil {
		return err
	}
	for i, p := range ran {
		again, err := q.runOnce(ctx, p, i == len(ran)-1)
		if err != nil {
			return err
		}
		cost.Launches += again.Launches
		cost.RowsOut = again.RowsOut
	}
	return nil
}

// finish waits for a pipeline that was started. Where its sink was too small it is made larger, and all pipelines that end there run again.
func (q *Query) finish(ctx context.Context, k *kernel.Kernel, cost *Cost) error {
	for tries := 0; ; tries++ {
		if err := q.Settle(ctx); err != nil {
			return err
		}
		again, err := q.grow(k)
		if own := again; err == nil && q.movingGroups(k) != nil {
			if again, err = q.againAnywhere(ctx, again); err == nil && again && !own {
				a := k.Pipeline.Sink.(*physical.Aggregate)
				err = q.openGroups(a, q.outputs.groups[a].capacity.Emptied()) // for as many
			}
		}
		if err != nil || !again {
			return err
		}
		if tries > 40 {
			return sqlerr.Bug("the GPU's pipeline %d does not come to an end", k.Pipeline.ID)
		}
		for _, f := range q.program.Feeders[k.Pipeline.Sink] {
			if !q.progress.done[f] {
				continue
			}
			if err := q.start(ctx, q.program.Kernels[f], cost); err != nil {
				return err
			}
		}
	}
}

// grow looks whether a sink's capacity sufficed, and if not makes it larger and empty: true. What kernels counted is known.
func (q *Query) grow(k *kernel.Kernel) (bool, error) {
	if again, err := q.growStrings(k); again || err != nil {
		return again, err
	}
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		g := q.outputs.groups[a]
		next, again := g.form.Next(g.capacity, q.control.Counted)
		if again {
			return true, q.openGroups(a, next)
		}
		g.capacity = next
		return false, nil
	}
	if q.sizes.HasSlots(k.Pipeline.Sink) {
		return false, nil
	}
	r := q.outputs.rows[k.Pipeline.Sink]
	n := r.count
	if n <= r.capacity {
		return false, nil
	}
	for _, f := range q.program.Feeders[k.Pipeline.Sink] {
		if f != k.Pipeline && !q.progress.done[f] {
			n += sizes.Reserve(f.EstRows)
		}
	}
	return true, q.openRows(k.Pipeline.Sink, n, false)
}

// openLaunches makes counters of limits 0, and takes memory for what only the launches of a pipeline's kernel need.
func (q *Query) openLaunches(k *kernel.Kernel) error {
	for _, t := range k.Pipeline.Transforms {
		if l, ok := t.(*physical.Limit); ok {
			if err := q.control.Reset(kernel.CounterWord{P: k.Pipeline, Of: l}); err != nil {
				return err
			}
		}
	}
	if k.MakesStrings() {
		if err := q.openStrings(k); err != nil {
			return err
		}
	}
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		return q.openBeside(k, q.outputs.groups[a])
	}
	return nil
}

// start launches a pipeline's kernel over all its rows.
func (q *Query) start(ctx context.Context, k *kernel.Kernel, cost *Cost) error {
	if err := q.openLaunches(k); err != nil {
		return err
	}
	shared, block := q.sharedBytes(k), q.runner.Device.Block(k.Threads)
	f := q.kernels.Function(k) // its pipeline has waited for it
	resident, err := q.residentBlocks(k, f, block, shared)
	if err != nil {
		return err
	}
	chunk := min(q.chunk(k), q.blockRows(k, resident))
	step, unit := chunk, int64(1) // of tiles or rows
	if k.Rows.Scan != nil {
		unit = int64(block * k.Items)
		step = max(chunk/unit, 1)
		q.progress.queued += q.inputs.spanned[k.Rows.Scan].tiles * unit
	} else {
		q.progress.queued += q.sourceRows(k) << q.sharers(k)
	}
	q.progress.queued += q.sizes.Trusted[k.Pipeline.Sink]
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
		return q.memory.Stream.LaunchAny(f, min(n, resident), block, shared, params, q.program.Target.LaunchWords)
	}
	learn := k.Learn != nil
	over := func(w *scanWindow) error { // nil: what is no table
		begin, total := q.rangeOf(k, w)
		if err := q.outputs.openPutOff(k, total-begin); err != nil {
			return err
		}
		first, every, err := begin, int64(0), error(nil)
		switch {
		case !learn:
		case k.Rows.Scan == nil:
			first, err = q.startFirst(k, begin, total, launch, cost)
		default:
			every, total, err = q.startSeen(k, total, unit, launch, cost)
		}
		if err != nil {
			return err
		}
		learn = false
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
		return q.startPutOff(ctx, k, launch)
	}
	run := func() error { return q.overSource(ctx, k, over) }
	if side, ok := q.sideOf(k); ok {
		err = q.startSide(ctx, k, side, run, cost)
		q.progress.pending = append(q.progress.pending, k)
		return err
	}
	if err := run(); err != nil {
		return err
	}
	q.progress.pending = append(q.progress.pending, k)
	return q.runThen(ctx, k, cost)
}

// overSource has f launch a kernel over its source: for each window of a table, else once.
func (q *Query) overSource(ctx context.Context, k *kernel.Kernel, f func(*scanWindow) error) error {
	if scan, ok := k.Pipeline.Source.(*physical.TableScan); ok {
		return q.inputs.eachWindow(ctx, scan, f)
	}
	return f(nil)
}

// chunk is the number of rows of one launch.
func (q *Query) chunk(k *kernel.Kernel) int64 {
	rows := int64(kernel.MostLaunched)
	for _, t := range k.Pipeline.Transforms {
		if t, ok := t.(*physical.Probe); ok {
			if f := q.program.Builds[t.Build]; f != nil && f.ComparesAll() {
				rows = min(rows, launchPairs/max(q.outputs.rows[t.Build].count, 1))
			}
		}
	}
	if p, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		rows = min(rows, q.outputs.groups[p].form.LaunchMost(&q.program.Target.Tuning))
	}
	return max(rows, int64(k.Threads))
}

// blockRows is how many rows a launch may have so that none of so many blocks, which take tiles in turn, gets more than its groups have words for.
func (q *Query) blockRows(k *kernel.Kernel, blocks int64) int64 {
	p, ok := k.Pipeline.Sink.(*physical.Aggregate)
	if !ok {
		return math.MaxInt64
	}
	most := q.outputs.groups[p].form.BlockRows(q.outputs.groups[p].copies)
	if most == math.MaxInt64 {
		return most
	}
	tile := q.inputs.tile(k)
	return max(most/tile, 1) * tile * blocks
}

// runThen launches the kernels that come after a pipeline's, and frees what only they read.
func (q *Query) runThen(ctx context.Context, k *kernel.Kernel, cost *Cost) error {
	moving := q.movingGroups(k)
	if moving != nil {
		if err := q.moveGroups(ctx, k, moving); err != nil {
			return err
		}
	}
	for _, sub := range k.Then {
		if moving != nil && sub.Meets {
			all, err := q.meetBehind(ctx, Brought{})
			if err == nil {
				err = q.waitFor(q.others(all))
			}
			if err != nil {
				return err
			}
		}
		if err := q.launchOther(sub, math.MaxInt64, cost); err != nil {
			return err
		}
	}
	if a, ok := k.Pipeline.Sink.(*physical.Aggregate); ok {
		q.freeBeside(q.outputs.groups[a])
	}
	return nil
}
