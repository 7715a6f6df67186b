package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const pushAggregatesDoc = `Push an aggregation below a join: group the right side by its join columns first, where each group is one left row (Yan
and Larson, "Eager Aggregation and Lazy Aggregation", 1995).

Legal if the group keys are a key of the left side, the join has equalities only, and the aggregates look at the right side alone; a
left row without a match gets the values of its one row of NULLs. Done where the join would not drop much of the right
side. In
  SELECT c.id, COUNT(*), COUNT(o.id) FROM c LEFT JOIN o ON o.c = c.id GROUP BY c.id
a customer without orders has COUNT(*) 1 and COUNT(o.id) 0. What could fail over orders without a customer is not computed for them.`

func pushAggregates(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		if a, ok := n.(*logical.Aggregate); ok && !a.Scalar && len(a.Aggs) > 0 {
			if r := w.aggregateRight(a); r != nil {
				return r
			}
		}
		return n
	})
	return nil
}

// minKept is the share of the right side's rows that the join must keep for an aggregation before it to pay.
const minKept = 0.8

func (w *rewriter) aggregateRight(a *logical.Aggregate) logical.Node {
	j, ok := a.Input.(*logical.Join)
	if !ok || j.Kind != logical.LeftJoin && j.Kind != logical.InnerJoin || len(j.On) == 0 {
		return nil
	}
	left, right := logical.Out(j.Left), logical.Out(j.Right)
	var keys logical.ColSet
	for _, g := range a.Groups {
		c, ok := g.Expr.(*expr.Column)
		if !ok || !left.Has(c.ID) {
			return nil
		}
		keys.Add(c.ID)
	}
	for i := range a.Aggs {
		if !pushable(&a.Aggs[i], left, right) || a.Aggs[i].Fn.Kind != expr.AggAnyValue && !w.hasParts(j.Right, a.Aggs[i]) {
			return nil
		}
	}
	grouped := &logical.Aggregate{Hint: a.Hint, Input: j.Right}
	on := make([]expr.Expr, len(j.On))
	for i, p := range j.On {
		c, ok := p.(*expr.Compare)
		if !ok || c.Op != expr.EQ {
			return nil
		}
		l, r := c.Left, c.Right
		if !logical.UsedWithin(l, left) {
			l, r = r, l
		}
		if !logical.UsedWithin(l, left) || !logical.UsedWithin(r, right) || !usesColumns(r) || expr.IsVolatile(r) || !w.est.CannotFail(j.Right, r) {
			return nil
		}
		key := w.alloc.New("", "key", r.Type(), r.Nullable())
		if col, ok := r.(*expr.Column); ok {
			key = w.alloc.Like(col)
		}
		grouped.Groups = append(grouped.Groups, logical.Item{Col: key, Expr: r})
		on[i] = &expr.Compare{Op: expr.EQ, Left: l, Right: key}
	}
	if !w.est.Distinct(j.Left, keys) || !w.eager && w.est.Rows(j) < minKept*w.est.Rows(j.Right) {
		return nil
	}
	items := slices.Clone(a.Groups)
	for _, agg := range a.Aggs {
		items = append(items, w.pushed(grouped, agg, j.Kind))
	}
	return &logical.Project{Input: &logical.Join{Kind: j.Kind, Left: j.Left, Right: grouped, On: on, Hint: j.Hint}, Items: items}
}

// hasParts says whether an aggregate has a value over any of a node's rows, those that the statement never gets to among them.
func (w *rewriter) hasParts(n logical.Node, agg logical.AggItem) bool {
	for _, e := range agg.Args {
		if !w.est.CannotFail(n, e) {
			return false
		}
	}
	return w.addsUp(n, agg)
}

// pushable says whether agg can be computed over the right rows of a left row.
func pushable(agg *logical.AggItem, left, right logical.ColSet) bool {
	for _, e := range agg.Args {
		if expr.IsVolatile(e) {
			return false
		}
	}
	switch agg.Fn.Kind {
	case expr.AggCountStar:
		return true
	case expr.AggAnyValue:
		return logical.UsedWithin(agg.Args[0], left) && !right.Meets(logical.Uses(agg.Args[0]))
	case expr.AggCount, expr.AggSum, expr.AggMin, expr.AggMax:
		// An argument that a row of NULLs does not make NULL would count where there is no match.
		return len(agg.Args) == 1 && logical.UsedWithin(agg.Args[0], right) && isNullUnder(agg.Args[0], right)
	}
	return false
}

// pushed computes agg in grouped; the item gives its value for each row of the join.
func (w *rewriter) pushed(grouped *logical.Aggregate, agg logical.AggItem, kind logical.JoinKind) logical.Item {
	if agg.Fn.Kind == expr.AggAnyValue {
		return logical.Item{Col: agg.Col, Expr: agg.Args[0]}
	}
	part := agg
	part.Col = w.alloc.Like(agg.Col)
	grouped.Aggs = append(grouped.Aggs, part)
	if kind == logical.InnerJoin {
		return logical.Item{Col: agg.Col, Expr: part.Col}
	}
	col := withNull(part.Col, true)
	if agg.Fn.EmptyIsNull {
		return logical.Item{Col: agg.Col, Expr: col}
	}
	alone := emptyValue(agg)
	if agg.Fn.Kind == expr.AggCountStar {
		alone = &expr.Const{Value: types.Value{Type: agg.Col.Typ, I: 1}} // the row filled up with NULLs
	}
	return logical.Item{Col: agg.Col, Expr: &expr.Case{
		Whens: []expr.When{{Cond: &expr.IsNull{Arg: col}, Then: alone}}, Else: part.Col, Typ: agg.Col.Typ,
	}}
}
