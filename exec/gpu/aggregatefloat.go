package gpu

import "fmt"

// Sums of doubles are exact, so that they do not depend on the order of rows. A group has limbs in device memory, and three atomics there for each row would make
// few groups as slow as one address is. So where threads or blocks have sums of their own, these are integers of 128 bits, in a unit that the
// first value chooses for all groups (fixed_term of gpukernels/device/aggregate.cuh); what is too large or too small for that is added to the limbs.

// exactWords is exact_words of aggregate.cuh.
const exactWords = 70

// fullRows are the rows that limbs are sure to have room for.
const fullRows = 1 << 30

// addFloat adds a value to a sum of the thread's or the block's, which add does for an i128, or, if it does not fit that, to the group's limbs.
func (a *aggregateText) addFloat(acc *accForm, v value, place string, add func(term string)) {
	k := a.k
	shared := k.pointer("u32", counterWord{of: windowOf{acc}})
	window := a.windows[acc]
	if window == "" {
		window = k.name("window")
		a.windows[acc] = window
		a.decl = append(a.decl, fmt.Sprintf("u32 %s = load_relaxed(%s);", window, shared))
	}
	const mantissa = 53
	room := min(a.termBits()-mantissa, 64)
	term := k.name("term")
	k.line("i128 %s;", term)
	k.open("if (fixed_term(%s, &%s, %s, (i32)%s, &%s)) {", v.text, window, shared, k.literal(uint64(room)), term)
	add(term)
	k.otherwise()
	a.inDevice(place, func(place string) { a.addExact("add_exact", acc, v, place) })
	k.close()
}

// addExact adds a value, or its square, to a group's limbs in device memory.
func (a *aggregateText) addExact(add string, acc *accForm, v value, place string) {
	limbs := fmt.Sprintf("%s + %d * %s, %s", a.arrayOf(acc, 0), exactWords, place, v.text)
	if a.mostTerms() <= fullRows {
		a.k.line("%s<false>(%s);", add, limbs)
		return
	}
	a.k.raiseIf(fmt.Sprintf("%s<true>(%s)", add, limbs), errOnCPU, acc.arg)
}

// floatLimbs is the C++ of the address of an accumulator's limbs in group number row.
func (k *kernel) floatLimbs(f *aggForm, acc *accForm) string {
	return fmt.Sprintf("%s + %d * row", k.pointer("const i64", aggWord{f.p, acc.at}), exactWords)
}

// floatSum is the C++ of the arguments that say what a sum of doubles is in group number row: its limbs, what fitted the window, and that.
func (k *kernel) floatSum(f *aggForm, acc *accForm) string {
	return fmt.Sprintf("%s, %s, *%s", k.floatLimbs(f, acc), k.wideText(f, acc.at+1), k.pointer("const u32", counterWord{of: windowOf{acc}}))
}
