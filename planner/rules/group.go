package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// group is a maximal tree of inner joins and filters: its leaves in order, and all of its conditions. The joins may be
// done in any order.
type group struct {
	leaves []logical.Node
	preds  []expr.Expr
}

func (g *group) add(n logical.Node) {
	switch x := n.(type) {
	case *logical.Filter:
		g.preds = append(g.preds, x.Preds...)
		g.add(x.Input)
	case *logical.Join:
		if x.Kind == logical.InnerJoin {
			g.preds = append(g.preds, x.On...)
			g.add(x.Left)
			g.add(x.Right)
			return
		}
		g.leaves = append(g.leaves, n)
	default:
		g.leaves = append(g.leaves, n)
	}
}

func isGroup(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Filter:
		return true
	case *logical.Join:
		return x.Kind == logical.InnerJoin
	}
	return false
}

// eachGroup replaces every join group in n by f's result, outer ones first. F must keep the group's own joins and
// filters; it may add to them.
func (w *rewriter) eachGroup(n logical.Node, f func(logical.Node, *group) logical.Node) logical.Node {
	var visit func(n logical.Node, inside bool) logical.Node
	visit = func(n logical.Node, inside bool) logical.Node {
		if w.stopped() {
			return n
		}
		grouped := isGroup(n)
		if grouped && !inside {
			g := &group{}
			g.add(n)
			r := f(n, g)
			if r != n {
				// f only put a filter on top: what is below is visited once.
				n = r
			}
		}
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return visit(in, grouped) })
	}
	return visit(n, false)
}

// classes partitions columns into those known to be equal.
type classes struct {
	parent map[expr.ColumnID]expr.ColumnID
	cols   map[expr.ColumnID]*expr.Column
	order  []*expr.Column // as first seen
}

func (c *classes) find(id expr.ColumnID) expr.ColumnID {
	for {
		p, ok := c.parent[id]
		if !ok || p == id {
			return id
		}
		id = p
	}
}

func (c *classes) see(col *expr.Column) {
	if c.cols == nil {
		c.cols, c.parent = map[expr.ColumnID]*expr.Column{}, map[expr.ColumnID]expr.ColumnID{}
	}
	if c.cols[col.ID] == nil {
		c.cols[col.ID] = col
		c.parent[col.ID] = col.ID
		c.order = append(c.order, col)
	}
}

// learn takes note of e if it equates two columns of one kind.
func (c *classes) learn(e expr.Expr) {
	l, r, ok := equalColumns(e)
	if !ok || !interchangeable(l, r) {
		return
	}
	c.see(l)
	c.see(r)
	if a, b := c.find(l.ID), c.find(r.ID); a != b {
		c.parent[b] = a
	}
}

// others returns the columns known to equal id, itself left out.
func (c *classes) others(id expr.ColumnID) []*expr.Column {
	if c.cols[id] == nil {
		return nil
	}
	var out []*expr.Column
	root := c.find(id)
	for _, col := range c.order {
		if col.ID != id && c.find(col.ID) == root {
			out = append(out, col)
		}
	}
	return out
}

// equalColumns returns the sides of an equality of two columns.
func equalColumns(e expr.Expr) (l, r *expr.Column, ok bool) {
	c, isCompare := e.(*expr.Compare)
	if !isCompare || c.Op != expr.EQ {
		return nil, nil, false
	}
	l, lok := c.Left.(*expr.Column)
	r, rok := c.Right.(*expr.Column)
	return l, r, lok && rok
}

// interchangeable says whether equal values of the two columns are the same representation.
func interchangeable(a, b *expr.Column) bool {
	if a.Typ.IsTemporal() || b.Typ.IsTemporal() {
		return a.Typ.Kind == b.Typ.Kind
	}
	return alike(a.Typ, b.Typ)
}
