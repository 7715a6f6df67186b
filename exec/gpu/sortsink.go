package gpu

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/form"
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
		cols = append(cols, sortColumn{class: c.Class, unsigned: c.Typ.Phys() == types.PhysUint64, nullable: c.Null != "", desc: desc})
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
	at      []int // the stored column of each
	parts   [sortParts]sortModule
}

// sortModule is a part's kernels.
type sortModule struct {
	module *gpukernels.Module // nil: not loaded
	ready  chan struct{}      // closed when that is settled; nil: nobody asked yet
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
	x := q.sorter(s)
	for i, k := range x.at {
		x.columns[i].data, x.columns[i].valid = r.data[k], r.valid[k]
		if x.columns[i].class == form.Code {
			words, err := q.words(ctx, r.form.cols[k].dictionaryOf())
			if err != nil {
				return err
			}
			x.columns[i].words = words
		}
	}
	sorted, err := sortRows(ctx, q.stream, func(part sortPart) (*gpukernels.Module, error) { return q.sortPart(ctx, x, part) }, sortMemory{q.take, q.give}, x.columns, held, rows, s.Offset, s.Count)
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

// sorter returns what orders the rows of a Sort.
func (q *query) sorter(s *physical.Sort) *sorter {
	x := q.sorters[s]
	if x == nil {
		x = &sorter{}
		x.columns, x.at = q.sortShape(s)
		q.sorters[s] = x
	}
	return x
}

// sortPart returns a part of what orders rows, loaded.
func (q *query) sortPart(ctx context.Context, x *sorter, part sortPart) (*gpukernels.Module, error) {
	m := &x.parts[part]
	if m.ready != nil {
		<-m.ready
	}
	if m.module == nil {
		var err error
		if m.module, _, err = q.device.Load(ctx, sortText(x.columns, part)); err != nil {
			return nil, err
		}
	}
	return m.module, nil
}

// missingSorts adds the kernels that order rows, which are compiled beside the plan's other kernels: those that as many rows as are expected need. An error
// shows when they are asked for.
func (q *query) missingSorts(missing []load) []load {
	for s := range q.sinks {
		p, ok := s.(*physical.Sort)
		if !ok || q.host(s) || !q.sorts(p) {
			continue
		}
		x := q.sorter(p)
		for part := range sortParts {
			if !q.expects(p, part) {
				continue
			}
			m, text := &x.parts[part], sortText(x.columns, part)
			m.ready = make(chan struct{})
			if m.module = q.device.Loaded(text); m.module != nil {
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

// sorts says whether the rows of a Sort are ordered on the device, since what orders them is stored there.
func (g *program) sorts(s *physical.Sort) bool {
	form := g.sinks[s]
	return form != nil && len(form.cols) >= len(s.Cols)+len(s.Keys)
}

// expects says whether a sort of as many rows as the planner expects needs a part.
func (g *program) expects(s *physical.Sort, part sortPart) bool {
	rows := 0.0
	for _, p := range g.feeders[s] {
		rows += p.EstRows
	}
	wanted := rows
	if s.Count >= 0 {
		wanted = min(rows, float64(s.Offset)+float64(s.Count))
	}
	selected := selects(wanted, rows)
	switch part {
	case sortMerge:
		return rows > heldRows && (!selected || wanted > heldRows)
	case sortSelect:
		return selected
	}
	return true
}
