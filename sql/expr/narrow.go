package expr

import "github.com/radish-sql/radish/sql/types"

// By its type the product of two DECIMAL(15,2) needs 30 digits and so 128 bits, but the values of most columns are far
// from the ends of their types. Where the columns' minima and maxima prove that a result has at most 18 digits,
// NarrowDecimals gives it a type of 18, and the evaluator computes it in 64 bits.

// Ranges holds the least and the greatest value of columns whose values are int64s: integers, temporal values and, unscaled,
// DECIMALs of up to 18 digits. They must hold for every row that will be evaluated.
type Ranges map[ColumnID][2]int64

// NarrowDecimals retypes the exact arithmetic of e to DECIMAL(18, s) wherever the ranges prove that it fits. Values do not
// change, only their representation: the result's type may have become narrower than e's, with the same scale. A consumer that
// declares its own result type (SUM, AVG) reads either; others cast back.
func NarrowDecimals(e Expr, ranges Ranges) Expr {
	if n, ok := narrowed(e, ranges); ok {
		return n
	}
	children := e.Children()
	var changed []Expr
	for i, c := range children {
		n := NarrowDecimals(c, ranges)
		if n == c {
			continue
		}
		if n.Type() != c.Type() && !takesNarrow(e) {
			n = &Cast{Arg: n, To: c.Type()}
		}
		if changed == nil {
			changed = append([]Expr(nil), children...)
		}
		changed[i] = n
	}
	if changed == nil {
		return e
	}
	return e.WithChildren(changed)
}

// takesNarrow says whether e computes the same over operands of fewer digits and the same scale.
func takesNarrow(e Expr) bool {
	switch x := e.(type) {
	case *Compare, *Case, *Cast, *IsNull:
		return true
	case *Call:
		switch x.Fn.Name {
		case "add", "sub", "mul", "div", "div_cut", "mod", "intdiv", "neg", "coalesce", "ifnull", "if":
			return true
		}
	}
	return false
}

// narrowed returns e with a type of up to 18 digits; ok is false if that cannot be proven right. An e that is narrow
// as it stands gives false too: there may be something to do below it.
func narrowed(e Expr, ranges Ranges) (n Expr, ok bool) {
	t := e.Type()
	if t.Kind != types.KindDecimal || t.Phys() != types.PhysInt128 {
		return nil, false
	}
	if b := boundsOf(e, ranges); !b.ok || !b.fits(types.MaxShortDecimal) {
		return nil, false
	}
	short := types.Decimal(types.MaxShortDecimal, int(t.Scale))
	operand := func(c Expr) (Expr, bool) {
		if c.Type().Phys() == types.PhysInt64 {
			return NarrowDecimals(c, ranges), true
		}
		return narrowed(c, ranges)
	}
	switch x := e.(type) {
	case *Const:
		v, status := types.Cast(x.Value, short)
		return &Const{Value: v}, status == types.ConvertOK
	case *Cast:
		arg, ok := operand(x.Arg)
		if !ok || !exactOrInt(arg.Type()) {
			return nil, false
		}
		return &Cast{Arg: arg, To: short, Strict: x.Strict, Column: x.Column, IsDisplay: x.IsDisplay, Compared: x.Compared, Written: x.Written}, true
	case *Case:
		ch := append([]Expr(nil), x.Children()...)
		for i := range ch {
			if i%2 == 0 && i < 2*len(x.Whens) {
				ch[i] = NarrowDecimals(ch[i], ranges)
			} else if ch[i], ok = operand(ch[i]); !ok {
				return nil, false
			}
		}
		c := x.WithChildren(ch).(*Case)
		c.Typ = short
		return c, true
	case *Call:
		args := make([]Expr, len(x.Args))
		for i, a := range x.Args {
			if i == 0 && x.Fn.Name == "if" {
				args[i] = NarrowDecimals(a, ranges)
				continue
			}
			if args[i], ok = operand(a); !ok || !exactOrInt(args[i].Type()) {
				return nil, false
			}
		}
		switch x.Fn.Name {
		case "add", "sub":
			for _, a := range x.Args {
				if b := boundsOf(a, ranges).rescale(ScaleOf(a.Type()), int(t.Scale)); !b.ok || !b.fits(types.MaxShortDecimal) {
					return nil, false
				}
			}
			if !exactScale(x) {
				return nil, false
			}
		case "mul":
			if !exactScale(x) {
				return nil, false
			}
		case "neg", "coalesce", "ifnull", "if":
		default:
			return nil, false
		}
		return &Call{Fn: x.Fn, Args: args, Typ: short, Null: x.Null}, true
	}
	return nil, false
}

func exactOrInt(t types.Type) bool {
	return t.Kind == types.KindDecimal || t.IsInteger() || t.Kind == types.KindNull
}

// bounds is an interval of unscaled values.
type bounds struct {
	lo, hi types.Int128
	ok     bool // false: unknown, or beyond 128 bits
}

// fits says whether every value has at most that many digits.
func (b bounds) fits(digits int) bool {
	return types.FitsDecimal(b.lo, digits) && types.FitsDecimal(b.hi, digits)
}

func (b bounds) rescale(from, to int) bounds {
	lo, ok1 := types.Rescale(b.lo, from, to)
	hi, ok2 := types.Rescale(b.hi, from, to)
	return bounds{lo, hi, b.ok && ok1 && ok2}
}

// join is the smallest interval that holds both.
func (b bounds) join(c bounds) bounds {
	return bounds{smallest(b.lo, c.lo), largest(b.hi, c.hi), b.ok && c.ok}
}

// typeBounds is what the type alone says.
func typeBounds(t types.Type) bounds {
	switch {
	case t.Kind == types.KindUint64:
		return bounds{hi: types.Int128FromUint64(^uint64(0)), ok: true}
	case t.IsInteger():
		lo, hi := types.IntRange(t.Kind)
		if t.Kind == types.KindYear {
			lo = 0
		}
		return bounds{types.Int128FromInt64(lo), types.Int128FromInt64(hi), true}
	case t.Kind == types.KindDecimal:
		m := types.MaxDecimal(int(t.Precision))
		neg, _ := m.Neg()
		return bounds{neg, m, true}
	}
	return bounds{}
}

// boundsOf returns an interval that holds every value of e, at its type's scale (interval arithmetic: Moore 1966).
func boundsOf(e Expr, ranges Ranges) bounds {
	t := e.Type()
	if !exactOrInt(t) {
		return bounds{}
	}
	own := typeBounds(t)
	switch x := e.(type) {
	case *Column:
		if r, ok := ranges[x.ID]; ok && t.Phys() == types.PhysInt64 {
			return bounds{types.Int128FromInt64(r[0]), types.Int128FromInt64(r[1]), true}
		}
	case *Const:
		switch {
		case x.Value.Null:
			return bounds{ok: true}
		case t.Kind == types.KindDecimal:
			return bounds{x.Value.Unscaled(), x.Value.Unscaled(), true}
		case t.Kind != types.KindUint64:
			v := types.Int128FromInt64(x.Value.I)
			return bounds{v, v, true}
		}
	case *Cast:
		if b := boundsOf(x.Arg, ranges); b.ok && exactOrInt(x.Arg.Type()) {
			if b = b.rescale(ScaleOf(x.Arg.Type()), ScaleOf(t)); b.ok && own.lo.Cmp(b.lo) <= 0 && b.hi.Cmp(own.hi) <= 0 {
				return b
			}
		}
	case *Case:
		out := bounds{ok: true}
		for i, w := range x.Whens {
			b := boundsOf(w.Then, ranges)
			if i == 0 {
				out = b
			}
			out = out.join(b)
		}
		if x.Else != nil {
			out = out.join(boundsOf(x.Else, ranges))
		}
		if out.ok {
			return out
		}
	case *Call:
		if b := callBounds(x, ranges); b.ok {
			return b
		}
	}
	return own
}

func callBounds(x *Call, ranges Ranges) bounds {
	scale := ScaleOf(x.Typ)
	arg := func(i int) bounds {
		b := boundsOf(x.Args[i], ranges)
		if x.Fn.Name == "mul" {
			return b
		}
		return b.rescale(ScaleOf(x.Args[i].Type()), scale)
	}
	switch x.Fn.Name {
	case "add", "sub", "mul":
		if x.Typ.Kind == types.KindDecimal && !exactScale(x) {
			return bounds{}
		}
		return intervalOf(x.Fn.Name, arg(0), arg(1))
	case "mod", "intdiv":
		if x.Typ.Kind == types.KindDecimal || x.Args[0].Type().Kind == types.KindDecimal || x.Args[1].Type().Kind == types.KindDecimal {
			return bounds{}
		}
		return intervalOf(x.Fn.Name, arg(0), arg(1))
	case "neg":
		a := arg(0)
		lo, ok1 := a.hi.Neg()
		hi, ok2 := a.lo.Neg()
		return bounds{lo, hi, a.ok && ok1 && ok2}
	case "coalesce", "ifnull", "if":
		first := 0
		if x.Fn.Name == "if" {
			first = 1
		}
		out := arg(first)
		for i := first + 1; i < len(x.Args); i++ {
			out = out.join(arg(i))
		}
		return out
	}
	return bounds{}
}

// IntegerBounds returns bounds of the results of + - * % DIV over integers, NULLs aside. of(i) gives the bounds of operand i. ok is false for other
// functions and for BIGINT UNSIGNED, where of knows no bounds, and where 64 bits may not hold them.
func IntegerBounds(x *Call, of func(i int) (lo, hi int64, ok bool)) (lo, hi int64, ok bool) {
	switch x.Fn.Name {
	case "add", "sub", "mul", "mod", "intdiv":
	default:
		return 0, 0, false
	}
	for _, t := range []types.Type{x.Typ, x.Args[0].Type(), x.Args[1].Type()} {
		if !t.IsInteger() || t.Kind == types.KindUint64 {
			return 0, 0, false
		}
	}
	var in [2][2]int64
	for i := range in {
		if in[i][0], in[i][1], ok = of(i); !ok {
			return 0, 0, false
		}
	}
	return Span(x.Fn.Name, in[0], in[1])
}

// Span returns bounds of the results of "add", "sub", "mul", "mod" or "intdiv" for operands within a and b. The operands are integers, or unscaled decimals
// whose scales need no adjustment. ok is false where the bounds are not known or 64 bits may not hold them.
func Span(operator string, a, b [2]int64) (lo, hi int64, ok bool) {
	wide := func(r [2]int64) bounds { return bounds{types.Int128FromInt64(r[0]), types.Int128FromInt64(r[1]), true} }
	out := intervalOf(operator, wide(a), wide(b))
	lo, okLo := out.lo.Int64()
	hi, okHi := out.hi.Int64()
	return lo, hi, out.ok && okLo && okHi
}

// intervalOf returns an interval that holds the results of an operator over two: of mod and intdiv, those that are not NULL.
func intervalOf(name string, a, b bounds) bounds {
	out := bounds{ok: a.ok && b.ok}
	keep := func(v types.Int128, ok bool) types.Int128 {
		out.ok = out.ok && ok
		return v
	}
	switch name {
	case "add":
		out.lo = keep(a.lo.Add(b.lo))
		out.hi = keep(a.hi.Add(b.hi))
	case "sub":
		out.lo = keep(a.lo.Sub(b.hi))
		out.hi = keep(a.hi.Sub(b.lo))
	case "mul":
		for i, x := range [2]types.Int128{a.lo, a.hi} {
			for j, y := range [2]types.Int128{b.lo, b.hi} {
				p := keep(x.Mul(y))
				if i|j == 0 || p.Less(out.lo) {
					out.lo = p
				}
				if i|j == 0 || out.hi.Less(p) {
					out.hi = p
				}
			}
		}
	case "mod":
		// A remainder has the sign of a, is no farther from 0 than a, and nearer than b.
		x, ok1 := b.lo.Abs()
		y, ok2 := b.hi.Abs()
		out.ok = out.ok && ok1 && ok2
		zero := types.Int128{}
		most := largest(largest(x, y).AddInt64(-1), zero)
		least, _ := most.Neg()
		out.lo, out.hi = largest(least, smallest(a.lo, zero)), smallest(most, largest(a.hi, zero))
	case "intdiv":
		// Over divisors that are positive the quotients of the ends are the ends.
		if b.lo.Sign() <= 0 {
			return bounds{}
		}
		lo, hi := b.hi, b.hi
		if a.lo.Sign() < 0 {
			lo = b.lo
		}
		if a.hi.Sign() > 0 {
			hi = b.lo
		}
		out.lo, _, _ = a.lo.QuoRem(lo)
		out.hi, _, _ = a.hi.QuoRem(hi)
	}
	return out
}

func smallest(a, b types.Int128) types.Int128 {
	if b.Less(a) {
		return b
	}
	return a
}

func largest(a, b types.Int128) types.Int128 {
	if a.Less(b) {
		return b
	}
	return a
}
