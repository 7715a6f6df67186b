package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const (
	// mostFirst bounds OFFSET and LIMIT together: each of these rows takes a pass.
	mostFirst = 8
	// pairsOfPass is how many pairs of an outer and an inner row are visited while a pass sorts and accumulates a row.
	pairsOfPass = 32
)

// rangesBelow takes apart what correlates n with the domain, as rangesOf does. It returns no ranges if something else does so, or if a row that matches none of
// the domain could fail.
func (d *decorrelator) rangesBelow(n logical.Node, dom *domain) (in logical.Node, conds []expr.Expr, rs []*matchedRange) {
	outer := logical.SetOfCols(dom.outer)
	if d.w.pairsOnly || len(d.loops) > 0 {
		return nil, nil, nil
	}
	if _, _, ok := d.pull(n, outer, true); ok {
		return nil, nil, nil
	}
	in, conds, ok := d.pull(n, outer, false)
	if !ok || len(in.FreeColumns()) > 0 {
		return nil, nil, nil
	}
	if rs = rangesOf(conds, outer); rs == nil || !d.cannotFail(dom.first, in, substituteAll(conds, dom.firstMap().exprs())) {
		return nil, nil, nil
	}
	return in, conds, rs
}

// firstMap says by which columns dom.first has the outer columns.
func (dom *domain) firstMap() domainMap { return domainMap{dom.outer, dom.cols, dom.signs} }

// pairs estimates how many rows of in belong to rows of the domain.
func (d *decorrelator) pairs(dom *domain, in logical.Node, conds []expr.Expr) float64 {
	return d.w.est.Rows(&logical.Join{Kind: logical.InnerJoin, Left: dom.first, Right: in, On: substituteAll(conds, dom.firstMap().exprs())})
}

// dependGroups evaluates a grouping of rows that inequalities correlate, such as
//
//	SELECT * FROM a, LATERAL (SELECT b.kind, COUNT(*) FROM b WHERE b.day < a.day GROUP BY b.kind) AS x
//
// What one group has for a row of the domain is an aggregate over a range. Each row is asked for each group that its keys have at all, and keeps those of which it
// matches a row.
func (d *decorrelator) dependGroups(x *logical.Aggregate, dom *domain) (logical.Node, domainMap, bool) {
	none := domainMap{}
	if usesOuter(x, logical.SetOfCols(dom.outer)) {
		return nil, none, false
	}
	in, conds, rs := d.rangesBelow(x.Input, dom)
	if rs == nil || len(rs) > 2 {
		return nil, none, false
	}
	own := logical.Out(in) // groups may have columns of a query around this one, too, which rows that are read twice may not
	for _, g := range x.Groups {
		if t := g.Expr.Type(); !logical.UsedWithin(g.Expr, own) || looksDifferent(t) || expr.IsVolatile(g.Expr) || !d.w.est.CannotFail(in, g.Expr) {
			return nil, none, false
		}
	}
	// The result bears the names of the groups, which may be columns of the input: it gets others.
	in, cols := logical.Copy(in, d.w.alloc)
	m := columnsAs(cols)
	groupedBy, aggs := substituteItems(x.Groups, m), substituteAggs(x.Aggs, m)
	conds = substituteAll(conds, m)
	for i, r := range rs {
		rs[i] = r.substituted(m)
	}
	in, again, cols := d.readAgain(in)
	m = columnsAs(cols)
	kinds := &logical.Aggregate{Input: again}
	kind := func(e expr.Expr) *expr.Column {
		it := logical.NewItem(d.w.alloc, e.String(), expr.Substitute(e, m))
		kinds.Groups = append(kinds.Groups, it)
		return it.Col
	}
	var groups []*expr.Column
	for _, g := range groupedBy {
		groups = append(groups, kind(g.Expr))
	}
	var ofKeys []expr.Expr
	for _, k := range rs[0].keys {
		ofKeys = append(ofKeys, &expr.Compare{Op: k.Op, Left: k.Left, Right: kind(k.Right)})
	}
	asked := &logical.Join{Kind: logical.InnerJoin, Left: dom.first, Right: kinds, On: substituteAll(ofKeys, dom.firstMap().exprs())}
	if !d.w.eager && (d.w.est.Rows(asked)+d.w.est.Rows(in))*pairsOfPass > d.pairs(dom, in, conds) {
		return nil, none, false
	}
	rows, dm := dom.use()
	e := dm.exprs()
	preds := substituteAll(conds, e)
	preds = append(preds[:len(preds):len(preds)], sameRowOf(groups, groupedBy)...)
	some := d.w.newAgg(countStar, "count(*)")
	scalar := &logical.Aggregate{Input: logical.NewFilter(in, preds...), Aggs: []logical.AggItem{some}, Scalar: true, Hint: x.Hint}
	for _, it := range aggs {
		it.Col = d.w.alloc.Like(it.Col)
		it.Col.Null = it.Col.Null || it.Fn.EmptyIsNull
		scalar.Aggs = append(scalar.Aggs, it)
	}
	a := &logical.Apply{Kind: logical.LeftJoin, Left: &logical.Join{Kind: logical.InnerJoin, Left: rows, Right: kinds, On: substituteAll(ofKeys, e)}, Right: scalar}
	n := d.accumulate(a)
	if n == logical.Node(a) {
		return nil, none, false
	}
	n = logical.NewFilter(n, &expr.Compare{Op: expr.GT, Left: some.Col, Right: &expr.Const{Value: types.IntValue(0)}})
	var items []logical.Item
	for i, g := range x.Groups {
		items = append(items, logical.Item{Col: g.Col, Expr: withNull(groups[i], g.Col.Null)})
	}
	for i, it := range x.Aggs {
		items = append(items, logical.Item{Col: it.Col, Expr: withNull(scalar.Aggs[i+1].Col, it.Col.Null)})
	}
	return &logical.Project{Input: n, Items: append(items, logical.PassItems(dm.cols)...)}, dm, true
}

// columnsAs maps columns to expressions, for [expr.Substitute].
func columnsAs(cols map[expr.ColumnID]*expr.Column) map[expr.ColumnID]expr.Expr {
	m := make(map[expr.ColumnID]expr.Expr, len(cols))
	for id, c := range cols {
		m[id] = c
	}
	return m
}

// looksDifferent says whether values of a type may be equal and not look alike, as 0 and -0 or 'a' and 'A'. Which of them stands for a group depends on the rows
// of that group.
func looksDifferent(t types.Type) bool {
	return t.IsFloat() || t.HasCollation() && !t.Collation.Bytewise()
}

// sameRowOf compares columns with groups, NULLs being equal.
func sameRowOf(cols []*expr.Column, groups []logical.Item) []expr.Expr {
	out := make([]expr.Expr, len(cols))
	for i, g := range groups {
		op := expr.NSEQ
		if !g.Expr.Nullable() {
			op = expr.EQ
		}
		out[i] = &expr.Compare{Op: op, Left: cols[i], Right: g.Expr}
	}
	return out
}

// dependFirst evaluates LIMIT, whose order is not that of the inequality which correlates its rows, such as
//
//	SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.day < a.day ORDER BY b.price LIMIT 3) AS x
//
// All rows are numbered by the order. A row of the domain has the least number of those that it matches, then the least one above that, and so on: these are
// aggregates over one range and over two. OFFSET leaves out the first ones. Two bounds of one value are leastBetween's.
func (d *decorrelator) dependFirst(n logical.Node, keys []logical.SortKey, count, offset int64, dom *domain) (logical.Node, domainMap, bool) {
	none := domainMap{}
	if count <= 0 || count > mostFirst || offset > mostFirst-count {
		return nil, none, false
	}
	x := limitedRows(&logical.Sort{Input: n, Keys: keys, Count: count, Offset: offset})
	if x == nil {
		return nil, none, false
	}
	in, conds, rs := d.rangesBelow(x.in, dom)
	var lower, upper *matchedRange
	switch len(rs) {
	case 1:
	case 2:
		var ok bool
		if lower, upper, ok = bounds(rs); !ok {
			return nil, none, false
		}
	default:
		return nil, none, false
	}
	own := logical.Out(in)
	for _, k := range x.keys {
		if !logical.UsedWithin(k.Expr, own) || expr.IsVolatile(k.Expr) || !d.w.est.CannotFail(in, k.Expr) {
			return nil, none, false
		}
	}
	passes := float64(offset+count) * pairsOfPass
	if !d.w.eager && (d.w.est.Rows(dom.first)+d.w.est.Rows(in))*passes > d.pairs(dom, in, conds) {
		return nil, none, false
	}
	fn := expr.LookupWindow("row_number")
	number := d.w.alloc.New("", fn.Name, types.Uint64, false)
	window := &logical.Window{Input: withoutNulls(in, rs), Order: x.keys, Items: []logical.WindowItem{{Col: number, Fn: fn, Frame: logical.WholePartition}}}
	rows, dm := dom.use()
	e := dm.exprs()
	var firsts []*expr.Column
	if lower != nil {
		b := d.newLeastBetween(rows, window, conds, lower, upper, e)
		if firsts = b.find(int(offset + count)); firsts == nil {
			return nil, none, false
		}
		return d.chosenRows(b.n, b.rows.node, number, firsts[offset:], x, n.Schema(), dm)
	}
	numbered, again, cols := d.w.readTwice(window)
	for len(firsts) < int(offset+count) {
		preds := substituteAll(substituteAll(conds, e), columnsAs(cols))
		if last := len(firsts) - 1; last >= 0 {
			preds = append(preds[:len(preds):len(preds)], &expr.Compare{Op: expr.GT, Left: cols[number.ID], Right: firsts[last]})
		}
		least := d.w.newAgg(minimum, "least", cols[number.ID])
		a := &logical.Apply{Kind: logical.LeftJoin, Left: rows, Right: &logical.Aggregate{Input: logical.NewFilter(again, preds...), Aggs: []logical.AggItem{least}, Scalar: true}}
		if rows = d.accumulate(a); rows == logical.Node(a) {
			return nil, none, false
		}
		firsts = append(firsts, least.Col)
		_, again, cols = d.w.readTwice(numbered)
	}
	return d.chosenRows(rows, numbered, number, firsts[offset:], x, n.Schema(), dm)
}

// chosenRows joins the domain's rows with those of numbered that they have the numbers of, and keeps columns of what LIMIT gives.
func (d *decorrelator) chosenRows(rows, numbered logical.Node, number *expr.Column, firsts []*expr.Column, x *limited, kept []*expr.Column, dm domainMap) (logical.Node, domainMap, bool) {
	chosen := firsts[0]
	if len(firsts) > 1 {
		rows, chosen = d.oneByOne(rows, firsts, dm)
	}
	var out logical.Node = &logical.Join{Kind: logical.InnerJoin, Left: rows, Right: numbered, On: []expr.Expr{&expr.Compare{Op: expr.EQ, Left: chosen, Right: number}}}
	for _, p := range x.above {
		out = &logical.Project{Input: out, Items: append(substituteItems(p.Items, dm.exprs()), logical.PassItems(dm.cols)...)}
	}
	return logical.Keep(out, append(kept[:len(kept):len(kept)], dm.cols...)), dm, true
}

// oneByOne gives each row of n once for each of values, in a column of its own.
func (d *decorrelator) oneByOne(n logical.Node, values []*expr.Column, dm domainMap) (logical.Node, *expr.Column) {
	position := d.w.alloc.New("", "position", types.Int64, false)
	positions := &logical.Values{Cols: []*expr.Column{position}}
	value := &expr.Case{Typ: values[0].Typ}
	for i, v := range values {
		at := &expr.Const{Value: types.IntValue(int64(i))}
		positions.Rows = append(positions.Rows, []expr.Expr{at})
		value.Whens = append(value.Whens, expr.When{Cond: &expr.Compare{Op: expr.EQ, Left: position, Right: at}, Then: v})
	}
	it := logical.NewItem(d.w.alloc, "least", value)
	each := &logical.Join{Kind: logical.InnerJoin, Left: n, Right: positions}
	return logical.NewProject(each, append(logical.PassItems(dm.cols), it)), it.Col
}
