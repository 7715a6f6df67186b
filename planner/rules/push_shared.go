package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const pushSharedPredicatesDoc = `Push into a shared plan what all of its readers ask for: conditions that they have in common, or the OR of what each asks.

Legal because a row that no reader wants need not be stored; with one reader that takes every row nothing can be pushed:
  WITH d AS (SELECT a, COUNT(*) AS n FROM t GROUP BY a) SELECT * FROM d x, d y WHERE x.a = 1
needs all groups for y.`

func pushSharedPredicates(w *rewriter) error {
	readers := map[*logical.SharedPlan]*readerConditions{}
	note := func(s *logical.Shared, preds []expr.Expr) {
		r := readers[s.Plan]
		if r == nil {
			r = &readerConditions{}
			readers[s.Plan] = r
		}
		m := columnMap(s.Cols, s.From)
		var own []expr.Expr
		for _, p := range preds {
			if !expr.IsVolatile(p) && logical.UsedWithin(p, logical.Out(s)) {
				own = append(own, expr.Substitute(p, m))
			}
		}
		r.each = append(r.each, own)
	}
	visit := func(n logical.Node) {
		logical.Walk(n, func(n logical.Node) bool {
			if f, ok := n.(*logical.Filter); ok {
				if s, ok := f.Input.(*logical.Shared); ok {
					note(s, f.Preds)
					return false
				}
			}
			if s, ok := n.(*logical.Shared); ok {
				note(s, nil)
			}
			return true
		})
	}
	plans := w.sharedPlans()
	visit(w.root)
	// A plan's readers come after it: what is pushed into one may reach the plans that it reads.
	for i := len(plans) - 1; i >= 0; i-- {
		p := plans[i]
		if cond := readers[p].common(w); cond != nil {
			p.Root, w.changed = w.push(p.Root, cond), true
		}
		visit(p.Root)
	}
	return nil
}

// readerConditions are the conditions of each reader of a plan, over the plan's columns.
type readerConditions struct{ each [][]expr.Expr }

// common returns conditions that every row that some reader wants satisfies.
func (r *readerConditions) common(w *rewriter) []expr.Expr {
	if r == nil {
		return nil
	}
	branches := make([]expr.Expr, len(r.each))
	for i, preds := range r.each {
		if len(preds) == 0 {
			return nil
		}
		branches[i] = expr.AndOf(preds)
	}
	if len(branches) == 1 {
		return r.each[0]
	}
	or := &expr.Or{Args: branches}
	if conds := w.factor(or); conds != nil {
		return conds
	}
	if merged, ok := w.mergeEqualities(branches); ok {
		branches = merged
	}
	return []expr.Expr{expr.OrOf(branches)}
}
