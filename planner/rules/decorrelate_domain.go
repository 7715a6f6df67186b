package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// domain is the relation of the distinct outer values that a correlated plan depends on (Neumann and Kemper's D). Each
// use in the plan takes a copy of its own.
type domain struct {
	w     *rewriter
	outer []*expr.Column // the outer columns
	first logical.Node
	cols  []*expr.Column                  // first's column for each of outer
	signs map[expr.ColumnID]expr.ColumnID // of outer: the column that says whether a DOUBLE is negative
	taken bool
}

// domainMap says by which column an outer column is known somewhere in a plan.
type domainMap struct {
	outer, cols []*expr.Column
	signs       map[expr.ColumnID]expr.ColumnID // the domain's
}

// exprs maps the outer columns for [expr.Substitute].
func (m domainMap) exprs() map[expr.ColumnID]expr.Expr {
	all := columnMap(m.outer, m.cols)
	for c, sign := range m.signs {
		all[c] = withSign(all[c], all[sign])
	}
	return all
}

// conditions equates the outer columns with the domain's, NULLs being equal.
func (m domainMap) conditions() []expr.Expr { return sameRow(m.outer, m.cols) }

// sameRow compares columns pairwise, NULLs being equal.
func sameRow(a, b []*expr.Column) []expr.Expr {
	out := make([]expr.Expr, len(a))
	for i := range a {
		op := expr.NSEQ
		if !a[i].Null && !b[i].Null {
			op = expr.EQ
		}
		out[i] = &expr.Compare{Op: op, Left: a[i], Right: b[i]}
	}
	return out
}

// domainJoin evaluates r for all distinct values of the columns of l that it uses, and returns l (which may have been put
// behind a shared plan), the result, and the conditions that join them.
func (d *decorrelator) domainJoin(l, r logical.Node) (logical.Node, logical.Node, []expr.Expr) {
	l, n, m := d.withDomain(l, r, r)
	return l, n, m.conditions()
}

// withDomain evaluates r for the distinct values that l has in the columns that user, of which r is a part, reads.
func (d *decorrelator) withDomain(l, r, user logical.Node) (logical.Node, logical.Node, domainMap) {
	dom := &domain{w: d.w}
	used := logical.SetOf(user.FreeColumns()...)
	l = dom.zeroSigns(l, user, &used)
	for _, c := range l.Schema() {
		if used.Has(c.ID) {
			dom.outer = append(dom.outer, c)
		}
	}
	l, source, cols := d.secondReader(l, used)
	groups := make([]logical.Item, len(dom.outer))
	for i, c := range dom.outer {
		col := d.w.alloc.Like(c)
		groups[i] = logical.Item{Col: col, Expr: withNull(cols[c.ID], c.Null)}
		dom.cols = append(dom.cols, col)
	}
	dom.first = &logical.Aggregate{Input: source, Groups: groups}
	n, m := d.depend(r, dom)
	return l, n, m
}

// zeroSigns adds columns to l: one for each DOUBLE of which user may show the sign of a zero. It says whether the number is negative and is a part of
// the domain, where 0 and -0 would be one value otherwise, and
//
//	SELECT (SELECT s FROM (SELECT CONCAT(l.f) AS s) AS x) FROM l
//
// would give '0' for -0.
func (dom *domain) zeroSigns(l, user logical.Node, used *logical.ColSet) logical.Node {
	items := logical.PassItems(l.Schema())
	for _, c := range l.Schema() {
		if !c.Typ.IsFloat() || !used.Has(c.ID) || !showsSign(user, c.ID) {
			continue
		}
		first := expr.InternalCall(expr.Lookup("left"), types.Text, expr.AsString(c), &expr.Const{Value: types.IntValue(1)})
		minus := &expr.Compare{Op: expr.EQ, Left: first, Right: &expr.Const{Value: types.StringValue("-")}}
		sign := logical.NewItem(dom.w.alloc, c.Name, &expr.Case{
			Whens: []expr.When{{Cond: minus, Then: &expr.Const{Value: types.IntValue(1)}}}, Else: &expr.Const{Value: types.IntValue(0)}, Typ: types.Int64,
		})
		items = append(items, sign)
		used.Add(sign.Col.ID)
		if dom.signs == nil {
			dom.signs = map[expr.ColumnID]expr.ColumnID{}
		}
		dom.signs[c.ID] = sign.Col.ID
	}
	if dom.signs == nil {
		return l
	}
	return &logical.Project{Input: l, Items: items}
}

// withSign returns a DOUBLE that grouping may have made 0 of -0, with the sign that it had.
func withSign(number, sign expr.Expr) expr.Expr {
	negative := &expr.Compare{Op: expr.EQ, Left: sign, Right: &expr.Const{Value: types.IntValue(1)}}
	t := number.Type()
	minus := expr.InternalCall(expr.Lookup("neg"), t, expr.InternalCall(expr.Lookup("abs"), t, number))
	return &expr.Case{Whens: []expr.When{{Cond: negative, Then: minus}}, Else: number, Typ: t}
}

// showsSign says whether what n gives may tell 0 and -0 in a column apart.
func showsSign(n logical.Node, column expr.ColumnID) bool {
	shows := false
	logical.Walk(n, func(n logical.Node) bool {
		_, sorts := n.(*logical.Sort)
		_, isFilter := n.(*logical.Filter)
		_, isScan := n.(*logical.Scan)
		_, isJoin := n.(*logical.Join)
		compares := sorts || isFilter || isScan || isJoin
		for _, e := range n.Exprs() {
			expr.Columns(e, func(id expr.ColumnID) {
				shows = shows || id == column && (!compares || expr.TellsZerosApart(e))
			})
		}
		return !shows
	})
	return shows
}

// secondReader returns l (which may have been put behind a shared plan), a relation with the same rows, but for how often each comes,
// for a second reader, and the columns of that for those of l in used.
func (d *decorrelator) secondReader(l logical.Node, used logical.ColSet) (first, second logical.Node, cols map[expr.ColumnID]*expr.Column) {
	from := l
	if base := rowsOf(l, used); isCheap(base) {
		from = base
	}
	if isCheap(from) || len(l.FreeColumns()) > 0 {
		second, cols = logical.Copy(from, d.w.alloc)
		return l, second, cols
	}
	return d.w.readTwice(l)
}

// rowsOf goes down from n past what keeps all rows of its left side, as applies of subqueries do, while there are the columns of used.
func rowsOf(n logical.Node, used logical.ColSet) logical.Node {
	for {
		kind, left := logical.InnerJoin, logical.Node(nil)
		switch x := n.(type) {
		case *logical.Join:
			kind, left = x.Kind, x.Left
		case *logical.Apply:
			kind, left = x.Kind, x.Left
		}
		switch kind {
		case logical.LeftJoin, logical.SingleJoin, logical.MarkJoin:
			if used.Within(logical.Out(left)) {
				n = left
				continue
			}
		}
		return n
	}
}

// use returns the domain as a relation, and its columns.
func (dom *domain) use() (logical.Node, domainMap) {
	if !dom.taken {
		dom.taken = true
		return dom.first, dom.firstMap()
	}
	n, cols := logical.Copy(dom.first, dom.w.alloc)
	m := domainMap{outer: dom.outer, cols: make([]*expr.Column, len(dom.cols)), signs: dom.signs}
	for i, c := range dom.cols {
		m.cols[i] = cols[c.ID]
	}
	return n, m
}

// depend returns n evaluated for each row of the domain: n's rows, and the domain's row that each belongs to.
func (d *decorrelator) depend(n logical.Node, dom *domain) (logical.Node, domainMap) {
	outer := logical.SetOfCols(dom.outer)
	if !d.depends(n, outer) {
		rows, m := dom.use()
		return &logical.Join{Kind: logical.InnerJoin, Left: rows, Right: n}, m
	}
	switch x := n.(type) {
	case *logical.Scan:
		return d.depend(&logical.Filter{Input: x.WithExprs(nil), Preds: x.Filter}, dom)
	case *logical.Filter:
		in, m := d.depend(x.Input, dom)
		return logical.NewFilter(in, substituteAll(x.Preds, m.exprs())...), m
	case *logical.Project:
		in, m := d.depend(x.Input, dom)
		items := substituteItems(x.Items, m.exprs())
		return &logical.Project{Input: in, Items: append(items, logical.PassItems(m.cols)...)}, m
	case *logical.Join:
		return d.dependJoin(x, dom, outer)
	case *logical.Aggregate:
		if x.Scalar {
			return d.dependScalar(x, dom)
		}
		if groups, m, ok := d.dependGroups(x, dom); ok {
			return groups, m
		}
		in, m := d.depend(x.Input, dom)
		e := m.exprs()
		return &logical.Aggregate{
			Input: in, Groups: append(substituteItems(x.Groups, e), logical.PassItems(m.cols)...),
			Aggs: substituteAggs(x.Aggs, e), Hint: x.Hint,
		}, m
	case *logical.Window:
		in, m := d.depend(x.Input, dom)
		w := &logical.Window{Input: in, Partition: x.Partition, Order: x.Order, Items: x.Items}
		e := m.exprs()
		w = w.WithExprs(substituteAll(w.Exprs(), e)).(*logical.Window)
		for _, c := range m.cols {
			w.Partition = append(w.Partition, c)
		}
		return w, m
	case *logical.Unnest:
		in, m := d.depend(x.Input, dom)
		return x.WithInputs([]logical.Node{in}).WithExprs(substituteAll(x.Exprs(), m.exprs())), m
	case *logical.SetOp:
		return d.dependSetOp(x, dom)
	case *logical.Sort:
		if x.Count == logical.NoLimit && x.Offset == 0 {
			return d.depend(x.Input, dom)
		}
		return d.dependLimit(x.Input, x.Keys, x.Count, x.Offset, dom)
	case *logical.Limit:
		in, keys := unsorted(x.Input)
		return d.dependLimit(in, keys, x.Count, x.Offset, dom)
	case *logical.Values:
		return d.dependValues(x, dom)
	case *logical.Recursive:
		return d.dependRecursive(x, dom)
	case *logical.WorkTable:
		return d.dependWorkTable(x, dom)
	}
	d.fail("This correlated subquery", "it reads a relation that cannot depend on outer columns")
	rows, m := dom.use()
	return rows, m
}

func (d *decorrelator) dependJoin(x *logical.Join, dom *domain, outer logical.ColSet) (logical.Node, domainMap) {
	if x.Kind == logical.FullJoin {
		d.fail("A FULL JOIN in a correlated subquery", "rewrite it as a UNION of outer joins")
		return dom.use()
	}
	var m domainMap
	l, r := x.Left, x.Right
	var same []expr.Expr
	switch {
	case x.Kind == logical.InnerJoin && d.depends(r, outer) && !d.depends(l, outer):
		r, m = d.depend(r, dom)
	default:
		// Kinds that keep every left row keep it for each row of the domain.
		l, m = d.depend(l, dom)
		if d.depends(r, outer) {
			var rm domainMap
			r, rm = d.depend(r, dom)
			same = sameRow(m.cols, rm.cols)
		}
	}
	on, corr := substituteAll(x.On, m.exprs()), substituteAll(x.Corr, m.exprs())
	if x.Kind == logical.MarkJoin {
		corr = append(corr[:len(corr):len(corr)], same...)
	} else {
		on = append(on[:len(on):len(on)], same...)
	}
	return &logical.Join{Kind: x.Kind, Left: l, Right: r, On: on, Corr: corr, Mark: x.Mark, Hint: x.Hint}, m
}

// dependScalar groups by the domain and joins the groups back to it, because the aggregation has a row even where its
// input has none.
func (d *decorrelator) dependScalar(x *logical.Aggregate, dom *domain) (logical.Node, domainMap) {
	in, m := d.depend(x.Input, dom)
	e := m.exprs()
	grouped := &logical.Aggregate{Input: in, Hint: x.Hint}
	keys := make([]*expr.Column, len(m.cols))
	for i, c := range m.cols {
		keys[i] = d.w.alloc.Like(c)
		grouped.Groups = append(grouped.Groups, logical.Item{Col: keys[i], Expr: c})
	}
	rows, all := dom.use()
	items := logical.PassItems(all.cols)
	for i, agg := range substituteAggs(x.Aggs, e) {
		raw := agg
		raw.Col = d.w.alloc.Like(agg.Col)
		raw.Col.Null = true
		grouped.Aggs = append(grouped.Aggs, raw)
		items = append(items, logical.Item{Col: x.Aggs[i].Col, Expr: orEmpty(raw, agg)})
	}
	join := &logical.Join{Kind: logical.LeftJoin, Left: rows, Right: grouped, On: sameRow(all.cols, keys)}
	return &logical.Project{Input: join, Items: items}, all
}

func (d *decorrelator) dependSetOp(x *logical.SetOp, dom *domain) (logical.Node, domainMap) {
	out := &logical.SetOp{Kind: x.Kind, Cols: x.Cols[:len(x.Cols):len(x.Cols)]}
	for i, in := range x.All {
		n, m := d.depend(in, dom)
		out.All = append(out.All, n)
		out.InCols = append(out.InCols, append(x.InCols[i][:len(x.InCols[i]):len(x.InCols[i])], m.cols...))
	}
	m := domainMap{outer: dom.outer, signs: dom.signs}
	for _, c := range dom.outer {
		m.cols = append(m.cols, d.w.alloc.Like(c))
	}
	out.Cols = append(out.Cols, m.cols...)
	return out, m
}

// dependLimit keeps the rows that LIMIT and OFFSET ask for, by keys, for each row of the domain.
func (d *decorrelator) dependLimit(in logical.Node, keys []logical.SortKey, count, offset int64, dom *domain) (logical.Node, domainMap) {
	if n, m, ok := d.dependFirst(in, keys, count, offset, dom); ok {
		return n, m
	}
	n, m := d.depend(in, dom)
	partition := make([]expr.Expr, len(m.cols))
	for i, c := range m.cols {
		partition[i] = c
	}
	return d.numbered(n, partition, substituteKeys(keys, m.exprs()), count, offset), m
}

// dependValues computes a row of expressions for each row of the domain.
func (d *decorrelator) dependValues(x *logical.Values, dom *domain) (logical.Node, domainMap) {
	var parts []logical.Node
	var maps []domainMap
	for _, row := range x.Rows {
		rows, m := dom.use()
		items := make([]logical.Item, len(row))
		for i, e := range row {
			col := x.Cols[i]
			if len(x.Rows) > 1 {
				col = d.w.alloc.Like(col)
			}
			items[i] = logical.Item{Col: col, Expr: expr.Substitute(e, m.exprs())}
		}
		parts = append(parts, &logical.Project{Input: rows, Items: append(items, logical.PassItems(m.cols)...)})
		maps = append(maps, m)
	}
	if len(parts) == 1 {
		return parts[0], maps[0]
	}
	out := &logical.SetOp{Kind: logical.UnionAll, All: parts, Cols: x.Cols[:len(x.Cols):len(x.Cols)]}
	for _, p := range parts {
		out.InCols = append(out.InCols, p.Schema())
	}
	m := domainMap{outer: dom.outer, signs: dom.signs}
	for _, c := range dom.outer {
		m.cols = append(m.cols, d.w.alloc.Like(c))
	}
	out.Cols = append(out.Cols, m.cols...)
	return out, m
}

func substituteItems(items []logical.Item, m map[expr.ColumnID]expr.Expr) []logical.Item {
	out := make([]logical.Item, len(items))
	for i, it := range items {
		out[i] = logical.Item{Col: it.Col, Expr: expr.Substitute(it.Expr, m)}
	}
	return out
}

func substituteAggs(aggs []logical.AggItem, m map[expr.ColumnID]expr.Expr) []logical.AggItem {
	out := make([]logical.AggItem, len(aggs))
	for i, a := range aggs {
		a.Args, a.OrderBy = substituteAll(a.Args, m), substituteKeys(a.OrderBy, m)
		out[i] = a
	}
	return out
}
