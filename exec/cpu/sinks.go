package cpu

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// sink returns the sink behind a physical one; all pipelines that end in it share it.
func (q *query) sink(p physical.Sink) (sink, error) {
	if s, ok := q.sinks[p]; ok {
		return s, nil
	}
	var s sink
	switch p := p.(type) {
	case *physical.Build:
		b := q.newBuild(p)
		q.builds[p] = b
		s = b
	case *physical.Aggregate:
		a, err := q.newAggregate(p)
		if err != nil {
			return nil, err
		}
		s = a
	case *physical.Sort:
		s = q.newSort(p)
	case *physical.Recursion:
		s = q.newRecursion(p)
	case *physical.Window:
		s = q.newWindow(p)
	case *physical.Materialize:
		s = &materialize{q: q, p: p, locals: make([]*materializeLocal, q.cfg.Threads)}
	case *physical.Result:
		s = q.newResult(p)
	default:
		return nil, sqlerr.Bug("unknown sink %T", p)
	}
	q.sinks[p] = s
	return s, nil
}

// materialize stores rows as they come.
type materialize struct {
	q      *query
	p      *physical.Materialize
	locals []*materializeLocal
	rel    relation
}

type materializeLocal struct {
	rowStore
	slots []int
	cols  []*column.Vector
}

func (m *materialize) local(w *worker, l *layout) (localSink, error) {
	x := m.locals[w.id]
	if x == nil {
		x = &materializeLocal{cols: make([]*column.Vector, len(m.p.Cols))}
		x.types = columnTypes(m.p.Cols)
		x.mem = memory.Account{Budget: m.q.mem, Operator: "materialised rows"}
		m.locals[w.id] = x
	}
	var err error
	x.slots, err = l.slotsOf(m.p.Cols)
	return x, err
}

func columnTypes(cols []*expr.Column) []types.Type {
	ts := make([]types.Type, len(cols))
	for i, c := range cols {
		ts[i] = c.Typ
	}
	return ts
}

func (l *layout) slotsOf(cols []*expr.Column) ([]int, error) {
	slots := make([]int, len(cols))
	for i, c := range cols {
		s, err := l.lookup(c)
		if err != nil {
			return nil, err
		}
		slots[i] = s
	}
	return slots, nil
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

// unmatchedScan reads the rows of a build that no probe matched.
type unmatchedScan struct {
	b      *build
	scan   *physical.UnmatchedScan
	layout *layout
	parts  []scanPart
	hit    column.Bitmap
	left   int
	slots  []int // of the payload
	nulls  []int
}

func newUnmatchedScan(pl *pipeline, b *build, s *physical.UnmatchedScan) (*unmatchedScan, error) {
	if b == nil || !b.p.KeepUnmatched {
		return nil, sqlerr.Bug("an unmatched scan of a build that does not keep its unmatched rows")
	}
	u := &unmatchedScan{b: b, scan: s, layout: &pl.layout, hit: column.NewBitmap(b.n, false)}
	for _, m := range b.matched {
		for i := range m {
			u.hit[i] |= m[i]
		}
	}
	u.left = b.n
	for _, w := range u.hit {
		u.left -= bits.OnesCount64(w)
	}
	for _, c := range b.p.Payload {
		u.slots = append(u.slots, pl.layout.slot(c.ID))
	}
	for _, c := range s.Nulls {
		u.nulls = append(u.nulls, pl.layout.slot(c.ID))
	}
	if b.cut {
		u.left = 0
	}
	if u.left > 0 {
		for from := 0; from < b.n; from += morselRows {
			u.parts = append(u.parts, scanPart{0, from, min(from+morselRows, b.n)})
		}
	}
	return u, nil
}

func (u *unmatchedScan) morsels() int { return len(u.parts) }
func (u *unmatchedScan) rows() int    { return u.left }
func (u *unmatchedScan) gives(id expr.ColumnID) bool {
	for _, c := range u.b.p.Payload {
		if c.ID == id {
			return true
		}
	}
	for _, c := range u.scan.Nulls {
		if c.ID == id {
			return true
		}
	}
	return false
}

func (u *unmatchedScan) open(w *worker, next op) (reader, error) {
	r := &unmatchedReader{w: w, u: u, next: next, vecs: make([]column.Vector, len(u.slots))}
	r.b.Cols = make([]*column.Vector, len(u.layout.slots))
	for i, c := range u.scan.Nulls {
		r.b.Cols[u.nulls[i]] = column.ConstVector(types.NullOf(c.Typ))
	}
	return r, nil
}

type unmatchedReader struct {
	w    *worker
	u    *unmatchedScan
	next op
	vecs []column.Vector
	rows []int32
	b    batch
}

func (r *unmatchedReader) read(morsel int) error {
	part := r.u.parts[morsel]
	for from := part.from; from < part.to; from += column.VectorSize {
		if err := r.w.check(); err != nil {
			return err
		}
		r.rows = r.rows[:0]
		for i := from; i < min(from+column.VectorSize, part.to); i++ {
			if !r.u.hit.Get(i) {
				r.rows = append(r.rows, int32(i))
			}
		}
		if len(r.rows) == 0 {
			continue
		}
		for i, s := range r.u.slots {
			r.u.b.payload[i].gather(&r.vecs[i], len(r.rows), nil, r.rows)
			r.b.Cols[s] = &r.vecs[i]
		}
		r.b.N, r.b.Sel = len(r.rows), nil
		if err := r.next.push(&r.b); err != nil {
			return err
		}
	}
	return nil
}
