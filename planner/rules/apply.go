package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

const introduceApplyDoc = `Introduce Apply for subqueries: take every subquery out of its expression and evaluate it beside the rows.

A scalar subquery becomes a column of an Apply below the operator; EXISTS and IN become a semi or anti join where they are
conjuncts of WHERE, and a mark elsewhere; ANY and ALL compare with MIN and MAX. Legal because a conjunct's NULL counts as
FALSE, which semi joins give, whereas NOT IN over NULLs must stay a mark:
  SELECT * FROM t WHERE a NOT IN (SELECT b FROM u)
is empty as soon as u.b holds one NULL, and an anti join would keep every row.`

// introduceApply also turns lateral joins, whose right side uses the left side's columns, into Apply.
func introduceApply(w *rewriter) error {
	a := &applier{w: w}
	return w.each(func(n logical.Node) (logical.Node, error) {
		n = a.node(n)
		return n, a.err
	})
}

type applier struct {
	w    *rewriter
	made logical.ColSet // the columns of subqueries' relations that stand in the plan
	err  error
}

func (a *applier) node(n logical.Node) logical.Node {
	if a.w.stopped() {
		return n
	}
	n = logical.MapInputs(n, a.node)
	found := false
	for _, e := range n.Exprs() {
		found = found || expr.HasSubquery(e)
	}
	join, isJoin := n.(*logical.Join)
	if isJoin && correlated(join.Right, logical.Out(join.Left)) {
		if found {
			// Every condition goes above an inner join, or into the right side of a left join.
			return a.dependentJoin(join)
		}
		return &logical.Apply{Kind: join.Kind, Left: join.Left, Right: join.Right, On: join.On}
	}
	if !found {
		return n
	}
	switch x := n.(type) {
	case *logical.Filter:
		return a.filter(x.Input, x.Preds)
	case *logical.Scan:
		return a.filter(x.WithExprs(nil), x.Filter)
	case *logical.Join:
		return a.join(x)
	case *logical.Values:
		return a.values(x)
	}
	in := n.Inputs()[0]
	exprs := logical.MapEach(n.Exprs(), func(e expr.Expr) expr.Expr {
		in, e = a.extract(in, e, nil)
		return e
	})
	return n.WithInputs([]logical.Node{in}).WithExprs(exprs)
}

// filter puts the conditions without subqueries first: what they drop needs no subquery.
func (a *applier) filter(in logical.Node, preds []expr.Expr) logical.Node {
	var with, without, rest []expr.Expr
	for _, p := range preds {
		for _, c := range expr.Conjuncts(nil, p) {
			if expr.HasSubquery(c) {
				with = append(with, c)
			} else {
				without = append(without, c)
			}
		}
	}
	in = logical.NewFilter(in, without...)
	for _, p := range with {
		var left expr.Expr
		if in, left = a.conjunct(in, p); left != nil {
			rest = append(rest, left)
		}
	}
	return logical.NewFilter(in, rest...)
}

// conjunct applies a condition with subqueries to in; what it returns beside the relation is still to be tested.
func (a *applier) conjunct(in logical.Node, e expr.Expr) (logical.Node, expr.Expr) {
	positive := true
	p := e
	if n, ok := p.(*expr.Not); ok {
		p, positive = n.Arg, false
	}
	q, ok := p.(*expr.Subquery)
	if !ok {
		return a.extract(in, e, nil)
	}
	kind := q.Kind
	if kind == expr.AnySubquery && q.Op == expr.EQ {
		kind = expr.InSubquery
	}
	if kind == expr.AllSubquery && q.Op == expr.NE {
		kind, positive = expr.InSubquery, !positive
	}
	switch kind {
	case expr.ExistsSubquery:
		join := logical.AntiJoin
		if positive {
			join = logical.SemiJoin
		}
		rel, _ := a.relation(q)
		return &logical.Apply{Kind: join, Left: in, Right: rel}, nil
	case expr.InSubquery:
		var args []expr.Expr
		for _, arg := range q.Args {
			in, arg = a.extract(in, arg, nil)
			args = append(args, arg)
		}
		in, args = a.drawn(in, args)
		rel, out := a.relation(q)
		on, nullable := rowEquality(args, out)
		if positive {
			return &logical.Apply{Kind: logical.SemiJoin, Left: in, Right: rel, On: on}, nil
		}
		if !nullable {
			return &logical.Apply{Kind: logical.AntiJoin, Left: in, Right: rel, On: on}, nil
		}
		mark := a.w.alloc.New("", "in", types.Bool, true)
		return &logical.Apply{Kind: logical.MarkJoin, Left: in, Right: rel, On: on, Mark: mark}, &expr.Not{Arg: mark}
	}
	return a.extract(in, e, nil)
}

// drawn computes volatile args below the join that is to compare them with a subquery's rows, once a row of in.
func (a *applier) drawn(in logical.Node, args []expr.Expr) (logical.Node, []expr.Expr) {
	args = logical.MapEach(args, func(arg expr.Expr) expr.Expr {
		if !expr.IsVolatile(arg) {
			return arg
		}
		item := logical.NewItem(a.w.alloc, "drawn", arg)
		in = &logical.Project{Input: in, Items: append(logical.PassItems(in.Schema()), item)}
		return item.Col
	})
	return in, args
}

// rowEquality compares row by column; it says whether some comparison can be NULL.
func rowEquality(args []expr.Expr, out []*expr.Column) (on []expr.Expr, nullable bool) {
	for i, arg := range args {
		c := &expr.Compare{Op: expr.EQ, Left: arg, Right: out[i]}
		on = append(on, c)
		nullable = nullable || c.Nullable()
	}
	return on, nullable
}

// relation returns the subquery's relation, free of subqueries itself, and its columns. If columns that it makes stand in the plan already, because an
// expression was written twice (x IN (a, b) is x = a OR x = b) and each half simplified on its own, it is copied.
func (a *applier) relation(q *expr.Subquery) (logical.Node, []*expr.Column) {
	rel := q.Rel.(logical.Node)
	out := q.Out
	made := logical.Made(rel)
	if a.made.Meets(made) {
		copied, cols := logical.Copy(rel, a.w.alloc)
		out = make([]*expr.Column, len(q.Out))
		for i, c := range q.Out {
			out[i] = cols[c.ID]
		}
		rel, made = copied, logical.Made(copied)
	}
	a.made.AddSet(made)
	rel = a.node(rel)
	fresh := make([]*expr.Column, len(out))
	for i, c := range out {
		if fresh[i] = logical.FindColumn(rel, c.ID); fresh[i] == nil {
			fresh[i] = c
		}
	}
	return rel, fresh
}

// extract replaces the subqueries in e by columns of Applies over in. The guard, conditions that hold wherever e is
// evaluated (it stands in an arm of CASE), keeps a scalar subquery with several rows from failing where MySQL would not look at it.
func (a *applier) extract(in logical.Node, e expr.Expr, guard []expr.Expr) (logical.Node, expr.Expr) {
	if !expr.HasSubquery(e) {
		return in, e
	}
	if c, ok := e.(*expr.Case); ok {
		return a.extractCase(in, c, guard)
	}
	children := logical.MapEach(e.Children(), func(c expr.Expr) expr.Expr {
		in, c = a.extract(in, c, guard)
		return c
	})
	q, ok := e.(*expr.Subquery)
	if !ok {
		return in, e.WithChildren(children)
	}
	in, children = a.drawn(in, children)
	switch q.Kind {
	case expr.ScalarSubquery:
		rel, out := a.relation(q)
		if atMostOneRow(rel) {
			guard = nil
		}
		return &logical.Apply{Kind: logical.SingleJoin, Left: in, Right: rel, On: guard}, withNull(out[0], true)
	case expr.ExistsSubquery:
		rel, _ := a.relation(q)
		mark := a.w.alloc.New("", "exists", types.Bool, false)
		return &logical.Apply{Kind: logical.MarkJoin, Left: in, Right: rel, Mark: mark}, mark
	case expr.AnySubquery, expr.AllSubquery:
		if !(q.Kind == expr.AnySubquery && q.Op == expr.EQ || q.Kind == expr.AllSubquery && q.Op == expr.NE) {
			return a.quantified(in, q, children[0])
		}
	}
	rel, out := a.relation(q)
	on, nullable := rowEquality(children, out)
	mark := a.w.alloc.New("", "in", types.Bool, nullable)
	in = &logical.Apply{Kind: logical.MarkJoin, Left: in, Right: rel, On: on, Mark: mark}
	if q.Kind == expr.AllSubquery {
		return in, &expr.Not{Arg: mark}
	}
	return in, mark
}

func (a *applier) extractCase(in logical.Node, c *expr.Case, guard []expr.Expr) (logical.Node, expr.Expr) {
	out := &expr.Case{Typ: c.Typ}
	for _, w := range c.Whens {
		var cond, then expr.Expr
		in, cond = a.extract(in, w.Cond, guard)
		in, then = a.extract(in, w.Then, append(guard[:len(guard):len(guard)], cond))
		out.Whens = append(out.Whens, expr.When{Cond: cond, Then: then})
		guard = append(guard[:len(guard):len(guard)], &expr.Not{Arg: isTrueExpr(cond)})
	}
	if c.Else != nil {
		in, out.Else = a.extract(in, c.Else, guard)
	}
	return in, out
}

// isTrueExpr is `e IS TRUE`: never NULL.
func isTrueExpr(e expr.Expr) expr.Expr {
	if !e.Nullable() {
		return e
	}
	return &expr.Case{Whens: []expr.When{{Cond: e, Then: expr.True}}, Else: expr.False, Typ: types.Bool}
}

// quantified is x op ANY/ALL (subquery) for an op that is not decided by equality. With n rows, k of them not NULL:
//
//	x < ANY:  n = 0 -> FALSE, else x < max OR (k < n AND NULL)
//	x < ALL:  n = 0 -> TRUE, else x < min AND (k = n OR NULL)
//
// and likewise with the ends exchanged for >, both ends for <> ANY and = ALL.
func (a *applier) quantified(in logical.Node, q *expr.Subquery, x expr.Expr) (logical.Node, expr.Expr) {
	rel, out := a.relation(q)
	w := a.w
	n := w.newAgg(countStar, "n")
	k := w.newAgg(countValues, "k", out[0])
	aggs := []logical.AggItem{n, k}
	end := func(fn *expr.Aggregate) expr.Expr {
		agg := w.newAgg(fn, fn.Name, out[0])
		aggs = append(aggs, agg)
		return &expr.Compare{Op: q.Op, Left: x, Right: agg.Col}
	}
	any := q.Kind == expr.AnySubquery
	var cond expr.Expr
	switch q.Op {
	case expr.LT, expr.LE:
		cond = end(pick(any, maximum, minimum))
	case expr.GT, expr.GE:
		cond = end(pick(any, minimum, maximum))
	default:
		ends := []expr.Expr{end(minimum), end(maximum)}
		if any {
			cond = &expr.Or{Args: ends}
		} else {
			cond = &expr.And{Args: ends}
		}
	}
	if out[0].Null {
		if any {
			some := &expr.Compare{Op: expr.LT, Left: k.Col, Right: n.Col}
			cond = &expr.Or{Args: []expr.Expr{cond, &expr.And{Args: []expr.Expr{some, nullBool}}}}
		} else {
			none := &expr.Compare{Op: expr.EQ, Left: k.Col, Right: n.Col}
			cond = &expr.And{Args: []expr.Expr{cond, &expr.Or{Args: []expr.Expr{none, nullBool}}}}
		}
	}
	empty := expr.True
	if any {
		empty = expr.False
	}
	noRows := &expr.Compare{Op: expr.EQ, Left: n.Col, Right: &expr.Const{Value: types.IntValue(0)}}
	agg := &logical.Aggregate{Input: rel, Aggs: aggs, Scalar: true}
	return &logical.Apply{Kind: logical.SingleJoin, Left: in, Right: agg},
		&expr.Case{Whens: []expr.When{{Cond: noRows, Then: empty}}, Else: cond, Typ: types.Bool}
}

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

// join takes subqueries out of ON. Those of a left join that look at one side only are computed there.
func (a *applier) join(j *logical.Join) logical.Node {
	switch j.Kind {
	case logical.InnerJoin:
		return a.dependentJoin(j)
	case logical.LeftJoin:
	default:
		a.fail("A subquery in the condition of a %s", j.Kind)
		return j
	}
	left, right := logical.Out(j.Left), logical.Out(j.Right)
	l, r := j.Left, j.Right
	on := make([]expr.Expr, len(j.On))
	for i, e := range j.On {
		on[i] = e
		if !expr.HasSubquery(e) {
			continue
		}
		switch used := logical.Uses(e); {
		case !used.Meets(right):
			l, on[i] = a.extract(l, e, nil)
		case !used.Meets(left):
			r, on[i] = a.extract(r, e, nil)
		default:
			return a.dependentJoin(j)
		}
	}
	return &logical.Join{Kind: j.Kind, Left: l, Right: r, On: on, Hint: j.Hint}
}

// dependentJoin tests all conditions of an inner join above it, and those of a left join in its right side.
func (a *applier) dependentJoin(j *logical.Join) logical.Node {
	switch j.Kind {
	case logical.InnerJoin:
		var plain, with []expr.Expr
		for _, e := range j.On {
			if expr.HasSubquery(e) {
				with = append(with, e)
			} else {
				plain = append(plain, e)
			}
		}
		var n logical.Node = &logical.Join{Kind: j.Kind, Left: j.Left, Right: j.Right, On: plain, Hint: j.Hint}
		if correlated(j.Right, logical.Out(j.Left)) {
			n = &logical.Apply{Kind: j.Kind, Left: j.Left, Right: j.Right, On: plain}
		}
		return a.filter(n, with)
	case logical.LeftJoin:
		return &logical.Apply{Kind: j.Kind, Left: j.Left, Right: a.filter(j.Right, j.On)}
	}
	a.fail("A subquery in the condition of a %s", j.Kind)
	return j
}

// values turns a list of rows with subqueries into one-row projections.
func (a *applier) values(v *logical.Values) logical.Node {
	out := &logical.SetOp{Kind: logical.UnionAll, Cols: v.Cols}
	for _, row := range v.Rows {
		var in logical.Node = logical.OneRow()
		items := make([]logical.Item, len(row))
		for i, e := range row {
			col := v.Cols[i]
			if len(v.Rows) > 1 {
				col = a.w.alloc.Like(col)
			}
			in, e = a.extract(in, e, nil)
			items[i] = logical.Item{Col: col, Expr: e}
		}
		p := &logical.Project{Input: in, Items: items}
		if len(v.Rows) == 1 {
			return p
		}
		out.All = append(out.All, p)
		out.InCols = append(out.InCols, p.Schema())
	}
	return out
}

func (a *applier) fail(feature string, args ...any) {
	if a.err == nil {
		a.err = sqlerr.NotSupportedf("This form of subquery", feature, args...)
	}
}

// correlated says whether n uses a column of outer.
func correlated(n logical.Node, outer logical.ColSet) bool {
	for _, id := range n.FreeColumns() {
		if outer.Has(id) {
			return true
		}
	}
	return false
}

// atMostOneRow says whether n gives no more than one row, by its form.
func atMostOneRow(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Values:
		return len(x.Rows) <= 1
	case *logical.Filter:
		return atMostOneRow(x.Input)
	case *logical.Project:
		return atMostOneRow(x.Input)
	case *logical.Window:
		return atMostOneRow(x.Input)
	case *logical.Aggregate:
		return x.Scalar
	case *logical.Sort:
		return x.Count >= 0 && x.Count <= 1 || atMostOneRow(x.Input)
	case *logical.Limit:
		return x.Count >= 0 && x.Count <= 1 || atMostOneRow(x.Input)
	case *logical.Apply:
		switch x.Kind {
		case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
			return atMostOneRow(x.Left)
		}
		return atMostOneRow(x.Left) && atMostOneRow(x.Right)
	case *logical.Join:
		switch x.Kind {
		case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
			return atMostOneRow(x.Left)
		case logical.FullJoin:
			return false
		}
		return atMostOneRow(x.Left) && atMostOneRow(x.Right)
	}
	return false
}

// exactlyOneRow says whether n gives one row, neither none nor more, by its form.
func exactlyOneRow(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Values:
		return len(x.Rows) == 1
	case *logical.Project:
		return exactlyOneRow(x.Input)
	case *logical.Window:
		return exactlyOneRow(x.Input)
	case *logical.Aggregate:
		return x.Scalar
	case *logical.Sort:
		return x.Count != 0 && x.Offset == 0 && exactlyOneRow(x.Input)
	case *logical.Limit:
		return x.Count != 0 && x.Offset == 0 && exactlyOneRow(x.Input)
	case *logical.Join:
		switch x.Kind {
		case logical.InnerJoin:
			return len(x.On) == 0 && exactlyOneRow(x.Left) && exactlyOneRow(x.Right)
		case logical.MarkJoin, logical.SingleJoin:
			return exactlyOneRow(x.Left)
		case logical.LeftJoin:
			return exactlyOneRow(x.Left) && atMostOneRow(x.Right)
		}
	}
	return false
}
