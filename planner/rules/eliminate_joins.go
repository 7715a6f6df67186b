package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const eliminateJoinsDoc = `Eliminate joins that neither drop nor repeat rows nor give a column that is used: a left join whose right side has at
most one match for each row; a cross join with one row of constants. A single join that cannot find two rows becomes a left join.

Legal only if uniqueness is proven from keys or grouping:
  SELECT a.x FROM a LEFT JOIN b ON a.x = b.x
repeats a row of a for each match in b, unless b.x is unique.`

func eliminateJoins(w *rewriter) error {
	e := &joinEliminator{w: w}
	root := e.node(w.root, logical.SetOfCols(w.output))
	if root != w.root {
		w.root, w.changed = root, true
	}
	if w.shape&hasShared != 0 {
		for _, p := range w.sharedPlans() {
			if n := e.node(p.Root, logical.Out(p.Root)); n != p.Root {
				p.Root, w.changed = n, true
			}
		}
	}
	return nil
}

type joinEliminator struct{ w *rewriter }

// node rewrites n, of whose columns those of needed are used.
func (e *joinEliminator) node(n logical.Node, needed logical.ColSet) logical.Node {
	if e.w.stopped() {
		return n
	}
	switch x := n.(type) {
	case *logical.Join:
		return e.join(x, needed)
	case *logical.SetOp:
		inputs := make([]logical.Node, len(x.All))
		changed := false
		for i, in := range x.All {
			inputs[i] = e.node(in, logical.SetOfCols(x.InCols[i]))
			changed = changed || inputs[i] != in
		}
		if !changed {
			return n
		}
		return x.WithInputs(inputs)
	case *logical.Recursive:
		seed, step := e.node(x.Seed, logical.SetOfCols(x.SeedCols)), e.node(x.Step, logical.SetOfCols(x.StepCols))
		if seed == x.Seed && step == x.Step {
			return n
		}
		return x.WithInputs([]logical.Node{seed, step})
	}
	below := logical.UsesOf(n.Exprs())
	switch n.(type) {
	case *logical.Project, *logical.Aggregate:
	default:
		below.AddSet(needed)
	}
	return logical.MapInputs(n, func(in logical.Node) logical.Node { return e.node(in, below) })
}

func (e *joinEliminator) join(j *logical.Join, needed logical.ColSet) logical.Node {
	right := logical.Out(j.Right)
	switch j.Kind {
	case logical.LeftJoin:
		if !needed.Meets(right) && e.w.est.MatchesOnce(j) {
			return e.node(j.Left, needed)
		}
	case logical.SingleJoin:
		if e.w.est.MatchesOnce(j) {
			return e.join(&logical.Join{Kind: logical.LeftJoin, Left: j.Left, Right: j.Right, On: j.On, Hint: j.Hint}, needed)
		}
	case logical.InnerJoin:
		if len(j.On) == 0 {
			if items, ok := oneRow(j.Right); ok {
				return addConstants(e.node(j.Left, needed), items)
			}
			if items, ok := oneRow(j.Left); ok {
				return addConstants(e.node(j.Right, needed), items)
			}
		}
	}
	below := needed.Clone()
	addAll(&below, j.On)
	addAll(&below, j.Corr)
	return logical.MapInputs(j, func(in logical.Node) logical.Node { return e.node(in, below) })
}

// oneRow recognises a relation of one row of constant expressions.
func oneRow(n logical.Node) ([]logical.Item, bool) {
	switch x := n.(type) {
	case *logical.Values:
		if len(x.Rows) != 1 {
			return nil, false
		}
		items := make([]logical.Item, len(x.Cols))
		for i, c := range x.Cols {
			if expr.IsVolatile(x.Rows[0][i]) {
				return nil, false
			}
			items[i] = logical.Item{Col: c, Expr: x.Rows[0][i]}
		}
		return items, true
	case *logical.Project:
		below, ok := oneRow(x.Input)
		if !ok {
			return nil, false
		}
		m := map[expr.ColumnID]expr.Expr{}
		for _, it := range below {
			m[it.Col.ID] = it.Expr
		}
		items := make([]logical.Item, len(x.Items))
		for i, it := range x.Items {
			if expr.IsVolatile(it.Expr) {
				return nil, false
			}
			items[i] = logical.Item{Col: it.Col, Expr: expr.Substitute(it.Expr, m)}
		}
		return items, true
	}
	return nil, false
}

func addConstants(n logical.Node, items []logical.Item) logical.Node {
	if len(items) == 0 {
		return n
	}
	return &logical.Project{Input: n, Items: append(logical.PassItems(n.Schema()), items...)}
}
