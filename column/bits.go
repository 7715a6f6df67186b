package column

import "math/bits"

// Slice returns bits from .. from+n-1 as a bitmap of n bits, or nil if all of them are set (or b is nil). It shares b's
// words where from is a multiple of 64, as it is in scans; the bits beyond n are unspecified.
func (b Bitmap) Slice(from, n int) Bitmap {
	if b == nil || b.AllSet(from, n) {
		return nil
	}
	w := BitmapWords(n)
	if from&63 == 0 {
		return b[from>>6 : from>>6+w : from>>6+w]
	}
	out := make(Bitmap, w)
	for i := range out {
		out[i] = b.word(from + i<<6)
	}
	return out
}

// word returns the 64 bits that start at bit i; bits beyond the end are clear.
func (b Bitmap) word(i int) uint64 {
	w, shift := i>>6, uint(i)&63
	x := b[w] >> shift
	if shift != 0 && w+1 < len(b) {
		x |= b[w+1] << (64 - shift)
	}
	return x
}

// AllSet says whether bits from .. from+n-1 are all set.
func (b Bitmap) AllSet(from, n int) bool { return b.CountZerosIn(from, n) == 0 }

// CountZerosIn returns the number of clear bits among from .. from+n-1.
func (b Bitmap) CountZerosIn(from, n int) int {
	if b == nil {
		return 0
	}
	zeros := 0
	for ; n >= 64; n, from = n-64, from+64 {
		zeros += 64 - bits.OnesCount64(b.word(from))
	}
	if n > 0 {
		zeros += n - bits.OnesCount64(b.word(from)&(1<<uint(n)-1))
	}
	return zeros
}

// CopyBits copies n bits of src, starting at from, to dst, starting at at. A nil src stands for all ones.
func CopyBits(dst Bitmap, at int, src Bitmap, from, n int) {
	for n > 0 {
		// One piece within a word of dst.
		shift := uint(at) & 63
		m := min(n, 64-int(shift))
		x := ^uint64(0)
		if src != nil {
			x = src.word(from)
		}
		mask := ^uint64(0) >> (64 - uint(m)) << shift
		dst[at>>6] = dst[at>>6]&^mask | x<<shift&mask
		at, from, n = at+m, from+m, n-m
	}
}

// CountOnes returns the number of set bits among the first n; a nil bitmap has n.
func (b Bitmap) CountOnes(n int) int { return n - b.CountZeros(n) }
