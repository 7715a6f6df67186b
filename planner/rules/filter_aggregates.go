package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const filterAggregatesDoc = `Filter the input of an aggregation by the join above it: groups that find no partner need not be made (a semi-join reduction,
as in magic sets).

Legal for equalities with group keys, since a whole group passes or fails; on a side of an inner or semi join, or the right side of
a left or anti join. The other side is stored and read twice, so it must be small. Not for an aggregation without groups:
  SELECT * FROM d JOIN (SELECT COUNT(*) AS n FROM e) c ON d.x = c.n
counts all of e, whatever d holds.`

func filterAggregates(w *rewriter) error {
	o := &joinOrderer{w: w}
	return w.each(func(n logical.Node) (logical.Node, error) {
		return logical.Rewrite(n, func(n logical.Node) logical.Node {
			j, ok := n.(*logical.Join)
			if !ok || w.stopped() {
				return n
			}
			switch j.Kind {
			case logical.InnerJoin:
				if l, r := o.reduce(j, j.Left, j.Right); l != nil {
					return j.WithInputs([]logical.Node{l, r})
				}
				if r, l := o.reduce(j, j.Right, j.Left); l != nil {
					return j.WithInputs([]logical.Node{l, r})
				}
			case logical.SemiJoin:
				if l, r := o.reduce(j, j.Left, j.Right); l != nil {
					return j.WithInputs([]logical.Node{l, r})
				}
				fallthrough
			case logical.LeftJoin, logical.AntiJoin:
				if r, l := o.reduce(j, j.Right, j.Left); l != nil {
					return j.WithInputs([]logical.Node{l, r})
				}
			}
			return n
		}), nil
	})
}

// maxReduced is the share of an aggregation's input up to which it pays to look for it; minReduced is the least number
// of rows that must go.
const (
	maxReduced = 0.3
	minReduced = 10_000
)

// reduce filters the input of the aggregation grouped by the keys that other has, and returns both sides, or nil.
func (o *joinOrderer) reduce(j *logical.Join, grouped, other logical.Node) (newGrouped, newOther logical.Node) {
	var having []expr.Expr
	n := grouped
	if f, ok := n.(*logical.Filter); ok {
		having, n = f.Preds, f.Input
	}
	agg, ok := n.(*logical.Aggregate)
	if !ok || agg.Scalar || len(agg.Groups) == 0 {
		return nil, nil
	}
	est := o.w.est
	rows := est.Rows(agg.Input)
	if !o.w.eager && (rows < minReduced || est.Rows(other) > maxReduced*rows) {
		return nil, nil
	}
	keys := groupEqualities(j.On, agg, other)
	if len(keys) == 0 || !o.w.eager && isLargeWhole(other, est.Rows(other)) {
		return nil, nil
	}
	try := &logical.Join{Kind: logical.SemiJoin, Left: agg.Input, Right: other, On: keys}
	if !o.w.eager && est.Rows(try) > maxReduced*rows {
		return nil, nil
	}
	main, second, cols := o.w.readTwice(other)
	on := make([]expr.Expr, len(keys))
	for i, k := range keys {
		c := k.(*expr.Compare)
		on[i] = &expr.Compare{Op: c.Op, Left: c.Left, Right: cols[c.Right.(*expr.Column).ID]}
	}
	in := o.order(&logical.Join{Kind: logical.SemiJoin, Left: agg.Input, Right: second, On: on})
	return logical.NewFilter(agg.WithInputs([]logical.Node{in}), having...), main
}

// mostWhole is how many rows of a whole table may be stored to filter by them. A table that nothing filters mostly has the keys of all groups, as the table
// that they refer to; an estimate that says otherwise may only lack the number of distinct keys, which files do not tell.
const mostWhole = 100_000

// isLargeWhole says whether n is all of a large table.
func isLargeWhole(n logical.Node, rows float64) bool {
	for {
		p, ok := n.(*logical.Project)
		if !ok {
			break
		}
		n = p.Input
	}
	s, ok := n.(*logical.Scan)
	return ok && len(s.Filter) == 0 && rows > mostWhole
}

// groupEqualities returns the equalities of on between group keys and columns of other, the keys replaced by what they
// are computed from.
func groupEqualities(on []expr.Expr, agg *logical.Aggregate, other logical.Node) []expr.Expr {
	var out []expr.Expr
	for _, p := range on {
		l, r, ok := equalColumns(p)
		if !ok {
			continue
		}
		if logical.Out(other).Has(l.ID) {
			l, r = r, l
		}
		if !logical.Out(other).Has(r.ID) {
			continue
		}
		for _, g := range agg.Groups {
			if g.Col.ID == l.ID && !expr.IsVolatile(g.Expr) {
				out = append(out, &expr.Compare{Op: expr.EQ, Left: g.Expr, Right: r})
			}
		}
	}
	return out
}

// readTwice stores n in a shared plan and returns two readers of it: one that gives n's columns, and one under
// other names, with the mapping from n's columns. N must not have free columns.
func (w *rewriter) readTwice(n logical.Node) (main, second *logical.Shared, cols map[expr.ColumnID]*expr.Column) {
	cols = map[expr.ColumnID]*expr.Column{}
	if s, ok := n.(*logical.Shared); ok {
		main, second = s, &logical.Shared{Plan: s.Plan, From: s.From}
	} else {
		root, inRoot := logical.Copy(n, w.alloc)
		plan := w.newShared("", root)
		main, second = &logical.Shared{Plan: plan, Cols: n.Schema()}, &logical.Shared{Plan: plan}
		for _, c := range n.Schema() {
			main.From = append(main.From, withNull(inRoot[c.ID], c.Null))
		}
		second.From = main.From
	}
	for _, c := range main.Cols {
		cols[c.ID] = w.alloc.Like(c)
		second.Cols = append(second.Cols, cols[c.ID])
	}
	return main, second, cols
}
