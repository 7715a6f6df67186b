package logical

import "github.com/radish-sql/radish/sql/expr"

// Copy returns a copy of n in which every column that n makes has a fresh ID, so that it can stand beside n in one
// plan, and the mapping from n's columns to the copy's. Free columns and shared plans stay the same.
func Copy(n Node, alloc *expr.Allocator) (Node, map[expr.ColumnID]*expr.Column) {
	c := &copier{alloc: alloc, cols: map[expr.ColumnID]*expr.Column{}}
	return c.node(n), c.cols
}

type copier struct {
	alloc *expr.Allocator
	cols  map[expr.ColumnID]*expr.Column
	loops map[*Loop]*Loop // those of the Recursives in the tree
}

func (c *copier) node(n Node) Node {
	switch x := n.(type) {
	case *Scan:
		cols := c.fresh(x.Cols)
		return &Scan{Table: x.Table, Alias: x.Alias, Cols: cols, Ordinals: x.Ordinals, Filter: c.exprs(x.Filter)}
	case *Values:
		rows := make([][]expr.Expr, len(x.Rows))
		for i, r := range x.Rows {
			rows[i] = c.exprs(r)
		}
		return &Values{Cols: c.fresh(x.Cols), Rows: rows, First: x.First}
	case *Filter:
		return &Filter{Input: c.node(x.Input), Preds: c.exprs(x.Preds)}
	case *Project:
		return &Project{Input: c.node(x.Input), Items: c.items(x.Items)}
	case *Join:
		l := c.node(x.Left)
		r := c.node(x.Right)
		return &Join{Kind: x.Kind, Left: l, Right: r, On: c.exprs(x.On), Corr: c.exprs(x.Corr), Mark: c.freshOne(x.Mark), Hint: x.Hint}
	case *Apply:
		l := c.node(x.Left)
		r := c.node(x.Right)
		return &Apply{Kind: x.Kind, Left: l, Right: r, On: c.exprs(x.On), Corr: c.exprs(x.Corr), Mark: c.freshOne(x.Mark)}
	case *Aggregate:
		out := &Aggregate{Input: c.node(x.Input), Scalar: x.Scalar, Hint: x.Hint}
		out.Groups = c.items(x.Groups)
		out.Aggs = c.aggs(x.Aggs)
		return out
	case *Recursive:
		return c.recursive(x)
	case *WorkTable:
		return c.workTable(x)
	case *Window:
		out := &Window{Input: c.node(x.Input)}
		out.Partition, out.Order = c.exprs(x.Partition), c.keys(x.Order)
		out.Items = make([]WindowItem, len(x.Items))
		for i, it := range x.Items {
			it.Args, it.Frame = c.exprs(it.Args), it.Frame.WithExprs(c.exprs(it.Frame.Exprs()))
			it.Col = c.freshOne(it.Col)
			out.Items[i] = it
		}
		return out
	case *Unnest:
		out := &Unnest{Input: c.node(x.Input), Table: x.Table, Ordinals: x.Ordinals, Outer: x.Outer}
		out.Doc, out.Cols = c.expr(x.Doc), c.fresh(x.Cols)
		return out
	case *Sort:
		in := c.node(x.Input)
		return &Sort{Input: in, Keys: c.keys(x.Keys), Count: x.Count, Offset: x.Offset}
	case *Limit:
		return &Limit{Input: c.node(x.Input), Count: x.Count, Offset: x.Offset}
	case *SetOp:
		out := &SetOp{Kind: x.Kind, All: make([]Node, len(x.All)), InCols: make([][]*expr.Column, len(x.All))}
		for i, in := range x.All {
			out.All[i] = c.node(in)
			out.InCols[i] = c.mapped(x.InCols[i])
		}
		out.Cols = c.fresh(x.Cols)
		return out
	case *Shared:
		return &Shared{Plan: x.Plan, Cols: c.fresh(x.Cols), From: x.From}
	}
	panic("logical: unknown node")
}

func (c *copier) freshOne(col *expr.Column) *expr.Column {
	if col == nil {
		return nil
	}
	n := c.alloc.Like(col)
	c.cols[col.ID] = n
	return n
}

func (c *copier) fresh(cols []*expr.Column) []*expr.Column {
	out := make([]*expr.Column, len(cols))
	for i, col := range cols {
		out[i] = c.freshOne(col)
	}
	return out
}

func (c *copier) mapped(cols []*expr.Column) []*expr.Column {
	out := make([]*expr.Column, len(cols))
	for i, col := range cols {
		out[i] = col
		if n, ok := c.cols[col.ID]; ok {
			out[i] = n
		}
	}
	return out
}

// items copies expressions before it renames: an item may use what another one passes through.
func (c *copier) items(items []Item) []Item {
	out := make([]Item, len(items))
	for i, it := range items {
		out[i].Expr = c.expr(it.Expr)
	}
	for i, it := range items {
		if in, ok := it.Expr.(*expr.Column); ok && in.ID == it.Col.ID {
			if passed, ok := out[i].Expr.(*expr.Column); ok {
				out[i].Col = passed
				continue
			}
		}
		out[i].Col = c.freshOne(it.Col)
	}
	return out
}

// aggs copies arguments before it renames: another aggregate may use a column that one passes through.
func (c *copier) aggs(aggs []AggItem) []AggItem {
	out := make([]AggItem, len(aggs))
	for i, a := range aggs {
		a.Args, a.OrderBy = c.exprs(a.Args), c.keys(a.OrderBy)
		out[i] = a
	}
	for i := range aggs {
		if PassesValue(&aggs[i]) {
			out[i].Col = out[i].Args[0].(*expr.Column)
		} else {
			out[i].Col = c.freshOne(aggs[i].Col)
		}
	}
	return out
}

func (c *copier) keys(keys []SortKey) []SortKey {
	if keys == nil {
		return nil
	}
	out := make([]SortKey, len(keys))
	for i, k := range keys {
		out[i] = SortKey{c.expr(k.Expr), k.Desc}
	}
	return out
}

func (c *copier) exprs(es []expr.Expr) []expr.Expr {
	if es == nil {
		return nil
	}
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = c.expr(e)
	}
	return out
}

func (c *copier) expr(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
		switch x := e.(type) {
		case *expr.Column:
			if n, ok := c.cols[x.ID]; ok {
				if n.Null != x.Null {
					n = &expr.Column{ID: n.ID, Table: n.Table, Name: n.Name, Typ: n.Typ, Null: x.Null}
				}
				return n
			}
		case *expr.Subquery:
			q := *x
			q.Rel = c.node(x.Rel.(Node))
			q.Out = c.mapped(x.Out)
			return &q
		}
		return e
	})
}

// Made returns the columns that n and the nodes under it make, those that [Copy] gives fresh IDs.
func Made(n Node) ColSet {
	var made ColSet
	Walk(n, func(x Node) bool {
		for _, c := range x.Schema() {
			made.Add(c.ID)
		}
		return true
	})
	for _, id := range n.FreeColumns() {
		made.Remove(id)
	}
	return made
}
