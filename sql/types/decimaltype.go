package types

// The types of decimal arithmetic follow MySQL 8.0 (item_func.cc, Item_func_additive_op::result_precision and its
// siblings; Reference Manual 12.1 and 14.6.1), as long as the result has at most 38 digits; MySQL itself goes to 65.
//
// Where MySQL's type has more, digits behind the point are given up before digits in front of it, but only down to
// [KeptDecimalScale]. That leaves 22 integer digits, more than any BIGINT has. A value that does not fit the resulting type
// is an overflow error at run time, never a wrong answer.

// KeptDecimalScale is the scale down to which a result that would exceed 38 digits gives up fractional digits.
const KeptDecimalScale = 16

// clampDecimal returns the type with integer digits before and scale digits behind the point, within the limits.
func clampDecimal(integer, scale int) Type {
	scale = min(scale, MaxDecimalScale)
	if integer+scale > MaxDecimalPrecision {
		scale = min(scale, max(MaxDecimalPrecision-integer, KeptDecimalScale))
		integer = MaxDecimalPrecision - scale
	}
	return Decimal(integer+scale, scale)
}

// integerDigits are the decimal digits of the integer types; MySQL uses the same for an integer in decimal arithmetic.
var integerDigits = [...]int{
	KindBool: 1, KindInt8: 3, KindInt16: 5, KindInt24: 7, KindInt32: 10, KindInt64: 19,
	KindUint8: 3, KindUint16: 5, KindUint24: 8, KindUint32: 10, KindUint64: 20, KindYear: 4,
}

// AsDecimal returns the DECIMAL type that holds every value of t exactly: itself for a DECIMAL, DECIMAL(n,0) for an
// integer or a temporal type in its number form. Other types have none, and get the widest, DECIMAL(38,16).
func AsDecimal(t Type) Type {
	switch t.Kind {
	case KindDecimal:
		return t
	case KindNull:
		return Decimal(1, 0)
	case KindDate:
		return Decimal(8, 0)
	case KindTime:
		return Decimal(7+int(t.Scale), int(t.Scale))
	case KindDatetime, KindTimestamp:
		return Decimal(14+int(t.Scale), int(t.Scale))
	case KindEnum:
		return Decimal(5, 0)
	}
	if t.IsInteger() {
		return Decimal(integerDigits[t.Kind], 0)
	}
	return Decimal(MaxDecimalPrecision, KeptDecimalScale)
}

func decimalParts(t Type) (integer, scale int) {
	t = AsDecimal(t)
	return int(t.Precision) - int(t.Scale), int(t.Scale)
}

// AddType returns the type of a+b and a-b in decimal: the larger scale and one more integer digit than the larger.
func AddType(a, b Type) Type {
	ai, as := decimalParts(a)
	bi, bs := decimalParts(b)
	return clampDecimal(max(ai, bi)+1, max(as, bs))
}

// MulType returns the type of a*b in decimal: precisions and scales add up.
func MulType(a, b Type) Type {
	ai, as := decimalParts(a)
	bi, bs := decimalParts(b)
	return clampDecimal(ai+bi, as+bs)
}

// DivType returns the type of a/b in decimal. Its scale is a's and div_precision_increment more. It has a's integer digits and as many more as b has behind
// the point, since b may be as small as its scale allows.
func DivType(a, b Type) Type {
	ai, as := decimalParts(a)
	_, bs := decimalParts(b)
	return clampDecimal(ai+bs, as+DivPrecisionIncrease)
}

// ModType returns the type of a%b in decimal: the larger scale and the more integer digits.
func ModType(a, b Type) Type {
	ai, as := decimalParts(a)
	bi, bs := decimalParts(b)
	return clampDecimal(max(ai, bi), max(as, bs))
}

// SumType returns the type of SUM over exact values of type t: 22 more integer digits, as in MySQL.
func SumType(t Type) Type {
	i, s := decimalParts(t)
	return clampDecimal(i+22, s)
}

// AvgType returns the type of AVG over exact values of type t: div_precision_increment more fractional digits.
func AvgType(t Type) Type {
	i, s := decimalParts(t)
	return clampDecimal(i, s+DivPrecisionIncrease)
}

// RoundType returns the type of ROUND(t, digits) of a DECIMAL: the scale becomes digits, and where it shrinks, rounding
// up may need one more integer digit. ROUND of an integer stays that integer type, which is the caller's to see.
func RoundType(t Type, digits int) Type {
	i, s := decimalParts(t)
	if digits < s {
		i++
	}
	return clampDecimal(i, max(digits, 0))
}
