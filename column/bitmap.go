package column

import "math/bits"

// Bitmap is a validity bitmap in Arrow's layout: bit i is set if value i is not NULL. A nil Bitmap means that all
// values are valid.
type Bitmap []uint64

// BitmapWords is the number of words that n bits take.
func BitmapWords(n int) int { return (n + 63) >> 6 }

// NewBitmap returns a bitmap of n bits, all set or all clear.
func NewBitmap(n int, set bool) Bitmap {
	b := make(Bitmap, BitmapWords(n))
	if set {
		for i := range b {
			b[i] = ^uint64(0)
		}
	}
	return b
}

// Get returns bit i.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// ClearRange clears the bits from .. to-1.
func (b Bitmap) ClearRange(from, to int) {
	for ; from < to && from&63 != 0; from++ {
		b.Clear(from)
	}
	for ; from+64 <= to; from += 64 {
		b[from>>6] = 0
	}
	for ; from < to; from++ {
		b.Clear(from)
	}
}

// CountZeros returns the number of clear bits among the first n: the number of NULLs.
func (b Bitmap) CountZeros(n int) int {
	if b == nil {
		return 0
	}
	ones := 0
	full := n >> 6
	for _, w := range b[:full] {
		ones += bits.OnesCount64(w)
	}
	if r := uint(n) & 63; r != 0 {
		ones += bits.OnesCount64(b[full] & (1<<r - 1))
	}
	return n - ones
}

// And stores the conjunction of x and y, of n bits, in dst's memory where it is large enough, and returns it. A nil
// operand stands for all ones; if both are nil the result is nil.
func And(dst, x, y Bitmap, n int) Bitmap {
	if x == nil && y == nil {
		return nil
	}
	w := BitmapWords(n)
	if cap(dst) < w {
		dst = make(Bitmap, w)
	}
	dst = dst[:w]
	switch {
	case x == nil:
		copy(dst, y[:w])
	case y == nil:
		copy(dst, x[:w])
	default:
		for i := range dst {
			dst[i] = x[i] & y[i]
		}
	}
	return dst
}
