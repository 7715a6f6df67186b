package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// bindInner binds the query of a subquery expression inside sc.
func (b *Binder) bindInner(x ast.ExprNode, sc *scope) (*relation, error) {
	s, ok := parse.WithoutParentheses(x).(*ast.SubqueryExpr)
	if !ok {
		return nil, sqlerr.NotSupportedf("this subquery", "%T", x)
	}
	rel, err := b.bindQuery(s.Query, sc)
	if err != nil {
		return nil, err
	}
	rel.node, rel.cols = b.distinctIDs(rel.node, rel.cols)
	return rel, nil
}

func columnsOf(rel *relation) []*expr.Column {
	out := make([]*expr.Column, len(rel.cols))
	for i, c := range rel.cols {
		out[i] = c.col
	}
	return out
}

func (b *Binder) scalarSubquery(x *ast.SubqueryExpr, sc *scope) (expr.Expr, error) {
	rel, err := b.bindInner(x, sc)
	if err != nil {
		return nil, err
	}
	if len(rel.cols) != 1 {
		return nil, sqlerr.OperandColumns(1)
	}
	if bits := loneBits(x, rel); bits != nil {
		return bits, nil
	}
	b.keepLong(rel)
	c := rel.cols[0].col
	if c.Long != nil && c.Typ.Kind == types.KindDecimal {
		sub := &expr.Subquery{Kind: expr.ScalarSubquery, Rel: rel.node, Out: []*expr.Column{c.Long}, Typ: c.Long.Typ}
		return &expr.Cast{Arg: sub, To: c.Typ, IsDisplay: true}, nil
	}
	return &expr.Subquery{Kind: expr.ScalarSubquery, Rel: rel.node, Out: columnsOf(rel), Typ: c.Typ}, nil
}

// loneBits returns the hexadecimal or bit literal that is all of a subquery, as in (SELECT 0x41), for which it stands; nil: there is more.
func loneBits(x *ast.SubqueryExpr, rel *relation) expr.Expr {
	s, ok := x.Query.(*ast.SelectStmt)
	if !ok || s.From != nil || s.Where != nil || s.Having != nil || s.GroupBy != nil || s.Limit != nil || rel.project == nil {
		return nil
	}
	if c, ok := rel.project.Items[0].Expr.(*expr.Const); ok && c.Value.IsBits {
		return c
	}
	return nil
}

func (b *Binder) exists(x *ast.ExistsSubqueryExpr, sc *scope) (expr.Expr, error) {
	if s, is := parse.WithoutParentheses(x.Sel).(*ast.SubqueryExpr); is {
		b.recordExists(s.Query)
	}
	rel, err := b.bindInner(x.Sel, sc)
	if err != nil {
		return nil, err
	}
	return negateIf(x.Not, &expr.Subquery{Kind: expr.ExistsSubquery, Rel: rel.node, Out: columnsOf(rel), Typ: types.Bool}), nil
}

// leftOperands binds what stands before IN, ANY, ALL or a comparison with a row subquery.
func (b *Binder) leftOperands(x ast.ExprNode, sc *scope) ([]expr.Expr, error) {
	if row, ok := parse.WithoutParentheses(x).(*ast.RowExpr); ok {
		return b.exprs(row.Values, sc)
	}
	e, err := b.expr(x, sc)
	return []expr.Expr{e}, err
}

func (b *Binder) inSubquery(x *ast.PatternInExpr, sc *scope) (expr.Expr, error) {
	args, err := b.leftOperands(x.Expr, sc)
	if err != nil {
		return nil, err
	}
	rel, err := b.bindInner(x.Sel, sc)
	if err != nil {
		return nil, err
	}
	sub, err := b.membership(expr.InSubquery, expr.EQ, args, rel)
	return negateIf(x.Not, sub), err
}

func (b *Binder) quantified(x *ast.CompareSubqueryExpr, sc *scope) (expr.Expr, error) {
	args, err := b.leftOperands(x.L, sc)
	if err != nil {
		return nil, err
	}
	rel, err := b.bindInner(x.R, sc)
	if err != nil {
		return nil, err
	}
	op, ok := comparisons[x.Op]
	if !ok {
		return nil, sqlerr.NotSupportedf("this operator before ANY or ALL", "%s", x.Op)
	}
	switch {
	case !x.All && op == expr.EQ:
		return b.membership(expr.InSubquery, op, args, rel)
	case x.All && op == expr.NE: // <> ALL is NOT IN
		sub, err := b.membership(expr.InSubquery, expr.EQ, args, rel)
		return negateIf(true, sub), err
	case len(args) != 1:
		return nil, sqlerr.OperandColumns(1)
	case x.All:
		return b.membership(expr.AllSubquery, op, args, rel)
	}
	return b.membership(expr.AnySubquery, op, args, rel)
}

// membership makes the subquery expression `args op rel`, both sides cast to the types in which they compare.
func (b *Binder) membership(kind expr.SubqueryKind, op expr.Op, args []expr.Expr, rel *relation) (expr.Expr, error) {
	if len(args) != len(rel.cols) {
		return nil, sqlerr.OperandColumns(len(args))
	}
	if err := b.keepBits(rel, args); err != nil {
		return nil, err
	}
	out := columnsOf(rel)
	p := &logical.Project{Input: rel.node}
	computed := false
	left := make([]expr.Expr, len(args))
	for i, a := range args {
		cmp, err := expr.NewCompare(op, a, out[i])
		if err != nil {
			return nil, err
		}
		c, ok := cmp.(*expr.Compare)
		if !ok || c.Op != op {
			return nil, sqlerr.Bug("comparison of %s with a subquery's column became %s", a, cmp)
		}
		left[i] = c.Left
		if c.Right != expr.Expr(out[i]) {
			col := b.alloc.New("", out[i].Name, c.Right.Type(), c.Right.Nullable())
			p.Items = append(p.Items, logical.Item{Col: col, Expr: c.Right})
			out[i] = col
			computed = true
		} else {
			p.Items = append(p.Items, logical.Item{Col: out[i], Expr: out[i]})
		}
	}
	node := rel.node
	if computed {
		node = p
	}
	return &expr.Subquery{Kind: kind, Args: left, Op: op, Rel: node, Out: out, Typ: types.Bool}, nil
}

// compareRowSubquery binds (a, b) = (SELECT c, d ...): the subquery gives one row, made of NULLs if it is empty; more
// than one row is an error. With the aggregate that takes the only value of each column it is a membership.
func (b *Binder) compareRowSubquery(op expr.Op, row *ast.RowExpr, sub *ast.SubqueryExpr, sc *scope) (expr.Expr, error) {
	if op != expr.EQ && op != expr.NE {
		return nil, sqlerr.NotSupportedf("this comparison of a row with a subquery", "only = and <> compare rows with subqueries")
	}
	args, err := b.exprs(row.Values, sc)
	if err != nil {
		return nil, err
	}
	rel, err := b.bindInner(sub, sc)
	if err != nil {
		return nil, err
	}
	if len(rel.cols) != len(args) {
		return nil, sqlerr.OperandColumns(len(args))
	}
	agg := &logical.Aggregate{Input: rel.node, Scalar: true}
	single := expr.LookupAggregate("single_value")
	for i, c := range rel.cols {
		col := b.alloc.New("", c.name, c.col.Typ, true)
		col.Coercibility = c.col.Coercibility
		agg.Aggs = append(agg.Aggs, logical.AggItem{Col: col, Fn: single, Args: []expr.Expr{c.col}})
		rel.cols[i].col = col
	}
	rel.node, rel.parts = agg, nil
	e, err := b.membership(expr.InSubquery, expr.EQ, args, rel)
	return negateIf(op == expr.NE, e), err
}
