package types

import "math/bits"

// AppendDecimal appends v / 10^scale to dst as MySQL prints a DECIMAL: all scale digits, and a 0 before the point.
func AppendDecimal(dst []byte, v Int128, scale int) []byte {
	if i, ok := v.Int64(); ok {
		return AppendShortDecimal(dst, i, scale)
	}
	u, neg := v.abs()
	// 2^127 / 10^19 is below 2^64, so two words of up to 20 and 19 digits hold every value.
	hi, lo := bits.Div64(u.hi%1e19, u.lo, 1e19)
	var buf [40]byte
	at := len(buf)
	for range 19 {
		at--
		buf[at] = byte('0' + lo%10)
		lo /= 10
	}
	for hi > 0 {
		at--
		buf[at] = byte('0' + hi%10)
		hi /= 10
	}
	return appendDigits(dst, buf[at:], neg, scale)
}

// AppendShortDecimal is AppendDecimal for decimals of up to 18 digits, and for any int64.
func AppendShortDecimal(dst []byte, v int64, scale int) []byte {
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	var buf [20]byte
	at := len(buf)
	for {
		at--
		buf[at] = byte('0' + u%10)
		u /= 10
		if u == 0 {
			break
		}
	}
	return appendDigits(dst, buf[at:], v < 0, scale)
}

func appendDigits(dst, digits []byte, neg bool, scale int) []byte {
	if neg {
		dst = append(dst, '-')
	}
	if scale == 0 {
		return append(dst, digits...)
	}
	n := len(digits) - scale
	if n > 0 {
		dst = append(dst, digits[:n]...)
		dst = append(dst, '.')
		return append(dst, digits[n:]...)
	}
	dst = append(dst, '0', '.')
	for ; n < 0; n++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// FormatDecimal returns v / 10^scale as AppendDecimal writes it.
func FormatDecimal(v Int128, scale int) string {
	var buf [48]byte
	return string(AppendDecimal(buf[:0], v, scale))
}

// FormatShortDecimal returns v / 10^scale as AppendShortDecimal writes it.
func FormatShortDecimal(v int64, scale int) string {
	var buf [48]byte
	return string(AppendShortDecimal(buf[:0], v, scale))
}

// numberText is the longest prefix of a string that is a number: [sign] digits [. digits] [e [sign] digits]. It holds
// positions, so that scanning allocates nothing.
type numberText struct {
	isNegative bool
	mantissa   string // digits and at most one point; leading zeros are gone
	point      int    // digits of mantissa before the decimal point, exponent included; may be negative or large
	digits     int    // digits in mantissa
	end        int    // bytes of the string that the number takes, leading spaces included
}

// scanNumber reads the number that s begins with, after spaces. ok is false if there is none.
func scanNumber(s string) (n numberText, ok bool) {
	i := skipSpaces(s, 0)
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		n.isNegative = s[i] == '-'
		i++
	}
	start, digits := i, 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	digits = i - start
	whole := digits
	if i < len(s) && s[i] == '.' {
		j := i + 1
		for j < len(s) && isDigit(s[j]) {
			j++
		}
		if digits += j - i - 1; digits > 0 {
			i = j
		}
	}
	if digits == 0 {
		return numberText{}, false
	}
	n.mantissa = s[start:i]
	n.end = i
	n.point = whole
	n.digits = digits
	for n.mantissa != "" && (n.mantissa[0] == '0' || n.mantissa[0] == '.') {
		if n.mantissa[0] == '0' {
			n.point--
			n.digits--
		}
		n.mantissa = n.mantissa[1:]
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		expNeg := false
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			expNeg = s[j] == '-'
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			exp := 0
			for ; j < len(s) && isDigit(s[j]); j++ {
				exp = min(exp*10+int(s[j]-'0'), 1<<20) // beyond any number's range, and no overflow
			}
			if expNeg {
				exp = -exp
			}
			n.point += exp
			n.end = j
		}
	}
	return n, true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// skipSpaces returns the first position from i on that is not white space (my_isspace of MySQL's ctype tables).
func skipSpaces(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r') {
		i++
	}
	return i
}

// trailing is ConvertOK if only spaces follow position i.
func trailing(s string, i int) ConvertStatus {
	if skipSpaces(s, i) < len(s) {
		return ConvertTruncated
	}
	return ConvertOK
}

// decimal returns the number at the given scale, half away from zero; ok is false if it needs more than 38 digits.
// rounded says whether digits other than 0 were dropped.
func (n numberText) decimal(scale int) (v Int128, rounded, ok bool) {
	keep := n.point + scale // leading digits of the mantissa that the result holds
	if n.digits == 0 {
		return Int128{}, false, true
	}
	if keep > MaxDecimalPrecision {
		return Int128{}, false, false
	}
	var u uint128
	taken, up := 0, false
	for i := 0; i < len(n.mantissa); i++ {
		c := n.mantissa[i]
		if c == '.' {
			continue
		}
		if taken >= keep {
			// The first dropped digit decides; with keep < 0 zeros stand before it.
			if taken == keep && c >= '5' {
				up = true
			}
			rounded = rounded || c != '0'
			taken++
			if taken > keep && rounded {
				break
			}
			continue
		}
		u, _ = u.mul10Add(c - '0')
		taken++
	}
	for ; taken < keep; taken++ {
		u, _ = u.mul10Add(0)
	}
	if up && keep >= 0 {
		u, _ = u.add(uint128{lo: 1})
	}
	v, _ = u.signed(n.isNegative)
	return v, rounded, FitsDecimal(v, MaxDecimalPrecision)
}

// ParseDecimal reads the decimal that s begins with, at the scale that it is written with (after its exponent), or
// less where 30 digits behind the point or 38 in all are exceeded. What follows the number is ConvertTruncated, a string
// without a number ConvertInvalid with 0, and more than 38 integer digits ConvertOutOfRange with the largest value.
func ParseDecimal(s string) (v Int128, scale int, status ConvertStatus) {
	n, ok := scanNumber(s)
	if !ok {
		return Int128{}, 0, ConvertInvalid
	}
	// The digits behind the point, trailing zeros included; leading zeros of the mantissa count as they stand.
	scale = min(max(n.digits-n.point, 0), MaxDecimalScale)
	if n.digits > 0 {
		scale = max(min(scale, MaxDecimalPrecision-n.point), 0)
	}
	v, status = n.decimalAs(s, MaxDecimalPrecision, scale)
	return v, scale, status
}

// ParseDecimalAs reads the decimal that s begins with as a DECIMAL(precision, scale), rounding once, half away from
// zero. The status is that of ParseDecimal, or ConvertRounded where digits were lost to the scale.
func ParseDecimalAs(s string, precision, scale int) (v Int128, status ConvertStatus) {
	if n, from, _, ok := PlainNumber(s); ok && from <= scale {
		if v = MulInt64s(n, pow10Int64[min(scale-from, MaxShortDecimal)]); scale-from <= MaxShortDecimal && FitsDecimal(v, precision) {
			return v, ConvertOK
		}
	}
	n, ok := scanNumber(s)
	if !ok {
		return Int128{}, ConvertInvalid
	}
	return n.decimalAs(s, precision, scale)
}

func (n numberText) decimalAs(s string, precision, scale int) (v Int128, status ConvertStatus) {
	v, rounded, ok := n.decimal(scale)
	if !ok || !FitsDecimal(v, precision) {
		v = MaxDecimal(precision)
		if n.isNegative {
			v, _ = v.Neg()
		}
		return v, ConvertOutOfRange
	}
	status = trailing(s, n.end)
	if status == ConvertOK && rounded {
		status = ConvertRounded
	}
	return v, status
}
