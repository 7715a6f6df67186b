package cpu

import (
	"github.com/radish-sql/radish/column"
)

// outputGroups is the number of groups that become one segment of the relation.
const outputGroups = 1 << 15

// outputPart is groups of one table that become a segment.
type outputPart struct {
	x        *aggLocal
	from, to int
}

// output turns groups into rows.
func (a *aggregate) output(tables []*aggLocal) error {
	var parts []outputPart
	rows := 0
	for _, x := range tables {
		for _, acc := range x.accs {
			if w, ok := acc.(wholeAccumulator); ok {
				if err := w.complete(); err != nil {
					return err
				}
			}
		}
		n := 1
		if x.table != nil {
			n = x.table.count
		}
		rows += n
		for from := x.run.skip; from < n; from += outputGroups {
			parts = append(parts, outputPart{x, from, min(from+outputGroups, n)})
		}
	}
	segs := make([]*segment, len(parts))
	err := a.q.Parallel(len(parts), rows, func(i int) error {
		x := parts[i].x
		groups := []uint32{0}
		if x.table != nil {
			groups = x.table.groupsIn(parts[i].from, parts[i].to)
		}
		seg := &segment{n: len(groups), cap: len(groups)}
		for c := range a.p.Groups {
			v := &column.Vector{}
			x.table.keyColumn(c, groups, v)
			seg.cols = append(seg.cols, v)
		}
		for _, out := range a.needs.items {
			v := column.New(out.item.Col.Typ, len(groups))
			if err := out.values(x.accs, groups, v); err != nil {
				return err
			}
			seg.cols = append(seg.cols, v)
		}
		segs[i] = seg
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range segs {
		a.rel.n += s.n
		if s.n > 0 {
			a.rel.segs = append(a.rel.segs, s)
		}
	}
	return nil
}
