package textfile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/types"
)

// form is what a text looks like.
type form uint8

// The forms. An unknown column has had no values.
const (
	unknown form = iota
	boolean
	special // NaN or an infinity, which among numbers make a DOUBLE; alone they are strings
	number  // of integer and fractional digits: BIGINT or DECIMAL
	float
	date
	datetime
	moment // a datetime with its offset from UTC
	clock
	nested // a JSON array or object
	text
)

// Shape is the form of all values of a column so far, with the most digits before and behind the point of numbers. Its zero
// value is that of a column without values.
type Shape struct {
	form     form
	integers int
	fraction int
	over     bool // there was an integer that 64 bits do not hold
}

// inferredPrecision is the least precision of an inferred DECIMAL, which also holds values larger than those of the
// first block at no cost: up to 18 digits take the same space.
const inferredPrecision = 15

const maxInferredScale = 10

// Text is the shape of any text, Nested that of arrays and objects of JSON. Only who puts it there has the second.
var (
	Text   = Shape{form: text}
	Nested = Shape{form: nested}
)

// Known says whether there were values.
func (s Shape) Known() bool { return s.form != unknown }

// IsText says whether the values have no form in common but that of strings.
func (s Shape) IsText() bool { return s.form == text }

// IsNested says whether all values are arrays or objects of JSON.
func (s Shape) IsNested() bool { return s.form == nested }

// Special says whether all values are NaN or infinities.
func (s Shape) Special() bool { return s.form == special }

// Temporal says whether all values are dates or times.
func (s Shape) Temporal() bool {
	return s.form == date || s.form == datetime || s.form == moment || s.form == clock
}

// IsDate says whether all values are dates, IsClock whether they are times of a day.
func (s Shape) IsDate() bool  { return s.form == date }
func (s Shape) IsClock() bool { return s.form == clock }

// IsNumber says whether all values are numbers.
func (s Shape) IsNumber() bool { return s.form == number || s.form == float }

// Type returns the column type for a shape.
func (s Shape) Type() types.Type {
	switch s.form {
	case boolean:
		return types.Bool
	case number:
		precision := s.integers + s.fraction
		switch {
		case s.fraction == 0 && !s.over:
			return types.Int64
		case precision > types.MaxDecimalPrecision || s.fraction > maxInferredScale:
			return types.Double
		}
		return types.Decimal(max(precision, inferredPrecision), s.fraction)
	case float:
		return types.Double
	case date:
		return types.Date
	case datetime:
		return types.DatetimeFsp(s.fraction)
	case moment:
		return types.Type{Kind: types.KindTimestamp, Scale: uint8(s.fraction)}
	case clock:
		return types.TimeFsp(s.fraction)
	case nested:
		return types.JSON
	}
	return types.Text
}

// Join returns the narrowest shape that holds both.
func (s Shape) Join(o Shape) Shape {
	if s.form > o.form {
		s, o = o, s
	}
	out := Shape{o.form, max(s.integers, o.integers), max(s.fraction, o.fraction), s.over || o.over}
	switch {
	case s.form == unknown, s.form == o.form:
	case s.form == special && (o.form == number || o.form == float):
		out.form = float
	case s.form == number && o.form == float, s.form == date && o.form == datetime:
	default:
		out.form = text
	}
	return out
}

// Classify returns the shape of one value.
func Classify(b []byte) Shape {
	if len(b) == 0 {
		return Shape{form: text}
	}
	c := b[0]
	if c == '-' || c == '+' {
		c = 0
		if len(b) > 1 {
			c = b[1]
		}
	}
	if c != '.' && (c < '0' || c > '9') {
		if s := string(b); len(b) <= 5 && (strings.EqualFold(s, "true") || strings.EqualFold(s, "false")) {
			return Shape{form: boolean}
		}
		if len(b) <= len("-Infinity") {
			if _, ok := types.ParseSpecialFloat(string(b)); ok {
				return Shape{form: special}
			}
		}
		return Shape{form: text}
	}
	if s, ok := classifyNumber(b); ok {
		return s
	}
	return classifyTemporal(b)
}

// classifyNumber reads [+-]digits[.digits][e[+-]digits]. An integer with leading zeros is a code, not a number.
func classifyNumber(b []byte) (Shape, bool) {
	i := 0
	if b[0] == '-' || b[0] == '+' {
		i++
	}
	first := i
	i = digits(b, i)
	s := Shape{form: number, integers: i - first}
	if s.integers > 1 && b[first] == '0' {
		return Shape{form: text}, i == len(b)
	}
	if i < len(b) && b[i] == '.' {
		end := digits(b, i+1)
		if s.fraction = end - i - 1; s.fraction == 0 {
			s.form = float // "1." is written for doubles only
		}
		i = end
	}
	if s.integers+s.fraction == 0 {
		return s, false
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			i++
		}
		end := digits(b, i)
		if end == i {
			return s, false
		}
		i, s.form = end, float
	}
	if i == len(b) && s.integers > types.MaxShortDecimal && s.form == number && s.fraction == 0 {
		_, fits := parseInt(b)
		s.over = !fits
	}
	return s, i == len(b)
}

// digits returns where the run of digits that starts at i ends.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// classifyTemporal reads YYYY-M-D or YYYY/M/D, h:mm[:ss[.f]] and both with a space or T between them, and then maybe an offset from UTC. Months, days and
// hours have one digit or two, behind a date minutes and seconds, too. The value must exist.
func classifyTemporal(b []byte) Shape {
	isText := Shape{form: text}
	end := dateEnd(b)
	if end == 0 {
		return classifyClock(b, 2)
	}
	if _, status := types.ParseDate(string(b[:end])); status != types.ConvertOK {
		return isText
	}
	if len(b) == end {
		return Shape{form: date}
	}
	if b[end] != ' ' && b[end] != 'T' {
		return isText
	}
	if s := classifyClock(b[end+1:], 1); s.form == clock {
		return Shape{form: datetime, fraction: s.fraction}
	}
	if b[4] == '/' {
		return isText
	}
	return classifyMoment(b, end+1)
}

// dateEnd returns where a date that a text begins with ends, 0 if it begins with none. The day may not exist.
func dateEnd(b []byte) int {
	if digits(b, 0) != 4 || len(b) < len("2024-1-2") || b[4] != '-' && b[4] != '/' {
		return 0
	}
	month := digits(b, 5)
	if n := month - 5; n < 1 || n > 2 || month == len(b) || b[month] != b[4] {
		return 0
	}
	day := digits(b, month+1)
	if n := day - month - 1; n < 1 || n > 2 {
		return 0
	}
	return day
}

// classifyMoment reads a date with a time, which begins at start, and an offset from UTC of a moment that a TIMESTAMP can be.
func classifyMoment(b []byte, start int) Shape {
	b = withSeconds(b, start)
	end := offsetStart(b)
	utc, ok := types.ParseMoment(string(b))
	if !ok || end <= start || utc < types.MinTimestamp || utc > types.MaxTimestamp {
		return Shape{form: text}
	}
	if s := classifyClock(b[start:end], 1); s.form == clock {
		return Shape{form: moment, fraction: s.fraction}
	}
	return Shape{form: text}
}

// offsetStart returns where the offset from UTC at the end of a text begins; -1: it has none.
func offsetStart(b []byte) int {
	if end := len(b) - 1; b[end] == 'Z' {
		return end
	}
	return bytes.LastIndexAny(b, "+-")
}

// withSeconds returns a moment whose time, which begins at start, ends with the minutes, as Java writes it, with seconds. Other strings stay as they are.
func withSeconds(b []byte, start int) []byte {
	end := offsetStart(b)
	if end <= start || bytes.Count(b[start:end], []byte(":")) != 1 {
		return b
	}
	return slices.Concat(b[:end], []byte(":00"), b[end:])
}

// classifyClock reads h:mm[:ss[.f]], a time of the day. Minutes and seconds have at least so many digits, one or two.
func classifyClock(b []byte, least int) Shape {
	isText := Shape{form: text}
	at := digits(b, 0)
	if at < 1 || at > 2 || number2(b[:at]) > 23 {
		return isText
	}
	for range 2 { // minutes, seconds
		if at == len(b) || b[at] != ':' {
			return isText
		}
		end := digits(b, at+1)
		if n := end - at - 1; n < least || n > 2 || number2(b[at+1:end]) > 59 {
			return isText
		}
		if at = end; at == len(b) {
			return Shape{form: clock}
		}
	}
	n := len(b) - at - 1
	if b[at] != '.' || n < 1 || n > 6 || digits(b, at+1) != len(b) {
		return isText
	}
	return Shape{form: clock, fraction: n}
}

// number2 returns the value of one digit or two.
func number2(b []byte) (n int) {
	for _, c := range b {
		n = 10*n + int(c-'0')
	}
	return n
}
