package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const reduceRangesDoc = `Reduce ranges that are only asked for a row: where rows match by equalities and one inequality, the extremes of
each key are enough.

It is on the right of semi, anti and mark joins, so that no left row has to look at all the rows of its key. Legal because some value is less
than x if the least is, and some value is not x if the least or the greatest is not. What IN compares is a key too, or
  SELECT a, b IN (SELECT c FROM u WHERE u.k = t.k AND u.v < t.v) FROM t
would not be NULL where such a c is NULL and has not the least v.`

func reduceRanges(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		if j, ok := n.(*logical.Join); ok {
			switch j.Kind {
			case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
				return w.reduceRange(j)
			}
		}
		return n
	})
	return nil
}

func (w *rewriter) reduceRange(j *logical.Join) logical.Node {
	belongs, compared := j.On, []expr.Expr(nil) // the conditions with the inequality, and those of IN
	if j.Kind == logical.MarkJoin {
		belongs, compared = j.Corr, j.On
	}
	outer := logical.Out(j.Left)
	rs := rangesOf(belongs, outer)
	if len(rs) != 1 || !allEqualities(compared, outer) {
		return j
	}
	r := rs[0]
	if !w.eager && w.est.MostFrequent(j.Right, append(r.innerKeys(), innerSides(compared, outer)...)) <= fewMatches {
		return j
	}
	d := &decorrelator{w: w}
	groups, compared := d.groupKeys(compared, outer, nil)
	keys := make([]expr.Expr, len(r.keys))
	for i, k := range r.keys {
		keys[i] = k
	}
	groups, keys = d.groupKeys(keys, outer, groups)
	agg := &logical.Aggregate{Input: j.Right, Groups: groups, Scalar: len(groups) == 0}
	var some []expr.Expr // one of which an extreme of the key's rows has to satisfy
	for _, best := range r.extremes() {
		end := w.newAgg(best, best.Name, r.inner)
		end.Col.Null = true
		agg.Aggs = append(agg.Aggs, end)
		some = append(some, &expr.Compare{Op: r.op.Swap(), Left: r.outer, Right: end.Col})
	}
	belongs = append(append(slices.Clone(r.rest), keys...), expr.OrOf(some))
	w.changed = true
	if j.Kind == logical.MarkJoin {
		return &logical.Join{Kind: j.Kind, Left: j.Left, Right: agg, On: compared, Corr: belongs, Mark: j.Mark, Hint: j.Hint}
	}
	return &logical.Join{Kind: j.Kind, Left: j.Left, Right: agg, On: belongs, Hint: j.Hint}
}

// extremes returns the aggregates of inner values of which one matches if any value does.
func (r *matchedRange) extremes() []*expr.Aggregate {
	switch {
	case r.op == expr.NE:
		return []*expr.Aggregate{minimum, maximum}
	case r.ascending():
		return []*expr.Aggregate{minimum}
	}
	return []*expr.Aggregate{maximum}
}
