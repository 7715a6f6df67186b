package types

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// ConvertContext is what conversions need to know of the session. The zero value is UTC on 1970-01-01.
type ConvertContext struct {
	Zone  *time.Location // of TIMESTAMP values; nil is UTC
	Today int64          // the DATE that a TIME gets when it becomes a DATE or DATETIME
}

// Cast converts v as CAST(v AS to) does (Reference Manual 14.10), in UTC; see [ConvertContext.Cast].
func Cast(v Value, to Type) (Value, ConvertStatus) { return ConvertContext{}.Cast(v, to) }

// Store converts v as the assignment to a column of type to does (Reference Manual 11), in UTC.
func Store(v Value, to Type) (Value, ConvertStatus) { return ConvertContext{}.Store(v, to) }

// Cast converts v as CAST does. The result is a value of type to whatever the status, NULL where MySQL gives NULL.
func (c ConvertContext) Cast(v Value, to Type) (Value, ConvertStatus) { return c.convert(v, to, false) }

// Store converts v as an assignment does. As in MySQL it differs from Cast. A string becomes an integer by rounding: '2.5' is stored as 3, CAST gives 2.
// Negative numbers do not wrap into unsigned types. A string that is no member of an ENUM is invalid. The words of ParseSpecialFloat are stored as
// doubles; MySQL refuses them.
func (c ConvertContext) Store(v Value, to Type) (Value, ConvertStatus) { return c.convert(v, to, true) }

func (c ConvertContext) convert(v Value, to Type, store bool) (Value, ConvertStatus) {
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if v.Null || v.Type.Kind == KindNull {
		return NullOf(to), ConvertOK
	}
	if v.Type == to {
		return v, ConvertOK
	}
	if v.IsBits && (to.IsNumeric() || to.Kind == KindYear) {
		if store {
			v = v.StoredNumber()
		} else {
			v = v.Number()
		}
	}
	if v.Type.Kind == KindTimestamp { // from here on, what the session's clock shows
		v.I = InZone(v.I, c.Zone)
		v.Type.Kind = KindDatetime
	}
	switch to.Kind {
	case KindNull:
		return NullOf(to), ConvertOK
	case KindFloat, KindDouble:
		if store && v.Type.IsString() {
			if f, ok := ParseSpecialFloat(v.S); ok {
				return Value{Type: to, F: f}, ConvertOK
			}
		}
		return v.toFloat(to)
	case KindDecimal:
		return v.toDecimal(to)
	case KindDate, KindDatetime, KindTimestamp:
		return c.toDatetime(v, to)
	case KindTime:
		return c.toTime(v, to)
	case KindYear:
		return v.toYear(to)
	case KindEnum:
		return v.toEnum(to)
	}
	if to.IsInteger() {
		return v.toInteger(to, store)
	}
	return v.toString(to)
}

// toInteger converts to any integer type. Values are brought to an Int128, in which every source fits or is far outside.
func (v Value) toInteger(to Type, store bool) (Value, ConvertStatus) {
	if !store && to.Kind == KindInt64 && v.Type.IsString() {
		i, status := ParseIntPrefix(v.S)
		return Value{Type: to, I: i}, status
	}
	n, status := v.integer(store)
	if !store && to.Kind == KindUint64 && n.Hi == -1 && int64(n.Lo) < 0 {
		// CAST keeps the bits of a negative number. MySQL warns of it only where the source is text.
		if v.Type.IsString() {
			status = max(status, ConvertOutOfRange)
		}
		return Value{Type: to, I: int64(n.Lo)}, status
	}
	if !store && to.Kind == KindInt64 && v.Type.Kind == KindUint64 {
		return Value{Type: to, I: v.I}, status
	}
	if !store && to.Kind == KindUint64 && n.Hi < 0 && v.Type.IsString() { // below BIGINT: its least value's bits
		return Value{Type: to, I: math.MinInt64}, ConvertOutOfRange
	}
	if to.Kind == KindUint64 {
		u, ok := n.Uint64()
		if !ok {
			status = ConvertOutOfRange
			if u = math.MaxUint64; n.Hi < 0 {
				u = 0
			}
		}
		return Value{Type: to, I: int64(u)}, status
	}
	i, ok := n.Int64()
	if !ok {
		if i = math.MaxInt64; n.Hi < 0 {
			i = math.MinInt64
		}
		status = ConvertOutOfRange
	}
	i, clamped := ClampInt(i, to.Kind)
	return Value{Type: to, I: i}, max(status, clamped)
}

func (v Value) integer(store bool) (Int128, ConvertStatus) {
	switch v.Type.Kind {
	case KindUint64:
		return Int128FromUint64(uint64(v.I)), ConvertOK
	case KindFloat, KindDouble:
		if math.IsNaN(v.F) {
			return Int128{}, ConvertInvalid
		}
		r := math.RoundToEven(v.F)
		n, ok := Int128FromFloat(r)
		switch {
		case !ok && r < 0:
			return MinInt128, ConvertOutOfRange
		case !ok:
			return MaxInt128, ConvertOutOfRange
		case r != v.F:
			return n, ConvertRounded
		}
		return n, ConvertOK
	case KindDecimal:
		return roundedTo(v.Unscaled(), int(v.Type.Scale), 0)
	case KindDate:
		return Int128FromInt64(DateNumber(v.I)), ConvertOK
	case KindDatetime:
		// The fraction rounds before the number is formed, so that 59.5 seconds carry into the minutes.
		r, ok := RoundDatetime(v.I, 0)
		if !ok {
			r = TruncateDatetime(v.I, 0)
		}
		return Int128FromInt64(DatetimeNumber(r)), roundedIf(r != v.I)
	case KindTime:
		r := RoundTime(v.I, 0)
		return Int128FromInt64(TimeNumber(r)), roundedIf(r != v.I)
	}
	if !v.Type.IsString() {
		return Int128FromInt64(v.I), ConvertOK
	}
	if store {
		return ParseDecimalAs(v.S, MaxDecimalPrecision, 0)
	}
	neg, u, end, status := parseDigits(v.S)
	switch {
	case status == ConvertOutOfRange && neg:
		return MinInt128, status
	case status == ConvertOutOfRange:
		return MaxInt128, status
	case status != ConvertOK:
		return Int128{}, status
	}
	n := Int128FromUint64(u)
	if neg {
		n, _ = n.Neg()
	}
	return n, trailing(v.S, end)
}

func roundedTo(u Int128, from, to int) (Int128, ConvertStatus) {
	r, ok := Rescale(u, from, to)
	if !ok {
		if u.Hi < 0 {
			return MinInt128, ConvertOutOfRange
		}
		return MaxInt128, ConvertOutOfRange
	}
	return r, roundedIf(to < from && CompareDecimal(r, to, u, from) != 0)
}

func roundedIf(lost bool) ConvertStatus {
	if lost {
		return ConvertRounded
	}
	return ConvertOK
}

// Float returns v in floating-point context: the number itself, the number that text begins with, or a temporal
// value's number form with its fraction.
func (v Value) Float() (float64, ConvertStatus) {
	switch v.Type.Kind {
	case KindFloat, KindDouble:
		return v.F, ConvertOK
	case KindUint64:
		return float64(uint64(v.I)), ConvertOK
	case KindDecimal:
		return DecimalToFloat(v.Unscaled(), int(v.Type.Scale)), ConvertOK
	case KindDate, KindDatetime, KindTimestamp, KindTime:
		u, scale := v.temporalDecimal()
		return DecimalToFloat(u, scale), ConvertOK
	}
	if v.Type.IsString() {
		return ParseFloatPrefix(v.S)
	}
	return float64(v.I), ConvertOK
}

func (v Value) temporalDecimal() (u Int128, scale int) {
	scale = int(v.Type.Scale)
	switch v.Type.Kind {
	case KindDate:
		return Int128FromInt64(DateNumber(v.I)), 0
	case KindTime:
		return Int128FromInt64(TimeDecimal(v.I, scale)), scale
	}
	return DatetimeDecimal(v.I, scale), scale
}

func (v Value) toFloat(to Type) (Value, ConvertStatus) {
	f, status := v.Float()
	if to.Kind == KindFloat {
		if math.Abs(f) > math.MaxFloat32 && IsFinite(f) {
			f = math.Copysign(math.MaxFloat32, f)
			status = ConvertOutOfRange
		}
		f = float64(float32(f))
	}
	return Value{Type: to, F: f}, status
}

func (v Value) toDecimal(to Type) (Value, ConvertStatus) {
	precision, scale := int(to.Precision), int(to.Scale)
	var u Int128
	status := ConvertOK
	switch v.Type.Kind {
	case KindFloat, KindDouble:
		u, status = FloatToDecimal(v.F, precision, scale)
		return DecimalValue(to, u), status
	case KindDecimal:
		u, status = roundedTo(v.Unscaled(), int(v.Type.Scale), scale)
	case KindDate, KindDatetime, KindTime:
		n, from := v.temporalDecimal()
		u, status = roundedTo(n, from, scale)
	default:
		if v.Type.IsString() {
			u, status = ParseDecimalAs(v.S, precision, scale)
			return DecimalValue(to, u), status
		}
		n, _ := v.integer(false)
		u, status = roundedTo(n, 0, scale)
	}
	u, clamped := ClampDecimal(u, precision)
	return DecimalValue(to, u), max(status, clamped)
}

// toDatetime converts to DATE, DATETIME and TIMESTAMP. What is no date becomes NULL with ConvertInvalid.
func (c ConvertContext) toDatetime(v Value, to Type) (Value, ConvertStatus) {
	var micros int64
	status := ConvertOK
	switch v.Type.Kind {
	case KindDate:
		micros = DatetimeOfDate(v.I)
	case KindDatetime:
		micros = v.I
	case KindTime:
		micros = DatetimeOfDate(c.Today) + v.I
	case KindEnum:
		micros, status = ParseDatetime(v.Type.EnumName(v.I), c.Zone)
	default:
		if v.Type.IsString() {
			micros, status = ParseDatetime(v.S, c.Zone)
			break
		}
		micros, status = v.datetimeOfNumber()
	}
	if status == ConvertInvalid {
		return NullOf(to), status
	}
	if to.Kind == KindDate {
		days := DateOf(micros)
		if !ValidDate(days) {
			return NullOf(to), ConvertInvalid
		}
		status = max(status, roundedIf(micros != DatetimeOfDate(days)))
		return Value{Type: to, I: days}, status
	}
	r, ok := RoundDatetime(micros, int(to.Scale))
	if !ok {
		return NullOf(to), ConvertInvalid
	}
	status = max(status, roundedIf(r != micros))
	if to.Kind == KindTimestamp {
		shown := r
		r = FromZone(r, c.Zone)
		if moment, ok := v.moment(int(to.Scale)); ok { // which of two that clocks show alike
			r = moment
		}
		if r < MinTimestamp || r > MaxTimestamp {
			return NullOf(to), ConvertInvalid
		}
		if InZone(r, c.Zone) != shown { // clocks skip it
			status = max(status, ConvertTruncated)
		}
	}
	return Value{Type: to, I: r}, status
}

// moment returns the moment that a string with an offset from UTC names, rounded to so many digits.
func (v Value) moment(scale int) (utc int64, ok bool) {
	if !v.Type.IsString() {
		return 0, false
	}
	if utc, ok = ParseMoment(v.S); ok {
		utc, ok = RoundDatetime(utc, scale)
	}
	return utc, ok
}

// datetimeOfNumber reads a number YYYYMMDDHHMMSS with a fraction of up to six digits.
func (v Value) datetimeOfNumber() (micros int64, status ConvertStatus) {
	n, frac, ok := v.numberAndMicros()
	if !ok {
		return 0, ConvertInvalid
	}
	micros, status = DatetimeFromNumber(n)
	return micros + frac, status
}

// numberAndMicros splits a number into its whole part and its fraction in millionths, both with its sign.
func (v Value) numberAndMicros() (n, micros int64, ok bool) {
	if v.Type.IsFloat() && !IsFinite(v.F) {
		return 0, 0, false
	}
	d, _ := v.toDecimal(Decimal(30, MaxFsp))
	q, r, _ := d.D.QuoRem(Int128FromInt64(MicrosPerSecond))
	n, ok = q.Int64()
	return n, int64(r.Lo), ok
}

func (c ConvertContext) toTime(v Value, to Type) (Value, ConvertStatus) {
	var t int64
	status := ConvertOK
	switch v.Type.Kind {
	case KindTime:
		t = v.I
	case KindDate:
		return Value{Type: to}, ConvertOK
	case KindDatetime:
		t = TimeOf(v.I)
	case KindEnum:
		t, status = ParseTime(v.Type.EnumName(v.I), c.Zone)
	default:
		if v.Type.IsString() {
			t, status = ParseTime(v.S, c.Zone)
			break
		}
		n, frac, ok := v.numberAndMicros()
		if !ok {
			return NullOf(to), ConvertInvalid
		}
		t, status = TimeFromNumber(n)
		t = min(max(t+frac, MinTime), MaxTime)
	}
	if status == ConvertInvalid {
		return NullOf(to), status
	}
	r := RoundTime(t, int(to.Scale))
	return Value{Type: to, I: r}, max(status, roundedIf(r != t))
}

func (v Value) toYear(to Type) (Value, ConvertStatus) {
	switch {
	case v.Type.Kind == KindDate:
		v.I = int64(YearOf(v.I))
	case v.Type.Kind == KindDatetime:
		v.I = int64(YearOf(DateOf(v.I)))
	case v.Type.IsString():
		year, status := ParseYear(v.S)
		return Value{Type: to, I: year}, status
	default:
		n, status := v.integer(true)
		i, ok := n.Int64()
		if !ok {
			return Value{Type: to}, ConvertOutOfRange
		}
		year, clamped := YearFromNumber(i)
		return Value{Type: to, I: year}, max(status, clamped)
	}
	year, status := YearFromNumber(v.I)
	return Value{Type: to, I: year}, status
}

// toEnum finds text among the members, then as a number; a number is the index itself.
func (v Value) toEnum(to Type) (Value, ConvertStatus) {
	text := v.S
	if v.Type.Kind == KindEnum {
		text = v.Type.EnumName(v.I)
	} else if !v.Type.IsString() {
		n, status := v.integer(true)
		i, ok := n.Int64()
		if !ok || i < 1 || i > int64(len(to.Enum.Names)) {
			return Value{Type: to}, ConvertInvalid
		}
		return Value{Type: to, I: i}, status
	}
	if i, ok := to.EnumIndex(text); ok {
		return Value{Type: to, I: i}, ConvertOK
	}
	if i, status := ParseIntPrefix(text); status == ConvertOK && i >= 1 && i <= int64(len(to.Enum.Names)) {
		return Value{Type: to, I: i}, ConvertOK
	}
	return Value{Type: to}, ConvertInvalid
}

func (v Value) toString(to Type) (Value, ConvertStatus) {
	s, status := FitString(v.Text(), to)
	return Value{Type: to, S: s}, status
}

// FitString makes s a value of the string type to. It cuts what exceeds the length: that is ConvertTruncated, or ConvertOK if a string loses only spaces. It
// removes a CHAR's trailing spaces and pads a BINARY with zero bytes.
func FitString(s string, to Type) (string, ConvertStatus) {
	status := ConvertOK
	n, limited := max(int(to.Length), 0), to.Length != 0
	switch to.Kind {
	case KindBinary, KindVarbinary:
		if limited && len(s) > n {
			s, status = s[:n], ConvertTruncated
		}
		if to.Kind == KindBinary && len(s) < n {
			s += strings.Repeat("\x00", n-len(s))
		}
	case KindChar, KindVarchar:
		if limited && len(s) > n {
			if cut := runePrefix(s, n); cut < len(s) {
				if strings.Trim(s[cut:], " ") != "" {
					status = ConvertTruncated
				}
				s = s[:cut]
			}
		}
		if to.Kind == KindChar {
			s = strings.TrimRight(s, " ")
		}
	}
	return s, status
}

// runePrefix returns the bytes that the first n characters of s take.
func runePrefix(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}
