package run

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// sorter orders the rows of a sink.
type sorter struct {
	*program.Order
	arrays []sortArrays // of each column
	parts  [sort.Parts]sortModule
	tree   sortModule
}

// sortModule is a part's kernels.
type sortModule struct {
	module *gpukernels.Module // nil: not loaded
	ready  chan struct{}      // closed when that is settled; nil: nobody asked yet
}

// ends returns what orders a sink's rows, if all pipelines that end there have been started; nil: nothing does.
func (q *Query) ends(s physical.Sink) *sorter {
	if !q.progress.finished(s) {
		return nil
	}
	return q.kernels.sorter(s)
}

// order orders the rows of a sink: of a Sort by their numbers, of a build in memory.
func (q *Query) order(ctx context.Context, s physical.Sink, x *sorter) error {
	switch s := s.(type) {
	case *physical.Sort:
		return q.sort(ctx, s, x)
	case *physical.Build:
		return q.orderBuild(ctx, s, x)
	}
	return nil
}

// sort orders the rows of a Sort, or finds the first of them.
func (q *Query) sort(ctx context.Context, s *physical.Sort, x *sorter) error {
	rows := q.outputs.most(s)
	if rows == 0 {
		return nil
	}
	var held heldCounts
	if q.progress.uncounted(s) {
		held = heldCounts{gpukernels.Ptr(q.outputs.heldCount(s)), gpukernels.Ptr(q.control.counter(kernel.CounterWord{Of: sortedCount{s}}))}
	}
	sorted, err := q.sorted(ctx, s, x, len(s.Keys), held, rows, s.Offset, s.Count)
	if err != nil {
		return err
	}
	r := q.outputs.rows[s]
	r.sorted, r.count = sorted, sorted.count
	return nil
}

// sorted returns the numbers of a sink's rows in order.
func (q *Query) sorted(ctx context.Context, s physical.Sink, x *sorter, keys int, held heldCounts, rows, first, count int64) (sortedRows, error) {
	r := q.outputs.rows[s]
	for i, k := range x.At {
		x.arrays[i].data, x.arrays[i].valid = r.data[k], r.valid[k]
		if x.Columns[i].Class == form.Code {
			words, err := q.inputs.dictionary(ctx, r.form.Cols[k].Form.Dict)
			if err != nil {
				return sortedRows{}, err
			}
			x.arrays[i].words = words
		}
	}
	load := func(part sort.Part) (*gpukernels.Module, error) {
		return q.kernels.orderPart(ctx, &x.parts[part], sort.Text(x.Columns, part))
	}
	env := sortEnv{func(bytes int64) (gpukernels.Ptr, error) { return q.memory.alloc("sorting", bytes) }, q.memory.free, q.runner.tuning.Sort.WaitRows, q.runner.tuning.Sort.RadixRows}
	return sortRows(ctx, q.memory.stream, load, env, x.Columns, keys, x.arrays, held, rows, first, count)
}

// sortedCount stands for the rows that a Sort keeps, among the things that are counted.
type sortedCount struct{ s *physical.Sort }
