package cpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// resultStrings is how many bytes of strings make a batch that has no vector of rows yet.
const resultStrings = 1 << 20

// resultBytes is how many bytes of wide rows make one: a worker holds them until then.
const resultBytes = 4 << 20

// result is the sink that hands rows to the client.
type result struct {
	q     *schedule.Query
	p     *physical.Result
	types []types.Type
}

type resultLocal struct {
	r     *result
	rows  rowstore.Store
	slots []int
	cols  []*column.Vector
	seq   int
}

func (r *result) Local(w *task.Worker, l *pipeline.Layout) (pipeline.LocalSink, error) {
	x := &resultLocal{r: r, cols: make([]*column.Vector, len(r.p.In)), slots: make([]int, len(r.p.In))}
	x.rows.Types = r.types
	x.rows.Mem = memory.Account{Budget: r.q.Memory, Operator: r.q.Operator}
	for i, id := range r.p.In {
		s, err := l.Lookup(&expr.Column{ID: id, Name: "of the result"})
		if err != nil {
			return nil, err
		}
		x.slots[i] = s
	}
	return x, nil
}

func (x *resultLocal) Begin(seq int) { x.seq = seq }

func (x *resultLocal) Push(b *column.Batch) error {
	for i, s := range x.slots {
		x.cols[i] = b.Cols[s]
	}
	if b.Rows() <= rowstore.LooseRows || !rowstore.IsLoose(x.cols) {
		return x.keep(b.Sel, b.N)
	}
	x.rows.Expect = column.VectorSize
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	for from := 0; from < len(sel); from += rowstore.LooseRows {
		if err := x.keep(sel[from:min(from+rowstore.LooseRows, len(sel))], b.N); err != nil {
			return err
		}
	}
	return nil
}

// keep takes some rows of the batch that was pushed, and hands over what is enough for one.
func (x *resultLocal) keep(sel []int32, n int) error {
	if err := x.rows.Append(x.cols, sel, n); err != nil {
		return err
	}
	if x.rows.N >= column.VectorSize || x.rows.Strings.Bytes >= resultStrings || x.rows.Mem.Used() >= resultBytes {
		return x.flush()
	}
	return nil
}

func (x *resultLocal) End(seq int) error {
	if err := x.flush(); err != nil {
		return err
	}
	x.r.q.Out.Complete(seq)
	return nil
}

func (x *resultLocal) flush() error {
	total, n := x.rows.Mem.Used(), int64(len(x.rows.Segs))
	if err := x.rows.Mem.Leave(total); err != nil {
		return err
	}
	for i, seg := range x.rows.Segs {
		b := &column.Batch{N: seg.N, Cols: make([]*column.Vector, len(seg.Cols))}
		for c, v := range seg.Cols {
			b.Cols[c] = &column.Vector{}
			vec.Slice(b.Cols[c], v, 0, seg.N)
		}
		bytes := total / n
		if i == 0 {
			bytes += total % n
		}
		if err := x.r.q.Out.Put(x.seq, b, bytes); err != nil {
			return err
		}
	}
	x.rows.Segs, x.rows.N, x.rows.Strings = nil, 0, rowstore.Arena{}
	return nil
}

// Finish does nothing: rows are handed over as they come.
func (r *result) Finish() error { return nil }
