package logical

import "github.com/radish-sql/radish/sql/expr"

// Walk calls f for n and every node under it, parents first, until f returns false for a subtree. It enters neither
// the subqueries of expressions nor the plans behind Shared nodes.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	switch x := n.(type) {
	case *Filter:
		Walk(x.Input, f)
	case *Project:
		Walk(x.Input, f)
	default:
		for _, in := range n.Inputs() {
			Walk(in, f)
		}
	}
}

// Rewrite rebuilds n bottom up: each node, its inputs already rewritten, is replaced by f's result. What f leaves
// alone is shared, not copied.
func Rewrite(n Node, f func(Node) Node) Node {
	return f(MapInputs(n, func(in Node) Node { return Rewrite(in, f) }))
}

// MapInputs replaces each input of n by f's result and returns n itself if none changed.
func MapInputs(n Node, f func(Node) Node) Node {
	inputs := n.Inputs()
	var changed []Node
	for i, in := range inputs {
		r := f(in)
		if r != in && changed == nil {
			changed = append([]Node(nil), inputs...)
		}
		if changed != nil {
			changed[i] = r
		}
	}
	if changed == nil {
		return n
	}
	return n.WithInputs(changed)
}

// MapExprs replaces each expression of n itself by f's result and returns n itself if none changed.
func MapExprs(n Node, f func(expr.Expr) expr.Expr) Node {
	es := n.Exprs()
	changed := MapEach(es, f)
	if len(es) == 0 || &changed[0] == &es[0] {
		return n
	}
	return n.WithExprs(changed)
}

// MapEach replaces each expression of es by f's result and returns es itself if none changed.
func MapEach(es []expr.Expr, f func(expr.Expr) expr.Expr) []expr.Expr {
	var changed []expr.Expr
	for i, e := range es {
		r := f(e)
		if r != e && changed == nil {
			changed = append([]expr.Expr(nil), es...)
		}
		if changed != nil {
			changed[i] = r
		}
	}
	if changed == nil {
		return es
	}
	return changed
}

// SharedPlans returns the plans behind the Shared nodes in n, its subqueries and those plans, each once, in an order in
// which a plan comes after the plans that it reads.
func SharedPlans(n Node) []*SharedPlan {
	var out []*SharedPlan
	seen := map[*SharedPlan]bool{}
	var visit func(Node)
	visit = func(n Node) {
		Walk(n, func(n Node) bool {
			if s, ok := n.(*Shared); ok && !seen[s.Plan] {
				seen[s.Plan] = true
				visit(s.Plan.Root)
				out = append(out, s.Plan)
			}
			eachExpr(n, func(e expr.Expr) {
				expr.Walk(e, func(e expr.Expr) bool {
					if q, ok := e.(*expr.Subquery); ok {
						visit(q.Rel.(Node))
					}
					return true
				})
			})
			return true
		})
	}
	visit(n)
	return out
}

// ScanOf returns the scan that gives columns of n, if filters and joins that keep or drop whole rows of it are all that lies between; else nil.
func ScanOf(n Node, cols ColSet) *Scan {
	for {
		switch x := n.(type) {
		case *Scan:
			return x
		case *Filter:
			n = x.Input
		case *Join:
			switch {
			case x.Kind != FullJoin && cols.Within(Out(x.Left)):
				n = x.Left
			case x.Kind == InnerJoin && cols.Within(Out(x.Right)):
				n = x.Right
			default:
				return nil
			}
		default:
			return nil
		}
	}
}
