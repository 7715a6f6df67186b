package types

import (
	"math"
	"math/bits"
)

// Int128 is a signed 128-bit integer in two's complement. Its zero value is 0.
//
// It carries the unscaled value of a DECIMAL of more than 18 digits and the exact sum of any column of 64-bit
// integers. Arithmetic that can leave the range reports it; nothing wraps silently unless its comment says so.
type Int128 struct {
	Hi int64
	Lo uint64
}

// The least and the greatest Int128.
var (
	MinInt128 = Int128{Hi: math.MinInt64}
	MaxInt128 = Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
)

// Int128FromInt64 returns i.
func Int128FromInt64(i int64) Int128 { return Int128{Hi: i >> 63, Lo: uint64(i)} }

// Int128FromUint64 returns u.
func Int128FromUint64(u uint64) Int128 { return Int128{Lo: u} }

// Int128FromFloat returns f without its fraction; ok is false if f is not a number or lies outside the range.
func Int128FromFloat(f float64) (v Int128, ok bool) {
	f = math.Trunc(f)
	if !(f >= -0x1p127 && f < 0x1p127) {
		return Int128{}, false
	}
	if f >= -0x1p63 && f < 0x1p63 {
		return Int128FromInt64(int64(f)), true
	}
	m, e := math.Frexp(math.Abs(f))
	// 0.5 <= m < 1 has 53 bits; as an integer it is m*2^53, and e is at least 64 here.
	u := uint128{lo: uint64(math.Ldexp(m, 53))}.shl(uint(e - 53))
	return u.signed(f < 0)
}

// Int64 returns a as an int64; ok says whether it fits, otherwise the result is a's low 64 bits.
func (a Int128) Int64() (v int64, ok bool) {
	return int64(a.Lo), a.Hi == int64(a.Lo)>>63
}

// Uint64 returns a as a uint64; ok says whether it fits, otherwise the result is a's low 64 bits.
func (a Int128) Uint64() (v uint64, ok bool) { return a.Lo, a.Hi == 0 }

// Float64 returns the double nearest to a, ties to even.
func (a Int128) Float64() float64 {
	if a.Hi == int64(a.Lo)>>63 {
		return float64(int64(a.Lo))
	}
	u, neg := a.abs()
	var f float64
	if u.hi == 0 {
		f = float64(u.lo)
	} else {
		n := uint(bits.LeadingZeros64(u.hi))
		top := u.shl(n)
		// The 64 leading bits round as the whole number does if a sticky bit stands for all that lie below.
		if top.lo != 0 {
			top.hi |= 1
		}
		f = math.Ldexp(float64(top.hi), int(64-n))
	}
	if neg {
		return -f
	}
	return f
}

// Add returns a+b; if ok is false the sum left the range and has wrapped.
func (a Int128) Add(b Int128) (sum Int128, ok bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi := a.Hi + b.Hi + int64(carry)
	return Int128{hi, lo}, (a.Hi^hi)&(b.Hi^hi) >= 0
}

// Sub returns a-b; if ok is false the difference left the range and has wrapped.
func (a Int128) Sub(b Int128) (diff Int128, ok bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi := a.Hi - b.Hi - int64(borrow)
	return Int128{hi, lo}, (a.Hi^b.Hi)&(a.Hi^hi) >= 0
}

// AddInt64 returns a+i and wraps. A sum that starts at 0 needs 2^63 additions to overflow, so running sums of
// 64-bit values need no check.
func (a Int128) AddInt64(i int64) Int128 {
	lo, carry := bits.Add64(a.Lo, uint64(i), 0)
	return Int128{a.Hi + i>>63 + int64(carry), lo}
}

// Neg returns -a; ok is false for MinInt128, which is its own negation in two's complement.
func (a Int128) Neg() (v Int128, ok bool) {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	return Int128{-a.Hi - int64(borrow), lo}, a != MinInt128
}

// Abs returns |a|; ok is false for MinInt128.
func (a Int128) Abs() (v Int128, ok bool) {
	if a.Hi < 0 {
		return a.Neg()
	}
	return a, true
}

// Sign returns -1, 0 or 1.
func (a Int128) Sign() int {
	if a.Hi < 0 {
		return -1
	}
	if a.Hi|int64(a.Lo) != 0 {
		return 1
	}
	return 0
}

// IsZero says whether a is 0.
func (a Int128) IsZero() bool { return uint64(a.Hi)|a.Lo == 0 }

// Less says whether a < b.
func (a Int128) Less(b Int128) bool {
	return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo
}

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b.
func (a Int128) Cmp(b Int128) int {
	if a == b {
		return 0
	}
	if a.Less(b) {
		return -1
	}
	return 1
}

// MulInt64s returns a*b in full; the product of two 64-bit integers always fits.
func MulInt64s(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// Read as unsigned, a negative factor is 2^64 too large.
	return Int128{int64(hi) - a>>63&b - b>>63&a, lo}
}

// Mul returns a*b; ok is false if the product left the range, and then it is 0.
func (a Int128) Mul(b Int128) (v Int128, ok bool) {
	if a.Hi == int64(a.Lo)>>63 && b.Hi == int64(b.Lo)>>63 {
		return MulInt64s(int64(a.Lo), int64(b.Lo)), true
	}
	x, xneg := a.abs()
	y, yneg := b.abs()
	over, u := x.mul(y)
	if over != (uint128{}) {
		return Int128{}, false
	}
	return u.signed(xneg != yneg)
}

// QuoRem returns a/b cut toward zero and the remainder, which has a's sign. ok is false for b = 0 and for
// MinInt128 / -1.
func (a Int128) QuoRem(b Int128) (quo, rem Int128, ok bool) {
	if b.IsZero() {
		return Int128{}, Int128{}, false
	}
	if a.Hi == int64(a.Lo)>>63 && b.Hi == int64(b.Lo)>>63 && int64(b.Lo) != -1 {
		x, y := int64(a.Lo), int64(b.Lo)
		return Int128FromInt64(x / y), Int128FromInt64(x % y), true
	}
	x, xneg := a.abs()
	y, yneg := b.abs()
	q, r := x.quoRem(y)
	quo, ok = q.signed(xneg != yneg)
	rem, _ = r.signed(xneg)
	return quo, rem, ok
}

// String returns a in decimal.
func (a Int128) String() string {
	var buf [40]byte
	return string(a.Append(buf[:0]))
}

// Append appends a in decimal to dst.
func (a Int128) Append(dst []byte) []byte { return AppendDecimal(dst, a, 0) }

// ParseInt128 reads an optional sign and decimal digits; ok is false for anything else and outside the range.
func ParseInt128(s string) (v Int128, ok bool) {
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if s == "" {
		return Int128{}, false
	}
	var u uint128
	for i := 0; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return Int128{}, false
		}
		if u, ok = u.mul10Add(d); !ok {
			return Int128{}, false
		}
	}
	return u.signed(neg)
}

// Pow10 returns 10^n for 0 <= n <= 18.
func Pow10(n int) int64 { return pow10Int64[n] }

// Pow10Int128 returns 10^n for 0 <= n <= 38.
func Pow10Int128(n int) Int128 { return pow10Int128[n] }

var (
	pow10Int64  = makePow10Int64()
	pow10Int128 = makePow10Int128()
)

func makePow10Int64() (t [19]int64) {
	p := int64(1)
	for i := range t {
		t[i] = p
		p *= 10 // the last product wraps and is not stored
	}
	return t
}

func makePow10Int128() (t [39]Int128) {
	u := uint128{lo: 1}
	for i := range t {
		t[i] = Int128{int64(u.hi), u.lo}
		u, _ = u.mul10Add(0)
	}
	return t
}
