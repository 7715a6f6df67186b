package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const filterBuildsDoc = `Filter the right side of a semi or anti join by a much smaller left side, so that a small set is stored instead of a large
one.

Legal because a right row whose key no left row has decides nothing. The left side is stored and read twice. Equalities of the
condition alone make the filter; what else stands in it is tested later:
  SELECT * FROM l1 WHERE NOT EXISTS (SELECT * FROM l2 WHERE l2.k = l1.k AND l2.s <> l1.s)
needs every l2 whose k is in l1, with the same s too.`

func filterBuilds(w *rewriter) error {
	o := &joinOrderer{w: w}
	return w.each(func(n logical.Node) (logical.Node, error) {
		return logical.Rewrite(n, func(n logical.Node) logical.Node {
			j, ok := n.(*logical.Join)
			if !ok || w.stopped() || j.Kind != logical.SemiJoin && j.Kind != logical.AntiJoin {
				return n
			}
			return o.filterBuild(j)
		}), nil
	})
}

// A right side of at least minBuild rows is filtered by a left side with at most maxProbe times as many.
const (
	minBuild = 100_000
	maxProbe = 0.1
)

// filtersBuild returns the keys by which j's left side filters its right one, and how many rows that leaves; ok is false where it is not worth it.
func (o *joinOrderer) filtersBuild(j *logical.Join) (keys []expr.Expr, filtered float64, ok bool) {
	est := o.w.est
	rows := est.Rows(j.Right)
	if !o.w.eager && (rows < minBuild || est.Rows(j.Left) > maxProbe*rows) {
		return nil, 0, false
	}
	left, right := logical.Out(j.Left), logical.Out(j.Right)
	for _, p := range j.On {
		l, r, ok := equalColumns(p)
		if !ok {
			continue
		}
		if right.Has(l.ID) {
			l, r = r, l
		}
		if left.Has(l.ID) && right.Has(r.ID) {
			keys = append(keys, &expr.Compare{Op: expr.EQ, Left: r, Right: l})
		}
	}
	if len(keys) == 0 {
		return nil, 0, false
	}
	filtered = est.Rows(&logical.Join{Kind: logical.SemiJoin, Left: j.Right, Right: j.Left, On: keys})
	return keys, filtered, o.w.eager || filtered <= maxReduced*rows
}

func (o *joinOrderer) filterBuild(j *logical.Join) logical.Node {
	keys, _, ok := o.filtersBuild(j)
	if !ok {
		return j
	}
	main, second, cols := o.w.readTwice(j.Left)
	on := make([]expr.Expr, len(keys))
	for i, k := range keys {
		c := k.(*expr.Compare)
		on[i] = &expr.Compare{Op: expr.EQ, Left: c.Left, Right: cols[c.Right.(*expr.Column).ID]}
	}
	r := o.order(&logical.Join{Kind: logical.SemiJoin, Left: j.Right, Right: second, On: on})
	return j.WithInputs([]logical.Node{main, r})
}
