package types

import (
	"fmt"
	"strings"
)

// Kind is the family of a SQL type.
type Kind uint8

// The kinds. Their order is the order of docs/reference/types.md's table and is not a precedence.
const (
	KindNull      Kind = iota // the type of a bare NULL
	KindBool                  // BOOL, BOOLEAN and TINYINT(1); prints as 0 or 1
	KindInt8                  // TINYINT
	KindInt16                 // SMALLINT
	KindInt24                 // MEDIUMINT
	KindInt32                 // INT
	KindInt64                 // BIGINT
	KindUint8                 // TINYINT UNSIGNED
	KindUint16                // SMALLINT UNSIGNED
	KindUint24                // MEDIUMINT UNSIGNED
	KindUint32                // INT UNSIGNED
	KindUint64                // BIGINT UNSIGNED
	KindFloat                 // FLOAT; rounded to 32 bits when stored, computed as a double
	KindDouble                // DOUBLE, REAL
	KindDecimal               // DECIMAL(p,s), p <= 38, s <= 30
	KindDate                  // DATE
	KindDatetime              // DATETIME(fsp)
	KindTimestamp             // TIMESTAMP(fsp), stored in UTC
	KindTime                  // TIME(fsp)
	KindYear                  // YEAR
	KindChar                  // CHAR(n): trailing spaces are removed on retrieval
	KindVarchar               // VARCHAR(n)
	KindText                  // TEXT and its sizes
	KindBinary                // BINARY(n): padded with zero bytes
	KindVarbinary             // VARBINARY(n)
	KindBlob                  // BLOB and its sizes
	KindEnum                  // ENUM(...): the index (1-based) in a vector's I64, 0 is the invalid value ''
	KindJSON                  // JSON, held as text
)

// Phys is the representation of a value in a vector.
type Phys uint8

// The physical types.
const (
	PhysInt64   Phys = iota // signed integers, BOOL, YEAR, DATE, DATETIME, TIMESTAMP, TIME, ENUM, DECIMAL with p <= 18
	PhysUint64              // BIGINT UNSIGNED only; the bits lie in an int64
	PhysFloat64             // FLOAT, DOUBLE
	PhysInt128              // DECIMAL with p > 18
	PhysString              // CHAR, VARCHAR, TEXT, BINARY, VARBINARY, BLOB, JSON
)

// Limits of DECIMAL. MySQL allows 65 digits; Radish holds 38 in an int128 and refuses more.
const (
	MaxDecimalPrecision  = 38
	MaxDecimalScale      = 30
	MaxShortDecimal      = 18 // the largest precision held in an int64
	DivPrecisionIncrease = 4  // MySQL's div_precision_increment
)

// Type is a SQL type. It is a small comparable value: two equal types are the same type.
//
//   - Precision and Scale: of a DECIMAL, the digits in all and behind the point; of DATETIME, TIMESTAMP and
//     TIME, Scale is the fractional seconds precision (0..6).
//   - Length: characters of CHAR and VARCHAR, bytes of BINARY and VARBINARY; 0 where there is no limit, [NoLength] where nothing but the
//     empty string fits.
//   - Enum: the members of an ENUM.
//   - Collation: how CHAR, VARCHAR, TEXT and the names of an ENUM compare; it is not part of the type's text.
type Type struct {
	Kind      Kind
	Precision uint8
	Scale     uint8
	Length    int32
	Collation Collation
	Enum      *EnumMembers
}

// NoLength is the Length of a column that was declared as CHAR(0), VARCHAR(0), BINARY(0) or VARBINARY(0).
const NoLength = -1

// EnumMembers are the names of an ENUM's values; value i is Names[i-1].
type EnumMembers struct{ Names []string }

// Types without parameters.
var (
	Null     = Type{Kind: KindNull}
	Bool     = Type{Kind: KindBool}
	Int8     = Type{Kind: KindInt8}
	Int16    = Type{Kind: KindInt16}
	Int24    = Type{Kind: KindInt24}
	Int32    = Type{Kind: KindInt32}
	Int64    = Type{Kind: KindInt64}
	Uint8    = Type{Kind: KindUint8}
	Uint16   = Type{Kind: KindUint16}
	Uint24   = Type{Kind: KindUint24}
	Uint32   = Type{Kind: KindUint32}
	Uint64   = Type{Kind: KindUint64}
	Float    = Type{Kind: KindFloat}
	Double   = Type{Kind: KindDouble}
	Date     = Type{Kind: KindDate}
	Datetime = Type{Kind: KindDatetime}
	Time     = Type{Kind: KindTime}
	Year     = Type{Kind: KindYear}
	Text     = Type{Kind: KindText}
	Blob     = Type{Kind: KindBlob}
	JSON     = Type{Kind: KindJSON}
)

// Decimal returns DECIMAL(precision, scale); it clamps to the limits, so callers that must refuse check first.
func Decimal(precision, scale int) Type {
	scale = min(max(scale, 0), MaxDecimalScale)
	precision = min(max(precision, scale, 1), MaxDecimalPrecision)
	return Type{Kind: KindDecimal, Precision: uint8(precision), Scale: uint8(scale)}
}

// Varchar returns VARCHAR(n).
func Varchar(n int) Type { return Type{Kind: KindVarchar, Length: int32(n)} }

// Char returns CHAR(n).
func Char(n int) Type { return Type{Kind: KindChar, Length: int32(n)} }

// DatetimeFsp returns DATETIME(fsp).
func DatetimeFsp(fsp int) Type { return Type{Kind: KindDatetime, Scale: uint8(fsp)} }

// TimeFsp returns TIME(fsp).
func TimeFsp(fsp int) Type { return Type{Kind: KindTime, Scale: uint8(fsp)} }

// Phys returns the physical type of t's values. NULL's is int64, and all of its values are NULL.
func (t Type) Phys() Phys {
	switch t.Kind {
	case KindUint64:
		return PhysUint64
	case KindFloat, KindDouble:
		return PhysFloat64
	case KindDecimal:
		if t.Precision > MaxShortDecimal {
			return PhysInt128
		}
		return PhysInt64
	case KindChar, KindVarchar, KindText, KindBinary, KindVarbinary, KindBlob, KindJSON:
		return PhysString
	default:
		return PhysInt64
	}
}

// IsInteger says whether t is BOOL, YEAR or one of the integer types.
func (t Type) IsInteger() bool {
	return t.Kind >= KindBool && t.Kind <= KindUint64 || t.Kind == KindYear
}

// IsUnsigned says whether t is one of the UNSIGNED types or YEAR.
func (t Type) IsUnsigned() bool {
	return t.Kind >= KindUint8 && t.Kind <= KindUint64 || t.Kind == KindYear
}

// IsFloat says whether t is FLOAT or DOUBLE.
func (t Type) IsFloat() bool { return t.Kind == KindFloat || t.Kind == KindDouble }

// IsNumeric says whether t is an integer, a DECIMAL or a float.
func (t Type) IsNumeric() bool { return t.IsInteger() || t.IsFloat() || t.Kind == KindDecimal }

// IsTemporal says whether t is DATE, DATETIME, TIMESTAMP or TIME.
func (t Type) IsTemporal() bool { return t.Kind >= KindDate && t.Kind <= KindTime }

// IsString says whether t's values are text or bytes.
func (t Type) IsString() bool { return t.Phys() == PhysString }

// IsBinaryString says whether t's values are bytes rather than text.
func (t Type) IsBinaryString() bool { return t.Kind >= KindBinary && t.Kind <= KindBlob }

var kindNames = [...]string{
	KindNull: "NULL", KindBool: "BOOLEAN", KindInt8: "TINYINT", KindInt16: "SMALLINT", KindInt24: "MEDIUMINT",
	KindInt32: "INT", KindInt64: "BIGINT", KindUint8: "TINYINT UNSIGNED", KindUint16: "SMALLINT UNSIGNED",
	KindUint24: "MEDIUMINT UNSIGNED", KindUint32: "INT UNSIGNED", KindUint64: "BIGINT UNSIGNED",
	KindFloat: "FLOAT", KindDouble: "DOUBLE", KindDecimal: "DECIMAL", KindDate: "DATE", KindDatetime: "DATETIME",
	KindTimestamp: "TIMESTAMP", KindTime: "TIME", KindYear: "YEAR", KindChar: "CHAR", KindVarchar: "VARCHAR",
	KindText: "TEXT", KindBinary: "BINARY", KindVarbinary: "VARBINARY", KindBlob: "BLOB", KindEnum: "ENUM", KindJSON: "JSON",
}

// Name returns the kind as SQL writes it, without parameters; it is what database/sql's DatabaseTypeName gives.
func (k Kind) Name() string { return kindNames[k] }

// String returns the type as SQL writes it.
func (t Type) String() string {
	name := kindNames[t.Kind]
	switch t.Kind {
	case KindDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case KindDatetime, KindTimestamp, KindTime:
		if t.Scale > 0 {
			return fmt.Sprintf("%s(%d)", name, t.Scale)
		}
	case KindChar, KindVarchar, KindBinary, KindVarbinary:
		return fmt.Sprintf("%s(%d)", name, max(t.Length, 0))
	case KindEnum:
		quoted := make([]string, len(t.Enum.Names))
		for i, n := range t.Enum.Names {
			quoted[i] = QuoteText(n)
		}
		return "ENUM(" + strings.Join(quoted, ",") + ")"
	}
	return name
}

// QuoteText writes s as a string literal.
func QuoteText(s string) string { return "'" + textQuotes.Replace(s) + "'" }

var textQuotes = strings.NewReplacer("'", "''", `\`, `\\`)
