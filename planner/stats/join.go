package stats

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
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
	damp, all := 1.0, 1.0
	for _, s := range eqs {
		all *= math.Pow(s, damp)
		damp /= 2
	}
	if len(eqs) > 1 {
		l, r := e.combinations(left, right, on)
		all = max(all, 1/max(l, r, 1))
	}
	return sel * all
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
	if drawnFrom(right, b, left, a) || drawnFrom(left, a, right, b) {
		return (1 - l.NullFrac) * (1 - r.NullFrac) / max(l.Distinct, r.Distinct, 1), true
	}
	return (1 - l.NullFrac) * (1 - r.NullFrac) * EqualShare(l, r), true
}

func usesOnly(x expr.Expr, n logical.Node) bool {
	return logical.UsesAny(x, logical.Out(n)) && logical.UsedWithin(x, logical.Out(n))
}

// mostBranches is how many branches of an OR over both sides are looked at. The others are taken to be like them.
const mostBranches = 32

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
		var own [2][]expr.Expr // what one side alone decides, taken together
		for _, a := range x.Args {
			switch {
			case logical.UsedWithin(a, logical.Out(left)):
				own[0] = append(own[0], a)
			case logical.UsedWithin(a, logical.Out(right)):
				own[1] = append(own[1], a)
			default:
				s *= e.crossSelectivity(left, right, a)
			}
		}
		for i, side := range [2]logical.Node{left, right} {
			if len(own[i]) > 0 {
				s *= e.given(side, own[i]...)
			}
		}
		return s
	case *expr.Or:
		miss := 1.0
		looked := min(len(x.Args), mostBranches)
		for _, a := range x.Args[:looked] {
			miss *= 1 - e.crossSelectivity(left, right, a)
		}
		return 1 - math.Pow(miss, float64(len(x.Args))/float64(looked))
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
	for _, side := range [2]logical.Node{left, right} {
		if logical.UsedWithin(p, logical.Out(side)) {
			return e.given(side, p)
		}
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
	share, residual := 1.0, 1.0
	var found []float64 // by each equality, the share of left rows that it finds a match for
	for _, p := range on {
		c, ok := p.(*expr.Compare)
		if ok && (c.Op == expr.EQ || c.Op == expr.NSEQ) {
			a, b := c.Left, c.Right
			if !usesOnly(a, left) {
				a, b = b, a
			}
			if usesOnly(a, left) && usesOnly(b, right) {
				l, r := e.ofExpr(left, a), e.ofExpr(right, b)
				values := r.Distinct * EqualShare(l, r)
				if drawnFrom(right, b, left, a) {
					values = r.Distinct / max(l.Distinct, 1)
				}
				found = append(found, min(values, 1)*(1-l.NullFrac))
				continue
			}
		}
		residual *= e.crossSelectivity(left, right, p)
	}
	switch len(found) {
	case 0:
	case 1:
		share = found[0]
	default:
		l, r := e.combinations(left, right, on)
		share = min(e.Rows(right)/max(l, r, 1), 1)
	}
	if residual < 1 {
		// Each left row has several candidates; one that passes is enough.
		candidates := max(e.Rows(right), 1)
		if len(found) > 0 {
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

// Of returns the estimates of x, over n's columns.
func (e *Estimator) Of(n logical.Node, x expr.Expr) *Column { return e.ofExpr(n, x) }

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

// EqualShare is the share of the pairs of two columns' values, neither NULL, that are equal. Values outside of the range that both have match none; of the others those of the column with fewer
// values are taken to be among those of the other.
func EqualShare(l, r *Column) float64 {
	lo, hi, known := commonRange(l, r)
	if !known {
		return 1 / max(l.Domain, r.Domain, 1)
	}
	ls, rs := l.within(lo, hi), r.within(lo, hi)
	return ls * rs / max(l.Domain*ls, r.Domain*rs, 1)
}

// leastOverlap is the share of values that is taken to lie in a range that estimates say holds none.
const leastOverlap = 1e-4

// commonRange returns the range of integers that two columns' values have in common; !known: it is not known, or it is no smaller than either's.
func commonRange(l, r *Column) (lo, hi float64, known bool) {
	if !sameNumbers(l.Min.Type, r.Min.Type) {
		return 0, 0, false
	}
	lLo, lHi, ok := numbers(l.Min, l.Max)
	rLo, rHi, also := numbers(r.Min, r.Max)
	if !ok || !also {
		return 0, 0, false
	}
	lo, hi = max(lLo, rLo), min(lHi, rHi)
	return lo, hi, lo > lLo || hi < lHi || lo > rLo || hi < rHi
}

// sameNumbers says whether values of two types that are equal have the same int64.
func sameNumbers(a, b types.Type) bool {
	return a.Phys() == types.PhysInt64 && b.Phys() == types.PhysInt64 && (a.Kind == b.Kind && a.Scale == b.Scale || a.IsInteger() && b.IsInteger())
}

// within is the share of a column's values that lie in a part of their range.
func (c *Column) within(lo, hi float64) float64 {
	from, to, _ := numbers(c.Min, c.Max)
	all := c.share(from, to)
	if lo > hi || all <= 0 {
		return leastOverlap
	}
	return min(max(c.share(lo, hi)/all, leastOverlap), 1)
}

// meeting is c after an equality with o: only values that both have are left.
func (c *Column) meeting(o *Column) *Column {
	out := *c
	if o.Distinct < c.Distinct {
		out.Distinct, out.NullFrac = o.Distinct, 0
	}
	if lo, hi, known := commonRange(c, o); known && lo <= hi {
		out.Min.I, out.Max.I = int64(lo), int64(hi)
		out.Domain = max(c.Domain*c.within(lo, hi), 1)
		out.Distinct = min(out.Distinct, out.Domain)
	}
	return &out
}

// combinations is how many combinations of values the equalities of on have to choose from on either side: no more than there are rows before conditions drop some.
func (e *Estimator) combinations(left, right logical.Node, on []expr.Expr) (l, r float64) {
	l, r = 1, 1
	var lc, rc logical.ColSet
	for _, p := range on {
		c, ok := p.(*expr.Compare)
		if !ok || c.Op != expr.EQ && c.Op != expr.NSEQ {
			continue
		}
		a, b := c.Left, c.Right
		if !usesOnly(a, left) {
			a, b = b, a
		}
		if usesOnly(a, left) && usesOnly(b, right) {
			l, r = l*max(e.ofExpr(left, a).Domain, 1), r*max(e.ofExpr(right, b).Domain, 1)
			lc, rc = lc.Union(logical.Uses(a)), rc.Union(logical.Uses(b))
		}
	}
	return min(l, e.BaseRows(left, lc)), min(r, e.BaseRows(right, rc))
}

// BaseRows is how many rows there are of the columns of a node, before conditions and joins drop some.
func (e *Estimator) BaseRows(n logical.Node, cols logical.ColSet) float64 {
	switch x := n.(type) {
	case *logical.Scan:
		return float64(x.Table.Rows())
	case *logical.Filter:
		return e.BaseRows(x.Input, cols)
	case *logical.Project:
		if from := throughItems(x.Items, cols); from.Len() == cols.Len() {
			return e.BaseRows(x.Input, from)
		}
	case *logical.Join:
		for _, side := range [2]logical.Node{x.Left, x.Right} {
			if cols.Within(logical.Out(side)) {
				return e.BaseRows(side, cols)
			}
		}
	case *logical.Shared:
		return e.BaseRows(x.Plan.Root, mapped(x.Cols, x.From, cols))
	}
	return e.Rows(n)
}

// given is the share of a node's rows for which all of preds are true. Where their columns come from a scan, what its conditions leave counts: they may follow from preds.
func (e *Estimator) given(n logical.Node, preds ...expr.Expr) float64 {
	s := logical.ScanOf(n, logical.UsesOf(preds))
	if s == nil || len(s.Filter) == 0 {
		return e.Selectivity(preds, n)
	}
	before := e.Rows(s)
	return min(e.Rows(s.WithExprs(slices.Concat(s.Filter, preds)))/max(before, 1), 1)
}
