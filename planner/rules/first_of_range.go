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
	in, keys, above, ok := firstOnly(a.Right)
	outer := logical.Out(a.Left)
	if !ok || !correlated(in, outer) {
		return nil
	}
	for _, k := range keys {
		if logical.UsesAny(k.Expr, outer) || expr.IsVolatile(k.Expr) {
			return nil
		}
	}
	if _, _, ok := d.pull(in, outer, true); ok {
		return nil
	}
	in, conds, ok := d.pull(in, outer, false)
	if !ok || rangesOf(conds, outer) == nil || len(in.FreeColumns()) > 0 || !d.cannotFail(a.Left, in, conds) {
		return nil
	}
	for _, k := range keys { // of rows that no outer row matches, too
		if !d.w.est.CannotFail(in, k.Expr) {
			return nil
		}
	}
	fn := expr.LookupWindow("row_number")
	number := d.w.alloc.New("", fn.Name, types.Uint64, false)
	numbered := &logical.Window{Input: in, Order: keys, Items: []logical.WindowItem{{Col: number, Fn: fn, Frame: logical.WholePartition}}}
	rows, again, cols := d.w.readTwice(numbered)
	m := map[expr.ColumnID]expr.Expr{} // columns as they are read again
	for id, c := range cols {
		m[id] = c
	}
	least := d.w.newAgg(minimum, "least", cols[number.ID])
	matched := &logical.Apply{
		Kind: logical.LeftJoin, Left: a.Left,
		Right: &logical.Aggregate{Input: logical.NewFilter(again, substituteAll(conds, m)...), Aggs: []logical.AggItem{least}, Scalar: true},
	}
	l := d.accumulate(matched)
	if l == logical.Node(matched) {
		return nil
	}
	outerJoin := a.Kind != logical.InnerJoin
	values := map[expr.ColumnID]expr.Expr{}
	for _, c := range rows.Schema() {
		values[c.ID] = withNull(c, c.Null || outerJoin)
	}
	for _, p := range above {
		made := map[expr.ColumnID]expr.Expr{}
		for _, it := range p.Items {
			made[it.Col.ID] = expr.Substitute(it.Expr, values)
		}
		values = made
	}
	for _, e := range values { // conditions over them may move below the join
		if len(a.On) > 0 && !d.w.est.CannotFail(&logical.Join{Kind: logical.InnerJoin, Left: l, Right: rows}, e) {
			return nil
		}
	}
	join := &logical.Join{Kind: pick(outerJoin, logical.LeftJoin, logical.InnerJoin), Left: l, Right: rows}
	join.On = append([]expr.Expr{&expr.Compare{Op: expr.EQ, Left: least.Col, Right: number}}, substituteAll(a.On, values)...)
	some := &expr.Not{Arg: &expr.IsNull{Arg: withNull(number, true)}}
	schema := a.Right.Schema()
	items := make([]logical.Item, len(schema))
	for i, c := range schema {
		e := values[c.ID]
		if _, isColumn := e.(*expr.Column); outerJoin && !isColumn {
			e = &expr.Case{Whens: []expr.When{{Cond: some, Then: e}}, Typ: c.Typ}
		}
		items[i] = logical.Item{Col: withNull(c, e.Nullable()), Expr: e}
	}
	return d.withColumns(join, a.Left.Schema(), items)
}

// firstOnly takes LIMIT 1 and what is computed above and below it out of n. It returns the rows, the order of which n gives the first, and
// the projections over it, the lowest one first.
func firstOnly(n logical.Node) (in logical.Node, keys []logical.SortKey, above []*logical.Project, ok bool) {
	switch x := n.(type) {
	case *logical.Project:
		in, keys, above, ok = firstOnly(x.Input)
		return in, keys, append(above, x), ok
	case *logical.Sort:
		in, keys, ok = x.Input, x.Keys, x.Count == 1 && x.Offset == 0
	case *logical.Limit:
		in, keys = unsorted(x.Input)
		ok = x.Count == 1 && x.Offset == 0
	}
	for p, is := in.(*logical.Project); ok && is; p, is = in.(*logical.Project) {
		for _, it := range p.Items {
			if expr.IsVolatile(it.Expr) {
				return in, keys, above, false
			}
		}
		m := itemMap(p.Items)
		in, keys, above = p.Input, substituteKeys(keys, m), append([]*logical.Project{p}, above...)
	}
	return in, keys, above, ok
}
