// Package joinorder chooses the order of inner joins. It uses dynamic programming over connected subgraphs, bushy trees allowed (DPccp: Moerkotte and
// Neumann, "Analysis of Two Existing and One New Dynamic Programming Algorithm", 2006). Above [MaxExact] relations, or where the search grows
// too large, it uses greedy operator ordering (Fegaras, "A New Heuristic for Optimizing Large Queries", 1998).
//
// planner/rules hands over the relations and conditions of a group of inner joins. The result's left inputs are probe
// sides, its right inputs build sides.
//
// joinorder.go has the search, graph.go the relations and what connects them, cost.go what a join costs.
package joinorder

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
)

// MaxExact is the largest number of relations that dynamic programming orders.
const MaxExact = 12

// MaxRelations is the largest number of relations that can be ordered at all.
const MaxRelations = 64

// maxPairs bounds the pairs of subgraphs that dynamic programming looks at; a clique of 9 relations has 9,330.
const maxPairs = 10_000

// set is a set of relations.
type set uint64

func single(i int) set          { return 1 << i }
func (s set) lowest() int       { return bits.TrailingZeros64(uint64(s)) }
func (s set) has(i int) bool    { return s>>i&1 != 0 }
func (s set) within(o set) bool { return s&^o == 0 }

// plan is the best known way to join a set of relations.
type plan struct {
	set         set
	rows        float64
	cost        float64
	columns     int   // that its relations give
	left, right *plan // nil for a single relation
}

// Order returns the inner join of relations under preds, and its estimated cost. At most MaxRelations are allowed.
// Conditions on one relation or none become filters.
func Order(relations []logical.Node, preds []expr.Expr, est *stats.Estimator, hint logical.JoinHint, model Model) (logical.Node, float64) {
	g := newGraph(relations, preds, est, model)
	g.hint = hint
	p := g.best()
	n, _ := g.build(p)
	return logical.NewFilter(n, g.constant...), p.cost
}

// best orders the components of the graph and joins them.
func (g *graph) best() *plan {
	if len(g.relations) == 1 {
		return g.leaf(0)
	}
	if len(g.relations) == 2 {
		return g.join(g.leaf(0), g.leaf(1))
	}
	var parts []*plan
	for _, c := range g.components() {
		parts = append(parts, g.component(c))
	}
	return g.product(parts)
}

// maxStarts is the number of parts up to which a product is tried from each of them.
const maxStarts = 8

// product joins parts that no condition of two relations connects. A product that the caches hold is stored and built on. A larger
// one never is: it streams through one join after another, each of which builds on one part, so that it takes no memory
// and ends early under a LIMIT.
func (g *graph) product(parts []*plan) *plan {
	for len(parts) > 2 {
		slices.SortStableFunc(parts, func(a, b *plan) int { return cmp.Compare(a.rows, b.rows) })
		p := g.join(parts[0], parts[1])
		if p.rows > cost.CachedRows {
			break
		}
		parts = append([]*plan{p}, parts[2:]...)
	}
	switch len(parts) {
	case 1:
		return parts[0]
	case 2:
		return g.join(parts[0], parts[1])
	}
	starts := parts
	if len(parts) > maxStarts {
		starts = parts[len(parts)-1:] // the largest part is the dearest to build on
	}
	var best *plan
	for _, first := range starts {
		if p := g.stream(first, parts); best == nil || p.cost < best.cost {
			best = p
		}
	}
	return best
}

// stream joins first with each of the other parts, next always the one that gives the fewest rows.
func (g *graph) stream(first *plan, parts []*plan) *plan {
	acc := first
	for range len(parts) - 1 {
		var next *plan
		for _, p := range parts {
			if p.set&acc.set != 0 {
				continue
			}
			c := g.cross(acc.set, p.set)
			if j := g.combined(acc, p, c, g.joinCost(acc, p, c)); next == nil || j.rows < next.rows {
				next = j
			}
		}
		acc = next
	}
	return acc
}

func (g *graph) component(c set) *plan {
	if n := bits.OnesCount64(uint64(c)); n <= MaxExact {
		if p := g.dynamic(c); p != nil {
			return p
		}
	}
	return g.greedy(c)
}

// components returns the connected parts of the graph.
func (g *graph) components() []set {
	var out []set
	left := g.all()
	for left != 0 {
		c := single(left.lowest())
		for {
			next := c | g.neighbours(c)
			if next == c {
				break
			}
			c = next
		}
		out = append(out, c)
		left &^= c
	}
	return out
}

func (g *graph) all() set {
	if len(g.relations) == 64 {
		return ^set(0)
	}
	return single(len(g.relations)) - 1
}

// neighbours returns the relations outside s that a condition connects to s.
func (g *graph) neighbours(s set) set {
	var out set
	for r := s; r != 0; r &= r - 1 {
		out |= g.adjacent[r.lowest()]
	}
	return out &^ s
}

func (g *graph) leaf(i int) *plan {
	return &plan{set: single(i), rows: g.rows[i], columns: g.columns[i]}
}

// dynamic is DPccp over the component c. It returns nil if it would look at too many pairs.
func (g *graph) dynamic(c set) *plan {
	d := &enumeration{g: g, within: c, table: map[set]*plan{}}
	for r := c; r != 0; r &= r - 1 {
		i := r.lowest()
		d.table[single(i)] = g.leaf(i)
	}
	// Subgraphs start from each relation, the last first, and never take in earlier ones.
	for i := 63; i >= 0; i-- {
		if !c.has(i) {
			continue
		}
		s := single(i)
		d.complements(s)
		d.grow(s, d.upTo(i), d.complements)
	}
	if d.pairs > maxPairs {
		return nil
	}
	return d.table[c]
}

type enumeration struct {
	g      *graph
	within set
	table  map[set]*plan
	pairs  int
}

// upTo returns the relations numbered i and below.
func (d *enumeration) upTo(i int) set { return set(1)<<i | (set(1)<<i - 1) }

// grow calls f for every connected superset of s that takes in none of excluded (EnumerateCsgRec).
func (d *enumeration) grow(s, excluded set, f func(set)) {
	n := d.g.neighbours(s) & d.within &^ excluded
	if n == 0 || d.pairs > maxPairs {
		return
	}
	for sub := n & -n; ; sub = (sub - n) & n {
		f(s | sub)
		if sub == n {
			break
		}
	}
	for sub := n & -n; ; sub = (sub - n) & n {
		d.grow(s|sub, excluded|n, f)
		if sub == n {
			break
		}
	}
}

// complements joins s1 with every connected set beside it that it has not been joined with yet (EnumerateCmp).
func (d *enumeration) complements(s1 set) {
	excluded := d.upTo(s1.lowest()) | s1
	n := d.g.neighbours(s1) & d.within &^ excluded
	for i := 63; i >= 0; i-- {
		if !n.has(i) {
			continue
		}
		s2 := single(i)
		d.pair(s1, s2)
		d.grow(s2, excluded|d.upTo(i)&n, func(s2 set) { d.pair(s1, s2) })
	}
}

func (d *enumeration) pair(s1, s2 set) {
	d.pairs++
	if d.pairs > maxPairs {
		return
	}
	a, b := d.table[s1], d.table[s2]
	if a == nil || b == nil {
		return
	}
	p := d.g.join(a, b)
	if old := d.table[p.set]; old == nil || p.cost < old.cost {
		d.table[p.set] = p
	}
}

// greedy joins, again and again, the two connected parts of c whose join is the smallest.
func (g *graph) greedy(c set) *plan {
	var parts []*plan
	for r := c; r != 0; r &= r - 1 {
		parts = append(parts, g.leaf(r.lowest()))
	}
	// joined[i][k], i < k, is the join of two parts, nil where nothing connects them.
	joined := make([][]*plan, len(parts))
	try := func(i, k int) {
		joined[i][k] = nil
		if g.neighbours(parts[i].set)&parts[k].set != 0 {
			joined[i][k] = g.join(parts[i], parts[k])
		}
	}
	for i := range parts {
		joined[i] = make([]*plan, len(parts))
		for k := i + 1; k < len(parts); k++ {
			try(i, k)
		}
	}
	for left := len(parts); left > 1; left-- {
		bi, bk := -1, -1
		for i := range parts {
			for k := i + 1; k < len(parts); k++ {
				if p := joined[i][k]; p != nil && (bi < 0 || p.rows < joined[bi][bk].rows ||
					p.rows == joined[bi][bk].rows && p.cost < joined[bi][bk].cost) {
					bi, bk = i, k
				}
			}
		}
		parts[bi], parts[bk] = joined[bi][bk], nil
		for i := range parts {
			if i < bk {
				joined[i][bk] = nil
			} else {
				joined[bk][i] = nil
			}
			switch {
			case parts[i] == nil || i == bi:
			case i < bi:
				try(i, bi)
			default:
				try(bi, i)
			}
		}
	}
	for _, p := range parts {
		if p != nil {
			return p
		}
	}
	return nil
}
