package cpu

import (
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
	if parts[0].table.layout.form == denseKeys && !a.needs.serial && total >= 8*column.VectorSize {
		for _, x := range parts[1:] {
			if err := parts[0].absorbDense(x); err != nil {
				return err
			}
		}
		return a.output(parts[:1])
	}
	if parts[0].table.layout.form == denseKeys || a.needs.serial || total < 8*column.VectorSize {
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
	err := a.q.Parallel(len(parts), total, func(i int) error {
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
	err = a.q.Parallel(len(merged), total, func(k int) error {
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
	if err := a.q.Memory.Reserve("aggregation", texts); err != nil {
		return err
	}
	return a.output(merged)
}

// absorbDense adds the groups of another worker's array, range by range in parallel.
func (x *aggLocal) absorbDense(y *aggLocal) error {
	beginMerge(x.accs, y.accs)
	n := y.table.count
	return x.a.q.Parallel((n+outputGroups-1)/outputGroups, n, func(i int) error {
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

// adoptAll gives each whole accumulator of x those of other workers.
func (x *aggLocal) adoptAll(others []*aggLocal, to [][]uint32) error {
	for i, a := range x.accs {
		w, ok := a.(wholeAccumulator)
		if !ok {
			continue
		}
		var srcs []accumulator
		for _, y := range others {
			srcs = append(srcs, y.accs[i])
		}
		if err := w.adoptAll(srcs, to); err != nil {
			return err
		}
	}
	return nil
}
