package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const limitAppliesDoc = `Limit the rows for which subqueries are evaluated: LIMIT goes into the left side of the APPLY of a subquery in the
select list before decorrelate computes the subquery for all rows; with ORDER BY it does so if the keys are the left side's.

Legal where each left row gives one row or more. Not where the subquery decides which rows there are, or
  SELECT * FROM a ORDER BY (SELECT MAX(v) FROM b WHERE b.k = a.k) LIMIT 3
would order three rows of a that came first.`

func limitApplies(w *rewriter) error {
	return w.each(func(n logical.Node) (logical.Node, error) {
		return limitAppliesIn(w, n), nil
	})
}

func limitAppliesIn(w *rewriter, n logical.Node) logical.Node {
	if w.stopped() {
		return n
	}
	if x, ok := n.(*logical.Limit); ok && x.Count != logical.NoLimit {
		if in, changed := limitLeft(x.Input, x, nil); changed {
			n = withInput(n, x.Input, in)
		}
	}
	return logical.MapInputs(n, func(in logical.Node) logical.Node { return limitAppliesIn(w, in) })
}

// limitLeft limits what is left of the applies in n, of whose rows x passes the first in the order of keys; no keys are no order.
func limitLeft(n logical.Node, x *logical.Limit, keys []logical.SortKey) (logical.Node, bool) {
	switch in := n.(type) {
	case *logical.Project:
		defined := make(map[expr.ColumnID]expr.Expr, len(in.Items))
		for _, it := range in.Items {
			defined[it.Col.ID] = it.Expr
		}
		below := make([]logical.SortKey, len(keys))
		for i, k := range keys {
			below[i] = logical.SortKey{Expr: expr.Substitute(k.Expr, defined), Desc: k.Desc}
		}
		r, changed := limitLeft(in.Input, x, below)
		return withInput(n, in.Input, r), changed
	case *logical.Sort:
		if len(keys) > 0 || in.Count != logical.NoLimit || in.Offset != 0 {
			return n, false
		}
		r, changed := limitLeft(in.Input, x, in.Keys)
		return withInput(n, in.Input, r), changed
	case *logical.Apply:
		if in.Kind != logical.LeftJoin && in.Kind != logical.SingleJoin && in.Kind != logical.MarkJoin {
			return n, false
		}
		left, changed := limitLeft(in.Left, x, keys)
		if !changed {
			if left = below(in.Left, x); left == nil || !orderedBy(in.Left, keys) {
				return n, false
			}
			if len(keys) > 0 {
				left = &logical.Sort{Input: in.Left, Keys: keys, Count: left.(*logical.Limit).Count}
			}
		}
		return in.WithInputs([]logical.Node{left, in.Right}), true
	}
	return n, false
}

// orderedBy says whether n has what keys order by.
func orderedBy(n logical.Node, keys []logical.SortKey) bool {
	cols := logical.SetOfCols(n.Schema())
	for _, k := range keys {
		known := !expr.IsVolatile(k.Expr) && !expr.HasSubquery(k.Expr)
		expr.Columns(k.Expr, func(id expr.ColumnID) { known = known && cols.Has(id) })
		if !known {
			return false
		}
	}
	return true
}
