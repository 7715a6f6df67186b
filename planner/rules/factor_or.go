package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const factorOrDoc = `Factor conditions that all branches of an OR share out of it, and derive what it says of each relation, and inequalities between two.

(a AND b) OR (a AND c) is a AND (b OR c) in three-valued logic too. From (x.a AND y.b) OR (x.c AND y.d) follows x.a OR x.c, which
is added, not put in its place: in
  SELECT * FROM n1, n2 WHERE n1.name = 'F' AND n2.name = 'G' OR n1.name = 'G' AND n2.name = 'F'
the two derived conditions alone would also let (F, F) pass. So it is with x.a > y.a OR (x.a = y.a AND x.b > y.b), as which (x.a, x.b) > (y.a, y.b)
is compared: x.a >= y.a follows, which a join can search by.`

func factorOr(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			if preds, ok := w.factorAll(x.Preds); ok {
				n = logical.NewFilter(x.Input, preds...)
			}
		case *logical.Join:
			if x.Kind != logical.MarkJoin {
				on, ok := w.factorAll(x.On)
				if !ok {
					on = x.On
				}
				var implied []expr.Expr
				if x.Kind != logical.InnerJoin { // else its conditions are those of a group
					implied = w.impliedBounds(x, on)
				}
				if ok || len(implied) > 0 {
					n = &logical.Join{Kind: x.Kind, Left: x.Left, Right: x.Right, On: append(slices.Clone(on), implied...), Hint: x.Hint}
				}
			}
		}
		return n
	})
	return w.each(func(n logical.Node) (logical.Node, error) { return w.eachGroup(n, w.deriveFromOrs), nil })
}

// impliedBound returns the inequality between two relations, or two sides of a join, that o implies, or nil. It compares what o's first
// condition does, which is computed for all pairs, so it fails for no other pair.
func (w *rewriter) impliedBound(o *expr.Or, sides func(a, b expr.Expr) bool) expr.Expr {
	c, ok := expr.Conjuncts(nil, o.Args[0])[0].(*expr.Compare)
	if !ok || w.stopped() || expr.IsVolatile(c) || !sides(c.Left, c.Right) {
		return nil
	}
	op, ok := weakest(o, c)
	if !ok {
		return nil
	}
	return &expr.Compare{Op: op, Left: c.Left, Right: c.Right}
}

// impliedBounds returns what ORs among an outer join's, semi join's or anti join's conditions imply.
func (w *rewriter) impliedBounds(j *logical.Join, on []expr.Expr) (implied []expr.Expr) {
	left, right := logical.Out(j.Left), logical.Out(j.Right)
	for _, e := range on {
		if o, ok := e.(*expr.Or); ok {
			bound := w.impliedBound(o, func(a, b expr.Expr) bool { return isOf(a, left) && isOf(b, right) || isOf(a, right) && isOf(b, left) })
			if bound != nil && !contains(on, bound) && !contains(implied, bound) {
				implied = append(implied, bound)
			}
		}
	}
	return implied
}

// isOf says whether e uses columns, and none but those of cols.
func isOf(e expr.Expr, cols logical.ColSet) bool {
	return usesColumns(e) && logical.UsedWithin(e, cols)
}

// leafOf returns the leaf of whose columns alone e is made, or -1.
func (g *group) leafOf(e expr.Expr) int {
	return slices.IndexFunc(g.leaves, func(leaf logical.Node) bool { return isOf(e, logical.Out(leaf)) })
}

// weakest returns an inequality of c's operands that holds wherever a branch of o does.
func weakest(o *expr.Or, c *expr.Compare) (op expr.Op, ok bool) {
	below, equal, above := false, false, false // what branches allow
	for _, branch := range o.Args {
		b, e, a := true, true, true // what this branch allows
		for _, cond := range expr.Conjuncts(nil, branch) {
			if cmp, is := cond.(*expr.Compare); is && cmp.Op != expr.NSEQ {
				op := cmp.Op
				switch {
				case expr.Equal(cmp.Left, c.Left) && expr.Equal(cmp.Right, c.Right):
				case expr.Equal(cmp.Left, c.Right) && expr.Equal(cmp.Right, c.Left):
					op = op.Swap()
				default:
					continue
				}
				b = b && (op == expr.LT || op == expr.LE || op == expr.NE)
				e = e && (op == expr.EQ || op == expr.LE || op == expr.GE)
				a = a && (op == expr.GT || op == expr.GE || op == expr.NE)
			}
		}
		below, equal, above = below || b, equal || e, above || a
	}
	switch {
	case below && above, !below && !above:
		return 0, false
	case below:
		return pick(equal, expr.LE, expr.LT), true
	}
	return pick(equal, expr.GE, expr.GT), true
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
		bound := w.impliedBound(o, func(a, b expr.Expr) bool {
			i, j := g.leafOf(a), g.leafOf(b)
			return i >= 0 && j >= 0 && i != j
		})
		if bound != nil && !contains(g.preds, bound) && !contains(derived, bound) {
			derived = append(derived, bound)
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
