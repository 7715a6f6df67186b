package bind

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// GROUP BY a, b WITH ROLLUP is the union of the groups by (a, b), by (a) and by nothing, in which a key that does not group is
// NULL. What they are made from is computed once: the keys and the aggregates' operands stand in a plan that all of them
// read.

// groupingCall is a GROUPING(...): a number whose bits say which of its operands, group keys, are totalled up in a row.
type groupingCall struct {
	col  *expr.Column
	args []expr.Expr
	at   ast.Node
}

// groupingFunction binds GROUPING(...). Its operands are looked for among the group keys once these are known.
func (b *Binder) groupingFunction(x *ast.FuncCallExpr, sc *scope) (expr.Expr, error) {
	if sc.grouped == nil || sc.noAggregates {
		return nil, sqlerr.InvalidGroupFunc()
	}
	inside := sc.within(sc.clause)
	inside.noAggregates, inside.windows, inside.aliases = true, nil, nil
	args, err := b.exprs(x.Args, inside)
	if err != nil {
		return nil, err
	}
	g := sc.grouped
	for _, have := range g.groupings {
		if equalAll(have.args, args) {
			return have.col, nil
		}
	}
	c := groupingCall{b.alloc.New("", "grouping", types.Int64, false), args, x}
	g.groupings = append(g.groupings, c)
	return c.col, nil
}

// checkGroupings reports a GROUPING that is not of a rollup, or not of its keys.
func (g *grouping) checkGroupings() error {
	for _, c := range g.groupings {
		if !g.isRollup {
			return g.b.at(sqlerr.InvalidGroupFunc().WithHint("GROUPING needs GROUP BY ... WITH ROLLUP"), c.at)
		}
		for i, a := range c.args {
			if g.keyOf(a) < 0 {
				return g.b.at(sqlerr.New(sqlerr.CodeGroupingNotInGroupBy, sqlerr.User, "Argument #%d of GROUPING function is not in GROUP BY", i), c.at)
			}
		}
	}
	return nil
}

// keyOf returns which group key an expression is, or has as its collation key, or -1.
func (g *grouping) keyOf(e expr.Expr) int {
	return g.groupAt.Find(expr.CollationKey(e))
}

// buildRollup makes the union of all levels. Its columns are those of the groups, the aggregates and the GROUPINGs.
func (g *grouping) buildRollup() logical.Node {
	b := g.b
	// What the levels read: a column for each key, and for each operand.
	source := &logical.Project{Input: g.input}
	var sources expr.Set
	column := func(e expr.Expr) *expr.Column {
		if i := sources.Find(e); i >= 0 {
			return source.Items[i].Col
		}
		sources.Add(e)
		it := logical.NewItem(&b.alloc, e.String(), e)
		source.Items = append(source.Items, it)
		return it.Col
	}
	keys := make([]*expr.Column, len(g.groups))
	for i, it := range g.groups {
		keys[i] = column(it.Expr)
	}
	aggs := make([]logical.AggItem, len(g.aggs))
	for i, a := range g.aggs {
		a.Args, a.OrderBy = append([]expr.Expr(nil), a.Args...), append([]logical.SortKey(nil), a.OrderBy...)
		for k := range a.Args {
			a.Args[k] = column(a.Args[k])
		}
		for k := range a.OrderBy {
			a.OrderBy[k].Expr = column(a.OrderBy[k].Expr)
		}
		aggs[i] = a
	}
	read := b.readers(source)

	out := &logical.SetOp{Kind: logical.UnionAll}
	for _, it := range g.groups {
		out.Cols = append(out.Cols, it.Col)
	}
	for _, a := range g.aggs {
		out.Cols = append(out.Cols, a.Col)
	}
	for _, c := range g.groupings {
		out.Cols = append(out.Cols, c.col)
	}
	out.Cols = append(out.Cols, g.level)
	levels := append([]int{0}, g.written...)
	slices.Reverse(levels)
	for _, level := range levels {
		in, cols := read()
		p := g.rollupLevel(level, keys, aggs, in, cols)
		out.All = append(out.All, p)
		out.InCols = append(out.InCols, p.Schema())
	}
	return out
}

// rollupLevel groups by the first keys, as many as level says, and gives the columns of all levels: NULL for the other keys.
func (g *grouping) rollupLevel(level int, keys []*expr.Column, aggs []logical.AggItem, in logical.Node, cols map[expr.ColumnID]*expr.Column) *logical.Project {
	b := g.b
	agg := &logical.Aggregate{Input: in, Hint: b.aggHint(), Scalar: level == 0}
	p := &logical.Project{}
	add := func(name string, e expr.Expr) { p.Items = append(p.Items, logical.NewItem(&b.alloc, name, e)) }
	for i, k := range keys {
		var value expr.Expr = &expr.Const{Value: types.NullOf(k.Typ)}
		if i < level {
			group := b.alloc.Like(cols[k.ID])
			agg.Groups = append(agg.Groups, logical.Item{Col: group, Expr: cols[k.ID]})
			value = group
		}
		add(k.Name, value)
	}
	for _, a := range aggs {
		a.Args, a.OrderBy = append([]expr.Expr(nil), a.Args...), append([]logical.SortKey(nil), a.OrderBy...)
		for k, e := range a.Args {
			a.Args[k] = cols[e.(*expr.Column).ID]
		}
		for k := range a.OrderBy {
			a.OrderBy[k].Expr = cols[a.OrderBy[k].Expr.(*expr.Column).ID]
		}
		of, shown := g.shown[a.Col.ID]
		a.Col = b.alloc.Like(a.Col)
		agg.Aggs = append(agg.Aggs, a)
		if shown && of >= level {
			add(a.Col.Name, &expr.Const{Value: types.NullOf(a.Col.Typ)})
		} else {
			add(a.Col.Name, a.Col)
		}
	}
	for _, c := range g.groupings {
		bits := int64(0)
		for _, a := range c.args {
			bits <<= 1
			if g.keyOf(a) >= level {
				bits |= 1
			}
		}
		add("grouping", &expr.Const{Value: types.IntValue(bits)})
	}
	add("level", &expr.Const{Value: types.IntValue(int64(level))})
	p.Input = agg
	if level == 0 { // the total of no rows is no row
		rows := logical.AggItem{Col: b.alloc.New("", "rows", types.Int64, false), Fn: expr.LookupAggregate("count(*)")}
		agg.Aggs = append(agg.Aggs, rows)
		p.Input = filter(agg, &expr.Compare{Op: expr.GT, Left: rows.Col, Right: &expr.Const{Value: types.IntValue(0)}})
	}
	return p
}

// readers returns a function that gives, each time anew, a relation with the rows of n, and its column for each of n's. A plan
// that depends on outer columns cannot be shared and is copied.
func (b *Binder) readers(n logical.Node) func() (logical.Node, map[expr.ColumnID]*expr.Column) {
	if len(n.FreeColumns()) > 0 {
		return func() (logical.Node, map[expr.ColumnID]*expr.Column) { return logical.Copy(n, &b.alloc) }
	}
	b.shared++
	plan := &logical.SharedPlan{ID: b.shared, Name: "rollup", Root: n}
	return func() (logical.Node, map[expr.ColumnID]*expr.Column) {
		s := &logical.Shared{Plan: plan, From: n.Schema()}
		cols := map[expr.ColumnID]*expr.Column{}
		for _, c := range s.From {
			cols[c.ID] = b.alloc.Like(c)
			s.Cols = append(s.Cols, cols[c.ID])
		}
		return s, cols
	}
}

// rollupOrder is the order of a rollup that asks for none: by its keys, each total behind what it is the total of.
func (g *grouping) rollupOrder() []orderKey {
	var keys []orderKey
	for i, it := range g.groups {
		total := &expr.Compare{Op: expr.LE, Left: g.level, Right: &expr.Const{Value: types.IntValue(int64(i))}}
		keys = append(keys, orderKey{total, -1, false}, orderKey{it.Col, -1, false})
	}
	return keys
}
