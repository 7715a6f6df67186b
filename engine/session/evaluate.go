package session

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Evaluate computes an expression without columns; it may hold subqueries.
func (st *Statement) Evaluate(e ast.ExprNode) (types.Value, error) {
	x, err := st.Binder().Scalar(e)
	if err != nil {
		return types.Value{}, err
	}
	x = expr.WithHiddenDigits(x)
	st.Began = st.Began || !expr.HasSubquery(x)
	if c, ok := x.(*expr.Const); ok {
		return c.Value, nil
	}
	if !expr.HasSubquery(x) {
		v, err := expr.Eval1(x, st.Expressions())
		return expr.AtZeroScale(v, expr.ZeroScale(x, ScaleOf)), err
	}
	q, err := st.Binder().LongQuery(selectOf(e))
	if err != nil {
		return types.Value{}, err
	}
	scales := q.ZeroScales()
	res, err := st.Session.run(st, q)
	if err != nil {
		return types.Value{}, err
	}
	defer res.Close()
	b, err := res.Next(st.Context)
	if err != nil || b == nil {
		return types.NullOf(q.Cols[0].Typ), err
	}
	i := 0
	if b.Sel != nil {
		i = int(b.Sel[0])
	}
	return expr.AtZeroScale(b.Cols[0].Value(i), scales[0]), nil
}

// ScaleOf is the scale of what stands for its value.
func ScaleOf(e expr.Expr) int { return expr.ScaleOf(e.Type()) }

// selectOf makes SELECT e.
func selectOf(e ast.ExprNode) *ast.SelectStmt {
	return &ast.SelectStmt{
		SelectStmtOpts: &ast.SelectStmtOpts{},
		Fields:         &ast.FieldList{Fields: []*ast.SelectField{{Expr: e}}},
	}
}

// evaluateList returns the values of a list of expressions without columns.
func (st *Statement) evaluateList(list string) (values []types.Value, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	stmt, err := parse.One("DO "+list, st.Session.Vars.ParseMode)
	if err != nil {
		return nil, err
	}
	do, ok := stmt.Node.(*ast.DoStmt)
	if !ok {
		return nil, sqlerr.New(sqlerr.CodeParseError, sqlerr.User, "(%s) are no arguments of a function", list)
	}
	for _, e := range do.Exprs {
		v, err := st.Evaluate(e)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}
