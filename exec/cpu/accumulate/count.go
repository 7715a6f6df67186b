package accumulate

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
)

// Count counts rows, or the values of its argument that are not NULL.
type Count struct{ N []int64 }

func (a *Count) Grow(n int)   { a.N = grown(a.N, n, 0) }
func (a *Count) Bytes() int64 { return 8 * int64(cap(a.N)) }

func (a *Count) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	var valid column.Bitmap
	if len(args) > 0 {
		valid = args[0].Valid
	}
	n := a.N
	switch {
	case groups == nil && valid == nil:
		n[0] += int64(len(sel))
	case groups == nil:
		for _, p := range sel {
			n[0] += int64(valid[p>>6] >> (uint(p) & 63) & 1)
		}
	case valid == nil && len(n) <= fewGroups:
		countFew(n, groups)
	case valid == nil:
		for _, g := range groups {
			n[g]++
		}
	default:
		words := runWords(valid, sel)
		for w, set := range words {
			part := groups[w<<6:][:64]
			for ; set != 0; set &= set - 1 {
				n[part[bits.TrailingZeros64(set)]]++
			}
		}
		groups, sel = groups[len(words)<<6:], sel[len(words)<<6:]
		for i, p := range sel {
			n[groups[i]] += int64(valid[p>>6] >> (uint(p) & 63) & 1)
		}
	}
	return nil
}

// runWords returns the words of valid that stand for the first rows of sel, 64 each, where sel has no gaps and begins with a word. Where most values are NULL,
// as of a CASE without ELSE, looking for the bits of a word takes less than testing one row after the other.
func runWords(valid column.Bitmap, sel []int32) []uint64 {
	n := len(sel)
	if n < 64 || sel[0]&63 != 0 || int(sel[n-1]-sel[0]) != n-1 {
		return nil
	}
	return valid[sel[0]>>6:][:n>>6]
}

func (a *Count) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*Count)
	for i, g := range dst {
		a.N[g] += s.N[from[i]]
	}
	return nil
}

func (a *Count) values(_ *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		v.I64[i] = a.N[g]
	}
	return nil
}
