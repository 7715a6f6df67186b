package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// firstOfRange handles a subquery with LIMIT 1, such as the last price before each trade:
//
//	SELECT t.*, (SELECT p.price FROM p WHERE p.day < t.day ORDER BY p.day DESC LIMIT 1) FROM t
//
// All rows that it could give are numbered in its order. The row that it gives is the one with the least number of those that match, and
// that is an aggregate over ranges. It returns nil where accumulate does not compute that one.
func (d *decorrelator) firstOfRange(a *logical.Apply) logical.Node {
	switch a.Kind {
	case logical.SingleJoin, logical.LeftJoin, logical.InnerJoin:
	default:
		return nil
	}
	x, conds, ranges := d.limitedByRanges(a)
	if x == nil || x.count != 1 || x.offset != 0 {
		return d.nearestOfRange(a, x, conds, ranges)
	}
	in, keys, above := x.in, x.keys, x.above
	fn := expr.LookupWindow("row_number")
	number := d.w.alloc.New("", fn.Name, types.Uint64, false)
	numbered := &logical.Window{Input: in, Order: keys, Items: []logical.WindowItem{{Col: number, Fn: fn, Frame: logical.WholePartition}}}
	rows, again, cols := d.w.readTwice(numbered)
	m := columnsAs(cols) // as they are read again
	least := d.w.newAgg(minimum, "least", cols[number.ID])
	matched := &logical.Apply{
		Kind: logical.LeftJoin, Left: a.Left,
		Right: &logical.Aggregate{Input: logical.NewFilter(again, substituteAll(conds, m)...), Aggs: []logical.AggItem{least}, Scalar: true},
	}
	l := d.accumulate(matched)
	if l == logical.Node(matched) {
		return nil
	}
	on := []expr.Expr{&expr.Compare{Op: expr.EQ, Left: least.Col, Right: number}}
	return d.joinChosen(a, &logical.Join{Left: l, Right: rows, On: on}, above, number)
}

// joinChosen does what a does by a join of a's left side with the rows that it chooses for each row. above are the projections over them.
// marker is a column of theirs that is not NULL. It returns nil if what a joins on could fail for other pairs of rows.
func (d *decorrelator) joinChosen(a *logical.Apply, join *logical.Join, above []*logical.Project, marker *expr.Column) logical.Node {
	isOuter := a.Kind != logical.InnerJoin
	values := map[expr.ColumnID]expr.Expr{}
	for _, c := range join.Right.Schema() {
		values[c.ID] = withNull(c, c.Null || isOuter)
	}
	for _, p := range above {
		made := map[expr.ColumnID]expr.Expr{}
		for _, it := range p.Items {
			made[it.Col.ID] = expr.Substitute(it.Expr, values)
		}
		values = made
	}
	for _, e := range values { // conditions over them may move below the join
		if len(a.On) > 0 && !d.w.est.CannotFail(&logical.Join{Kind: logical.InnerJoin, Left: join.Left, Right: join.Right}, e) {
			return nil
		}
	}
	join.Kind = pick(isOuter, logical.LeftJoin, logical.InnerJoin)
	join.On = append(join.On, substituteAll(a.On, values)...)
	some := &expr.Not{Arg: &expr.IsNull{Arg: withNull(marker, true)}}
	schema := a.Right.Schema()
	items := make([]logical.Item, len(schema))
	for i, c := range schema {
		e := values[c.ID]
		if _, isColumn := e.(*expr.Column); isOuter && !isColumn {
			e = &expr.Case{Whens: []expr.When{{Cond: some, Then: e}}, Typ: c.Typ}
		}
		items[i] = logical.Item{Col: withNull(c, e.Nullable()), Expr: e}
	}
	return d.withColumns(join, a.Left.Schema(), items)
}

// limited is what LIMIT gives: some rows of in, in the order of keys, and projections over them, the lowest one first.
type limited struct {
	in            logical.Node
	keys          []logical.SortKey
	above         []*logical.Project
	count, offset int64
}

// limitedRows takes LIMIT and what is computed above and below it out of n, or returns nil.
func limitedRows(n logical.Node) *limited {
	l := &limited{}
	switch x := n.(type) {
	case *logical.Project:
		if l = limitedRows(x.Input); l != nil {
			l.above = append(l.above, x)
		}
		return l
	case *logical.Sort:
		l.in, l.keys, l.count, l.offset = x.Input, x.Keys, x.Count, x.Offset
	case *logical.Limit:
		l.in, l.keys = unsorted(x.Input)
		l.count, l.offset = x.Count, x.Offset
	default:
		return nil
	}
	if l.count == logical.NoLimit {
		return nil
	}
	for p, is := l.in.(*logical.Project); is; p, is = l.in.(*logical.Project) {
		for _, it := range p.Items {
			if expr.IsVolatile(it.Expr) {
				return nil
			}
		}
		m := itemMap(p.Items)
		l.in, l.keys, l.above = p.Input, substituteKeys(l.keys, m), append([]*logical.Project{p}, l.above...)
	}
	return l
}

// limitedByRanges takes the correlation of a's right side, a LIMIT, out of its rows: inequalities, which hold between an outer and an inner row. It returns
// nil if there are others, or if something could fail for rows that no outer row matches.
func (d *decorrelator) limitedByRanges(a *logical.Apply) (x *limited, conds []expr.Expr, ranges []*matchedRange) {
	x = limitedRows(a.Right)
	outer := logical.Out(a.Left)
	if x == nil || !correlated(x.in, outer) {
		return nil, nil, nil
	}
	for _, k := range x.keys {
		if logical.UsesAny(k.Expr, outer) || expr.IsVolatile(k.Expr) {
			return nil, nil, nil
		}
	}
	if _, _, ok := d.pull(x.in, outer, true); ok {
		return nil, nil, nil
	}
	in, conds, ok := d.pull(x.in, outer, false)
	if !ok {
		return nil, nil, nil
	}
	ranges = rangesOf(conds, outer)
	if ranges == nil || len(in.FreeColumns()) > 0 || !d.cannotFail(a.Left, in, conds) {
		return nil, nil, nil
	}
	for _, k := range x.keys {
		if !logical.UsedWithin(k.Expr, logical.Out(in)) || !d.w.est.CannotFail(in, k.Expr) { // a query around a may have columns, too
			return nil, nil, nil
		}
	}
	x.in = in
	return x, conds, ranges
}
