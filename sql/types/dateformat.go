package types

import "strconv"

var (
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September",
		"October", "November", "December"}
	dayNames = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)

// MonthName is MONTHNAME() in the locale en_US, the only one.
func MonthName(days int64) string { return monthNames[MonthOf(days)-1] }

// DayName is DAYNAME().
func DayName(days int64) string { return dayNames[Weekday(days)] }

// AppendDateFormat appends DATE_FORMAT(datetime, format), by the table of the Reference Manual 14.7, DATE_FORMAT(). A % before any
// other character is that character.
func AppendDateFormat(dst []byte, datetime int64, format string) []byte {
	days := DateOf(datetime)
	t := datetime - days*MicrosPerDay
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) {
			dst = append(dst, c)
			continue
		}
		i++
		dst = appendDateCode(dst, days, t, format[i])
	}
	return dst
}

func appendDateCode(dst []byte, days, t int64, code byte) []byte {
	switch code {
	case 'a':
		return append(dst, DayName(days)[:3]...)
	case 'b':
		return append(dst, MonthName(days)[:3]...)
	case 'c':
		return strconv.AppendInt(dst, int64(MonthOf(days)), 10)
	case 'D':
		return appendOrdinal(dst, DayOf(days))
	case 'd':
		return append2(dst, DayOf(days))
	case 'e':
		return strconv.AppendInt(dst, int64(DayOf(days)), 10)
	case 'j':
		return appendPadded(dst, DayOfYear(days), 3)
	case 'M':
		return append(dst, MonthName(days)...)
	case 'm':
		return append2(dst, MonthOf(days))
	case 'U':
		return append2(dst, Week(days, 0))
	case 'u':
		return append2(dst, Week(days, 1))
	case 'V':
		return append2(dst, Week(days, 2))
	case 'v':
		return append2(dst, Week(days, 3))
	case 'W':
		return append(dst, DayName(days)...)
	case 'w':
		return strconv.AppendInt(dst, int64(DayOfWeek(days)-1), 10)
	case 'X':
		return appendPadded(dst, int(YearWeek(days, 2)/100), 4)
	case 'x':
		return appendPadded(dst, int(YearWeek(days, 3)/100), 4)
	case 'Y':
		return appendPadded(dst, YearOf(days), 4)
	case 'y':
		return append2(dst, YearOf(days)%100)
	}
	return appendTimeCode(dst, t, code)
}

// appendTimeCode formats a non-negative time; a code that it does not know stands for itself.
func appendTimeCode(dst []byte, t int64, code byte) []byte {
	h, m, s, us := clockFields(t)
	twelve := (h%24+11)%12 + 1
	switch code {
	case 'f':
		return appendPadded(dst, us, 6)
	case 'H':
		return appendPadded(dst, h, 2)
	case 'h', 'I':
		return append2(dst, twelve)
	case 'i':
		return append2(dst, m)
	case 'k':
		return strconv.AppendInt(dst, int64(h), 10)
	case 'l':
		return strconv.AppendInt(dst, int64(twelve), 10)
	case 'p':
		return append(dst, meridiem(h)...)
	case 'r':
		dst = append(append2(append(append2(append(append2(dst, twelve), ':'), m), ':'), s), ' ')
		return append(dst, meridiem(h)...)
	case 'S', 's':
		return append2(dst, s)
	case 'T':
		return append2(append(append2(append(appendPadded(dst, h, 2), ':'), m), ':'), s)
	}
	return append(dst, code)
}

func meridiem(hour int) string {
	if hour%24 < 12 {
		return "AM"
	}
	return "PM"
}

// AppendTimeFormat appends TIME_FORMAT(time, format). Hours may exceed 23, and a negative time has a leading minus sign. Codes for dates make the result
// NULL, for which ok is false, except those that MySQL prints as zeros (%c, %d, %e, %m, %Y, %y).
func AppendTimeFormat(dst []byte, t int64, format string) (text []byte, ok bool) {
	if t < 0 {
		dst = append(dst, '-')
		t = -t
	}
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) {
			dst = append(dst, c)
			continue
		}
		i++
		switch format[i] {
		case 'c', 'e':
			dst = append(dst, '0')
		case 'd', 'm', 'y':
			dst = append(dst, "00"...)
		case 'Y':
			dst = append(dst, "0000"...)
		case 'a', 'b', 'D', 'j', 'M', 'U', 'u', 'V', 'v', 'W', 'w', 'X', 'x':
			return dst[:0], false
		default:
			dst = appendTimeCode(dst, t, format[i])
		}
	}
	return dst, true
}

// appendOrdinal appends 1st, 2nd, 3rd, 4th, ... 11th, 12th, 13th, ...
func appendOrdinal(dst []byte, n int) []byte {
	dst = strconv.AppendInt(dst, int64(n), 10)
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			return append(dst, "st"...)
		case 2:
			return append(dst, "nd"...)
		case 3:
			return append(dst, "rd"...)
		}
	}
	return append(dst, "th"...)
}

func appendPadded(dst []byte, n, width int) []byte {
	for p := int(pow10Int64[width-1]); p > 1 && n < p; p /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
