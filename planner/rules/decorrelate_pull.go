package rules

import (
	"math"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// pull takes the conditions that use columns of outer out of n: for every binding of outer, n is the result filtered by the conditions
// and narrowed to n's columns. With needsEqualities it gives only conditions inner = outer, or on outer columns alone,
// from which group keys can be made. It fails where a condition does not commute with what stands above it.
func (d *decorrelator) pull(n logical.Node, outer logical.ColSet, needsEqualities bool) (logical.Node, []expr.Expr, bool) {
	if !correlated(n, outer) {
		return n, nil, true
	}
	switch x := n.(type) {
	case *logical.Scan:
		own, conds := splitOuter(x.Filter, outer)
		return x.WithExprs(own), conds, !needsEqualities || allEqualities(conds, outer)
	case *logical.Filter:
		in, conds, ok := d.pull(x.Input, outer, needsEqualities)
		if !ok {
			return nil, nil, false
		}
		own, more := splitOuter(x.Preds, outer)
		if needsEqualities && !allEqualities(more, outer) {
			return nil, nil, false
		}
		return logical.NewFilter(in, own...), append(conds, more...), true
	case *logical.Project:
		if usesOuter(x, outer) {
			return nil, nil, false
		}
		in, conds, ok := d.pull(x.Input, outer, needsEqualities)
		if !ok {
			return nil, nil, false
		}
		return &logical.Project{Input: in, Items: withUsed(x.Items, conds, outer, in)}, conds, true
	case *logical.Join:
		return d.pullJoin(x, outer, needsEqualities)
	case *logical.Aggregate:
		return d.pullAggregate(x, outer)
	case *logical.Sort:
		if x.Count == logical.NoLimit && x.Offset == 0 {
			return d.pull(x.Input, outer, needsEqualities) // the order of a subquery's rows means nothing
		}
		return d.pullLimit(x.Input, x.Keys, x.Count, x.Offset, outer)
	case *logical.Limit:
		in, keys := unsorted(x.Input)
		return d.pullLimit(in, keys, x.Count, x.Offset, outer)
	case *logical.Unnest:
		if usesOuter(x, outer) {
			return nil, nil, false
		}
		in, conds, ok := d.pull(x.Input, outer, needsEqualities)
		if !ok {
			return nil, nil, false
		}
		return x.WithInputs([]logical.Node{in}), conds, true
	case *logical.Window:
		if usesOuter(x, outer) {
			return nil, nil, false
		}
		in, conds, ok := d.pull(x.Input, outer, true)
		if !ok {
			return nil, nil, false
		}
		// The rows of one outer row are then those of whole partitions.
		partition := append(x.Partition[:len(x.Partition):len(x.Partition)], innerSides(conds, outer)...)
		return &logical.Window{Input: in, Partition: partition, Order: x.Order, Items: x.Items}, conds, true
	}
	return nil, nil, false
}

// pullLimit numbers the rows in that share the keys of the conditions: what LIMIT over in keeps for an outer row are the first ones
// of its keys.
func (d *decorrelator) pullLimit(in logical.Node, keys []logical.SortKey, count, offset int64, outer logical.ColSet) (logical.Node, []expr.Expr, bool) {
	for _, k := range keys {
		if logical.UsesAny(k.Expr, outer) {
			return nil, nil, false
		}
	}
	in, conds, ok := d.pull(in, outer, true)
	if !ok {
		return nil, nil, false
	}
	return d.numbered(in, innerSides(conds, outer), keys, count, offset), conds, true
}

// numbered keeps the rows offset+1 .. offset+count, by keys, of every partition of in.
func (d *decorrelator) numbered(in logical.Node, partition []expr.Expr, keys []logical.SortKey, count, offset int64) logical.Node {
	if count == 0 {
		return logical.NoRows(in.Schema())
	}
	fn := expr.LookupWindow("row_number")
	number := d.w.alloc.New("", fn.Name, types.Uint64, false)
	w := &logical.Window{Input: in, Partition: partition, Order: keys, Items: []logical.WindowItem{{Col: number, Fn: fn, Frame: logical.WholePartition}}}
	bound := func(op expr.Op, n int64) expr.Expr {
		return &expr.Compare{Op: op, Left: number, Right: &expr.Const{Value: types.UintValue(uint64(n))}}
	}
	var preds []expr.Expr
	if offset > 0 {
		preds = append(preds, bound(expr.GT, offset))
	}
	if count != logical.NoLimit && count <= math.MaxInt64-offset {
		preds = append(preds, bound(expr.LE, offset+count))
	}
	return logical.NewFilter(w, preds...)
}

// innerSides returns what conditions inner = outer compare with outer columns.
func innerSides(conds []expr.Expr, outer logical.ColSet) (keys []expr.Expr) {
	for _, e := range conds {
		if logical.UsedWithin(e, outer) {
			continue
		}
		c := e.(*expr.Compare)
		inner := c.Left
		if logical.UsesAny(inner, outer) || !usesColumns(inner) {
			inner = c.Right
		}
		keys = append(keys, inner)
	}
	return keys
}

func (d *decorrelator) pullJoin(x *logical.Join, outer logical.ColSet, needsEqualities bool) (logical.Node, []expr.Expr, bool) {
	if x.Kind == logical.FullJoin {
		return nil, nil, false
	}
	l, conds, ok := d.pull(x.Left, outer, needsEqualities)
	if !ok {
		return nil, nil, false
	}
	if x.Kind != logical.InnerJoin {
		if correlated(x.Right, outer) || usesOuter(x, outer) {
			return nil, nil, false
		}
		return x.WithInputs([]logical.Node{l, x.Right}), conds, true
	}
	r, more, ok := d.pull(x.Right, outer, needsEqualities)
	if !ok {
		return nil, nil, false
	}
	own, on := splitOuter(x.On, outer)
	if needsEqualities && !allEqualities(on, outer) {
		return nil, nil, false
	}
	conds = append(append(conds, more...), on...)
	return &logical.Join{Kind: x.Kind, Left: l, Right: r, On: own, Hint: x.Hint}, conds, true
}

// pullAggregate adds the inner sides of the conditions to the groups: the groups of one outer row are then those whose
// keys equal its values.
func (d *decorrelator) pullAggregate(x *logical.Aggregate, outer logical.ColSet) (logical.Node, []expr.Expr, bool) {
	if x.Scalar || usesOuter(x, outer) {
		return nil, nil, false
	}
	in, conds, ok := d.pull(x.Input, outer, true)
	if !ok {
		return nil, nil, false
	}
	groups, conds := d.groupKeys(conds, outer, x.Groups[:len(x.Groups):len(x.Groups)])
	return &logical.Aggregate{Input: in, Groups: groups, Aggs: x.Aggs, Hint: x.Hint}, conds, true
}

func splitOuter(preds []expr.Expr, outer logical.ColSet) (own, correlated []expr.Expr) {
	for _, p := range preds {
		if logical.UsesAny(p, outer) {
			correlated = append(correlated, p)
		} else {
			own = append(own, p)
		}
	}
	return own, correlated
}

// allEqualities says whether each condition uses outer columns alone, or is an equality with them on one side only.
func allEqualities(conds []expr.Expr, outer logical.ColSet) bool {
	for _, e := range conds {
		if logical.UsedWithin(e, outer) {
			continue
		}
		c, ok := e.(*expr.Compare)
		if !ok || c.Op != expr.EQ && c.Op != expr.NSEQ {
			return false
		}
		l, r := logical.UsesAny(c.Left, outer), logical.UsesAny(c.Right, outer)
		if l == r || l && !logical.UsedWithin(c.Left, outer) || r && !logical.UsedWithin(c.Right, outer) {
			return false
		}
	}
	return true
}

// withUsed passes the columns of in that conds use through a projection.
func withUsed(items []logical.Item, conds []expr.Expr, outer logical.ColSet, in logical.Node) []logical.Item {
	var have logical.ColSet
	for _, it := range items {
		have.Add(it.Col.ID)
	}
	for _, id := range logical.UsesOf(conds).Minus(outer).IDs() {
		// A column that in does not have is of a query further out.
		if c := logical.FindColumn(in, id); c != nil && !have.Has(id) {
			items = append(items[:len(items):len(items)], logical.Item{Col: c, Expr: c})
		}
	}
	return items
}
