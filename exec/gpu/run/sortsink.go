package run

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// sorter orders the rows of a Sort.
type sorter struct {
	columns []sort.Column
	arrays  []sortArrays // of each
	at      []int        // the stored column of each
	parts   [sort.Parts]sortModule
}

// sortModule is a part's kernels.
type sortModule struct {
	module *gpukernels.Module // nil: not loaded
	ready  chan struct{}      // closed when that is settled; nil: nobody asked yet
}

// sort orders the rows of a Sort, or finds the first of them.
func (q *Query) sort(ctx context.Context, s *physical.Sort) error {
	r := q.rowsOf[s]
	rows := q.most(s)
	if rows == 0 {
		return nil
	}
	var held heldCounts
	if q.uncounted(s) {
		held = heldCounts{gpukernels.Ptr(q.held(s)), gpukernels.Ptr(q.counter(kernel.CounterWord{Of: sortedCount{s}}))}
	}
	x := q.sorter(s)
	for i, k := range x.at {
		x.arrays[i].data, x.arrays[i].valid = r.data[k], r.valid[k]
		if x.columns[i].Class == form.Code {
			words, err := q.words(ctx, r.form.Cols[k].Form.Dict)
			if err != nil {
				return err
			}
			x.arrays[i].words = words
		}
	}
	load := func(part sort.Part) (*gpukernels.Module, error) { return q.sortPart(ctx, x, part) }
	env := sortEnv{func(bytes int64) (gpukernels.Ptr, error) { return q.alloc("sorting", bytes) }, q.free, q.tuning.SortWaitRows, q.tuning.SortRadixRows}
	sorted, err := sortRows(ctx, q.stream, load, env, x.columns, len(s.Keys), x.arrays, held, rows, s.Offset, s.Count)
	if err != nil {
		return err
	}
	r.sorted, r.count = sorted, sorted.count
	return nil
}

// sortedCount stands for the rows that a Sort keeps, among the things that are counted.
type sortedCount struct{ s *physical.Sort }

// sorter returns what orders the rows of a Sort.
func (q *Query) sorter(s *physical.Sort) *sorter {
	x := q.sorters[s]
	if x == nil {
		x = &sorter{}
		x.columns, x.at = sort.Shape(q.Pipelines, s)
		x.arrays = make([]sortArrays, len(x.columns))
		q.sorters[s] = x
	}
	return x
}

// sortPart returns some of the kernels that order rows, loaded.
func (q *Query) sortPart(ctx context.Context, x *sorter, part sort.Part) (*gpukernels.Module, error) {
	m := &x.parts[part]
	if m.ready != nil {
		<-m.ready
	}
	if m.module == nil {
		var err error
		if m.module, _, err = q.Device.Load(ctx, sort.Text(x.columns, part)); err != nil {
			return nil, err
		}
	}
	return m.module, nil
}

// missingSorts adds the kernels that order rows, which are compiled beside the plan's other kernels: those that as many rows as are expected need. An error
// shows when they are asked for.
func (q *Query) missingSorts(missing []load) []load {
	for s := range q.Sinks {
		p, ok := s.(*physical.Sort)
		if !ok || !sort.IsHere(q.Pipelines, p) {
			continue
		}
		x := q.sorter(p)
		for part := range sort.Parts {
			if !sort.Expects(q.Pipelines, p, part) {
				continue
			}
			m, text := &x.parts[part], sort.Text(x.columns, part)
			m.ready = make(chan struct{})
			if m.module = q.Device.Loaded(text); m.module != nil {
				close(m.ready)
				continue
			}
			missing = append(missing, load{text, func(module *gpukernels.Module, _ gpukernels.Origin, err error) {
				defer close(m.ready)
				if err == nil {
					m.module = module
				}
			}})
		}
	}
	return missing
}
