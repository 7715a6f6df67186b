package rules

import (
	"math"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// This file simplifies single comparisons and IN lists.

func (s simplifier) compare(x *expr.Compare, nullIsFalse bool) expr.Expr {
	l, r, op := s.value(x.Left), s.value(x.Right), x.Op
	if isConst(l) && !isConst(r) {
		l, r, op = r, l, op.Swap()
	}
	if op == expr.NSEQ {
		switch {
		case isNullConst(r):
			return s.expr(&expr.IsNull{Arg: l}, nullIsFalse)
		case !l.Nullable() && !r.Nullable():
			op = expr.EQ
		}
	} else if isNullConst(l) || isNullConst(r) {
		if nullIsFalse {
			return expr.False
		}
		return nullBool
	}
	if isConst(l) && isConst(r) && s.fold != nil {
		return s.constant(expr.Fold(&expr.Compare{Op: op, Left: l, Right: r}, s.fold), nullIsFalse)
	}
	if !isConst(r) {
		if expr.Equal(l, r) {
			if e := compareWithItself(op, l, nullIsFalse); e != nil {
				return e
			}
		}
	} else if c := r.(*expr.Const); !c.Value.Null {
		if e := unwrapTruth(op, l, c.Value); e != nil {
			return s.cond(e, nullIsFalse)
		}
		if e := s.unwrapCast(op, l, c.Value, nullIsFalse); e != nil {
			return e
		}
	}
	if l == x.Left && r == x.Right && op == x.Op {
		return x
	}
	return &expr.Compare{Op: op, Left: l, Right: r}
}

func (s simplifier) constant(e expr.Expr, nullIsFalse bool) expr.Expr {
	if nullIsFalse && isNullConst(e) {
		return expr.False
	}
	return e
}

// compareWithItself decides x op x, which is NULL where x is.
func compareWithItself(op expr.Op, x expr.Expr, nullIsFalse bool) expr.Expr {
	if expr.IsVolatile(x) {
		return nil
	}
	switch op {
	case expr.NSEQ:
		return expr.True
	case expr.EQ, expr.LE, expr.GE:
		if !x.Nullable() {
			return expr.True
		}
		if nullIsFalse {
			return &expr.Not{Arg: &expr.IsNull{Arg: x}}
		}
	default:
		if nullIsFalse || !x.Nullable() {
			return expr.False
		}
	}
	return nil
}

// unwrapTruth turns (condition) = 1 and the like into the condition or its negation.
func unwrapTruth(op expr.Op, l expr.Expr, v types.Value) expr.Expr {
	if l.Type().Kind != types.KindBool || v.Type.Phys() != types.PhysInt64 || v.Type.Kind == types.KindDecimal {
		return nil
	}
	switch l.(type) {
	case *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.IsNull, *expr.In, *expr.Subquery:
	default:
		return nil // a stored BOOL may hold other numbers
	}
	switch {
	case op == expr.EQ && v.I == 1, op == expr.NE && v.I == 0:
		return l
	case op == expr.EQ && v.I == 0, op == expr.NE && v.I == 1:
		return &expr.Not{Arg: l}
	}
	return nil
}

// unwrapCast compares the operand of an exact, monotonic cast instead of the cast's result, so that the comparison can
// run on stored values: CAST(i AS DECIMAL(10,1)) < 2.5 is i <= 2.
func (s simplifier) unwrapCast(op expr.Op, l expr.Expr, v types.Value, nullIsFalse bool) expr.Expr {
	cast, ok := l.(*expr.Cast)
	if !ok || cast.Strict || !alike(cast.To, v.Type) {
		return nil
	}
	from := cast.Arg.Type()
	below, exact, ok := preimage(from, cast.To, v)
	if !ok {
		return nil
	}
	c := &expr.Const{Value: types.Value{Type: from, I: below}}
	if exact {
		return s.cond(&expr.Compare{Op: op, Left: cast.Arg, Right: c}, nullIsFalse)
	}
	// v lies between below and below+1.
	switch op {
	case expr.LT, expr.LE:
		return &expr.Compare{Op: expr.LE, Left: cast.Arg, Right: c}
	case expr.GT, expr.GE:
		return &expr.Compare{Op: expr.GT, Left: cast.Arg, Right: c}
	case expr.NSEQ:
		return expr.False
	}
	if !nullIsFalse && cast.Arg.Nullable() {
		return nil
	}
	if op == expr.EQ {
		return expr.False
	}
	if !cast.Arg.Nullable() {
		return expr.True
	}
	return &expr.Not{Arg: &expr.IsNull{Arg: cast.Arg}}
}

// preimage returns the largest integer representation i of type from whose cast to type to is at most v, and whether the cast
// of i is v itself. It is not ok for casts that lose or can fail.
func preimage(from, to types.Type, v types.Value) (i int64, exact, ok bool) {
	if from.Phys() != types.PhysInt64 {
		return 0, false, false
	}
	switch {
	case from.IsInteger() && from.Kind != types.KindYear && to.IsInteger() && to.Phys() == types.PhysInt64:
		if widens(from.Kind, to.Kind) {
			return v.I, true, true
		}
	case from.IsInteger() && to.Kind == types.KindDecimal:
		lo, hi := types.IntRange(from.Kind)
		if int(to.Precision)-int(to.Scale) < types.DecimalDigits(types.Int128FromInt64(max(hi, -(lo+1)))) {
			return 0, false, false
		}
		return floorDiv(v, to, int(to.Scale))
	case from.Kind == types.KindDecimal && to.Kind == types.KindDecimal && to.Scale >= from.Scale &&
		to.Precision-to.Scale >= from.Precision-from.Scale:
		return floorDiv(v, to, int(to.Scale-from.Scale))
	case from.IsInteger() && to.Kind == types.KindDouble:
		// Up to 2^53 every integer is a double, and rounding is monotonic beyond.
		if math.Abs(v.F) >= 1<<53 || math.IsNaN(v.F) {
			return 0, false, false
		}
		f := math.Floor(v.F)
		return int64(f), f == v.F, true
	case from.Kind == types.KindDate && (to.Kind == types.KindDatetime):
		d := v.I / types.MicrosPerDay
		if v.I%types.MicrosPerDay < 0 {
			d--
		}
		return d, d*types.MicrosPerDay == v.I, true
	}
	return 0, false, false
}

// widens says whether every value of from is one of to, both held in an int64.
func widens(from, to types.Kind) bool {
	if from == types.KindBool || to == types.KindBool || to == types.KindYear {
		return false
	}
	flo, fhi := types.IntRange(from)
	tlo, thi := types.IntRange(to)
	return tlo <= flo && fhi <= thi
}

// floorDiv divides the unscaled decimal v by 10^digits, towards minus infinity.
func floorDiv(v types.Value, t types.Type, digits int) (int64, bool, bool) {
	d := types.Int128FromInt64(v.I)
	if t.Phys() == types.PhysInt128 {
		d = v.D
	}
	q, rem, ok := d.QuoRem(types.Pow10Int128(digits))
	if !ok {
		return 0, false, false
	}
	if rem.Sign() < 0 {
		q = q.AddInt64(-1)
	}
	i, fits := q.Int64()
	return i, rem.IsZero(), fits
}

func (s simplifier) in(x *expr.In, nullIsFalse bool) expr.Expr {
	arg := s.value(x.Arg)
	hasNull := x.HasNull && !nullIsFalse
	if isNullConst(arg) && len(x.List) > 0 {
		return s.constant(nullBool, nullIsFalse)
	}
	if isConst(arg) && s.fold != nil {
		return s.constant(expr.Fold(&expr.In{Arg: arg, List: x.List, HasNull: x.HasNull}, s.fold), nullIsFalse)
	}
	if cast, ok := arg.(*expr.Cast); ok && !cast.Strict {
		if list, ok := unwrapList(cast, x.List); ok && (len(list) > 0 || nullIsFalse) {
			return s.in(&expr.In{Arg: cast.Arg, List: list, HasNull: hasNull}, nullIsFalse)
		}
	}
	switch {
	case len(x.List) == 0 && !hasNull && (nullIsFalse || !arg.Nullable()):
		return expr.False
	case len(x.List) == 1 && !hasNull:
		return &expr.Compare{Op: expr.EQ, Left: arg, Right: &expr.Const{Value: x.List[0]}}
	}
	if arg == x.Arg && hasNull == x.HasNull {
		return x
	}
	return &expr.In{Arg: arg, List: x.List, HasNull: hasNull}
}

func unwrapList(cast *expr.Cast, list []types.Value) ([]types.Value, bool) {
	from := cast.Arg.Type()
	out := make([]types.Value, 0, len(list))
	for _, v := range list {
		i, exact, ok := preimage(from, cast.To, v)
		if !ok || !alike(cast.To, v.Type) {
			return nil, false
		}
		if exact {
			out = append(out, types.Value{Type: from, I: i})
		}
	}
	return out, true
}
