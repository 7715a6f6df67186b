package groupby

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/sql/expr"
)

// Sums have 128 bits, and nothing looks whether one leaves them: terms are bounded instead, so that all rows together cannot. A decimal
// of more digits than the bound has the CPU run the query.

// mostRows are more than come to a sink in half a day: at 10^11 a second.
const mostRows = 1 << 52

// mostTerms is how many rows come to the groups at most, so how many terms a sum has.
func (w *Way) mostTerms() float64 {
	if rows := w.MaxRows; !w.Plan.IsShared(w.f.Aggregate) && rows < mostRows {
		return rows
	}
	return mostRows
}

// termBits is the width of a sum's terms: any x with -2^width <= x < 2^width may come as often as rows do, and the sum has 128 bits.
func (w *Way) termBits() int {
	return 127 - bits.Len64(uint64(max(w.mostTerms(), 1))-1)
}

// boundTerm writes a check of a sum's term of 128 bits.
func (a *groupText) boundTerm(arg expr.Expr, v codegen.Value) {
	width := a.termBits()
	if digits := float64(arg.Type().Precision); digits > 0 && digits*math.Log2(10) < float64(width) {
		return
	}
	a.k.RaiseIf(fmt.Sprintf("(u64)(((i64)(%s >> 64) >> %s) + 1) > 1%s", v.Text, a.k.Literal(uint64(width-64)), codegen.NotNull(v.Null)), codegen.CodeOnCPU, arg)
}

// Sums of doubles, and of their squares, are exact, so that they do not depend on the order of rows. A group has limbs in device memory, and three atomics there for
// each row would make few groups as slow as one address is. So where threads or blocks have sums of their own, these are integers of 128 bits, in a unit that the
// first value chooses for all groups (fixed_term of gpukernels/device/aggregate.cuh), those of squares two such (square_term of variance.cuh); what is too large or
// too small for that is added to the limbs.

// exactWords is exact_words of aggregate.cuh.
const exactWords = 70

// fullRows are the rows that limbs are sure to have room for.
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
	a.inDevice(slot, func(slot string) { a.addExact(acc, v, slot) })
	k.Close()
}

// addExact adds a value, or its square, to a group's limbs in device memory.
func (a *groupText) addExact(acc *Accumulator, v codegen.Value, slot string) {
	limbs := fmt.Sprintf("%s + %d * %s, %s", a.arrayOf(acc, 0), exactWords, slot, v.Text)
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
