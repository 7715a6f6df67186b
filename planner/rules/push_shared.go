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
		if cond := readers[p].common(w, hasGroups(p.Root)); cond != nil {
			p.Root, w.changed = w.push(p.Root, cond), true
		}
		visit(p.Root)
	}
	return nil
}

// readerConditions are the conditions of each reader of a plan, over the plan's columns.
type readerConditions struct{ each [][]expr.Expr }

// common returns conditions that every row that some reader wants satisfies.
// perColumn asks for what they say of single columns, too.
func (r *readerConditions) common(w *rewriter, perColumn bool) []expr.Expr {
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
	conds := w.factor(or)
	if conds == nil {
		if merged, ok := w.mergeEqualities(branches); ok {
			branches = merged
		}
		conds = []expr.Expr{expr.OrOf(branches)}
	}
	for _, c := range conds {
		if or, ok := c.(*expr.Or); ok && perColumn {
			conds = append(conds, w.perColumn(or)...)
		}
	}
	return conds
}

// perColumn returns what an OR says of single columns, where it speaks of several: below an aggregate only the conditions on groups can go.
func (w *rewriter) perColumn(or *expr.Or) (conds []expr.Expr) {
	used := logical.Uses(or)
	if used.Len() < 2 {
		return nil
	}
	for _, id := range used.IDs() {
		var one logical.ColSet
		one.Add(id)
		if d := w.derive(or, one); d != nil {
			conds = append(conds, d)
		}
	}
	return conds
}

func hasGroups(n logical.Node) bool {
	found := false
	logical.Walk(n, func(n logical.Node) bool {
		a, ok := n.(*logical.Aggregate)
		found = found || ok && !a.Scalar
		return !found
	})
	return found
}
