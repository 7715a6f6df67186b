package cpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
)

// materialize stores rows as they come.
type materialize struct {
	q      *Query
	p      *physical.Materialize
	locals []*materializeLocal
	rel    relation
}

type materializeLocal struct {
	rowStore
	slots []int
	cols  []*column.Vector
}

func (m *materialize) local(w *Worker, l *layout) (localSink, error) {
	x := m.locals[w.ID]
	if x == nil {
		x = &materializeLocal{cols: make([]*column.Vector, len(m.p.Cols))}
		x.types = columnTypes(m.p.Cols)
		x.mem = memory.Account{Budget: m.q.Memory, Operator: "materialised rows"}
		m.locals[w.ID] = x
	}
	var err error
	x.slots, err = l.slotsOf(m.p.Cols)
	return x, err
}

func (x *materializeLocal) begin(seq int) { x.rowStore.begin(seq) }

func (x *materializeLocal) end(int) error { return nil }

func (x *materializeLocal) push(b *batch) error {
	for i, s := range x.slots {
		x.cols[i] = b.Cols[s]
	}
	return x.append(x.cols, b.Sel, b.N)
}

func (m *materialize) finish() error {
	for _, c := range m.p.Cols {
		m.rel.ids = append(m.rel.ids, c.ID)
	}
	var stores []*rowStore
	for _, x := range m.locals {
		if x != nil {
			stores = append(stores, &x.rowStore)
		}
	}
	m.locals = nil
	if len(stores) == 1 {
		m.rel.segs, m.rel.n = stores[0].segs, stores[0].n
		return nil
	}
	cols, n, err := concat(m.q, stores, columnTypes(m.p.Cols))
	if err != nil || n == 0 {
		return err
	}
	m.rel.segs, m.rel.n = []*segment{{n: n, cap: n, cols: cols}}, n
	return nil
}

func (m *materialize) relation() *relation { return &m.rel }
