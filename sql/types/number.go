package types

import (
	"math"
	"strconv"
)

// Numbers and strings, by MySQL's rules (Reference Manual 14.3 "Type Conversion in Expression Evaluation"; the text of
// doubles follows my_gcvt in strings/dtoa.cc).

// IntRange returns the least and greatest value of an integer kind, YEAR and BOOL included. The greatest value of
// BIGINT UNSIGNED does not fit: for KindUint64, hi is math.MaxInt64 and the caller works with uint64 instead.
func IntRange(k Kind) (lo, hi int64) {
	switch k {
	case KindInt8, KindBool:
		// MySQL's BOOL is TINYINT(1): it stores any TINYINT.
		return math.MinInt8, math.MaxInt8
	case KindInt16:
		return math.MinInt16, math.MaxInt16
	case KindInt24:
		return -1 << 23, 1<<23 - 1
	case KindInt32:
		return math.MinInt32, math.MaxInt32
	case KindUint8:
		return 0, math.MaxUint8
	case KindUint16:
		return 0, math.MaxUint16
	case KindUint24:
		return 0, 1<<24 - 1
	case KindUint32:
		return 0, math.MaxUint32
	case KindUint64:
		return 0, math.MaxInt64
	case KindYear:
		return 1901, 2155
	}
	return math.MinInt64, math.MaxInt64
}

// plainDigits is how many digits PlainNumber reads at most: any number of as many fits 64 bits.
const plainDigits = 18

// PlainNumber reads a string of the form that most numbers have: a sign, at most 18 digits and a point between two of them. The number is
// n / 10^scale. What it does not read may still be a number. It does not tell -0 from 0, which neg does.
func PlainNumber(s string) (n int64, scale int, neg, ok bool) {
	i := 0
	if len(s) > 0 && s[0] == '-' {
		neg, i = true, 1
	}
	first, point := i, -1
	for ; i < len(s); i++ {
		d := s[i] - '0'
		if d <= 9 {
			n = n*10 + int64(d) // wraps beyond the digits that are allowed
			continue
		}
		if s[i] != '.' || point >= 0 || i == first {
			return 0, 0, neg, false
		}
		point = i
	}
	digits := i - first
	if point >= 0 {
		scale = i - 1 - point
		digits--
		ok = scale > 0
	} else {
		ok = digits > 0
	}
	if neg {
		n = -n
	}
	return n, scale, neg, ok && digits <= plainDigits
}

// ParseIntPrefix reads the integer that s begins with, after spaces: CAST('12.9abc' AS SIGNED) is 12 and truncated.
// Below BIGINT the result is its least value, above it the 64 bits of BIGINT UNSIGNED's (so that beyond both it is -1),
// with ConvertOutOfRange; no digits at all give 0 and ConvertInvalid.
func ParseIntPrefix(s string) (int64, ConvertStatus) {
	neg, u, end, status := parseDigits(s)
	if status != ConvertOK {
		if status == ConvertOutOfRange && neg {
			return math.MinInt64, status
		} else if status == ConvertOutOfRange {
			return -1, status
		}
		return 0, status
	}
	switch {
	case neg && u > 1<<63:
		return math.MinInt64, ConvertOutOfRange
	case !neg && u > math.MaxInt64:
		return int64(u), ConvertOutOfRange
	case neg:
		u = -u
	}
	return int64(u), trailing(s, end)
}

// parseDigits reads [spaces] [sign] digits. ConvertOutOfRange means more than 64 bits.
func parseDigits(s string) (neg bool, u uint64, end int, status ConvertStatus) {
	i := skipSpaces(s, 0)
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	start := i
	over := false
	for ; i < len(s) && isDigit(s[i]); i++ {
		d := uint64(s[i] - '0')
		over = over || u > (math.MaxUint64-d)/10
		u = u*10 + d
	}
	switch {
	case i == start:
		return neg, 0, i, ConvertInvalid
	case over:
		return neg, 0, i, ConvertOutOfRange
	}
	return neg, u, i, ConvertOK
}

// ParseFloatPrefix reads the double that s begins with, after spaces: '12.5e1x' is 125 and truncated. Beyond the
// range of DOUBLE the result is its largest value with ConvertOutOfRange; no number at all gives 0 and
// ConvertInvalid. The words inf and nan and hexadecimal are not numbers in MySQL; see ParseSpecialFloat.
func ParseFloatPrefix(s string) (float64, ConvertStatus) {
	if n, scale, neg, ok := PlainNumber(s); ok && n > -1<<53 && n < 1<<53 {
		// Both are exact, so that one division gives the nearest double.
		f := float64(n) / float64(pow10Int64[scale])
		if neg && n == 0 {
			f = math.Copysign(0, -1)
		}
		return f, ConvertOK
	}
	n, ok := scanNumber(s)
	if !ok {
		return 0, ConvertInvalid
	}
	f, ok := ParseFloat(s[skipSpaces(s, 0):n.end])
	if !ok {
		// The text is well formed, so the only error is the range.
		return math.Copysign(math.MaxFloat64, f), ConvertOutOfRange
	}
	return f, trailing(s, n.end)
}

// longNumber is how many digits of a number decide which double is the nearest, with one for all behind them. strconv reads so many right, and no more: without a
// point it takes a number of 801 digits for a tenth of it.
const longNumber = 799

// ParseFloat is strconv.ParseFloat for decimal numbers of any length, without its error, which holds a copy of s however long that is: ok is false then, and f infinite beyond the range of DOUBLE.
func ParseFloat(s string) (f float64, ok bool) {
	var short [longNumber + 32]byte
	if len(s) > longNumber {
		f, err := strconv.ParseFloat(string(appendShortNumber(short[:0], s)), 64)
		return f, err == nil
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// appendShortNumber appends a text of at most longNumber digits and an exponent for the double that s stands for, or nothing if s is no decimal number.
func appendShortNumber(dst []byte, s string) []byte {
	i, exponent, kept := 0, 0, 0
	var anyDigit, point, more bool
	if s[0] == '-' || s[0] == '+' {
		dst = append(dst, s[0])
		i++
	}
	for ; i < len(s) && (isDigit(s[i]) || s[i] == '.' && !point); i++ {
		if s[i] == '.' {
			point = true
			continue
		}
		anyDigit = true
		keep := (kept > 0 || s[i] != '0') && kept < longNumber
		if keep {
			dst = append(dst, s[i])
			kept++
		} else if kept > 0 {
			exponent++
			more = more || s[i] != '0'
		}
		if point {
			exponent--
		}
	}
	if i < len(s) {
		if s[i]|0x20 != 'e' {
			return nil
		}
		given, ok := exponentOf(s[i+1:])
		if !ok {
			return nil
		}
		exponent += given
	}
	switch {
	case !anyDigit:
		return nil
	case kept == 0:
		return append(dst, '0')
	case more:
		dst = append(dst, '1')
		exponent--
	}
	return strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
}

// exponentOf reads the digits of an exponent, with a sign or none. One that no text of 2 GiB can make up for is as good as another.
func exponentOf(s string) (n int, ok bool) {
	negative := s != "" && s[0] == '-'
	if negative || s != "" && s[0] == '+' {
		s = s[1:]
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = min(n*10+int(s[i]-'0'), 1<<40)
	}
	if negative {
		n = -n
	}
	return n, s != ""
}

// AppendFloat appends a DOUBLE as MySQL prints it: with the fewest digits that read back as the same double. NaN, Infinity and -Infinity are words.
//
// A number is written plainly if at most 14 zeros follow the decimal point and it has at most 15 digits, or a fraction: 1e14 is 100000000000000,
// 1234567890123456.8 and 0.000000000000001 stay as they are. Otherwise it gets an exponent without plus sign and padding: 1e15, 1.5e-16. (my_gcvt in
// MySQL's strings/dtoa.cc, where MAX_DECPT_FOR_F_FORMAT is DBL_DIG = 15.)
func AppendFloat(dst []byte, f float64) []byte {
	if !IsFinite(f) {
		return append(dst, specialText(f)...)
	}
	var buf [32]byte
	return appendGcvt(dst, strconv.AppendFloat(buf[:0], f, 'e', -1, 64))
}

// AppendFloat32 appends a FLOAT as MySQL prints it: as AppendFloat, but with at most FLT_DIG = 6 significant digits.
func AppendFloat32(dst []byte, f float64) []byte {
	if !IsFinite(f) {
		return append(dst, specialText(f)...)
	}
	var buf [32]byte
	return appendGcvt(dst, strconv.AppendFloat(buf[:0], f, 'e', 5, 64))
}

// FormatFloat returns f as AppendFloat writes it.
func FormatFloat(f float64) string {
	var buf [32]byte
	return string(AppendFloat(buf[:0], f))
}

// appendGcvt lays out a finite number that strconv wrote as d.ddde±dd.
func appendGcvt(dst, text []byte) []byte {
	if text[0] == '-' {
		dst = append(dst, '-')
		text = text[1:]
	}
	e := len(text) - 1
	for text[e] != 'e' {
		e--
	}
	exp := 0
	for _, c := range text[e+2:] {
		exp = exp*10 + int(c-'0')
	}
	if text[e+1] == '-' {
		exp = -exp
	}
	var digits [24]byte
	n := 0
	for _, c := range text[:e] {
		if c != '.' {
			digits[n] = c
			n++
		}
	}
	for n > 1 && digits[n-1] == '0' {
		n--
	}
	point := exp + 1 // digits before the decimal point
	switch {
	case digits[0] == '0':
		return append(dst, '0')
	case point < -14 || point > 15 && n <= point:
		dst = append(dst, digits[0])
		if n > 1 {
			dst = append(dst, '.')
			dst = append(dst, digits[1:n]...)
		}
		dst = append(dst, 'e')
		return strconv.AppendInt(dst, int64(exp), 10)
	case point <= 0:
		dst = append(dst, '0', '.')
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		return append(dst, digits[:n]...)
	case point >= n:
		dst = append(dst, digits[:n]...)
		for ; n < point; n++ {
			dst = append(dst, '0')
		}
		return dst
	}
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:n]...)
}

// ClampInt returns i if it lies in the range of the integer kind k, otherwise the nearest end with ConvertOutOfRange.
// k is not KindUint64 unless i is known to be a signed value; then only negative numbers are out of range.
func ClampInt(i int64, k Kind) (int64, ConvertStatus) {
	lo, hi := IntRange(k)
	if i < lo {
		return lo, ConvertOutOfRange
	}
	if i > hi {
		return hi, ConvertOutOfRange
	}
	return i, ConvertOK
}

// DecimalToInt rounds a DECIMAL to a BIGINT, half away from zero; outside the range the result is its nearest end.
func DecimalToInt(v Int128, scale int) (int64, ConvertStatus) {
	r, _ := Rescale(v, scale, 0)
	i, ok := r.Int64()
	switch {
	case !ok && r.Hi < 0:
		return math.MinInt64, ConvertOutOfRange
	case !ok:
		return math.MaxInt64, ConvertOutOfRange
	case CompareDecimal(r, 0, v, scale) != 0:
		return i, ConvertRounded
	}
	return i, ConvertOK
}

// Number is a hexadecimal or bit literal as the BIGINT UNSIGNED that it is where a number is wanted (Reference Manual 11.1.4, 11.1.5). Of more
// than eight bytes the last eight count, as in MySQL.
func (v Value) Number() Value {
	u, _ := BinaryNumber(v.S[max(len(v.S)-8, 0):])
	return UintValue(u)
}

// StoredNumber is Number for a value that is assigned to a column: more than eight bytes are out of the range of nearly all types.
func (v Value) StoredNumber() Value {
	if _, status := BinaryNumber(v.S); status != ConvertOK {
		return DecimalValue(Decimal(MaxDecimalPrecision, 0), MaxDecimal(MaxDecimalPrecision))
	}
	return v.Number()
}

// BinaryNumber is the value of a hexadecimal or bit literal in numeric context: its bytes as a big-endian BIGINT
// UNSIGNED. Beyond eight bytes the result is the largest with ConvertOutOfRange.
func BinaryNumber(s string) (u uint64, status ConvertStatus) {
	for len(s) > 8 && s[0] == 0 {
		s = s[1:]
	}
	if len(s) > 8 {
		return 1<<64 - 1, ConvertOutOfRange
	}
	for i := 0; i < len(s); i++ {
		u = u<<8 | uint64(s[i])
	}
	return u, ConvertOK
}
