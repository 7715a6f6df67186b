package logical

import (
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// CheckCollations refuses a plan that would compare, group or sort strings by their bytes though their collation says otherwise. The
// binder puts collation keys in the place of such strings, so that only what it has overlooked is found here: better no answer than a
// wrong one. It ends with the error of ctx once the statement has been cancelled.
func CheckCollations(n Node, ctx *expr.Context) error {
	c := collationChecker{ctx: ctx, plans: map[*SharedPlan]bool{}}
	c.node(n)
	return c.err
}

type collationChecker struct {
	ctx   *expr.Context
	polls int
	plans map[*SharedPlan]bool
	err   error
}

// bytes reports expressions that are compared by their bytes and must not be.
func (c *collationChecker) bytes(where string, es ...expr.Expr) {
	for _, e := range es {
		if t := e.Type(); t.Folds() && c.err == nil {
			c.err = sqlerr.NotSupportedf(where+" over strings of collation "+t.Collation.String(), "write %s COLLATE utf8mb4_bin to compare by bytes", e)
		}
	}
}

func (c *collationChecker) columns(where string, cols []*expr.Column) {
	for _, col := range cols {
		c.bytes(where, col)
	}
}

func (c *collationChecker) keys(where string, keys []SortKey) {
	for _, k := range keys {
		c.bytes(where, k.Expr)
	}
}

func (c *collationChecker) node(n Node) {
	switch x := n.(type) {
	case *Aggregate:
		for _, g := range x.Groups {
			c.bytes("GROUP BY or DISTINCT", g.Expr)
		}
		for _, a := range x.Aggs {
			// GROUP_CONCAT compares strings by their collations itself, since it needs both them and their keys.
			if a.Distinct && a.Fn.Kind != expr.AggGroupConcat || a.Fn.Kind == expr.AggMin || a.Fn.Kind == expr.AggMax {
				c.bytes(a.Fn.Name, a.Args...)
			}
			c.keys(a.Fn.Name, a.OrderBy)
		}
	case *Sort:
		c.keys("ORDER BY", x.Keys)
	case *Window:
		c.bytes("PARTITION BY", x.Partition...)
		c.keys("ORDER BY of a window", x.Order)
		for _, it := range x.Items {
			if a := it.Fn.Agg; a != nil && (a.Kind == expr.AggMin || a.Kind == expr.AggMax) {
				c.bytes(a.Name, it.Args...)
			}
		}
	case *SetOp:
		if x.Kind != UnionAll {
			c.columns(x.Kind.String(), x.Cols)
		}
	case *Recursive:
		if x.Distinct {
			c.columns("a recursive UNION", x.apart())
		}
	case *Shared:
		if !c.plans[x.Plan] {
			c.plans[x.Plan] = true
			c.node(x.Plan.Root)
		}
	}
	for _, e := range n.Exprs() {
		expr.Walk(e, c.expr)
	}
	for _, in := range n.Inputs() {
		c.node(in)
	}
}

func (c *collationChecker) expr(e expr.Expr) bool {
	if c.polls++; c.polls&255 == 0 && c.err == nil {
		c.err = c.ctx.Interrupted()
	}
	switch x := e.(type) {
	case *expr.Compare:
		c.bytes(x.Op.String(), x.Left, x.Right)
	case *expr.In:
		c.bytes("IN", x.Arg)
	case *expr.Subquery:
		if x.Kind == expr.InSubquery || x.Kind == expr.AnySubquery || x.Kind == expr.AllSubquery {
			c.bytes("IN, ANY or ALL", x.Args...)
			c.columns("IN, ANY or ALL", x.Out)
		}
		c.node(x.Rel.(Node))
	}
	return c.err == nil
}
