package types

import "math/bits"

// uint128 is the magnitude under Int128's signed operations, and half of the 256-bit products that decimal
// division needs.
type uint128 struct{ hi, lo uint64 }

// abs returns a's magnitude, 2^127 included.
func (a Int128) abs() (u uint128, neg bool) {
	if a.Hi >= 0 {
		return uint128{uint64(a.Hi), a.Lo}, false
	}
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.Hi), borrow)
	return uint128{hi, lo}, true
}

// signed returns u or -u; ok is false where that does not fit an Int128, and then the value is 0.
func (u uint128) signed(neg bool) (v Int128, ok bool) {
	if !neg {
		if int64(u.hi) < 0 {
			return Int128{}, false
		}
		return Int128{int64(u.hi), u.lo}, true
	}
	lo, borrow := bits.Sub64(0, u.lo, 0)
	hi, _ := bits.Sub64(0, u.hi, borrow)
	if int64(hi) >= 0 && hi|lo != 0 {
		return Int128{}, false
	}
	return Int128{int64(hi), lo}, true
}

func (u uint128) less(v uint128) bool { return u.hi < v.hi || u.hi == v.hi && u.lo < v.lo }

// add returns u+v and the carry out of the 128 bits.
func (u uint128) add(v uint128) (uint128, uint64) {
	lo, c := bits.Add64(u.lo, v.lo, 0)
	hi, c := bits.Add64(u.hi, v.hi, c)
	return uint128{hi, lo}, c
}

// sub returns u-v and wraps.
func (u uint128) sub(v uint128) uint128 {
	lo, b := bits.Sub64(u.lo, v.lo, 0)
	hi, _ := bits.Sub64(u.hi, v.hi, b)
	return uint128{hi, lo}
}

func (u uint128) shl(n uint) uint128 {
	if n >= 64 {
		return uint128{hi: u.lo << (n - 64)}
	}
	return uint128{u.hi<<n | u.lo>>(64-n), u.lo << n}
}

func (u uint128) shr(n uint) uint128 {
	if n >= 64 {
		return uint128{lo: u.hi >> (n - 64)}
	}
	return uint128{u.hi >> n, u.lo>>n | u.hi<<(64-n)}
}

// mul returns the 256-bit product of u and v as two halves.
func (u uint128) mul(v uint128) (hi, lo uint128) {
	h0, l0 := bits.Mul64(u.lo, v.lo)
	h1, l1 := bits.Mul64(u.hi, v.lo)
	h2, l2 := bits.Mul64(u.lo, v.hi)
	h3, l3 := bits.Mul64(u.hi, v.hi)
	lo.lo = l0
	var c1, c2, c3 uint64
	lo.hi, c1 = bits.Add64(h0, l1, 0)
	lo.hi, c2 = bits.Add64(lo.hi, l2, 0)
	hi.lo, c3 = bits.Add64(h1, l3, c1)
	hi.hi = h3 + c3
	hi.lo, c3 = bits.Add64(hi.lo, h2, c2)
	hi.hi += c3
	return hi, lo
}

// mul10Add returns 10u+d; ok is false if that needs more than 128 bits.
func (u uint128) mul10Add(d uint8) (v uint128, ok bool) {
	c, lo := bits.Mul64(u.lo, 10)
	over, hi := bits.Mul64(u.hi, 10)
	lo, carry := bits.Add64(lo, uint64(d), 0)
	hi, carry = bits.Add64(hi, c, carry)
	return uint128{hi, lo}, over|carry == 0
}

// quoRem64 returns u/v and the remainder; v is not 0.
func (u uint128) quoRem64(v uint64) (quo uint128, rem uint64) {
	if u.hi < v {
		quo.lo, rem = bits.Div64(u.hi, u.lo, v)
		return quo, rem
	}
	quo.hi, rem = bits.Div64(0, u.hi, v)
	quo.lo, rem = bits.Div64(rem, u.lo, v)
	return quo, rem
}

// quoRem returns u/v and the remainder; v is not 0.
func (u uint128) quoRem(v uint128) (quo, rem uint128) {
	if v.hi == 0 {
		q, r := u.quoRem64(v.lo)
		return q, uint128{lo: r}
	}
	if u.less(v) {
		return uint128{}, u
	}
	return div256(uint128{}, u, v)
}

// div256 divides the 256-bit number (hi, lo) by v; hi must be less than v, so that the quotient fits 128 bits.
//
// Schoolbook division with a two-word divisor (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D),
// one quotient word at a time.
func div256(hi, lo, v uint128) (quo, rem uint128) {
	if v.hi == 0 {
		quo.hi, rem.lo = bits.Div64(hi.lo, lo.hi, v.lo)
		quo.lo, rem.lo = bits.Div64(rem.lo, lo.lo, v.lo)
		return quo, rem
	}
	n := uint(bits.LeadingZeros64(v.hi))
	if n > 0 {
		v = v.shl(n)
		carry := lo.shr(128 - n)
		hi = hi.shl(n)
		hi.lo |= carry.lo
		lo = lo.shl(n)
	}
	quo.hi, hi = div3by2(hi, lo.hi, v)
	quo.lo, rem = div3by2(hi, lo.lo, v)
	return quo, rem.shr(n)
}

// div3by2 divides the three words (u, low) by the normalised v (its top bit is set); u < v.
func div3by2(u uint128, low uint64, v uint128) (q uint64, rem uint128) {
	var carry uint64
	if u.hi >= v.hi {
		// The true digit is at most 2^64-1; the estimate q = 2^64-1 leaves r = u.hi*2^64 + u.lo - q*v.hi.
		q = ^uint64(0)
		rem.hi, carry = bits.Add64(u.lo, v.hi, 0)
	} else {
		q, rem.hi = bits.Div64(u.hi, u.lo, v.hi)
	}
	// q is at most two too large; rem.hi (with its carry) is the remainder of the leading words.
	for carry == 0 {
		h, l := bits.Mul64(q, v.lo)
		if h < rem.hi || h == rem.hi && l <= low {
			break
		}
		q--
		rem.hi, carry = bits.Add64(rem.hi, v.hi, 0)
	}
	h, l := bits.Mul64(q, v.lo)
	var b uint64
	rem.lo, b = bits.Sub64(low, l, 0)
	rem.hi, _ = bits.Sub64(rem.hi, h, b)
	return q, rem
}
