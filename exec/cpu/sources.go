package cpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// relationScan reads a relation.
type relationScan struct {
	rel    *relation
	layout *layout
	ids    []expr.ColumnID
	slots  []int // by column read
	from   []int // the relation's column of each
	parts  []morsel
}

func newRelationScan(q *Query, l *layout, rel *relation, s *physical.SinkScan) (*relationScan, error) {
	r := &relationScan{rel: rel, layout: l}
	for i, c := range s.Cols {
		at := -1
		for k, id := range rel.ids {
			if id == s.Ins[i] {
				at = k
			}
		}
		if at < 0 {
			return nil, sqlerr.Bug("column %s (#%d) is not stored by the pipeline that it is read from", c, s.Ins[i])
		}
		r.ids = append(r.ids, c.ID)
		r.slots = append(r.slots, l.slot(c.ID))
		r.from = append(r.from, at)
	}
	if rel.order != nil {
		r.parts = cutMorsels(nil, 0, len(rel.order), q.Tuning.MorselRows)
		return r, nil
	}
	for i, seg := range rel.segs {
		r.parts = cutMorsels(r.parts, i, seg.n, q.Tuning.MorselRows)
	}
	return r, nil
}

func (r *relationScan) morsels() int { return len(r.parts) }
func (r *relationScan) rows() int    { return r.rel.n }

func (r *relationScan) open(w *Worker, next op) (reader, error) {
	x := &relationReader{w: w, r: r, next: next, vectors: make([]column.Vector, len(r.slots))}
	x.b.Cols = make([]*column.Vector, len(r.layout.slots))
	return x, nil
}

type relationReader struct {
	w       *Worker
	r       *relationScan
	next    op
	vectors []column.Vector
	b       batch
}

func (x *relationReader) read(morsel int) error {
	part := x.r.parts[morsel]
	rel := x.r.rel
	for from := part.from; from < part.to; from += column.VectorSize {
		if err := x.w.Check(); err != nil {
			return err
		}
		n := min(column.VectorSize, part.to-from)
		for i, c := range x.r.from {
			v := &x.vectors[i]
			if rel.order != nil {
				rel.cols[c].gather(v, n, nil, rel.order[from:from+n])
			} else {
				slice(v, rel.segs[part.group].cols[c], from, n)
			}
			x.b.Cols[x.r.slots[i]] = v
		}
		x.b.N, x.b.Sel = n, nil
		if rel.order != nil && x.r.layout.numbered {
			x.b.FirstRow = int64(from) + 1
		}
		if err := x.next.push(&x.b); err != nil {
			return err
		}
	}
	return nil
}

// valuesScan gives rows of expressions without columns.
type valuesScan struct {
	scan   *physical.ValuesScan
	layout *layout
	slots  []int
	size   int // rows of a morsel
}

func newValuesScan(q *Query, l *layout, s *physical.ValuesScan) *valuesScan {
	v := &valuesScan{scan: s, layout: l, size: q.Tuning.MorselRows}
	for _, c := range s.Cols {
		v.slots = append(v.slots, l.slot(c.ID))
	}
	return v
}

func (v *valuesScan) morsels() int { return (len(v.scan.Rows) + v.size - 1) / v.size }
func (v *valuesScan) rows() int    { return len(v.scan.Rows) }

func (v *valuesScan) open(w *Worker, next op) (reader, error) {
	return &valuesReader{w: w, v: v, next: next}, nil
}

type valuesReader struct {
	w    *Worker
	v    *valuesScan
	next op
}

func (x *valuesReader) read(morsel int) error {
	rows := x.v.scan.Rows
	end := min((morsel+1)*x.v.size, len(rows))
	one := batch{N: 1}
	for from := morsel * x.v.size; from < end; from += column.VectorSize {
		if err := x.w.Check(); err != nil {
			return err
		}
		n := min(column.VectorSize, end-from)
		b := batch{N: n, Cols: make([]*column.Vector, len(x.v.layout.slots))}
		if x.v.layout.numbered {
			b.FirstRow = x.v.scan.First + int64(from) + 1
		}
		for c, col := range x.v.scan.Cols {
			v := column.New(col.Typ, n)
			for i, row := range rows[from : from+n] {
				if one.FirstRow = b.FirstRow; b.FirstRow > 0 {
					one.FirstRow += int64(i)
				}
				value, err := x.value(row[c], &one)
				if err != nil {
					return err
				}
				if !value.Null && value.Type.Phys() != col.Typ.Phys() {
					return sqlerr.Bug("a value of type %s in a column of type %s", value.Type, col.Typ)
				}
				v.Set(i, n, value)
			}
			b.Cols[x.v.slots[c]] = v
		}
		if err := x.next.push(&b); err != nil {
			return err
		}
	}
	return nil
}

func (x *valuesReader) value(e expr.Expr, one *batch) (types.Value, error) {
	if c, ok := e.(*expr.Const); ok {
		return c.Value, nil
	}
	p, err := expr.Compile(e, nil)
	if err != nil {
		return types.Value{}, err
	}
	v, err := p.Eval(x.w.Expr, one)
	if err != nil {
		return types.Value{}, err
	}
	return v.Value(0), nil
}
