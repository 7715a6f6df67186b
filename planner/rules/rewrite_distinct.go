package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const rewriteDistinctDoc = `Rewrite distinct aggregates: COUNT(DISTINCT x) becomes COUNT over groups by x; where duplicates change nothing, DISTINCT is
dropped.

Where distinct aggregates have different arguments, or stand beside GROUP_CONCAT or variances, which are not computed in two steps, aggregations of
their own are joined by the group keys, NULLs being equal. A group whose x are all NULL must stay, with a count of 0:
  SELECT g, COUNT(DISTINCT x) FROM t GROUP BY g`

func rewriteDistinct(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		a, ok := n.(*logical.Aggregate)
		if !ok {
			return n
		}
		if r := dropDistinct(a); r != nil {
			a = r
		}
		if r := w.twoLevels(a); r != nil {
			return r
		}
		if r := w.splitDistinct(a); r != nil {
			return r
		}
		return a
	})
	return nil
}

// dropDistinct drops DISTINCT from aggregates that do not see duplicates.
func dropDistinct(a *logical.Aggregate) *logical.Aggregate {
	var aggs []logical.AggItem
	for i := range a.Aggs {
		if a.Aggs[i].Distinct && ignoresDuplicates(a.Aggs[i].Fn.Kind) {
			if aggs == nil {
				aggs = append(aggs, a.Aggs...)
			}
			aggs[i].Distinct = false
		}
	}
	if aggs == nil {
		return nil
	}
	return &logical.Aggregate{Input: a.Input, Groups: a.Groups, Aggs: aggs, Scalar: a.Scalar, Hint: a.Hint}
}

func ignoresDuplicates(k expr.AggKind) bool {
	switch k {
	case expr.AggMin, expr.AggMax, expr.AggAnyValue, expr.AggBitAnd, expr.AggBitOr:
		return true
	}
	return false
}

// twoLevels groups by the argument of the distinct aggregates first, or returns nil.
func (w *rewriter) twoLevels(a *logical.Aggregate) logical.Node {
	var distinct *logical.AggItem
	for i := range a.Aggs {
		agg := &a.Aggs[i]
		switch {
		case !agg.Distinct:
			if !inTwoSteps(agg) || !w.partsFit(a.Input, *agg) {
				return nil
			}
		case !isOverGroups(agg) || distinct != nil && !sameArgs(distinct.Args, agg.Args):
			return nil
		default:
			distinct = agg
		}
	}
	if distinct == nil {
		return nil
	}
	for _, e := range a.Exprs() {
		if expr.IsVolatile(e) {
			return nil
		}
	}
	inner := &logical.Aggregate{Input: a.Input, Hint: a.Hint}
	outer := &logical.Aggregate{Input: inner, Scalar: a.Scalar, Hint: a.Hint}
	for _, g := range a.Groups {
		if passes(g) {
			inner.Groups = append(inner.Groups, g)
			outer.Groups = append(outer.Groups, g)
			continue
		}
		key := w.alloc.Like(g.Col)
		inner.Groups = append(inner.Groups, logical.Item{Col: key, Expr: g.Expr})
		outer.Groups = append(outer.Groups, logical.Item{Col: g.Col, Expr: key})
	}
	args := make([]expr.Expr, len(distinct.Args))
	for i, e := range distinct.Args {
		args[i] = w.groupFor(inner, e)
	}
	final := make([]logical.Item, 0, len(a.Aggs))
	for _, agg := range a.Aggs {
		if agg.Distinct {
			agg.Distinct = false
			agg.Args = args
			if len(args) > 1 { // counts rows in which no argument is NULL
				agg.Args = []expr.Expr{&expr.Case{Whens: []expr.When{{Cond: noneNull(args), Then: expr.True}}, Typ: types.Bool}}
			}
			outer.Aggs = append(outer.Aggs, agg)
			final = append(final, logical.Item{Col: agg.Col, Expr: agg.Col})
			continue
		}
		final = append(final, w.combine(inner, outer, agg))
	}
	items := logical.PassItems(outer.Schema()[:len(outer.Groups)])
	return logical.NewProject(outer, append(items, final...))
}

// isOverGroups says whether an aggregate with DISTINCT can be computed over groups by its arguments.
func isOverGroups(a *logical.AggItem) bool {
	switch a.Fn.Kind {
	case expr.AggCount:
		return true
	case expr.AggSum, expr.AggAvg:
		return len(a.Args) == 1
	}
	return false
}

// inTwoSteps says whether an aggregate can be computed in parts first: see combine.
func inTwoSteps(a *logical.AggItem) bool {
	switch a.Fn.Kind {
	case expr.AggCount, expr.AggCountStar, expr.AggSum, expr.AggAvg:
		return true
	}
	return ignoresDuplicates(a.Fn.Kind)
}

// partsFit says whether a sum of some of an aggregate's decimals has a type, as the sum of all of them has.
func (w *rewriter) partsFit(in logical.Node, agg logical.AggItem) bool {
	return len(agg.Args) == 0 || agg.Args[0].Type().Kind != types.KindDecimal || w.addsUp(in, agg)
}

// groupFor returns a group column of a for e, which it adds if there is none.
func (w *rewriter) groupFor(a *logical.Aggregate, e expr.Expr) *expr.Column {
	for _, g := range a.Groups {
		if expr.Equal(g.Expr, e) {
			return g.Col
		}
	}
	if c, ok := e.(*expr.Column); ok {
		a.Groups = append(a.Groups, logical.Item{Col: c, Expr: c})
		return c
	}
	item := logical.NewItem(w.alloc, e.String(), e)
	a.Groups = append(a.Groups, item)
	return item.Col
}

// combine computes agg in parts in inner and puts the parts together in outer; the item gives the result's column.
func (w *rewriter) combine(inner, outer *logical.Aggregate, agg logical.AggItem) logical.Item {
	if logical.PassesValue(&agg) {
		inner.Aggs, outer.Aggs = append(inner.Aggs, agg), append(outer.Aggs, agg) // a dependent key, under its own name
		return logical.Item{Col: agg.Col, Expr: agg.Col}
	}
	if agg.Fn.Kind == expr.AggAvg {
		sum, count := w.total(inner, outer, agg, sumValues, exactSum(agg)), w.total(inner, outer, agg, countValues, types.Int64)
		return logical.Item{Col: agg.Col, Expr: expr.Average(sum, count, agg.Col.Typ)}
	}
	part := agg
	part.Col = w.alloc.Like(agg.Col)
	inner.Aggs = append(inner.Aggs, part)
	switch agg.Fn.Kind {
	case expr.AggCount, expr.AggCountStar:
		sum := expr.LookupAggregate("sum")
		total := w.alloc.New("", agg.Col.Name, types.SumType(types.Int64), true)
		outer.Aggs = append(outer.Aggs, logical.AggItem{Col: total, Fn: sum, Args: []expr.Expr{part.Col}})
		var count expr.Expr = &expr.Cast{Arg: total, To: agg.Col.Typ}
		if outer.Scalar {
			count = &expr.Case{
				Whens: []expr.When{{Cond: &expr.IsNull{Arg: total}, Then: emptyValue(agg)}}, Else: count, Typ: agg.Col.Typ,
			}
		}
		return logical.Item{Col: agg.Col, Expr: count}
	}
	agg.Args = []expr.Expr{part.Col}
	outer.Aggs = append(outer.Aggs, agg)
	return logical.Item{Col: agg.Col, Expr: agg.Col}
}

// total adds up fn of agg's argument: in inner, where it is of type t, and then in outer. The column has the whole.
func (w *rewriter) total(inner, outer *logical.Aggregate, agg logical.AggItem, fn *expr.Aggregate, t types.Type) *expr.Column {
	name := nameOf(fn, agg.Args)
	part := w.alloc.New("", name, t, fn.EmptyIsNull)
	inner.Aggs = append(inner.Aggs, logical.AggItem{Col: part, Fn: fn, Args: agg.Args})
	if !t.IsFloat() {
		t = types.Decimal(types.MaxDecimalPrecision, int(t.Scale))
	}
	whole := w.alloc.New("", name, t, true)
	outer.Aggs = append(outer.Aggs, logical.AggItem{Col: whole, Fn: sumValues, Args: []expr.Expr{part}})
	return whole
}

// exactSum is the type of the sum that agg, an AVG, is computed from: no digit behind the point is dropped, as it may be from what SUM gives.
func exactSum(agg logical.AggItem) types.Type {
	t := agg.Args[0].Type()
	if t.IsFloat() {
		return types.Double
	}
	return types.Decimal(types.MaxDecimalPrecision, int(types.AsDecimal(t).Scale))
}

func sameArgs(a, b []expr.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !expr.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func noneNull(args []expr.Expr) expr.Expr {
	conds := make([]expr.Expr, len(args))
	for i, a := range args {
		conds[i] = &expr.Not{Arg: &expr.IsNull{Arg: a}}
	}
	return expr.AndOf(conds)
}
