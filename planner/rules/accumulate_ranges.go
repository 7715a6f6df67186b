package rules

import (
	"math"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const accumulateRangesDoc = `Accumulate what subqueries aggregate over ranges: an aggregate whose correlation is one inequality, beside equalities,
becomes an aggregate over sorted rows. So do <> and two inequalities, of one inner value or two, as several ranges (two_ranges.go) or over
frames that compare values, LIMIT 1 (first_of_range.go), and LIMIT by what one inequality compares (nearest_of_range.go).

The subquery's rows and the distinct outer values are sorted together, by the equalities' keys and then the inequality's. What a row of
outer values has to aggregate is then the part of its partition before it, so each pair that matches need not be visited. Legal
for aggregates that windows compute exactly, or as exactly as groupings do, and for what cannot fail over rows that do not match. Inner NULLs match nothing and are left out, or
  SELECT a.v, (SELECT COUNT(*) FROM b WHERE b.v < a.v) FROM a
would count the rows where b.v is NULL, which sort first.`

func accumulateRanges(w *rewriter) error {
	d := &decorrelator{w: w}
	return w.each(func(n logical.Node) (logical.Node, error) {
		n = logical.Rewrite(n, func(n logical.Node) logical.Node {
			if a, ok := n.(*logical.Apply); ok && !w.stopped() {
				return d.accumulate(a)
			}
			return n
		})
		return n, d.err
	})
}

// Up to so many outer rows, or rows that an outer row matches, visiting the pairs costs no more than sorting or grouping the inner rows.
const (
	fewOuterRows = 8
	fewMatches   = 16
)

// accumulate returns the join that does what a does if a's right side has the rule's form, else a.
func (d *decorrelator) accumulate(a *logical.Apply) logical.Node {
	if e := d.extremeBetween(a); e != nil {
		if n := d.accumulate(e); n != logical.Node(e) {
			return n
		}
		return a
	}
	if n := d.firstOfRange(a); n != nil {
		return n
	}
	outer := logical.Out(a.Left)
	agg := scalarTop(a.Right)
	if agg == nil || !correlated(agg.Input, outer) || usesOuter(agg, outer) {
		return a
	}
	if _, _, ok := d.pull(agg.Input, outer, true); ok {
		return a
	}
	in, conds, ok := d.pull(agg.Input, outer, false)
	if !ok {
		return a
	}
	rs := rangesOf(conds, outer)
	if rs == nil || len(rs) > 2 || !d.cannotFail(a.Left, in, conds) || !d.w.eager && (d.w.est.Rows(a.Left) <= fewOuterRows || d.w.est.MostFrequent(in, rs[0].innerKeys()) <= fewMatches) {
		return a
	}
	aggs := agg.Aggs
	switch {
	case slices.ContainsFunc(rs, func(r *matchedRange) bool { return r.op == expr.NE }):
		return d.twoRanges(a, in, rs, aggs)
	case len(rs) == 2:
		if n := d.twoRanges(a, in, rs, aggs); n != logical.Node(a) {
			return n
		}
		aggs = slices.Clone(aggs)
		for i, it := range aggs {
			aggs[i] = plainAggregate(it)
		}
	default:
		in, aggs = d.firstOfEach(in, rs[0], aggs)
	}
	if slices.ContainsFunc(aggs, func(it logical.AggItem) bool { return !d.accumulates(in, it) }) {
		return a
	}
	n, values := d.accumulated(a.Left, in, rs, aggs)
	return d.scalarResult(asLeftJoin(a), n, values)
}

// cannotFail says whether conditions on an outer and an inner row may be computed for rows apart. One condition alone is for all rows.
func (d *decorrelator) cannotFail(left, in logical.Node, conds []expr.Expr) bool {
	if len(conds) == 1 {
		return true
	}
	both := &logical.Join{Kind: logical.InnerJoin, Left: left, Right: in}
	return !slices.ContainsFunc(conds, func(c expr.Expr) bool { return !d.w.est.CannotFail(both, c) })
}

// asLeftJoin returns a without the check for a second row, which its right side cannot give.
func asLeftJoin(a *logical.Apply) *logical.Apply {
	if a.Kind != logical.SingleJoin {
		return a
	}
	return &logical.Apply{Kind: logical.LeftJoin, Left: a.Left, Right: a.Right, On: a.On}
}

// plainAggregate returns an aggregate without a DISTINCT that changes nothing.
func plainAggregate(it logical.AggItem) logical.AggItem {
	it.Distinct = it.Distinct && !ignoresDuplicates(it.Fn.Kind)
	return it
}

// accumulates says whether a window computes an aggregate as a grouping does, and does not fail for a row that no outer row sees.
func (d *decorrelator) accumulates(in logical.Node, it logical.AggItem) bool {
	if it.Distinct || len(it.OrderBy) > 0 || slices.ContainsFunc(it.Args, expr.IsVolatile) {
		return false
	}
	for _, e := range it.Args {
		if !d.w.est.CannotFail(in, e) {
			return false
		}
	}
	return d.w.addsUp(in, it) && expr.OverWindow(it.Fn) != nil
}

// addsUp says whether no sum of 10^10 of an aggregate's values over in is too large for its type.
func (w *rewriter) addsUp(in logical.Node, it logical.AggItem) bool {
	switch it.Fn.Kind {
	case expr.AggSum, expr.AggAvg, expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		const rows = 10 // digits
		switch t := it.Args[0].Type(); {
		case t.IsFloat():
			return w.est.Magnitude(in, it.Args[0]) < math.Sqrt(math.MaxFloat64)/math.Pow10(rows)
		case t.Kind == types.KindDecimal:
			return w.est.Magnitude(in, it.Args[0]) <= math.Pow10(types.MaxDecimalPrecision-int(t.Scale)-rows)
		}
	}
	return true
}

// matchedRange says which rows of a subquery belong to an outer row: those that agree with it in keys, and whose inner value stands
// to the outer one as op says.
type matchedRange struct {
	keys         []*expr.Compare // outer = inner
	op           expr.Op         // of inner op outer: NE, LT, LE, GT or GE
	inner, outer expr.Expr
	typ          types.Type  // in which inner and outer are sorted
	rest         []expr.Expr // conditions on outer columns alone
}

// rangesOf takes conditions apart, which have to be equalities and one to three inequalities. It returns a range for each inequality,
// or nil. All of them have the same keys and the same conditions on outer columns alone.
func rangesOf(conds []expr.Expr, outer logical.ColSet) (rs []*matchedRange) {
	common := matchedRange{}
	for _, e := range conds {
		if expr.IsVolatile(e) {
			return nil
		}
		if logical.UsedWithin(e, outer) {
			common.rest = append(common.rest, e)
			continue
		}
		c, ok := e.(*expr.Compare)
		if !ok {
			return nil
		}
		if !logical.UsedWithin(c.Left, outer) {
			c = &expr.Compare{Op: c.Op.Swap(), Left: c.Right, Right: c.Left}
		}
		if !logical.UsedWithin(c.Left, outer) || logical.UsesAny(c.Right, outer) {
			return nil
		}
		t, ok := sortedType(c.Left.Type(), c.Right.Type())
		switch {
		case !ok:
			return nil
		case c.Op == expr.EQ || c.Op == expr.NSEQ:
			common.keys = append(common.keys, c)
		case len(rs) == 3:
			return nil
		default:
			rs = append(rs, &matchedRange{op: c.Op.Swap(), inner: c.Right, outer: c.Left, typ: t})
		}
	}
	for _, r := range rs {
		r.keys, r.rest = slices.Clone(common.keys), common.rest
	}
	return rs
}

// sortedType returns the type to which both sides of a comparison can be cast without a change of their order.
func sortedType(a, b types.Type) (types.Type, bool) {
	t := types.CommonType(a, b)
	switch {
	case t.Kind == types.KindEnum || t.Kind == types.KindJSON || t.Kind == types.KindNull:
		return t, false
	case a == b:
		return t, true
	case t.Phys() != a.Phys() || t.Phys() != b.Phys() || t.IsBinaryString():
		return t, false
	case a.IsInteger() && b.IsInteger(), a.IsFloat() && b.IsFloat(), t.IsString():
		return t, true
	}
	return t, a.Kind == b.Kind && (t.Kind != types.KindDecimal || a.Scale == b.Scale)
}

// innerKeys returns the inner sides of the equalities.
func (r *matchedRange) innerKeys() []expr.Expr {
	keys := make([]expr.Expr, len(r.keys))
	for i, k := range r.keys {
		keys[i] = k.Right
	}
	return keys
}

// outerColumns returns the columns in the outer values of ranges of the same keys.
func outerColumns(rs []*matchedRange) logical.ColSet {
	var used []expr.Expr
	for _, r := range rs {
		used = append(used, r.outer)
	}
	for _, k := range rs[0].keys {
		used = append(used, k.Left)
	}
	return logical.UsesOf(used)
}

// firstOfEach replaces DISTINCT: of the rows that agree in the keys and in the operand the one with the inner value that comes first in the
// order is enough. It leaves the aggregates alone if they do not all look at the same values.
func (d *decorrelator) firstOfEach(in logical.Node, r *matchedRange, aggs []logical.AggItem) (logical.Node, []logical.AggItem) {
	if !slices.ContainsFunc(aggs, func(it logical.AggItem) bool { return it.Distinct }) {
		return in, aggs
	}
	for _, it := range aggs {
		if !it.Distinct && !ignoresDuplicates(it.Fn.Kind) || len(it.Args) != 1 || !expr.Equal(it.Args[0], aggs[0].Args[0]) || expr.IsVolatile(it.Args[0]) {
			return in, aggs
		}
	}
	distinct := &logical.Aggregate{Input: in}
	group := func(e expr.Expr) *expr.Column {
		it := logical.NewItem(d.w.alloc, e.String(), e)
		distinct.Groups = append(distinct.Groups, it)
		return it.Col
	}
	for i, k := range r.keys {
		r.keys[i] = &expr.Compare{Op: k.Op, Left: k.Left, Right: group(k.Right)}
	}
	arg := group(aggs[0].Args[0])
	first := d.w.newAgg(pick(r.ascending(), minimum, maximum), "first", r.inner)
	first.Col.Null = true
	distinct.Aggs = []logical.AggItem{first}
	r.inner = first.Col
	out := slices.Clone(aggs)
	for i := range out {
		out[i].Distinct, out[i].Args = false, []expr.Expr{arg}
	}
	return distinct, out
}

// ascending says whether inner rows come before the outer rows that they match if both are sorted by their values.
func (r *matchedRange) ascending() bool { return r.op == expr.LT || r.op == expr.LE }

// accumulated joins l with what aggs give over the rows of in that belong to each of its rows by all of rs, one range or two. The values
// are expressions over the join. Rows are sorted by the first range; the frames compare the second one's values.
func (d *decorrelator) accumulated(l, in logical.Node, rs []*matchedRange, aggs []logical.AggItem) (logical.Node, map[expr.ColumnID]expr.Expr) {
	l, source, cols := d.secondReader(l, outerColumns(rs))
	r := rs[0]
	u := &rangeUnion{w: d.w, in: withoutNulls(in, rs), outerRows: &logical.Aggregate{}, to: map[expr.ColumnID]expr.Expr{}}
	for _, c := range l.Schema() {
		if from := cols[c.ID]; from != nil {
			u.to[c.ID] = withNull(from, c.Null)
		}
	}
	on := slices.Clone(r.rest)
	win := &logical.Window{}
	var notNull []expr.Expr
	for _, k := range r.keys {
		t, _ := sortedType(k.Left.Type(), k.Right.Type())
		key := u.column(k.Left, k.Right, t)
		win.Partition = append(win.Partition, key)
		on = append(on, &expr.Compare{Op: k.Op, Left: k.Left, Right: key})
		if k.Op == expr.EQ {
			notNull = append(notNull, expr.Substitute(k.Left, u.to))
		}
	}
	keys := u.outerRows.Groups
	bound := u.column(r.outer, r.inner, r.typ)
	on = append(on, &expr.Compare{Op: expr.EQ, Left: r.outer, Right: bound})
	notNull = append(notNull, expr.Substitute(r.outer, u.to))
	frame := logical.Frame{Unit: logical.FrameRows, Start: logical.FrameBound{Kind: logical.UnboundedPreceding}, End: logical.FrameBound{Kind: logical.CurrentRow}}
	if len(rs) > 1 {
		second := u.column(rs[1].outer, rs[1].inner, rs[1].typ)
		on = append(on, &expr.Compare{Op: expr.EQ, Left: rs[1].outer, Right: second})
		notNull = append(notNull, expr.Substitute(rs[1].outer, u.to))
		frame.Compared, frame.Op = second, rs[1].op
	}
	u.outerRows.Input = known(source, notNull)
	matched := slices.Clone(u.cols)
	u.in = d.ofKeys(u.in, u.outerRows, keys, r)

	marker := u.ofInner("inner", expr.True)
	strict := r.op == expr.LT || r.op == expr.GT
	win.Order = []logical.SortKey{{Expr: bound, Desc: !r.ascending()}, {Expr: marker, Desc: !strict}}
	values := map[expr.ColumnID]expr.Expr{}
	args := map[string]*expr.Column{}
	var given []*expr.Column
	for _, item := range aggs {
		raw := item
		raw.Col = d.w.alloc.Like(item.Col)
		raw.Col.Null = true
		fn, arg := item.Fn, marker
		if fn.Kind == expr.AggCountStar {
			fn = countValues
		} else if arg = args[item.Args[0].String()]; arg == nil {
			arg = u.ofInner(item.Args[0].String(), item.Args[0])
			args[item.Args[0].String()] = arg
		}
		win.Items = append(win.Items, logical.WindowItem{Col: raw.Col, Fn: expr.OverWindow(fn), Args: []expr.Expr{arg}, Frame: frame})
		given = append(given, raw.Col)
		values[item.Col.ID] = orEmpty(raw, item)
	}
	win.Input = u.node()
	found := logical.NewFilter(win, &expr.IsNull{Arg: marker})
	right := logical.Keep(found, append(matched, given...))
	return &logical.Join{Kind: logical.LeftJoin, Left: l, Right: right, On: on}, values
}

// withoutNulls drops the rows of in that match no outer row because a value of theirs is NULL.
func withoutNulls(in logical.Node, rs []*matchedRange) logical.Node {
	var values []expr.Expr
	for _, r := range rs {
		values = append(values, r.inner)
	}
	for _, k := range rs[0].keys {
		if k.Op == expr.EQ {
			values = append(values, k.Right)
		}
	}
	return known(in, values)
}

// ofKeys keeps the rows of in whose keys some outer row has, if those are few.
func (d *decorrelator) ofKeys(in logical.Node, outerRows *logical.Aggregate, groups []logical.Item, r *matchedRange) logical.Node {
	est, rows := d.w.est, d.w.est.Rows(in)
	if len(groups) == 0 || !d.w.eager && (rows < minReduced || est.Rows(outerRows.Input) > maxReduced*rows) {
		return in
	}
	second, cols := logical.Copy(outerRows, d.w.alloc)
	semi := &logical.Join{Kind: logical.SemiJoin, Left: in, Right: second}
	for i, g := range groups {
		semi.On = append(semi.On, &expr.Compare{Op: r.keys[i].Op, Left: r.keys[i].Right, Right: cols[g.Col.ID]})
	}
	if !d.w.eager && est.Rows(semi) > maxReduced*rows {
		return in
	}
	return semi
}

// known keeps the rows in which none of values is NULL.
func known(n logical.Node, values []expr.Expr) logical.Node {
	var preds []expr.Expr
	for _, e := range values {
		if e.Nullable() {
			preds = append(preds, &expr.Not{Arg: &expr.IsNull{Arg: e}})
		}
	}
	return logical.NewFilter(n, preds...)
}

// rangeUnion is a UNION ALL of the distinct outer values and the inner rows.
type rangeUnion struct {
	w         *rewriter
	in        logical.Node
	outerRows *logical.Aggregate
	to        map[expr.ColumnID]expr.Expr // the outer columns as outerRows' input has them

	outerItems, innerItems []logical.Item
	cols                   []*expr.Column
}

// column adds a column of type t that both sides have.
func (u *rangeUnion) column(outer, inner expr.Expr, t types.Type) *expr.Column {
	group := logical.NewItem(u.w.alloc, outer.String(), expr.Substitute(outer, u.to))
	u.outerRows.Groups = append(u.outerRows.Groups, group)
	return u.add(outer.String(), castShown(group.Col, t), castShown(inner, t))
}

// castShown casts a number as it stands in a plan, where expr.NewCast would take a quotient's hidden digits.
func castShown(e expr.Expr, t types.Type) expr.Expr {
	if e.Type() == t {
		return e
	}
	return &expr.Cast{Arg: e, To: t}
}

// ofInner adds a column of the inner side, NULL in the outer rows.
func (u *rangeUnion) ofInner(name string, e expr.Expr) *expr.Column {
	return u.add(name, &expr.Const{Value: types.NullOf(e.Type())}, e)
}

func (u *rangeUnion) add(name string, outer, inner expr.Expr) *expr.Column {
	u.outerItems = append(u.outerItems, logical.NewItem(u.w.alloc, name, outer))
	u.innerItems = append(u.innerItems, logical.NewItem(u.w.alloc, name, inner))
	u.cols = append(u.cols, u.w.alloc.New("", name, inner.Type(), outer.Nullable() || inner.Nullable()))
	return u.cols[len(u.cols)-1]
}

func (u *rangeUnion) node() logical.Node {
	outer := &logical.Project{Input: u.outerRows, Items: u.outerItems}
	inner := &logical.Project{Input: u.in, Items: u.innerItems}
	return &logical.SetOp{
		Kind: logical.UnionAll, All: []logical.Node{outer, inner},
		InCols: [][]*expr.Column{outer.Schema(), inner.Schema()}, Cols: u.cols,
	}
}
