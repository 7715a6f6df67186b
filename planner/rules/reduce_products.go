package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const reduceProductsDoc = `Reduce products whose rows are only asked for: where it does not matter how often a row comes, of an input of a cross join that
gives no column one row is enough.

It does not matter on the right of semi, anti and mark joins, and below DISTINCT and aggregates as MIN. Legal because an input without rows
stays without, or
  SELECT DISTINCT a FROM t, u
would have rows where u has none; not where a value is another at each row, as RAND().`

func reduceProducts(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Join:
			if x.Kind != logical.SemiJoin && x.Kind != logical.AntiJoin && x.Kind != logical.MarkJoin {
				return n
			}
			needed := logical.UsesOf(slices.Concat(x.On, x.Corr))
			if right := w.asSet(x.Right, needed); right != x.Right {
				return x.WithInputs([]logical.Node{x.Left, right})
			}
		case *logical.Aggregate:
			if slices.ContainsFunc(x.Aggs, func(a logical.AggItem) bool { return !ignoresDuplicates(a.Fn.Kind) }) || slices.ContainsFunc(x.Exprs(), expr.IsVolatile) {
				return n
			}
			if in := w.asSet(x.Input, logical.UsesOf(x.Exprs())); in != x.Input {
				return x.WithInputs([]logical.Node{in})
			}
		}
		return n
	})
	return nil
}

// asSet reduces the products of n, of whose rows the set of values in needed's columns matters.
func (w *rewriter) asSet(n logical.Node, needed logical.ColSet) logical.Node {
	switch x := n.(type) {
	case *logical.Project:
		var below []expr.Expr
		for _, it := range x.Items {
			if !needed.Has(it.Col.ID) {
				continue
			}
			if expr.IsVolatile(it.Expr) {
				return n
			}
			below = append(below, it.Expr)
		}
		return withInput(x, x.Input, w.asSet(x.Input, logical.UsesOf(below)))
	case *logical.Filter:
		if slices.ContainsFunc(x.Preds, expr.IsVolatile) {
			return n
		}
		return withInput(x, x.Input, w.asSet(x.Input, with(needed, x.Preds)))
	case *logical.Join:
		if x.Kind != logical.InnerJoin || slices.ContainsFunc(x.On, expr.IsVolatile) {
			return n
		}
		below := with(needed, x.On)
		left, right := w.asSet(x.Left, below), w.asSet(x.Right, below)
		if len(x.On) == 0 {
			left, right = w.oneOf(left, needed), w.oneOf(right, needed)
		}
		if left != x.Left || right != x.Right {
			w.changed = true
			return x.WithInputs([]logical.Node{left, right})
		}
	}
	return n
}

// oneOf cuts an input of a product to one row if none of its columns is needed and it may have more.
func (w *rewriter) oneOf(n logical.Node, needed logical.ColSet) logical.Node {
	if needed.Meets(logical.Out(n)) || w.est.Rows(n) <= 1 {
		return n
	}
	return &logical.Limit{Input: n, Count: 1}
}
