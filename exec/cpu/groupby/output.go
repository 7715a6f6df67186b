package groupby

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/accumulate"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
)

// outputGroups is the number of groups that become one segment of the relation.
const outputGroups = 1 << 15

// outputPart is groups of one table that become a segment.
type outputPart struct {
	x        *outputTable
	from, to int
}

// output turns groups into rows.
func (a *Sink) output(tables []*aggLocal) error {
	var parts []outputPart
	rows := 0
	for _, local := range tables {
		x := &outputTable{aggLocal: local}
		for _, acc := range x.accs {
			if w, ok := acc.(accumulate.Whole); ok {
				if err := w.Complete(); err != nil {
					return err
				}
			}
		}
		if err := x.seal(); err != nil {
			return err
		}
		n := 1
		if x.table != nil {
			n = x.table.Count
		}
		rows += n
		for from := x.run.skip; from < n; from += outputGroups {
			parts = append(parts, outputPart{x, from, min(from+outputGroups, n)})
			x.left.Add(1)
		}
	}
	segs := make([]*rowstore.Segment, len(parts))
	err := a.q.Parallel(len(parts), rows, func(i int) error {
		x := parts[i].x
		groups := []uint32{0}
		if x.table != nil {
			groups = x.table.GroupsIn(parts[i].from, parts[i].to)
		}
		seg := &rowstore.Segment{N: len(groups), Cap: len(groups)}
		for c := range a.p.Groups {
			v := &column.Vector{}
			x.table.KeyColumn(c, groups, v)
			seg.Cols = append(seg.Cols, v)
		}
		for _, out := range a.needs.Items {
			v := column.New(out.Item.Col.Typ, len(groups))
			if err := out.Values(x.accs, groups, v); err != nil {
				return err
			}
			seg.Cols = append(seg.Cols, v)
		}
		segs[i] = seg
		bytes := rowBytes(seg.Cols, len(groups))
		if x.table != nil {
			bytes += int64(len(groups)) * x.table.Layout.ShortBytes()
		}
		if err := a.q.Memory.Reserve("aggregation", bytes); err != nil {
			return err
		}
		x.partDone()
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range segs {
		a.rel.N += s.N
		if s.N > 0 {
			a.rel.Segs = append(a.rel.Segs, s)
		}
	}
	return nil
}
