package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const pruneColumnsDoc = `Prune columns: keep in each node only the columns that something above uses, and merge projections.

Legal because a column that no one reads changes no row, except where the columns are what makes rows distinct:
  SELECT a FROM (SELECT DISTINCT a, b FROM t) d
has as many rows as there are pairs, so DISTINCT, UNION, INTERSECT and EXCEPT keep all of theirs.`

func pruneColumns(w *rewriter) error {
	p := &pruner{w: w, plans: map[*logical.SharedPlan]*logical.ColSet{}}
	root := p.node(w.root, logical.SetOfCols(w.output))
	if root != w.root {
		w.root, w.changed = root, true
	}
	if w.shape&hasShared == 0 {
		return nil
	}
	// A plan's readers come after it in the list: their needs are known before it is pruned itself.
	plans := w.sharedPlans()
	for i := len(plans) - 1; i >= 0; i-- {
		needed := p.plans[plans[i]]
		if needed == nil {
			continue
		}
		n := p.node(plans[i].Root, *needed)
		// What is stored is exactly what is read.
		kept := make([]*expr.Column, 0, len(n.Schema()))
		for _, c := range n.Schema() {
			if needed.Has(c.ID) {
				kept = append(kept, c)
			}
		}
		if len(kept) < len(n.Schema()) {
			n = logical.Keep(n, kept)
		}
		if n != plans[i].Root {
			plans[i].Root, w.changed = n, true
		}
	}
	return nil
}

type pruner struct {
	w     *rewriter
	plans map[*logical.SharedPlan]*logical.ColSet // columns of shared plans that readers need
}

// node narrows n to the columns of needed, and those that it needs itself.
func (p *pruner) node(n logical.Node, needed logical.ColSet) logical.Node {
	if p.w.stopped() {
		return n
	}
	switch x := n.(type) {
	case *logical.Scan:
		return p.scan(x, needed)
	case *logical.Values:
		return p.values(x, needed)
	case *logical.Filter:
		return p.one(n, x.Input, with(needed, x.Preds))
	case *logical.Project:
		return p.project(x, needed)
	case *logical.Join:
		below := needed.Clone()
		addAll(&below, x.On)
		addAll(&below, x.Corr)
		right := below
		switch x.Kind {
		case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
			right = logical.UsesOf(x.On)
			addAll(&right, x.Corr)
			if x.Kind == logical.MarkJoin && !needed.Has(x.Mark.ID) {
				return p.node(x.Left, needed)
			}
		}
		l, r := p.node(x.Left, below), p.node(x.Right, right)
		if l == x.Left && r == x.Right {
			return n
		}
		return x.WithInputs([]logical.Node{l, r})
	case *logical.Aggregate:
		return p.aggregate(x, needed)
	case *logical.Recursive:
		// The next round needs every column.
		seed, step := p.node(x.Seed, logical.SetOfCols(x.SeedCols)), p.node(x.Step, logical.SetOfCols(x.StepCols))
		if seed == x.Seed && step == x.Step {
			return n
		}
		return x.WithInputs([]logical.Node{seed, step})
	case *logical.Window:
		return p.window(x, needed)
	case *logical.Unnest:
		return p.unnest(x, needed)
	case *logical.Sort:
		below := needed.Clone()
		for _, k := range x.Keys {
			below.AddExpr(k.Expr)
		}
		return p.one(n, x.Input, below)
	case *logical.Limit:
		return p.one(n, x.Input, needed)
	case *logical.SetOp:
		return p.setOp(x, needed)
	case *logical.Shared:
		return p.shared(x, needed)
	}
	return n
}

func with(needed logical.ColSet, es []expr.Expr) logical.ColSet {
	out := needed.Clone()
	addAll(&out, es)
	return out
}

func addAll(s *logical.ColSet, es []expr.Expr) {
	for _, e := range es {
		s.AddExpr(e)
	}
}

func (p *pruner) one(n, in logical.Node, needed logical.ColSet) logical.Node {
	return withInput(n, in, p.node(in, needed))
}

func (p *pruner) scan(s *logical.Scan, needed logical.ColSet) logical.Node {
	needed = with(needed, s.Filter)
	keep := 0
	for _, c := range s.Cols {
		if needed.Has(c.ID) {
			keep++
		}
	}
	if keep == len(s.Cols) {
		return s
	}
	out := &logical.Scan{Table: s.Table, Alias: s.Alias, Filter: s.Filter}
	out.Cols, out.Ordinals = make([]*expr.Column, 0, keep), make([]int, 0, keep)
	for i, c := range s.Cols {
		if needed.Has(c.ID) {
			out.Cols, out.Ordinals = append(out.Cols, c), append(out.Ordinals, s.Ordinals[i])
		}
	}
	return out
}

func (p *pruner) values(v *logical.Values, needed logical.ColSet) logical.Node {
	var keep []int
	for i, c := range v.Cols {
		if needed.Has(c.ID) {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(v.Cols) {
		return v
	}
	out := &logical.Values{Rows: make([][]expr.Expr, len(v.Rows)), First: v.First}
	for _, i := range keep {
		out.Cols = append(out.Cols, v.Cols[i])
	}
	for r, row := range v.Rows {
		out.Rows[r] = make([]expr.Expr, len(keep))
		for k, i := range keep {
			out.Rows[r][k] = row[i]
		}
	}
	return out
}

func (p *pruner) project(x *logical.Project, needed logical.ColSet) logical.Node {
	items := x.Items
	var kept []logical.Item
	for i, it := range items {
		if needed.Has(it.Col.ID) {
			if kept != nil {
				kept = append(kept, it)
			}
		} else if kept == nil {
			kept = make([]logical.Item, i, len(items))
			copy(kept, items[:i])
		}
	}
	if kept != nil {
		items = kept
	}
	var below logical.ColSet
	for _, it := range items {
		below.AddExpr(it.Expr)
	}
	in := p.node(x.Input, below)
	if inner, ok := in.(*logical.Project); ok {
		if merged, ok := mergeItems(items, inner.Items); ok {
			items, kept = merged, merged
			// What is computed now may use less than both did.
			var below logical.ColSet
			for _, it := range items {
				below.AddExpr(it.Expr)
			}
			in = p.node(inner.Input, below)
		}
	}
	if onlyPasses(items) {
		return in
	}
	if in == x.Input && kept == nil {
		return x
	}
	return &logical.Project{Input: in, Items: items}
}

// onlyPasses says whether a projection does nothing but leave out columns; who reads them is above.
func onlyPasses(items []logical.Item) bool {
	for _, it := range items {
		if !passes(it) {
			return false
		}
	}
	return true
}

// mergeItems computes outer over inner in one projection, unless that would compute something twice.
func mergeItems(outer, inner []logical.Item) ([]logical.Item, bool) {
	m := itemMap(inner)
	if m == nil {
		return outer, true
	}
	var seen logical.ColSet
	ok := true
	for _, it := range outer {
		expr.Columns(it.Expr, func(id expr.ColumnID) {
			e, computed := m[id]
			if !computed {
				return
			}
			if expr.IsVolatile(e) || seen.Has(id) && len(e.Children()) > 0 {
				ok = false
			}
			seen.Add(id)
		})
	}
	if !ok {
		return nil, false
	}
	out := make([]logical.Item, len(outer))
	for i, it := range outer {
		out[i] = logical.Item{Col: it.Col, Expr: expr.Substitute(it.Expr, m)}
	}
	return out, true
}

func (p *pruner) aggregate(a *logical.Aggregate, needed logical.ColSet) logical.Node {
	aggs := a.Aggs
	var kept []logical.AggItem
	for i := range aggs {
		// AggSingle fails over several rows, whether its value is read or not.
		if needed.Has(aggs[i].Col.ID) || aggs[i].Fn.Kind == expr.AggSingle {
			if kept != nil {
				kept = append(kept, aggs[i])
			}
		} else if kept == nil {
			kept = make([]logical.AggItem, i, len(aggs))
			copy(kept, aggs[:i])
		}
	}
	out := a
	if kept != nil {
		out = &logical.Aggregate{Input: a.Input, Groups: a.Groups, Aggs: kept, Scalar: a.Scalar, Hint: a.Hint}
	}
	return p.one(out, a.Input, logical.UsesOf(out.Exprs()))
}

// window drops functions that no one reads, and a node that has none left.
func (p *pruner) window(x *logical.Window, needed logical.ColSet) logical.Node {
	var kept []logical.WindowItem
	for i := range x.Items {
		if needed.Has(x.Items[i].Col.ID) {
			kept = append(kept, x.Items[i])
		}
	}
	if len(kept) == 0 {
		return p.node(x.Input, needed)
	}
	out := x
	if len(kept) < len(x.Items) {
		out = &logical.Window{Input: x.Input, Partition: x.Partition, Order: x.Order, Items: kept}
	}
	return p.one(out, x.Input, with(needed, out.Exprs()))
}

// unnest leaves out columns of documents that no one reads; how many rows there are does not depend on them.
func (p *pruner) unnest(x *logical.Unnest, needed logical.ColSet) logical.Node {
	out := &logical.Unnest{Input: x.Input, Doc: x.Doc, Table: x.Table, Outer: x.Outer}
	for i, c := range x.Cols {
		if needed.Has(c.ID) {
			out.Cols, out.Ordinals = append(out.Cols, c), append(out.Ordinals, x.Ordinals[i])
		}
	}
	if len(out.Cols) == len(x.Cols) {
		out = x
	}
	return p.one(out, x.Input, with(needed, out.Exprs()))
}

func (p *pruner) setOp(s *logical.SetOp, needed logical.ColSet) logical.Node {
	cols, inCols := s.Cols, s.InCols
	changed := false
	if s.Kind == logical.UnionAll {
		keep := make([]int, 0, len(cols))
		for i, c := range cols {
			if needed.Has(c.ID) {
				keep = append(keep, i)
			}
		}
		if len(keep) < len(cols) {
			changed = true
			cols = pickCols(cols, keep)
			inCols = make([][]*expr.Column, len(s.InCols))
			for k := range s.InCols {
				inCols[k] = pickCols(s.InCols[k], keep)
			}
		}
	}
	inputs := make([]logical.Node, len(s.All))
	for i, in := range s.All {
		inputs[i] = p.node(in, logical.SetOfCols(inCols[i]))
		changed = changed || inputs[i] != in
	}
	if !changed {
		return s
	}
	return &logical.SetOp{Kind: s.Kind, All: inputs, InCols: inCols, Cols: cols}
}

func pickCols(cols []*expr.Column, keep []int) []*expr.Column {
	out := make([]*expr.Column, len(keep))
	for i, k := range keep {
		out[i] = cols[k]
	}
	return out
}

func (p *pruner) shared(s *logical.Shared, needed logical.ColSet) logical.Node {
	set := p.plans[s.Plan]
	if set == nil {
		set = &logical.ColSet{}
		p.plans[s.Plan] = set
	}
	out := &logical.Shared{Plan: s.Plan}
	for i, c := range s.Cols {
		if needed.Has(c.ID) {
			out.Cols, out.From = append(out.Cols, c), append(out.From, s.From[i])
			set.Add(s.From[i].ID)
		}
	}
	if len(out.Cols) == len(s.Cols) {
		return s
	}
	return out
}
