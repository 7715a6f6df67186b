package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const joinPartitionsDoc = `Join rows with their partitions' aggregates: what windows compute over whole partitions becomes a grouping.

Finding a row's group by its keys costs less than sorting rows by them. Legal because each row lies in one partition and windows drop no row,
and NULLs are one partition, so the join takes them as equal, or
  SELECT SUM(a) OVER (PARTITION BY b) FROM t
would lose the rows where b is NULL. The grouping reads the rows once more, so they have to come from one table, filtered and computed over,
without anything volatile.`

func joinPartitions(w *rewriter) error {
	made := map[logical.Node]logical.Node{} // a join that was made, and the rows that it joins
	w.eachNode(func(n logical.Node) logical.Node {
		x, ok := n.(*logical.Window)
		if !ok || slices.ContainsFunc(x.Items, func(it logical.WindowItem) bool { return !overPartition(x, &it) }) ||
			slices.ContainsFunc(x.Exprs(), expr.IsVolatile) {
			return n
		}
		rows := x.Input // without what windows add to them
		for {
			if v, ok := rows.(*logical.Window); ok {
				rows = v.Input
			} else if from, ok := made[rows]; ok {
				rows = from
			} else {
				break
			}
		}
		if !isCheap(rows) || !logical.UsesOf(x.Exprs()).Within(logical.SetOfCols(rows.Schema())) || !w.eager && !w.fewPartitions(rows, x.Partition) {
			return n
		}
		join := w.partitionJoin(x, rows)
		made[join] = x.Input
		return join
	})
	return nil
}

// overPartition says whether a function is an aggregate whose frames are whole partitions.
func overPartition(x *logical.Window, it *logical.WindowItem) bool {
	if it.Fn.Agg == nil || it.Frame.Start.Kind != logical.UnboundedPreceding {
		return false
	}
	return it.Frame.End.Kind == logical.UnboundedFollowing ||
		it.Frame.End.Kind == logical.CurrentRow && it.Frame.Unit != logical.FrameRows && len(x.Order) == 0
}

// fewPartitions says whether looking groups up costs less than sorting: there are rows enough, and much fewer groups.
func (w *rewriter) fewPartitions(rows logical.Node, partition []expr.Expr) bool {
	n := w.est.Rows(rows)
	return n >= minShared && (len(partition) == 0 || w.est.Groups(rows, partition) <= n/4)
}

// partitionJoin joins the input of a window with its functions over groups of rows.
func (w *rewriter) partitionJoin(x *logical.Window, rows logical.Node) logical.Node {
	from, cols := logical.Copy(rows, w.alloc)
	copies := map[expr.ColumnID]expr.Expr{}
	for id, c := range cols {
		copies[id] = c
	}
	agg := &logical.Aggregate{Input: from, Scalar: len(x.Partition) == 0}
	join := &logical.Join{Kind: logical.InnerJoin, Left: x.Input, Right: agg}
	for _, e := range x.Partition {
		group := logical.NewItem(w.alloc, e.String(), expr.Substitute(e, copies))
		agg.Groups = append(agg.Groups, group)
		op := expr.EQ
		if e.Nullable() {
			op = expr.NSEQ
		}
		join.On = append(join.On, &expr.Compare{Op: op, Left: e, Right: group.Col})
	}
	for _, it := range x.Items {
		args := make([]expr.Expr, len(it.Args))
		for i, e := range it.Args {
			args[i] = expr.Substitute(e, copies)
		}
		agg.Aggs = append(agg.Aggs, logical.AggItem{Col: it.Col, Fn: it.Fn.Agg, Args: args})
	}
	return logical.Keep(join, x.Schema())
}
