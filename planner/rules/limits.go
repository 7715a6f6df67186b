package rules

import (
	"math"

	"github.com/radish-sql/radish/planner/logical"
)

const pushLimitsDoc = `Push limits down: LIMIT over ORDER BY becomes a top-N sort; LIMIT goes below projections and into the branches of UNION
ALL and the left side of joins that keep every left row.

Legal where each row above comes from one row below. Not below a filter, or
  SELECT * FROM (SELECT * FROM t ORDER BY a) d WHERE b = 1 LIMIT 10
would look at ten rows only. Sorts whose order no one sees are dropped.`

func pushLimits(w *rewriter) error {
	l := &limiter{w: w}
	return w.each(func(n logical.Node) (logical.Node, error) {
		// The order of the root's rows is the result's; that of a shared plan's is seen by no one.
		return l.node(n, n == w.root), nil
	})
}

type limiter struct{ w *rewriter }

// node rewrites n; ordered says whether someone sees the order of its rows.
func (l *limiter) node(n logical.Node, ordered bool) logical.Node {
	if l.w.stopped() {
		return n
	}
	switch x := n.(type) {
	case *logical.Limit:
		if r := l.limit(x, ordered); r != nil {
			return r
		}
		return l.input(n, x.Input, true)
	case *logical.Sort:
		if !ordered && x.Count == logical.NoLimit && x.Offset == 0 {
			return l.node(x.Input, false)
		}
		return l.input(n, x.Input, false)
	case *logical.Filter:
		return l.input(n, x.Input, ordered)
	case *logical.Project:
		return l.input(n, x.Input, ordered)
	}
	return logical.MapInputs(n, func(in logical.Node) logical.Node { return l.node(in, false) })
}

func (l *limiter) input(n, in logical.Node, ordered bool) logical.Node {
	return withInput(n, in, l.node(in, ordered))
}

// limit pushes x down, or returns nil where it stays.
func (l *limiter) limit(x *logical.Limit, ordered bool) logical.Node {
	if x.Count == logical.NoLimit && x.Offset == 0 {
		return l.node(x.Input, ordered)
	}
	switch in := x.Input.(type) {
	case *logical.Sort:
		if in.Count == logical.NoLimit && in.Offset == 0 {
			return l.node(&logical.Sort{Input: in.Input, Keys: in.Keys, Count: x.Count, Offset: x.Offset}, ordered)
		}
	case *logical.Project:
		return l.node(&logical.Project{Input: &logical.Limit{Input: in.Input, Count: x.Count, Offset: x.Offset}, Items: in.Items}, ordered)
	case *logical.Limit:
		count, offset, ok := nested(in, x)
		if ok {
			return l.node(&logical.Limit{Input: in.Input, Count: count, Offset: offset}, ordered)
		}
	case *logical.SetOp:
		if in.Kind == logical.UnionAll && x.Count != logical.NoLimit {
			if r := l.eachInput(in, x); r != nil {
				return &logical.Limit{Input: r, Count: x.Count, Offset: x.Offset}
			}
		}
	case *logical.Join:
		// A left row gives one row or more: enough left rows suffice.
		if (in.Kind == logical.LeftJoin || in.Kind == logical.SingleJoin || in.Kind == logical.MarkJoin) && x.Count != logical.NoLimit {
			if left := below(in.Left, x); left != nil {
				return &logical.Limit{Input: in.WithInputs([]logical.Node{l.node(left, false), l.node(in.Right, false)}), Count: x.Count, Offset: x.Offset}
			}
		}
	}
	return nil
}

// eachInput limits every input of a union to as many rows as can be asked for.
func (l *limiter) eachInput(s *logical.SetOp, x *logical.Limit) logical.Node {
	inputs := make([]logical.Node, len(s.All))
	changed := false
	for i, in := range s.All {
		inputs[i] = in
		if b := below(in, x); b != nil {
			inputs[i], changed = b, true
		}
		inputs[i] = l.node(inputs[i], false)
	}
	if !changed {
		return nil
	}
	return s.WithInputs(inputs)
}

// below limits n to the rows that x can pass, or returns nil if n gives no more already.
func below(n logical.Node, x *logical.Limit) logical.Node {
	if x.Count > math.MaxInt64-x.Offset {
		return nil
	}
	count := x.Count + x.Offset
	switch in := n.(type) {
	case *logical.Limit:
		if in.Count != logical.NoLimit && in.Count <= count {
			return nil
		}
	case *logical.Values:
		if int64(len(in.Rows)) <= count {
			return nil
		}
	}
	if atMostOneRow(n) {
		return nil
	}
	return &logical.Limit{Input: n, Count: count}
}

// nested combines two limits into one.
func nested(inner, outer *logical.Limit) (count, offset int64, ok bool) {
	if inner.Offset > math.MaxInt64-outer.Offset {
		return 0, 0, false
	}
	offset = inner.Offset + outer.Offset
	count = outer.Count
	if inner.Count != logical.NoLimit {
		left := max(inner.Count-outer.Offset, 0)
		if count == logical.NoLimit || left < count {
			count = left
		}
	}
	return count, offset, true
}
