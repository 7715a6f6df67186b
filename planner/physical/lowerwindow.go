package physical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// window closes the input in a Window. What it partitions, orders and computes by are columns: a projection before it makes
// those that are not, once for all functions.
func (l *lowering) window(x *logical.Window, top int64) ([]*Pipeline, error) {
	open, err := l.open(x.Input)
	if err != nil {
		return nil, err
	}
	p := &projector{l: l, t: &Project{Keep: ids(x.Input.Schema())}}
	w := &Window{Partition: p.columns(x.Partition), Cols: x.Input.Schema(), Top: top}
	for _, k := range x.Order {
		w.Order = append(w.Order, logical.SortKey{Expr: p.column(k.Expr), Desc: k.Desc})
	}
	// A key that does not vary, or not within a partition, orders nothing.
	seen := slices.Clone(w.Partition)
	w.Partition = slices.DeleteFunc(w.Partition, isConst)
	w.Order = slices.DeleteFunc(w.Order, func(k logical.SortKey) bool {
		if isConst(k.Expr) || slices.ContainsFunc(seen, func(e expr.Expr) bool { return expr.Equal(e, k.Expr) }) {
			return true
		}
		seen = append(seen, k.Expr)
		return false
	})
	for _, it := range x.Items {
		if it.Fn.Agg != nil && (it.Fn.Agg.Kind == expr.AggSum || it.Fn.Agg.Kind == expr.AggAvg) { // the others give their operand's type
			it.Args = []expr.Expr{l.narrow(x.Input, it.Args[0])}
		}
		it.Args = p.columns(it.Args)
		it.Frame = it.Frame.WithExprs(p.columns(l.narrowAlike(x.Input, it.Frame.Exprs())))
		w.Items = append(w.Items, it)
	}
	if len(p.t.Items) > 0 {
		open = addTransform(open, p.t)
	}
	l.close(open, w, l.est.Rows(x.Input))
	return l.reopen(open, w, x.Schema()), nil
}

// narrowAlike narrows expressions that are compared with each other, if all of them come to one form.
func (l *lowering) narrowAlike(n logical.Node, es []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = l.narrow(n, e)
		if !sameForm(out[i].Type(), out[0].Type()) {
			return es
		}
	}
	return out
}

func isConst(e expr.Expr) bool {
	_, ok := e.(*expr.Const)
	return ok
}

// topOf returns the rank up to which rows of a window can satisfy conditions on ROW_NUMBER or RANK; 0: any.
func topOf(w *logical.Window, preds []expr.Expr) (top int64) {
	for _, p := range preds {
		c, ok := p.(*expr.Compare)
		if !ok {
			continue
		}
		col, isCol := c.Left.(*expr.Column)
		k, isConst := c.Right.(*expr.Const)
		if !isCol || !isConst || k.Value.Null || !k.Value.Type.IsInteger() || k.Value.I <= 0 {
			continue
		}
		most := k.Value.I
		switch c.Op {
		case expr.LT: // LT 1 keeps nothing, which the filter sees to
			most = max(most-1, 1)
		case expr.LE, expr.EQ, expr.NSEQ:
		default:
			continue
		}
		for i := range w.Items {
			it := &w.Items[i]
			if it.Col.ID == col.ID && (it.Fn.Kind == expr.WinRowNumber || it.Fn.Kind == expr.WinRank) && (top == 0 || most < top) {
				top = most
			}
		}
	}
	return top
}

// projector collects expressions that a projection is to make columns of.
type projector struct {
	l *lowering
	t *Project
}

// column returns e if it is a column or a constant, else a column that the projection makes of it.
func (p *projector) column(e expr.Expr) expr.Expr {
	switch e.(type) {
	case *expr.Column, *expr.Const:
		return e
	}
	for _, it := range p.t.Items {
		if expr.Equal(it.Expr, e) {
			return it.Col
		}
	}
	it := logical.NewItem(p.l.alloc, e.String(), e)
	p.t.Items = append(p.t.Items, it)
	p.t.Keep = append(p.t.Keep, it.Col.ID)
	return it.Col
}

func (p *projector) columns(es []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = p.column(e)
	}
	return out
}

// Exprs lists what a Window reads beside the columns that it keeps.
func (w *Window) Exprs() []expr.Expr {
	out := slices.Clone(w.Partition)
	for _, k := range w.Order {
		out = append(out, k.Expr)
	}
	for i := range w.Items {
		out = append(out, w.Items[i].Args...)
		out = append(out, w.Items[i].Frame.Exprs()...)
	}
	return out
}

// pruneWindow drops functions whose columns no one reads and returns the columns that the rest needs.
func pruneWindow(w *Window, needed logical.ColSet) logical.ColSet {
	w.Items = slices.DeleteFunc(slices.Clone(w.Items), func(it logical.WindowItem) bool { return !needed.Has(it.Col.ID) })
	live := needed.Clone()
	for i := range w.Items {
		live.Remove(w.Items[i].Col.ID)
	}
	addExprs(&live, w.Exprs())
	return live
}

func checkWindow(w *Window, alive logical.ColSet, filled map[Sink]logical.ColSet) error {
	if err := uses("window", w.Exprs(), alive); err != nil {
		return err
	}
	for _, e := range w.Exprs() {
		if _, ok := e.(*expr.Column); !ok && !isConst(e) {
			return fmt.Errorf("window over %s, which is no column", e)
		}
	}
	if err := present(w.Cols, alive); err != nil {
		return err
	}
	kept := logical.SetOfCols(w.Cols)
	for i := range w.Items {
		kept.Add(w.Items[i].Col.ID)
	}
	filled[w] = kept
	return nil
}

func windowText(w *Window) string {
	var parts []string
	if len(w.Partition) > 0 {
		parts = append(parts, "partition by "+exprList(w.Partition, ", "))
	}
	if len(w.Order) > 0 {
		keys := make([]string, len(w.Order))
		for i, k := range w.Order {
			keys[i] = k.Expr.String()
			if k.Desc {
				keys[i] += " DESC"
			}
		}
		parts = append(parts, "order by "+strings.Join(keys, ", "))
	}
	calls := make([]string, len(w.Items))
	for i := range w.Items {
		calls[i] = w.Items[i].Call()
	}
	parts = append(parts, "compute "+strings.Join(calls, ", "))
	if w.Top > 0 {
		parts = append(parts, "keeping ranks up to "+count(w.Top))
	}
	return strings.Join(parts, " ")
}
