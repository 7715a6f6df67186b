package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const inferPredicatesDoc = `Infer predicates from equalities: from a = b and b = 5 follows a = 5, and likewise for ranges and lists.

Legal in a tree of inner joins, where every condition holds for every row; and for the right side of a left, semi or anti
join from what holds for its left rows, as a further condition of ON. Not the other way round:
  SELECT * FROM a LEFT JOIN b ON a.x = b.x AND b.x = 5
keeps all of a, whatever a.x is.`

func inferPredicates(w *rewriter) error {
	return w.each(func(n logical.Node) (logical.Node, error) { return w.infer(n, nil, false), nil })
}

// infer rewrites n; known are conditions that hold for all rows of n that matter.
func (w *rewriter) infer(n logical.Node, known []expr.Expr, inside bool) logical.Node {
	if w.stopped() {
		return n
	}
	if isGroup(n) {
		if !inside {
			g := &group{preds: known[:len(known):len(known)]}
			g.add(n)
			if len(g.leaves) > 1 {
				if more := w.inferred(g.preds, nil); len(more) > 0 {
					n = logical.NewFilter(n, more...)
					g.preds = append(g.preds, more...)
				}
			}
			known = g.preds
		}
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return w.infer(in, known, true) })
	}
	j, ok := n.(*logical.Join)
	if !ok {
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return w.infer(in, nil, false) })
	}
	left := logical.Out(j.Left)
	var ofLeft []expr.Expr
	for _, p := range known {
		if logical.UsedWithin(p, left) {
			ofLeft = append(ofLeft, p)
		}
	}
	on := j.On
	switch j.Kind {
	case logical.LeftJoin, logical.SemiJoin, logical.AntiJoin, logical.SingleJoin:
		// The left side's own conditions are known too.
		g := &group{preds: ofLeft}
		g.add(j.Left)
		all := append(g.preds[:len(g.preds):len(g.preds)], j.On...)
		on = append(on[:len(on):len(on)], w.inferred(all, logical.Out(j.Right))...)
	}
	if j.Kind == logical.FullJoin {
		ofLeft = nil
	}
	l, r := w.infer(j.Left, ofLeft, false), w.infer(j.Right, nil, false)
	if l == j.Left && r == j.Right && len(on) == len(j.On) {
		return n
	}
	return &logical.Join{Kind: j.Kind, Left: l, Right: r, On: on, Corr: j.Corr, Mark: j.Mark, Hint: j.Hint}
}

// inferred returns the new conditions that follow from preds by equality; with only, those on its columns alone.
func (w *rewriter) inferred(preds []expr.Expr, only logical.ColSet) []expr.Expr {
	var eq classes
	for _, p := range preds {
		eq.learn(p)
	}
	if len(eq.order) == 0 {
		return nil
	}
	var out []expr.Expr
	for _, p := range preds {
		b, ok := boundOf(p)
		if !ok {
			continue
		}
		col, ok := b.arg.(*expr.Column)
		if !ok {
			continue
		}
		for _, other := range eq.others(col.ID) {
			if w.stopped() || only != nil && !only.Has(other.ID) {
				continue
			}
			q := expr.Substitute(p, map[expr.ColumnID]expr.Expr{col.ID: other})
			if !contains(preds, q) && !contains(out, q) {
				out = append(out, q)
			}
		}
	}
	return out
}
