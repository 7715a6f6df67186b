package run

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/load"
	"github.com/radish-sql/radish/exec/gpu/rowsort"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// ends returns what orders a sink's rows, if all pipelines that end there have been started; nil: nothing does.
func (q *Query) ends(s physical.Sink) *load.Sorter {
	if !q.progress.finished(s) {
		return nil
	}
	return q.kernels.Sorter(s)
}

// Skip notes that a pipeline does not run at this place: its sink is complete as far as the place is concerned, and is brought into order if pipelines have filled it that do.
func (q *Query) Skip(ctx context.Context, p *physical.Pipeline) error {
	q.progress.done[p] = true
	order := q.ends(p.Sink)
	if order == nil || q.outputs.rows[p.Sink] == nil {
		return nil
	}
	if !q.sortsHeld(p.Sink) {
		if err := q.Settle(ctx); err != nil {
			return err
		}
	}
	return q.order(ctx, p.Sink, order)
}

// order orders the rows of a sink: of a Sort by their numbers, of a build in memory.
func (q *Query) order(ctx context.Context, s physical.Sink, x *load.Sorter) error {
	switch s := s.(type) {
	case *physical.Sort:
		return q.sort(ctx, s, x)
	case *physical.Build:
		return q.orderBuild(ctx, s, x)
	}
	return nil
}

// sort orders the rows of a Sort, or finds the first of them.
func (q *Query) sort(ctx context.Context, s *physical.Sort, x *load.Sorter) error {
	rows := q.outputs.most(s)
	if rows == 0 {
		return nil
	}
	in := rowsort.Input{Keys: len(s.Keys), Rows: rows, First: s.Offset, Count: s.Count}
	if q.progress.uncounted(s) {
		in.Held = rowsort.Held{Rows: gpukernels.Ptr(q.outputs.heldCount(s)), Kept: gpukernels.Ptr(q.control.Counter(kernel.CounterWord{Of: sortedCount{s}}))}
	}
	sorted, err := q.sorted(ctx, s, x, in)
	if err != nil {
		return err
	}
	r := q.outputs.rows[s]
	r.sorted, r.count = sorted, sorted.Count
	return nil
}

// sorted returns the numbers of a sink's rows in order.
func (q *Query) sorted(ctx context.Context, s physical.Sink, x *load.Sorter, in rowsort.Input) (rowsort.Order, error) {
	r := q.outputs.rows[s]
	for i, k := range x.At {
		x.Arrays[i].Data, x.Arrays[i].Valid = r.data[k], r.valid[k]
		if x.Columns[i].Class == form.Code {
			words, err := q.inputs.dictionary(ctx, r.form.Cols[k].Form.Dict)
			if err != nil {
				return rowsort.Order{}, err
			}
			x.Arrays[i].Words = words
		}
	}
	in.Columns, in.Arrays = x.Columns, x.Arrays
	return rowsort.Rows(ctx, &rowsort.Env{
		Stream: q.memory.Stream,
		Load: func(step sort.Step) (rowsort.Kernels, error) {
			return q.kernels.Step(ctx, x, step)
		},
		Alloc:  func(bytes int64) (gpukernels.Ptr, error) { return q.memory.Alloc("sorting", bytes) },
		Free:   q.memory.Free,
		Tuning: q.runner.tuning.Sort,
	}, &in)
}

// orderBuild brings the rows of a build into order, and fills the tree over them if there is one.
func (q *Query) orderBuild(ctx context.Context, b *physical.Build, x *load.Sorter) error {
	if err := q.arrange(ctx, b, x); err != nil {
		return err
	}
	if x.Then == "" {
		return nil
	}
	return q.fillTree(ctx, b, x)
}

// arrange brings a sink's rows into order in memory.
func (q *Query) arrange(ctx context.Context, s physical.Sink, x *load.Sorter) error {
	r := q.outputs.rows[s]
	if r.count < 2 {
		return nil
	}
	sorted, err := q.sorted(ctx, s, x, rowsort.Input{Keys: len(x.Columns), Rows: r.count, Count: -1})
	if err != nil {
		return err
	}
	err = q.permute(s, sorted.Numbers)
	q.memory.Free(sorted.Memory)
	return err
}

// permute brings a sink's rows into the order of their numbers. It gives the memory back where they lay.
func (q *Query) permute(s physical.Sink, order gpukernels.Ptr) error {
	r := q.outputs.rows[s]
	l := devicemem.Layout{What: "rows in order"}
	to := q.outputs.layRows(&l, s, r.count)
	var err error
	if to.memory, err = q.memory.Lay(&l); err != nil {
		return err
	}
	to.count, to.isBounded = r.count, r.isBounded
	q.outputs.rows[s] = to
	defer q.memory.FreeAll(r.memory)
	for i := range r.form.Cols {
		if err := q.memory.Stream.Gather(to.data[i], r.data[i], order, int(r.form.Cols[i].Form.Class.Width()), r.count); err != nil {
			return err
		}
		if r.valid[i] == 0 {
			continue
		}
		if err := q.memory.Stream.Gather(to.valid[i], r.valid[i], order, 1, r.count); err != nil {
			return err
		}
	}
	return nil
}

// fillTree fills the tree over a build's rows, which are in order.
func (q *Query) fillTree(ctx context.Context, b *physical.Build, x *load.Sorter) error {
	m, err := q.kernels.Then(ctx, x)
	if err != nil {
		return err
	}
	r := q.outputs.rows[b]
	sizes := join.TreeLevels(r.count)
	words := int64(0)
	for _, n := range sizes {
		words += n
	}
	tree, err := q.memory.Alloc("build side", 8*words)
	if err != nil {
		return err
	}
	r.memory = append(r.memory, tree)
	q.outputs.builds[b].arrays[q.program.Builds[b].TreeKey()] = &tree
	from, valid, n, to := r.data[x.ThenOf], r.valid[x.ThenOf], r.count, tree
	for i, size := range sizes {
		name := "level"
		if i == 0 {
			name = "words"
		}
		f, err := m.Function(name)
		if err != nil {
			return err
		}
		blocks := max(min((size+join.TreeThreads-1)/join.TreeThreads, int64(q.runner.Device.Info().Multiprocessors)*8), 1)
		if err := q.memory.Stream.Launch(f, blocks, q.runner.Device.Block(join.TreeThreads), 0, []uint64{uint64(from), uint64(valid), uint64(n), uint64(to)}); err != nil {
			return err
		}
		from, valid, n, to = to, 0, size, to+gpukernels.Ptr(8*size)
	}
	return nil
}
