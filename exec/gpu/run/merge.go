package run

import (
	"context"
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sizes"
	"github.com/radish-sql/radish/gpukernels"
)

// Both sides of a join in the order of its keys. A side's kernel appends radix keys and values, and counts on if the arrays are full; then it runs again with as many as it has counted, which is
// remembered. The host waits for the count, which the sort takes.

// sortSide runs a side's kernel, which run launches, until all rows have found a slot, and sorts them.
func (q *Query) sortSide(ctx context.Context, k *kernel.Kernel, side radix.Side, run func() error) error {
	work := sizes.Side{Work: q.sizes.WorkOf(k.Pipeline.Sink), Feeder: -1 - slices.Index(q.program.Feeders[k.Pipeline.Sink], k.Pipeline)} // below 0: no sizes of partitions
	capacity := q.sideRows(k, side)
	if most := q.program.Target.Tuning.Merge.Capacity; most > 0 {
		capacity = min(capacity, most)
	}
	if kept := q.runner.sides.Remembered(work); kept != nil {
		capacity = int64(kept[0][0])
	}
	var s *sortedSide
	for {
		q.outputs.freeSide(side)
		var err error
		if s, err = q.openSorted(side, capacity); err != nil {
			return err
		}
		if err := run(); err != nil {
			return err
		}
		count := make([]uint64, 1)
		if err := q.memory.Fetch(ctx, gpukernels.Bytes(count), s.counter); err != nil {
			return err
		}
		if s.count = int64(count[0]); s.count <= capacity {
			break
		}
		if s.count >= math.MaxUint32 {
			return errTooManyRows
		}
		capacity = s.count
		q.runner.sides.Remember(work, [][]uint32{{uint32(capacity)}})
	}
	if s.count > 1 {
		in, err := q.memory.Stream.SortPairs(s.keys, side.Join.RadixKeyBytes(), s.values, s.count, 0, side.Join.SortBits())
		if err != nil {
			return err
		}
		if in == 1 {
			s.keys[0], s.keys[1] = s.keys[1], s.keys[0]
			s.values[0], s.values[1] = s.values[1], s.values[0]
		}
	}
	for _, p := range []*gpukernels.Ptr{&s.keys[1], &s.values[1], &s.counter} {
		q.memory.Free(*p)
		*p = 0
	}
	q.sortedWords(side, s)
	return nil
}

// openSorted takes memory for a side's rows.
func (q *Query) openSorted(side radix.Side, capacity int64) (*sortedSide, error) {
	if capacity >= math.MaxUint32 {
		return nil, errTooManyRows
	}
	s := &sortedSide{capacity: capacity}
	q.outputs.sides[side] = &sideRun{sorted: s}
	var err error
	if s.counter, err = q.memory.Filled("sorted rows", 1, 8, 0); err != nil {
		return nil, err
	}
	for i := range s.keys {
		if s.keys[i], err = q.memory.Alloc("sorted rows", capacity*int64(side.Join.RadixKeyBytes())); err != nil {
			return nil, err
		}
		if s.values[i], err = q.memory.Alloc("sorted rows", capacity*4); err != nil {
			return nil, err
		}
	}
	if side.KeepsRows() {
		if s.rows, err = q.memory.Alloc("sorted rows", capacity*side.Form().RowBytes); err != nil {
			return nil, err
		}
	}
	q.sortedWords(side, s)
	return s, nil
}

// sortedWords are the words of a side's rows.
func (q *Query) sortedWords(side radix.Side, s *sortedSide) {
	words := q.outputs.builds[side.Join.Build()].words
	for what, word := range map[radix.SortedItem]uint64{
		radix.SortedRadixKeys: uint64(s.keys[0]), radix.SortedValues: uint64(s.values[0]), radix.SortedRows: uint64(s.rows),
		radix.SortedCounter: uint64(s.counter), radix.SortedCapacity: uint64(s.capacity), radix.SortedCount: uint64(s.count),
	} {
		words[side.Sorted(what)] = word
	}
}

// mergeSides runs the kernels that find the tiles and join, and those behind them, once both sides are in order.
func (q *Query) mergeSides(x *radix.Join, then []*kernel.Kernel, cost *Cost) error {
	rows := q.outputs.sides[x.BuildSide()].sorted.count + q.outputs.sides[x.ProbeSide()].sorted.count
	tiles := (rows + radix.MergeTile - 1) / radix.MergeTile
	taken, err := q.memory.Filled("sorted rows", 2, 4, 0)
	if err != nil {
		return err
	}
	defer q.memory.Free(taken)
	splits, err := q.memory.Alloc("sorted rows", 4*(tiles+1))
	if err != nil {
		return err
	}
	defer q.memory.Free(splits)
	words := q.outputs.builds[x.Build()].words
	words[x.Taken()], words[x.Pieces()], words[x.Splits()] = uint64(taken), uint64(tiles), uint64(splits)
	list, err := q.openList(x)
	defer q.memory.Free(list)
	if err != nil {
		return err
	}
	for _, sub := range then {
		if err := q.launchOther(sub, math.MaxInt64, cost); err != nil {
			return err
		}
		if sub.Listed && list != 0 {
			words[x.Taken()], words[x.BuildSide().Sorted(radix.SortedListed)] = uint64(taken+4), 1
			if err := q.launchOther(sub, math.MaxInt64, cost); err != nil {
				return err
			}
		}
	}
	q.outputs.freeSide(x.ProbeSide())
	return nil
}

// openList takes memory for the list of pieces of pairs, and makes it empty; 0: there are too few pairs for any.
func (q *Query) openList(x *radix.Join) (list gpukernels.Ptr, err error) {
	if !x.Multiplies() {
		return 0, nil
	}
	tuning := &q.program.Target.Tuning.Merge
	pairs := max(tuning.Pairs, 1)
	most := float64(q.outputs.sides[x.BuildSide()].sorted.count) * float64(q.outputs.sides[x.ProbeSide()].sorted.count) / float64(pairs)
	capacity := int64(min(2*most, float64(tuning.List))) // what is cut up gives pieces of more than half as many pairs
	words, build := q.outputs.builds[x.Build()].words, x.BuildSide()
	if capacity > 0 {
		if list, err = q.memory.Alloc("sorted rows", listedBytes*(capacity+1)); err != nil {
			return 0, err
		}
		if err = q.memory.Stream.Fill(list, 0, 8, 2); err != nil {
			return list, err
		}
	}
	words[build.Sorted(radix.SortedList)], words[build.Sorted(radix.SortedListCapacity)] = uint64(list), uint64(capacity)
	words[build.Sorted(radix.SortedListPairs)], words[build.Sorted(radix.SortedListed)] = uint64(pairs), 0
	return list, nil
}

// startSide runs a pipeline whose rows are partitioned or sorted: run launches its first kernel.
func (q *Query) startSide(ctx context.Context, k *kernel.Kernel, side radix.Side, run func() error, cost *Cost) error {
	then, err := k.Then, error(nil)
	if side.Join.Merges() {
		err = q.sortSide(ctx, k, side, run)
	} else {
		then, err = q.partition(ctx, k, side, run, cost)
	}
	if err != nil || !side.IsProbe {
		return err
	}
	if len(q.progress.pending) > 0 {
		if err := q.Settle(ctx); err != nil { // the kernel that joins may ask for what they have counted
			return err
		}
	}
	if side.Join.Merges() {
		return q.mergeSides(side.Join, then, cost)
	}
	return q.joinSides(ctx, side.Join, then, cost)
}
