package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const deriveNullabilityDoc = `Derive what can be NULL: give every column reference the nullability that its input has.

Legal because it only repeats what the schemas below say. The references in a statement are made before joins are reordered, inserted and
simplified; a reference that calls a column NOT NULL above an outer join would let
  SELECT * FROM a LEFT JOIN b ON a.x = b.x WHERE b.x IS NULL
become an empty result.`

func deriveNullability(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node { return refreshNulls(n) })
	return nil
}

// refreshNulls rebinds the column references in n's own expressions and the columns that n makes.
func refreshNulls(n logical.Node) logical.Node {
	inputs := n.Inputs()
	switch x := n.(type) {
	case *logical.Values, *logical.Limit:
		return n
	case *logical.Scan:
		if len(x.Filter) == 0 {
			return n
		}
		inputs = []logical.Node{n} // its filter uses its own columns
	case *logical.Shared:
		return refreshShared(x)
	case *logical.SetOp:
		return refreshSetOp(x)
	}
	find := func(id expr.ColumnID) *expr.Column {
		for _, in := range inputs {
			if logical.Out(in).Has(id) {
				return logical.FindColumn(in, id)
			}
		}
		return nil
	}
	refresh := func(e expr.Expr) expr.Expr {
		return expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Column); ok {
				if f := find(c.ID); f != nil && f.Null != c.Null {
					return f
				}
			}
			return e
		})
	}
	n = logical.MapExprs(n, refresh)
	switch x := n.(type) {
	case *logical.Project:
		if items, ok := refreshItems(x.Items); ok {
			return &logical.Project{Input: x.Input, Items: items}
		}
	case *logical.Aggregate:
		if items, ok := refreshItems(x.Groups); ok {
			return &logical.Aggregate{Input: x.Input, Groups: items, Aggs: x.Aggs, Scalar: x.Scalar, Hint: x.Hint}
		}
	}
	return n
}

func refreshItems(items []logical.Item) ([]logical.Item, bool) {
	var out []logical.Item
	for i, it := range items {
		null := it.Expr.Nullable()
		if null == it.Col.Null {
			continue
		}
		if out == nil {
			out = append(out, items...)
		}
		out[i].Col = withNull(it.Col, null)
	}
	return out, out != nil
}

func withNull(c *expr.Column, null bool) *expr.Column {
	if c.Null == null {
		return c
	}
	n := *c
	n.Null = null
	return &n
}

// refreshShared makes a reader's columns as nullable as the plan's.
func refreshShared(s *logical.Shared) logical.Node {
	var cols []*expr.Column
	for i, f := range s.From {
		p := logical.FindColumn(s.Plan.Root, f.ID)
		if p == nil || p.Null == s.Cols[i].Null {
			continue
		}
		if cols == nil {
			cols = append(cols, s.Cols...)
		}
		cols[i] = withNull(s.Cols[i], p.Null)
	}
	if cols == nil {
		return s
	}
	return &logical.Shared{Plan: s.Plan, Cols: cols, From: s.From}
}

// refreshSetOp: a row of the result comes from some input; of EXCEPT always from the first, of INTERSECT from both.
func refreshSetOp(s *logical.SetOp) logical.Node {
	changed := false
	inputs := make([][]*expr.Column, len(s.All))
	for k, in := range s.All {
		inputs[k] = slices.Clone(s.InCols[k])
		for i, c := range inputs[k] {
			if f := logical.FindColumn(in, c.ID); f != nil && f.Null != c.Null {
				inputs[k][i], changed = f, true
			}
		}
	}
	cols := slices.Clone(s.Cols)
	for i, c := range cols {
		some, each := false, true
		for k := range inputs {
			some, each = some || inputs[k][i].Null, each && inputs[k][i].Null
		}
		null := some
		switch s.Kind {
		case logical.Intersect, logical.IntersectAll:
			null = each
		case logical.Except, logical.ExceptAll:
			null = inputs[0][i].Null
		}
		if null != c.Null {
			cols[i], changed = withNull(c, null), true
		}
	}
	if !changed {
		return s
	}
	return &logical.SetOp{Kind: s.Kind, All: s.All, InCols: inputs, Cols: cols}
}
