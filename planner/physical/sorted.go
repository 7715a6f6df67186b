package physical

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// streamGroups is the number of groups up to which a table of them stays in a core's cache, where looking keys up costs
// less than keeping the groups of every morsel.
const streamGroups = 1 << 16

// streamKey returns the key of an aggregate whose groups are runs of its input: the only key is an integer column by which
// the input is sorted, and no aggregate needs its groups' values side by side.
func streamKey(open []*Pipeline, a *Aggregate) (*expr.Column, bool) {
	if len(open) != 1 || len(a.Groups) != 1 {
		return nil, false
	}
	for i := range a.Aggs {
		if a.Aggs[i].Distinct || a.Aggs[i].Fn.KeepsRows {
			return nil, false
		}
	}
	key, ok := a.Groups[0].Expr.(*expr.Column)
	return key, ok && key.Typ.Phys() == types.PhysInt64 && open[0].ascends(key.ID)
}

// ascends says whether it is proven that a column of the pipeline's rows ascends, without NULLs: it comes from a column of
// a table that does, and no step in between changes the order.
func (p *Pipeline) ascends(id expr.ColumnID) bool {
	scan, ok := p.Source.(*TableScan)
	if !ok {
		return false
	}
	for _, t := range slices.Backward(p.Transforms) {
		switch t := t.(type) {
		case *Filter, *Limit:
		case *Project:
			for _, it := range t.Items {
				if it.Col.ID != id {
					continue
				}
				c, ok := it.Expr.(*expr.Column)
				if !ok {
					return false
				}
				id = c.ID
				break
			}
		case *Probe:
			if !t.keepsOrder() {
				return false
			}
		default:
			return false
		}
	}
	i := slices.IndexFunc(scan.Cols, func(c *expr.Column) bool { return c.ID == id })
	if i < 0 || scan.Ordinals[i] == logical.RowIDOrdinal {
		return false
	}
	return scan.Table.Zones(scan.Ordinals[i]).Sorted
}

// keepsOrder says whether each row finds at most one partner, or only goes through or not.
func (p *Probe) keepsOrder() bool {
	switch p.Kind {
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
		return true
	}
	return p.Build.Unique && (p.Build.Algorithm == HashJoin || p.Build.Algorithm == DenseJoin)
}
