package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const factorOrDoc = `Factor conditions that all branches of an OR share out of it, and derive from an OR over several relations what it says of each.

(a AND b) OR (a AND c) is a AND (b OR c) in three-valued logic too. From (x.a AND y.b) OR (x.c AND y.d) follows x.a OR x.c, which
is added, not put in its place: in
  SELECT * FROM n1, n2 WHERE n1.name = 'F' AND n2.name = 'G' OR n1.name = 'G' AND n2.name = 'F'
the two derived conditions alone would also let (F, F) pass.`

func factorOr(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			if preds, ok := w.factorAll(x.Preds); ok {
				n = logical.NewFilter(x.Input, preds...)
			}
		case *logical.Join:
			if x.Kind != logical.MarkJoin {
				if on, ok := w.factorAll(x.On); ok {
					n = &logical.Join{Kind: x.Kind, Left: x.Left, Right: x.Right, On: on, Hint: x.Hint}
				}
			}
		}
		return n
	})
	return w.each(func(n logical.Node) (logical.Node, error) { return w.eachGroup(n, w.deriveFromOrs), nil })
}

// deriveFromOrs adds to a join group what its ORs say of single relations.
func (w *rewriter) deriveFromOrs(n logical.Node, g *group) logical.Node {
	if len(g.leaves) < 2 {
		return n
	}
	var derived []expr.Expr
	for _, p := range g.preds {
		o, ok := p.(*expr.Or)
		if !ok {
			continue
		}
		used := logical.Uses(o)
		for _, leaf := range g.leaves {
			cols := logical.Out(leaf)
			if w.stopped() || !used.Meets(cols) || used.Within(cols) {
				continue
			}
			if d := w.derive(o, cols); d != nil && !contains(g.preds, d) && !contains(derived, d) {
				derived = append(derived, d)
			}
		}
	}
	return logical.NewFilter(n, derived...)
}

func (w *rewriter) factorAll(preds []expr.Expr) ([]expr.Expr, bool) {
	var out []expr.Expr
	changed := false
	for i, p := range preds {
		if o, ok := p.(*expr.Or); ok {
			if conds := w.factor(o); conds != nil {
				if !changed {
					out, changed = append(out, preds[:i]...), true
				}
				out = append(out, conds...)
				continue
			}
		}
		if changed {
			out = append(out, p)
		}
	}
	return out, changed
}

// factor returns the conjuncts that o is equivalent to, or nil if its branches share nothing.
func (w *rewriter) factor(o *expr.Or) []expr.Expr {
	branches := make([][]expr.Expr, len(o.Args))
	for i, a := range o.Args {
		branches[i] = expr.Conjuncts(nil, a)
	}
	var common []expr.Expr
	for _, c := range branches[0] {
		if w.stopped() {
			return nil
		}
		everywhere := !expr.IsVolatile(c)
		for _, b := range branches[1:] {
			everywhere = everywhere && contains(b, c)
		}
		if everywhere && !contains(common, c) {
			common = append(common, c)
		}
	}
	if len(common) == 0 {
		return nil
	}
	rest := make([]expr.Expr, len(branches))
	for i, b := range branches {
		var left []expr.Expr
		if w.stopped() {
			return nil
		}
		for _, c := range b {
			if !contains(common, c) {
				left = append(left, c)
			}
		}
		if len(left) == 0 {
			return common // this branch is the common part: the others add nothing
		}
		rest[i] = expr.AndOf(left)
	}
	return append(common, &expr.Or{Args: rest})
}

// derive returns what o says of the relation with the given columns: the OR of what each branch says of it, or nil if
// some branch says nothing.
func (w *rewriter) derive(o *expr.Or, cols logical.ColSet) expr.Expr {
	branches := make([]expr.Expr, len(o.Args))
	for i, a := range o.Args {
		var own []expr.Expr
		for _, c := range expr.Conjuncts(nil, a) {
			if usesColumns(c) && logical.UsedWithin(c, cols) && !expr.IsVolatile(c) {
				own = append(own, c)
			} else if inner, ok := c.(*expr.Or); ok {
				if d := w.derive(inner, cols); d != nil {
					own = append(own, d)
				}
			}
		}
		if len(own) == 0 {
			return nil
		}
		branches[i] = expr.AndOf(own)
	}
	if merged, ok := w.mergeEqualities(branches); ok {
		branches = merged
	}
	return expr.OrOf(branches)
}
