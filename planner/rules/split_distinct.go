package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// splitDistinct makes an aggregation of each argument of DISTINCT aggregates, and one of the aggregates that cannot be computed in two steps beside them, and
// joins them by the group keys; or returns nil. NULLs are equal there, and each group has a row on both sides.
//
// Each of them reads the input, so that has to cost little. Sets of values, which are made otherwise, cost a CPU more than that, and a GPU has none.
func (w *rewriter) splitDistinct(a *logical.Aggregate) logical.Node {
	if !w.readsAgain(a.Input) || slices.ContainsFunc(a.Exprs(), expr.IsVolatile) {
		return nil
	}
	var parts [][]logical.AggItem // each with DISTINCT of one argument
	var others []logical.AggItem
	together := true
	for i := range a.Aggs {
		agg := &a.Aggs[i]
		if !agg.Distinct {
			together = together && inTwoSteps(agg) && w.partsFit(a.Input, *agg)
			others = append(others, *agg)
			continue
		}
		if !isOverGroups(agg) {
			return nil
		}
		at := slices.IndexFunc(parts, func(p []logical.AggItem) bool { return sameArgs(p[0].Args, agg.Args) })
		if at < 0 {
			at, parts = len(parts), append(parts, nil)
		}
		parts[at] = append(parts[at], *agg)
	}
	switch {
	case len(parts) == 0:
		return nil
	case together:
		parts[0] = append(parts[0], others...)
	default:
		parts = slices.Insert(parts, 0, others)
	}
	if len(parts) < 2 {
		return nil
	}
	inputs, columns := w.readTimes(a.Input, len(parts))
	if inputs == nil {
		return nil
	}
	var out logical.Node
	for i, aggs := range parts {
		part := &logical.Aggregate{Input: inputs[i], Groups: a.Groups, Aggs: aggs, Scalar: a.Scalar, Hint: a.Hint}
		var on []expr.Expr
		if i > 0 {
			part.Groups, part.Aggs, on = w.renamedGroups(a.Groups, aggs, columns[i])
		}
		node := w.twoLevels(part)
		if node == nil {
			node = part
		}
		if i == 0 {
			out = node
		} else {
			out = &logical.Join{Kind: logical.InnerJoin, Left: out, Right: node, On: on}
		}
	}
	return logical.Keep(out, a.Schema())
}

// readsAgain says whether reading n's rows, or storing them, costs less than sets of values: on a CPU that is so for a table of which no function is computed.
func (w *rewriter) readsAgain(n logical.Node) bool {
	if w.eager || w.device == physical.GPU {
		return true
	}
	if !isCheap(n) || w.est.Rows(n) < minShared {
		return false
	}
	calls := false
	logical.Walk(n, func(n logical.Node) bool {
		for _, e := range n.Exprs() {
			expr.Walk(e, func(e expr.Expr) bool {
				_, call := e.(*expr.Call)
				calls = calls || call
				return !calls
			})
		}
		return !calls
	})
	return !calls
}

// renamedGroups are groups and aggregates over columns that stand for others, and the conditions that a row is of the same group as one of the original.
func (w *rewriter) renamedGroups(groups []logical.Item, aggs []logical.AggItem, columns map[expr.ColumnID]expr.Expr) ([]logical.Item, []logical.AggItem, []expr.Expr) {
	var items []logical.Item
	var on []expr.Expr
	for _, g := range groups {
		item := logical.NewItem(w.alloc, g.Col.Name, expr.Substitute(g.Expr, columns))
		items = append(items, item)
		op := expr.EQ
		if g.Expr.Nullable() {
			op = expr.NSEQ
		}
		on = append(on, &expr.Compare{Op: op, Left: g.Col, Right: item.Col})
	}
	aggs = slices.Clone(aggs)
	for i := range aggs {
		args := slices.Clone(aggs[i].Args)
		for k := range args {
			args[k] = expr.Substitute(args[k], columns)
		}
		aggs[i].Args = args
	}
	return items, aggs, on
}

// readTimes returns nodes that give n's rows, the first under n's names, and for the others what stands for n's columns; or nil. What costs more than a scan is stored.
func (w *rewriter) readTimes(n logical.Node, times int) ([]logical.Node, []map[expr.ColumnID]expr.Expr) {
	cheap := isCheap(n)
	if !cheap && readsLoop(n) {
		return nil, nil
	}
	nodes, columns := []logical.Node{n}, make([]map[expr.ColumnID]expr.Expr, times)
	for i := 1; i < times; i++ {
		var again logical.Node
		var cols map[expr.ColumnID]*expr.Column
		if cheap {
			again, cols = logical.Copy(n, w.alloc)
		} else {
			nodes[0], again, cols = w.readTwice(nodes[0])
		}
		nodes = append(nodes, again)
		columns[i] = map[expr.ColumnID]expr.Expr{}
		for id, c := range cols {
			columns[i][id] = c
		}
	}
	return nodes, columns
}

// readsLoop says whether a tree reads the rows of a recursion's last round, which cannot be stored for another plan.
func readsLoop(n logical.Node) bool {
	found := false
	logical.Walk(n, func(n logical.Node) bool {
		_, isWorkTable := n.(*logical.WorkTable)
		found = found || isWorkTable
		return !found
	})
	return found
}
