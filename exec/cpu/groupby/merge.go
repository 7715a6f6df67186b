package groupby

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/accumulate"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
)

// The end of an aggregation: the workers' groups become one result.

func (a *Sink) Finish() error {
	for _, g := range a.p.Groups {
		a.rel.IDs = append(a.rel.IDs, g.Col.ID)
	}
	for i := range a.p.Aggs {
		a.rel.IDs = append(a.rel.IDs, a.p.Aggs[i].Col.ID)
	}
	err := a.q.Parallel(len(a.locals), a.q.Tuning.ParallelRows, func(i int) error {
		if x := a.locals[i]; x != nil {
			return x.endBlocks()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if a.disk.IsOn() {
		return a.finishSpilled()
	}
	var parts []*aggLocal
	for _, x := range a.locals {
		if x != nil {
			if parts = append(parts, x.frozen...); x.hasRows {
				parts = append(parts, x)
			}
			x.frozen, x.set, x.keys, x.args = nil, nil, nil, nil
		}
	}
	a.locals = nil
	if len(a.p.Groups) == 0 {
		return a.finishScalar(parts)
	}
	switch {
	case len(parts) == 0:
		return nil
	case a.runs:
		return a.finishRuns(parts)
	case len(parts) == 1:
		return a.output(parts)
	}
	return a.merge(parts)
}

func (a *Sink) finishScalar(parts []*aggLocal) error {
	if a.Shares {
		slices.SortFunc(parts, func(x, y *aggLocal) int { return x.run.seq - y.run.seq })
	}
	if len(parts) == 0 {
		x := a.newLocal()
		for _, acc := range x.accs {
			acc.Grow(1)
		}
		parts = append(parts, x)
	}
	zero := []uint32{0}
	var to [][]uint32
	for _, x := range parts[1:] {
		to = append(to, zero)
		accumulate.BeginMerge(parts[0].accs, x.accs)
		for i, acc := range parts[0].accs {
			if _, whole := acc.(accumulate.Whole); whole {
				continue
			}
			if err := acc.Merge(zero, x.accs[i], zero); err != nil {
				return err
			}
		}
	}
	if err := parts[0].adoptAll(parts[1:], to); err != nil {
		return err
	}
	return a.output(parts[:1])
}

// merge merges the workers' tables.
func (a *Sink) merge(parts []*aggLocal) error {
	total := 0
	same := true
	for _, x := range parts {
		total += x.size()
		same = same && x.layout() == parts[0].layout()
	}
	if !same {
		for _, x := range parts {
			if x.ungrouped.block != nil {
				if err := x.regroup(); err != nil {
					return err
				}
			}
			if !x.table.Layout.Form.TakesAny() {
				x.ends = nil
				if err := x.useAny(); err != nil {
					return err
				}
			}
		}
	}
	if parts[0].table.Layout.Form == grouptable.DenseKeys && !a.needs.Serial && total >= 8*column.VectorSize {
		if err := parts[0].absorbDense(parts[1:]); err != nil {
			return err
		}
		return a.output(parts[:1])
	}
	if parts[0].table.Layout.Form == grouptable.DenseKeys || a.needs.Serial || total < 8*column.VectorSize {
		var to [][]uint32
		for _, x := range parts[1:] {
			if x.ungrouped.block != nil {
				if err := x.regroup(); err != nil {
					return err
				}
			}
			became, err := parts[0].absorbGroups(x.table, x.accs, x.table.Groups())
			if err != nil {
				return err
			}
			to = append(to, became)
		}
		if err := parts[0].adoptAll(parts[1:], to); err != nil {
			return err
		}
		return a.output(parts[:1])
	}
	return a.mergePartitions(parts, total)
}

// size returns the number of a part's groups, or of its rows without groups.
func (x *aggLocal) size() int {
	if b := x.ungrouped.block; b != nil {
		return b.keys.N
	}
	return x.table.Count
}

func (x *aggLocal) layout() *grouptable.Layout {
	if b := x.ungrouped.block; b != nil {
		return b.keys.Layout
	}
	return x.table.Layout
}

// mostGroups estimates the number of groups of all parts from how often rows repeated in the table that had most.
func mostGroups(parts []*aggLocal) int {
	var widest *aggLocal
	for _, x := range parts {
		if x.table != nil && (widest == nil || x.taken > widest.taken) {
			widest = x
		}
	}
	if widest == nil || widest.taken == 0 {
		return math.MaxInt
	}
	return keyhash.EstimateKeys(widest.taken, widest.table.Count)
}

// mergePartitions merges tables of one layout by partitions of the keys' hashes, in parallel.
func (a *Sink) mergePartitions(parts []*aggLocal, total int) error {
	for _, x := range parts {
		if err := x.seal(); err != nil {
			return err
		}
	}
	layout := parts[0].layout()
	lists := make([]grouptable.Partitioned, len(parts))
	var listed atomic.Int64
	err := a.q.Parallel(len(parts), total, func(i int) error {
		if ends := parts[i].ends; ends != nil {
			lists[i].Ends = *ends
			return nil
		}
		bytes := 4 * int64(parts[i].table.Count)
		if err := a.q.Memory.Reserve("aggregation", bytes); err != nil {
			return err
		}
		listed.Add(bytes)
		var err error
		lists[i], err = grouptable.Partition(a.q, parts[i].table)
		return err
	})
	if err != nil {
		return err
	}
	most := mostGroups(parts)
	// A partition's groups become rows as soon as they are merged, so that no two tables of all groups are held. Its table then serves another partition.
	tasks := grouptable.MergeTasks(a.q, total)
	segs := make([][]*rowstore.Segment, tasks)
	var idle sync.Pool
	err = a.q.Parallel(tasks, total, func(k int) error {
		m := a.newLocal()
		m.table = grouptable.New(layout)
		expected := grouptable.ExpectedGroups(lists, k, tasks, most)
		if old, _ := idle.Get().(*grouptable.Table); old != nil {
			expected = max(expected, old.Count)
			m.table.TakeMemory(old)
		}
		m.table.Reserve(expected)
		for _, acc := range m.accs {
			acc.Grow(expected)
		}
		for i, x := range parts {
			if err := m.mergePart(x, &lists[i], k, tasks); err != nil {
				return err
			}
		}
		spare := m.table.Spare()
		var err error
		segs[k], _, err = a.rowsOf(m)
		if layout.IsWords() {
			idle.Put(spare)
		} else {
			spare.Seal()
		}
		return err
	})
	for spare, _ := idle.Get().(*grouptable.Table); spare != nil; spare, _ = idle.Get().(*grouptable.Table) {
		spare.Seal()
	}
	if err != nil {
		return err
	}
	a.q.Memory.Release(listed.Load())
	for _, x := range parts {
		x.release(x.keyStrings())
		if b := x.ungrouped.block; b != nil {
			b.give()
		}
	}
	for _, s := range segs {
		a.store(s)
	}
	return nil
}

// mergePart adds the groups, or rows, of a part that the k-th of some tasks takes.
func (x *aggLocal) mergePart(part *aggLocal, list *grouptable.Partitioned, k, tasks int) error {
	if b := part.ungrouped.block; b != nil {
		from, to := list.Bounds(k, tasks)
		return x.group(b, from, to)
	}
	return x.absorb(part.table, part.accs, list.Partition(k, tasks))
}

// mergedGroups is the number of groups of arrays that are merged at a time: few, so that arrays of some ten thousand groups keep many workers busy.
const mergedGroups = 1 << 10

// absorbDense adds the groups of other workers' arrays: ranges of groups in parallel, and one worker's after the other's in each, in the order of the workers.
func (x *aggLocal) absorbDense(others []*aggLocal) error {
	for _, y := range others {
		accumulate.BeginMerge(x.accs, y.accs)
	}
	n := x.table.Count
	return x.a.q.Parallel((n+mergedGroups-1)/mergedGroups, n*len(others), func(i int) error {
		for _, y := range others {
			groups := y.table.GroupsIn(i*mergedGroups, min((i+1)*mergedGroups, n))
			for _, g := range groups {
				x.table.Seen[g] = true
			}
			for k, a := range x.accs {
				if err := a.Merge(groups, y.accs[k], groups); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// adoptAll gives each whole accumulator of x those of other workers.
func (x *aggLocal) adoptAll(others []*aggLocal, to [][]uint32) error {
	for i, a := range x.accs {
		w, ok := a.(accumulate.Whole)
		if !ok {
			continue
		}
		var srcs []accumulate.Accumulator
		for _, y := range others {
			srcs = append(srcs, y.accs[i])
		}
		if err := w.AdoptAll(srcs, to); err != nil {
			return err
		}
	}
	return nil
}
