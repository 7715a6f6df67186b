package logical

import "github.com/radish-sql/radish/sql/expr"

// FreeColumns of each node: what its inputs leave free and what its own expressions use, less what its inputs give.
// Most trees have none, so the common case allocates nothing but the memo.

func (s *Scan) FreeColumns() []expr.ColumnID      { return freeOf(s, &s.memo) }
func (v *Values) FreeColumns() []expr.ColumnID    { return freeOf(v, &v.memo) }
func (f *Filter) FreeColumns() []expr.ColumnID    { return freeOf(f, &f.memo) }
func (p *Project) FreeColumns() []expr.ColumnID   { return freeOf(p, &p.memo) }
func (j *Join) FreeColumns() []expr.ColumnID      { return freeOf(j, &j.memo) }
func (a *Apply) FreeColumns() []expr.ColumnID     { return freeOf(a, &a.memo) }
func (a *Aggregate) FreeColumns() []expr.ColumnID { return freeOf(a, &a.memo) }
func (s *Sort) FreeColumns() []expr.ColumnID      { return freeOf(s, &s.memo) }
func (l *Limit) FreeColumns() []expr.ColumnID     { return l.Input.FreeColumns() }
func (s *SetOp) FreeColumns() []expr.ColumnID     { return freeOf(s, &s.memo) }
func (*Shared) FreeColumns() []expr.ColumnID      { return nil }

var noFree = []expr.ColumnID(nil)

func freeOf(n Node, m *memo) []expr.ColumnID {
	if p := m.free.Load(); p != nil {
		return *p
	}
	ids := computeFree(n)
	if ids == nil {
		m.free.Store(&noFree)
	} else {
		m.free.Store(&ids)
	}
	return ids
}

func computeFree(n Node) []expr.ColumnID {
	var given [2]ColSet
	inputs := n.Inputs()
	if scan, ok := n.(*Scan); ok {
		if len(scan.Filter) == 0 {
			return nil
		}
		given[0] = Out(scan)
	}
	var free ColSet
	add := func(id expr.ColumnID) {
		if !given[0].Has(id) && !given[1].Has(id) {
			free.Add(id)
		}
	}
	_, recursive := n.(*Recursive)
	if _, ok := n.(*SetOp); !ok && !recursive {
		for i, in := range inputs {
			// A lateral right side uses columns of the left one: they are not free in the join.
			for _, id := range in.FreeColumns() {
				add(id)
			}
			given[i] = Out(in)
		}
	} else {
		for _, in := range inputs {
			for _, id := range in.FreeColumns() {
				free.Add(id)
			}
		}
	}
	eachExpr(n, func(e expr.Expr) { expr.Columns(e, add) })
	return free.IDs()
}

// eachExpr calls f for every expression of n itself, without making the slice of Exprs.
func eachExpr(n Node, f func(expr.Expr)) {
	switch x := n.(type) {
	case *Values:
		for _, row := range x.Rows {
			for _, e := range row {
				f(e)
			}
		}
	case *Project:
		for i := range x.Items {
			f(x.Items[i].Expr)
		}
	case *Join:
		each(x.On, f)
		each(x.Corr, f)
	case *Apply:
		each(x.On, f)
		each(x.Corr, f)
	case *Sort:
		for i := range x.Keys {
			f(x.Keys[i].Expr)
		}
	default:
		each(n.Exprs(), f)
	}
}

func each(es []expr.Expr, f func(expr.Expr)) {
	for _, e := range es {
		f(e)
	}
}
