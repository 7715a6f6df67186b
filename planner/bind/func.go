package bind

import (
	"math"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// literalPrefix is what the parser puts before the names dateliteral, timeliteral and timestampliteral, as which it reads
// DATE '2020-01-01' and its kin.
const literalPrefix = "'tidb`.("

// call binds a function call. Keywords among the operands (interval units, TRIM's direction) become constant strings.
func (b *Binder) call(x *ast.FuncCallExpr, sc *scope) (expr.Expr, error) {
	name := strings.TrimPrefix(x.FnName.L, literalPrefix)
	if x.Schema.O != "" {
		return nil, sqlerr.UnknownFunction(x.Schema.O+"."+x.FnName.O, "")
	}
	if name == "grouping" {
		return b.groupingFunction(x, sc)
	}
	if b.Ctx != nil && b.Ctx.Added != nil && expr.Lookup(name) == nil {
		if row, finish := b.Ctx.Added.Aggregate(name); row != nil {
			if err := b.effects(row); err != nil {
				return nil, err
			}
			return b.addedAggregate(x, row, finish, sc)
		}
	}
	if fn, part := calledAggregate(name); fn != nil {
		return b.bindCalled(x, fn, part, sc)
	}
	args := make([]expr.Expr, len(x.Args))
	for i, a := range x.Args {
		var err error
		switch k := a.(type) {
		case *ast.TimeUnitExpr:
			unit := k.Unit.String()
			args[i] = &expr.Const{Value: types.StringValue(unit)}
			if i > 0 && !strings.Contains(unit, "_") { // '1 2' of DAY_HOUR and its kin is a string
				args[i-1] = expr.BitsFor(args[i-1], types.Int64)
			}
		case *ast.TrimDirectionExpr:
			args[i] = &expr.Const{Value: types.StringValue(k.Direction.String())}
		case *ast.GetFormatSelectorExpr:
			args[i] = &expr.Const{Value: types.StringValue(k.Selector.String())}
		default:
			args[i], err = b.expr(a, sc)
		}
		if err != nil {
			return nil, err
		}
	}
	if name == "timestampadd" && len(args) > 1 {
		args[1] = expr.BitsFor(args[1], types.Int64)
	}
	if b.Ctx == nil {
		return expr.NewCall(name, args...)
	}
	if err := b.effects(expr.Find(b.Ctx.Added, name)); err != nil {
		return nil, err
	}
	e, err := expr.NewCallIn(b.Ctx.Added, name, args...)
	return b.connected(e), err
}

// effects tells the statement of a function that has effects; nil: there is no such function.
func (b *Binder) effects(fn *expr.Function) error {
	if fn == nil || !fn.HasEffects || b.Ctx.Effects == nil {
		return nil
	}
	return b.Ctx.Effects()
}

// aggregate binds an aggregate function: it belongs to the innermost query whose columns it uses (SQL:1999, 6.16), and
// to the query that it stands in if it uses none.
func (b *Binder) aggregate(x *ast.AggregateFuncExpr, sc *scope) (expr.Expr, error) {
	inside := sc.within(sc.clause)
	inside.noAggregates = true
	inside.prefer, inside.listed, inside.windows = inside.prefer.inside(), nil, nil
	nodes := x.Args
	name := strings.ToLower(x.F)
	item := logical.AggItem{Distinct: x.Distinct, Sep: ","}
	if name == "group_concat" && len(nodes) > 0 {
		// The parser puts the separator last.
		sep, err := b.paramOrLiteral(nodes[len(nodes)-1])
		if err != nil {
			return nil, err
		}
		item.Sep = sep.S
		nodes = nodes[:len(nodes)-1]
	}
	isCountStar := name == "count" && len(nodes) == 1 && isStar(nodes[0]) && !x.Distinct
	var args []expr.Expr
	if !isCountStar {
		var err error
		if args, err = b.exprs(nodes, inside); err != nil {
			return nil, err
		}
	}
	if name == "json_arrayagg" || name == "json_objectagg" {
		return b.jsonAggregate(name, args, sc)
	}
	if x.Order != nil {
		for _, by := range x.Order.Items {
			e, err := b.orderInside(by.Expr, args, inside)
			if err != nil {
				return nil, err
			}
			item.OrderBy = append(item.OrderBy, logical.SortKey{Expr: e, Desc: by.Desc})
		}
	}
	item.Fn = expr.LookupAggregate(name)
	if isCountStar {
		item.Fn = expr.LookupAggregate("count(*)")
	}
	if item.Fn == nil {
		return nil, sqlerr.UnknownFunction(x.F, "")
	}
	if name == "group_concat" && len(args) > 1 && !x.Distinct { // rows are distinct if one of the operands is
		joined, err := expr.NewCall("concat", args...)
		if err != nil {
			return nil, err
		}
		args = []expr.Expr{joined}
	}
	return b.addAggregate(item, args, sc)
}

// jsonAggregate binds JSON_ARRAYAGG and JSON_OBJECTAGG: each row's array or object without its brackets, joined as GROUP_CONCAT joins
// strings, within brackets. JSON_EXTRACT gives an object its normal form, in which the last of equal keys counts; an array has it.
func (b *Binder) jsonAggregate(name string, args []expr.Expr, sc *scope) (expr.Expr, error) {
	wrap, form := "json_array", logical.JSONArray
	if name == "json_objectagg" {
		wrap, form = "json_object", logical.JSONObject
	}
	number := func(n int64) expr.Expr { return &expr.Const{Value: types.IntValue(n)} }
	var err error
	call := func(name string, args ...expr.Expr) expr.Expr {
		if err != nil {
			return nil
		}
		var e expr.Expr
		e, err = expr.NewCall(name, args...)
		return e
	}
	one := call(wrap, args...)
	inside := call("substring", one, number(2), call("sub", call("char_length", one), number(2)))
	if err != nil {
		return nil, err
	}
	document, err := b.addAggregate(logical.AggItem{Fn: expr.LookupAggregate("group_concat"), Sep: ", ", Form: form}, []expr.Expr{inside}, sc)
	if err != nil || form == logical.JSONArray {
		return document, err
	}
	return expr.NewCall("json_extract", document, &expr.Const{Value: types.StringValue("$")})
}

// addAggregate gives an aggregate over args to the query that evaluates it.
func (b *Binder) addAggregate(item logical.AggItem, args []expr.Expr, sc *scope) (expr.Expr, error) {
	sig, err := item.Fn.Resolve(args)
	if err != nil {
		return nil, err
	}
	if item.Form == logical.JSONArray || item.Form == logical.JSONObject {
		sig.Result = types.JSON // whose DECIMALs keep their digits
	}
	switch item.Fn.Kind {
	case expr.AggMin, expr.AggMax, expr.AggAnyValue, expr.AggBitAnd, expr.AggBitOr:
		item.Distinct = false // duplicates change nothing
	}
	owner := b.owner(args, item.OrderBy, sc)
	if owner == nil || owner.grouped == nil || owner.noAggregates {
		return nil, sqlerr.InvalidGroupFunc()
	}
	if e := b.addLong(item, args, sig, owner.grouped); e != nil {
		return e, nil
	}
	for i, t := range sig.Args {
		if t.Kind == types.KindNull {
			continue
		}
		if t.Kind != types.KindDecimal && t.IsNumeric() && !item.Distinct {
			args[i] = expr.WithHiddenDigits(args[i])
		}
		args[i] = castTo(args[i], t)
	}
	args, value, err := collatedOperands(item.Fn, item.Distinct, args, &sig)
	if err != nil {
		return nil, err
	}
	item.Args = args
	sortByKeys(item.OrderBy)
	return value(owner.grouped.add(item, sig)), nil
}

// calledAggregate returns the aggregate that a call of a function means; nil: none. part is what MEDIAN and QUANTILE leave out, or NaN.
func calledAggregate(name string) (fn *expr.Aggregate, part float64) {
	part = math.NaN()
	switch name {
	case "median":
		name, part = "quantile_cont", 0.5
	case "quantile":
		name = "quantile_disc"
	}
	if fn = expr.LookupAggregate(name); fn == nil || !fn.Called {
		return nil, 0
	}
	return fn, part
}

// bindCalled binds such a call. The part that a quantile asks for becomes a constant.
func (b *Binder) bindCalled(x *ast.FuncCallExpr, fn *expr.Aggregate, part float64, sc *scope) (expr.Expr, error) {
	inside := sc.within(sc.clause)
	inside.noAggregates = true
	inside.prefer, inside.listed, inside.windows = inside.prefer.inside(), nil, nil
	nodes := x.Args
	if fn.Constants() > 0 && part != part {
		if len(nodes) != 2 {
			return nil, sqlerr.WrongParamCount(x.FnName.L)
		}
		v, err := b.paramOrLiteral(nodes[1])
		if err != nil {
			return nil, err
		}
		v, _ = types.Cast(v, types.Double)
		if v.Null || !(v.F >= 0 && v.F <= 1) {
			return nil, b.at(sqlerr.WrongArguments(x.FnName.L).WithHint("the part is a number from 0 to 1: QUANTILE_CONT(a, 0.9)"), nodes[1])
		}
		nodes, part = nodes[:1], v.F
	}
	args, err := b.exprs(nodes, inside)
	if err != nil {
		return nil, err
	}
	if fn.Constants() > 0 {
		args = append(args, &expr.Const{Value: types.FloatValue(part)})
	}
	return b.addAggregate(logical.AggItem{Fn: fn, Sep: ","}, args, sc)
}

// addedAggregate binds a call of an aggregate function of the program's own: its rows are joined as GROUP_CONCAT joins strings, and
// its result is computed from them.
func (b *Binder) addedAggregate(x *ast.FuncCallExpr, row, finish *expr.Function, sc *scope) (expr.Expr, error) {
	inside := sc.within(sc.clause)
	inside.noAggregates = true
	inside.prefer, inside.listed, inside.windows = inside.prefer.inside(), nil, nil
	args, err := b.exprs(x.Args, inside)
	if err != nil {
		return nil, err
	}
	one, err := expr.Apply(row, args...)
	if err != nil {
		return nil, err
	}
	all, err := b.addAggregate(logical.AggItem{Fn: expr.LookupAggregate("group_concat"), Form: logical.WholeString}, []expr.Expr{one}, sc)
	if err != nil {
		return nil, err
	}
	return expr.Apply(finish, all)
}

// isStar says whether COUNT's operand is the *, which the parser turns into the literal 1; COUNT(1) is the same.
func isStar(n ast.ExprNode) bool {
	v, ok := n.(ast.ValueExpr)
	return ok && v.GetValue() != nil
}

// orderInside binds an ORDER BY item of GROUP_CONCAT; a position names an operand.
func (b *Binder) orderInside(n ast.ExprNode, args []expr.Expr, sc *scope) (expr.Expr, error) {
	if p, ok := n.(*ast.PositionExpr); ok {
		i, err := b.position(p, len(args), "order clause")
		if err != nil {
			return nil, err
		}
		return args[i], nil
	}
	return b.expr(n, sc)
}

// owner returns the scope of the query that evaluates an aggregate over args.
func (b *Binder) owner(args []expr.Expr, keys []logical.SortKey, sc *scope) *scope {
	used := map[expr.ColumnID]bool{}
	collect := func(e expr.Expr) {
		expr.Columns(e, func(id expr.ColumnID) { used[id] = true })
	}
	for _, a := range args {
		collect(a)
	}
	for _, k := range keys {
		collect(k.Expr)
	}
	if len(used) == 0 {
		return sc
	}
	for s := sc; s != nil; s = s.parent {
		for _, c := range s.cols {
			if used[c.col.ID] {
				return s
			}
		}
	}
	return sc
}
