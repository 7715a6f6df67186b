package cpu

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// filterOp keeps the rows for which all conditions are TRUE.
type filterOp struct {
	w     *task.Worker
	preds []*expr.Program
	sel   [2][]int32
	next  pipeline.Op
}

func newFilter(w *task.Worker, l *pipeline.Layout, preds []expr.Expr, next pipeline.Op) (pipeline.Op, error) {
	f := &filterOp{w: w, next: next}
	for _, e := range preds {
		p, err := expr.Compile(e, l.Slots)
		if err != nil {
			return nil, err
		}
		f.preds = append(f.preds, p)
	}
	return f, nil
}

func (f *filterOp) Push(b *column.Batch) error {
	for i, p := range f.preds {
		out := &f.sel[i&1]
		sel, err := p.Select(f.w.Expr, b, (*out)[:0])
		if err != nil {
			return err
		}
		*out = sel
		if len(sel) == 0 {
			return nil
		}
		b.Sel = sel
	}
	return f.next.Push(b)
}

// projectOp adds computed columns.
type projectOp struct {
	w     *task.Worker
	set   *expr.ProgramSet
	slots []int    // of the results of set
	alias [][2]int // slot, slot it repeats
	next  pipeline.Op
}

func newProject(w *task.Worker, l *pipeline.Layout, p *physical.Project, next pipeline.Op) (pipeline.Op, error) {
	o := &projectOp{w: w, next: next}
	var es []expr.Expr
	for _, it := range p.Items {
		if c, ok := it.Expr.(*expr.Column); ok {
			from, err := l.Lookup(c)
			if err != nil {
				return nil, err
			}
			if to := l.Slots[it.Col.ID]; to != from {
				o.alias = append(o.alias, [2]int{to, from})
			}
			continue
		}
		es = append(es, it.Expr)
		o.slots = append(o.slots, l.Slots[it.Col.ID])
	}
	if len(es) == 0 {
		if len(o.alias) == 0 {
			return next, nil
		}
		return o, nil
	}
	var err error
	o.set, err = expr.CompileAll(es, l.Slots)
	return o, err
}

func (o *projectOp) Push(b *column.Batch) error {
	if o.set != nil {
		out, err := o.set.Eval(o.w.Expr, b)
		if err != nil {
			return err
		}
		for i, v := range out {
			b.Cols[o.slots[i]] = v
		}
	}
	for _, a := range o.alias {
		b.Cols[a[0]] = b.Cols[a[1]]
	}
	return o.next.Push(b)
}

// noter notes which of its rows have matched.
type noter interface {
	// CutShort says that not all rows that match will be noted, as no more rows are asked for.
	CutShort()
}

// limitState is the counters of a LIMIT; its pipeline is serial.
type limitState struct {
	skip, left int64
	noting     []noter // before the limit
}

// enough ends the pipeline. Rows that would have matched may not be noted then; the limit counts those without a match too, and needs none.
func (s *limitState) enough() error {
	for _, b := range s.noting {
		b.CutShort()
	}
	return schedule.ErrStop
}

// limitOp passes rows until the limit is reached and then stops its pipeline.
type limitOp struct {
	state *limitState
	next  pipeline.Op
}

func (o *limitOp) Push(b *column.Batch) error {
	s := o.state
	if s.left == 0 {
		return s.enough()
	}
	rows := int64(b.Rows())
	if s.skip >= rows {
		s.skip -= rows
		return nil
	}
	end := rows
	if s.left >= 0 && s.left < rows-s.skip {
		end = s.skip + s.left
	}
	if s.skip > 0 || end < rows {
		sel := b.Sel
		if sel == nil {
			sel = vec.Ascending(b.N)
		}
		b.Sel = sel[s.skip:end:end]
	}
	passed := end - s.skip
	s.skip = 0
	if s.left >= 0 {
		s.left -= passed
	}
	if err := o.next.Push(b); err != nil {
		return err
	}
	if s.left == 0 {
		return s.enough()
	}
	return nil
}

// repeatOp gives each row as many times as its count says.
type repeatOp struct {
	w     *task.Worker
	count *expr.Program
	carry []int
	late  func(b *column.Batch, sel []int32) error // see stage; nil: nothing is loaded here
	out   column.Batch
	vecs  []column.Vector
	rows  []int32
	next  pipeline.Op
}

func newRepeat(w *task.Worker, t *physical.Repeat, at pipeline.Stage) (pipeline.Op, error) {
	l := at.Layout
	p, err := expr.Compile(t.Count, l.Slots)
	if err != nil {
		return nil, err
	}
	o := &repeatOp{w: w, count: p, carry: at.Carried(), late: at.Late, next: at.Next}
	o.out.Cols = make([]*column.Vector, len(l.Slots))
	o.vecs = make([]column.Vector, len(l.Slots))
	return o, nil
}

func (o *repeatOp) Push(b *column.Batch) error {
	counts, err := o.count.Eval(o.w.Expr, b)
	if err != nil {
		return err
	}
	if o.late != nil {
		if err := o.late(b, b.Sel); err != nil {
			return err
		}
	}
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	for _, p := range sel {
		if counts.IsNull(int(p)) {
			return sqlerr.Bug("the count of a repeated row is NULL")
		}
		at := p
		if counts.Const {
			at = 0
		}
		for n := counts.I64[at]; n > 0; {
			k := min(n, int64(column.VectorSize-len(o.rows)), math.MaxInt32)
			for range k {
				o.rows = append(o.rows, p)
			}
			n -= k
			if len(o.rows) == column.VectorSize {
				if err := o.flush(b); err != nil {
					return err
				}
			}
		}
	}
	return o.flush(b)
}

func (o *repeatOp) flush(b *column.Batch) error {
	if len(o.rows) == 0 {
		return nil
	}
	if err := o.w.Check(); err != nil {
		return err
	}
	for _, s := range o.carry {
		if b.Cols[s] == nil {
			continue
		}
		vec.GatherVector(&o.vecs[s], b.Cols[s], o.rows)
		o.out.Cols[s] = &o.vecs[s]
	}
	o.out.N, o.out.Sel = len(o.rows), nil
	o.rows = o.rows[:0]
	return o.next.Push(&o.out)
}
