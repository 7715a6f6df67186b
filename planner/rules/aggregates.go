package rules

import (
	"strings"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// The aggregates that rules put into plans.
var (
	countStar   = &expr.Aggregate{Kind: expr.AggCountStar, Name: "count"}
	countValues = &expr.Aggregate{Kind: expr.AggCount, Name: "count"}
	sumValues   = &expr.Aggregate{Kind: expr.AggSum, Name: "sum", EmptyIsNull: true}
	minimum     = &expr.Aggregate{Kind: expr.AggMin, Name: "min", EmptyIsNull: true}
	maximum     = &expr.Aggregate{Kind: expr.AggMax, Name: "max", EmptyIsNull: true}
	anyValue    = &expr.Aggregate{Kind: expr.AggAnyValue, Name: "any_value", EmptyIsNull: true}
)

func (w *rewriter) newAgg(fn *expr.Aggregate, name string, args ...expr.Expr) logical.AggItem {
	t, null := types.Int64, fn.EmptyIsNull
	if fn.EmptyIsNull {
		t = args[0].Type()
	}
	return logical.AggItem{Col: w.alloc.New("", name, t, null), Fn: fn, Args: args}
}

// nameOf is what messages call an aggregate.
func nameOf(fn *expr.Aggregate, args []expr.Expr) string {
	if fn.Kind == expr.AggCountStar {
		return "count(*)"
	}
	texts := make([]string, len(args))
	for i, e := range args {
		texts[i] = e.String()
	}
	return fn.Name + "(" + strings.Join(texts, ", ") + ")"
}

// emptyValue is the aggregate's value over no rows.
func emptyValue(a logical.AggItem) expr.Expr {
	v := types.Value{Type: a.Col.Typ}
	if a.Fn.Kind == expr.AggBitAnd {
		v.I = -1
	}
	if a.Fn.EmptyIsNull {
		v = types.NullOf(a.Col.Typ)
	}
	return &expr.Const{Value: v}
}

// nullOf is a NULL of c's type.
func nullOf(c *expr.Column) expr.Expr { return &expr.Const{Value: types.NullOf(c.Typ)} }
