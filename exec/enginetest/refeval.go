package enginetest

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// truth is what SQL's three-valued logic gives.
type truth int8

const (
	no truth = iota
	maybe
	yes
)

// compareKeys says whether two keys match: maybe if that depends on a NULL.
func compareKeys(b *physical.Build, p, k row) truth {
	out := yes
	for i := range p {
		if b.NullSafe != nil && b.NullSafe[i] {
			if p[i].Null != k[i].Null || !p[i].Null && compare(p[i], k[i]) != 0 {
				return no
			}
			continue
		}
		if p[i].Null || k[i].Null {
			out = maybe
			continue
		}
		op := expr.EQ
		if b.Algorithm == physical.RangeJoin {
			op = b.RangeOp
		}
		if !holds(op, compare(p[i], k[i])) {
			return no
		}
	}
	return out
}

func holds(op expr.Op, c int) bool {
	switch op {
	case expr.EQ, expr.NSEQ:
		return c == 0
	case expr.NE:
		return c != 0
	case expr.LT:
		return c < 0
	case expr.LE:
		return c <= 0
	case expr.GT:
		return c > 0
	}
	return c >= 0
}

// compare orders values that are not NULL. NaN equals itself and is greater than all others.
func compare(a, b types.Value) int {
	switch a.Type.Phys() {
	case types.PhysFloat64:
		switch nan := [2]bool{math.IsNaN(a.F), math.IsNaN(b.F)}; {
		case nan[0] && nan[1]:
			return 0
		case nan[1] || a.F < b.F:
			return -1
		case nan[0] || a.F > b.F:
			return 1
		}
		return 0
	case types.PhysInt128:
		return bigOf(a.D).Cmp(bigOf(b.D))
	case types.PhysString:
		return strings.Compare(a.S, b.S)
	case types.PhysUint64:
		return new(big.Int).SetUint64(uint64(a.I)).Cmp(new(big.Int).SetUint64(uint64(b.I)))
	}
	return big.NewInt(a.I).Cmp(big.NewInt(b.I))
}

func bigOf(d types.Int128) *big.Int {
	x := new(big.Int).Lsh(big.NewInt(d.Hi), 64)
	return x.Add(x, new(big.Int).SetUint64(d.Lo))
}

// all says whether every condition is TRUE of a row.
func (r *rel) all(es []expr.Expr, x row) bool {
	for _, e := range es {
		if v := r.eval(e, x); v.Null || v.I == 0 {
			return false
		}
	}
	return true
}

func (r *rel) eval(e expr.Expr, x row) types.Value {
	switch e := e.(type) {
	case *expr.Column:
		return x[r.at[e.ID]]
	case *expr.Const:
		return e.Value
	case *expr.Compare:
		a, b := r.eval(e.Left, x), r.eval(e.Right, x)
		if e.Op == expr.NSEQ {
			return types.BoolValue(compareNulls(a, b) == 0)
		}
		if a.Null || b.Null {
			return types.NullOf(types.Bool)
		}
		return types.BoolValue(holds(e.Op, compare(a, b)))
	case *expr.And:
		out := types.BoolValue(true)
		for _, c := range e.Args {
			if v := r.eval(c, x); v.Null {
				out = v
			} else if v.I == 0 {
				return v
			}
		}
		return out
	case *expr.Or:
		out := types.BoolValue(false)
		for _, c := range e.Args {
			if v := r.eval(c, x); v.Null {
				out = v
			} else if v.I != 0 {
				return v
			}
		}
		return out
	case *expr.Not:
		v := r.eval(e.Arg, x)
		if v.Null {
			return v
		}
		return types.BoolValue(v.I == 0)
	case *expr.Case:
		for _, w := range e.Whens {
			if v := r.eval(w.Cond, x); !v.Null && v.I != 0 {
				return r.eval(w.Then, x)
			}
		}
		if e.Else != nil {
			return r.eval(e.Else, x)
		}
		return types.NullOf(e.Typ)
	case *expr.Call: // concat, and add or sub of integers
		if e.Fn.Name == "concat" {
			return r.concat(e, x)
		}
		a, b := r.eval(e.Args[0], x), r.eval(e.Args[1], x)
		if a.Null || b.Null {
			return types.NullOf(e.Typ)
		}
		if e.Fn.Name == "sub" {
			b.I = -b.I
		}
		return types.IntValue(a.I + b.I)
	case *expr.Cast:
		return doubleOf(r.eval(e.Arg, x), e.To)
	case *expr.IsNull:
		return types.BoolValue(r.eval(e.Arg, x).Null)
	case *expr.In:
		return isIn(r.eval(e.Arg, x), e)
	}
	panic(fmt.Sprintf("expression %T", e))
}

// concat is CONCAT of strings.
func (r *rel) concat(e *expr.Call, x row) types.Value {
	text := ""
	for _, a := range e.Args {
		v := r.eval(a, x)
		if v.Null {
			return types.NullOf(e.Typ)
		}
		text += v.S
	}
	return types.StringValue(text)
}

// doubleOf is CAST of a number to DOUBLE.
func doubleOf(v types.Value, to types.Type) types.Value {
	if v.Null {
		return types.NullOf(to)
	}
	q := ratOf(v)
	if v.Type.Kind == types.KindDecimal {
		q.Quo(q, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Type.Scale)), nil)))
	}
	f, _ := q.Float64()
	return types.FloatValue(f)
}

// isIn is IN of constants.
func isIn(v types.Value, e *expr.In) types.Value {
	if v.Null {
		return types.NullOf(types.Bool)
	}
	for _, y := range e.List {
		if compare(v, y) == 0 {
			return types.BoolValue(true)
		}
	}
	if e.HasNull {
		return types.NullOf(types.Bool)
	}
	return types.BoolValue(false)
}
