package run

import (
	"context"
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/partition"
	"github.com/radish-sql/radish/exec/gpu/sizes"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Both sides of a join in partitions. A side's kernels run with partitions of about equal capacity. If one was too small, the counters hold how many rows each partition wants, so the
// kernels run again with ranges for these, which are remembered for the next time. The host waits for the counters in any case: it makes the list of what is joined with what.

const (
	sideTries = 6

	// The library copies some bytes right behind a kernel, and more at a quarter of the speed: so counts are fetched so many at a time, if that takes so many times at the most.
	fetchedCounts = 16 << 10
	mostFetches   = 8
)

// sideOf is the side of a join that a pipeline's kernel partitions.
func (q *Query) sideOf(k *kernel.Kernel) (radix.Side, bool) { return q.program.Side(k.Pipeline) }

// partition runs the kernels that partition a side, of which run launches the first one, until all rows have found a slot. It returns the kernels that come after.
func (q *Query) partition(ctx context.Context, k *kernel.Kernel, side radix.Side, run func() error, cost *Cost) ([]*kernel.Kernel, error) {
	if s := q.outputs.sides[side]; s != nil && s.moved != nil {
		return s.moved.then, nil
	}
	q.outputs.freeSide(side)
	form, then := side.Form(), k.Then
	moves := q.moves(side.Join.Build())
	work := sizes.Side{Work: q.sizes.WorkOf(k.Pipeline.Sink), Feeder: slices.Index(q.program.Feeders[k.Pipeline.Sink], k.Pipeline)}
	wanted := q.runner.sides.Remembered(work)
	if wanted == nil {
		wanted = make([][]uint32, form.Passes)
	}
	s := &sideRun{}
	q.outputs.sides[side] = s
	x := &passRun{k: k, side: side, wanted: wanted, work: work, first: run}
	if moves {
		return then, q.moveSide(ctx, x, then, cost)
	}
	if err := q.runPasses(ctx, x, 0, form.Passes, cost); err != nil {
		return nil, err
	}
	if form.Passes == 2 {
		q.outputs.freePass(&s.passes[0])
	}
	return then, q.openMatched(side)
}

// moveSide partitions a side whose rows move. What is left to do of a build's is done when the probe's first pass has run, unless the time of each pipeline is wanted.
func (q *Query) moveSide(ctx context.Context, x *passRun, then []*kernel.Kernel, cost *Cost) error {
	s := q.outputs.sides[x.side]
	s.moved = &movedSide{then: then}
	if err := q.launchPasses(x, 0, 1, cost); err != nil {
		return err
	}
	if err := q.openPass(x.k, x.side, x.side.Form(), x.wanted, 1); err != nil { // beside the first one, for about as many rows from each place
		return err
	}
	if err := q.settlePasses(ctx, x, 0, 1, nil, cost); err != nil {
		return err
	}
	if err := q.learnOthers(ctx, s); err != nil {
		return err
	}
	if len(s.passes) == 2 && x.wanted[1] == nil && s.moved.exceeds(s) {
		q.outputs.freePass(&s.passes[1])
		s.passes = s.passes[:1]
	}
	// The second pass waits for the link. So that of the build leaves half of the device to the probe's first one.
	beside := !x.side.IsProbe && !q.clock.Wanted
	behind, err := q.launchSecond(x, beside, cost)
	if err != nil {
		return err
	}
	s.moved.rest = func(cost *Cost) error {
		if beside {
			if err := q.memory.Stream.WaitFor(behind); err != nil {
				return err
			}
		}
		if err := q.settlePasses(ctx, x, 1, 2, behind, cost); err != nil {
			return err
		}
		return q.openMatched(x.side)
	}
	if !x.side.IsProbe && !q.clock.Wanted {
		return nil
	}
	for _, side := range []radix.Side{x.side.Join.BuildSide(), x.side.Join.ProbeSide()} {
		if s := q.outputs.sides[side]; s != nil && s.moved.rest != nil {
			rest := s.moved.rest
			s.moved.rest = nil
			if err := rest(cost); err != nil {
				return err
			}
		}
	}
	return nil
}

// launchSecond launches the second pass over a side whose rows move, beside what the query's stream does from now on or in its order, and returns an event behind it.
func (q *Query) launchSecond(x *passRun, beside bool, cost *Cost) (behind *gpukernels.Event, err error) {
	if !beside {
		if err := q.launchPasses(x, 1, 2, cost); err != nil {
			return nil, err
		}
		return q.event(q.memory.Stream)
	}
	if len(q.outputs.sides[x.side].passes) == 1 {
		if err := q.openPass(x.k, x.side, x.side.Form(), x.wanted, 1); err != nil {
			return nil, err
		}
	}
	ready, err := q.event(q.memory.Stream)
	if err != nil {
		return nil, err
	}
	on, err := q.besideStream()
	if err != nil {
		return nil, err
	}
	if err := on.WaitFor(ready); err != nil {
		return nil, err
	}
	if err := q.launchOn(on, x.k.Second, 2, cost); err != nil {
		return nil, err
	}
	return q.event(on)
}

// passRun is what the passes over a side take.
type passRun struct {
	k      *kernel.Kernel
	side   radix.Side
	wanted [][]uint32 // rows of each pass's partitions; nil: not known
	work   sizes.Side
	first  func() error // launches the first pass's kernel
}

// runPasses runs the passes from one on over a side, up to another, until all rows have found a slot.
func (q *Query) runPasses(ctx context.Context, x *passRun, from, to int, cost *Cost) error {
	if err := q.launchPasses(x, from, to, cost); err != nil {
		return err
	}
	return q.settlePasses(ctx, x, from, to, nil, cost)
}

// launchPasses launches them, each in memory that it may have already.
func (q *Query) launchPasses(x *passRun, from, to int, cost *Cost) error {
	for pass := from; pass < to; pass++ { // the host divides the rows of the second one while the device passes over them for the first time
		if pass == len(q.outputs.sides[x.side].passes) {
			if err := q.openPass(x.k, x.side, x.side.Form(), x.wanted, pass); err != nil {
				return err
			}
		}
		launch := x.first
		if pass > 0 {
			launch = func() error { return q.launchOther(x.k.Second, math.MaxInt64, cost) }
		}
		if err := launch(); err != nil {
			return err
		}
	}
	return nil
}

// settlePasses waits for passes that were launched, and runs them again until all rows have found a slot. behind is an event behind them; nil: the stream has nothing behind them.
func (q *Query) settlePasses(ctx context.Context, x *passRun, from, to int, behind *gpukernels.Event, cost *Cost) error {
	s := q.outputs.sides[x.side]
	for tries := 0; ; tries++ {
		full, err := q.countPasses(ctx, s, from, to, behind)
		if full < 0 || err != nil {
			return err
		}
		if tries == sideTries {
			return sqlerr.Bug("the partitions of the GPU's pipeline %d do not come to an end", x.k.Pipeline.ID)
		}
		x.wanted[full] = s.passes[full].given
		clear(x.wanted[full+1:])
		q.runner.sides.Remember(x.work, x.wanted)
		for pass := from; pass < len(s.passes); pass++ {
			q.outputs.freePass(&s.passes[pass])
		}
		s.passes = s.passes[:from]
		if err := q.launchPasses(x, from, to, cost); err != nil {
			return err
		}
		behind = nil
	}
}

// openMatched takes the bits in which a build's rows note that they have found a match, if they do.
func (q *Query) openMatched(side radix.Side) (err error) {
	if side.IsProbe || !side.Join.Notes() {
		return nil
	}
	s := q.outputs.sides[side]
	if s.matched, err = q.memory.Filled("partitions", s.matches(), 4, 0); err == nil {
		q.outputs.builds[side.Join.Build()].words[side.Join.Matched()] = uint64(s.matched)
	}
	return err
}

// openPass takes memory for a pass. wanted are the rows that partitions of each pass want, where that is known.
func (q *Query) openPass(k *kernel.Kernel, side radix.Side, form *partition.Form, wanted [][]uint32, pass int) error {
	s := q.outputs.sides[side]
	first, err := q.ranges(k, side, form, wanted, pass)
	if err != nil {
		return err
	}
	s.passes = append(s.passes, sidePass{first: first})
	x := &s.passes[pass]
	if x.begins, err = q.memory.Alloc("partitions", int64(4*len(first))); err != nil {
		return err
	}
	if err = q.memory.Stream.Upload(x.begins, gpukernels.Bytes(first)); err != nil {
		return err
	}
	if x.counts, err = q.memory.Filled("partitions", int64(len(first)-1), 4, 0); err != nil {
		return err
	}
	x.rows, err = q.memory.Alloc("partitions", int64(first[len(first)-1])*form.RowBytes)
	return err
}

// ranges gives each partition of a pass its rows.
func (q *Query) ranges(k *kernel.Kernel, side radix.Side, form *partition.Form, wanted [][]uint32, pass int) ([]uint32, error) {
	line := form.LineRows()
	parts := form.Partitions(1)
	first := make([]uint32, 1, form.Partitions(pass+1)+1)
	next := int64(0)
	add := func(rows, lines int64) {
		rows = (rows + line - 1) / line * line
		next += rows + lines*line
		first = append(first, uint32(next))
	}
	tuning := &q.program.Target.Tuning.Radix
	guess := func(share float64, lines, times int64) {
		capacity := int64(share*(1+tuning.Slack)+tuning.SlackDeviations*math.Sqrt(share)) + 8
		if tuning.Capacity > 0 {
			capacity, lines = min(capacity, tuning.Capacity), 0
		}
		for range times {
			add(capacity, lines)
		}
	}
	switch {
	case wanted[pass] != nil:
		// Which block, or which chunk of a partition, has which rows may differ from time to time, and so may how many of its lines are not full.
		for p, n := range wanted[pass] {
			lines := int64(partition.MostBlocks)
			if pass == 1 {
				lines = q.chunks(form, q.splitRows(side, int64(p)/parts))
			}
			add(int64(n), lines)
		}
	case pass == 0:
		guess(float64(q.sideRows(k, side))/float64(parts), partition.MostBlocks, parts)
	default:
		for p := range parts {
			if rows := q.splitRows(side, p); rows > 0 {
				guess(float64(rows)/float64(parts), q.chunks(form, rows), parts)
				continue
			}
			for range parts {
				add(0, 0)
			}
		}
	}
	if next >= math.MaxUint32 {
		return nil, errTooManyRows
	}
	return first, nil
}

// splitRows is how many rows of a partition of the first pass the second one goes over, or a bound; where other places have some, it is an estimate until the places have met.
func (q *Query) splitRows(side radix.Side, p int64) int64 {
	s := q.outputs.sides[side]
	x := &s.passes[0]
	rows := int64(x.first[p+1] - x.first[p])
	switch {
	case s.moved == nil:
		return rows
	case s.moved.rows != nil:
		return s.moved.rows[p]
	}
	if from, to := q.moving.owned(int64(len(x.first) - 1)); p < from || p >= to {
		return 0
	}
	return rows * int64(q.moving.places)
}

// chunks is in how many pieces so many rows of a partition are split, each of which leaves lines that are not full. Each place's rows make pieces of their own.
func (q *Query) chunks(form *partition.Form, rows int64) int64 {
	if rows == 0 {
		return 0
	}
	return rows/int64(q.runner.Device.Block(partition.Threads)*form.Items()*partition.ChunkTiles) + int64(max(q.moving.places, 1)) + 1
}

// sideRows is how many rows a side is expected to have.
func (q *Query) sideRows(k *kernel.Kernel, side radix.Side) int64 {
	rows := q.sourceBound(k)
	est := 0.
	if !side.IsProbe {
		est = side.Join.Build().EstRows
	} else if k.Rows.Scan != nil {
		est = k.Rows.Scan.EstRows
	}
	if e := sizes.Reserve(est); est > 0 && rows > 2*e {
		rows = e
	}
	return max(rows, 1)
}

// countPasses learns how many rows came to each partition, from a pass on up to another. full is the first pass in which one had too little capacity, less than 0 if none had. behind is an event behind them; nil: the
// stream has nothing behind them.
func (q *Query) countPasses(ctx context.Context, s *sideRun, from, to int, behind *gpukernels.Event) (full int, err error) {
	for i := from; i < to; i++ {
		x := &s.passes[i]
		x.given = make([]uint32, len(x.first)-1)
		own, first := x.given, x.first
		at := x.counts
		if s.moved != nil && i > 0 { // the others have no rows
			from, end := q.moving.owned(int64(len(s.passes[0].first) - 1))
			parts := int64(len(x.given) / (len(s.passes[0].first) - 1))
			own, first, at = own[from*parts:end*parts], first[from*parts:end*parts+1], at+gpukernels.Ptr(4*from*parts)
		}
		each := len(own)
		if each <= mostFetches*fetchedCounts {
			each = min(each, fetchedCounts)
		}
		for part := range slices.Chunk(own, each) {
			if behind != nil {
				err = q.fetchBehind(ctx, behind, gpukernels.Bytes(part), at)
			} else {
				err = q.memory.Fetch(ctx, gpukernels.Bytes(part), at)
			}
			if err != nil {
				return 0, err
			}
			at += gpukernels.Ptr(4 * len(part))
		}
		x.filled, x.count, x.most = int64(len(own)), 0, 0
		for p, n := range own {
			if n > first[p+1]-first[p] {
				return i, nil
			}
			x.count, x.most = x.count+int64(n), max(x.most, int64(n))
		}
	}
	return -1, nil
}

// piece is a RadixWork of radix.cuh: rows of the probe's side, and of the build's.
type piece struct{ from, end, buildFrom, buildEnd uint32 }

// openWork says what a join whose sides are there goes over, and returns what is to be freed behind it. A list of pieces is made only where partitions are cut up: the device waits for it.
func (q *Query) openWork(x *radix.Join) (memory []gpukernels.Ptr, err error) {
	c := q.cut(x)
	words := q.outputs.builds[x.Build()].words
	words[x.Work()], words[x.Seen()] = 0, 0
	taken, err := q.memory.Filled("partitions", 1, 4, 0)
	if err != nil {
		return nil, err
	}
	memory = append(memory, taken)
	words[x.Taken()], words[x.Pieces()] = uint64(taken), uint64(len(c.probe.given))
	words[x.Some()] = uint64(c.mostBuild)
	if !c.isWhole() {
		list := c.pieces()
		at, err := q.memory.Alloc("partitions", int64(16*len(list)))
		if err != nil {
			return memory, err
		}
		memory = append(memory, at)
		if err := q.memory.Stream.Upload(at, gpukernels.Bytes(list)); err != nil {
			return memory, err
		}
		words[x.Work()], words[x.Pieces()] = uint64(at), uint64(len(list))
	}
	if x.Loops() && c.mostBuild > x.Capacity {
		seen, err := q.memory.Filled("partitions", c.probe.capacity(), 1, 0)
		if err != nil {
			return memory, err
		}
		memory = append(memory, seen)
		words[x.Seen()] = uint64(seen)
	}
	return memory, nil
}

// cut is how partitions are cut up: a build's rows into as many as a table holds, unless the join loops over tables, and a probe's side into pieces that are about equally long.
type cut struct {
	build, probe         *sidePass
	mean                 int64 // rows of the probe's side in a partition
	mostBuild, mostProbe int64 // rows of a side in one
	table                int64 // rows of the build that a table holds
	length, step         int64 // rows of a side in a piece, at most
	keeps                bool  // partitions without rows of the build are pieces, too
}

func (q *Query) cut(x *radix.Join) *cut {
	c := &cut{build: q.outputs.sides[x.BuildSide()].last(), probe: q.outputs.sides[x.ProbeSide()].last(), keeps: x.Keeps()}
	c.mostProbe, c.mostBuild = c.probe.most, c.build.most
	c.mean = c.probe.count / max(c.probe.filled, 1)
	tuning := &q.program.Target.Tuning.Radix
	c.length = max(min(tuning.PieceShare*c.mean, c.probe.count/(tuning.Pieces*int64(q.runner.multiprocessors()))), tuning.PieceLeast)
	if tuning.PieceRows > 0 {
		c.length = tuning.PieceRows
	}
	line := max(x.BuildSide().Form().LineRows(), x.ProbeSide().Form().LineRows())
	c.length = (c.length + line - 1) / line * line
	c.table = x.Capacity / line * line
	if c.step = c.table; x.Loops() {
		c.step = max(c.mostBuild, 1)
	}
	return c
}

// isWhole says whether no partition is cut up.
func (c *cut) isWhole() bool { return c.mostProbe <= c.length && c.mostBuild <= c.step }

// pieces lists the pieces. Those of long partitions come first.
func (c *cut) pieces() []piece {
	count := [2]int{}
	c.each(func(long int, _ piece) { count[long]++ })
	all := make([]piece, count[0]+count[1])
	next := [2]int{count[1], 0}
	c.each(func(long int, w piece) {
		all[next[long]] = w
		next[long]++
	})
	return all
}

// each calls f for each piece; long is 1 for those of long partitions, else 0.
func (c *cut) each(f func(long int, w piece)) {
	for p, n := range c.probe.given {
		m := int64(c.build.given[p])
		long := 0
		if int64(n) > 2*c.mean || m > c.table {
			long = 1
		}
		for b := int64(0); b < m || b == 0 && c.keeps; b += c.step {
			for at := int64(0); at < int64(n); at += c.length {
				f(long, piece{c.probe.first[p] + uint32(at), c.probe.first[p] + uint32(min(at+c.length, int64(n))), c.build.first[p] + uint32(b), c.build.first[p] + uint32(min(b+c.step, m))})
			}
		}
	}
}

// joinSides runs the kernel that joins and those behind it, once both sides are there.
func (q *Query) joinSides(ctx context.Context, x *radix.Join, then []*kernel.Kernel, cost *Cost) error {
	memory, err := q.openWork(x)
	if err != nil {
		return err
	}
	for _, sub := range then {
		if err := q.launchOther(sub, math.MaxInt64, cost); err != nil {
			return err
		}
	}
	q.memory.FreeAll(memory)
	if s := q.outputs.sides[x.ProbeSide()]; s.moved != nil {
		return q.letGo(ctx, x)
	}
	q.outputs.freeSide(x.ProbeSide())
	return nil
}
