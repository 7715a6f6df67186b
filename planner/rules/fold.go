package rules

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

const foldConstantsDoc = `Compute constant expressions once, while planning.

Legal because the evaluator itself computes them, over one row, and leaves alone what is volatile or fails: in
  SELECT IF(a = 0, 0, 1/0) FROM t
the division must not fail, or warn, before a row reaches it.`

func foldConstants(w *rewriter) error {
	if w.fold == nil {
		return nil
	}
	fold := func(e expr.Expr) expr.Expr {
		if w.stopped() || !foldable(e) {
			return e
		}
		return expr.Fold(e, w.fold)
	}
	w.eachNode(func(n logical.Node) logical.Node { return logical.MapExprs(n, fold) })
	return nil
}

// foldable says whether somewhere in e an operator has only constants for operands. It is cheap, and mostly false.
func foldable(e expr.Expr) bool {
	switch x := e.(type) {
	case *expr.Column, *expr.Const, *expr.Subquery:
		return false
	case *expr.Compare:
		return isConst(x.Left) && isConst(x.Right) || foldable(x.Left) || foldable(x.Right)
	}
	children := e.Children()
	all := true
	for _, c := range children {
		if isConst(c) {
			continue
		}
		if foldable(c) {
			return true
		}
		all = false
	}
	return all
}

func isConst(e expr.Expr) bool {
	_, ok := e.(*expr.Const)
	return ok
}
