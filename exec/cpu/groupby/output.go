package groupby

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/accumulate"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
)

// outputGroups is the number of groups that become one segment of the relation at most, and leastOutput that for which workers share a table of fewer.
const (
	outputGroups = 1 << 15
	leastOutput  = 1 << 12
)

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
		segs[i], _, err = parts[i].segment()
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
	size := min(max(n/(2*a.q.Threads)/column.VectorSize*column.VectorSize, leastOutput), outputGroups)
	for from := x.run.skip; from < n; from += size {
		parts = append(parts, outputPart{x, from, min(from+size, n)})
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

// rowsOf turns the groups of one table into rows, and says what is reserved for these, after an error too.
func (a *Sink) rowsOf(local *aggLocal) (segs []*rowstore.Segment, reserved int64, err error) {
	parts, err := a.cut(local, nil)
	segs = make([]*rowstore.Segment, len(parts))
	for i := range parts {
		if err != nil {
			break
		}
		var bytes int64
		segs[i], bytes, err = parts[i].segment()
		reserved += bytes
	}
	return segs, reserved, err
}

// segment makes a segment of a part, for which it reserves so many bytes.
func (p *outputPart) segment() (seg *rowstore.Segment, bytes int64, err error) {
	x, a := p.x, p.x.a
	groups := []uint32{0}
	if x.table != nil {
		groups = x.table.GroupsIn(p.from, p.to)
	}
	seg = &rowstore.Segment{N: len(groups), Cap: len(groups)}
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
			return nil, 0, err
		}
		bytes += vectorBytes(v, len(groups))
		seg.Cols = append(seg.Cols, v)
	}
	if err := a.q.Memory.Reserve("aggregation", bytes); err != nil {
		return nil, 0, err
	}
	x.partDone()
	return seg, bytes, nil
}
