package expr

import (
	"slices"

	"github.com/radish-sql/radish/sql/types"
)

// Comparisons of doubles straight into selections, in the order of [types.CompareFloats]. The processor's comparisons with NaN are
// false, so each is put so that this is the right answer.

// selectConstFloats appends to out the positions of sel (nil: 0..n-1) at which `a[i] op c`.
func selectConstFloats(op Op, a []float64, c float64, sel []int32, n int, out []int32) []int32 {
	if c == c {
		return selectConst(op, a, c, sel, n, out) // x > c is !(x <= c) there, which NaN passes
	}
	switch op {
	case GT:
		return out
	case LE:
		return append(out, Positions(sel, n)...)
	case EQ, NSEQ, GE:
		return chooseIf(Positions(sel, n), out, func(i int32) bool { return a[i] != a[i] })
	}
	return chooseIf(Positions(sel, n), out, func(i int32) bool { return a[i] == a[i] })
}

// equalFloat is 1 for equal doubles.
func equalFloat(x, y float64) int { return BoolToInt(x == y) | BoolToInt(x != x)&BoolToInt(y != y) }

// lessFloat is 1 if x < y.
func lessFloat(x, y float64) int { return BoolToInt(x < y) | BoolToInt(x == x)&BoolToInt(y != y) }

// selectPairsFloats appends to out the positions of sel (nil: 0..n-1) at which `a[i] op b[i]`.
func selectPairsFloats(op Op, a, b []float64, sel []int32, n int, out []int32) []int32 {
	not := 0
	switch op { // all are EQ or LT, or the opposite
	case NE:
		op, not = EQ, 1
	case NSEQ:
		op = EQ
	case GT:
		a, b, op = b, a, LT
	case LE:
		a, b, op, not = b, a, LT, 1
	case GE:
		op, not = LT, 1
	}
	k := 0
	if sel == nil {
		out = slices.Grow(out, n)
		dst := out[len(out) : len(out)+n]
		a, b = a[:n], b[:n]
		if op == EQ {
			for i, x := range a {
				dst[k] = int32(i)
				k += equalFloat(x, b[i]) ^ not
			}
		} else {
			for i, x := range a {
				dst[k] = int32(i)
				k += lessFloat(x, b[i]) ^ not
			}
		}
		return out[:len(out)+k]
	}
	out = slices.Grow(out, len(sel))
	dst := out[len(out) : len(out)+len(sel)]
	for _, i := range sel {
		dst[k] = i
		if op == EQ {
			k += equalFloat(a[i], b[i]) ^ not
		} else {
			k += lessFloat(a[i], b[i]) ^ not
		}
	}
	return out[:len(out)+k]
}

// betterFloat says whether a takes b's place as GREATEST (GT) or LEAST (LT).
func betterFloat(op Op) func(a, b float64) bool {
	return func(a, b float64) bool { return (op == LT) == types.LessFloats(a, b) }
}
