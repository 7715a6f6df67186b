package types

import (
	"strings"
	"time"
)

// Temporal literals, by the rules of Reference Manual 11.1.3 "Date and Time Literals" and of MySQL's my_time.cc
// (str_to_datetime, str_to_time, number_to_datetime, number_to_time).

// ParseDate reads a date or datetime as a DATE. A time part is dropped: ConvertRounded if it was not midnight.
func ParseDate(s string) (days int64, status ConvertStatus) {
	if days, ok := ParseISODate(s); ok {
		return days, ConvertOK
	}
	datetime, _, _, status := parseDatetime(s)
	if status == ConvertInvalid {
		return 0, status
	}
	days = DateOf(datetime)
	if status == ConvertOK && datetime != days*MicrosPerDay {
		status = ConvertRounded
	}
	return days, status
}

// ParseISODate reads YYYY-MM-DD only, the form that most dates have. It looks at YYYY-MM- at once: what is added carries into a byte's high bit
// where the byte is more than a digit, or no hyphen.
func ParseISODate(s string) (days int64, ok bool) {
	const form, most = 0x2d30302d30303030, 0x7f76767f76767676
	if len(s) != len("2006-01-02") {
		return 0, false
	}
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	x ^= form
	ten, one := s[8]-'0', s[9]-'0'
	if (x|(x+most))&0x8080808080808080 != 0 || ten > 9 || one > 9 {
		return 0, false
	}
	digit := func(i int) int { return int(x >> (8 * i) & 0xff) }
	return MakeDays(digit(0)*1000+digit(1)*100+digit(2)*10+digit(3), digit(5)*10+digit(6), int(ten)*10+int(one))
}

// ParseISODatetime reads YYYY-MM-DD and YYYY-MM-DD hh:mm:ss only, the forms that most moments have.
func ParseISODatetime(s string) (datetime int64, ok bool) {
	if len(s) == len("2006-01-02") {
		days, ok := ParseISODate(s)
		return days * MicrosPerDay, ok
	}
	if len(s) != len("2006-01-02 15:04:05") || s[10] != ' ' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	days, ok := ParseISODate(s[:10])
	if !ok {
		return 0, false
	}
	for _, i := range [...]int{11, 12, 14, 15, 17, 18} {
		if !isDigit(s[i]) {
			return 0, false
		}
	}
	two := func(i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }
	h, m, sec := two(11), two(14), two(17)
	if h > 23 || m > 59 || sec > 59 {
		return 0, false
	}
	return days*MicrosPerDay + clock(h, m, sec, 0), true
}

// ParseDatetime reads a date or datetime in any of MySQL's forms:
//
//   - delimited by any punctuation, 'T' or spaces between date and time, or as digits YYYYMMDD[HHMMSS], YYMMDD[HHMMSS];
//   - with a fraction of up to six digits (a seventh rounds), and two-digit years of 1970..2069;
//   - behind these with an offset from UTC, Z, +hh:mm, +hhmm or +hh, up to 14 hours (MySQL since 8.0.19: +hh:mm, behind 13:59 for
//     those below zero). The string is a moment then, and the result what a clock in zone, nil for UTC, shows at it.
//
// Dates with a zero year-month-day, month or day and dates that do not exist are ConvertInvalid; text after the value is ConvertTruncated.
func ParseDatetime(s string, zone *time.Location) (datetime int64, status ConvertStatus) {
	if datetime, ok := ParseISODatetime(s); ok {
		return datetime, ConvertOK
	}
	datetime, _, offset, status := parseDatetime(s)
	if offset != noOffset && status != ConvertInvalid {
		datetime -= offset
		if zone != nil {
			datetime = InZone(datetime, zone)
		}
		if datetime < 0 && !ValidDate(DateOf(datetime)) || datetime > MaxDatetime {
			return 0, ConvertInvalid
		}
	}
	return datetime, status
}

// ParseMoment reads a DATETIME with an offset from UTC; ok is false for every other string.
func ParseMoment(s string) (utc int64, ok bool) {
	const least = len("2000-01-01")
	if len(s) <= least || strings.IndexByte(s[least:], '+') < 0 && strings.IndexByte(s[least:], '-') < 0 && !strings.ContainsAny(s[least:], "Zz") {
		return 0, false
	}
	datetime, _, offset, status := parseDatetime(s)
	return datetime - offset, status <= ConvertRounded && offset != noOffset
}

// noOffset stands for none of those that a string can have.
const noOffset = MicrosPerDay

// parseDatetime also returns how many fractional digits were written, at most 6, and the offset from UTC that stands behind them in microseconds, or noOffset.
func parseDatetime(s string) (datetime int64, fsp int, offset int64, status ConvertStatus) {
	i := skipSpaces(s, 0)
	if i == len(s) || !isDigit(s[i]) {
		return 0, 0, noOffset, ConvertInvalid
	}
	var field [6]int
	n := 0
	run := i
	for run < len(s) && (isDigit(s[run]) || s[run] == 'T') {
		run++
	}
	var yearDigits int
	if compact := run == len(s) || s[run] == '.' || isSpace(s[run]) && run-i >= 6; compact && run-i >= 5 {
		if n, yearDigits, i = compactFields(s, i, run, &field); n == 0 {
			return 0, 0, noOffset, ConvertInvalid
		}
	} else {
		start := i
		field[0], i = digitsUpTo(s, i)
		yearDigits = i - start
		n = 1
		if i = skipPunctuation(s, i); i == len(s) || !isDigit(s[i]) {
			return 0, 0, noOffset, ConvertInvalid
		}
		n, i = delimitedFields(s, i, &field, n)
	}
	if n < 3 || field[3] > 23 || field[4] > 59 || field[5] > 59 {
		return 0, 0, noOffset, ConvertInvalid
	}
	year := field[0]
	if yearDigits == 2 && field[0]+field[1]+field[2] > 0 {
		year = fullYear(year)
	}
	days, ok := MakeDays(year, field[1], field[2])
	if !ok {
		return 0, 0, noOffset, ConvertInvalid
	}
	micro := 0
	if n == 6 && i < len(s) && s[i] == '.' {
		micro, fsp, i = parseFraction(s, i+1)
	}
	datetime = days*MicrosPerDay + clock(field[3], field[4], field[5], micro)
	if datetime > MaxDatetime {
		return 0, 0, noOffset, ConvertInvalid
	}
	offset = noOffset
	if n == 6 {
		offset, i = parseOffset(s, i)
	}
	return datetime, fsp, offset, trailing(s, i)
}

// compactFields reads fields that are written without delimiters, s[i:run], and a time of day that may follow. It returns how many fields there are, 0 if that
// is no date, the digits of the year, and where they end.
func compactFields(s string, i, run int, field *[6]int) (n, yearDigits, end int) {
	// YYYYMMDD, YYYYMMDDHHMMSS and YYYYMMDDTHHMMSS have a year of four digits; the other lengths of two.
	yearDigits = 4
	digits := 0
	for _, c := range []byte(s[i:run]) {
		if isDigit(c) {
			digits++
		} else {
			break
		}
	}
	if digits != 8 && digits < 14 {
		yearDigits = 2
	}
	width := yearDigits
	for n < 6 && i < run {
		start := i
		for i < run && i-start < width && isDigit(s[i]) {
			field[n] = field[n]*10 + int(s[i]-'0')
			i++
		}
		if i == start {
			return 0, 0, i
		}
		width = 2
		n++
		if n == 3 && i < run && s[i] == 'T' {
			i++
		}
	}
	if n == 3 && i == run && i < len(s) && isSpace(s[i]) {
		j := skipSpaces(s, i)
		if j < len(s) && isDigit(s[j]) { // 20200102 03:04:05
			i = j
			n, i = delimitedFields(s, i, field, n)
		}
	}
	return n, yearDigits, i
}

// parseOffset reads an offset from UTC at s[i:]. Without one it returns noOffset and i.
func parseOffset(s string, i int) (offset int64, end int) {
	if i == len(s) {
		return noOffset, i
	}
	if s[i] == 'Z' || s[i] == 'z' {
		return 0, i + 1
	}
	two := func(at int) int64 {
		if at+2 > len(s) || !isDigit(s[at]) || !isDigit(s[at+1]) {
			return -1
		}
		return int64(s[at]-'0')*10 + int64(s[at+1]-'0')
	}
	hours, minutes := two(i+1), int64(0)
	end = i + 3
	if hours < 0 || s[i] != '+' && s[i] != '-' {
		return noOffset, i
	}
	if end < len(s) && s[end] == ':' && two(end+1) >= 0 {
		minutes, end = two(end+1), end+3
	} else if two(end) >= 0 {
		minutes, end = two(end), end+2
	}
	if hours > 14 || minutes > 59 || hours == 14 && minutes > 0 || end < len(s) && isDigit(s[end]) {
		return noOffset, i
	}
	offset = hours*MicrosPerHour + minutes*MicrosPerMinute
	if s[i] == '-' {
		offset = -offset
	}
	return offset, end
}

func clock(hour, minute, second, micro int) int64 {
	return int64(hour)*MicrosPerHour + int64(minute)*MicrosPerMinute + int64(second)*MicrosPerSecond + int64(micro)
}

// digitsUpTo reads all digits from i on, up to the delimiter: 2019-012-3 is a date and 2019-12-311 is none.
func digitsUpTo(s string, i int) (value, end int) {
	for i < len(s) && isDigit(s[i]) {
		value = min(value*10+int(s[i]-'0'), 999_999) // beyond the largest value of any field
		i++
	}
	return value, i
}

// delimitedFields reads the fields from the n-th on; s[i] is a digit. It stops before whatever is not a delimiter
// followed by a digit.
func delimitedFields(s string, i int, field *[6]int, n int) (int, int) {
	for {
		field[n], i = digitsUpTo(s, i)
		n++
		if n == 6 {
			return n, i
		}
		next := skipPunctuation(s, i)
		if n == 3 {
			if next == i && i < len(s) && s[i] == 'T' {
				next++
			}
			next = skipSpaces(s, next)
		}
		if next == i || next == len(s) || !isDigit(s[next]) {
			return n, i
		}
		i = next
	}
}

// skipPunctuation skips ASCII punctuation, any of which may stand between the fields.
func skipPunctuation(s string, i int) int {
	for i < len(s) && (s[i] >= '!' && s[i] <= '/' || s[i] >= ':' && s[i] <= '@' || s[i] >= '[' && s[i] <= '`' || s[i] >= '{' && s[i] <= '~') {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// parseFraction reads the digits behind a decimal point: six count, the seventh rounds half up, so micro may be 10^6.
func parseFraction(s string, i int) (micro, digits, end int) {
	start := i
	for i < len(s) && isDigit(s[i]) {
		if i-start < MaxFsp {
			micro = micro*10 + int(s[i]-'0')
		} else if i-start == MaxFsp && s[i] >= '5' {
			micro++
		}
		i++
	}
	digits = min(i-start, MaxFsp)
	return micro * int(pow10Int64[MaxFsp-digits]), digits, i
}

// LiteralFsp returns the fractional digits (0..6) that a temporal string is written with: the scale of a literal's type.
func LiteralFsp(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '.' && i+1 < len(s) && isDigit(s[i+1]) {
			_, digits, end := parseFraction(s, i+1)
			_, end = parseOffset(s, end)
			if skipSpaces(s, end) == len(s) {
				return digits
			}
		}
	}
	return 0
}

// DatetimeFromNumber reads a number YYYYMMDD, YYMMDD, YYYYMMDDHHMMSS or YYMMDDHHMMSS; 0 is the zero date, which is invalid.
func DatetimeFromNumber(n int64) (datetime int64, status ConvertStatus) {
	switch {
	case n >= 10000101000000: // complete
	case n < 101:
		return 0, ConvertInvalid
	case n <= 691231:
		n = (n + 20000000) * 1000000
	case n < 700101:
		return 0, ConvertInvalid
	case n <= 991231:
		n = (n + 19000000) * 1000000
	case n < 10000101:
		return 0, ConvertInvalid
	case n <= 99991231:
		n *= 1000000
	case n < 101000000:
		return 0, ConvertInvalid
	case n <= 691231235959:
		n += 20000000000000
	case n < 700101000000:
		return 0, ConvertInvalid
	case n <= 991231235959:
		n += 19000000000000
	}
	if n > 99991231235959 {
		return 0, ConvertInvalid
	}
	date, t := n/1000000, int(n%1000000)
	days, ok := MakeDays(int(date/10000), int(date/100%100), int(date%100))
	if !ok || t/10000 > 23 || t/100%100 > 59 || t%100 > 59 {
		return 0, ConvertInvalid
	}
	return days*MicrosPerDay + clock(t/10000, t/100%100, t%100, 0), ConvertOK
}

// ParseTime reads a TIME: [-][D ]HH:MM[:SS[.frac]], [-]D HH, [-]HHMMSS[.frac], or a whole datetime, of which it takes
// the time, as [ParseDatetime] reads it. Minutes and seconds above 59 are ConvertInvalid; hours beyond 838:59:59 give that with ConvertOutOfRange.
func ParseTime(s string, zone *time.Location) (t int64, status ConvertStatus) {
	i := skipSpaces(s, 0)
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	if i == len(s) || !isDigit(s[i]) {
		return 0, ConvertInvalid
	}
	if !neg {
		if datetime, ok := DatetimeForTime(s[i:], zone); ok {
			return TimeOf(datetime), ConvertOK
		}
	}
	value, i := timeField(s, i)
	var hour, minute, second int64
	if j := skipSpaces(s, i); j > i && j < len(s) && isDigit(s[j]) {
		var h int64
		h, i = timeField(s, j)
		hour = value*24 + h
		minute, second, i = timeRest(s, i)
	} else if i+1 < len(s) && s[i] == ':' && isDigit(s[i+1]) {
		hour = value
		minute, second, i = timeRest(s, i)
	} else {
		hour, minute, second = value/10000, value/100%100, value%100
	}
	micro := 0
	if i < len(s) && s[i] == '.' {
		micro, _, i = parseFraction(s, i+1)
	}
	if minute > 59 || second > 59 {
		return 0, ConvertInvalid
	}
	status = trailing(s, i)
	if hour > 838 {
		t, status = MaxTime, ConvertOutOfRange
	} else if t = clock(int(hour), int(minute), int(second), micro); t > MaxTime {
		t, status = MaxTime, ConvertOutOfRange
	}
	if neg {
		t = -t
	}
	return t, status
}

// DatetimeForTime reads a string of twelve characters or more as a date and time where a TIME would do (str_to_time in MySQL's my_time.cc). It has to be of
// digits alone, but for the point of a fraction, or have a space or T between the two: 16:04:15.000000 is no 15 April 2016.
func DatetimeForTime(s string, zone *time.Location) (datetime int64, ok bool) {
	if len(s) < 12 {
		return 0, false
	}
	value := strings.TrimRight(s, " \t\n\v\f\r")
	hasOnlyDigits := strings.Trim(value, ".0123456789") == "" && strings.Count(value, ".") <= 1
	if !hasOnlyDigits && !strings.ContainsAny(value, " \t\n\v\f\rTt") {
		return 0, false
	}
	datetime, status := ParseDatetime(s, zone)
	return datetime, status == ConvertOK
}

// timeField reads digits; beyond any valid hour the value no longer grows.
func timeField(s string, i int) (v int64, end int) {
	for ; i < len(s) && isDigit(s[i]); i++ {
		v = min(v*10+int64(s[i]-'0'), 1<<40)
	}
	return v, i
}

// timeRest reads [:MM[:SS]].
func timeRest(s string, i int) (minute, second int64, end int) {
	if i+1 < len(s) && s[i] == ':' && isDigit(s[i+1]) {
		minute, i = timeField(s, i+1)
		if i+1 < len(s) && s[i] == ':' && isDigit(s[i+1]) {
			second, i = timeField(s, i+1)
		}
	}
	return minute, second, i
}

// TimeFromNumber reads a number [-]HHMMSS, or a datetime's number, of which it takes the time.
func TimeFromNumber(n int64) (t int64, status ConvertStatus) {
	if n > 8385959 {
		if n >= 10000000000 {
			if datetime, status := DatetimeFromNumber(n); status == ConvertOK {
				return TimeOf(datetime), ConvertOK
			}
		}
		return MaxTime, ConvertOutOfRange
	}
	if n < -8385959 {
		return MinTime, ConvertOutOfRange
	}
	neg := n < 0
	if neg {
		n = -n
	}
	if n/100%100 > 59 || n%100 > 59 {
		return 0, ConvertInvalid
	}
	t = clock(int(n/10000), int(n/100%100), int(n%100), 0)
	if neg {
		t = -t
	}
	return t, ConvertOK
}

// YearFromNumber is the YEAR of a number: 1901..2155 and 0 as they are, 1..69 are 2001..2069, 70..99 are 1970..1999.
func YearFromNumber(n int64) (year int64, status ConvertStatus) {
	switch {
	case n == 0 || n >= 1901 && n <= 2155:
		return n, ConvertOK
	case n > 0 && n < 100:
		return int64(fullYear(int(n))), ConvertOK
	}
	return 0, ConvertOutOfRange
}

// ParseYear is the YEAR of a string: as YearFromNumber, but '0' and '00' are 2000; only '0000' is the year 0.
func ParseYear(s string) (year int64, status ConvertStatus) {
	n, status := ParseIntPrefix(s)
	if status == ConvertInvalid || status == ConvertOutOfRange {
		return 0, status
	}
	i := skipSpaces(s, 0)
	digits := i
	for digits < len(s) && isDigit(s[digits]) {
		digits++
	}
	if n == 0 && digits-i < 4 {
		return 2000, status
	}
	year, range_ := YearFromNumber(n)
	return year, max(status, range_)
}
