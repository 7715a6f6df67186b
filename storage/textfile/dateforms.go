package textfile

import (
	"fmt"
	"strings"
	"time"
)

// DateForms are forms of strptime in which a text has its dates, and its dates with a time; empty: as ISO 8601 asks.
type DateForms struct{ Date, Timestamp string }

// Given says whether there are any.
func (f DateForms) Given() bool { return f != DateForms{} }

// Read returns a field that has one of the forms as Radish writes it, in buf. ok is false if it has none.
func (f DateForms) Read(field, buf []byte) (text []byte, ok bool) {
	if f.Timestamp != "" {
		if t, ok := parseTime(string(field), f.Timestamp); ok {
			return t.AppendFormat(buf[:0], "2006-01-02 15:04:05.999999"), true
		}
	}
	if f.Date != "" {
		if t, ok := parseTime(string(field), f.Date); ok {
			return t.AppendFormat(buf[:0], "2006-01-02"), true
		}
	}
	return field, false
}

// Exclude says whether what has a shape as it stands is a string, as a form is given for such dates.
func (f DateForms) Exclude(s Shape) bool {
	return s.IsDate() && f.Date != "" || s.Temporal() && !s.IsDate() && !s.IsClock() && f.Timestamp != ""
}

// directives are those of strptime that formats may have, as DuckDB has them.
const directives = "YymdjHIMSfpbBaA%"

// CheckDateForm returns what is wrong with a form of dates; "": nothing is.
func CheckDateForm(format string) (wrong string) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i < len(format) && format[i] == '-' {
			i++
		}
		if i == len(format) {
			return "it ends with %"
		}
		if c := format[i]; !strings.ContainsRune(directives, rune(c)) {
			return fmt.Sprintf("%%%c is not known; known are %%Y %%y %%m %%d %%H %%I %%M %%S %%f %%p %%b %%B %%a %%A %%j and %%%%", c)
		}
	}
	if !strings.ContainsRune(format, '%') {
		return "it has no % directive, as %d/%m/%Y has"
	}
	return ""
}

// parseTime reads a date or time by a format. Numbers may lack leading zeros.
func parseTime(s, format string) (t time.Time, ok bool) {
	p := timeParser{rest: s}
	year, month, day, yearDay := 1970, 1, 1, 0
	hour, minute, second, micro, half := 0, 0, 0, 0, -1
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' {
			p.literal(c)
			continue
		}
		if i++; i < len(format) && format[i] == '-' {
			i++
		}
		if i == len(format) {
			return t, false
		}
		switch format[i] {
		case 'Y':
			year = p.digits(4, 4)
		case 'y':
			if year = p.digits(2, 2); year < 69 {
				year += 100
			}
			year += 1900
		case 'm':
			month = p.digits(1, 2)
		case 'd':
			day = p.digits(1, 2)
		case 'j':
			yearDay = p.digits(1, 3)
		case 'H':
			hour = p.digits(1, 2)
		case 'I':
			if hour = p.digits(1, 2); hour < 1 || hour > 12 {
				p.failed = true
			}
		case 'M':
			minute = p.digits(1, 2)
		case 'S':
			second = p.digits(1, 2)
		case 'f':
			micro = p.fraction()
		case 'p':
			half = p.word([]string{"AM", "PM"}, 2)
		case 'b':
			month = 1 + p.word(months, 3)
		case 'B':
			month = 1 + p.word(months, 0)
		case 'a':
			p.word(weekdays, 3)
		case 'A':
			p.word(weekdays, 0)
		default:
			p.literal(format[i])
		}
	}
	if half >= 0 {
		hour = hour%12 + 12*half
	}
	if yearDay > 0 {
		month, day = 1, 1
	}
	if p.failed || p.rest != "" || hour > 23 || minute > 59 || second > 59 || year < 1 {
		return t, false
	}
	t = time.Date(year, time.Month(month), day, hour, minute, second, 1000*micro, time.UTC)
	if yearDay > 0 {
		t = t.AddDate(0, 0, yearDay-1)
		return t, t.Year() == year
	}
	return t, t.Day() == day && t.Month() == time.Month(month) // else there is no such day
}

var (
	months   = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	weekdays = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)

// timeParser takes a text apart.
type timeParser struct {
	rest   string
	failed bool
}

// literal reads a character that the format has; for a space there may be several.
func (p *timeParser) literal(c byte) {
	if p.failed = p.failed || p.rest == "" || p.rest[0] != c; p.failed {
		return
	}
	if p.rest = p.rest[1:]; c == ' ' {
		p.rest = strings.TrimLeft(p.rest, " ")
	}
}

func (p *timeParser) digits(least, most int) (n int) {
	i := 0
	for ; i < most && i < len(p.rest) && p.rest[i]-'0' <= 9; i++ {
		n = 10*n + int(p.rest[i]-'0')
	}
	p.failed = p.failed || i < least
	p.rest = p.rest[i:]
	return n
}

// fraction reads up to six digits behind a point that the format has.
func (p *timeParser) fraction() int {
	before := len(p.rest)
	n := p.digits(1, 6)
	for i := before - len(p.rest); i < 6; i++ {
		n *= 10
	}
	return n
}

// word reads one of some words, or its first letters if length is not 0, and returns its index.
func (p *timeParser) word(words []string, length int) int {
	for i, w := range words {
		if length > 0 {
			w = w[:length]
		}
		if len(p.rest) >= len(w) && strings.EqualFold(p.rest[:len(w)], w) {
			p.rest = p.rest[len(w):]
			return i
		}
	}
	p.failed = true
	return 0
}
