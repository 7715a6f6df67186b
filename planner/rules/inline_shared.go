package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const inlineSharedDoc = `Inline shared plans that have one reader, or that only filter and compute over one table.

Legal because a shared plan has no free columns and its reader sees its rows unchanged; a copy for each reader gives
every column a fresh ID. A plan with a volatile function stays, or
  WITH r AS (SELECT RAND() AS x FROM t) SELECT COUNT(*) FROM r a JOIN r b ON a.x = b.x
would see two different r.`

func inlineShared(w *rewriter) error {
	plans := w.sharedPlans()
	readers := map[*logical.SharedPlan]int{}
	for i := len(plans) - 1; i >= 0; i-- {
		countReaders(plans[i].Root, readers)
	}
	countReaders(w.root, readers)
	w.eachNode(func(n logical.Node) logical.Node {
		s, ok := n.(*logical.Shared)
		if !ok {
			return n
		}
		switch {
		case readers[s.Plan] == 1:
			return renamed(s, s.Plan.Root, nil)
		case isCheap(s.Plan.Root):
			root, cols := logical.Copy(s.Plan.Root, w.alloc)
			return renamed(s, root, cols)
		}
		return n
	})
	return nil
}

// renamed gives root's columns the names of the reader s; cols maps them where root is a copy.
func renamed(s *logical.Shared, root logical.Node, cols map[expr.ColumnID]*expr.Column) logical.Node {
	items := make([]logical.Item, len(s.Cols))
	for i, c := range s.Cols {
		from := s.From[i]
		if cols != nil {
			from = cols[from.ID]
		}
		items[i] = logical.Item{Col: c, Expr: from}
	}
	return &logical.Project{Input: root, Items: items}
}

func countReaders(n logical.Node, readers map[*logical.SharedPlan]int) {
	logical.Walk(n, func(n logical.Node) bool {
		if s, ok := n.(*logical.Shared); ok {
			readers[s.Plan]++
		}
		for _, e := range n.Exprs() {
			expr.Walk(e, func(e expr.Expr) bool {
				if q, ok := e.(*expr.Subquery); ok {
					countReaders(q.Rel.(logical.Node), readers)
				}
				return true
			})
		}
		return true
	})
}

// isCheap says whether reading n again costs no more than reading what it would store.
func isCheap(n logical.Node) bool { return isCheapWith(n, false) }

// isCheapWith is isCheap, which takes the rows of a recursion's last round for a table if rounds is set.
func isCheapWith(n logical.Node, rounds bool) bool {
	for {
		for _, e := range n.Exprs() {
			if expr.IsVolatile(e) || expr.HasSubquery(e) {
				return false
			}
		}
		switch x := n.(type) {
		case *logical.Scan:
			return true
		case *logical.WorkTable:
			return rounds
		case *logical.Values:
			return len(x.Rows) <= 8
		case *logical.Filter:
			n = x.Input
		case *logical.Project:
			n = x.Input
		default:
			return false
		}
	}
}
