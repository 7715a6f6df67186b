package stats

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// joinRows estimates the rows of a join.
func (e *Estimator) joinRows(kind logical.JoinKind, left, right logical.Node, on, corr []expr.Expr) float64 {
	l := e.Rows(left)
	switch kind {
	case logical.MarkJoin, logical.SingleJoin:
		return l
	case logical.SemiJoin:
		return atLeastOne(l*e.matched(left, right, on), l)
	case logical.AntiJoin:
		return atLeastOne(l*max(1-e.matched(left, right, on), 0.02), l)
	}
	r := e.Rows(right)
	inner := l * r * e.JoinSelectivity(left, right, on)
	switch kind {
	case logical.LeftJoin:
		return max(inner, l)
	case logical.FullJoin:
		return max(inner, l, r)
	}
	return atLeastOne(inner, l*r)
}

// JoinSelectivity estimates the share of the pairs of left and right that satisfy on. An equality matches one in as many
// as the larger domain has values (containment of the smaller in the larger). Equalities that cover a key of a base table
// together match one row of it; others between the same relations are damped, being seldom independent.
func (e *Estimator) JoinSelectivity(left, right logical.Node, on []expr.Expr) float64 {
	var eqs []float64
	sel := 1.0
	if len(on) > 1 {
		var rest []expr.Expr
		if s, others, ok := e.keyEqualities(left, right, on); ok {
			sel, rest = s, others
			on = rest
		}
	}
	for _, p := range on {
		if s, ok := e.equalitySelectivity(left, right, p); ok {
			eqs = append(eqs, s)
			continue
		}
		sel *= e.crossSelectivity(left, right, p)
	}
	slices.Sort(eqs)
	damp := 1.0
	for _, s := range eqs {
		sel *= math.Pow(s, damp)
		damp /= 2
	}
	return sel
}

// equalitySelectivity is the share of pairs that an equality between the sides keeps.
func (e *Estimator) equalitySelectivity(left, right logical.Node, p expr.Expr) (float64, bool) {
	c, ok := p.(*expr.Compare)
	if !ok || c.Op != expr.EQ && c.Op != expr.NSEQ {
		return 0, false
	}
	a, b := c.Left, c.Right
	if !usesOnly(a, left) {
		a, b = b, a
	}
	if !usesOnly(a, left) || !usesOnly(b, right) {
		return 0, false
	}
	l, r := e.ofExpr(left, a), e.ofExpr(right, b)
	notNull := (1 - l.NullFrac) * (1 - r.NullFrac)
	if drawnFrom(right, b, left, a) || drawnFrom(left, a, right, b) {
		return notNull / max(l.Distinct, r.Distinct, 1), true
	}
	return notNull / max(l.Domain, r.Domain, 1), true
}

func usesOnly(x expr.Expr, n logical.Node) bool {
	return logical.UsesAny(x, logical.Out(n)) && logical.UsedWithin(x, logical.Out(n))
}

// crossSelectivity estimates any other condition over both sides.
func (e *Estimator) crossSelectivity(left, right logical.Node, p expr.Expr) float64 {
	switch x := p.(type) {
	case *expr.Const:
		if x.Value.Null || x.Value.I == 0 {
			return 0
		}
		return 1
	case *expr.And:
		s := 1.0
		for _, a := range x.Args {
			s *= e.crossSelectivity(left, right, a)
		}
		return s
	case *expr.Or:
		miss := 1.0
		for _, a := range x.Args {
			miss *= 1 - e.crossSelectivity(left, right, a)
		}
		return 1 - miss
	case *expr.Not:
		return 1 - e.crossSelectivity(left, right, x.Arg)
	case *expr.Compare:
		if s, ok := e.equalitySelectivity(left, right, p); ok {
			return s
		}
		if x.Op == expr.NE {
			if s, ok := e.equalitySelectivity(left, right, &expr.Compare{Op: expr.EQ, Left: x.Left, Right: x.Right}); ok {
				return 1 - s
			}
		}
	}
	if logical.UsedWithin(p, logical.Out(left)) {
		return e.Selectivity([]expr.Expr{p}, left)
	}
	if logical.UsedWithin(p, logical.Out(right)) {
		return e.Selectivity([]expr.Expr{p}, right)
	}
	if c, ok := p.(*expr.Compare); ok && c.Op == expr.EQ {
		return unknownEquality
	}
	return unknownRange
}

// keyEqualities finds equalities that cover a key of several columns of one base table on either side: together they
// match one row of that table.
func (e *Estimator) keyEqualities(left, right logical.Node, on []expr.Expr) (sel float64, rest []expr.Expr, ok bool) {
	for _, side := range [2]logical.Node{left, right} {
		var cols logical.ColSet
		for _, p := range on {
			if l, r, ok := equality(p); ok {
				if logical.Out(side).Has(l.ID) {
					cols.Add(l.ID)
				} else if logical.Out(side).Has(r.ID) {
					cols.Add(r.ID)
				}
			}
		}
		if cols.Len() < 2 {
			continue
		}
		rows, key := coveredKey(side, cols)
		if key == nil {
			continue
		}
		for _, p := range on {
			if l, r, ok := equality(p); ok && (key.Has(l.ID) || key.Has(r.ID)) {
				continue
			}
			rest = append(rest, p)
		}
		return 1 / max(rows, 1), rest, true
	}
	return 0, nil, false
}

// coveredKey looks in n for a base table with a unique key of several columns, all in cols; it returns the table's rows
// and the key's columns.
func coveredKey(n logical.Node, cols logical.ColSet) (rows float64, key logical.ColSet) {
	logical.Walk(n, func(n logical.Node) bool {
		switch x := n.(type) {
		case *logical.Scan:
			for _, k := range x.Table.Schema.Keys {
				if !k.Unique || len(k.Columns) < 2 {
					continue
				}
				var found logical.ColSet
				for _, ord := range k.Columns {
					for i, o := range x.Ordinals {
						if o == ord && cols.Has(x.Cols[i].ID) {
							found.Add(x.Cols[i].ID)
						}
					}
				}
				if found.Len() == len(k.Columns) {
					rows, key = float64(x.Table.Rows()), found
				}
			}
		case *logical.Filter, *logical.Join, *logical.Project:
			return key == nil
		}
		return false
	})
	return rows, key
}

// matched estimates the share of left rows that have a match on the right.
func (e *Estimator) matched(left, right logical.Node, on []expr.Expr) float64 {
	if len(on) == 0 {
		return min(e.Rows(right), 1)
	}
	share, residual, equalities := 1.0, 1.0, 0
	var eqs []float64
	for _, p := range on {
		c, ok := p.(*expr.Compare)
		if ok && (c.Op == expr.EQ || c.Op == expr.NSEQ) {
			a, b := c.Left, c.Right
			if !usesOnly(a, left) {
				a, b = b, a
			}
			if usesOnly(a, left) && usesOnly(b, right) {
				l, r := e.ofExpr(left, a), e.ofExpr(right, b)
				of := max(l.Domain, r.Domain, 1)
				if drawnFrom(right, b, left, a) {
					of = max(l.Distinct, 1)
				}
				eqs = append(eqs, min(r.Distinct/of, 1)*(1-l.NullFrac))
				equalities++
				continue
			}
		}
		residual *= e.crossSelectivity(left, right, p)
	}
	slices.Sort(eqs)
	damp := 1.0
	for _, s := range eqs {
		share *= math.Pow(s, damp)
		damp /= 2
	}
	if residual < 1 {
		// Each left row has several candidates; one that passes is enough.
		candidates := max(e.Rows(right), 1)
		if equalities > 0 {
			candidates = max(e.Rows(left)*e.Rows(right)*e.JoinSelectivity(left, right, onlyEqualities(on))/max(e.Rows(left)*share, 1), 1)
		}
		share *= 1 - math.Pow(1-residual, candidates)
	}
	return min(share, 1)
}

func onlyEqualities(on []expr.Expr) []expr.Expr {
	var out []expr.Expr
	for _, p := range on {
		if c, ok := p.(*expr.Compare); ok && (c.Op == expr.EQ || c.Op == expr.NSEQ) {
			out = append(out, p)
		}
	}
	return out
}

// Domain estimates how many values x, over n's columns, has to choose from.
func (e *Estimator) Domain(n logical.Node, x expr.Expr) float64 { return max(e.ofExpr(n, x).Domain, 1) }

// drawnFrom says whether the values of column x of n are among those of column y of the reader other, because a semi
// join with another reader of the same plan has filtered n. Such columns are not independent.
func drawnFrom(n logical.Node, x expr.Expr, other logical.Node, y expr.Expr) bool {
	reader, ok := other.(*logical.Shared)
	col, isColumn := y.(*expr.Column)
	if !ok || !isColumn {
		return false
	}
	from := readColumn(reader, col.ID)
	for {
		c, ok := x.(*expr.Column)
		if !ok {
			return false
		}
		switch in := n.(type) {
		case *logical.Filter:
			n = in.Input
		case *logical.Project:
			n, x = in.Input, itemExpr(in.Items, c.ID)
		case *logical.Aggregate:
			n, x = in.Input, itemExpr(in.Groups, c.ID)
		case *logical.Join:
			if second, ok := in.Right.(*logical.Shared); ok && in.Kind == logical.SemiJoin && second.Plan == reader.Plan {
				for _, p := range in.On {
					l, r, ok := equality(p)
					if ok && (l.ID == c.ID && readColumn(second, r.ID) == from || r.ID == c.ID && readColumn(second, l.ID) == from) {
						return true
					}
				}
			}
			if n = in.Left; !logical.Out(n).Has(c.ID) {
				n = in.Right
			}
		default:
			return false
		}
	}
}

// readColumn returns the plan's column behind a reader's, or 0.
func readColumn(s *logical.Shared, id expr.ColumnID) expr.ColumnID {
	for i, c := range s.Cols {
		if c.ID == id {
			return s.From[i].ID
		}
	}
	return 0
}

func itemExpr(items []logical.Item, id expr.ColumnID) expr.Expr {
	for _, it := range items {
		if it.Col.ID == id {
			return it.Expr
		}
	}
	return nil
}
