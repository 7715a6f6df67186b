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
	if !q.Finished(s) {
		return nil
	}
	return q.sorter(s)
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
	rows := q.most(s)
	if rows == 0 {
		return nil
	}
	var held heldCounts
	if q.uncounted(s) {
		held = heldCounts{gpukernels.Ptr(q.held(s)), gpukernels.Ptr(q.counter(kernel.CounterWord{Of: sortedCount{s}}))}
	}
	sorted, err := q.sorted(ctx, s, x, len(s.Keys), held, rows, s.Offset, s.Count)
	if err != nil {
		return err
	}
	r := q.rowsOf[s]
	r.sorted, r.count = sorted, sorted.count
	return nil
}

// sorted returns the numbers of a sink's rows in order.
func (q *Query) sorted(ctx context.Context, s physical.Sink, x *sorter, keys int, held heldCounts, rows, first, count int64) (sortedRows, error) {
	r := q.rowsOf[s]
	for i, k := range x.At {
		x.arrays[i].data, x.arrays[i].valid = r.data[k], r.valid[k]
		if x.Columns[i].Class == form.Code {
			words, err := q.words(ctx, r.form.Cols[k].Form.Dict)
			if err != nil {
				return sortedRows{}, err
			}
			x.arrays[i].words = words
		}
	}
	load := func(part sort.Part) (*gpukernels.Module, error) {
		return q.orderPart(ctx, &x.parts[part], sort.Text(x.Columns, part))
	}
	env := sortEnv{func(bytes int64) (gpukernels.Ptr, error) { return q.alloc("sorting", bytes) }, q.free, q.tuning.Sort.WaitRows, q.tuning.Sort.RadixRows}
	return sortRows(ctx, q.stream, load, env, x.Columns, keys, x.arrays, held, rows, first, count)
}

// sortedCount stands for the rows that a Sort keeps, among the things that are counted.
type sortedCount struct{ s *physical.Sort }

// sorter returns what orders the rows of a sink; nil: they stay as they come.
func (q *Query) sorter(s physical.Sink) *sorter {
	x, known := q.sorters[s]
	if !known {
		if order := q.Program.Order(s); order != nil {
			x = &sorter{Order: order, arrays: make([]sortArrays, len(order.Columns))}
		}
		q.sorters[s] = x
	}
	return x
}

// orderPart returns some of the kernels that order rows, loaded.
func (q *Query) orderPart(ctx context.Context, m *sortModule, text string) (*gpukernels.Module, error) {
	if m.ready != nil {
		<-m.ready
	}
	if m.module == nil {
		var err error
		if m.module, _, err = q.Device.Load(ctx, text); err != nil {
			return nil, err
		}
	}
	return m.module, nil
}

// missingSorts adds the kernels that order rows, which are compiled beside the plan's other kernels: those that as many rows as are expected need. An error
// shows when they are asked for.
func (q *Query) missingSorts(missing []load) []load {
	add := func(m *sortModule, text string) {
		m.ready = make(chan struct{})
		if m.module = q.Device.Loaded(text); m.module != nil {
			close(m.ready)
			return
		}
		missing = append(missing, load{text, func(module *gpukernels.Module, _ gpukernels.Origin, err error) {
			defer close(m.ready)
			if err == nil {
				m.module = module
			}
		}})
	}
	for s := range q.Sinks {
		x := q.sorter(s)
		if x == nil {
			continue
		}
		for part := range sort.Parts {
			if x.Needs(part) {
				add(&x.parts[part], sort.Text(x.Columns, part))
			}
		}
		if x.Tree != "" {
			add(&x.tree, x.Tree)
		}
	}
	return missing
}
