package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const stackGroupingsDoc = `Stack groupings: compute each level of a ROLLUP from the groups of the level below it, not from all rows again.

Legal if every aggregate can be computed in two steps: a total is the sum of its parts. DISTINCT is not. In
  SELECT a, b, COUNT(DISTINCT x) FROM t GROUP BY a, b WITH ROLLUP
an x may be in several b of one a, so adding up would count it twice.`

func stackGroupings(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		if s, ok := n.(*logical.SetOp); ok && s.Kind == logical.UnionAll && len(s.All) > 1 {
			if r := w.stacked(s); r != nil {
				return r
			}
		}
		return n
	})
	return nil
}

// groupingLevel is one input of a union that groups the rows of a shared plan.
type groupingLevel struct {
	agg   *logical.Aggregate
	from  map[expr.ColumnID]expr.Expr // of the shared plan's columns that the level reads: those of the plan
	above []logical.Node              // from the union down to the aggregation
}

// levelOf takes an input of a union apart; nil: it is no grouping of a shared plan by columns of it.
func levelOf(n logical.Node) *groupingLevel {
	l := &groupingLevel{}
	for {
		switch x := n.(type) {
		case *logical.Project:
			l.above, n = append(l.above, x), x.Input
			continue
		case *logical.Filter:
			l.above, n = append(l.above, x), x.Input
			continue
		case *logical.Aggregate:
			s, ok := x.Input.(*logical.Shared)
			if !ok {
				return nil
			}
			l.agg, l.from = x, map[expr.ColumnID]expr.Expr{}
			for i, c := range s.Cols {
				l.from[c.ID] = s.From[i]
			}
			if slices.ContainsFunc(x.Groups, func(g logical.Item) bool { return l.keyOf(g) == nil }) {
				return nil // a key is computed
			}
			return l
		}
		return nil
	}
}

// keyOf returns the column of the shared plan that a group key is; nil: it is computed.
func (l *groupingLevel) keyOf(g logical.Item) *expr.Column {
	if c, ok := g.Expr.(*expr.Column); ok {
		if from, ok := l.from[c.ID].(*expr.Column); ok {
			return from
		}
	}
	return nil
}

// groupingPart is an aggregate that is computed for each group of the lowest level and added up in the others. Its arguments are columns of the shared plan.
type groupingPart struct {
	fn   *expr.Aggregate
	args []expr.Expr
	typ  types.Type
}

func (w *rewriter) stacked(s *logical.SetOp) logical.Node {
	levels := make([]*groupingLevel, len(s.All))
	for i, n := range s.All {
		l := levelOf(n)
		if l == nil || i > 0 && !levels[i-1].covers(l) {
			return nil
		}
		levels[i] = l
	}
	var parts []groupingPart
	finals := make([][]groupingTotal, len(levels))
	for i, l := range levels {
		for _, a := range l.agg.Aggs {
			if a.Distinct || !inTwoSteps(&a) || !w.partsFit(l.agg.Input, a) || slices.ContainsFunc(a.Args, expr.IsVolatile) {
				return nil
			}
			a.Args = substituteAll(a.Args, l.from)
			finals[i] = append(finals[i], totalOf(&parts, a))
		}
	}
	inputs := make([]logical.Node, len(levels))
	source, columns := levels[0].agg.Input, map[expr.ColumnID]expr.Expr{} // columns: of the shared plan, as source gives them
	for id, from := range levels[0].from {
		for _, c := range source.Schema() {
			if c.ID == id {
				columns[from.(*expr.Column).ID] = c
			}
		}
	}
	var totals []*expr.Column // the parts as source gives them; nil: it gives rows
	for i, l := range levels {
		agg := &logical.Aggregate{Input: source, Scalar: l.agg.Scalar, Hint: l.agg.Hint}
		keys := make([]*expr.Column, len(l.agg.Groups))
		for k, g := range l.agg.Groups {
			keys[k] = l.keyOf(g)
			agg.Groups = append(agg.Groups, logical.Item{Col: w.alloc.Like(g.Col), Expr: columns[keys[k].ID]})
		}
		for k, p := range parts {
			agg.Aggs = append(agg.Aggs, w.partOf(p, totals, k, columns))
		}
		var node logical.Node = agg
		schema := agg.Schema()
		if i+1 < len(levels) {
			plan := w.newShared("rollup", agg)
			node, schema = w.reader(plan)
			var next []*expr.Column
			source, next = w.reader(plan)
			columns = map[expr.ColumnID]expr.Expr{}
			for k, key := range keys {
				columns[key.ID] = next[k]
			}
			totals = next[len(keys):]
		}
		inputs[i] = l.over(node, schema, finals[i], i > 0)
	}
	return s.WithInputs(inputs)
}

// covers says whether a level's groups have the keys of another level of the same shared plan.
func (l *groupingLevel) covers(other *groupingLevel) bool {
	if l.agg.Input.(*logical.Shared).Plan != other.agg.Input.(*logical.Shared).Plan {
		return false
	}
	for _, g := range other.agg.Groups {
		key := other.keyOf(g)
		if !slices.ContainsFunc(l.agg.Groups, func(g logical.Item) bool { return l.keyOf(g).ID == key.ID }) {
			return false
		}
	}
	return true
}

// groupingTotal is how an aggregate follows from parts: the one named, or the quotient of two.
type groupingTotal struct {
	agg       logical.AggItem
	part, div int // div: -1, or that of the count of an average
}

func totalOf(parts *[]groupingPart, a logical.AggItem) groupingTotal {
	add := func(p groupingPart) int {
		for i, q := range *parts {
			if q.fn.Kind == p.fn.Kind && q.typ == p.typ && sameArgs(q.args, p.args) {
				return i
			}
		}
		*parts = append(*parts, p)
		return len(*parts) - 1
	}
	if a.Fn.Kind == expr.AggAvg {
		return groupingTotal{agg: a, part: add(groupingPart{sumValues, a.Args, exactSum(a)}), div: add(groupingPart{countValues, a.Args, types.Int64})}
	}
	return groupingTotal{agg: a, part: add(groupingPart{a.Fn, a.Args, a.Col.Typ}), div: -1}
}

// partOf computes the k-th part from rows, or from the parts of the level below.
func (w *rewriter) partOf(p groupingPart, below []*expr.Column, k int, columns map[expr.ColumnID]expr.Expr) logical.AggItem {
	counts := p.fn.Kind == expr.AggCount || p.fn.Kind == expr.AggCountStar
	if below == nil {
		return logical.AggItem{Col: w.alloc.New("", nameOf(p.fn, p.args), p.typ, !counts), Fn: p.fn, Args: substituteAll(p.args, columns)}
	}
	fn, typ := p.fn, p.typ
	if counts {
		fn, typ = sumValues, types.Decimal(types.MaxDecimalPrecision, 0)
	}
	return logical.AggItem{Col: w.alloc.New("", nameOf(p.fn, p.args), typ, true), Fn: fn, Args: []expr.Expr{below[k]}}
}

// reader gives the rows of a shared plan under names of their own.
func (w *rewriter) reader(plan *logical.SharedPlan) (*logical.Shared, []*expr.Column) {
	s := &logical.Shared{Plan: plan, From: plan.Root.Schema()}
	for _, c := range s.From {
		s.Cols = append(s.Cols, w.alloc.Like(c))
	}
	return s, s.Cols
}

// over puts what stood above a level's aggregation above node, whose columns are the keys and the parts. added says that the parts were added up.
func (l *groupingLevel) over(node logical.Node, columns []*expr.Column, totals []groupingTotal, added bool) logical.Node {
	items := make([]logical.Item, 0, len(columns))
	for k, g := range l.agg.Groups {
		items = append(items, logical.Item{Col: g.Col, Expr: columns[k]})
	}
	parts := columns[len(l.agg.Groups):]
	for _, t := range totals {
		items = append(items, logical.Item{Col: t.agg.Col, Expr: t.value(parts, added, l.agg.Scalar)})
	}
	node = &logical.Project{Input: node, Items: items}
	for _, n := range slices.Backward(l.above) {
		node = n.WithInputs([]logical.Node{node})
	}
	return node
}

func (t *groupingTotal) value(parts []*expr.Column, added, scalar bool) expr.Expr {
	p := parts[t.part]
	switch {
	case t.div >= 0:
		var count expr.Expr = parts[t.div]
		if !added {
			count = &expr.Cast{Arg: count, To: types.Decimal(types.MaxDecimalPrecision, 0)}
		}
		return expr.Average(p, count, t.agg.Col.Typ)
	case !added || t.agg.Fn.Kind != expr.AggCount && t.agg.Fn.Kind != expr.AggCountStar:
		return p
	}
	var count expr.Expr = &expr.Cast{Arg: p, To: t.agg.Col.Typ}
	if scalar {
		count = &expr.Case{Whens: []expr.When{{Cond: &expr.IsNull{Arg: p}, Then: emptyValue(t.agg)}}, Else: count, Typ: t.agg.Col.Typ}
	}
	return count
}
