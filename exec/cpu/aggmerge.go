package cpu

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
)

// The end of an aggregation: the workers' groups become one result.

func (a *aggregate) finish() error {
	for _, g := range a.p.Groups {
		a.rel.ids = append(a.rel.ids, g.Col.ID)
	}
	for i := range a.p.Aggs {
		a.rel.ids = append(a.rel.ids, a.p.Aggs[i].Col.ID)
	}
	var parts []*aggLocal
	for _, x := range a.locals {
		if x != nil && x.rows {
			parts = append(append(parts, x.frozen...), x)
			x.frozen = nil
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

func (a *aggregate) finishScalar(parts []*aggLocal) error {
	if len(parts) == 0 {
		x := a.newLocal()
		for _, acc := range x.accs {
			acc.grow(1)
		}
		parts = append(parts, x)
	}
	zero := []uint32{0}
	var to [][]uint32
	for _, x := range parts[1:] {
		to = append(to, zero)
		beginMerge(parts[0].accs, x.accs)
		for i, acc := range parts[0].accs {
			if _, whole := acc.(wholeAccumulator); whole {
				continue
			}
			if err := acc.merge(zero, x.accs[i], zero); err != nil {
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
func (a *aggregate) merge(parts []*aggLocal) error {
	total := 0
	same := true
	for _, x := range parts {
		total += x.table.count
		same = same && x.table.layout == parts[0].table.layout
	}
	if !same {
		for _, x := range parts {
			if !x.table.layout.form.takesAny() {
				x.ends = nil
				if err := x.useAny(); err != nil {
					return err
				}
			}
		}
	}
	if parts[0].table.layout.form == denseKeys && !a.serial && total >= 8*column.VectorSize {
		for _, x := range parts[1:] {
			if err := parts[0].absorbDense(x); err != nil {
				return err
			}
		}
		return a.output(parts[:1])
	}
	if parts[0].table.layout.form == denseKeys || a.serial || total < 8*column.VectorSize {
		var to [][]uint32
		for _, x := range parts[1:] {
			became, err := parts[0].absorbGroups(x.table, x.accs, x.table.groups())
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
	layout := parts[0].table.layout
	lists := make([]partitionedGroups, len(parts))
	err := a.q.parallel(len(parts), total, func(i int) error {
		if ends := parts[i].ends; ends != nil {
			lists[i].ends = *ends
			return nil
		}
		var err error
		lists[i], err = a.q.partitionGroups(parts[i].table)
		return err
	})
	if err != nil {
		return err
	}
	merged := make([]*aggLocal, a.q.mergeTasks(total))
	err = a.q.parallel(len(merged), total, func(k int) error {
		m := a.newLocal()
		m.table = newGroupTable(layout)
		m.table.reserve(partitionRoom(lists, k, len(merged)))
		for i, x := range parts {
			if err := m.absorb(x.table, x.accs, lists[i].part(k, len(merged))); err != nil {
				return err
			}
		}
		merged[k] = m
		return nil
	})
	if err != nil {
		return err
	}
	texts := int64(0) // of keys, which the merged tables share with these
	for _, x := range parts {
		x.mem.Close()
		texts += x.table.held
	}
	if err := a.q.mem.Reserve("aggregation", texts); err != nil {
		return err
	}
	return a.output(merged)
}

// Many groups are merged in partitions, which the first mergeBits of their hashes choose. A task takes one or several of them.
const (
	mergeBits       = 8
	mergePartitions = 1 << mergeBits
	mergedGroups    = 1 << 13 // about so many groups make a task: they and their accumulators stay in a core's cache
)

// mergeTasks returns the number of tasks, a power of two, in which so many groups are merged.
func (q *query) mergeTasks(groups int) int {
	tasks := max(groups/mergedGroups, 4*q.cfg.Threads)
	return min(1<<bits.Len(uint(tasks-1)), mergePartitions)
}

// partitionedGroups lists a table's groups by partition, in order within each.
type partitionedGroups struct {
	groups []uint32 // nil: the table's groups are in this order
	ends   [mergePartitions]int
}

func (q *query) partitionGroups(t *groupTable) (p partitionedGroups, err error) {
	parts := make([]uint8, t.count)
	var next [mergePartitions]int
	err = q.blocks(t.count, func(from, to int) {
		for g := from; g < to; g++ {
			h := t.hash(uint32(g)) >> (64 - mergeBits)
			parts[g] = uint8(h)
			next[h]++
		}
	})
	if err != nil {
		return p, err
	}
	sum := 0
	for k, n := range next {
		next[k] = sum
		sum += n
		p.ends[k] = sum
	}
	p.groups = make([]uint32, t.count)
	err = q.blocks(t.count, func(from, to int) {
		for g := from; g < to; g++ {
			h := parts[g]
			p.groups[next[h]] = uint32(g)
			next[h]++
		}
	})
	return p, err
}

// part returns the groups of the k-th of some tasks.
func (p *partitionedGroups) part(k, tasks int) []uint32 {
	each := mergePartitions / tasks
	from, to := 0, p.ends[(k+1)*each-1]
	if k > 0 {
		from = p.ends[k*each-1]
	}
	if p.groups == nil {
		return groupRange(from, to)
	}
	return p.groups[from:to]
}

// partitionRoom guesses the number of groups that a task will have: between that of all tables having the same ones
// and that of all having their own.
func partitionRoom(lists []partitionedGroups, k, tasks int) int {
	each := mergePartitions / tasks
	most, sum := 0, 0
	for i := range lists {
		n := lists[i].ends[(k+1)*each-1]
		if k > 0 {
			n -= lists[i].ends[k*each-1]
		}
		most, sum = max(most, n), sum+n
	}
	return max(most, sum/2)
}

// absorbDense adds the groups of another worker's array, range by range in parallel.
func (x *aggLocal) absorbDense(y *aggLocal) error {
	beginMerge(x.accs, y.accs)
	n := y.table.count
	return x.a.q.parallel((n+outputGroups-1)/outputGroups, n, func(i int) error {
		groups := y.table.groupsIn(i*outputGroups, min((i+1)*outputGroups, n))
		for _, g := range groups {
			x.table.seen[g] = true
		}
		for k, a := range x.accs {
			if err := a.merge(groups, y.accs[k], groups); err != nil {
				return err
			}
		}
		return nil
	})
}
