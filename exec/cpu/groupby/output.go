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
		var err error
		if parts, err = a.cut(local, parts); err != nil {
			return err
		}
		rows += local.groupCount()
	}
	segs := make([]*rowstore.Segment, len(parts))
	err := a.q.Parallel(len(parts), rows, func(i int) error {
		var err error
		segs[i], err = parts[i].segment()
		return err
	})
	if err != nil {
		return err
	}
	a.store(segs)
	return nil
}

// cut adds the parts of a table to others.
func (a *Sink) cut(local *aggLocal, parts []outputPart) ([]outputPart, error) {
	x := &outputTable{aggLocal: local}
	for _, acc := range x.accs {
		if w, ok := acc.(accumulate.Whole); ok {
			if err := w.Complete(); err != nil {
				return nil, err
			}
			if err := x.settle(); err != nil {
				return nil, err
			}
		}
	}
	if err := x.seal(); err != nil {
		return nil, err
	}
	n := x.groupCount()
	for from := x.run.skip; from < n; from += outputGroups {
		parts = append(parts, outputPart{x, from, min(from+outputGroups, n)})
		x.left.Add(1)
	}
	return parts, nil
}

// store adds segments to the result.
func (a *Sink) store(segs []*rowstore.Segment) {
	for _, s := range segs {
		a.rel.N += s.N
		if s.N > 0 {
			a.rel.Segs = append(a.rel.Segs, s)
		}
	}
}

// rowsOf turns the groups of one table into rows.
func (a *Sink) rowsOf(local *aggLocal) ([]*rowstore.Segment, error) {
	parts, err := a.cut(local, nil)
	segs := make([]*rowstore.Segment, len(parts))
	for i := range parts {
		if err != nil {
			break
		}
		segs[i], err = parts[i].segment()
	}
	return segs, err
}

// segment makes a segment of a part.
func (p *outputPart) segment() (*rowstore.Segment, error) {
	x, a := p.x, p.x.a
	groups := []uint32{0}
	if x.table != nil {
		groups = x.table.GroupsIn(p.from, p.to)
	}
	seg := &rowstore.Segment{N: len(groups), Cap: len(groups)}
	bytes := int64(0)
	for c, g := range a.p.Groups {
		if a.unread.Has(g.Col.ID) {
			seg.Cols = append(seg.Cols, nil)
			continue
		}
		v := &column.Vector{}
		x.table.KeyColumn(c, groups, v)
		bytes += vectorBytes(v, len(groups)) + int64(len(groups))*x.table.Layout.ShortBytes(c)
		seg.Cols = append(seg.Cols, v)
	}
	for _, out := range a.needs.Items {
		v := column.New(out.Item.Col.Typ, len(groups))
		if err := out.Values(x.accs, groups, v); err != nil {
			return nil, err
		}
		bytes += vectorBytes(v, len(groups))
		seg.Cols = append(seg.Cols, v)
	}
	if err := a.q.Memory.Reserve("aggregation", bytes); err != nil {
		return nil, err
	}
	x.partDone()
	return seg, nil
}
