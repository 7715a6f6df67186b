package types

import (
	"math"
	"math/bits"
	"strconv"
)

// A DECIMAL value is an unscaled integer and a scale: 1.50 is (150, 2). The scale belongs to the type, the integer to
// the value; it is an int64 up to 18 digits and an Int128 up to 38. MySQL rounds decimals half away from zero.

// MaxDecimal returns the largest unscaled value of the given precision, 10^precision - 1.
func MaxDecimal(precision int) Int128 { return pow10Int128[precision].AddInt64(-1) }

// FitsDecimal says whether v has at most precision digits.
func FitsDecimal(v Int128, precision int) bool {
	p := pow10Int128[precision]
	if v.Hi < 0 {
		v, _ = v.Neg() // MinInt128 stays negative and is caught below
		if v.Hi < 0 {
			return false
		}
	}
	return v.Less(p)
}

// DecimalDigits returns the number of decimal digits of v's magnitude; 0 has 1.
func DecimalDigits(v Int128) int {
	u, _ := v.abs()
	n := 64 - bits.LeadingZeros64(u.lo)
	if u.hi != 0 {
		n = 128 - bits.LeadingZeros64(u.hi)
	}
	// n bits make floor(n*log10(2)) or one digit more.
	d := n * 1233 >> 12
	if p := pow10Int128[d]; u.less(uint128{uint64(p.Hi), p.Lo}) && d > 0 {
		return d
	}
	return d + 1
}

// Rescale changes v's scale, rounding half away from zero where digits are lost. ok is false if the result needs
// more than an Int128 holds; whether it fits a precision is FitsDecimal's question.
func Rescale(v Int128, from, to int) (r Int128, ok bool) {
	if to == from {
		return v, true
	}
	if to >= from {
		if to-from > MaxDecimalPrecision {
			return Int128{}, v.IsZero()
		}
		return v.Mul(pow10Int128[to-from])
	}
	return divPow10(v, from-to), true
}

// RescaleInt64 is Rescale for decimals of up to 18 digits; ok is false if the result needs more than an int64 holds.
func RescaleInt64(v int64, from, to int) (r int64, ok bool) {
	n := to - from
	if n >= 0 {
		if n > MaxShortDecimal {
			return 0, v == 0
		}
		p := MulInt64s(v, pow10Int64[n])
		return p.Int64()
	}
	if n < -MaxShortDecimal {
		return divPow10(Int128FromInt64(v), -n).Int64()
	}
	p := pow10Int64[-n]
	q, rem := v/p, v%p
	if rem >= p/2 {
		q++
	} else if -rem >= p/2 {
		q--
	}
	return q, true
}

// divPow10 returns v / 10^n, half away from zero.
func divPow10(v Int128, n int) Int128 {
	if n > MaxDecimalPrecision {
		return Int128{} // |v| < 2^127 < 10^39 / 2
	}
	u, neg := v.abs()
	p := pow10Int128[n]
	q := u.divRound(uint128{uint64(p.Hi), p.Lo})
	r, _ := q.signed(neg)
	return r
}

// divRound returns u/v rounded half up; v <= 2^127, so that twice a remainder fits.
func (u uint128) divRound(v uint128) uint128 {
	q, rem := u.quoRem(v)
	if !rem.shl(1).less(v) {
		q, _ = q.add(uint128{lo: 1})
	}
	return q
}

// DecimalMul returns a*b, rounded to scale. The product is exact before it is rounded, so ok is false only if the
// result itself leaves an Int128.
func DecimalMul(a Int128, aScale int, b Int128, bScale, scale int) (v Int128, ok bool) {
	drop := aScale + bScale - scale
	if p, ok := a.Mul(b); ok {
		return Rescale(p, aScale+bScale, scale)
	}
	if drop <= 0 {
		return Int128{}, false
	}
	x, xneg := a.abs()
	y, yneg := b.abs()
	hi, lo := x.mul(y)
	if drop > MaxDecimalPrecision {
		// In two steps. The first only cuts: whether the second rounds up depends on its remainder being at least
		// half of an even divisor, and what the first cut away cannot change that.
		p := pow10Int128[MaxDecimalPrecision]
		d := uint128{uint64(p.Hi), p.Lo}
		if !hi.less(d) {
			return Int128{}, false
		}
		q, _ := div256(hi, lo, d)
		p = pow10Int128[drop-MaxDecimalPrecision]
		q = q.divRound(uint128{uint64(p.Hi), p.Lo})
		return q.signed(xneg != yneg)
	}
	p := pow10Int128[drop]
	d := uint128{uint64(p.Hi), p.Lo}
	if !hi.less(d) {
		return Int128{}, false
	}
	q, rem := div256(hi, lo, d)
	if !rem.shl(1).less(d) {
		var carry uint64
		if q, carry = q.add(uint128{lo: 1}); carry != 0 {
			return Int128{}, false
		}
	}
	return q.signed(xneg != yneg)
}

// DecimalDiv returns a/b at scale, rounded half away from zero. ok is false for b = 0 and for a result that does not fit an Int128.
//
// The quotient is exact before it is rounded. MySQL cuts it to a multiple of nine fractional digits first (decimal.c, do_div_mod) and rounds when it
// prints or stores it. Both show the same digits unless that multiple is the result's scale: see [DecimalAvg], and hidden.go in package expr for
// computations with quotients.
func DecimalDiv(a Int128, aScale int, b Int128, bScale, scale int) (v Int128, ok bool) {
	if b.IsZero() {
		return Int128{}, false
	}
	x, xneg := a.abs()
	y, yneg := b.abs()
	up := scale + bScale - aScale
	if up < 0 {
		// Divide by b * 10^-up. If that needs more than 128 bits it is more than twice any |a|.
		if up < -MaxDecimalPrecision {
			return Int128{}, true
		}
		p := pow10Int128[-up]
		over, d := y.mul(uint128{uint64(p.Hi), p.Lo})
		if over != (uint128{}) {
			return Int128{}, true
		}
		q, rem := x.quoRem(d)
		if !rem.less(d.sub(rem)) {
			q, _ = q.add(uint128{lo: 1})
		}
		return q.signed(xneg != yneg)
	}
	step := min(up, MaxDecimalPrecision)
	p := pow10Int128[step]
	hi, lo := x.mul(uint128{uint64(p.Hi), p.Lo})
	if !hi.less(y) {
		return Int128{}, false
	}
	q, rem := div256(hi, lo, y)
	if up > step {
		p = pow10Int128[min(up-step, MaxDecimalPrecision)]
		d := uint128{uint64(p.Hi), p.Lo}
		over, scaled := q.mul(d)
		if over != (uint128{}) {
			return Int128{}, false
		}
		hi, lo = rem.mul(d) // rem < y, hence the high half is below y too
		var low uint128
		low, rem = div256(hi, lo, y)
		var carry uint64
		if q, carry = scaled.add(low); carry != 0 {
			return Int128{}, false
		}
	}
	if !rem.less(y.sub(rem)) {
		var carry uint64
		if q, carry = q.add(uint128{lo: 1}); carry != 0 {
			return Int128{}, false
		}
	}
	return q.signed(xneg != yneg)
}

// DecimalAvg returns sum/count at scale as AVG shows it: rounded or, where the scale is a whole number of the nine-digit
// groups to which MySQL cuts a quotient, cut.
func DecimalAvg(sum Int128, sumScale int, count int64, scale int) (v Int128, ok bool) {
	n := Int128FromInt64(count)
	if scale > sumScale && scale%9 == 0 {
		return DecimalDivInt(sum, sumScale-scale, n, 0)
	}
	return DecimalDiv(sum, sumScale, n, 0, scale)
}

// DecimalDivInt returns a DIV b, the integer quotient cut toward zero. ok is false for b = 0 and if the result leaves
// an Int128.
func DecimalDivInt(a Int128, aScale int, b Int128, bScale int) (v Int128, ok bool) {
	if b.IsZero() {
		return Int128{}, false
	}
	x, xneg := a.abs()
	y, yneg := b.abs()
	if aScale > bScale {
		p := pow10Int128[aScale-bScale]
		over, d := y.mul(uint128{uint64(p.Hi), p.Lo})
		if over != (uint128{}) {
			return Int128{}, true
		}
		q, _ := x.quoRem(d)
		return q.signed(xneg != yneg)
	}
	p := pow10Int128[bScale-aScale]
	hi, lo := x.mul(uint128{uint64(p.Hi), p.Lo})
	if !hi.less(y) {
		return Int128{}, false
	}
	q, _ := div256(hi, lo, y)
	return q.signed(xneg != yneg)
}

// DecimalMod returns a % b at scale max(aScale, bScale), with a's sign; ok is false only for b = 0.
func DecimalMod(a Int128, aScale int, b Int128, bScale int) (v Int128, ok bool) {
	if b.IsZero() {
		return Int128{}, false
	}
	x, neg := a.abs()
	y, _ := b.abs()
	if aScale > bScale {
		p := pow10Int128[aScale-bScale]
		over, d := y.mul(uint128{uint64(p.Hi), p.Lo})
		if over != (uint128{}) {
			return a, true
		}
		_, rem := x.quoRem(d)
		return rem.signed(neg)
	}
	p := pow10Int128[bScale-aScale]
	hi, lo := x.mul(uint128{uint64(p.Hi), p.Lo})
	_, hi = hi.quoRem(y)
	_, rem := div256(hi, lo, y)
	return rem.signed(neg)
}

// CompareDecimal compares two decimals of any scales exactly.
func CompareDecimal(a Int128, aScale int, b Int128, bScale int) int {
	if aScale == bScale {
		return a.Cmp(b)
	}
	if aScale > bScale {
		return -CompareDecimal(b, bScale, a, aScale)
	}
	if s := a.Sign(); s != b.Sign() {
		return compareInts(s, b.Sign())
	}
	x, neg := a.abs()
	y, _ := b.abs()
	p := pow10Int128[min(bScale-aScale, MaxDecimalPrecision)]
	over, scaled := x.mul(uint128{uint64(p.Hi), p.Lo})
	c := 0
	switch {
	case over != (uint128{}) || y.less(scaled):
		c = 1
	case scaled.less(y):
		c = -1
	}
	if neg {
		return -c
	}
	return c
}

func compareInts[T int | int64 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// RoundDecimal is ROUND(v, digits): digits may be negative, and the result keeps v's scale. ok is false if rounding
// up leaves an Int128.
func RoundDecimal(v Int128, scale, digits int) (r Int128, ok bool) {
	if digits >= scale {
		return v, true
	}
	if scale-digits > MaxDecimalPrecision {
		return Int128{}, true
	}
	return divPow10(v, scale-digits).Mul(pow10Int128[scale-digits])
}

// TruncateDecimal is TRUNCATE(v, digits): digits may be negative, and the result keeps v's scale.
func TruncateDecimal(v Int128, scale, digits int) Int128 {
	if digits >= scale {
		return v
	}
	if scale-digits > MaxDecimalPrecision {
		return Int128{}
	}
	_, rem, _ := v.QuoRem(pow10Int128[scale-digits])
	r, _ := v.Sub(rem)
	return r
}

// FloorDecimal returns the greatest integer not above v, at scale 0.
func FloorDecimal(v Int128, scale int) Int128 {
	q, rem, _ := v.QuoRem(pow10Int128[scale])
	if rem.Hi < 0 {
		q = q.AddInt64(-1)
	}
	return q
}

// CeilDecimal returns the least integer not below v, at scale 0.
func CeilDecimal(v Int128, scale int) Int128 {
	q, rem, _ := v.QuoRem(pow10Int128[scale])
	if rem.Sign() > 0 {
		q = q.AddInt64(1)
	}
	return q
}

// DecimalToFloat returns the double nearest to v / 10^scale.
func DecimalToFloat(v Int128, scale int) float64 {
	if i, ok := v.Int64(); ok {
		return ShortDecimalToFloat(i, scale)
	}
	if scale == 0 {
		return v.Float64()
	}
	var buf [48]byte
	// The text is well formed, so ParseFloat cannot fail.
	f, _ := strconv.ParseFloat(string(AppendDecimal(buf[:0], v, scale)), 64)
	return f
}

// ShortDecimalToFloat returns the double nearest to v / 10^scale.
func ShortDecimalToFloat(v int64, scale int) float64 {
	// Both operands are exact doubles, so their quotient is rounded once (Clinger 1990).
	if v >= -1<<53 && v <= 1<<53 && scale < len(float64Pow10) {
		return float64(v) / float64Pow10[scale]
	}
	if scale == 0 {
		return float64(v)
	}
	var buf [48]byte
	f, _ := strconv.ParseFloat(string(AppendShortDecimal(buf[:0], v, scale)), 64)
	return f
}

// float64Pow10 holds the powers of ten that a double holds exactly.
var float64Pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// FloatToDecimal returns f as a DECIMAL(precision, scale). Like MySQL it rounds f's shortest text, half away from
// zero: 1.005 becomes 1.01 though the double lies below 1.005. An infinity is the nearest end of the range, NaN 0 and invalid.
func FloatToDecimal(f float64, precision, scale int) (v Int128, status ConvertStatus) {
	if math.IsNaN(f) {
		return Int128{}, ConvertInvalid
	}
	if math.IsInf(f, 0) {
		v = MaxDecimal(precision)
		if f < 0 {
			v, _ = v.Neg()
		}
		return v, ConvertOutOfRange
	}
	var buf [32]byte
	return ParseDecimalAs(string(strconv.AppendFloat(buf[:0], f, 'e', -1, 64)), precision, scale)
}

// ClampDecimal returns v if it fits the precision, and otherwise the nearest end of its range with ConvertOutOfRange.
func ClampDecimal(v Int128, precision int) (Int128, ConvertStatus) {
	if FitsDecimal(v, precision) {
		return v, ConvertOK
	}
	m := MaxDecimal(precision)
	if v.Hi < 0 {
		m, _ = m.Neg()
	}
	return m, ConvertOutOfRange
}
