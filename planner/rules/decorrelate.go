package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

const decorrelateDoc = `Decorrelate: turn every Apply into a join, so that nothing runs once per row.

Correlated conditions are pulled out of the right side where they commute with what stands above them (decorrelate_pull.go);
whatever is left is evaluated for all distinct outer values at once (decorrelate_domain.go; Neumann and Kemper, "Unnesting
Arbitrary Queries", 2015). An aggregation without GROUP BY gives a row even where no rows match, so its groups are joined by an
outer join, with the value of the empty group put in (the COUNT bug):
  SELECT * FROM d WHERE d.n > (SELECT COUNT(*) FROM e WHERE e.d = d.id)
must keep departments without employees.`

func decorrelate(w *rewriter) error {
	d := &decorrelator{w: w}
	return w.each(func(n logical.Node) (logical.Node, error) {
		n = logical.Rewrite(n, func(n logical.Node) logical.Node {
			if a, ok := n.(*logical.Apply); ok && !w.stopped() {
				return d.apply(a)
			}
			return n
		})
		return n, d.err
	})
}

type decorrelator struct {
	w     *rewriter
	err   error
	loops map[*logical.Loop]*logical.Loop // recursions whose rows are given the domain's; see dependRecursive
}

func (d *decorrelator) fail(feature, reason string) {
	if d.err == nil {
		d.err = sqlerr.NotSupportedf(feature, "%s", reason)
	}
}

// apply returns the join that does what a does. Both its sides are free of Apply.
func (d *decorrelator) apply(a *logical.Apply) logical.Node {
	if a.Kind == logical.SingleJoin && atMostOneRow(a.Right) {
		a = &logical.Apply{Kind: logical.LeftJoin, Left: a.Left, Right: a.Right, On: a.On}
	}
	l, r, on := a.Left, a.Right, a.On
	isExistential := a.Kind == logical.SemiJoin || a.Kind == logical.AntiJoin || a.Kind == logical.MarkJoin
	if isExistential {
		r, on = stripExistential(r, on)
		on = d.undecided(on)
	}
	outer := logical.Out(l)
	if !correlated(r, outer) {
		return d.join(a, l, r, on, nil)
	}
	if limit, ok := r.(*logical.Limit); ok && limit.Count == 1 && limit.Offset == 0 {
		if _, keys := unsorted(limit.Input); keys == nil {
			r = d.firstRow(limit)
		}
	}
	if top := scalarTop(r); top != nil {
		return d.applyScalar(&logical.Apply{Kind: a.Kind, Left: l, Right: r, On: on, Mark: a.Mark}, top)
	}
	if !isExistential {
		if n, ok := d.applyProject(a, r, on); ok {
			return n
		}
		if n, ok := d.applyUnnest(a, r, on); ok {
			return n
		}
	}
	inner, conds, ok := d.pull(r, outer, false)
	if !ok {
		l, inner, conds = d.domainJoin(l, r)
	}
	return d.join(a, l, inner, on, conds)
}

// undecided computes comparisons of constants, as (a, 1) IN (SELECT b, 2 FROM t) makes, and drops those that are TRUE.
func (d *decorrelator) undecided(on []expr.Expr) []expr.Expr {
	if d.w.fold == nil {
		return on
	}
	on = logical.MapEach(on, func(e expr.Expr) expr.Expr {
		if foldable(e) {
			return expr.Fold(e, d.w.fold)
		}
		return e
	})
	if !slices.ContainsFunc(on, isTrue) {
		return on
	}
	return slices.DeleteFunc(slices.Clone(on), isTrue)
}

// join makes the join of an Apply whose right side is independent; corr are conditions that came out of it.
func (d *decorrelator) join(a *logical.Apply, l, r logical.Node, on, corr []expr.Expr) logical.Node {
	kind := a.Kind
	switch kind {
	case logical.MarkJoin:
		if len(on) == 0 && len(corr) == 0 {
			r = firstOf(r)
		}
		return &logical.Join{Kind: kind, Left: l, Right: r, On: on, Corr: corr, Mark: a.Mark}
	case logical.SemiJoin, logical.AntiJoin:
		if len(on) == 0 && len(corr) == 0 {
			if exactlyOneRow(r) {
				if kind == logical.SemiJoin {
					return l
				}
				return logical.NoRows(l.Schema())
			}
			r = firstOf(r)
		}
	case logical.LeftJoin:
		if len(on) == 0 && len(corr) == 0 && exactlyOneRow(r) {
			kind = logical.InnerJoin
		}
	}
	return &logical.Join{Kind: kind, Left: l, Right: r, On: append(on[:len(on):len(on)], corr...)}
}

// firstOf keeps one row of a relation that is only asked whether it has any.
func firstOf(n logical.Node) logical.Node {
	if atMostOneRow(n) {
		return n
	}
	return &logical.Limit{Input: n, Count: 1}
}

// stripExistential drops what changes neither whether r has a row that satisfies on, nor for a mark whether it has one
// for which on is NULL: order, computed columns (on is rewritten), duplicates.
func stripExistential(r logical.Node, on []expr.Expr) (logical.Node, []expr.Expr) {
	for {
		switch x := r.(type) {
		case *logical.Sort:
			if x.Count != logical.NoLimit || x.Offset != 0 {
				if len(on) > 0 || x.Count < 1 || x.Offset != 0 {
					return r, on
				}
			}
			r = x.Input
		case *logical.Limit:
			if len(on) > 0 || x.Count < 1 || x.Offset != 0 {
				return r, on
			}
			r = x.Input
		case *logical.Project:
			for _, it := range x.Items {
				if expr.IsVolatile(it.Expr) {
					return r, on
				}
			}
			on = substituteAll(on, itemMap(x.Items))
			r = x.Input
		case *logical.Aggregate:
			if x.Scalar {
				return r, on
			}
			for i := range x.Aggs {
				for _, e := range on {
					if logical.UsesAny(e, logical.SetOf(x.Aggs[i].Col.ID)) {
						return r, on
					}
				}
			}
			on = substituteAll(on, itemMap(x.Groups))
			r = x.Input
		case *logical.SetOp:
			if x.Kind != logical.Union {
				return r, on
			}
			r = &logical.SetOp{Kind: logical.UnionAll, All: x.All, InCols: x.InCols, Cols: x.Cols}
			return r, on
		default:
			return r, on
		}
	}
}

// scalarTop returns the aggregation without GROUP BY over which r only filters and computes, if there is one.
func scalarTop(r logical.Node) *logical.Aggregate {
	for {
		switch x := r.(type) {
		case *logical.Filter:
			r = x.Input
		case *logical.Project:
			r = x.Input
		case *logical.Aggregate:
			if x.Scalar {
				return x
			}
			return nil
		default:
			return nil
		}
	}
}

// firstRow gives what LIMIT 1 without an order gives, as an aggregation that gives no row over no rows.
func (d *decorrelator) firstRow(limit *logical.Limit) logical.Node {
	count := d.w.newAgg(countStar, "n")
	agg := &logical.Aggregate{Scalar: true, Aggs: []logical.AggItem{count}}
	// The result bears the names of the input's columns, so the input gets others.
	in, fresh := logical.Copy(limit.Input, d.w.alloc)
	agg.Input = in
	schema := limit.Schema()
	items := make([]logical.Item, len(schema))
	for i, c := range schema {
		first := d.w.newAgg(anyValue, c.Name, fresh[c.ID])
		agg.Aggs = append(agg.Aggs, first)
		items[i] = logical.Item{Col: c, Expr: first.Col}
	}
	some := &expr.Compare{Op: expr.GT, Left: count.Col, Right: &expr.Const{Value: types.IntValue(0)}}
	return &logical.Project{Input: &logical.Filter{Input: agg, Preds: []expr.Expr{some}}, Items: items}
}

// unsorted takes a sort without a limit out of n, which only computes and filters over it, and returns its keys.
func unsorted(n logical.Node) (logical.Node, []logical.SortKey) {
	switch x := n.(type) {
	case *logical.Sort:
		if x.Count == logical.NoLimit && x.Offset == 0 {
			return x.Input, x.Keys
		}
	case *logical.Filter:
		if in, keys := unsorted(x.Input); keys != nil {
			return &logical.Filter{Input: in, Preds: x.Preds}, keys
		}
	case *logical.Project:
		if in, keys := unsorted(x.Input); keys != nil {
			used := make([]expr.Expr, len(keys))
			for i, k := range keys {
				used[i] = k.Expr
			}
			return &logical.Project{Input: in, Items: withUsed(x.Items, used, logical.ColSet{}, in)}, keys
		}
	}
	return n, nil
}

// applyScalar handles a right side that gives one row for each left row: r filters and computes over agg, an
// aggregation without GROUP BY. The groups are joined to the left rows by an outer join.
func (d *decorrelator) applyScalar(a *logical.Apply, agg *logical.Aggregate) logical.Node {
	l := a.Left
	outer := logical.Out(l)
	in, conds, ok := logical.Node(nil), []expr.Expr(nil), false
	if !usesOuter(agg, outer) {
		in, conds, ok = d.pull(agg.Input, outer, true)
	}
	m := map[expr.ColumnID]expr.Expr{} // outer columns as the groups know them
	if !ok {
		var dm domainMap
		l, in, dm = d.withDomain(l, agg.Input, agg)
		conds = dm.conditions()
		m, outer = dm.exprs(), logical.Out(l)
	}
	groups, conds := d.groupKeys(conds, outer, nil)
	grouped := &logical.Aggregate{Input: in, Groups: groups, Hint: agg.Hint}
	values := map[expr.ColumnID]expr.Expr{} // agg's columns over the join
	for _, item := range agg.Aggs {
		raw := item
		raw.Col = d.w.alloc.Like(item.Col)
		raw.Col.Null = true
		raw.Args = substituteAll(item.Args, m)
		raw.OrderBy = substituteKeys(item.OrderBy, m)
		grouped.Aggs = append(grouped.Aggs, raw)
		values[item.Col.ID] = orEmpty(raw, item)
	}
	return d.scalarResult(a, &logical.Join{Kind: logical.LeftJoin, Left: l, Right: grouped, On: conds}, values)
}

// scalarResult gives what a gives from n, a's left rows with what its right side's aggregation gives for each, as values say.
func (d *decorrelator) scalarResult(a *logical.Apply, n logical.Node, values map[expr.ColumnID]expr.Expr) logical.Node {
	having := chainValues(a.Right, values)
	on := substituteAll(a.On, values)
	conditions := append(having[:len(having):len(having)], on...)
	switch a.Kind {
	case logical.SemiJoin:
		return logical.NewFilter(n, conditions...)
	case logical.AntiJoin:
		return logical.NewFilter(n, &expr.Not{Arg: isTrueExpr(expr.AndOf(conditions))})
	case logical.MarkJoin:
		mark := expr.AndOf(on)
		if len(having) > 0 {
			mark = &expr.Case{Whens: []expr.When{{Cond: expr.AndOf(having), Then: mark}}, Else: expr.False, Typ: types.Bool}
		}
		return d.withColumns(n, a.Left.Schema(), []logical.Item{{Col: a.Mark, Expr: mark}})
	}
	schema := a.Right.Schema()
	items := make([]logical.Item, 0, len(schema))
	for _, c := range schema {
		e := values[c.ID]
		if a.Kind != logical.InnerJoin && len(conditions) > 0 {
			e = &expr.Case{Whens: []expr.When{{Cond: expr.AndOf(conditions), Then: e}}, Typ: c.Typ}
		}
		items = append(items, logical.Item{Col: withNull(c, e.Nullable()), Expr: e})
	}
	if a.Kind == logical.InnerJoin {
		n = logical.NewFilter(n, conditions...)
	}
	return d.withColumns(n, a.Left.Schema(), items)
}

// orEmpty is the aggregate's value, or that of the empty group where the outer join found none.
func orEmpty(raw, item logical.AggItem) expr.Expr {
	if item.Fn.EmptyIsNull {
		return raw.Col
	}
	return &expr.Case{
		Whens: []expr.When{{Cond: &expr.IsNull{Arg: raw.Col}, Then: emptyValue(item)}},
		Else:  withNull(raw.Col, false), Typ: item.Col.Typ,
	}
}

// chainValues follows the filters and projections of r down to its aggregation, whose columns values holds, and puts
// the columns of r into values. It returns the conditions of the filters.
func chainValues(r logical.Node, values map[expr.ColumnID]expr.Expr) (having []expr.Expr) {
	switch x := r.(type) {
	case *logical.Filter:
		having = chainValues(x.Input, values)
		return append(having, substituteAll(x.Preds, values)...)
	case *logical.Project:
		having = chainValues(x.Input, values)
		made := map[expr.ColumnID]expr.Expr{}
		for _, it := range x.Items {
			made[it.Col.ID] = expr.Substitute(it.Expr, values)
		}
		for id, e := range made {
			values[id] = e
		}
	}
	return having
}

// withColumns adds computed columns to those of kept.
func (d *decorrelator) withColumns(n logical.Node, kept []*expr.Column, items []logical.Item) logical.Node {
	all := append(logical.PassItems(kept), items...)
	return logical.NewProject(n, all)
}

// groupKeys makes a group of the inner side of each condition inner = outer, and puts its column into the condition.
// Conditions on outer columns alone stay. taken are groups that exist already.
func (d *decorrelator) groupKeys(conds []expr.Expr, outer logical.ColSet, taken []logical.Item) ([]logical.Item, []expr.Expr) {
	groups := taken
	out := make([]expr.Expr, len(conds))
	for i, c := range conds {
		out[i] = c
		cmp, ok := c.(*expr.Compare)
		if !ok || logical.UsedWithin(c, outer) {
			continue
		}
		inner, other := cmp.Left, cmp.Right
		if logical.UsesAny(inner, outer) || !usesColumns(inner) {
			inner, other = other, inner
		}
		var key *expr.Column
		for _, g := range groups {
			if expr.Equal(g.Expr, inner) {
				key = g.Col
			}
		}
		if key == nil {
			if col, ok := inner.(*expr.Column); ok {
				key = d.w.alloc.Like(col)
			} else {
				key = d.w.alloc.New("", "key", inner.Type(), inner.Nullable())
			}
			groups = append(groups, logical.Item{Col: key, Expr: inner})
		}
		out[i] = &expr.Compare{Op: cmp.Op, Left: other, Right: key}
	}
	return groups, out
}

func usesColumns(e expr.Expr) bool {
	some := false
	expr.Columns(e, func(expr.ColumnID) { some = true })
	return some
}

func usesOuter(n logical.Node, outer logical.ColSet) bool {
	for _, e := range n.Exprs() {
		if logical.UsesAny(e, outer) {
			return true
		}
	}
	return false
}

// applyProject handles a projection on top of the right side that uses outer columns: it is computed above the join.
// Where an outer join found no row its columns are NULL, which a marker tells.
func (d *decorrelator) applyProject(a *logical.Apply, r logical.Node, on []expr.Expr) (logical.Node, bool) {
	p, ok := r.(*logical.Project)
	outer := logical.Out(a.Left)
	if !ok || !usesOuter(p, outer) {
		return nil, false
	}
	on = substituteAll(on, itemMap(p.Items))
	inner := p.Input
	var marker *expr.Column
	if a.Kind != logical.InnerJoin {
		item := logical.NewItem(d.w.alloc, "matched", expr.True)
		marker = item.Col
		inner = &logical.Project{Input: inner, Items: append(logical.PassItems(inner.Schema()), item)}
	}
	n := d.apply(&logical.Apply{Kind: a.Kind, Left: a.Left, Right: inner, On: on})
	items := make([]logical.Item, len(p.Items))
	for i, it := range p.Items {
		e := it.Expr
		if marker != nil {
			found := &expr.Not{Arg: &expr.IsNull{Arg: withNull(marker, true)}}
			e = &expr.Case{Whens: []expr.When{{Cond: found, Then: e}}, Typ: it.Col.Typ}
		}
		if passes(it) {
			e = it.Expr // NULL by the outer join itself
		}
		items[i] = logical.Item{Col: withNull(it.Col, it.Col.Null || marker != nil), Expr: e}
	}
	return d.withColumns(n, a.Left.Schema(), items), true
}

// applyUnnest handles JSON_TABLE of a document that comes from the left side, under conditions at most: it takes the documents from the rows of a join. A
// left join has to have no condition at all, and one row below JSON_TABLE.
func (d *decorrelator) applyUnnest(a *logical.Apply, r logical.Node, on []expr.Expr) (logical.Node, bool) {
	above := on
	if f, is := r.(*logical.Filter); is {
		r, above = f.Input, append(f.Preds[:len(f.Preds):len(f.Preds)], on...)
	}
	u, ok := r.(*logical.Unnest)
	if !ok || !usesOuter(u, logical.Out(a.Left)) {
		return nil, false
	}
	above = slices.DeleteFunc(slices.Clone(above), isTrue)
	outer := u.Outer
	switch a.Kind {
	case logical.InnerJoin:
	case logical.LeftJoin:
		if len(above) > 0 || !exactlyOneRow(u.Input) {
			return nil, false
		}
		outer = true
	default:
		return nil, false
	}
	in := a.Left
	if v, is := u.Input.(*logical.Values); !is || len(v.Cols) > 0 || len(v.Rows) != 1 {
		in = d.apply(&logical.Apply{Kind: logical.InnerJoin, Left: a.Left, Right: u.Input})
	}
	return logical.NewFilter(&logical.Unnest{Input: in, Doc: u.Doc, Table: u.Table, Cols: u.Cols, Ordinals: u.Ordinals, Outer: outer}, above...), true
}

func substituteKeys(keys []logical.SortKey, m map[expr.ColumnID]expr.Expr) []logical.SortKey {
	if len(m) == 0 || len(keys) == 0 {
		return keys
	}
	out := make([]logical.SortKey, len(keys))
	for i, k := range keys {
		out[i] = logical.SortKey{Expr: expr.Substitute(k.Expr, m), Desc: k.Desc}
	}
	return out
}
