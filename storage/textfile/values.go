package textfile

import (
	"math"
	"strings"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Values collects the values of a column from strings, for readers of formats of their own. It takes those strings only from which any
// assignment to the column, whatever the sql_mode, makes the same value without a warning.
type Values struct{ p Column }

// HasValues says whether Values can collect a type.
func HasValues(t types.Type) bool {
	switch t.Kind {
	case types.KindInt8, types.KindInt16, types.KindInt24, types.KindInt32, types.KindInt64, types.KindUint8, types.KindUint16, types.KindUint24,
		types.KindUint32, types.KindUint64, types.KindDate, types.KindDouble, types.KindText:
		return true
	case types.KindDecimal:
		return t.Phys() == types.PhysInt64
	}
	return false
}

// NewValues returns a collection for a type that HasValues, with capacity for n.
func NewValues(t types.Type, n int) *Values { return &Values{newColumn(t, n)} }

// AppendNull adds a NULL.
func (v *Values) AppendNull() { v.p.AppendNull() }

// Append adds the value of a text, whose memory a string keeps; ok is false if it does not.
func (v *Values) Append(text string) (ok bool) {
	d, t := &v.p.data, v.p.typ
	field := unsafe.Slice(unsafe.StringData(text), len(text))
	switch t.Kind {
	case types.KindText:
		d.Strings = append(d.Strings, text)
	case types.KindDate:
		days, ok := parseISODate(text)
		if !ok {
			return false
		}
		d.Ints = append(d.Ints, days)
	case types.KindDouble:
		x, ok := parsePlainFloat(text)
		if !ok {
			return false
		}
		d.Floats = append(d.Floats, x)
	case types.KindDecimal:
		x, ok := parseDecimal(field, int(t.Precision), int(t.Scale))
		if !ok || field[len(field)-1] == '.' {
			return false
		}
		d.Ints = append(d.Ints, x)
	default:
		x, ok := parseInt(field)
		if lo, hi := types.IntRange(t.Kind); !ok || x < lo || x > hi {
			return false
		}
		d.Ints = append(d.Ints, x)
	}
	v.p.added()
	return true
}

// Data returns the column. The collection must not be used any more.
func (v *Values) Data() encoding.Data { return v.p.data }

// parseISODate reads YYYY-MM-DD of a day that there is.
func parseISODate(s string) (days int64, ok bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' || s[:4] < "0001" || s[5:7] < "01" || s[8:] < "01" {
		return 0, false
	}
	for i := range len(s) {
		if digit := s[i] - '0'; digit > 9 && i != 4 && i != 7 {
			return 0, false
		}
	}
	days, status := types.ParseDate(s)
	return days, status == types.ConvertOK
}

// parsePlainFloat reads a finite number of decimal digits, without a sign if it is zero.
func parsePlainFloat(s string) (x float64, ok bool) {
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, false
	}
	x, ok = types.ParseFloat(s)
	return x, ok && !math.IsInf(x, 0) && !(x == 0 && s[0] == '-')
}
