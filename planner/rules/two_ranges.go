package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// twoRanges handles an aggregation over rows that match by <>, or by a lower and an upper bound of one inner value. Two accumulated
// ranges give its values:
//
//	v <> x             is  v < x  and  v > x   together
//	v > lo AND v < hi  is  v < hi  without  v <= lo,  if lo < hi, else nothing
//
// A second inequality beside <> narrows both ranges. It returns a if these are not the conditions' forms, or if an aggregate cannot be put
// together exactly. Sums of doubles cannot be of a difference, which may keep none of the two sums' digits.
func (d *decorrelator) twoRanges(a *logical.Apply, in logical.Node, rs []*matchedRange, aggs []logical.AggItem) logical.Node {
	p := &rangePair{d: d}
	switch ne := slices.IndexFunc(rs, func(r *matchedRange) bool { return r.op == expr.NE }); {
	case ne >= 0:
		other := slices.Delete(slices.Clone(rs), ne, ne+1)
		if slices.ContainsFunc(other, func(r *matchedRange) bool { return r.op == expr.NE }) {
			return a
		}
		p.first, p.second = append(other, rs[ne].with(expr.LT)), append(slices.Clone(other), rs[ne].with(expr.GT))
	default:
		lower, upper, ok := bounds(rs)
		if !ok || lower.typ != upper.typ {
			return a
		}
		p.first, p.second = []*matchedRange{upper}, []*matchedRange{lower.with(pick(lower.op == expr.GT, expr.LE, expr.LT))}
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
	in, second, cols := d.readAgain(in)
	m := map[expr.ColumnID]expr.Expr{}
	for id, c := range cols {
		m[id] = c
	}
	n, left := d.accumulated(a.Left, in, p.first, p.aggs)
	for i, r := range p.second {
		p.second[i] = r.substituted(m)
	}
	n, right := d.accumulated(n, second, p.second, p.substituted(m))
	p.values = [2]map[expr.ColumnID]expr.Expr{left, right}
	values := map[expr.ColumnID]expr.Expr{}
	for i, item := range aggs {
		values[item.Col.ID] = results[i]()
	}
	return d.scalarResult(asLeftJoin(a), n, values)
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

// rangePair is what two ranges of the same rows are asked for. Both are given aggs; the second's columns are at the same positions of
// again.
type rangePair struct {
	d             *decorrelator
	first, second []*matchedRange
	nonEmpty      expr.Expr // says whether the second range lies within the first, whose rest is asked for; nil if their union is
	aggs, again   []logical.AggItem
	values        [2]map[expr.ColumnID]expr.Expr
}

// substituted returns the aggregates over the second range, with columns of their own.
func (p *rangePair) substituted(m map[expr.ColumnID]expr.Expr) []logical.AggItem {
	for _, it := range p.aggs {
		it.Col = p.d.w.alloc.Like(it.Col)
		it.Args = substituteAll(it.Args, m)
		p.again = append(p.again, it)
	}
	return p.again
}

// result adds to p the aggregates from which it is put together, and returns what does so once both ranges have values. It returns nil
// if it cannot be.
func (p *rangePair) result(it *logical.AggItem) func() expr.Expr {
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
		return func() expr.Expr {
			a, b := p.value(i)
			better := &expr.Compare{Op: pick(it.Fn.Kind == expr.AggMin, expr.LT, expr.GT), Left: b, Right: a}
			takeSecond := expr.OrOf([]expr.Expr{&expr.IsNull{Arg: a}, better})
			return &expr.Case{Whens: []expr.When{{Cond: takeSecond, Then: b}}, Else: a, Typ: it.Col.Typ}
		}
	}
	return nil
}

// sum handles SUM and AVG, which are NULL where no value is counted.
func (p *rangePair) sum(it *logical.AggItem) func() expr.Expr {
	if p.nonEmpty != nil && it.Args[0].Type().IsFloat() {
		return nil
	}
	t := pick(it.Fn.Kind == expr.AggSum, it.Col.Typ, exactSum(*it))
	alloc := p.d.w.alloc
	sum := p.add(logical.AggItem{Col: alloc.New("", nameOf(sumValues, it.Args), t, true), Fn: sumValues, Args: it.Args})
	count := p.add(p.d.w.newAgg(countValues, nameOf(countValues, it.Args), it.Args...))
	return func() expr.Expr {
		n := p.total(count, types.Int64)
		var whole expr.Expr = p.total(sum, t)
		if it.Fn.Kind == expr.AggAvg {
			whole = expr.Average(whole, n, it.Col.Typ)
		}
		some := &expr.Compare{Op: expr.GT, Left: n, Right: &expr.Const{Value: types.IntValue(0)}}
		null := nullOf(it.Col)
		return p.within(&expr.Case{Whens: []expr.When{{Cond: some, Then: whole}}, Else: null, Typ: it.Col.Typ}, null, it.Col.Typ)
	}
}

func (p *rangePair) add(it logical.AggItem) int {
	it.Col = p.d.w.alloc.Like(it.Col)
	p.aggs = append(p.aggs, it)
	return len(p.aggs) - 1
}

// value returns aggregate i over each range.
func (p *rangePair) value(i int) (first, second expr.Expr) {
	return p.values[0][p.aggs[i].Col.ID], p.values[1][p.again[i].Col.ID]
}

// total adds a count or sum of both ranges up, or takes the second range's from the first's; a NULL counts as 0.
func (p *rangePair) total(i int, t types.Type) expr.Expr {
	zero := &expr.Const{Value: types.Value{Type: t}}
	args := make([]expr.Expr, 2)
	args[0], args[1] = p.value(i)
	for k, e := range args {
		if e.Nullable() {
			args[k] = &expr.Case{Whens: []expr.When{{Cond: &expr.IsNull{Arg: e}, Then: zero}}, Else: e, Typ: t}
		}
	}
	op := pick(p.nonEmpty == nil, "add", "sub")
	return &expr.Call{Fn: expr.Lookup(op), Args: args, Typ: t, Null: args[0].Nullable() || args[1].Nullable()}
}

// within is e, or empty where no row can match.
func (p *rangePair) within(e, empty expr.Expr, t types.Type) expr.Expr {
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
