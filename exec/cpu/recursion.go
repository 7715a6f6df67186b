package cpu

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// recursion is the sink of a Recursion. When the pipelines that fill it have run, finish runs its rounds: each forgets what the
// sinks of the one before held and runs the same pipelines anew.
type recursion struct {
	*materialize
	run  *execution
	p    *physical.Recursion
	work *workTable
	seen *grouptable.Table // of distinct rows, by the columns in by
	by   []int
	mem  memory.Account
	all  rowstore.Store
}

// workTable holds the rows of the last round.
type workTable struct{ rel *rowstore.Relation }

func (w *workTable) Relation() *rowstore.Relation { return w.rel }
func (w *workTable) Local(*task.Worker, *pipeline.Layout) (pipeline.LocalSink, error) {
	return nil, sqlerr.Bug("a pipeline ends in a work table")
}
func (w *workTable) Finish() error { return nil }

func (q *execution) newRecursion(p *physical.Recursion) *recursion {
	r := &recursion{
		materialize: &materialize{q: q.Query, p: &physical.Materialize{Cols: p.Cols}, locals: make([]*materializeLocal, q.Threads)},
		run:         q, p: p, work: &workTable{},
	}
	q.sinks[p.Work] = r.work
	ts := pipeline.ColumnTypes(p.Cols)
	r.all = rowstore.Store{Types: ts, Mem: memory.Account{Budget: q.Memory, Operator: "recursion"}}
	if p.Distinct {
		r.mem = memory.Account{Budget: q.Memory, Operator: "distinct rows of a recursion"}
		if r.by = p.By; r.by == nil {
			for i := range ts {
				r.by = append(r.by, i)
			}
		}
		keys := make([]types.Type, len(r.by))
		for i, c := range r.by {
			keys[i] = ts[c]
		}
		r.seen = grouptable.New(grouptable.AnyLayout(keys, nil))
	}
	return r
}

func (r *recursion) Finish() error {
	if err := r.materialize.Finish(); err != nil {
		return err
	}
	ids := r.rel.IDs
	rows, err := r.take(&r.rel)
	for round := int64(1); err == nil && rows.N > 0; round++ {
		if r.p.Enough != logical.NoLimit && int64(r.all.N) >= r.p.Enough {
			break
		}
		if most := r.q.IntegerVariable("cte_max_recursion_depth", 1000); round > most {
			return sqlerr.New(sqlerr.CodeRecursionLimit, sqlerr.User, "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value.", round)
		}
		r.work.rel = &rowstore.Relation{IDs: ids, Segs: rows.Segs, N: rows.N}
		last := rows
		rows, err = r.round()
		last.Mem.Close()
	}
	r.rel = rowstore.Relation{IDs: ids, Segs: r.all.Segs, N: r.all.N}
	r.work.rel = nil
	return err
}

// round runs the pipelines of one round and returns its new rows.
func (r *recursion) round() (*rowstore.Store, error) {
	q := r.run
	if err := q.Check(); err != nil {
		return nil, err
	}
	held := q.Memory.Used()
	for _, p := range r.p.Step {
		if b, ok := p.Sink.(*physical.Build); ok {
			delete(q.builds, b)
		}
		delete(q.sinks, p.Sink)
	}
	for i, p := range r.p.Step {
		last := !slices.ContainsFunc(r.p.Step[i+1:], func(x *physical.Pipeline) bool { return x.Sink == p.Sink })
		pl, err := q.prepare(p, last)
		if err != nil {
			return nil, err
		}
		pl.stats = nil // its costs are the recursion's
		q.shared.Progress.Begin(p.ID, false)
		if err := pl.Run(); err != nil {
			return nil, err
		}
		q.shared.Progress.End()
	}
	out := &q.sinks[r.p.Round].(*materialize).rel
	round := q.Memory.Used() - held
	rows, err := r.take(out)
	q.Memory.Release(round) // nothing outlives the round but what is copied
	return rows, err
}

// take adds rows, or those of them that are new, to all, and returns them, with a charge that the caller closes.
func (r *recursion) take(rel *rowstore.Relation) (*rowstore.Store, error) {
	next := &rowstore.Store{Types: r.all.Types, Mem: memory.Account{Budget: r.q.Memory, Operator: "recursion"}}
	var view column.Batch
	vecs := make([]column.Vector, len(r.all.Types))
	keys := make([]*column.Vector, len(r.by))
	groups := make([]uint32, column.VectorSize)
	fresh := make([]int32, 0, column.VectorSize)
	for _, seg := range rel.Segs {
		for from := 0; from < seg.N; from += column.VectorSize {
			if err := r.q.Check(); err != nil {
				return nil, err
			}
			n := min(column.VectorSize, seg.N-from)
			view.Cols = view.Cols[:0]
			for c := range vecs {
				vec.Slice(&vecs[c], seg.Cols[c], from, n)
				vecs[c].Loose = vecs[c].Str != nil // what counts them goes with the round
				view.Cols = append(view.Cols, &vecs[c])
			}
			sel := vec.Ascending(n)
			if r.seen != nil {
				known := uint32(r.seen.Count)
				for i, c := range r.by {
					keys[i] = view.Cols[c]
				}
				r.seen.Find(keys, nil, n, groups[:n])
				sel = fresh[:0]
				for i, g := range groups[:n] {
					if g == known {
						sel = append(sel, int32(i))
						known++
					}
				}
				if err := r.mem.Set(r.seen.Bytes()); err != nil {
					return nil, err
				}
				if len(sel) == 0 { // no selection would mean all
					continue
				}
			}
			at := r.all.N
			if err := r.all.Append(view.Cols, sel, n); err != nil {
				return nil, err
			}
			if err := next.Share(&r.all, at); err != nil {
				return nil, err
			}
		}
	}
	return next, nil
}
