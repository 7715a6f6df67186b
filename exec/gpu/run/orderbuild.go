package run

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// orderBuild brings the rows of a build into order, and fills the tree over them if there is one.
func (q *Query) orderBuild(ctx context.Context, b *physical.Build, x *sorter) error {
	r := q.outputs.rows[b]
	if r.count > 1 {
		sorted, err := q.sorted(ctx, b, x, len(x.Columns), heldCounts{}, r.count, 0, -1)
		if err != nil {
			return err
		}
		err = q.permute(b, sorted.order)
		q.memory.free(sorted.memory)
		if err != nil {
			return err
		}
	}
	if x.Tree == "" {
		return nil
	}
	return q.fillTree(ctx, b, x)
}

// permute brings a build's rows into the order of their numbers. It gives the memory back where they lay.
func (q *Query) permute(b *physical.Build, order gpukernels.Ptr) error {
	r := q.outputs.rows[b]
	l := layout{what: "build side"}
	to := q.outputs.layRows(&l, b, r.count)
	var err error
	if to.memory, err = q.memory.lay(&l); err != nil {
		return err
	}
	to.count, to.all = r.count, r.all
	q.outputs.rows[b] = to
	defer q.memory.freeAll(r.memory)
	for i := range r.form.Cols {
		if err := q.memory.stream.Gather(to.data[i], r.data[i], order, int(r.form.Cols[i].Form.Class.Width()), r.count); err != nil {
			return err
		}
		if r.valid[i] == 0 {
			continue
		}
		if err := q.memory.stream.Gather(to.valid[i], r.valid[i], order, 1, r.count); err != nil {
			return err
		}
	}
	return nil
}

// fillTree fills the tree over a build's rows, which are in order.
func (q *Query) fillTree(ctx context.Context, b *physical.Build, x *sorter) error {
	m, err := q.kernels.orderPart(ctx, &x.tree, x.Tree)
	if err != nil {
		return err
	}
	r := q.outputs.rows[b]
	sizes := join.TreeLevels(r.count)
	words := int64(0)
	for _, n := range sizes {
		words += n
	}
	tree, err := q.memory.alloc("build side", 8*words)
	if err != nil {
		return err
	}
	r.memory = append(r.memory, tree)
	q.outputs.builds[b].arrays[q.program.Builds[b].TreeKey()] = &tree
	from, valid, n, to := r.data[x.Other], r.valid[x.Other], r.count, tree
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
		if err := q.memory.stream.Launch(f, blocks, q.runner.Device.Block(join.TreeThreads), 0, []uint64{uint64(from), uint64(valid), uint64(n), uint64(to)}); err != nil {
			return err
		}
		from, valid, n, to = to, 0, size, to+gpukernels.Ptr(8*size)
	}
	return nil
}
