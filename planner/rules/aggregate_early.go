package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const aggregateEarlyDoc = `Aggregate early: group one side of a join by the join columns, and what is left by strings of the other side.

Yan and Larson, "Eager Aggregation and Lazy Aggregation", 1995: few groups are joined and hashed by the strings instead of many rows.

Legal for an inner join by equalities, or a left join whose right side has the strings: rows that agree in the join columns find the same partners. The
aggregates must be computable in two steps, look at the one side alone, and not fail over rows that the join would drop. In
  SELECT c.name, SUM(o.price) FROM o JOIN c ON o.c = c.id GROUP BY c.name
customers of one name are still one group, since the second step groups by the name.`

func aggregateEarly(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		if a, ok := n.(*logical.Aggregate); ok && !a.Scalar && len(a.Aggs) > 0 {
			if r := w.earlyGroups(a); r != nil {
				return r
			}
		}
		return n
	})
	return nil
}

const (
	minEarlyGroups = 4096 // fewer groups are found in a cache, whatever their keys
	minEarlyRows   = 4    // rows for each value of the join columns from which on the first step pays
	minEarlyShare  = 0.5  // of the other side's rows that the join must keep
)

func (w *rewriter) earlyGroups(a *logical.Aggregate) logical.Node {
	groups, aggs, input := a.Groups, a.Aggs, a.Input
	for i := range aggs {
		if aggs[i].Distinct || !inTwoSteps(&aggs[i]) || aggs[i].Fn.Kind == expr.AggAnyValue {
			return nil
		}
	}
	if slices.ContainsFunc(a.Exprs(), expr.IsVolatile) {
		return nil
	}
	if p, ok := input.(*logical.Project); ok {
		if slices.ContainsFunc(p.Exprs(), expr.IsVolatile) {
			return nil
		}
		groups, aggs = overInput(a, itemMap(p.Items))
		input = p.Input
	}
	j, ok := input.(*logical.Join)
	if !ok {
		return nil
	}
	over := &logical.Aggregate{Groups: groups, Aggs: aggs, Hint: a.Hint}
	switch j.Kind {
	case logical.LeftJoin:
		return w.earlyOver(over, j, j.Left, j.Right)
	case logical.InnerJoin:
		if r := w.earlyOver(over, j, j.Left, j.Right); r != nil {
			return r
		}
		return w.earlyOver(over, j, j.Right, j.Left)
	}
	return nil
}

// overInput are a's groups and aggregates over the columns that a projection below a reads.
func overInput(a *logical.Aggregate, items map[expr.ColumnID]expr.Expr) ([]logical.Item, []logical.AggItem) {
	groups, aggs := slices.Clone(a.Groups), slices.Clone(a.Aggs)
	for i := range groups {
		groups[i].Expr = expr.Substitute(groups[i].Expr, items)
	}
	for i := range aggs {
		aggs[i].Args = substituteAll(aggs[i].Args, items)
	}
	return groups, aggs
}

// earlyOver groups the rows of one side of a join before it, if the other side has the groups' strings; or returns nil.
func (w *rewriter) earlyOver(a *logical.Aggregate, j *logical.Join, rows, other logical.Node) logical.Node {
	inRows, inOther := logical.Out(rows), logical.Out(other)
	inner := &logical.Aggregate{Input: rows, Hint: a.Hint}
	for _, p := range j.On {
		l, r, ok := equalColumns(p)
		if !ok {
			return nil
		}
		if inOther.Has(l.ID) {
			l, r = r, l
		}
		if !inRows.Has(l.ID) || !inOther.Has(r.ID) {
			return nil
		}
		w.groupFor(inner, l)
	}
	joined := len(inner.Groups)
	outer := &logical.Aggregate{Hint: a.Hint}
	strings, others := 0, 0
	for _, g := range a.Groups {
		switch {
		case logical.UsedWithin(g.Expr, inOther):
			others++
			if g.Expr.Type().Phys() == types.PhysString {
				strings++
			}
		case logical.UsedWithin(g.Expr, inRows) && w.est.CannotFail(rows, g.Expr):
			g.Expr = w.groupFor(inner, g.Expr)
		default:
			return nil
		}
		outer.Groups = append(outer.Groups, g)
	}
	for i := range a.Aggs {
		if slices.ContainsFunc(a.Aggs[i].Args, func(e expr.Expr) bool { return !logical.UsedWithin(e, inRows) }) || !w.hasParts(rows, a.Aggs[i]) {
			return nil
		}
	}
	if joined == 0 || others == 0 || !w.eager && (strings == 0 || !w.earlyPays(a, j, inner, joined, strings)) {
		return nil
	}
	items := make([]logical.Item, 0, len(a.Groups)+len(a.Aggs))
	for _, g := range outer.Groups {
		items = append(items, logical.Item{Col: g.Col, Expr: g.Col})
	}
	for _, agg := range a.Aggs {
		items = append(items, w.combine(inner, outer, agg))
	}
	sides := []logical.Node{logical.Node(inner), other}
	if rows != j.Left {
		slices.Reverse(sides)
	}
	outer.Input = j.WithInputs(sides)
	return logical.NewProject(outer, items)
}

// earlyPays says whether the first step makes far fewer rows of those that the join gives. joined of its keys are join columns.
//
// Estimates of combinations of keys are too large where keys depend on each other, as customers and the years of their orders do. Several strings make the second
// step so much dearer that the join columns alone decide.
func (w *rewriter) earlyPays(a *logical.Aggregate, j *logical.Join, inner *logical.Aggregate, joined, strings int) bool {
	rows, kept := w.est.Rows(inner.Input), w.est.Rows(j)
	if kept < minEarlyShare*rows || w.est.Groups(j, exprsOf(a.Groups)) < minEarlyGroups {
		return false
	}
	keys := exprsOf(inner.Groups)
	if strings < 3 {
		return kept >= minEarlyRows/2*w.est.Groups(inner.Input, keys)
	}
	return kept >= minEarlyRows*w.est.Groups(inner.Input, keys[:joined]) || kept >= minEarlyRows/2*w.est.Groups(inner.Input, keys)
}

func exprsOf(items []logical.Item) []expr.Expr {
	out := make([]expr.Expr, len(items))
	for i, it := range items {
		out[i] = it.Expr
	}
	return out
}
