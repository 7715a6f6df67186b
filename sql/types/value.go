package types

// Value is one SQL value with its type: a literal, a parameter, a default, a minimum or a maximum. Vectors carry
// values in bulk; Value is for plans and statistics.
//
// Which field holds the value follows from Type.Phys(): I for PhysInt64 and PhysUint64 (as bits), F for
// PhysFloat64, D for PhysInt128, S for PhysString. Units: DATE is days since 1970-01-01; DATETIME and TIMESTAMP are
// microseconds since 1970-01-01 00:00:00 (TIMESTAMP in UTC); TIME is signed microseconds; DECIMAL is the unscaled
// integer; YEAR is the year itself; ENUM is the 1-based index.
type Value struct {
	Type   Type
	Null   bool
	IsBits bool // S is a hexadecimal or bit literal: bytes, but a number where one is wanted (see Number)
	I      int64
	F      float64
	D      Int128
	S      string
}

// NullOf returns a NULL of type t.
func NullOf(t Type) Value { return Value{Type: t, Null: true} }

// IntValue returns a BIGINT.
func IntValue(i int64) Value { return Value{Type: Int64, I: i} }

// FloatValue returns a DOUBLE.
func FloatValue(f float64) Value { return Value{Type: Double, F: f} }

// StringValue returns a VARCHAR as long as s, in characters.
func StringValue(s string) Value {
	n := 0
	for range s {
		n++
	}
	return Value{Type: Varchar(n), S: s}
}

// BoolValue returns a BOOL.
func BoolValue(b bool) Value {
	if b {
		return Value{Type: Bool, I: 1}
	}
	return Value{Type: Bool}
}
