package joinorder

import (
	"math"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
)

const (
	columnFactor = 0.02    // that a column adds to storing a row: it decides between orders that cost the same otherwise
	filteredRows = 1 << 19 // a build side from which on it matters that rows without a match seldom get to the table
	wideFactor   = 1.5     // a key of several columns, which no exact filter serves
	unstorable   = 1e6     // a build side of more rows than an operator can hold
	repeatFactor = 0.5     // that a CPU's hash table adds for a row whose key has a row already: rows of one key are brought together
	cachedBits   = 1 << 21 // a range of keys up to which a filter's bits stay in a core's cache: 256 KiB
)

// Of a GPU: the rows from which on a hash table of keys that repeat, whose chains are walked in memory, gets no discount for keys that might have been dense.
const (
	chainedRows  = 4 * cost.SharedRows
	uniqueExcess = 1.001 // estimates of one thing differ by rounding
)

// Model is what joins cost on the device that is expected to run them.
type Model struct {
	prices cost.Joins
	onGPU  bool
}

// NewModel takes the prices of a device's joins from a table.
func NewModel(d physical.Device, t *cost.Table) Model {
	return Model{prices: t.Order[d], onGPU: d == physical.GPU}
}

// SemiCost is what a semi join costs that no join is ordered with.
func (m *Model) SemiCost(left, right float64) float64 {
	return m.prices.Build.Cached*right + m.prices.Probe.Cached*left
}

// maxStored is the most rows that a build side can hold: executors number them by 32 bits.
const maxStored = math.MaxInt32

// maxRows bounds the rows of a plan, so that costs stay finite numbers, which can be compared.
const maxRows = 1e100

// join returns the cheaper way round to join two parts.
func (g *graph) join(a, b *plan) *plan {
	c := g.cross(a.set, b.set)
	ab, ba := g.joinCost(a, b, c), g.joinCost(b, a, c)
	if ba < ab || ba == ab && a.rows < b.rows {
		return g.combined(b, a, c, ba)
	}
	return g.combined(a, b, c, ab)
}

// combined is the join that probes with a and builds on b at a cost, output not counted.
func (g *graph) combined(a, b *plan, c crossing, joining float64) *plan {
	p := &plan{set: a.set | b.set, left: a, right: b, columns: a.columns + b.columns, rows: min(max(a.rows*b.rows*c.selectivity, 1e-3), maxRows)}
	p.cost = a.cost + b.cost + joining + g.model.prices.Output*p.rows
	return p
}

// joinCost is the cost of building on b and probing with a, output not counted.
func (g *graph) joinCost(a, b *plan, c crossing) float64 {
	joining := g.evenCost(a, b, c)
	if c.equalities > 0 {
		joining += g.model.prices.Output * min(a.rows*b.rows*c.tested, maxRows) // a pair that is tested costs what a row does that is given
	}
	if key := g.single(c, b); g.model.onGPU && key != nil {
		joining += g.model.prices.Chain * key.frequent * b.rows / max(g.rows[key.relation], 1)
	}
	return joining
}

// evenCost is joinCost as far as no key has more rows than others.
func (g *graph) evenCost(a, b *plan, c crossing) float64 {
	m, p := &g.model, &g.model.prices
	storing := 1 + columnFactor*float64(b.columns)
	build, probe := p.Build.Of(b.rows)*storing, p.Probe.Of(b.rows)
	if b.rows > maxStored {
		build, probe = p.Build.Cached*storing*unstorable, p.Probe.Cached*unstorable
	}
	if c.equalities == 0 {
		slower := build / (p.Build.Cached * storing) // pairs with rows that the caches do not hold
		return build*b.rows + slower*p.Pair*a.rows*b.rows
	}
	if c.equalities > 1 {
		build, probe = build*wideFactor, probe*wideFactor
	} else if key := g.single(c, b); key != nil {
		unique := key.unique && b.rows <= uniqueExcess*g.rows[key.relation]
		large := b.rows > cost.SharedRows
		switch {
		case m.onGPU && large && b.rows <= maxStored && unique && physical.HasArrayOnGPU(key.span, b.rows):
			return p.Build.Cached*p.Build.Array*storing*b.rows + p.Probe.Cached*p.Probe.Array*a.rows + p.Slot*key.span
		case !key.dense && !m.onGPU:
			build *= 1 + repeatFactor*repeated(key, b)
		case !key.dense:
		case !large, m.onGPU && b.rows <= maxStored && (unique || b.rows < chainedRows):
			build, probe = build*p.Build.Array, probe*p.Probe.Array
		case !m.onGPU || b.rows > maxStored:
			probe *= p.Probe.Array // most of what storing many rows costs is moving them
		}
	}
	even := build*b.rows + probe*a.rows
	if filter, ok := g.filterPrice(a, b, c); ok {
		// Rows without a match may be dropped by a filter as they are read, and never get to the table.
		even = min(even, build*b.rows+probe*a.rows*g.matched(a, b)+filter*a.rows)
	}
	return even
}

// repeated estimates the share of b's rows whose key an earlier one has.
func repeated(key *member, b *plan) float64 {
	if b.rows < 1 {
		return 0
	}
	return 1 - min(max(key.column.Distinct, 1)/b.rows, 1)
}

// filterPrice is what it costs to test a row of the scan that a begins with by filters of b's keys; !ok: the device makes none.
func (g *graph) filterPrice(a, b *plan, c crossing) (price float64, ok bool) {
	m, p := &g.model, &g.model.prices
	if b.rows > maxStored {
		return 0, false
	}
	filters, widest := g.filters(a, b)
	switch {
	case m.onGPU:
		// Tables that are chained have filters, where these drop half of the rows of a large scan.
		if filters > 0 && g.scanned(a) >= cost.FilteredRows && g.matched(a, b) <= 1-cost.FilterDrops {
			return p.Filter, true
		}
		return 0, false
	case filters < c.equalities:
		return 0, false
	case widest <= cachedBits:
		return p.Probe.Cached * p.Probe.Array, true // as an array that is looked up
	}
	return p.Filter, b.rows > filteredRows
}

// matched estimates the share of a's rows that find a match in b, by the key that finds the fewest.
func (g *graph) matched(a, b *plan) float64 {
	share := 1.0
	for i := range g.classes {
		c := &g.classes[i]
		if c.set&a.set == 0 || c.set&b.set == 0 {
			continue
		}
		m, _ := c.narrowest(b.set)
		share = min(share, g.equalShare(c, a.set, b.set)*min(g.joined(m, c, b.set), b.rows))
	}
	return share
}

// joined estimates how many values of a class's member are left in a part, once its relation has lost the rows without a match by another class. If the part joins the dates of a year with all dates of the same weeks, few of all dates are left.
func (g *graph) joined(m *member, c *class, part set) float64 {
	own := single(m.relation)
	left := 1.0
	for i := range g.classes {
		k := &g.classes[i]
		if k == c || k.set&own == 0 || k.set&part&^own == 0 {
			continue
		}
		o, _ := k.narrowest(part &^ own)
		left = min(left, g.equalShare(k, own, part&^own)*max(o.column.Distinct, 1))
	}
	values := max(m.column.Distinct, 1)
	if left >= 1 {
		return values
	}
	rows := g.rows[m.relation]
	return max(stats.Drawn(values, rows, rows*left), 1)
}

// single returns the member of the only equality of a crossing that b has; nil: there is none.
func (g *graph) single(c crossing, b *plan) *member {
	if c.single < 0 {
		return nil
	}
	return g.classes[c.single].inPart(b.set)
}

// filters returns how many equalities of two parts give the scan that a begins with a filter, a set of b's integers, and the widest range of these.
func (g *graph) filters(a, b *plan) (n int, widest float64) {
	scan := a
	for scan.left != nil {
		scan = scan.left
	}
	for i := range g.classes {
		c := &g.classes[i]
		if c.set&scan.set == 0 || c.set&b.set == 0 {
			continue
		}
		if span := c.inPart(b.set).span; !math.IsInf(span, 1) {
			n, widest = n+1, max(widest, span)
		}
	}
	return n, widest
}

// scanned is the rows of the scan that a plan begins with.
func (g *graph) scanned(p *plan) float64 {
	for p.left != nil {
		p = p.left
	}
	return g.rows[p.set.lowest()]
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
