package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const inferKeyRangesDoc = `Infer key ranges: a smaller table that is joined by a key need only be read where the other side's keys lie, which zone maps tell. Of a
calendar of two centuries that is the few years in which something was sold. What is stored gets smaller, and estimates see which rows count.

Legal because a row whose key is outside of the other side's bounds matches nothing, and nothing but matching rows is left of that side: both sides of inner and semi joins,
the right side of left and anti joins, or
  SELECT * FROM calendar c LEFT JOIN sales s ON s.day = c.day
would lose the days without sales. The bounds are those of the versions of the tables that the statement reads.`

// keptOfRange is the share of a table's rows up to which it is worth testing each row for being in the range.
const keptOfRange = 0.5

func inferKeyRanges(w *rewriter) error {
	w.eachNode(func(n logical.Node) logical.Node {
		j, ok := n.(*logical.Join)
		if !ok {
			return n
		}
		narrowed := j.Inputs()
		left, right := logical.Out(j.Left), logical.Out(j.Right)
		for _, p := range j.On {
			l, r, ok := equalColumns(p)
			if !ok || !interchangeable(l, r) {
				continue
			}
			if !left.Has(l.ID) {
				l, r = r, l
			}
			if !left.Has(l.ID) || !right.Has(r.ID) {
				continue
			}
			switch j.Kind {
			case logical.InnerJoin, logical.SemiJoin:
				narrowed[0] = w.narrowed(narrowed[0], l, narrowed[1], r)
				narrowed[1] = w.narrowed(narrowed[1], r, narrowed[0], l)
			case logical.LeftJoin, logical.AntiJoin:
				narrowed[1] = w.narrowed(narrowed[1], r, narrowed[0], l)
			}
		}
		if narrowed[0] == j.Left && narrowed[1] == j.Right {
			return n
		}
		return j.WithInputs(narrowed)
	})
	return nil
}

// narrowed returns n without rows whose column c is outside of the bounds that the column d of other has, if c comes from a scan of fewer rows and the bounds leave few of them.
func (w *rewriter) narrowed(n logical.Node, c *expr.Column, other logical.Node, d *expr.Column) logical.Node {
	if c.Typ.Phys() != types.PhysInt64 || d.Typ.Phys() != types.PhysInt64 || c.Typ.IsString() || d.Typ.IsString() {
		return n
	}
	scan := logical.ScanOf(n, logical.SetOf(c.ID))
	if scan == nil {
		return n
	}
	lo, hi, ok := w.est.Bounds(other, d)
	first, last, known := w.est.Bounds(scan, c)
	if !ok || !known || lo > last || hi < first {
		return n
	}
	bound := func(op expr.Op, x int64) expr.Expr {
		return &expr.Compare{Op: op, Left: c, Right: &expr.Const{Value: types.Value{Type: c.Typ, I: x}}}
	}
	var preds []expr.Expr
	if lo > first {
		preds = append(preds, bound(expr.GE, lo))
	}
	if hi < last {
		preds = append(preds, bound(expr.LE, hi))
	}
	if len(preds) == 0 || !w.eager && w.est.Rows(scan) > w.est.Rows(other) || !w.eager && w.est.Selectivity(preds, &logical.Scan{Table: scan.Table, Alias: scan.Alias, Cols: scan.Cols, Ordinals: scan.Ordinals}) > keptOfRange {
		return n
	}
	filtered := scan.WithExprs(slices.Concat(scan.Filter, preds))
	return logical.Rewrite(n, func(x logical.Node) logical.Node {
		if x == logical.Node(scan) {
			return filtered
		}
		return x
	})
}
