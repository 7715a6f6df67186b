package groupby

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Sums have 128 bits, and no kernel checks them for overflow. Instead terms are bounded, so that all rows together fit. A decimal
// of more digits than the bound has the CPU run the query.

// mostRows is more than a sink gets in half a day, at 10^11 rows a second.
const mostRows = 1 << 52

// mostTerms is how many rows come to the groups at most, so how many terms a sum has.
func (feed *Feed) mostTerms() float64 {
	if rows := feed.MaxRows; !feed.Pipelines.IsShared(feed.f.Aggregate) && rows < mostRows {
		return rows
	}
	return mostRows
}

// termBits is the width of a sum's terms: any x with -2^width <= x < 2^width may come as often as rows do, and the sum has 128 bits.
func (feed *Feed) termBits() int {
	return 127 - bits.Len64(uint64(max(feed.mostTerms(), 1))-1)
}

// boundTerm writes a check of a sum's term of 128 bits.
func (a *groupText) boundTerm(arg expr.Expr, v codegen.Value) {
	width := a.termBits()
	if digits := float64(arg.Type().Precision); digits > 0 && digits*math.Log2(10) < float64(width) {
		return
	}
	a.k.RaiseIf(fmt.Sprintf("(u64)(((i64)(%s >> 64) >> %s) + 1) > 1%s", v.Text, a.k.Literal(uint64(width-64)), codegen.NotNull(v.Null)), codegen.CodeOnCPU, arg)
}

// Sums of doubles, and of their squares, are exact, so the order of rows does not matter. A group has limbs in device memory. As adding to
// these for each row would make few groups slow, threads and blocks have sums of their own. These are integers of 128 bits, in a unit that the first value chooses for all groups
// (fixed_term of gpukernels/device/aggregate.cuh), those of squares two such (square_term of variance.cuh). What is too large or too small for that is added to the limbs.

// ExactWords are the words of a group that has limbs: exact_words of aggregate.cuh.
const ExactWords = 70

// fullRows are the rows that limbs are sure to hold.
const fullRows = 1 << 30

// addFloat adds a value, or its square, to a sum of the thread's or the block's, which add does for an i128 or a SquareTerm, or, if it does not fit that, to the
// group's limbs.
func (a *groupText) addFloat(acc *Accumulator, v codegen.Value, slot string, add func(term string)) {
	k := a.k
	shared := k.Pointer("u32", kernel.CounterWord{Of: windowOf{acc}})
	window := a.windows[acc]
	if window == "" {
		window = k.Name("window")
		a.windows[acc] = window
		a.decl = append(a.decl, fmt.Sprintf("u32 %s = load_relaxed(%s);", window, shared))
	}
	const mantissa = 53
	capacity, typ, fit := a.termBits()-mantissa, "i128", "fixed_term"
	if acc.op == accFloatSquares {
		capacity, typ, fit = (64+a.termBits())/2-mantissa, "SquareTerm", "square_term"
	}
	term := k.Name("term")
	k.Line("%s %s;", typ, term)
	k.Open("if (%s(%s, &%s, %s, (i32)%s, &%s)) {", fit, v.Text, window, shared, k.Literal(uint64(min(capacity, 64))), term)
	add(term)
	k.Else()
	a.atGroup(slot, func(slot string) { a.addExact(acc, v, slot) })
	k.Close()
}

// addExact adds a value, or its square, to a group's limbs in device memory.
func (a *groupText) addExact(acc *Accumulator, v codegen.Value, slot string) {
	limbs := fmt.Sprintf("%s + %d * %s, %s", a.arrayOf(acc, 0), ExactWords, slot, v.Text)
	full := a.mostTerms() > fullRows
	switch {
	case acc.op == accFloatSquares:
		a.k.RaiseIf(fmt.Sprintf("add_square<%v>(%s)", full, limbs), codegen.CodeOnCPU, acc.arg)
	case full:
		a.k.RaiseIf(fmt.Sprintf("add_exact<true>(%s)", limbs), codegen.CodeOnCPU, acc.arg)
	default:
		a.k.Line("add_exact<false>(%s);", limbs)
	}
}

// Variances and standard deviations are (n * squares - sum^2) / n^2 of a count, a sum and a sum of squares. All three are exact (variance.cuh).
//
// Integers and decimals are added up as integers. If squares have more than 64 bits, distances from a number between
// the values are added up instead, which changes no variance. Doubles are added up as for SUM. The CPU runs the query where a square is too large
// for limbs, or a variance is of the size of the smallest doubles.

// maxExact bounds the integers that are doubles, too.
const maxExact = 1 << 53

// addVariances adds what variances are computed from, once ranges are known.
func (feed *Feed) addVariances() {
	f := feed.f
	for i := range f.Aggregate.Aggs {
		it := &f.Aggregate.Aggs[i]
		if !isVariance(it.Fn.Kind) {
			continue
		}
		out := &f.items[i]
		arg, of, square, ok := feed.exactSquare(it.Args[0])
		if !ok {
			out.acc, out.squares = f.acc(accFloatSum, arg), f.acc(accFloatSquares, arg)
		} else {
			out.acc, out.squares = f.acc(accSum, of), f.acc(accSum, square)
			f.Accs[out.acc].nulls, f.Accs[out.squares].nulls = arg, arg
		}
		if arg.Nullable() {
			out.count = f.acc(accCount, arg)
		} else {
			out.count = f.acc(accCount, nil)
		}
	}
}

// exactSquare returns the integers or decimals that a variance's argument is made of, what they are added up as and the square of that; ok is false where
// doubles have to be added up.
func (feed *Feed) exactSquare(e expr.Expr) (arg, of, square expr.Expr, ok bool) {
	cast, isCast := e.(*expr.Cast)
	if !isCast || !codegen.ExactType(cast.Arg.Type()) || 2*codegen.ScaleOf(cast.Arg.Type()) > types.MaxDecimalScale {
		return e, nil, nil, false
	}
	x := cast.Arg
	r, ok := feed.within(x)
	if !ok || r.Magnitude() > maxExact {
		return e, nil, nil, false
	}
	scale := codegen.ScaleOf(x.Type())
	of, short := x, x
	if x.Type().Phys() != types.PhysInt64 {
		short = &expr.Cast{Arg: x, To: types.Decimal(types.MaxShortDecimal, scale)}
	}
	most := r.Magnitude() * r.Magnitude()
	if distance := math.Ceil(float64(r.Hi-r.Lo) / 2); most >= 1<<63 && distance*distance < 1<<63 {
		middle := types.DecimalValue(types.Decimal(types.MaxShortDecimal, scale), types.Int128FromInt64(r.Lo+(r.Hi-r.Lo)/2))
		short = &expr.Call{Fn: expr.Lookup("sub"), Args: []expr.Expr{short, &expr.Const{Value: middle}}, Typ: middle.Type, Null: x.Nullable()}
		of, most = short, distance*distance
	}
	if most*feed.mostTerms() >= 1<<126 {
		return e, nil, nil, false
	}
	digits := types.MaxShortDecimal
	if most >= 1<<63 {
		digits = int(math.Ceil(math.Log10(most)))
	}
	return x, of, &expr.Call{Fn: expr.Lookup("mul"), Args: []expr.Expr{short, short}, Typ: types.Decimal(digits, 2*scale), Null: x.Nullable()}, true
}

// within bounds an argument's values, those of all pipelines that end in the sink.
func (feed *Feed) within(e expr.Expr) (r form.Interval, ok bool) {
	if !feed.Pipelines.IsShared(feed.f.Aggregate) {
		if r, ok = feed.Forms.Ranges().Of(e); ok {
			return r, true
		}
	}
	switch t := e.Type(); {
	case codegen.IsSmallInteger(t) && t.Phys() == types.PhysInt64:
		return form.Interval{Lo: math.MinInt32, Hi: math.MaxUint32}, true
	case t.Kind == types.KindDecimal && t.Precision <= 15:
		most := types.Pow10(int(t.Precision))
		return form.Interval{Lo: -most, Hi: most}, true
	}
	return form.Interval{}, false
}

// isVariance says whether an aggregate is a variance or a standard deviation.
func isVariance(k expr.AggKind) bool {
	switch k {
	case expr.AggVarPop, expr.AggVarSamp, expr.AggStddevPop, expr.AggStddevSamp:
		return true
	}
	return false
}
