package groupby

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

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
