package encoding

import (
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// The selection kernels. Each writes the positions of src (0..len(src)-1, or those of in) that pass to out and returns
// how many there are. They store every position and advance by the outcome, so that no branch depends on the data
// (Ross 2004, "Selection conditions in main memory"). out may be the memory of in.

// selectRange passes lo <= x <= hi, where lo <= hi: a difference below 0 is a large number without a sign.
func selectRange[U uint8 | uint16 | uint32](src []U, lo, hi int64, in, out []int32) int {
	k, span := 0, uint64(hi-lo)
	if in == nil {
		out = out[:len(src)]
		for i, u := range src {
			out[k] = int32(i)
			k += one(uint64(int64(u)-lo) <= span)
		}
		return k
	}
	for _, p := range in {
		out[k] = p
		k += one(uint64(int64(src[p])-lo) <= span)
	}
	return k
}

// selectOutside passes x < lo or x > hi, where lo <= hi.
func selectOutside[U uint8 | uint16 | uint32](src []U, lo, hi int64, in, out []int32) int {
	k, span := 0, uint64(hi-lo)
	if in == nil {
		out = out[:len(src)]
		for i, u := range src {
			out[k] = int32(i)
			k += one(uint64(int64(u)-lo) > span)
		}
		return k
	}
	for _, p := range in {
		out[k] = p
		k += one(uint64(int64(src[p])-lo) > span)
	}
	return k
}

// selectRange64 passes the x for which x-lo, as an unsigned number, is at most span; if negate, the others. It serves
// signed and unsigned integers alike.
func selectRange64(src []int64, lo, span uint64, negate bool, in, out []int32) int {
	k := 0
	flip := uint64(1) // the borrow of span-(x-lo) says that x is outside
	if negate {
		flip = 0
	}
	if in == nil {
		out = out[:len(src)]
		for i, x := range src {
			out[k] = int32(i)
			_, outside := bits.Sub64(span, uint64(x)-lo, 0)
			k += int(outside ^ flip)
		}
		return k
	}
	for _, p := range in {
		out[k] = p
		_, outside := bits.Sub64(span, uint64(src[p])-lo, 0)
		k += int(outside ^ flip)
	}
	return k
}

// selectTable passes the x for which table[x] is 1.
func selectTable[U uint8 | uint16 | uint32](src []U, table []uint8, in, out []int32) int {
	k := 0
	if in == nil {
		out = out[:len(src)]
		for i, u := range src {
			out[k] = int32(i)
			k += int(table[u])
		}
		return k
	}
	for _, p := range in {
		out[k] = p
		k += int(table[src[p]])
	}
	return k
}

// selectFloats passes lo <= x <= hi in the order of types.CompareFloats; if negate, the others.
func selectFloats(src []float64, lo, hi float64, negate bool, in, out []int32) int {
	if lo != lo { // and so is hi
		return selectFunc(len(src), in, out, func(i int32) bool { return (src[i] != src[i]) != negate })
	}
	k := 0
	flip := 0
	if negate {
		flip = 1
	}
	switch {
	case hi != hi && in == nil:
		out = out[:len(src)]
		for i, x := range src {
			out[k] = int32(i)
			k += one(!(x < lo)) ^ flip // which NaN passes
		}
		return k
	case hi != hi:
		for _, p := range in {
			out[k] = p
			k += one(!(src[p] < lo)) ^ flip
		}
		return k
	case in == nil:
		out = out[:len(src)]
		for i, x := range src {
			out[k] = int32(i)
			k += one(x >= lo)&one(x <= hi) ^ flip
		}
		return k
	}
	for _, p := range in {
		out[k] = p
		x := src[p]
		k += one(x >= lo)&one(x <= hi) ^ flip
	}
	return k
}

// one is 1 for true; the compiler makes it a SETcc instruction.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// selectWide passes lo <= x <= hi; if negate, the others.
func selectWide(src []types.Int128, lo, hi types.Int128, negate bool, in, out []int32) int {
	return selectFunc(len(src), in, out, func(i int32) bool {
		return (src[i].Less(lo) || hi.Less(src[i])) == negate
	})
}

// selectFunc passes the positions for which test is true.
func selectFunc(n int, in, out []int32, test func(int32) bool) int {
	k := 0
	if in == nil {
		for i := range int32(n) {
			out[k] = i
			k += one(test(i))
		}
		return k
	}
	for _, p := range in {
		out[k] = p
		k += one(test(p))
	}
	return k
}

// selectBits passes the positions whose bit, counted from from, is set; if negate, the others.
func selectBits(valid column.Bitmap, from, n int, negate bool, in, out []int32) int {
	k := 0
	flip := 0
	if negate {
		flip = 1
	}
	if in == nil {
		for i := range n {
			out[k] = int32(i)
			k += one(valid.Get(from+i)) ^ flip
		}
		return k
	}
	for _, p := range in {
		out[k] = p
		k += one(valid.Get(from+int(p))) ^ flip
	}
	return k
}

// selectRows passes the positions first <= i < last.
func selectRows(n, first, last int, in, out []int32) int {
	if in == nil {
		k := 0
		for i := max(first, 0); i < min(last, n); i++ {
			out[k] = int32(i)
			k++
		}
		return k
	}
	return selectFunc(n, in, out, func(i int32) bool { return int(i) >= first && int(i) < last })
}

// rareMembers is how many values of a bitmap's range there are to a member, at least, where most runs of four rows are expected to have none.
const rareMembers = 32

// selectRare passes the x whose bit, that of offset+x, is set; the last word is of zeros. It stores nothing for four rows that all fail.
func selectRare[U uint32 | int64](src []U, offset uint64, words []uint64, out []int32) int {
	k, last := 0, uint64(len(words)-1)*64
	bit := func(x U) int {
		d := min(offset+uint64(x), last)
		return int(words[d>>6] >> (d & 63) & 1)
	}
	i := 0
	for ; i+4 <= len(src); i += 4 {
		x := src[i : i+4 : i+4]
		b0, b1, b2, b3 := bit(x[0]), bit(x[1]), bit(x[2]), bit(x[3])
		if b0|b1|b2|b3 == 0 {
			continue
		}
		out[k] = int32(i)
		k += b0
		out[k] = int32(i + 1)
		k += b1
		out[k] = int32(i + 2)
		k += b2
		out[k] = int32(i + 3)
		k += b3
	}
	for ; i < len(src); i++ {
		out[k] = int32(i)
		k += bit(src[i])
	}
	return k
}

// selectSet passes the x for which base+x is a member of s; flip is 1 to pass the others.
func selectSet[U uint32 | int64](src []U, base int64, s *IntSet, flip int, in, out []int32) int {
	k := 0
	if s.words != nil {
		words, offset, last := s.words, uint64(base)-uint64(s.min), uint64(len(s.words)-1)*64
		if in == nil {
			out = out[:len(src)]
			if flip == 0 && uint64(s.count) < s.span/rareMembers {
				return selectRare(src, offset, words, out)
			}
			for i, x := range src {
				d := min(offset+uint64(x), last)
				out[k] = int32(i)
				k += int(words[d>>6]>>(d&63)&1) ^ flip
			}
			return k
		}
		for _, p := range in {
			d := min(offset+uint64(src[p]), last)
			out[k] = p
			k += int(words[d>>6]>>(d&63)&1) ^ flip
		}
		return k
	}
	if in == nil {
		out = out[:len(src)]
		for i := range out {
			out[i] = int32(i)
		}
		in = out
	}
	switch {
	case s.few != nil:
		for _, p := range in {
			out[k] = p
			x, hit := base+int64(src[p]), 0
			for _, m := range s.few {
				hit |= one(x == m)
			}
			k += hit ^ flip
		}
	case s.bloom != nil:
		b, offset := s.bloom, uint64(base)-uint64(s.min)
		last := src[in[0]] // rows of one key often follow each other, and a search may miss the caches
		hit := one(offset+uint64(last) <= s.span) & b.bit(base+int64(last))
		for _, p := range in {
			if x := src[p]; x != last {
				last, hit = x, one(offset+uint64(x) <= s.span)&b.bit(base+int64(x))
			}
			out[k] = p
			k += hit ^ flip
		}
	default:
		for _, p := range in {
			out[k] = p
			k += one(s.Contains(base+int64(src[p]))) ^ flip
		}
	}
	return k
}
