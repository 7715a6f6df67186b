package scan

import (
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Stored reads a relation.
type Stored struct {
	Rel    *rowstore.Relation
	layout *pipeline.Layout
	ids    []expr.ColumnID
	slots  []int // by column read
	from   []int // the relation's column of each
	parts  []pipeline.Morsel
	later  atomic.Int64 // rows of rel.Later that have been read
}

func NewStored(q *task.Query, l *pipeline.Layout, rel *rowstore.Relation, s *physical.SinkScan) (*Stored, error) {
	r := &Stored{Rel: rel, layout: l}
	for i, c := range s.Cols {
		at := -1
		for k, id := range rel.IDs {
			if id == s.Ins[i] {
				at = k
			}
		}
		if at < 0 {
			return nil, sqlerr.Bug("column %s (#%d) is not stored by the pipeline that it is read from", c, s.Ins[i])
		}
		r.ids = append(r.ids, c.ID)
		r.slots = append(r.slots, l.Slot(c.ID))
		r.from = append(r.from, at)
	}
	if rel.Later != nil {
		return r, nil
	}
	if rel.Order != nil {
		r.parts = pipeline.CutMorsels(nil, 0, len(rel.Order), q.Tuning.MorselRows)
		return r, nil
	}
	for i, seg := range rel.Segs {
		r.parts = pipeline.CutMorsels(r.parts, i, seg.N, q.Tuning.MorselRows)
	}
	return r, nil
}

func (r *Stored) Morsels() int {
	if r.Rel.Later != nil {
		return r.Rel.Later.Parts()
	}
	return len(r.parts)
}

func (r *Stored) Rows() int { return r.Rel.N }

// RowsRead returns how many rows there were, once they have been read.
func (r *Stored) RowsRead() int64 {
	if r.Rel.Later != nil {
		return r.later.Load()
	}
	return int64(r.Rel.N)
}

func (r *Stored) Open(w *task.Worker, next pipeline.Op) (pipeline.Reader, error) {
	x := &relationReader{w: w, r: r, next: next, vectors: make([]column.Vector, len(r.slots))}
	x.b.Cols = make([]*column.Vector, len(r.layout.Slots))
	return x, nil
}

type relationReader struct {
	w       *task.Worker
	r       *Stored
	next    pipeline.Op
	vectors []column.Vector
	b       column.Batch
}

func (x *relationReader) Read(morsel int) error {
	if later := x.r.Rel.Later; later != nil {
		return later.Read(morsel, x.push)
	}
	part := x.r.parts[morsel]
	rel := x.r.Rel
	return x.rows(part.From, part.To, func(v *column.Vector, c, from, n int) {
		if rel.Order != nil {
			rel.Cols[c].Gather(v, n, nil, rel.Order[from:from+n])
		} else {
			vec.Slice(v, rel.Segs[part.Group].Cols[c], from, n)
		}
	})
}

// push pushes the rows of a segment that goes when it returns, with what counts its strings.
func (x *relationReader) push(seg *rowstore.Segment) error {
	err := x.rows(0, seg.N, func(v *column.Vector, c, from, n int) {
		vec.Slice(v, seg.Cols[c], from, n)
		v.Loose = v.Str != nil
	})
	if err == nil {
		x.r.later.Add(int64(seg.N))
	}
	return err
}

// rows pushes rows of the relation, a vector of each column at a time: load makes v of column c's rows from .. from+n-1.
func (x *relationReader) rows(from, to int, load func(v *column.Vector, c, from, n int)) error {
	for ; from < to; from += column.VectorSize {
		if err := x.w.Check(); err != nil {
			return err
		}
		n := min(column.VectorSize, to-from)
		for i, c := range x.r.from {
			v := &x.vectors[i]
			load(v, c, from, n)
			x.b.Cols[x.r.slots[i]] = v
		}
		x.b.N, x.b.Sel = n, nil
		if x.r.Rel.Order != nil && x.r.layout.Numbered {
			x.b.FirstRow = int64(from) + 1
		}
		if err := x.next.Push(&x.b); err != nil {
			return err
		}
	}
	return nil
}

// valuesScan gives rows of expressions without columns.
type valuesScan struct {
	scan   *physical.ValuesScan
	layout *pipeline.Layout
	slots  []int
	size   int // rows of a morsel
}

func NewValues(q *task.Query, l *pipeline.Layout, s *physical.ValuesScan) *valuesScan {
	v := &valuesScan{scan: s, layout: l, size: q.Tuning.MorselRows}
	for _, c := range s.Cols {
		v.slots = append(v.slots, l.Slot(c.ID))
	}
	return v
}

func (v *valuesScan) Morsels() int { return (len(v.scan.Rows) + v.size - 1) / v.size }
func (v *valuesScan) Rows() int    { return len(v.scan.Rows) }

func (v *valuesScan) Open(w *task.Worker, next pipeline.Op) (pipeline.Reader, error) {
	return &valuesReader{w: w, v: v, next: next}, nil
}

type valuesReader struct {
	w    *task.Worker
	v    *valuesScan
	next pipeline.Op
}

func (x *valuesReader) Read(morsel int) error {
	rows := x.v.scan.Rows
	end := min((morsel+1)*x.v.size, len(rows))
	one := column.Batch{N: 1}
	for from := morsel * x.v.size; from < end; from += column.VectorSize {
		if err := x.w.Check(); err != nil {
			return err
		}
		n := min(column.VectorSize, end-from)
		b := column.Batch{N: n, Cols: make([]*column.Vector, len(x.v.layout.Slots))}
		if x.v.layout.Numbered {
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
		if err := x.next.Push(&b); err != nil {
			return err
		}
	}
	return nil
}

func (x *valuesReader) value(e expr.Expr, one *column.Batch) (types.Value, error) {
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
