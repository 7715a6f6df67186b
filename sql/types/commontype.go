package types

// CommonType returns the type of UNION, CASE, IF, COALESCE, GREATEST and the like over values of types a and b
// (Reference Manual 14.5 "Flow Control Functions", 15.2.18 "UNION Clause"; MySQL's field_types_merge_rules and
// aggregate_type in item.cc and sql_union.cc). It is commutative; more than two types fold from the left.
//
//   - NULL gives way to the other type.
//   - Two integers give the larger; a signed and an unsigned one give the signed type that holds both, for BIGINT
//     UNSIGNED a DECIMAL(20,0).
//   - Integer and DECIMAL, or two DECIMALs, give a DECIMAL with the more integer digits and the larger scale of both.
//   - A float with any number gives DOUBLE; FLOAT stays FLOAT with FLOAT, TINYINT and SMALLINT.
//   - Two temporal types give themselves or DATETIME, with the larger fractional precision.
//   - Everything else gives text, or bytes if one of the two is bytes, long enough for both; without limit (TEXT, BLOB)
//     if one of them has none. Strings of different collations give one by bytes; which of two wins depends on more than types
//     (see sql/expr.CollationOf).
func CommonType(a, b Type) Type {
	switch {
	case a == b:
		return a
	case a.Kind == KindNull:
		return b
	case b.Kind == KindNull:
		return a
	case a.IsInteger() && b.IsInteger():
		return commonInteger(a, b)
	case a.IsNumeric() && b.IsNumeric():
		return commonNumber(a, b)
	case a.IsTemporal() && b.IsTemporal():
		return commonTemporal(a, b)
	}
	t := commonString(a, b)
	switch {
	case !t.HasCollation():
	case !a.HasCollation() || a.Collation == b.Collation:
		t.Collation = b.Collation
	case !b.HasCollation():
		t.Collation = a.Collation
	}
	return t
}

// intBytes ranks the integer kinds by width.
func intBytes(k Kind) int {
	switch k {
	case KindBool, KindInt8, KindUint8:
		return 1
	case KindInt16, KindUint16, KindYear:
		return 2
	case KindInt24, KindUint24:
		return 3
	case KindInt32, KindUint32:
		return 4
	}
	return 8
}

var (
	signedOfBytes   = [...]Type{1: Int8, 2: Int16, 3: Int24, 4: Int32, 8: Int64}
	unsignedOfBytes = [...]Type{1: Uint8, 2: Uint16, 3: Uint24, 4: Uint32, 8: Uint64}
	nextBytes       = [...]int{1: 2, 2: 3, 3: 4, 4: 8}
)

func commonInteger(a, b Type) Type {
	na, nb := intBytes(a.Kind), intBytes(b.Kind)
	n := max(na, nb)
	switch {
	case a.IsUnsigned() && b.IsUnsigned():
		return unsignedOfBytes[n]
	case a.IsUnsigned() && na == n || b.IsUnsigned() && nb == n:
		if n == 8 {
			return Decimal(20, 0)
		}
		n = nextBytes[n]
	}
	return signedOfBytes[n]
}

func commonNumber(a, b Type) Type {
	if a.IsFloat() || b.IsFloat() {
		if a.Kind == KindDouble || b.Kind == KindDouble {
			return Double
		}
		other := a
		if a.Kind == KindFloat {
			other = b
		}
		if other.Kind == KindFloat || other.IsInteger() && intBytes(other.Kind) <= 2 {
			return Float
		}
		return Double
	}
	ai, as := decimalParts(a)
	bi, bs := decimalParts(b)
	return clampDecimal(max(ai, bi), max(as, bs))
}

func commonTemporal(a, b Type) Type {
	kind := KindDatetime
	if a.Kind == b.Kind {
		kind = a.Kind
	}
	return Type{Kind: kind, Scale: max(a.Scale, b.Scale)}
}

func commonString(a, b Type) Type {
	isBinary := a.IsBinaryString() || b.IsBinaryString()
	la, lb := TextLength(a), TextLength(b)
	n := max(la, lb)
	unlimited := a.unlimited() || b.unlimited()
	switch {
	case a.Kind == KindJSON && b.Kind == KindJSON:
		return JSON
	case isBinary && unlimited:
		return Blob
	case unlimited:
		return Text
	case isBinary && a.Kind == KindBinary && b.Kind == KindBinary:
		return Type{Kind: KindBinary, Length: int32(n)}
	case isBinary:
		return Type{Kind: KindVarbinary, Length: int32(n)}
	case a.Kind == KindChar && b.Kind == KindChar:
		return Char(n)
	}
	return Varchar(n)
}

// unlimited says whether t is a string type without a length.
func (t Type) unlimited() bool {
	return t.Kind == KindText || t.Kind == KindBlob || t.Kind == KindJSON
}

// TextLength returns the characters that the longest text of a value of type t has (bytes for binary types); 0 where
// there is no limit, and for NULL.
func TextLength(t Type) int {
	fraction := 0
	if t.Scale > 0 {
		fraction = int(t.Scale) + 1
	}
	switch t.Kind {
	case KindBool:
		return 4 // as TINYINT, -128
	case KindInt8:
		return 4
	case KindInt16:
		return 6
	case KindInt24:
		return 8
	case KindInt32:
		return 11
	case KindInt64:
		return 20
	case KindUint8, KindUint16, KindUint24, KindUint32, KindUint64, KindYear:
		return integerDigits[t.Kind]
	case KindFloat:
		return 12
	case KindDouble:
		return 22
	case KindDecimal:
		n := int(t.Precision) + 1
		if t.Scale > 0 {
			n++
		}
		if t.Precision == t.Scale {
			n++ // the 0 before the point
		}
		return n
	case KindDate:
		return 10
	case KindDatetime, KindTimestamp:
		return 19 + fraction
	case KindTime:
		return 10 + fraction
	case KindChar, KindVarchar, KindBinary, KindVarbinary:
		return max(int(t.Length), 0)
	case KindEnum:
		n := 0
		for _, name := range t.Enum.Names {
			n = max(n, len([]rune(name)))
		}
		return n
	}
	return 0
}

// ComparisonType returns the type in which MySQL compares values of types a and b (Reference Manual 14.3 "Type
// Conversion in Expression Evaluation"); both sides are converted to it. Rules that depend on one side being a constant
// are the caller's.
//
//   - Two strings compare as strings, by bytes; an ENUM against a string or another ENUM by its name.
//   - Two integers as BIGINT; both UNSIGNED BIGINT as that; BIGINT UNSIGNED and a signed integer as DECIMAL(20,0),
//     so that -1 is less than every unsigned value.
//   - DECIMAL with DECIMAL or integer as a DECIMAL that holds both. Where that needs more than 38 digits the type's
//     scale is the larger of the two all the same; such operands are compared with CompareDecimal, each at its own scale.
//   - A float with any number, and a string with any number, as DOUBLE.
//   - Two temporal values as their own type, or as DATETIME if they differ (a TIME gets today's date).
//   - A temporal value with a string or ENUM as DATETIME(6), and TIME as TIME(6).
//   - A temporal value with a number as numbers: BIGINT, DECIMAL or DOUBLE.
func ComparisonType(a, b Type) Type {
	switch {
	case a.Kind == KindNull && b.Kind == KindNull:
		return Int64
	case a.Kind == KindNull:
		return ComparisonType(b, b)
	case b.Kind == KindNull:
		return ComparisonType(a, a)
	}
	if a.Kind == KindEnum && b.Kind == KindEnum || a.Kind == KindEnum && b.IsString() || b.Kind == KindEnum && a.IsString() {
		return commonString(a, b)
	}
	switch {
	case a.IsString() && b.IsString():
		return commonString(a, b)
	case a.IsTemporal() && b.IsTemporal():
		return commonTemporal(a, b)
	case a.IsTemporal() && (b.IsString() || b.Kind == KindEnum) || b.IsTemporal() && (a.IsString() || a.Kind == KindEnum):
		if a.Kind == KindTime || b.Kind == KindTime {
			return TimeFsp(MaxFsp)
		}
		return DatetimeFsp(MaxFsp)
	case a.IsString() || b.IsString() || a.IsFloat() || b.IsFloat():
		return Double
	}
	a, b = numberForm(a), numberForm(b)
	switch {
	case a.Kind == KindDecimal || b.Kind == KindDecimal:
		ai, as := decimalParts(a)
		bi, bs := decimalParts(b)
		return Decimal(max(ai, bi)+max(as, bs), max(as, bs))
	case a.Kind == KindUint64 && b.Kind == KindUint64:
		return Uint64
	case a.Kind == KindUint64 && b.IsUnsigned() || b.Kind == KindUint64 && a.IsUnsigned():
		return Uint64
	case a.Kind == KindUint64 || b.Kind == KindUint64:
		return Decimal(20, 0)
	}
	return Int64
}

// numberForm is the type of a value in numeric context: itself for numbers, an integer or a DECIMAL for temporal values
// and ENUM.
func numberForm(t Type) Type {
	switch {
	case t.Kind == KindEnum || t.IsTemporal() && t.Scale == 0:
		return Int64
	case t.IsTemporal():
		return AsDecimal(t)
	}
	return t
}
