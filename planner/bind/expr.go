package bind

import (
	"math"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// expr binds an expression in a scope. An error carries the position of the smallest expression that caused it.
func (b *Binder) expr(n ast.ExprNode, sc *scope) (expr.Expr, error) {
	if err := b.poll(); err != nil {
		return nil, err
	}
	e, err := b.exprNode(n, sc)
	if err != nil {
		return nil, b.at(err, n)
	}
	return e, nil
}

func (b *Binder) exprNode(n ast.ExprNode, sc *scope) (expr.Expr, error) {
	switch x := n.(type) {
	case *ast.ParenthesesExpr:
		return b.expr(x.Expr, sc)
	case *ast.ColumnNameExpr:
		return b.resolve(x.Name, sc)
	case *test_driver.ParamMarkerExpr, *test_driver.ValueExpr:
		if p, ok := n.(*test_driver.ParamMarkerExpr); ok && p.Order < len(b.Markers) {
			return b.Markers[p.Order], nil
		}
		v, err := b.paramOrLiteral(n)
		v.Type = v.Type.Collate(b.connection())
		return &expr.Const{Value: v}, err
	case *ast.BinaryOperationExpr:
		return b.binary(x, sc)
	case *ast.UnaryOperationExpr:
		return b.unary(x, sc)
	case *ast.BetweenExpr:
		return b.between(x, sc)
	case *ast.CaseExpr:
		return b.caseExpr(x, sc)
	case *ast.IsNullExpr:
		arg, err := b.expr(x.Expr, sc)
		if err != nil {
			return nil, err
		}
		return negateIf(x.Not, &expr.IsNull{Arg: arg}), nil
	case *ast.IsTruthExpr:
		arg, err := b.condition(x.Expr, sc)
		if err != nil {
			return nil, err
		}
		return negateIf(x.Not, expr.IsTruth(arg, x.True != 0)), nil
	case *ast.PatternInExpr:
		return b.in(x, sc)
	case *ast.PatternLikeOrIlikeExpr:
		return b.like(x, sc)
	case *ast.PatternRegexpExpr:
		args, err := b.exprs([]ast.ExprNode{x.Expr, x.Pattern}, sc)
		if err != nil {
			return nil, err
		}
		e, err := expr.NewCall("regexp_like", args...)
		return negateIf(x.Not, e), err
	case *ast.SubqueryExpr:
		return b.scalarSubquery(x, sc)
	case *ast.ExistsSubqueryExpr:
		return b.exists(x, sc)
	case *ast.CompareSubqueryExpr:
		return b.quantified(x, sc)
	case *ast.FuncCallExpr:
		return b.call(x, sc)
	case *ast.FuncCastExpr:
		return b.cast(x, sc)
	case *ast.AggregateFuncExpr:
		return b.aggregate(x, sc)
	case *ast.VariableExpr:
		return b.variable(x)
	case *ast.SetCollationExpr:
		return b.collate(x, sc)
	case *ast.WindowFuncExpr:
		return b.windowFunction(x, sc)
	case *ast.RowExpr:
		return nil, sqlerr.OperandColumns(1)
	case *ast.DefaultExpr:
		return nil, sqlerr.NotSupportedf("DEFAULT in an expression", "DEFAULT stands for a whole value in INSERT and UPDATE")
	case *ast.ValuesExpr:
		return b.insertedValue(x, sc)
	case *ast.MatchAgainst:
		return nil, sqlerr.NotSupportedf("MATCH ... AGAINST", "there is no full-text index; use LIKE or REGEXP")
	case *ast.PositionExpr:
		return nil, sqlerr.UnknownColumn(itoa(x.N), sc.clauseName(), "")
	}
	return nil, sqlerr.NotSupportedf("this expression", "%T", n)
}

func (b *Binder) exprs(ns []ast.ExprNode, sc *scope) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(ns))
	for i, n := range ns {
		var err error
		if out[i], err = b.expr(n, sc); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// paramOrLiteral returns the value of a literal or of a ? marker.
func (b *Binder) paramOrLiteral(n ast.ExprNode) (types.Value, error) {
	if p, ok := n.(*test_driver.ParamMarkerExpr); ok {
		if p.Order >= len(b.Params) {
			return types.Value{}, sqlerr.WrongArguments("EXECUTE").WithHint("the statement has a marker ? number %d, but %d values were given", p.Order+1, len(b.Params))
		}
		return b.Params[p.Order], nil
	}
	return parse.Literal(n)
}

func negateIf(not bool, e expr.Expr) expr.Expr {
	if not && e != nil {
		return &expr.Not{Arg: e}
	}
	return e
}

var comparisons = map[opcode.Op]expr.Op{
	opcode.EQ: expr.EQ, opcode.NE: expr.NE, opcode.LT: expr.LT, opcode.LE: expr.LE,
	opcode.GT: expr.GT, opcode.GE: expr.GE, opcode.NullEQ: expr.NSEQ,
}

// operators names the registry's function of each arithmetic and bit operator.
var operators = map[opcode.Op]string{
	opcode.Plus: "add", opcode.Minus: "sub", opcode.Mul: "mul", opcode.Div: "div", opcode.IntDiv: "intdiv",
	opcode.Mod: "mod", opcode.And: "bitand", opcode.Or: "bitor", opcode.Xor: "bitxor",
	opcode.LeftShift: "shl", opcode.RightShift: "shr",
}

func (b *Binder) binary(x *ast.BinaryOperationExpr, sc *scope) (expr.Expr, error) {
	switch x.Op {
	case opcode.LogicAnd, opcode.LogicOr:
		return b.logic(x, sc)
	case opcode.LogicXor:
		l, err := b.condition(x.L, sc)
		if err != nil {
			return nil, err
		}
		r, err := b.condition(x.R, sc)
		if err != nil {
			return nil, err
		}
		// XOR of truth values is their inequality, NULL if either is.
		return &expr.Compare{Op: expr.NE, Left: l, Right: r}, nil
	}
	if op, ok := comparisons[x.Op]; ok {
		return b.compare(op, x.L, x.R, sc)
	}
	name, ok := operators[x.Op]
	if !ok {
		return nil, sqlerr.NotSupportedf("this operator", "%s", x.Op)
	}
	l, err := b.number(x.L, sc)
	if err != nil {
		return nil, err
	}
	r, err := b.number(x.R, sc)
	if err != nil {
		return nil, err
	}
	return expr.NewCall(name, l, r)
}

// number binds an operand of arithmetic, where a hexadecimal or bit literal, a string elsewhere, is a number (MySQL
// manual, "Hexadecimal Literals").
func (b *Binder) number(n ast.ExprNode, sc *scope) (expr.Expr, error) {
	e, err := b.expr(n, sc)
	if err != nil {
		return nil, err
	}
	return expr.BitsFor(e, types.Uint64), nil
}

// logic binds a chain of ANDs or ORs into one node. The chain is walked in a loop: it may be 100,000 terms long.
func (b *Binder) logic(x *ast.BinaryOperationExpr, sc *scope) (expr.Expr, error) {
	var terms []ast.ExprNode
	op := x.Op
	var left ast.ExprNode = x
	for {
		l, ok := left.(*ast.BinaryOperationExpr)
		if !ok || l.Op != op {
			terms = append(terms, left)
			break
		}
		terms = append(terms, l.R)
		left = l.L
	}
	args := make([]expr.Expr, len(terms))
	for i, t := range terms {
		arg, err := b.condition(t, sc)
		if err != nil {
			return nil, err
		}
		args[len(terms)-1-i] = arg
	}
	if op == opcode.LogicAnd {
		return expr.AndOf(args), nil
	}
	return expr.OrOf(args), nil
}

func (b *Binder) compare(op expr.Op, l, r ast.ExprNode, sc *scope) (expr.Expr, error) {
	lrow, lIsRow := parse.WithoutParentheses(l).(*ast.RowExpr)
	rrow, rIsRow := parse.WithoutParentheses(r).(*ast.RowExpr)
	lsub, lIsSub := parse.WithoutParentheses(l).(*ast.SubqueryExpr)
	rsub, rIsSub := parse.WithoutParentheses(r).(*ast.SubqueryExpr)
	switch {
	case lIsRow && rIsRow:
		return b.compareRows(op, lrow, rrow, sc)
	case lIsRow && rIsSub:
		return b.compareRowSubquery(op, lrow, rsub, sc)
	case lIsSub && rIsRow:
		return b.compareRowSubquery(op.Swap(), rrow, lsub, sc)
	case lIsRow:
		return nil, sqlerr.OperandColumns(len(lrow.Values))
	}
	left, err := b.expr(l, sc)
	if err != nil {
		return nil, err
	}
	right, err := b.expr(r, sc)
	if err != nil {
		return nil, err
	}
	return expr.NewCompare(op, left, right)
}

// compareRows compares rows part by part; < and its kin are lexicographic (MySQL manual, "Comparison Functions").
func (b *Binder) compareRows(op expr.Op, l, r *ast.RowExpr, sc *scope) (expr.Expr, error) {
	if len(l.Values) != len(r.Values) {
		return nil, sqlerr.OperandColumns(len(l.Values))
	}
	left, err := b.exprs(l.Values, sc)
	if err != nil {
		return nil, err
	}
	right, err := b.exprs(r.Values, sc)
	if err != nil {
		return nil, err
	}
	e, err := compareParts(op, logical.MapEach(left, expr.Once), logical.MapEach(right, expr.Once))
	if err != nil {
		return nil, err
	}
	return expr.Whole(e), nil
}

func compareParts(op expr.Op, left, right []expr.Expr) (expr.Expr, error) {
	parts := func(op expr.Op) ([]expr.Expr, error) {
		out := make([]expr.Expr, len(left))
		for i := range left {
			var err error
			if out[i], err = expr.NewCompare(op, left[i], right[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	switch op {
	case expr.EQ, expr.NSEQ:
		eq, err := parts(op)
		return expr.AndOf(eq), err
	case expr.NE:
		ne, err := parts(op)
		return expr.OrOf(ne), err
	}
	// (a, b) < (c, d) is a < c OR (a = c AND b < d); the last part decides whether equality counts.
	strict := op
	if op == expr.LE {
		strict = expr.LT
	} else if op == expr.GE {
		strict = expr.GT
	}
	last := len(left) - 1
	acc, err := expr.NewCompare(op, left[last], right[last])
	if err != nil {
		return nil, err
	}
	for i := last - 1; i >= 0; i-- {
		less, err := expr.NewCompare(strict, left[i], right[i])
		if err != nil {
			return nil, err
		}
		eq, err := expr.NewCompare(expr.EQ, left[i], right[i])
		if err != nil {
			return nil, err
		}
		acc = expr.OrOf([]expr.Expr{less, expr.AndOf([]expr.Expr{eq, acc})})
	}
	return acc, nil
}

func (b *Binder) unary(x *ast.UnaryOperationExpr, sc *scope) (expr.Expr, error) {
	switch x.Op {
	case opcode.Not, opcode.Not2:
		arg, err := b.condition(x.V, sc)
		if err != nil {
			return nil, err
		}
		return &expr.Not{Arg: arg}, nil
	case opcode.Plus:
		return b.expr(x.V, sc)
	}
	arg, err := b.number(x.V, sc)
	if err != nil {
		return nil, err
	}
	if x.Op == opcode.BitNeg {
		return expr.NewCall("bitnot", arg)
	}
	if c, ok := arg.(*expr.Const); ok && !c.Value.Null && c.Value.Type == types.Uint64 && uint64(c.Value.I) == 1<<63 {
		return &expr.Const{Value: types.IntValue(c.Value.I)}, nil // -9223372036854775808 is a BIGINT
	}
	if b.beyondBigint(arg) {
		arg = castTo(arg, types.Decimal(20, 0))
	}
	return expr.NewCall("neg", arg)
}

// beyondBigint says whether e is a constant integer whose negative is no BIGINT: MySQL computes it as a DECIMAL (Item_func_neg::resolve_type).
// That of a column is out of range.
func (b *Binder) beyondBigint(e expr.Expr) bool {
	t := e.Type()
	if c, ok := e.(*expr.Const); ok {
		return !c.Value.Null && (t == types.Int64 && c.Value.I == math.MinInt64 || t == types.Uint64 && c.Value.I < 0)
	}
	if b.Ctx == nil || t != types.Int64 && t != types.Uint64 || expr.HasSubquery(e) || expr.IsVolatile(e) {
		return false
	}
	constant := true
	expr.Columns(e, func(expr.ColumnID) { constant = false })
	if !constant {
		return false
	}
	quiet := *b.Ctx
	quiet.Warnings = &sqlerr.Warnings{} // it is computed again when the statement runs
	v, err := expr.Eval1(e, &quiet)
	if err != nil || v.Null {
		return false
	}
	return t == types.Int64 && v.I == math.MinInt64 || t == types.Uint64 && v.I < 0
}

func (b *Binder) between(x *ast.BetweenExpr, sc *scope) (expr.Expr, error) {
	if row, ok := parse.WithoutParentheses(x.Expr).(*ast.RowExpr); ok {
		return nil, sqlerr.OperandColumns(len(row.Values))
	}
	args, err := b.exprs([]ast.ExprNode{x.Expr, x.Left, x.Right}, sc)
	if err != nil {
		return nil, err
	}
	e, err := expr.NewBetween(args[0], args[1], args[2])
	return negateIf(x.Not, e), err
}

func (b *Binder) caseExpr(x *ast.CaseExpr, sc *scope) (expr.Expr, error) {
	var operand expr.Expr
	var err error
	if x.Value != nil {
		if operand, err = b.expr(x.Value, sc); err != nil {
			return nil, err
		}
		operand = expr.Once(operand)
	}
	whens := make([]expr.When, len(x.WhenClauses))
	for i, w := range x.WhenClauses {
		if operand == nil {
			whens[i].Cond, err = b.condition(w.Expr, sc)
		} else {
			var v expr.Expr
			if v, err = b.expr(w.Expr, sc); err == nil {
				whens[i].Cond, err = expr.NewCompare(expr.EQ, operand, v)
			}
		}
		if err != nil {
			return nil, err
		}
		if whens[i].Then, err = b.expr(w.Result, sc); err != nil {
			return nil, err
		}
	}
	var otherwise expr.Expr
	if x.ElseClause != nil {
		if otherwise, err = b.expr(x.ElseClause, sc); err != nil {
			return nil, err
		}
	}
	return expr.NewCase(whens, otherwise)
}

func (b *Binder) in(x *ast.PatternInExpr, sc *scope) (expr.Expr, error) {
	if x.Sel != nil {
		return b.inSubquery(x, sc)
	}
	if row, ok := parse.WithoutParentheses(x.Expr).(*ast.RowExpr); ok {
		return b.inRows(row, x, sc)
	}
	arg, err := b.expr(x.Expr, sc)
	if err != nil {
		return nil, err
	}
	list, err := b.exprs(x.List, sc)
	if err != nil {
		return nil, err
	}
	e, err := expr.NewIn(b.Ctx, arg, list)
	return negateIf(x.Not, e), err
}

func (b *Binder) inRows(row *ast.RowExpr, x *ast.PatternInExpr, sc *scope) (expr.Expr, error) {
	left, err := b.exprs(row.Values, sc)
	if err != nil {
		return nil, err
	}
	left = logical.MapEach(left, expr.Once)
	const partBytes = 1 << 9 // of a comparison with its literal, bound and planned
	alternatives := make([]expr.Expr, len(x.List))
	for i, item := range x.List {
		if err := b.Ctx.Hold(partBytes * len(left)); err != nil {
			return nil, err
		}
		r, ok := parse.WithoutParentheses(item).(*ast.RowExpr)
		if !ok || len(r.Values) != len(left) {
			return nil, b.at(sqlerr.OperandColumns(len(left)), item)
		}
		right, err := b.exprs(r.Values, sc)
		if err != nil {
			return nil, err
		}
		if alternatives[i], err = compareParts(expr.EQ, left, right); err != nil {
			return nil, err
		}
	}
	return negateIf(x.Not, expr.Whole(expr.OrOf(alternatives))), nil
}

func (b *Binder) like(x *ast.PatternLikeOrIlikeExpr, sc *scope) (expr.Expr, error) {
	args, err := b.exprs([]ast.ExprNode{x.Expr, x.Pattern}, sc)
	if err != nil {
		return nil, err
	}
	if !x.IsLike {
		return nil, sqlerr.NotSupportedf("ILIKE", "use LOWER(a) LIKE LOWER(b)")
	}
	e, err := expr.NewLike(args[0], args[1], escapeOf(x))
	return negateIf(x.Not, e), err
}

// escapeOf returns LIKE's escape character as an operand.
func escapeOf(x *ast.PatternLikeOrIlikeExpr) expr.Expr {
	if x.EscapeExplicit && x.Escape == 0 {
		return &expr.Const{Value: types.StringValue("")}
	}
	return &expr.Const{Value: types.StringValue(string(rune(x.Escape)))}
}

func (b *Binder) cast(x *ast.FuncCastExpr, sc *scope) (expr.Expr, error) {
	arg, err := b.expr(x.Expr, sc)
	if err != nil {
		return nil, err
	}
	to, err := castType(x.Tp, arg.Type())
	if err != nil {
		return nil, err
	}
	if c, ok := arg.(*expr.Const); ok && to.IsString() { // it is a string from then on
		arg = &expr.Const{Value: c.Value}
		arg.(*expr.Const).Value.IsBits = false
	}
	if arg.Type().IsBinaryString() && to.IsString() && !to.IsBinaryString() { // bytes become characters as CONVERT ... USING makes them
		if arg, err = expr.NewCall("convert", arg, &expr.Const{Value: types.StringValue("utf8mb4")}); err != nil {
			return nil, err
		}
	}
	c := expr.NewCast(arg, to.Collate(b.connection()))
	if c, ok := c.(*expr.Cast); ok && c != arg {
		c.Written = true
	}
	return c, nil
}

func (b *Binder) variable(x *ast.VariableExpr) (expr.Expr, error) {
	if x.Value != nil {
		return nil, sqlerr.NotSupportedf("@name := value", "use SET @name = value")
	}
	if b.Ctx.Variables != nil {
		if x.IsSystem {
			if v, ok := b.Ctx.Variables.SystemVariable(x.Name); ok {
				return b.systemVariable(v), nil
			}
			return nil, sqlerr.UnknownVariable(x.Name, b.Ctx.Variables.Suggest(x.Name))
		}
		if v, ok := b.Ctx.Variables.UserVariable(x.Name); ok {
			return b.userVariable(v), nil
		}
	}
	return &expr.Const{Value: types.NullOf(types.Text)}, nil
}

func itoa(n int) string { return strconv.Itoa(n) }

// castTo converts e to type t where it is not of that type already.
func castTo(e expr.Expr, t types.Type) expr.Expr {
	if e.Type() == t {
		return e
	}
	if c, ok := e.(*expr.Const); ok && c.Value.Null {
		return &expr.Const{Value: types.NullOf(t)}
	}
	return &expr.Cast{Arg: expr.BitsFor(e, t), To: t}
}

func commonType(a, b types.Type) types.Type { return types.CommonType(a, b) }
