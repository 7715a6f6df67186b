package joinorder

import (
	"math"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// Costs, in units of handing one row on to the next operator. A build side that outgrows the caches costs more at each
// row put in and looked up, or at each pair of a nested loop.
const (
	buildRow      = 1.5
	columnFactor  = 0.02 // that a column adds to storing a row: it decides between orders that cost the same otherwise
	probeRow      = 0.5
	filterRow     = 0.5     // a row that is tested by a runtime filter
	filteredRows  = 1 << 19 // a build side from which on it matters that rows without a match seldom get to the table
	outputRow     = 1.0
	pairTest      = 0.15 // a pair of a nested loop
	coldFactor    = 2.0  // a table beyond the second-level cache
	cacheRows     = 1 << 16
	hugeFactor    = 4.0 // a table beyond the last-level cache
	hugeRows      = 1 << 21
	denseDiscount = 0.2 // a direct-address array instead of a hash table; its filter drops rows in the scan already
	wideFactor    = 1.5 // a key of several columns, which no exact filter serves
	unstorable    = 1e6 // a build side of more rows than an operator can hold
)

// Model holds what costs depend on the device that runs the joins. Its zero value is the CPU's.
type Model struct {
	// DenseSlack, if not zero, tells of a device that has so many threads that arrays addressed by unique keys may exceed its caches:
	// they cost a row what small ones do, and a little for each key of their range. They are made where the range is at most
	// DenseSlack times the rows. Large hash tables of keys that repeat get no discount for keys that might have been dense.
	DenseSlack float64
	// ChainRow is what a row costs that one thread meets in a chain of rows with one key while all others have nothing left to do.
	ChainRow float64
}

// GPU is the model of a GPU. DenseSlack follows from the bytes that a build and a probe move. ChainRow is measured: on an H200 a join that
// walked a chain of 7 million rows took 7.9 s, one of 2 x 134 million rows without chains 39 ms.
var GPU = Model{DenseSlack: 12, ChainRow: 30_000}

// Of a GPU: what a place of an array costs, and the rows from which on a hash table of keys that repeat, whose chains are walked in
// memory, gets no discount for keys that might have been dense.
const (
	densePlace   = 0.01
	chainedRows  = 4 * hugeRows
	uniqueExcess = 1.001 // estimates of one thing differ by rounding
)

// maxStored is the most rows that a build side can hold: executors number them by 32 bits.
const maxStored = math.MaxInt32

// maxRows bounds the rows of a plan, so that costs stay finite numbers, which can be compared.
const maxRows = 1e100

func sqrt(x float64) float64 { return math.Sqrt(x) }

// join returns the cheaper way round to join two parts.
func (g *graph) join(a, b *plan) *plan {
	c := g.cross(a.set, b.set)
	ab, ba := g.joinCost(a, b, c), g.joinCost(b, a, c)
	if ba < ab || ba == ab && a.rows < b.rows {
		return combined(b, a, c, ba)
	}
	return combined(a, b, c, ab)
}

// combined is the join that probes with a and builds on b at a cost, output not counted.
func combined(a, b *plan, c crossing, cost float64) *plan {
	p := &plan{set: a.set | b.set, left: a, right: b, columns: a.columns + b.columns, rows: min(max(a.rows*b.rows*c.selectivity, 1e-3), maxRows)}
	p.cost = a.cost + b.cost + cost + outputRow*p.rows
	return p
}

// joinCost is the cost of building on b and probing with a, output not counted.
func (g *graph) joinCost(a, b *plan, c crossing) float64 {
	cost := g.evenCost(a, b, c)
	if g.model.ChainRow > 0 && c.single >= 0 {
		if m := g.classes[c.single].inPart(b.set); m != nil {
			cost += g.model.ChainRow * m.frequent * b.rows / max(g.rows[m.relation], 1)
		}
	}
	return cost
}

// evenCost is joinCost as far as no key has more rows than others.
func (g *graph) evenCost(a, b *plan, c crossing) float64 {
	factor := 1.0
	buildRow := buildRow * (1 + columnFactor*float64(b.columns))
	switch {
	case b.rows > maxStored:
		factor = unstorable
	case b.rows > hugeRows:
		factor = hugeFactor
	case b.rows > cacheRows:
		factor = coldFactor
	}
	if c.equalities == 0 {
		return factor * (buildRow*b.rows + pairTest*a.rows*b.rows)
	}
	discount := 1.0
	if c.equalities > 1 {
		factor *= wideFactor
	} else if c.single >= 0 {
		m := g.classes[c.single].inPart(b.set)
		switch {
		case m == nil:
		case g.model.DenseSlack > 0 && b.rows > hugeRows && b.rows <= maxStored:
			unique := m.unique && b.rows <= uniqueExcess*g.rows[m.relation]
			switch {
			case unique && m.span < min(g.model.DenseSlack*b.rows, denseLimit):
				return denseDiscount*(buildRow*b.rows+probeRow*a.rows) + densePlace*m.span
			case m.dense && (unique || b.rows < chainedRows):
				factor *= denseDiscount
			}
		case m.dense && b.rows > hugeRows:
			discount = denseDiscount // of looking up; most of what storing many rows costs is moving them
		case m.dense:
			factor *= denseDiscount
		}
	}
	cost := factor * (buildRow*b.rows + discount*probeRow*a.rows)
	if g.model.DenseSlack == 0 && b.rows > filteredRows && b.rows <= maxStored && g.filters(a, b) == c.equalities {
		// Rows without a match may be dropped by a filter as they are read, and never get to the table.
		matched := min(a.rows, a.rows*b.rows*c.selectivity)
		cost = min(cost, factor*(buildRow*b.rows+discount*probeRow*matched)+filterRow*a.rows)
	}
	return cost
}

// filters returns how many equalities of two parts give the scan that a begins with a filter, a set of b's integers.
func (g *graph) filters(a, b *plan) (n int) {
	scan := a
	for scan.left != nil {
		scan = scan.left
	}
	for i := range g.classes {
		if c := &g.classes[i]; c.set&scan.set != 0 && c.set&b.set != 0 && !math.IsInf(c.inPart(b.set).span, 1) {
			n++
		}
	}
	return n
}

// build makes the tree of a plan. Each condition stands at the lowest join that has all of its columns.
func (g *graph) build(p *plan) (logical.Node, set) {
	if p.left == nil {
		return g.relations[p.set.lowest()], p.set
	}
	l, ls := g.build(p.left)
	r, rs := g.build(p.right)
	var on []expr.Expr
	for i := range g.classes {
		c := &g.classes[i]
		if c.set&ls == 0 || c.set&rs == 0 {
			continue
		}
		on = append(on, &expr.Compare{Op: expr.EQ, Left: c.inPart(ls).e, Right: c.inPart(rs).e})
	}
	both := ls | rs
	for _, o := range g.others {
		if o.set.within(both) && !o.set.within(ls) && !o.set.within(rs) {
			on = append(on, o.e)
		}
	}
	j := &logical.Join{Kind: logical.InnerJoin, Left: l, Right: r, On: on}
	if len(on) > 0 {
		j.Hint = g.hint
	}
	return j, both
}
