package rules

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

const simplifyPredicatesDoc = `Simplify conditions by three-valued logic.

Drops TRUE, FALSE and duplicates, pushes NOT down to comparisons, merges ranges and lists over one operand, finds contradictions,
unwraps exact casts, drops CASE arms that are never taken. Two modes: where only TRUE counts (WHERE, ON, CASE WHEN), NULL may become FALSE; elsewhere it may not, or
  SELECT a > 5 AND a < 3 FROM t
would give 0 where a is NULL.`

func simplifyPredicates(w *rewriter) error {
	s := simplifier{w: w, fold: w.fold}
	w.eachNode(func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			preds := s.conjuncts(x.Preds)
			if sameExprs(preds, x.Preds) {
				return n
			}
			if len(preds) == 0 {
				return x.Input
			}
			return &logical.Filter{Input: x.Input, Preds: preds}
		case *logical.Scan:
			preds := s.conjuncts(x.Filter)
			if sameExprs(preds, x.Filter) {
				return n
			}
			return x.WithExprs(preds)
		case *logical.Join:
			on := x.On
			if x.Kind == logical.MarkJoin {
				// The comparison of a mark join makes NULLs that matter.
				on = logical.MapEach(on, s.value)
			} else {
				on = s.conjuncts(on)
			}
			corr := s.conjuncts(x.Corr)
			if sameExprs(on, x.On) && sameExprs(corr, x.Corr) {
				return n
			}
			return &logical.Join{Kind: x.Kind, Left: x.Left, Right: x.Right, On: on, Corr: corr, Mark: x.Mark, Hint: x.Hint}
		}
		return logical.MapExprs(n, s.value)
	})
	return nil
}

func sameExprs(a, b []expr.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// simplifier holds what simplification needs to know of the statement.
type simplifier struct {
	w    *rewriter
	fold *expr.Context
}

// conjuncts simplifies a list of conditions that must all be TRUE. It returns the list itself if nothing changed, and
// FALSE alone if they cannot be.
func (s simplifier) conjuncts(preds []expr.Expr) []expr.Expr {
	switch len(preds) {
	case 0:
		return preds
	case 1:
		e := s.cond(preds[0], true)
		switch {
		case isTrue(e):
			return nil
		case e == preds[0]:
			return preds
		}
		return expr.Conjuncts(nil, e)
	}
	e := s.and(&expr.And{Args: preds}, true)
	a, ok := e.(*expr.And)
	switch {
	case ok && sameExprs(a.Args, preds):
		return preds
	case isTrue(e):
		return nil
	}
	return expr.Conjuncts(nil, e)
}

// value simplifies an expression whose NULL must stay.
func (s simplifier) value(e expr.Expr) expr.Expr { return s.expr(e, false) }

// cond simplifies a condition; with nullIsFalse its NULL may become FALSE.
func (s simplifier) cond(e expr.Expr, nullIsFalse bool) expr.Expr { return s.expr(e, nullIsFalse) }

func (s simplifier) expr(e expr.Expr, nullIsFalse bool) expr.Expr {
	switch x := e.(type) {
	case *expr.Column:
		return e
	case *expr.Const:
		if nullIsFalse && x.Value.Null {
			return expr.False
		}
		return e
	case *expr.And:
		return s.and(x, nullIsFalse)
	case *expr.Or:
		return s.or(x, nullIsFalse)
	case *expr.Not:
		return s.not(x, nullIsFalse)
	case *expr.Compare:
		return s.compare(x, nullIsFalse)
	case *expr.In:
		return s.in(x, nullIsFalse)
	case *expr.IsNull:
		arg := s.value(x.Arg)
		if !arg.Nullable() {
			return expr.False
		}
		if arg == x.Arg {
			return e
		}
		return &expr.IsNull{Arg: arg}
	case *expr.Case:
		return s.caseOf(x)
	case *expr.Call:
		if x.Fn.Name == "any_value" && x.Typ == x.Args[0].Type() { // once rows are grouped it is its operand
			return s.expr(x.Args[0], nullIsFalse)
		}
	}
	children := e.Children()
	if mapped := logical.MapEach(children, s.value); len(children) > 0 && &mapped[0] != &children[0] {
		return e.WithChildren(mapped)
	}
	return e
}

func isTrue(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && !c.Value.Null && c.Value.Type.Kind == types.KindBool && c.Value.I != 0
}

func isFalse(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && !c.Value.Null && c.Value.Type.Kind == types.KindBool && c.Value.I == 0
}

func isNullConst(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.Value.Null
}

var nullBool = &expr.Const{Value: types.NullOf(types.Bool)}

func (s simplifier) and(x *expr.And, nullIsFalse bool) expr.Expr {
	args := make([]expr.Expr, 0, len(x.Args))
	changed := false
	var seen expr.Set
	for _, a := range x.Args {
		if s.w.stopped() {
			return x
		}
		r := s.cond(a, nullIsFalse)
		changed = changed || r != a
		if isFalse(r) {
			return expr.False
		}
		_, nested := r.(*expr.And)
		changed = changed || nested
		for _, c := range expr.Conjuncts(nil, r) {
			if isTrue(c) || !seen.Add(c) {
				changed = true
				continue
			}
			args = append(args, c)
		}
	}
	if merged, ok := s.mergeRanges(args, nullIsFalse); ok {
		args, changed = merged, true
	}
	if changed {
		return expr.AndOf(args)
	}
	return x
}

func contains(es []expr.Expr, e expr.Expr) bool {
	for _, o := range es {
		if expr.Equal(o, e) {
			return true
		}
	}
	return false
}

func (s simplifier) or(x *expr.Or, nullIsFalse bool) expr.Expr {
	args := make([]expr.Expr, 0, len(x.Args))
	changed := false
	var seen expr.Set
	var add func(r expr.Expr) bool
	add = func(r expr.Expr) bool {
		switch {
		case isTrue(r):
			return false
		case isFalse(r):
			changed = true
			return true
		}
		if o, ok := r.(*expr.Or); ok {
			changed = true
			for _, a := range o.Args {
				if !add(a) {
					return false
				}
			}
			return true
		}
		if !seen.Add(r) {
			changed = true
			return true
		}
		args = append(args, r)
		return true
	}
	for _, a := range x.Args {
		if s.w.stopped() {
			return x
		}
		r := s.cond(a, nullIsFalse)
		changed = changed || r != a
		if !add(r) {
			return expr.True
		}
	}
	if merged, ok := s.w.mergeEqualities(args); ok {
		args, changed = merged, true
	}
	if merged, ok := equalOrBothNull(args); ok && nullIsFalse {
		args, changed = merged, true
	}
	if changed {
		return expr.OrOf(args)
	}
	return x
}

// equalOrBothNull puts a <=> b in the place of a = b OR (a IS NULL AND b IS NULL), which a join can look up. Where only one of a and b is NULL
// the one is FALSE and the other NULL.
func equalOrBothNull(args []expr.Expr) (merged []expr.Expr, ok bool) {
	isNull := func(e expr.Expr) expr.Expr {
		if n, is := e.(*expr.IsNull); is {
			return n.Arg
		}
		return nil
	}
	for i, a := range args {
		and, isAnd := a.(*expr.And)
		if !isAnd || len(and.Args) != 2 {
			continue
		}
		x, y := isNull(and.Args[0]), isNull(and.Args[1])
		if x == nil || y == nil || expr.IsVolatile(x) || expr.IsVolatile(y) {
			continue
		}
		for j, b := range args {
			c, is := b.(*expr.Compare)
			if !is || c.Op != expr.EQ || !(expr.Equal(c.Left, x) && expr.Equal(c.Right, y) || expr.Equal(c.Left, y) && expr.Equal(c.Right, x)) {
				continue
			}
			merged = slices.Clone(args)
			merged[j] = &expr.Compare{Op: expr.NSEQ, Left: c.Left, Right: c.Right}
			return slices.Delete(merged, i, i+1), true
		}
	}
	return args, false
}

func (s simplifier) not(x *expr.Not, nullIsFalse bool) expr.Expr {
	if n := negate(x.Arg); n != nil {
		return s.cond(n, nullIsFalse)
	}
	arg := s.value(x.Arg)
	if arg != x.Arg {
		if n := negate(arg); n != nil {
			return s.cond(n, nullIsFalse)
		}
	}
	if in, ok := arg.(*expr.In); ok && nullIsFalse && in.HasNull {
		return expr.False // x NOT IN (.., NULL) is FALSE or NULL
	}
	if arg == x.Arg {
		return x
	}
	return &expr.Not{Arg: arg}
}

// negate returns NOT e without a NOT at its head, or nil where there is no such form.
func negate(e expr.Expr) expr.Expr {
	switch x := e.(type) {
	case *expr.Not:
		return x.Arg
	case *expr.Const:
		if x.Value.Null {
			return nullBool
		}
		if x.Value.I == 0 {
			return expr.True
		}
		return expr.False
	case *expr.Compare:
		if op, ok := x.Op.Negate(); ok {
			return &expr.Compare{Op: op, Left: x.Left, Right: x.Right}
		}
	case *expr.And:
		return &expr.Or{Args: negateAll(x.Args)}
	case *expr.Or:
		return &expr.And{Args: negateAll(x.Args)}
	}
	return nil
}

func negateAll(es []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		if out[i] = negate(e); out[i] == nil {
			out[i] = &expr.Not{Arg: e}
		}
	}
	return out
}

// caseOf drops arms whose condition is never TRUE and whatever follows one that always is.
func (s simplifier) caseOf(x *expr.Case) expr.Expr {
	whens := make([]expr.When, 0, len(x.Whens))
	changed := false
	elseExpr := x.Else
	if elseExpr != nil {
		elseExpr = s.value(elseExpr)
		changed = elseExpr != x.Else
	}
	for _, w := range x.Whens {
		cond := s.cond(w.Cond, true)
		if isFalse(cond) {
			changed = true
			continue
		}
		then := s.value(w.Then)
		if isTrue(cond) {
			elseExpr, changed = then, true
			break
		}
		changed = changed || cond != w.Cond || then != w.Then
		whens = append(whens, expr.When{Cond: cond, Then: then})
	}
	if !changed {
		return x
	}
	if len(whens) == 0 {
		if elseExpr == nil {
			return &expr.Const{Value: types.NullOf(x.Typ)}
		}
		return elseExpr
	}
	return &expr.Case{Whens: whens, Else: elseExpr, Typ: x.Typ}
}
