package types

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Text returns the value as MySQL prints it; NULL is "NULL". A TIMESTAMP is printed in UTC; TextIn takes a zone.
func (v Value) Text() string { return v.TextIn(time.UTC) }

// TextIn is Text with the session's time zone, which only TIMESTAMP depends on.
func (v Value) TextIn(zone *time.Location) string {
	if !v.Null && v.Type.IsString() {
		return v.S
	}
	var buf [48]byte
	return string(v.AppendTextIn(buf[:0], zone))
}

// AppendTextIn appends the text that TextIn returns.
func (v Value) AppendTextIn(dst []byte, zone *time.Location) []byte {
	if v.Null || v.Type.Kind == KindNull {
		return append(dst, "NULL"...)
	}
	switch v.Type.Kind {
	case KindUint64:
		return strconv.AppendUint(dst, uint64(v.I), 10)
	case KindFloat:
		return AppendFloat32(dst, v.F)
	case KindDouble:
		return AppendFloat(dst, v.F)
	case KindDecimal:
		return AppendDecimal(dst, v.Unscaled(), int(v.Type.Scale))
	case KindDate:
		return AppendDate(dst, v.I)
	case KindDatetime:
		return AppendDatetime(dst, v.I, int(v.Type.Scale))
	case KindTimestamp:
		return AppendDatetime(dst, InZone(v.I, zone), int(v.Type.Scale))
	case KindTime:
		return AppendTime(dst, v.I, int(v.Type.Scale))
	case KindYear:
		return append2(append2(dst, int(v.I/100)), int(v.I%100))
	case KindEnum:
		return append(dst, v.Type.EnumName(v.I)...)
	}
	if v.Type.IsString() {
		return append(dst, v.S...)
	}
	return strconv.AppendInt(dst, v.I, 10)
}

// AppendExactIn is AppendTextIn for what is to be read back: a FLOAT, which is shown with six digits, has as many as it takes to be the same number.
func (v Value) AppendExactIn(dst []byte, zone *time.Location) []byte {
	if v.Type.Kind == KindFloat && !v.Null {
		return AppendFloat(dst, ShortestFloat(v.F))
	}
	return v.AppendTextIn(dst, zone)
}

// ShortestFloat returns the double of the shortest decimal number that means a FLOAT's value, 1.1 and not 1.100000023841858, which is what reads its
// text gets in MySQL.
func ShortestFloat(f float64) float64 {
	if float64(float32(f)) != f || math.Trunc(f) == f && math.Abs(f) < 1<<24 {
		return f
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	if err != nil || math.Abs(short) > math.MaxFloat32 { // which FLOAT would not take back
		return f
	}
	return short
}

// Unscaled returns the unscaled integer of a DECIMAL of any precision.
func (v Value) Unscaled() Int128 {
	if v.Type.Precision > MaxShortDecimal {
		return v.D
	}
	return Int128FromInt64(v.I)
}

// DecimalValue returns a DECIMAL of the given type; the unscaled value must fit the precision.
func DecimalValue(t Type, unscaled Int128) Value {
	if t.Precision > MaxShortDecimal {
		return Value{Type: t, D: unscaled}
	}
	return Value{Type: t, I: int64(unscaled.Lo)}
}

// UintValue returns a BIGINT UNSIGNED.
func UintValue(u uint64) Value { return Value{Type: Uint64, I: int64(u)} }

// EnumName returns the name of an ENUM's value; 0 and indexes outside the members are ”.
func (t Type) EnumName(index int64) string {
	if t.Enum == nil || index < 1 || index > int64(len(t.Enum.Names)) {
		return ""
	}
	return t.Enum.Names[index-1]
}

// EnumIndex returns the 1-based index of a name, which may be another one that is equal to it under the type's collation; ok is false if
// there is no such member.
func (t Type) EnumIndex(name string) (index int64, ok bool) {
	if t.Enum != nil {
		for i, n := range t.Enum.Names {
			if n == name {
				return int64(i) + 1, true
			}
		}
		if !t.Collation.Bytewise() {
			key := t.Collation.Key(name)
			for i, n := range t.Enum.Names {
				if t.Collation.Key(n) == key {
					return int64(i) + 1, true
				}
			}
		}
	}
	return 0, false
}

// Compare orders two values of one type, or of two types with the same physical type and unit; decimals may differ in
// scale and precision. NULL comes first, as in ORDER BY, and equals NULL; doubles have the order of CompareFloats. Text is
// compared by bytes (utf8mb4_bin), an ENUM by its index.
func Compare(a, b Value) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return -1
	case b.Null:
		return 1
	}
	if a.Type.Kind == KindDecimal {
		return CompareDecimal(a.Unscaled(), int(a.Type.Scale), b.Unscaled(), int(b.Type.Scale))
	}
	switch a.Type.Phys() {
	case PhysUint64:
		return compareInts(uint64(a.I), uint64(b.I))
	case PhysFloat64:
		return CompareFloats(a.F, b.F)
	case PhysString:
		return strings.Compare(a.S, b.S)
	}
	return compareInts(a.I, b.I)
}
