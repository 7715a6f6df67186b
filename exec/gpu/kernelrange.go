package gpu

import (
	"math"
	"math/big"
	"strings"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// interval bounds the integers (or decimals, as integers) that an expression gives; NULLs aside.
type interval struct{ lo, hi int64 }

// rangeOf bounds an expression's values by those of the columns in it; ok is false if nothing is known.
func (k *kernel) rangeOf(e expr.Expr) (r interval, ok bool) {
	if p := e.Type().Phys(); p != types.PhysInt64 && p != types.PhysInt128 {
		return interval{}, false
	}
	switch e := e.(type) {
	case *expr.Column:
		r, ok = k.ranges[e.ID]
		return r, ok
	case *expr.Const:
		if e.Value.Null {
			return interval{}, true
		}
		x := e.Value.I
		if e.Type().Phys() == types.PhysInt128 {
			if x, ok = e.Value.D.Int64(); !ok {
				return interval{}, false
			}
		}
		return interval{x, x}, true
	case *expr.Case:
		first := true
		join := func(x expr.Expr) bool {
			s, known := k.rangeOf(x)
			if !known {
				return false
			}
			if first {
				r, first = s, false
			}
			r.lo, r.hi = min(r.lo, s.lo), max(r.hi, s.hi)
			return true
		}
		for _, w := range e.Whens {
			if !join(w.Then) {
				return interval{}, false
			}
		}
		if e.Else != nil && !join(e.Else) {
			return interval{}, false
		}
		return r, true
	case *expr.Cast:
		from, known := k.rangeOf(e.Arg)
		if !known {
			return interval{}, false
		}
		return rescaled(from, fractionOf(e.Arg.Type()), fractionOf(e.To))
	case *expr.Call:
		if day := yearArg(e); day != nil {
			r, ok = k.rangeOf(day)
			if !ok || r.lo < -700_000 || r.hi > 2_900_000 {
				return interval{}, false
			}
			year := func(days int64) int64 { return int64(types.YearOf(days)) }
			return interval{year(r.lo), year(r.hi)}, true
		}
		if len(e.Args) != 2 {
			return interval{}, false
		}
		a, okA := k.rangeOf(e.Args[0])
		b, okB := k.rangeOf(e.Args[1])
		if !okA || !okB {
			return interval{}, false
		}
		sa, sb, to := fractionOf(e.Args[0].Type()), fractionOf(e.Args[1].Type()), fractionOf(e.Typ)
		switch e.Fn.Name {
		case "add", "sub":
			if a, okA = rescaled(a, sa, to); !okA {
				return interval{}, false
			}
			if b, okB = rescaled(b, sb, to); !okB {
				return interval{}, false
			}
			if e.Fn.Name == "sub" {
				b = interval{-b.hi, -b.lo}
			}
			return bigInterval(new(big.Int).Add(big.NewInt(a.lo), big.NewInt(b.lo)), new(big.Int).Add(big.NewInt(a.hi), big.NewInt(b.hi)))
		case "mul":
			if sa+sb != to {
				return interval{}, false
			}
			var lo, hi *big.Int
			for _, x := range []int64{a.lo, a.hi} {
				for _, y := range []int64{b.lo, b.hi} {
					p := new(big.Int).Mul(big.NewInt(x), big.NewInt(y))
					if lo == nil || p.Cmp(lo) < 0 {
						lo = p
					}
					if hi == nil || p.Cmp(hi) > 0 {
						hi = p
					}
				}
			}
			return bigInterval(lo, hi)
		}
	}
	return interval{}, false
}

// yearArg is the date of whose year e is the number; nil if e is something else.
func yearArg(e *expr.Call) expr.Expr {
	var day expr.Expr
	switch {
	case e.Fn.Name == "year" && len(e.Args) == 1:
		day = e.Args[0]
	case e.Fn.Name == "extract" && len(e.Args) == 2:
		if c, ok := e.Args[0].(*expr.Const); ok && strings.EqualFold(c.Value.S, "year") {
			day = e.Args[1]
		}
	}
	if day == nil || day.Type().Kind != types.KindDate {
		return nil
	}
	return day
}

// rescaled brings decimals from one scale to another that is at least as large.
func rescaled(r interval, from, to int) (interval, bool) {
	if to < from || to-from > 18 {
		return interval{}, false
	}
	f := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(to-from)), nil)
	return bigInterval(new(big.Int).Mul(big.NewInt(r.lo), f), new(big.Int).Mul(big.NewInt(r.hi), f))
}

// bigInterval is an interval, if it stays well inside 64 bits.
func bigInterval(lo, hi *big.Int) (interval, bool) {
	if !lo.IsInt64() || !hi.IsInt64() || lo.Int64() == math.MinInt64 {
		return interval{}, false
	}
	return interval{lo.Int64(), hi.Int64()}, true
}

// magnitude is the largest absolute value.
func (r interval) magnitude() float64 {
	return math.Max(math.Abs(float64(r.lo)), math.Abs(float64(r.hi)))
}

// fractionOf is the number of digits behind the point of a type's values.
func fractionOf(t types.Type) int {
	if t.Kind == types.KindDecimal {
		return int(t.Scale)
	}
	return 0
}
