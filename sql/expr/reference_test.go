package expr_test

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// An interpreter of expressions, one row at a time, that shares nothing with the evaluator: integers are big.Int, decimals
// big.Rat, dates time.Time's days, LIKE is a recursion over runes.

// refValue is a value: nil for NULL, *big.Int, *big.Rat, float64 or string.
type refValue any

var errRef = errors.New("the reference raises an error")

func refOf(v types.Value) refValue {
	if v.Null {
		return nil
	}
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return v.F
	case types.PhysString:
		return v.S
	case types.PhysUint64:
		return new(big.Int).SetUint64(uint64(v.I))
	}
	i := big.NewInt(v.I)
	if v.Type.Phys() == types.PhysInt128 {
		i = new(big.Int).Lsh(big.NewInt(v.D.Hi), 64)
		i.Add(i, new(big.Int).SetUint64(v.D.Lo))
	}
	if v.Type.Kind == types.KindDecimal {
		return new(big.Rat).SetFrac(i, tenTo(int(v.Type.Scale)))
	}
	return i
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// refRat is any exact value as a fraction.
func refRat(v refValue) *big.Rat {
	switch v := v.(type) {
	case *big.Int:
		return new(big.Rat).SetInt(v)
	case *big.Rat:
		return v
	}
	panic("not exact")
}

func refFloat(v refValue) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case *big.Int, *big.Rat:
		f, _ := refRat(v).Float64()
		return f
	}
	panic("no number")
}

// refRound rounds half away from zero to a scale.
func refRound(r *big.Rat, scale int) *big.Rat {
	p := tenTo(scale)
	x := new(big.Rat).Mul(r, new(big.Rat).SetInt(p))
	x.Abs(x).Add(x, big.NewRat(1, 2))
	n := new(big.Int).Quo(x.Num(), x.Denom())
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return new(big.Rat).SetFrac(n, p)
}

// refResult makes an exact number a value of type t, or an error if it does not fit.
func refResult(r *big.Rat, t types.Type) (refValue, error) {
	if t.Kind == types.KindDecimal {
		r = refRound(r, int(t.Scale))
		if new(big.Rat).Abs(r).Cmp(new(big.Rat).SetFrac(tenTo(int(t.Precision)), tenTo(int(t.Scale)))) >= 0 {
			return nil, errRef
		}
		return r, nil
	}
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if t.Kind == types.KindUint64 && !n.IsUint64() || t.Kind != types.KindUint64 && !n.IsInt64() {
		return nil, errRef
	}
	return n, nil
}

func refBool(b bool) refValue {
	if b {
		return big.NewInt(1)
	}
	return big.NewInt(0)
}

func refTrue(v refValue) bool { return v != nil && v.(*big.Int).Sign() != 0 }

func refCompare(a, b refValue) int {
	switch x := a.(type) {
	case string:
		return strings.Compare(x, b.(string))
	case float64:
		return cmp.Compare(x, b.(float64))
	}
	return refRat(a).Cmp(refRat(b))
}

// refEval computes e over the row.
func refEval(e expr.Expr, row map[expr.ColumnID]refValue) (refValue, error) {
	switch x := e.(type) {
	case *expr.Column:
		return row[x.ID], nil
	case *expr.Const:
		return refOf(x.Value), nil
	case *expr.Compare:
		l, err := refEval(x.Left, row)
		if err != nil {
			return nil, err
		}
		r, err := refEval(x.Right, row)
		if err != nil {
			return nil, err
		}
		if x.Op == expr.NSEQ {
			return refBool(l == nil && r == nil || l != nil && r != nil && refCompare(l, r) == 0), nil
		}
		if l == nil || r == nil {
			return nil, nil
		}
		c := refCompare(l, r)
		return refBool(map[expr.Op]bool{expr.EQ: c == 0, expr.NE: c != 0, expr.LT: c < 0, expr.LE: c <= 0, expr.GT: c > 0, expr.GE: c >= 0}[x.Op]), nil
	case *expr.And:
		return refLogic(x.Args, false, row)
	case *expr.Or:
		return refLogic(x.Args, true, row)
	case *expr.Not:
		v, err := refEval(x.Arg, row)
		if v == nil || err != nil {
			return nil, err
		}
		return refBool(!refTrue(v)), nil
	case *expr.IsNull:
		v, err := refEval(x.Arg, row)
		return refBool(v == nil), err
	case *expr.In:
		v, err := refEval(x.Arg, row)
		if v == nil || err != nil {
			return nil, err
		}
		for _, c := range x.List {
			if refCompare(v, refOf(c)) == 0 {
				return refBool(true), nil
			}
		}
		if x.HasNull {
			return nil, nil
		}
		return refBool(false), nil
	case *expr.Case:
		for _, w := range x.Whens {
			c, err := refHolds(w.Cond, true, row)
			if err != nil {
				return nil, err
			}
			if c {
				return refEval(w.Then, row)
			}
		}
		if x.Else == nil {
			return nil, nil
		}
		return refEval(x.Else, row)
	case *expr.Cast:
		v, err := refEval(x.Arg, row)
		if v == nil || err != nil {
			return nil, err
		}
		return refCast(v, x.To)
	case *expr.Call:
		return refCall(x, row)
	}
	panic("no reference for this node")
}

// refLogic stops at the first operand that decides, as a reader of SQL would.
func refLogic(args []expr.Expr, decides bool, row map[expr.ColumnID]refValue) (refValue, error) {
	out := refBool(!decides)
	for _, a := range args {
		v, err := refEval(a, row)
		if err != nil {
			return nil, err
		}
		if v == nil {
			out = nil
		} else if refTrue(v) == decides {
			return refBool(decides), nil
		}
	}
	return out, nil
}

// refHolds says whether a condition is TRUE (want) or FALSE. Where only that matters, as in WHEN, a conjunction is over at
// the first operand that is not TRUE, be it NULL; so an error behind that one is not raised.
func refHolds(e expr.Expr, want bool, row map[expr.ColumnID]refValue) (bool, error) {
	var args []expr.Expr
	all := want
	switch x := e.(type) {
	case *expr.Not:
		return refHolds(x.Arg, !want, row)
	case *expr.And:
		args = x.Args
	case *expr.Or:
		args, all = x.Args, !want
	default:
		v, err := refEval(e, row)
		return v != nil && refTrue(v) == want, err
	}
	for _, a := range args {
		if ok, err := refHolds(a, want, row); err != nil || ok != all {
			return ok, err
		}
	}
	return all, nil
}

func refCast(v refValue, to types.Type) (refValue, error) {
	switch {
	case to.IsFloat():
		return refFloat(v), nil
	case to.Kind == types.KindDecimal:
		r := refRound(refRat(v), int(to.Scale))
		limit := new(big.Rat).SetFrac(new(big.Int).Sub(tenTo(int(to.Precision)), big.NewInt(1)), tenTo(int(to.Scale)))
		if r.Cmp(limit) > 0 {
			return limit, nil
		}
		if neg := new(big.Rat).Neg(limit); r.Cmp(neg) < 0 {
			return neg, nil
		}
		return r, nil
	case to.Kind == types.KindInt64:
		r := refRound(refRat(v), 0)
		n := new(big.Int).Set(r.Num())
		if !n.IsInt64() {
			if n.Sign() < 0 {
				return big.NewInt(math.MinInt64), nil
			}
			return big.NewInt(math.MaxInt64), nil
		}
		return n, nil
	}
	panic("no reference for a cast to " + to.String())
}

func refCall(x *expr.Call, row map[expr.ColumnID]refValue) (refValue, error) {
	switch x.Fn.Name { // lazy ones
	case "coalesce", "ifnull":
		for _, a := range x.Args {
			if v, err := refEval(a, row); v != nil || err != nil {
				return v, err
			}
		}
		return nil, nil
	case "if":
		c, err := refHolds(x.Args[0], true, row)
		if err != nil {
			return nil, err
		}
		if c {
			return refEval(x.Args[1], row)
		}
		return refEval(x.Args[2], row)
	}
	args := make([]refValue, len(x.Args))
	null := false
	for i, a := range x.Args {
		v, err := refEval(a, row)
		if err != nil {
			return nil, err
		}
		args[i] = v
		null = null || v == nil
	}
	if x.Fn.Name == "nullif" {
		if !null && refCompare(args[0], args[1]) == 0 {
			return nil, nil
		}
		return args[0], nil
	}
	if null {
		return nil, nil
	}
	switch x.Fn.Name {
	case "add", "sub", "mul", "div", "div_cut", "mod":
		if x.Typ.IsFloat() {
			return refFloatOp(x.Fn.Name, refFloat(args[0]), refFloat(args[1]))
		}
		r, err := refExactOp(x.Fn.Name, refRat(args[0]), refRat(args[1]))
		if r == nil || err != nil {
			return nil, err
		}
		if x.Fn.Name == "div_cut" {
			cut := new(big.Rat).Mul(r, new(big.Rat).SetInt(tenTo(int(x.Typ.Scale))))
			r = new(big.Rat).SetFrac(new(big.Int).Quo(cut.Num(), cut.Denom()), tenTo(int(x.Typ.Scale)))
		}
		return refResult(r, x.Typ)
	case "neg":
		if x.Typ.IsFloat() {
			return -refFloat(args[0]), nil
		}
		return refResult(new(big.Rat).Neg(refRat(args[0])), x.Typ)
	case "greatest", "least":
		best := args[0]
		for _, a := range args[1:] {
			if c := refCompare(a, best); (x.Fn.Name == "greatest") == (c > 0) && c != 0 {
				best = a
			}
		}
		return best, nil
	case "like":
		return refBool(refLike([]rune(args[1].(string)), []rune(args[0].(string)))), nil
	case "substring":
		return refSubstring([]rune(args[0].(string)), args[1].(*big.Int).Int64(), args[2].(*big.Int).Int64()), nil
	case "concat":
		return args[0].(string) + args[1].(string), nil
	case "char_length":
		return big.NewInt(int64(len([]rune(args[0].(string))))), nil
	case "year":
		return big.NewInt(int64(refTime(args[0]).Year())), nil
	case "month":
		return big.NewInt(int64(refTime(args[0]).Month())), nil
	case "dayofmonth":
		return big.NewInt(int64(refTime(args[0]).Day())), nil
	case "date_add":
		t := refTime(args[0])
		n := int(args[1].(*big.Int).Int64())
		if args[2] == "MONTH" {
			first := time.Date(t.Year(), t.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
			last := first.AddDate(0, 1, -1).Day()
			t = first.AddDate(0, 0, min(t.Day(), last)-1)
		} else {
			if t = t.AddDate(0, 0, n); t.Year() < 1 {
				return nil, nil
			}
		}
		if t.Year() < 0 || t.Year() > 9999 {
			return nil, nil
		}
		return big.NewInt(t.Unix() / 86400), nil
	}
	panic("no reference for " + x.Fn.Name)
}

func refTime(v refValue) time.Time { return time.Unix(v.(*big.Int).Int64()*86400, 0).UTC() }

func refFloatOp(name string, a, b float64) (refValue, error) {
	r := 0.0
	switch name {
	case "add":
		r = a + b
	case "sub":
		r = a - b
	case "mul":
		r = a * b
	case "div":
		if b == 0 {
			return nil, nil
		}
		r = a / b
	case "mod":
		if b == 0 {
			return nil, nil
		}
		r = math.Mod(a, b)
	}
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return nil, errRef
	}
	return r, nil
}

func refExactOp(name string, a, b *big.Rat) (*big.Rat, error) {
	r := new(big.Rat)
	switch name {
	case "add":
		r.Add(a, b)
	case "sub":
		r.Sub(a, b)
	case "mul":
		r.Mul(a, b)
	case "div", "div_cut":
		if b.Sign() == 0 {
			return nil, nil
		}
		r.Quo(a, b)
	case "mod":
		if b.Sign() == 0 {
			return nil, nil
		}
		q := new(big.Rat).Quo(a, b)
		cut := new(big.Int).Quo(q.Num(), q.Denom())
		r.Sub(a, new(big.Rat).Mul(b, new(big.Rat).SetInt(cut)))
	}
	return r, nil
}

// refLike is the definition of LIKE, with the backslash as escape.
func refLike(p, s []rune) bool {
	if len(p) == 0 {
		return len(s) == 0
	}
	switch {
	case p[0] == '%':
		return refLike(p[1:], s) || len(s) > 0 && refLike(p, s[1:])
	case p[0] == '_':
		return len(s) > 0 && refLike(p[1:], s[1:])
	case p[0] == '\\' && len(p) > 1:
		p = p[1:]
	}
	return len(s) > 0 && s[0] == p[0] && refLike(p[1:], s[1:])
}

func refSubstring(s []rune, pos, n int64) string {
	var out []rune
	for i := range s {
		at := int64(i) + 1
		from := pos
		if pos < 0 {
			from = int64(len(s)) + pos + 1
			if from < 1 {
				return ""
			}
		}
		if pos != 0 && at >= from && at < from+n {
			out = append(out, s[i])
		}
	}
	return string(out)
}
