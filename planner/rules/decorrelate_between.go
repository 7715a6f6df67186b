package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// leastBetween finds for rows of the domain the first rows that belong to them, where two bounds of one value choose which do. In the order of that value
// these are neighbours, at positions of their own:
//
//	below ........... first ........... above
//	   .... second ....        ............
//
// The first one has the least number, by the order of LIMIT, of those between the bounds. It parts their positions into those before it and those behind it. The
// next one has the least number of all spans, and parts its own. Each of these is an aggregate over a range.
type leastBetween struct {
	d    *decorrelator
	n    logical.Node // the domain's rows, and what was found for them
	rows orderedRows
	ok   bool // accumulate has computed all so far
}

// orderedRows are the rows to choose from. The conditions are on the domain's columns and their own.
type orderedRows struct {
	node             logical.Node
	number, position *expr.Column // in the order of LIMIT, and in that of the bounded value
	keys, conds      []expr.Expr  // which belong to a row: the equalities, and all
	below, above     expr.Expr    // the bounded value is below the lower bound, above the upper one
}

// span is the positions between two others, and the least number there; a NULL is none.
type span struct{ from, to, least expr.Expr }

// newLeastBetween orders the rows of window, which numbers them. conds are over the domain's columns already, and so are the bounds'.
func (d *decorrelator) newLeastBetween(n logical.Node, window *logical.Window, conds []expr.Expr, lower, upper *matchedRange, outer map[expr.ColumnID]expr.Expr) *leastBetween {
	fn := expr.LookupWindow("row_number")
	position := d.w.alloc.New("", fn.Name, types.Uint64, false)
	x := &leastBetween{d: d, n: n, ok: true}
	x.rows = orderedRows{
		node:   &logical.Window{Input: window, Order: []logical.SortKey{{Expr: lower.inner}}, Items: []logical.WindowItem{{Col: position, Fn: fn, Frame: logical.WholePartition}}},
		number: window.Items[0].Col, position: position,
		below: &expr.Compare{Op: pick(lower.op == expr.GT, expr.LE, expr.LT), Left: lower.inner, Right: expr.Substitute(lower.outer, outer)},
		above: &expr.Compare{Op: pick(upper.op == expr.LT, expr.GE, expr.GT), Left: upper.inner, Right: expr.Substitute(upper.outer, outer)},
	}
	for _, c := range conds {
		e := expr.Substitute(c, outer)
		x.rows.conds = append(x.rows.conds, e)
		if cmp, is := c.(*expr.Compare); !is || !lower.isOf(cmp) && !upper.isOf(cmp) {
			x.rows.keys = append(x.rows.keys, e)
		}
	}
	return x
}

// read returns the rows to read once more, under columns of their own.
func (x *leastBetween) read() *orderedRows {
	first, again, cols := x.d.w.readTwice(x.rows.node)
	x.rows.node = first
	m := columnsAs(cols)
	return &orderedRows{
		node: again, number: cols[x.rows.number.ID], position: cols[x.rows.position.ID],
		keys: substituteAll(x.rows.keys, m), conds: substituteAll(x.rows.conds, m),
		below: expr.Substitute(x.rows.below, m), above: expr.Substitute(x.rows.above, m),
	}
}

// withKeys returns the equalities with further conditions.
func (r *orderedRows) withKeys(conds ...expr.Expr) []expr.Expr {
	return append(slices.Clip(r.keys), conds...)
}

// extreme adds the least or the greatest value of the rows that preds choose.
func (x *leastBetween) extreme(fn *expr.Aggregate, again *orderedRows, value expr.Expr, preds ...expr.Expr) expr.Expr {
	it := x.d.w.newAgg(fn, fn.Name, value)
	a := &logical.Apply{Kind: logical.LeftJoin, Left: x.n, Right: &logical.Aggregate{Input: logical.NewFilter(again.node, preds...), Aggs: []logical.AggItem{it}, Scalar: true}}
	n := x.d.accumulate(a)
	x.ok = x.ok && n != logical.Node(a)
	x.n = n
	return it.Col
}

// within adds the least number between two positions.
func (x *leastBetween) within(from, to expr.Expr) expr.Expr {
	again := x.read()
	return x.extreme(minimum, again, again.number, again.withKeys(&expr.Compare{Op: expr.GT, Left: again.position, Right: from}, &expr.Compare{Op: expr.LT, Left: again.position, Right: to})...)
}

// bound adds the last position below the lower bound, or the first one above the upper bound; none is what stands for no such position.
func (x *leastBetween) bound(fn *expr.Aggregate, isLower bool, none int64) expr.Expr {
	again := x.read()
	c := x.extreme(fn, again, again.position, again.withKeys(pick(isLower, again.below, again.above))...)
	return x.keep("bound", choose(&expr.IsNull{Arg: c}, &expr.Const{Value: types.Value{Type: types.Uint64, I: none}}, c))
}

// keep adds a column.
func (x *leastBetween) keep(name string, e expr.Expr) *expr.Column {
	it := logical.NewItem(x.d.w.alloc, name, e)
	x.n = logical.NewProject(x.n, append(logical.PassItems(x.n.Schema()), it))
	return it.Col
}

func choose(cond, then, other expr.Expr) expr.Expr {
	return &expr.Case{Whens: []expr.When{{Cond: cond, Then: then}}, Else: other, Typ: types.Uint64}
}

// find adds the numbers of the first count rows of each row of the domain. It returns nil if some of it cannot be accumulated.
func (x *leastBetween) find(count int) []*expr.Column {
	again := x.read()
	firsts := []*expr.Column{x.keep("least", x.extreme(minimum, again, again.number, again.conds...))}
	if count == 1 || !x.ok {
		return pick(x.ok, firsts, nil)
	}
	const behindAll = 1 << 62
	chosen := span{from: x.bound(maximum, true, 0), to: x.bound(minimum, false, behindAll), least: firsts[0]}
	spans := []span{chosen}
	for x.ok && len(firsts) < count {
		spans = x.parted(spans, chosen, firsts[len(firsts)-1])
		least := make([]expr.Expr, len(spans))
		for i, s := range spans {
			least[i] = s.least
		}
		next := x.keep("least", inPairs(least, lesser))
		firsts = append(firsts, next)
		chosen = spans[0]
		for _, s := range spans[1:] {
			is := &expr.Compare{Op: expr.EQ, Left: s.least, Right: next}
			chosen.from, chosen.to = choose(is, s.from, chosen.from), choose(is, s.to, chosen.to)
		}
		chosen.from, chosen.to = x.keep("from", chosen.from), x.keep("to", chosen.to)
	}
	if !x.ok {
		return nil
	}
	return firsts
}

// parted returns spans without the position of the number first, which lies in the chosen one.
func (x *leastBetween) parted(spans []span, chosen span, first *expr.Column) (out []span) {
	at := x.read()
	x.n = &logical.Join{Kind: logical.LeftJoin, Left: x.n, Right: logical.Keep(at.node, []*expr.Column{at.number, at.position}),
		On: []expr.Expr{&expr.Compare{Op: expr.EQ, Left: first, Right: at.number}}}
	position := x.keep("position", withNull(at.position, true))
	before, behind := x.within(chosen.from, position), x.within(position, chosen.to)
	for _, s := range spans {
		is := &expr.Compare{Op: expr.EQ, Left: s.least, Right: first}
		out = append(out, span{s.from, x.keep("to", choose(is, position, s.to)), x.keep("least", choose(is, before, s.least))})
	}
	return append(out, span{position, chosen.to, behind})
}

// lesser is the lesser of two values, of which a NULL is none.
func lesser(a, b expr.Expr) expr.Expr {
	takeSecond := expr.OrOf([]expr.Expr{&expr.IsNull{Arg: a}, &expr.Compare{Op: expr.LT, Left: b, Right: a}})
	return &expr.Case{Whens: []expr.When{{Cond: takeSecond, Then: b}}, Else: a, Typ: a.Type()}
}
