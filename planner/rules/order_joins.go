package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/joinorder"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const orderJoinsDoc = `Order joins: give every tree of inner joins the order that planner/joinorder finds cheapest, and put semi and anti joins
where they cost least in it.

Legal because inner joins commute and associate, and a semi or anti join only drops rows of its left side, by columns that
any later point of the tree still has. Outer joins stay where they are:
  SELECT * FROM a LEFT JOIN (b JOIN c ON b.y = c.y) ON a.x = b.x
is not (a LEFT JOIN b) JOIN c, which would drop rows of a.`

func orderJoins(w *rewriter) error {
	o := &joinOrderer{w: w}
	return w.each(func(n logical.Node) (logical.Node, error) { return o.node(n), nil })
}

type joinOrderer struct{ w *rewriter }

// semi is a semi or anti join whose position in the tree is open.
type semi struct {
	join *logical.Join
	uses logical.ColSet // the left columns that it needs
}

// orderGroup is a join group with the semi joins in it taken out.
type orderGroup struct {
	group
	semis []semi
	hint  logical.JoinHint
}

func (o *joinOrderer) node(n logical.Node) logical.Node {
	if o.w.stopped() {
		return n
	}
	if j, ok := n.(*logical.Join); ok {
		switch j.Kind {
		case logical.InnerJoin, logical.SemiJoin, logical.AntiJoin:
			return o.order(j)
		}
	}
	if f, ok := n.(*logical.Filter); ok {
		if _, isJoin := f.Input.(*logical.Join); isJoin {
			in := o.node(f.Input)
			if in == f.Input {
				return n
			}
			return &logical.Filter{Input: in, Preds: f.Preds}
		}
	}
	return logical.MapInputs(n, o.node)
}

func (g *orderGroup) collect(n logical.Node, o *joinOrderer) {
	switch x := n.(type) {
	case *logical.Filter:
		if _, ok := x.Input.(*logical.Join); ok {
			if !slices.ContainsFunc(x.Preds, expr.IsVolatile) {
				g.preds = append(g.preds, x.Preds...)
				g.collect(x.Input, o)
				return
			}
		}
	case *logical.Join:
		if x.Hint != logical.NoJoinHint {
			g.hint = x.Hint
		}
		switch x.Kind {
		case logical.InnerJoin:
			g.preds = append(g.preds, x.On...)
			g.collect(x.Left, o)
			g.collect(x.Right, o)
			return
		case logical.SemiJoin, logical.AntiJoin:
			right := o.node(x.Right)
			if right != x.Right {
				x = &logical.Join{Kind: x.Kind, Left: x.Left, Right: right, On: x.On, Hint: x.Hint}
			}
			uses := logical.UsesOf(x.On).Minus(logical.Out(x.Right))
			g.semis = append(g.semis, semi{join: x, uses: uses})
			g.collect(x.Left, o)
			return
		}
	}
	g.leaves = append(g.leaves, o.node(n))
}

// maxSemiChoices bounds the semi joins whose positions are tried in all combinations.
const maxSemiChoices = 3

func (o *joinOrderer) order(j *logical.Join) logical.Node {
	g := &orderGroup{}
	g.collect(j, o)
	if len(g.leaves) == 1 && len(g.preds) > 0 && len(g.semis) == 0 {
		return logical.MapInputs(j, o.node)
	}
	if len(g.leaves) > joinorder.MaxRelations {
		return o.orderMany(j, g)
	}
	if len(g.leaves) == 1 {
		n := logical.NewFilter(g.leaves[0], g.preds...)
		for _, s := range o.bySelectivity(g.semis, n) {
			n = s.over(n)
		}
		return n
	}
	// Which semi joins can be done on a single relation, before the joins?
	var early []int
	for i, s := range g.semis {
		if g.leafOf(s) >= 0 {
			early = append(early, i)
		}
	}
	if len(early) > maxSemiChoices {
		early = early[:maxSemiChoices]
	}
	var best logical.Node
	bestCost := 0.0
	for choice := range 1 << len(early) {
		leaves := append([]logical.Node(nil), g.leaves...)
		var late []semi
		cost := 0.0
		for i, s := range g.semis {
			chosen := false
			for bit, e := range early {
				chosen = chosen || e == i && choice>>bit&1 != 0
			}
			if chosen {
				at := g.leafOf(s)
				cost += o.semiCost(s, leaves[at])
				leaves[at] = s.over(leaves[at])
			} else {
				late = append(late, s)
			}
		}
		n, c := joinorder.Order(leaves, g.preds, o.w.est, g.hint, o.w.joins)
		cost += c
		for _, s := range o.bySelectivity(late, n) {
			cost += o.semiCost(s, n)
			n = s.place(n, o)
		}
		if best == nil || cost < bestCost {
			best, bestCost = n, cost
		}
	}
	return best
}

// orderMany orders more relations than can be ordered at once: the first ones as they are written, then their join with the next
// ones, and so on. Semi joins come last.
func (o *joinOrderer) orderMany(j *logical.Join, g *orderGroup) logical.Node {
	rest, preds := g.leaves, g.preds
	var n logical.Node
	for len(rest) > 0 {
		if o.w.stopped() {
			return j
		}
		var leaves []logical.Node
		if n != nil {
			leaves = append(leaves, n)
		}
		k := min(len(rest), joinorder.MaxRelations-len(leaves))
		leaves, rest = append(leaves, rest[:k]...), rest[k:]
		var have logical.ColSet
		for _, l := range leaves {
			have.AddSet(logical.Out(l))
		}
		var now, later []expr.Expr
		for _, p := range preds {
			if len(rest) == 0 || logical.UsedWithin(p, have) {
				now = append(now, p)
			} else {
				later = append(later, p)
			}
		}
		n, _ = joinorder.Order(leaves, now, o.w.est, g.hint, o.w.joins)
		preds = later
	}
	for _, s := range o.bySelectivity(g.semis, n) {
		n = s.place(n, o)
	}
	return n
}

// semiCost is what the semi join costs over n, whose rows filter its right side where filter_builds is to see to that.
func (o *joinOrderer) semiCost(s semi, n logical.Node) float64 {
	left, right := o.w.est.Rows(n), o.w.est.Rows(s.join.Right)
	cost := o.w.joins.SemiCost(left, right)
	j := s.over(n)
	if o.w.keepsBuilds {
		return cost
	}
	if _, filtered, ok := o.filtersBuild(j); ok {
		cost = min(cost, o.w.joins.SemiCost(right, left)+o.w.joins.SemiCost(left, filtered))
	}
	return cost
}

func (g *orderGroup) leafOf(s semi) int {
	for i, l := range g.leaves {
		if s.uses.Meets(logical.Out(l)) {
			if s.uses.Within(logical.Out(l)) {
				return i
			}
			return -1
		}
	}
	return -1
}

// over puts the semi join over n.
func (s semi) over(n logical.Node) *logical.Join {
	return &logical.Join{Kind: s.join.Kind, Left: n, Right: s.join.Right, On: s.join.On, Hint: s.join.Hint}
}

// place puts the semi join at the point of the joins of n with the fewest rows that has its columns.
func (s semi) place(n logical.Node, o *joinOrderer) logical.Node {
	j, ok := n.(*logical.Join)
	if !ok || j.Kind != logical.InnerJoin || s.uses.Empty() {
		return s.over(n)
	}
	var side int
	switch {
	case s.uses.Within(logical.Out(j.Left)):
	case s.uses.Within(logical.Out(j.Right)):
		side = 1
	default:
		return s.over(n)
	}
	if in := j.Inputs(); o.w.est.Rows(in[side]) < o.w.est.Rows(n) {
		in[side] = s.place(in[side], o)
		return j.WithInputs(in)
	}
	return s.over(n)
}

// bySelectivity puts semi joins that keep the smallest share of n's rows first.
func (o *joinOrderer) bySelectivity(semis []semi, n logical.Node) []semi {
	if len(semis) < 2 {
		return semis
	}
	out := append([]semi(nil), semis...)
	share := make([]float64, len(out))
	for i, s := range out {
		share[i] = o.w.est.Rows(s.over(n))
	}
	for i := 1; i < len(out); i++ {
		for k := i; k > 0 && share[k] < share[k-1]; k-- {
			share[k], share[k-1] = share[k-1], share[k]
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}
