package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const pushPredicatesDoc = `Push predicates down to where their columns come from: through projections, joins, grouping keys, set operations and
sorts, through windows what chooses whole partitions, and through JSON_TABLE what chooses documents, into scans. A condition on the row of an
uncorrelated subquery takes the join with that row along, below the other joins of its left side.

Legal through a join only on a side that keeps its rows' identity: a condition on the filled-up side of an outer join stays above it,
a condition in ON goes down only on the filled-up side, and nothing passes LIMIT:
  SELECT * FROM a LEFT JOIN b ON a.x = b.x AND a.y = 1
must keep rows of a where y is not 1. A volatile condition stays where it is.`

func pushPredicates(w *rewriter) error {
	return w.each(func(n logical.Node) (logical.Node, error) { return w.push(n, nil), nil })
}

// push returns the rows of n that satisfy preds.
func (w *rewriter) push(n logical.Node, preds []expr.Expr) logical.Node {
	if w.stopped() {
		return n
	}
	switch x := n.(type) {
	case *logical.Filter:
		return w.pushFilter(x, preds)
	case *logical.Scan:
		if len(preds) == 0 {
			return n
		}
		constant, rest := splitConstant(preds)
		if len(rest) > 0 {
			n = x.WithExprs(append(x.Filter[:len(x.Filter):len(x.Filter)], rest...))
		}
		return logical.NewFilter(n, constant...)
	case *logical.Project:
		return w.pushProject(x, preds)
	case *logical.Join:
		return w.pushJoin(x, preds)
	case *logical.Aggregate:
		return w.pushAggregate(x, preds)
	case *logical.Window:
		return w.pushWindow(x, preds)
	case *logical.Unnest:
		return w.pushUnnest(x, preds)
	case *logical.Sort:
		if x.Count == logical.NoLimit && x.Offset == 0 {
			return w.mapInput(n, x.Input, preds)
		}
	case *logical.SetOp:
		return w.pushSetOp(x, preds)
	}
	n = logical.MapInputs(n, func(in logical.Node) logical.Node { return w.push(in, nil) })
	return logical.NewFilter(n, preds...)
}

func (w *rewriter) mapInput(n, in logical.Node, preds []expr.Expr) logical.Node {
	return withInput(n, in, w.push(in, preds))
}

// splitConstant separates the conditions without columns: a scan need not test them for each row.
func splitConstant(preds []expr.Expr) (constant, rest []expr.Expr) {
	for i, p := range preds {
		if usesColumns(p) || expr.IsVolatile(p) {
			if constant != nil {
				rest = append(rest, p)
			}
			continue
		}
		if constant == nil {
			rest = append(rest, preds[:i]...)
		}
		constant = append(constant, p)
	}
	if constant == nil {
		return nil, preds
	}
	return constant, rest
}

func (w *rewriter) pushFilter(f *logical.Filter, preds []expr.Expr) logical.Node {
	var stay []expr.Expr
	all := make([]expr.Expr, 0, len(f.Preds)+len(preds))
	for _, p := range f.Preds {
		if expr.IsVolatile(p) {
			stay = append(stay, p)
		} else {
			all = append(all, p)
		}
	}
	if len(stay) > 0 {
		// What stands above must not see rows in another order of tests.
		return logical.NewFilter(w.push(f.Input, all), append(stay, preds...)...)
	}
	in := w.push(f.Input, append(all, preds...))
	if same, ok := in.(*logical.Filter); ok && same.Input == f.Input && sameExprs(same.Preds, f.Preds) {
		return f
	}
	return in
}

func (w *rewriter) pushProject(p *logical.Project, preds []expr.Expr) logical.Node {
	var stay, down []expr.Expr
	if len(preds) > 0 {
		m := itemMap(p.Items)
		var fixed logical.ColSet // items that must be computed once a row
		for _, it := range p.Items {
			if expr.IsVolatile(it.Expr) {
				fixed.Add(it.Col.ID)
			}
		}
		for _, e := range preds {
			if logical.UsesAny(e, fixed) {
				stay = append(stay, e)
			} else {
				down = append(down, expr.Substitute(e, m))
			}
		}
	}
	return logical.NewFilter(w.mapInput(p, p.Input, down), stay...)
}

// pushAggregate pushes conditions on group columns. Those of an aggregation without groups stay: it has a row even over no rows.
func (w *rewriter) pushAggregate(a *logical.Aggregate, preds []expr.Expr) logical.Node {
	var stay, down []expr.Expr
	if len(preds) > 0 {
		var keys logical.ColSet
		for _, g := range a.Groups {
			if !expr.IsVolatile(g.Expr) {
				keys.Add(g.Col.ID)
			}
		}
		m := itemMap(a.Groups)
		for _, e := range preds {
			if a.Scalar || !logical.UsedWithin(e, keys) || expr.TellsZerosApart(e) {
				stay = append(stay, e)
			} else {
				down = append(down, expr.Substitute(e, m))
			}
		}
	}
	return logical.NewFilter(w.mapInput(a, a.Input, down), stay...)
}

// pushWindow pushes conditions on the columns that partition the rows: they drop partitions as a whole, and what a row of
// another partition is does not matter. Any other condition would change what the functions see.
func (w *rewriter) pushWindow(x *logical.Window, preds []expr.Expr) logical.Node {
	var stay, down []expr.Expr
	if len(preds) > 0 {
		keys := partitionColumns(x)
		for _, e := range preds {
			if expr.IsVolatile(e) || !usesColumns(e) || !logical.UsedWithin(e, keys) || expr.TellsZerosApart(e) {
				stay = append(stay, e)
			} else {
				down = append(down, e)
			}
		}
	}
	return logical.NewFilter(w.mapInput(x, x.Input, down), stay...)
}

// pushUnnest pushes conditions on the input's columns: they drop a row with all rows of its document.
func (w *rewriter) pushUnnest(x *logical.Unnest, preds []expr.Expr) logical.Node {
	var stay, down []expr.Expr
	for _, e := range preds {
		if expr.IsVolatile(e) || !usesColumns(e) || !logical.UsedWithin(e, logical.Out(x.Input)) {
			stay = append(stay, e)
		} else {
			down = append(down, e)
		}
	}
	return logical.NewFilter(w.mapInput(x, x.Input, down), stay...)
}

// partitionColumns returns the columns in which the rows of a partition agree.
func partitionColumns(x *logical.Window) logical.ColSet {
	var keys logical.ColSet
	for _, e := range x.Partition {
		if c, ok := e.(*expr.Column); ok {
			keys.Add(c.ID)
		}
	}
	return keys
}

// pushSetOp pushes conditions into every input. A row of EXCEPT or INTERSECT is judged by its values, so filtering all
// inputs alike changes nothing else.
func (w *rewriter) pushSetOp(s *logical.SetOp, preds []expr.Expr) logical.Node {
	var stay []expr.Expr
	if s.Kind != logical.UnionAll { // which equal rows leave as one
		var down []expr.Expr
		for _, e := range preds {
			if expr.TellsZerosApart(e) {
				stay = append(stay, e)
			} else {
				down = append(down, e)
			}
		}
		preds = down
	}
	inputs := make([]logical.Node, len(s.All))
	changed := false
	for i, in := range s.All {
		inputs[i] = w.push(in, substituteAll(preds, columnMap(s.Cols, s.InCols[i])))
		changed = changed || inputs[i] != in
	}
	var n logical.Node = s
	if changed {
		n = s.WithInputs(inputs)
	}
	return logical.NewFilter(n, stay...)
}

func (w *rewriter) pushJoin(j *logical.Join, preds []expr.Expr) logical.Node {
	left, right := logical.Out(j.Left), logical.Out(j.Right)
	var toLeft, toRight, on, corr, above []expr.Expr
	// place puts a condition on the sides that may take it.
	place := func(e expr.Expr, leftOK, rightOK bool, rest *[]expr.Expr) {
		switch {
		case expr.IsVolatile(e):
			*rest = append(*rest, e)
		case leftOK && usesColumns(e) && logical.UsedWithin(e, left):
			toLeft = append(toLeft, e)
		case rightOK && usesColumns(e) && logical.UsedWithin(e, right):
			toRight = append(toRight, e)
		default:
			*rest = append(*rest, e)
		}
	}
	switch j.Kind {
	case logical.InnerJoin:
		for _, e := range preds {
			if expr.IsVolatile(e) {
				above = append(above, e)
				continue
			}
			place(e, true, true, &on)
		}
		for _, e := range j.On {
			place(e, true, true, &on)
		}
	case logical.LeftJoin, logical.SingleJoin:
		for _, e := range preds {
			place(e, true, false, &above)
		}
		for _, e := range j.On {
			place(e, false, true, &on)
		}
	case logical.FullJoin:
		above, on = preds, j.On
	case logical.SemiJoin, logical.AntiJoin:
		for _, e := range preds {
			place(e, true, false, &above)
		}
		for _, e := range j.On {
			place(e, j.Kind == logical.SemiJoin, true, &on)
		}
	case logical.MarkJoin:
		for _, e := range preds {
			place(e, true, false, &above)
		}
		on = j.On
		for _, e := range j.Corr {
			place(e, false, true, &corr)
		}
	}
	// Conditions without columns decide about all rows at once: above an inner join they can be seen.
	if j.Kind == logical.InnerJoin {
		var constant []expr.Expr
		constant, on = splitConstant(on)
		above = append(above, constant...)
	}
	l, r := w.push(j.Left, toLeft), w.push(j.Right, toRight)
	var n logical.Node = j
	if l != j.Left || r != j.Right || !sameExprs(on, j.On) || !sameExprs(corr, j.Corr) {
		n = &logical.Join{Kind: j.Kind, Left: l, Right: r, On: on, Corr: corr, Mark: j.Mark, Hint: j.Hint}
	}
	if j.Kind == logical.SingleJoin && len(on) == 0 {
		if lower, rest := lowerSingle(l, r, above); lower != nil {
			n, above = lower, rest
		}
	}
	return logical.NewFilter(n, above...)
}

// lowerSingle moves the join with a subquery's only row, and the conditions that compare that row, down to the input of left that has their other columns; nil: it stays.
func lowerSingle(left, right logical.Node, preds []expr.Expr) (lower logical.Node, rest []expr.Expr) {
	var down []expr.Expr
	for _, p := range preds {
		if logical.UsesAny(p, logical.Out(right)) && !expr.IsVolatile(p) {
			down = append(down, p)
		} else {
			rest = append(rest, p)
		}
	}
	cols := logical.UsesOf(down).Minus(logical.Out(right))
	if cols.Len() == 0 {
		return nil, preds
	}
	var place func(n logical.Node) logical.Node
	place = func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			if _, ok := x.Input.(*logical.Join); ok && !slices.ContainsFunc(x.Preds, expr.IsVolatile) {
				return &logical.Filter{Input: place(x.Input), Preds: x.Preds}
			}
		case *logical.Join:
			switch {
			case x.Kind == logical.FullJoin:
			case cols.Within(logical.Out(x.Left)):
				return x.WithInputs([]logical.Node{place(x.Left), x.Right})
			case x.Kind == logical.InnerJoin && cols.Within(logical.Out(x.Right)):
				return x.WithInputs([]logical.Node{x.Left, place(x.Right)})
			}
		}
		return logical.NewFilter(&logical.Join{Kind: logical.SingleJoin, Left: n, Right: right}, down...)
	}
	lower = place(left)
	if f, ok := lower.(*logical.Filter); ok {
		if j, ok := f.Input.(*logical.Join); ok && j.Left == left {
			return nil, preds
		}
	}
	return lower, rest
}
