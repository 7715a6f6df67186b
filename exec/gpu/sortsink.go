package gpu

import (
	"context"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// sortShape lists what orders the rows of a Sort, without addresses, and the stored column of each: the keys, then what else is kept, so that
// rows which agree in all keys come in the same order in two runs.
func (g *program) sortShape(s *physical.Sort) (cols []sortColumn, at []int) {
	form := g.sinks[s]
	add := func(i int, desc bool) {
		c := form.cols[i].like
		cols = append(cols, sortColumn{class: c.class, unsigned: c.typ.Phys() == types.PhysUint64, nullable: c.null != "", desc: desc})
		at = append(at, i)
	}
	keys := map[expr.ColumnID]bool{}
	for i, key := range s.Keys {
		if c, ok := key.Expr.(*expr.Column); ok {
			keys[c.ID] = true
		}
		add(len(s.Cols)+i, key.Desc)
	}
	for i, c := range s.Cols {
		if !keys[c.ID] {
			add(i, false)
		}
	}
	return cols, at
}

// sorter orders the rows of a Sort.
type sorter struct {
	columns []sortColumn
	at      []int              // the stored column of each
	module  *gpukernels.Module // nil: not loaded
	ready   chan struct{}      // closed when that is settled
}

// sort orders the rows of a Sort, or finds the first of them.
func (q *query) sort(ctx context.Context, s *physical.Sort) error {
	r := q.rowsOf[s]
	rows := q.most(s)
	if rows == 0 {
		return nil
	}
	var held heldCounts
	if q.uncounted(s) {
		held = heldCounts{gpukernels.Ptr(q.held(s)), gpukernels.Ptr(q.counter(counterWord{of: sortedCount{s}}))}
	}
	x, err := q.sorter(ctx, s)
	if err != nil {
		return err
	}
	for i, k := range x.at {
		x.columns[i].data, x.columns[i].valid = r.data[k], r.valid[k]
		if x.columns[i].class == classCode {
			words, err := q.words(ctx, r.form.cols[k].dictionaryOf())
			if err != nil {
				return err
			}
			x.columns[i].words = words
		}
	}
	sorted, err := sortRows(ctx, q.stream, x.module, q.take, x.columns, held, rows, s.Offset, s.Count)
	if sorted.memory != 0 {
		q.memory[sorted.memory] = 0
	}
	if err != nil {
		return err
	}
	r.sorted, r.count = sorted, sorted.count
	return nil
}

// sortedCount stands for the rows that a Sort keeps, among the things that are counted.
type sortedCount struct{ s *physical.Sort }

// sorter returns what orders the rows of a Sort, its kernels loaded.
func (q *query) sorter(ctx context.Context, s *physical.Sort) (*sorter, error) {
	x := q.sorters[s]
	if x == nil {
		x = &sorter{ready: make(chan struct{})}
		x.columns, x.at = q.sortShape(s)
		q.sorters[s] = x
		close(x.ready)
	}
	<-x.ready
	if x.module == nil {
		var err error
		if x.module, _, err = q.device.Load(ctx, sortText(x.columns)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// compileSorts begins to compile the kernels that order rows, beside the plan's other kernels. An error shows when they are asked for.
func (q *query) compileSorts(ctx context.Context) {
	for s, form := range q.sinks {
		p, ok := s.(*physical.Sort)
		if !ok || q.host(s) || len(form.cols) < len(p.Cols)+len(p.Keys) {
			continue
		}
		x := &sorter{ready: make(chan struct{})}
		x.columns, x.at = q.sortShape(p)
		q.sorters[p] = x
		text := sortText(x.columns)
		if x.module = q.device.Loaded(text); x.module != nil {
			close(x.ready)
			continue
		}
		q.loading.Go(func() {
			defer close(x.ready)
			if m, _, err := q.device.Load(ctx, text); err == nil {
				x.module = m
			}
		})
	}
}
