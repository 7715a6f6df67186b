package joinorder

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// graph is the join graph: relations, classes of equal columns, and other conditions.
type graph struct {
	relations []logical.Node
	est       *stats.Estimator
	model     Model
	rows      []float64
	columns   []int // that it gives
	adjacent  []set
	classes   []class
	keys      []compositeKey
	others    []condition
	constant  []expr.Expr // conditions without columns
	hint      logical.JoinHint
	shares    map[[2]*stats.Column]float64 // stats.EqualShare of members that were asked for
}

// class is a set of columns (or expressions over one relation) that equalities make equal. Joining two parts that both have members takes one equality
// between them: the members within each are equal already.
type class struct {
	members []member
	set     set
}

type member struct {
	e        expr.Expr
	relation int
	column   *stats.Column
	span     float64 // of an integer: its greatest value less its least; else infinite
	dense    bool    // an integer in a range that an array can hold
	unique   bool    // a key of the relation; only models that ask for it know
	frequent float64 // rows with the most common value, as far as that is known; likewise
}

// condition is any condition over several relations that is no equality between two of them.
type condition struct {
	e           expr.Expr
	set         set
	selectivity float64
	left, right set // of an equality: what its sides use, if they have nothing in common
}

// isKeyOf says whether the condition is a key of a hash join of two parts.
func (c *condition) isKeyOf(a, b set) bool {
	if c.left == 0 || c.right == 0 {
		return false
	}
	return c.left.within(a) && c.right.within(b) || c.left.within(b) && c.right.within(a)
}

// compositeKey is a unique key of several columns of a base table, each in some class: equalities over all of them together match
// one of its rows.
type compositeKey struct {
	relation int
	classes  []int
	rows     float64
}

func newGraph(relations []logical.Node, preds []expr.Expr, est *stats.Estimator, model Model) *graph {
	g := &graph{est: est, model: model, relations: slices.Clone(relations), adjacent: make([]set, len(relations))}
	var several []condition
	for _, p := range preds {
		switch s := g.uses(p); {
		case s == 0:
			g.constant = append(g.constant, p)
		case s&(s-1) == 0:
			i := s.lowest()
			g.relations[i] = logical.NewFilter(g.relations[i], p)
		default:
			several = append(several, condition{e: p, set: s})
		}
	}
	for _, r := range g.relations {
		g.rows = append(g.rows, est.Rows(r))
		g.columns = append(g.columns, len(r.Schema()))
	}
	for _, c := range several {
		if !g.addEquality(c.e) {
			if x, ok := c.e.(*expr.Compare); ok && x.Op == expr.EQ && transitive(x.Left.Type(), x.Right.Type()) {
				if l, r := g.uses(x.Left), g.uses(x.Right); l&r == 0 {
					c.left, c.right = l, r
				}
			}
			c.selectivity = g.otherSelectivity(c)
			g.others = append(g.others, c)
		}
	}
	for i := range g.classes {
		g.connect(g.classes[i].set)
		g.equateWithin(&g.classes[i])
	}
	for _, c := range g.others {
		if c.set&(c.set-1)&((c.set&(c.set-1))-1) == 0 { // two relations
			g.connect(c.set)
		}
	}
	for i := range g.relations {
		g.findKeys(i)
	}
	return g
}

// uses returns the relations whose columns e uses.
func (g *graph) uses(e expr.Expr) set {
	var s set
	expr.Columns(e, func(id expr.ColumnID) {
		for i, r := range g.relations {
			if logical.Out(r).Has(id) {
				s |= single(i)
				return
			}
		}
	})
	return s
}

func (g *graph) connect(s set) {
	for r := s; r != 0; r &= r - 1 {
		g.adjacent[r.lowest()] |= s
	}
}

// addEquality puts the sides of an equality between two relations into one class.
func (g *graph) addEquality(e expr.Expr) bool {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ {
		return false
	}
	l, r := g.uses(c.Left), g.uses(c.Right)
	if l == 0 || r == 0 || l&(l-1) != 0 || r&(r-1) != 0 || l == r {
		return false
	}
	if !transitive(c.Left.Type(), c.Right.Type()) {
		return false
	}
	a, b := g.member(c.Left, l.lowest()), g.member(c.Right, r.lowest())
	ca, cb := g.classOf(c.Left), g.classOf(c.Right)
	switch {
	case ca < 0 && cb < 0:
		g.classes = append(g.classes, class{members: []member{a, b}, set: l | r})
	case ca >= 0 && cb < 0:
		g.classes[ca].add(b)
	case cb >= 0 && ca < 0:
		g.classes[cb].add(a)
	case ca != cb:
		for _, m := range g.classes[cb].members {
			g.classes[ca].add(m)
		}
		g.classes = slices.Delete(g.classes, cb, cb+1)
	}
	return true
}

// transitive says whether equality of such values is equality of their representation, so that it can be chained.
func transitive(a, b types.Type) bool {
	if a.IsTemporal() || b.IsTemporal() || a.Kind == types.KindDecimal || b.Kind == types.KindDecimal {
		return a.Kind == b.Kind && a.Scale == b.Scale
	}
	return a.Phys() == b.Phys()
}

func (c *class) add(m member) {
	c.members = append(c.members, m)
	c.set |= single(m.relation)
}

func (g *graph) member(e expr.Expr, relation int) member {
	m := member{e: e, relation: relation, span: math.Inf(1)}
	m.column = g.est.Of(g.relations[relation], e)
	if g.model.onGPU {
		m.frequent = g.est.KnownFrequent(g.relations[relation], e)
	}
	if lo, hi, ok := g.est.Bounds(g.relations[relation], e); ok && e.Type().Phys() == types.PhysInt64 {
		m.span = float64(hi) - float64(lo)
		if c, ok := e.(*expr.Column); ok && g.model.onGPU {
			m.unique = g.est.Unique(g.relations[relation], []expr.ColumnID{c.ID})
		}
		m.dense = physical.HasArray(m.span, g.rows[relation])
	}
	return m
}

// classOf returns the class that e is in, or -1.
func (g *graph) classOf(e expr.Expr) int {
	for i := range g.classes {
		for _, m := range g.classes[i].members {
			if expr.Equal(m.e, e) {
				return i
			}
		}
	}
	return -1
}

// equateWithin filters a relation with two members of a class: a.x = b.z and a.y = b.z say that a.x = a.y, and the join
// will test only one of them.
func (g *graph) equateWithin(c *class) {
	kept := c.members[:0:0]
	for _, m := range c.members {
		first := slices.IndexFunc(kept, func(o member) bool { return o.relation == m.relation })
		if first < 0 {
			kept = append(kept, m)
			continue
		}
		i := m.relation
		g.relations[i] = logical.NewFilter(g.relations[i], &expr.Compare{Op: expr.EQ, Left: kept[first].e, Right: m.e})
		g.rows[i] = g.est.Rows(g.relations[i])
	}
	c.members = kept
}

func (g *graph) otherSelectivity(c condition) float64 {
	a := c.set.lowest()
	rest := c.set &^ single(a)
	if rest&(rest-1) != 0 {
		if d := g.equatedDomain(c); d > 0 {
			return 1 / d
		}
		return 0.3
	}
	return g.est.JoinSelectivity(g.relations[a], g.relations[rest.lowest()], []expr.Expr{c.e})
}

// equatedDomain is how many values a single relation has to offer to an equality over several others, or 0.
func (g *graph) equatedDomain(c condition) float64 {
	d := 0.0
	x, _ := c.e.(*expr.Compare)
	for _, side := range [2]set{c.left, c.right} {
		if side != 0 && side&(side-1) == 0 {
			e := x.Left
			if side == c.right {
				e = x.Right
			}
			d = max(d, g.est.Domain(g.relations[side.lowest()], e))
		}
	}
	return d
}

// findKeys looks for composite keys of relation i whose columns are all in classes.
func (g *graph) findKeys(i int) {
	n := g.relations[i]
	for {
		f, ok := n.(*logical.Filter)
		if !ok {
			break
		}
		n = f.Input
	}
	scan, ok := n.(*logical.Scan)
	if !ok {
		return
	}
	for _, k := range scan.Table.Schema.Keys {
		if !k.Unique || len(k.Columns) < 2 {
			continue
		}
		key := compositeKey{relation: i, rows: float64(scan.Table.Rows())}
		for _, ord := range k.Columns {
			at := slices.Index(scan.Ordinals, ord)
			if at < 0 {
				break
			}
			if c := g.classOf(scan.Cols[at]); c >= 0 {
				key.classes = append(key.classes, c)
			}
		}
		if len(key.classes) == len(k.Columns) {
			g.keys = append(g.keys, key)
		}
	}
}

// crossing describes how two parts are connected.
type crossing struct {
	selectivity float64
	equalities  int
	single      int     // the class of the only equality, or -1
	tested      float64 // the share of pairs that the equalities find and other conditions test; 0: there are no others
}

// cross estimates the conditions between two disjoint parts.
func (g *graph) cross(a, b set) crossing {
	c := crossing{selectivity: 1, single: -1}
	var used [4]int
	classes := used[:0]
	for i := range g.classes {
		if cl := &g.classes[i]; cl.set&a != 0 && cl.set&b != 0 {
			classes = append(classes, i)
		}
	}
	c.equalities = len(classes)
	if len(classes) == 1 {
		c.single = classes[0]
	}
	if len(classes) > 1 {
		for _, k := range g.keys {
			if !(a | b).has(k.relation) || !subset(k.classes, classes) {
				continue
			}
			c.selectivity /= max(k.rows, 1)
			kept := classes[:0:0]
			for _, i := range classes {
				if !slices.Contains(k.classes, i) {
					kept = append(kept, i)
				}
			}
			classes = kept
			break
		}
	}
	// Equalities between two parts are seldom independent: the strongest counts in full, the next ones less.
	strongest := 1.0
	rest := 1.0
	for _, i := range classes {
		s := g.equalShare(&g.classes[i], a, b)
		if s < strongest {
			rest *= strongest
			strongest = s
		} else {
			rest *= s
		}
	}
	equal := strongest * math.Sqrt(rest)
	if len(classes) > 1 {
		equal = max(equal, 1/max(g.combinations(classes, a), g.combinations(classes, b), 1))
	}
	c.selectivity *= equal
	both := a | b
	residual := 1.0
	for i := range g.others {
		if o := &g.others[i]; o.set.within(both) && !o.set.within(a) && !o.set.within(b) {
			if o.isKeyOf(a, b) {
				c.selectivity *= o.selectivity
				c.equalities++
			} else {
				residual *= o.selectivity
				c.tested = 1
			}
		}
	}
	c.tested *= c.selectivity
	c.selectivity *= residual
	return c
}

func subset(a, of []int) bool {
	for _, x := range a {
		if !slices.Contains(of, x) {
			return false
		}
	}
	return true
}

// equalShare is the share of the pairs of rows of two parts that agree in a class.
func (g *graph) equalShare(c *class, a, b set) float64 {
	l, lNulls := c.narrowest(a)
	r, rNulls := c.narrowest(b)
	pair := [2]*stats.Column{l.column, r.column}
	share, known := g.shares[pair]
	if !known {
		share = stats.EqualShare(l.column, r.column)
		if g.shares == nil {
			g.shares = map[[2]*stats.Column]float64{}
		}
		g.shares[pair] = share
	}
	return (1 - lNulls) * (1 - rNulls) * share
}

// narrowest is the member of the class in a part that has the fewest values to choose from, and the share of the part's rows where it is NULL: none where the part has joined two members.
func (c *class) narrowest(s set) (least *member, nulls float64) {
	members := 0
	for i := range c.members {
		if m := &c.members[i]; s.has(m.relation) {
			members++
			if least == nil || m.column.Domain < least.column.Domain {
				least = m
			}
		}
	}
	if members > 1 {
		return least, 0
	}
	return least, least.column.NullFrac
}

// combinations is how many combinations of values some classes have in a part: no more than the rows of a relation that has all of them, before conditions drop some.
func (g *graph) combinations(classes []int, s set) float64 {
	all, holders := 1.0, s
	for _, i := range classes {
		m, _ := g.classes[i].narrowest(s)
		all *= max(m.column.Domain, 1)
		holders &= g.classes[i].set
	}
	// Each of these bounds it, whichever has the narrowest columns: that differs with the sample's noise.
	for ; holders != 0; holders &= holders - 1 {
		relation := holders.lowest()
		var used logical.ColSet
		for _, i := range classes {
			used = used.Union(logical.Uses(g.classes[i].inPart(single(relation)).e))
		}
		all = min(all, g.est.BaseRows(g.relations[relation], used))
	}
	return all
}

// inPart returns the class's member of a part, an unfiltered dense column of a single relation if there is one.
func (c *class) inPart(s set) *member {
	for i := range c.members {
		if m := &c.members[i]; s.has(m.relation) {
			return m
		}
	}
	return nil
}
