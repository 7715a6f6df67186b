package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// This file merges conditions over one operand: ranges and lists under AND, equalities and lists under OR.

// compareValues orders two values of one representation that are not NULL.
func compareValues(a, b types.Value) int {
	switch a.Type.Phys() {
	case types.PhysUint64:
		return cmp.Compare(uint64(a.I), uint64(b.I))
	case types.PhysFloat64:
		return types.CompareFloats(a.F, b.F)
	case types.PhysInt128:
		return a.D.Cmp(b.D)
	case types.PhysString:
		return strings.Compare(a.S, b.S)
	}
	return cmp.Compare(a.I, b.I)
}

// alike says whether two values can be ordered by their representation.
func alike(a, b types.Type) bool {
	return a.Phys() == b.Phys() && (a.Kind == b.Kind || a.Kind != types.KindDecimal && b.Kind != types.KindDecimal) &&
		(a.Kind != types.KindDecimal || a.Scale == b.Scale)
}

// bound is a comparison of an operand with a constant, the constant on the right.
type bound struct {
	arg  expr.Expr
	op   expr.Op
	val  types.Value
	list *expr.In // instead of op and val
}

func boundOf(e expr.Expr) (bound, bool) {
	switch x := e.(type) {
	case *expr.Compare:
		c, ok := x.Right.(*expr.Const)
		if ok && !c.Value.Null && x.Op != expr.NSEQ && x.Op != expr.NE && !isConst(x.Left) && alike(x.Left.Type(), c.Value.Type) {
			return bound{arg: x.Left, op: x.Op, val: c.Value}, true
		}
	case *expr.In:
		if !x.HasNull && !isConst(x.Arg) {
			return bound{arg: x.Arg, list: x}, true
		}
	}
	return bound{}, false
}

// mergeRanges intersects the conditions of args that bound one operand. It reports whether it changed anything.
func (s simplifier) mergeRanges(args []expr.Expr, nullIsFalse bool) ([]expr.Expr, bool) {
	if len(args) < 2 {
		return args, false
	}
	changed := false
	operands := boundOperands(args)
	for i := 0; i < len(args) && !s.w.stopped(); i++ {
		a, ok := boundOf(args[i])
		if !ok {
			continue
		}
		for k := i + 1; k < len(args); k++ {
			if operands[k] != operands[i] {
				continue
			}
			b, ok := boundOf(args[k])
			if !ok || !expr.Equal(a.arg, b.arg) || expr.IsVolatile(a.arg) {
				continue
			}
			kept, isContradiction := intersect(a, b)
			if isContradiction {
				if nullIsFalse || !a.arg.Nullable() {
					return []expr.Expr{expr.False}, true
				}
				continue
			}
			if kept == nil {
				continue
			}
			if !changed {
				args, changed = append([]expr.Expr(nil), args...), true
			}
			args[i] = kept
			args, operands = append(args[:k], args[k+1:]...), append(operands[:k], operands[k+1:]...)
			if a, ok = boundOf(kept); !ok {
				break
			}
			k = i // the merged bound may meet earlier ones again
		}
	}
	return args, changed
}

// boundOperands returns for each condition the hash of what it bounds, or 0.
func boundOperands(args []expr.Expr) []uint64 {
	out := make([]uint64, len(args))
	for i, e := range args {
		if b, ok := boundOf(e); ok {
			out[i] = expr.Hash(b.arg)
		}
	}
	return out
}

// intersect returns the one condition that says both, or nil if there is none.
func intersect(a, b bound) (kept expr.Expr, isContradiction bool) {
	if b.list != nil && a.list == nil {
		a, b = b, a
	}
	if a.list != nil {
		return intersectList(a.list, b)
	}
	if !alike(a.val.Type, b.val.Type) {
		return nil, false
	}
	if b.op == expr.EQ {
		a, b = b, a
	}
	if a.op == expr.EQ {
		if !satisfies(a.val, b) {
			return nil, true
		}
		return a.expr(), false
	}
	c := compareValues(a.val, b.val)
	aLower, bLower := a.op == expr.GT || a.op == expr.GE, b.op == expr.GT || b.op == expr.GE
	if aLower == bLower {
		switch {
		case c == 0 && (a.op == expr.GT || a.op == expr.LT), c > 0 && aLower, c < 0 && !aLower:
			return a.expr(), false
		}
		return b.expr(), false
	}
	if bLower {
		a, b, c = b, a, -c
	}
	// a is a lower bound, b an upper one.
	switch {
	case c > 0, c == 0 && (a.op == expr.GT || b.op == expr.LT):
		return nil, true
	case c == 0:
		return &expr.Compare{Op: expr.EQ, Left: a.arg, Right: &expr.Const{Value: a.val}}, false
	}
	return nil, false
}

func intersectList(list *expr.In, b bound) (expr.Expr, bool) {
	if b.list != nil && len(list.List)*len(b.list.List) > 1<<16 {
		return nil, false
	}
	var kept []types.Value
	for _, v := range list.List {
		if b.list == nil && !alike(v.Type, b.val.Type) {
			return nil, false
		}
		if satisfies(v, b) {
			kept = append(kept, v)
		}
	}
	switch len(kept) {
	case 0:
		return nil, true
	case 1:
		return &expr.Compare{Op: expr.EQ, Left: list.Arg, Right: &expr.Const{Value: kept[0]}}, false
	}
	return &expr.In{Arg: list.Arg, List: kept}, false
}

func satisfies(v types.Value, b bound) bool {
	if b.list != nil {
		for _, o := range b.list.List {
			if compareValues(v, o) == 0 {
				return true
			}
		}
		return false
	}
	c := compareValues(v, b.val)
	switch b.op {
	case expr.EQ:
		return c == 0
	case expr.LT:
		return c < 0
	case expr.LE:
		return c <= 0
	case expr.GT:
		return c > 0
	}
	return c >= 0
}

func (b bound) expr() expr.Expr {
	return &expr.Compare{Op: b.op, Left: b.arg, Right: &expr.Const{Value: b.val}}
}

// mergeEqualities turns x = 1 OR x = 2 OR x IN (3, 4) into one list. It reports whether it changed anything.
func (w *rewriter) mergeEqualities(args []expr.Expr) ([]expr.Expr, bool) {
	if len(args) < 2 {
		return args, false
	}
	changed := false
	operands := boundOperands(args)
	for i := 0; i < len(args) && !w.stopped(); i++ {
		a, ok := boundOf(args[i])
		if !ok || a.list == nil && a.op != expr.EQ || len(a.values()) == 0 || expr.IsVolatile(a.arg) {
			continue
		}
		values := slices.Clone(a.values())
		kept, others := args[:i+1:i+1], operands[:i+1:i+1]
		for k, e := range args[i+1:] {
			b, ok := bound{}, operands[i+1+k] == operands[i]
			if ok {
				b, ok = boundOf(e)
			}
			if !ok || b.list == nil && b.op != expr.EQ || !expr.Equal(a.arg, b.arg) ||
				len(b.values()) > 0 && !alike(values[0].Type, b.values()[0].Type) {
				kept, others = append(kept, e), append(others, operands[i+1+k])
				continue
			}
			values = append(values, b.values()...)
		}
		if len(kept) == len(args) {
			continue
		}
		kept = append([]expr.Expr(nil), kept...)
		kept[i] = &expr.In{Arg: a.arg, List: distinctValues(values)}
		args, operands, changed = kept, others, true
	}
	return args, changed
}

func (b bound) values() []types.Value {
	if b.list != nil {
		return b.list.List
	}
	return []types.Value{b.val}
}

func distinctValues(vs []types.Value) []types.Value {
	if len(vs) > 64 {
		return vs // a longer list comes from the statement's own IN
	}
	out := make([]types.Value, 0, len(vs))
	for _, v := range vs {
		isDuplicate := false
		for _, o := range out {
			isDuplicate = isDuplicate || compareValues(v, o) == 0
		}
		if !isDuplicate {
			out = append(out, v)
		}
	}
	return out
}
