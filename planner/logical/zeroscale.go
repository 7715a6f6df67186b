package logical

import (
	"github.com/radish-sql/radish/sql/expr"
)

// ZeroScales are how many digits the query's columns have behind the point where they are zero, as a variable takes them; see [expr.ZeroScale].
func (q *Query) ZeroScales() []int {
	scales := make([]int, len(q.Cols))
	for i, c := range q.Cols {
		scales[i] = zeroScale(q.Root, c)
	}
	return scales
}

// zeroScale is that of a column of n. Rows that MySQL stores before it gives them to a variable (DISTINCT, set operations, groups) have the scale of
// their type.
func zeroScale(n Node, c *expr.Column) int {
	within := func(input Node) func(e expr.Expr) int {
		return func(e expr.Expr) int {
			switch x := e.(type) {
			case *expr.Column:
				return zeroScale(input, x)
			case *expr.Subquery:
				if rel, ok := x.Rel.(Node); ok && x.Kind == expr.ScalarSubquery {
					return zeroScale(rel, x.Out[0])
				}
			}
			return expr.ScaleOf(e.Type())
		}
	}
	switch x := n.(type) {
	case *Filter:
		return zeroScale(x.Input, c)
	case *Sort:
		return zeroScale(x.Input, c)
	case *Limit:
		return zeroScale(x.Input, c)
	case *Project:
		for _, item := range x.Items {
			if item.Col.ID == c.ID {
				return expr.ZeroScale(item.Expr, within(x.Input))
			}
		}
	case *Aggregate:
		for _, a := range x.Aggs {
			if a.Col.ID != c.ID {
				continue
			}
			switch {
			case a.Fn.Kind == expr.AggAvg:
				return 0 // a quotient
			case x.Scalar && (a.Fn.Kind == expr.AggMin || a.Fn.Kind == expr.AggMax):
				return expr.ZeroScale(a.Args[0], within(x.Input))
			}
		}
	}
	return expr.ScaleOf(c.Typ)
}
