package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// twoRanges handles an aggregation over rows that match by <>, or by a lower and an upper bound of one inner value. Accumulated ranges
// give its values:
//
//	v <> x               is  v < x  and  v > x   together
//	v <> x AND w <> y    is the four of  v < x, v > x  and  w < y, w > y   together
//	v > lo AND v < hi    is  v < hi  without  v <= lo,  if lo < hi, else nothing
//
// A second inequality beside <> narrows both ranges. It returns a if these are not the conditions' forms, or if an aggregate cannot be put
// together exactly. Sums of doubles cannot be of a difference, which may keep none of the two sums' digits.
func (d *decorrelator) twoRanges(a *logical.Apply, in logical.Node, rs []*matchedRange, aggs []logical.AggItem) logical.Node {
	p := &rangeParts{d: d}
	if slices.ContainsFunc(rs, func(r *matchedRange) bool { return r.op == expr.NE }) {
		p.parts = withoutUnequal(rs)
	} else {
		lower, upper, ok := bounds(rs)
		if !ok || lower.typ != upper.typ {
			return a
		}
		p.parts = [][]*matchedRange{{upper}, {lower.with(pick(lower.op == expr.GT, expr.LE, expr.LT))}}
		op := pick(lower.op == expr.GE && upper.op == expr.LE, expr.LE, expr.LT)
		p.nonEmpty = &expr.Compare{Op: op, Left: castShown(lower.outer, lower.typ), Right: castShown(upper.outer, upper.typ)}
	}
	results := make([]func() expr.Expr, len(aggs))
	for i := range aggs {
		if results[i] = p.result(&aggs[i]); results[i] == nil || !d.accumulates(in, plainAggregate(aggs[i])) {
			return a
		}
	}
	if !isCheap(in) && len(in.FreeColumns()) > 0 {
		return a
	}
	n := a.Left
	for i, part := range p.parts {
		rows, items := in, p.aggs
		if i < len(p.parts)-1 { // the last one reads in itself
			var cols map[expr.ColumnID]*expr.Column
			in, rows, cols = d.readAgain(in)
			m := columnsAs(cols)
			part = slices.Clone(part)
			for k, r := range part {
				part[k] = r.substituted(m)
			}
			items = p.substituted(m)
		}
		var values map[expr.ColumnID]expr.Expr
		n, values = d.accumulated(n, rows, part, items)
		p.values = append(p.values, values)
		p.given = append(p.given, items)
	}
	values := map[expr.ColumnID]expr.Expr{}
	for i, item := range aggs {
		values[item.Col.ID] = results[i]()
	}
	return d.scalarResult(asLeftJoin(a), n, values)
}

// withoutUnequal replaces each <> by < and by >: its rows are those of all results together. None of them has a row of another.
func withoutUnequal(rs []*matchedRange) [][]*matchedRange {
	i := slices.IndexFunc(rs, func(r *matchedRange) bool { return r.op == expr.NE })
	if i < 0 {
		return [][]*matchedRange{rs}
	}
	below, above := slices.Clone(rs), slices.Clone(rs)
	below[i], above[i] = rs[i].with(expr.LT), rs[i].with(expr.GT)
	return append(withoutUnequal(below), withoutUnequal(above)...)
}

// bounds tells the lower bound from the upper one, if rs are both of one inner value.
func bounds(rs []*matchedRange) (lower, upper *matchedRange, ok bool) {
	lower, upper = rs[0], rs[1]
	if lower.op == expr.NE || upper.op == expr.NE || lower.ascending() == upper.ascending() || !expr.Equal(lower.inner, upper.inner) {
		return nil, nil, false
	}
	if lower.ascending() {
		lower, upper = upper, lower
	}
	return lower, upper, true
}

// readAgain returns n to read twice, as secondReader does, but with each row as often as it is in n.
func (d *decorrelator) readAgain(n logical.Node) (first, second logical.Node, cols map[expr.ColumnID]*expr.Column) {
	if isCheap(n) {
		second, cols = logical.Copy(n, d.w.alloc)
		return n, second, cols
	}
	return d.w.readTwice(n)
}

// with returns r with another operator.
func (r *matchedRange) with(op expr.Op) *matchedRange {
	other := *r
	other.op = op
	return &other
}

// substituted returns r over other inner columns.
func (r *matchedRange) substituted(m map[expr.ColumnID]expr.Expr) *matchedRange {
	other := *r
	other.inner = expr.Substitute(r.inner, m)
	other.keys = make([]*expr.Compare, len(r.keys))
	for i, k := range r.keys {
		other.keys[i] = &expr.Compare{Op: k.Op, Left: k.Left, Right: expr.Substitute(k.Right, m)}
	}
	return &other
}

// rangeParts is what ranges of the same rows are asked for. Each is given aggs, under columns of its own: given, at the same positions.
type rangeParts struct {
	d        *decorrelator
	parts    [][]*matchedRange
	nonEmpty expr.Expr // says whether the second of two ranges lies within the first, whose rest is asked for; nil if their union is
	aggs     []logical.AggItem
	given    [][]logical.AggItem
	values   []map[expr.ColumnID]expr.Expr
}

// substituted returns the aggregates over other columns, with columns of their own.
func (p *rangeParts) substituted(m map[expr.ColumnID]expr.Expr) []logical.AggItem {
	again := slices.Clone(p.aggs)
	for i := range again {
		again[i].Col = p.d.w.alloc.Like(again[i].Col)
		again[i].Args = substituteAll(again[i].Args, m)
	}
	return again
}

// result adds to p the aggregates from which it is put together, and returns what does so once all ranges have values. It returns nil
// if it cannot be.
func (p *rangeParts) result(it *logical.AggItem) func() expr.Expr {
	if len(it.Args) > 1 {
		return nil
	}
	switch it.Fn.Kind {
	case expr.AggCount, expr.AggCountStar:
		count := p.add(logical.AggItem{Col: it.Col, Fn: it.Fn, Args: it.Args})
		return func() expr.Expr {
			return p.within(p.total(count, it.Col.Typ), emptyValue(*it), it.Col.Typ)
		}
	case expr.AggSum, expr.AggAvg:
		return p.sum(it)
	case expr.AggMin, expr.AggMax:
		if p.nonEmpty != nil {
			return nil
		}
		i := p.add(plainAggregate(*it))
		op := pick(it.Fn.Kind == expr.AggMin, expr.LT, expr.GT)
		return func() expr.Expr {
			return inPairs(p.each(i), func(a, b expr.Expr) expr.Expr {
				better := &expr.Compare{Op: op, Left: b, Right: a}
				takeSecond := expr.OrOf([]expr.Expr{&expr.IsNull{Arg: a}, better})
				return &expr.Case{Whens: []expr.When{{Cond: takeSecond, Then: b}}, Else: a, Typ: it.Col.Typ}
			})
		}
	}
	return nil
}

// inPairs puts values together, two at a time, so that none stands in the result more often than it has to.
func inPairs(values []expr.Expr, two func(a, b expr.Expr) expr.Expr) expr.Expr {
	if len(values) == 1 {
		return values[0]
	}
	half := len(values) / 2
	return two(inPairs(values[:half], two), inPairs(values[half:], two))
}

// sum handles SUM and AVG, which are NULL where no value is counted.
func (p *rangeParts) sum(it *logical.AggItem) func() expr.Expr {
	if p.nonEmpty != nil && it.Args[0].Type().IsFloat() {
		return nil
	}
	t := pick(it.Fn.Kind == expr.AggSum, it.Col.Typ, exactSum(*it))
	alloc := p.d.w.alloc
	sum := p.add(logical.AggItem{Col: alloc.New("", nameOf(sumValues, it.Args), t, true), Fn: sumValues, Args: it.Args})
	count := p.add(p.d.w.newAgg(countValues, nameOf(countValues, it.Args), it.Args...))
	return func() expr.Expr {
		n := p.total(count, types.Int64)
		whole := p.total(sum, t)
		if it.Fn.Kind == expr.AggAvg {
			whole = expr.Average(whole, n, it.Col.Typ)
		}
		some := &expr.Compare{Op: expr.GT, Left: n, Right: &expr.Const{Value: types.IntValue(0)}}
		null := nullOf(it.Col)
		return p.within(&expr.Case{Whens: []expr.When{{Cond: some, Then: whole}}, Else: null, Typ: it.Col.Typ}, null, it.Col.Typ)
	}
}

func (p *rangeParts) add(it logical.AggItem) int {
	it.Col = p.d.w.alloc.Like(it.Col)
	p.aggs = append(p.aggs, it)
	return len(p.aggs) - 1
}

// each returns aggregate i over each range.
func (p *rangeParts) each(i int) (values []expr.Expr) {
	for k, given := range p.given {
		values = append(values, p.values[k][given[i].Col.ID])
	}
	return values
}

// total adds a count or sum of all ranges up, or takes the second range's from the first's; a NULL counts as 0.
func (p *rangeParts) total(i int, t types.Type) expr.Expr {
	zero := &expr.Const{Value: types.Value{Type: t}}
	values := p.each(i)
	for k, e := range values {
		if e.Nullable() {
			values[k] = &expr.Case{Whens: []expr.When{{Cond: &expr.IsNull{Arg: e}, Then: zero}}, Else: e, Typ: t}
		}
	}
	op := expr.Lookup(pick(p.nonEmpty == nil, "add", "sub"))
	return inPairs(values, func(a, b expr.Expr) expr.Expr {
		return &expr.Call{Fn: op, Args: []expr.Expr{a, b}, Typ: t, Null: a.Nullable() || b.Nullable()}
	})
}

// within is e, or empty where no row can match.
func (p *rangeParts) within(e, empty expr.Expr, t types.Type) expr.Expr {
	if p.nonEmpty == nil {
		return e
	}
	return &expr.Case{Whens: []expr.When{{Cond: p.nonEmpty, Then: e}}, Else: empty, Typ: t}
}

// extremeBetween turns an EXISTS or IN with two inequalities or three into a question for an aggregation over all but one of them: whether
// the least or the greatest value that the last one compares meets it. With <> either may. It returns nil for all else, and for semi and
// anti joins that a sorted build serves. What IN compares is an equality like the others where it need not tell NULL from FALSE.
func (d *decorrelator) extremeBetween(a *logical.Apply) *logical.Apply {
	switch {
	case a.Kind != logical.SemiJoin && a.Kind != logical.AntiJoin && a.Kind != logical.MarkJoin, a.Kind == logical.MarkJoin && len(a.On) > 0:
		return nil
	}
	outer := logical.Out(a.Left)
	right, on := stripExistential(a.Right, a.On)
	if scalarTop(right) != nil || !correlated(right, outer) {
		return nil
	}
	in, conds, ok := d.pull(right, outer, false)
	if !ok {
		return nil
	}
	conds = append(conds[:len(conds):len(conds)], d.undecided(on)...)
	rs := rangesOf(conds, outer)
	last := lastRange(rs, a.Kind != logical.MarkJoin)
	if last == nil || !d.cannotFail(a.Left, in, conds) {
		return nil
	}
	var others []expr.Expr
	for _, c := range conds {
		if cmp, ok := c.(*expr.Compare); !ok || !last.isOf(cmp) {
			others = append(others, c)
		}
	}
	agg := &logical.Aggregate{Input: logical.NewFilter(in, others...), Scalar: true}
	var some []expr.Expr // of which one has to hold
	for _, fn := range last.extremes() {
		extreme := d.w.newAgg(fn, fn.Name, last.inner)
		agg.Aggs = append(agg.Aggs, extreme)
		some = append(some, &expr.Compare{Op: last.op, Left: extreme.Col, Right: last.outer})
	}
	return &logical.Apply{Kind: a.Kind, Left: a.Left, Right: &logical.Filter{Input: agg, Preds: []expr.Expr{expr.OrOf(some)}}, Mark: a.Mark}
}

// lastRange picks the inequality of which an extreme decides: <>, else the last. It returns nil if the others would not be ranges, or if
// sorted says that a sorted build may serve, and one does.
func lastRange(rs []*matchedRange, sorted bool) *matchedRange {
	var last *matchedRange
	for _, r := range rs {
		if r.op == expr.NE && last != nil {
			return nil
		} else if r.op == expr.NE {
			last = r
		}
	}
	switch {
	case len(rs) < 2 || len(rs) > 2 && last == nil:
		return nil
	case last != nil:
		return last
	}
	_, _, between := bounds(rs)
	if inWords := func(r *matchedRange) bool { return !r.typ.IsString() }; sorted && !between && inWords(rs[0]) && inWords(rs[1]) {
		return nil
	}
	return rs[1]
}

// isOf says whether r was made of the comparison c.
func (r *matchedRange) isOf(c *expr.Compare) bool {
	return c.Op == r.op && c.Left == r.inner && c.Right == r.outer || c.Op == r.op.Swap() && c.Left == r.outer && c.Right == r.inner
}
