package expr

import (
	"cmp"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Comparisons straight into selections. Every loop writes each position and advances only past those that match, so
// that no branch depends on the data (Ross 2004, "Selection conditions in main memory").

// BoolToInt is 1 for true; the compiler makes a SETcc of it, not a branch.
func BoolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// selectConst appends to out the positions of sel (nil: 0..n-1) at which `a[i] op c`. c is not NaN; a may hold NaNs, which are
// greater than it.
func selectConst[T cmp.Ordered](op Op, a []T, c T, sel []int32, n int, out []int32) []int32 {
	k := 0
	if sel == nil {
		out = slices.Grow(out, n)
		dst := out[len(out) : len(out)+n]
		a = a[:n]
		switch op {
		case EQ, NSEQ:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(x == c)
			}
		case NE:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(x != c)
			}
		case LT:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(x < c)
			}
		case LE:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(x <= c)
			}
		case GT:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(!(x <= c))
			}
		case GE:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(!(x < c))
			}
		}
		return out[:len(out)+k]
	}
	out = slices.Grow(out, len(sel))
	dst := out[len(out) : len(out)+len(sel)]
	switch op {
	case EQ, NSEQ:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a[i] == c)
		}
	case NE:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a[i] != c)
		}
	case LT:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a[i] < c)
		}
	case LE:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a[i] <= c)
		}
	case GT:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(!(a[i] <= c))
		}
	case GE:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(!(a[i] < c))
		}
	}
	return out[:len(out)+k]
}

// selectPairs appends to out the positions of sel (nil: 0..n-1) at which `a[i] op b[i]`.
func selectPairs[T cmp.Ordered](op Op, a, b []T, sel []int32, n int, out []int32) []int32 {
	switch op {
	case GT:
		a, b, op = b, a, LT
	case GE:
		a, b, op = b, a, LE
	}
	k := 0
	if sel == nil {
		out = slices.Grow(out, n)
		dst := out[len(out) : len(out)+n]
		a, b = a[:n], b[:n]
		switch op {
		case EQ, NSEQ:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(x == b[i])
			}
		case NE:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(x != b[i])
			}
		case LT:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(x < b[i])
			}
		case LE:
			for i, x := range a {
				dst[k] = int32(i)
				k += BoolToInt(x <= b[i])
			}
		}
		return out[:len(out)+k]
	}
	out = slices.Grow(out, len(sel))
	dst := out[len(out) : len(out)+len(sel)]
	switch op {
	case EQ, NSEQ:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a[i] == b[i])
		}
	case NE:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a[i] != b[i])
		}
	case LT:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a[i] < b[i])
		}
	case LE:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a[i] <= b[i])
		}
	}
	return out[:len(out)+k]
}

// select128 is selectPairs for Int128; either side may be constant.
func select128(op Op, a, b Reader[types.Int128], sel []int32, n int, out []int32) []int32 {
	switch op {
	case GT:
		a, b, op = b, a, LT
	case GE:
		a, b, op = b, a, LE
	}
	sel = Positions(sel, n)
	out = slices.Grow(out, len(sel))
	dst := out[len(out) : len(out)+len(sel)]
	k := 0
	switch op {
	case EQ, NSEQ:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a.At(int(i)) == b.At(int(i)))
		}
	case NE:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a.At(int(i)) != b.At(int(i)))
		}
	case LT:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(a.At(int(i)).Less(b.At(int(i))))
		}
	case LE:
		for _, i := range sel {
			dst[k] = i
			k += BoolToInt(!b.At(int(i)).Less(a.At(int(i))))
		}
	}
	return out[:len(out)+k]
}

// selectTable appends the positions of sel (nil: 0..n-1) at which table[codes[i]] is want.
func selectTable(table []uint8, want uint8, codes []uint32, sel []int32, n int, out []int32) []int32 {
	k := 0
	if sel == nil {
		out = slices.Grow(out, n)
		dst := out[len(out) : len(out)+n]
		for i, c := range codes[:n] {
			dst[k] = int32(i)
			k += BoolToInt(table[c] == want)
		}
		return out[:len(out)+k]
	}
	out = slices.Grow(out, len(sel))
	dst := out[len(out) : len(out)+len(sel)]
	for _, i := range sel {
		dst[k] = i
		k += BoolToInt(table[codes[i]] == want)
	}
	return out[:len(out)+k]
}

// subtract stores in dst, which may be a's memory, the positions of a that are not in b. Both ascend, and b is part of a.
func subtract(dst, a, b []int32) []int32 {
	dst = slices.Grow(dst[:0], len(a))[:len(a)]
	if len(b) > markedRows && int(a[len(a)-1]) < column.VectorSize {
		return subtractMarked(dst, a, b)
	}
	j, k := 0, 0
	for i, x := range a {
		if j == len(b) {
			k += copy(dst[k:], a[i:])
			break
		}
		same := BoolToInt(b[j] == x) // which is as good as random: no branch
		dst[k] = x
		j += same
		k += 1 - same
	}
	return dst[:k]
}

// markedRows is from how many positions on subtract marks them first, so that no step waits for the one before.
const markedRows = 128

func subtractMarked(dst, a, b []int32) []int32 {
	var in [column.VectorSize]uint8
	for _, x := range b {
		in[x&(column.VectorSize-1)] = 1
	}
	k := 0
	for _, x := range a {
		dst[k] = x
		k += 1 - int(in[x&(column.VectorSize-1)])
	}
	return dst[:k]
}

// union stores in dst, which is neither's memory, the positions of a and b in order. Both ascend and share nothing.
func union(dst, a, b []int32) []int32 {
	dst = dst[:0]
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			dst = append(dst, a[0])
			a = a[1:]
		} else {
			dst = append(dst, b[0])
			b = b[1:]
		}
	}
	dst = append(dst, a...)
	return append(dst, b...)
}
