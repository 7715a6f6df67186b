package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Everything behind the binder compares strings by their bytes. Where a string has another collation, the binder puts its collation key
// (expr.CollationKey) in its place: as a group, as a key of an order, as an operand that is counted or compared. What is then shown
// of equal strings is the first row's.

// connection is the collation of literals.
func (b *Binder) connection() types.Collation {
	if b.Ctx == nil {
		return types.CollationBin
	}
	return b.Ctx.Collation
}

// systemVariable is the value of a system variable: a literal.
func (b *Binder) systemVariable(v types.Value) expr.Expr {
	v.Type = v.Type.Collate(b.connection())
	return &expr.Const{Value: v}
}

// userVariable is the value of a user variable. Its text insists on its collation as a column's does, but for one by code points under a
// connection that has no other: it gives way to the column that it is compared with.
func (b *Binder) userVariable(v types.Value) expr.Expr {
	plain := v.Type.Collation == types.CollationBin && b.connection() == types.CollationBin
	return &expr.Const{Value: v, Variable: true, Implicit: v.Type.IsBinaryString() || v.Type.HasCollation() && !plain}
}

// connected gives the result of a function that makes text of other things the connection's collation.
func (b *Binder) connected(e expr.Expr) expr.Expr {
	call, ok := e.(*expr.Call)
	if !ok || b.connection() == types.CollationBin || !call.Typ.HasCollation() || call.Typ.Collation != types.CollationBin {
		return e
	}
	if _, level := expr.CollationOf(call); level != expr.Coercible {
		return e
	}
	for _, a := range call.Args {
		if expr.GivesCollation(call.Fn, a) {
			return e
		}
	}
	out := *call
	out.Typ = out.Typ.Collate(b.connection())
	return &out
}

// collate binds `x COLLATE name`.
func (b *Binder) collate(x *ast.SetCollationExpr, sc *scope) (expr.Expr, error) {
	c, err := expr.ParseCollation(x.Collate)
	if err != nil {
		return nil, err
	}
	e, err := b.expr(x.Expr, sc)
	if err != nil {
		return nil, err
	}
	if c == types.CollationBinary {
		return expr.NewCast(e, types.Blob), nil
	}
	if t := e.Type(); t.IsBinaryString() {
		return nil, sqlerr.New(sqlerr.CodeCollationCharsetMismatch, sqlerr.User, "COLLATION '%s' is not valid for CHARACTER SET 'binary'", c).
			WithHint("CONVERT(x USING utf8mb4) turns bytes into a string")
	}
	return expr.Collate(e, c), nil
}

// sortByKeys makes an order of strings one by their collation keys.
func sortByKeys(keys []logical.SortKey) {
	for i := range keys {
		keys[i].Expr = expr.CollationKey(keys[i].Expr)
	}
}

// collatedOperands prepares the operands of an aggregate for strings that do not compare by their bytes. What it computes is to be given to
// value.
func collatedOperands(fn *expr.Aggregate, distinct bool, args []expr.Expr, sig *expr.Signature) (out []expr.Expr, value func(expr.Expr) expr.Expr, err error) {
	value = func(e expr.Expr) expr.Expr { return e }
	folds := false
	for _, a := range args {
		folds = folds || a.Type().Folds()
	}
	if fn == nil || !folds {
		return args, value, nil
	}
	switch fn.Kind {
	case expr.AggMin, expr.AggMax:
		var pair expr.Expr
		pair, value = expr.ExtremeByCollation(args[0])
		sig.Result = pair.Type()
		return []expr.Expr{pair}, value, nil
	case expr.AggCount:
		if distinct {
			out = make([]expr.Expr, len(args))
			for i, a := range args {
				out[i] = expr.CollationKey(a)
			}
			return out, value, nil
		}
	case expr.AggApproxCountDistinct:
		return []expr.Expr{expr.CollationKey(args[0])}, value, nil
	case expr.AggMode, expr.AggQuantileDisc:
		return append([]expr.Expr{expr.CollationKey(args[0])}, args...), value, nil
	case expr.AggArgMin, expr.AggArgMax:
		return []expr.Expr{args[0], expr.CollationKey(args[1])}, value, nil
	case expr.AggGroupConcat:
		sig.Result, _, err = unite("group_concat", sig.Result, args)
		return args, value, err
	}
	return args, value, nil
}

// coercibility says how strongly e's strings insist on their collation.
func coercibility(e expr.Expr) expr.Coercibility {
	if !e.Type().HasCollation() {
		return expr.Implicit
	}
	_, level := expr.CollationOf(e)
	return level
}

// unite gives the common type of expressions the collation of all of them, and says how strongly they insist on it.
func unite(operation string, t types.Type, values []expr.Expr) (types.Type, expr.Coercibility, error) {
	if !t.HasCollation() {
		return t, expr.Implicit, nil
	}
	c, err := expr.Mix(operation, values...)
	if err != nil {
		return t, expr.Implicit, err
	}
	strongest := expr.Ignorable
	for _, v := range values {
		_, level := expr.CollationOf(v)
		strongest = min(strongest, level)
	}
	if c == types.CollationBinary {
		c = types.CollationBin
	}
	return t.Collate(c), strongest, nil
}

// keyedColumn returns the column whose values, or collation keys under its own collation, e gives; nil if there is none.
func keyedColumn(e expr.Expr) *expr.Column {
	if c, ok := e.(*expr.Column); ok {
		return c
	}
	if call, ok := e.(*expr.Call); ok && len(call.Args) > 0 {
		if c, ok := call.Args[0].(*expr.Column); ok && c.Typ.Folds() && expr.Equal(expr.CollationKey(c), e) {
			return c
		}
	}
	return nil
}

// show returns what a clause behind GROUP BY sees of e, which is group key i: the key, or, where e's collation key groups, e in the group's
// first row.
func (g *grouping) show(i int, e expr.Expr) expr.Expr {
	if !e.Type().Folds() {
		return g.groups[i].Col
	}
	for id := range g.shown {
		for _, a := range g.aggs {
			if a.Col.ID == id && expr.Equal(a.Args[0], e) {
				return a.Col
			}
		}
	}
	table, name := "", e.String()
	if c, ok := e.(*expr.Column); ok {
		table, name = c.Table, c.Name
	}
	col := g.b.alloc.New(table, name, e.Type(), e.Nullable() || g.isRollup)
	g.aggs = append(g.aggs, logical.AggItem{Col: col, Fn: expr.LookupAggregate("any_value"), Args: []expr.Expr{e}})
	g.aggIDs[col.ID] = true
	if g.shown == nil {
		g.shown = map[expr.ColumnID]int{}
	}
	g.shown[col.ID] = i
	return col
}

// removeDuplicates leaves one of the rows of rel that are equal, strings under their collations. It returns the columns by which rows were
// compared, one for each of rel's.
func (b *Binder) removeDuplicates(rel *relation) (compared []*expr.Column) {
	agg := &logical.Aggregate{Input: rel.node, Hint: b.aggHint()}
	first := map[expr.ColumnID][2]*expr.Column{} // what compares, and what is shown
	for i, c := range rel.cols {
		have, seen := first[c.col.ID]
		if !seen {
			have = [2]*expr.Column{c.col, c.col}
			if key := expr.CollationKey(c.col); key != expr.Expr(c.col) {
				have[0] = b.alloc.New("", key.String(), key.Type(), key.Nullable())
				have[1] = b.alloc.Like(c.col)
				agg.Groups = append(agg.Groups, logical.Item{Col: have[0], Expr: key})
				agg.Aggs = append(agg.Aggs, logical.AggItem{Col: have[1], Fn: expr.LookupAggregate("any_value"), Args: []expr.Expr{c.col}})
			} else {
				agg.Groups = append(agg.Groups, logical.Item{Col: c.col, Expr: c.col})
			}
			first[c.col.ID] = have
		}
		rel.cols[i].col = have[1]
		compared = append(compared, have[0])
	}
	rel.node = agg
	return compared
}

// combineByKeys makes UNION, INTERSECT and EXCEPT of rows with strings that do not compare by their bytes. out has the columns of set.
func (b *Binder) combineByKeys(set *logical.SetOp, out *relation) (*relation, error) {
	if set.Kind == logical.Union {
		set.Kind = logical.UnionAll
		out.node = set
		b.removeDuplicates(out)
		return out, nil
	}
	// Rows on the left with, or without, an equal row on the right, NULLs being equal.
	kind := logical.SemiJoin
	if set.Kind == logical.Except || set.Kind == logical.ExceptAll {
		kind = logical.AntiJoin
	}
	left := &relation{node: set.All[0]}
	for i, c := range set.InCols[0] {
		left.cols = append(left.cols, scopeColumn{col: c, name: out.cols[i].name})
	}
	left.node, left.cols = b.distinctIDs(left.node, left.cols)
	var right logical.Node
	var compared, others []*expr.Column
	if set.Kind == logical.IntersectAll || set.Kind == logical.ExceptAll {
		// The n-th of equal rows on the left goes with the n-th on the right.
		cols := make([]*expr.Column, len(left.cols))
		for i, c := range left.cols {
			cols[i] = c.col
		}
		left.node, compared = b.numberEqual(left.node, cols, cols)
		right, others = b.numberEqual(set.All[1], set.InCols[1], nil)
	} else {
		compared = b.removeDuplicates(left)
		p := &logical.Project{Input: set.All[1]}
		for _, c := range set.InCols[1] {
			key := logical.NewItem(&b.alloc, c.Name, expr.CollationKey(c))
			p.Items, others = append(p.Items, key), append(others, key.Col)
		}
		right = p
	}
	join := &logical.Join{Kind: kind, Left: left.node, Right: right}
	for i, c := range compared {
		join.On = append(join.On, &expr.Compare{Op: expr.NSEQ, Left: c, Right: others[i]})
	}
	left.node = join
	return left, nil
}

// numberEqual numbers the rows of n that are equal in cols, strings under their collations. What it makes has kept, and the columns that it
// returns: what compares, one for each of cols, and the number.
func (b *Binder) numberEqual(n logical.Node, cols, kept []*expr.Column) (logical.Node, []*expr.Column) {
	p := &logical.Project{Input: n}
	for _, c := range kept {
		p.Items = append(p.Items, logical.Item{Col: c, Expr: c})
	}
	var compared []*expr.Column
	w := &logical.Window{Input: p}
	for _, c := range cols {
		key := logical.NewItem(&b.alloc, c.Name, expr.CollationKey(c))
		p.Items = append(p.Items, key)
		compared, w.Partition = append(compared, key.Col), append(w.Partition, key.Col)
	}
	number := b.alloc.New("", "number", types.Uint64, false)
	w.Items = []logical.WindowItem{{Col: number, Fn: expr.LookupWindow("row_number")}}
	return w, append(compared, number)
}
