package cpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
)

// materialize stores rows as they come.
type materialize struct {
	q      *task.Query
	p      *physical.Materialize
	locals []*materializeLocal
	rel    rowstore.Relation
}

type materializeLocal struct {
	rowstore.Store
	slots []int
	cols  []*column.Vector
}

func (m *materialize) Local(w *task.Worker, l *pipeline.Layout) (pipeline.LocalSink, error) {
	x := m.locals[w.ID]
	if x == nil {
		x = &materializeLocal{cols: make([]*column.Vector, len(m.p.Cols))}
		x.Types = pipeline.ColumnTypes(m.p.Cols)
		x.Mem = memory.Account{Budget: m.q.Memory, Operator: "materialised rows"}
		m.locals[w.ID] = x
	}
	var err error
	x.slots, err = l.SlotsOf(m.p.Cols)
	return x, err
}

func (x *materializeLocal) Begin(seq int) { x.Store.Begin(seq) }

func (x *materializeLocal) End(int) error { return nil }

func (x *materializeLocal) Push(b *column.Batch) error {
	for i, s := range x.slots {
		x.cols[i] = b.Cols[s]
	}
	return x.Append(x.cols, b.Sel, b.N)
}

func (m *materialize) Finish() error {
	for _, c := range m.p.Cols {
		m.rel.IDs = append(m.rel.IDs, c.ID)
	}
	var stores []*rowstore.Store
	for _, x := range m.locals {
		if x != nil {
			stores = append(stores, &x.Store)
		}
	}
	m.locals = nil
	if len(stores) == 1 {
		m.rel.Segs, m.rel.N = stores[0].Segs, stores[0].N
		return nil
	}
	cols, n, err := rowstore.Concat(m.q, stores, pipeline.ColumnTypes(m.p.Cols))
	if err != nil || n == 0 {
		return err
	}
	m.rel.Segs, m.rel.N = []*rowstore.Segment{{N: n, Cap: n, Cols: cols}}, n
	return nil
}

func (m *materialize) Relation() *rowstore.Relation { return &m.rel }
