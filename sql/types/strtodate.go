package types

import "strings"

// StrToDateType returns the type of STR_TO_DATE(s, format): DATE or TIME if the format has only such parts, otherwise
// DATETIME; with a fraction (%f) the latter two have six digits. (MySQL, item_timefunc.cc, get_date_time_result_type.)
func StrToDateType(format string) Type {
	hasDate, hasClock, hasFraction := false, false, false
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		switch format[i] {
		case 'f':
			hasClock, hasFraction = true, true
		case 'H', 'h', 'I', 'i', 'k', 'l', 'p', 'r', 'S', 's', 'T':
			hasClock = true
		case 'M', 'b', 'm', 'c', 'Y', 'y', 'D', 'd', 'e', 'j', 'a', 'W', 'w', 'U', 'u', 'V', 'v', 'X', 'x':
			hasDate = true
		}
	}
	t := Date
	switch {
	case hasClock && hasDate:
		t = Datetime
	case hasClock:
		t = Time
	}
	if hasFraction {
		t.Scale = MaxFsp
	}
	return t
}

// StrToDate is STR_TO_DATE(s, format). The value is of StrToDateType(format). Where a part is missing, wrong or out of
// range, or the date does not exist, ok is false, hence NULL with a warning. Text left over after the format is
// ConvertTruncated.
func StrToDate(s, format string) (v Value, status ConvertStatus) {
	to := StrToDateType(format)
	p := dateParser{text: s, year: -1, month: -1, day: -1, dayOfYear: -1, week: -1, weekday: -1, weekYear: -1}
	if !p.parse(format) {
		return NullOf(to), ConvertInvalid
	}
	days := int64(0)
	if to.Kind != KindTime {
		var ok bool
		if days, ok = p.days(); !ok {
			return NullOf(to), ConvertInvalid
		}
	}
	t, ok := p.time()
	if !ok {
		return NullOf(to), ConvertInvalid
	}
	v = Value{Type: to, I: t}
	switch to.Kind {
	case KindDate:
		v.I = days
	case KindDatetime:
		v.I = days*MicrosPerDay + t
	}
	return v, trailing(p.text, p.at)
}

// dateParser collects the parts that a format names; -1 is a part not given.
type dateParser struct {
	text                         string
	at                           int
	year, month, day             int
	dayOfYear, week, weekday     int // weekday: 1 is Monday, 7 is Sunday
	weekYear, weekCode           int // the year of %X and %x; the code of the week: one of U u V v
	hour, minute, second, micros int
	isOfTwelve                   bool // the hour is of 12
	isPM                         bool
}

func (p *dateParser) parse(format string) bool {
	for i := 0; i < len(format); i++ {
		p.at = skipSpaces(p.text, p.at)
		c := format[i]
		if p.at == len(p.text) {
			// MySQL lets the text end early; parts that a date needs are missed later.
			break
		}
		if isSpace(c) {
			continue
		}
		if c != '%' || i+1 == len(format) {
			if p.text[p.at] != c {
				return false
			}
			p.at++
			continue
		}
		i++
		if !p.code(format[i]) {
			return false
		}
	}
	return true
}

// code reads what the code behind a percent sign asks for.
func (p *dateParser) code(code byte) bool {
	switch code {
	case 'H', 'k', 'h', 'I', 'l', 'i', 'S', 's', 'f', 'p', 'r', 'T':
		return p.timeCode(code)
	case '.', '@', '#', '%':
		return p.skipCode(code)
	}
	return p.dateCode(code)
}

// dateCode reads what a code of a date asks for.
func (p *dateParser) dateCode(code byte) bool {
	switch code {
	case 'Y':
		start := p.at
		if !p.number(&p.year, 4) {
			return false
		}
		if p.at-start == 2 {
			p.year = fullYear(p.year)
		}
		return true
	case 'y':
		if !p.number(&p.year, 2) {
			return false
		}
		p.year = fullYear(p.year)
		return true
	case 'm', 'c':
		return p.number(&p.month, 2)
	case 'M':
		return p.name(&p.month, monthNames[:], len("September"))
	case 'b':
		return p.name(&p.month, monthNames[:], 3)
	case 'd', 'e':
		return p.number(&p.day, 2)
	case 'D':
		if !p.number(&p.day, 2) {
			return false
		}
		p.at = min(p.at+2, len(p.text))
		return true
	case 'j':
		return p.number(&p.dayOfYear, 3)
	case 'W':
		return p.name(&p.weekday, dayNames[:], len("Wednesday"))
	case 'a':
		return p.name(&p.weekday, dayNames[:], 3)
	case 'w':
		if !p.number(&p.weekday, 1) || p.weekday > 6 {
			return false
		}
		if p.weekday == 0 {
			p.weekday = 7
		}
		return true
	case 'U', 'u', 'V', 'v':
		p.weekCode = int(code)
		return p.number(&p.week, 2) && p.week <= 53 && (p.week > 0 || code == 'U' || code == 'u')
	case 'X', 'x':
		return p.number(&p.weekYear, 4)
	}
	return false
}

// timeCode reads what a code of a time of day asks for.
func (p *dateParser) timeCode(code byte) bool {
	switch code {
	case 'H', 'k':
		return p.number(&p.hour, 2)
	case 'h', 'I', 'l':
		p.isOfTwelve = true
		return p.number(&p.hour, 2)
	case 'i':
		return p.number(&p.minute, 2)
	case 'S', 's':
		return p.number(&p.second, 2)
	case 'f':
		start := p.at
		if !p.number(&p.micros, MaxFsp) {
			return false
		}
		p.micros *= int(pow10Int64[MaxFsp-(p.at-start)])
		return true
	case 'p':
		half := strings.ToUpper(p.text[p.at:min(p.at+2, len(p.text))])
		if half != "AM" && half != "PM" || !p.isOfTwelve {
			return false
		}
		p.isPM = half == "PM"
		p.at += 2
		return true
	case 'r':
		return p.parse("%I:%i:%S %p")
	case 'T':
		return p.parse("%H:%i:%S")
	}
	return false
}

// skipCode skips what a code says to leave out: punctuation, letters, digits, or a percent sign.
func (p *dateParser) skipCode(code byte) bool {
	switch code {
	case '.':
		p.at = skipPunctuation(p.text, p.at)
		return true
	case '@':
		for p.at < len(p.text) && (p.text[p.at]|0x20)-'a' < 26 {
			p.at++
		}
		return true
	case '#':
		for p.at < len(p.text) && isDigit(p.text[p.at]) {
			p.at++
		}
		return true
	case '%':
		if p.text[p.at] != '%' {
			return false
		}
		p.at++
		return true
	}
	return false
}

// number reads at least one digit and at most width.
func (p *dateParser) number(n *int, width int) bool {
	start := p.at
	*n = 0
	for p.at < len(p.text) && p.at-start < width && isDigit(p.text[p.at]) {
		*n = *n*10 + int(p.text[p.at]-'0')
		p.at++
	}
	return p.at > start
}

// name reads a word that is one of the names, each cut to length, in any case, or the beginning of just one of them
// (MySQL's check_word). The first name is 1.
func (p *dateParser) name(n *int, names []string, length int) bool {
	end := p.at
	for end < len(p.text) && (p.text[end]|0x20)-'a' < 26 {
		end++
	}
	word := p.text[p.at:end]
	*n = 0
	for i, name := range names {
		name = name[:min(length, len(name))]
		if len(word) > len(name) || !strings.EqualFold(word, name[:len(word)]) {
			continue
		}
		if *n != 0 {
			return false
		}
		*n = i + 1
	}
	p.at = end
	return *n != 0
}

// days returns the date from year, month and day; or year and day of the year; or year, week and weekday.
func (p *dateParser) days() (int64, bool) {
	if p.dayOfYear > 0 && p.year >= 0 {
		days := DaysFromCivil(p.year, 1, 1) + int64(p.dayOfYear) - 1
		return days, ValidDate(days) && int64(p.dayOfYear) <= daysInYear(p.year)
	}
	if p.week >= 0 && p.weekday > 0 {
		// %V goes with %X, %v with %x, %U and %u with %Y.
		strict := p.weekCode == 'V' || p.weekCode == 'v'
		year := p.year
		if strict {
			year = p.weekYear
		}
		if year < 0 || strict && p.week == 0 {
			return 0, false
		}
		first := DaysFromCivil(year, 1, 1)
		var days int64
		if p.weekCode == 'U' || p.weekCode == 'V' { // weeks from Sunday, the first with a Sunday
			weekday := int64(Weekday(first)+1) % 7
			if weekday != 0 {
				weekday -= 7
			}
			days = first - weekday + int64(p.week-1)*7 + int64(p.weekday%7)
		} else { // weeks from Monday, the first with four days
			weekday := int64(Weekday(first))
			if weekday > 3 {
				weekday -= 7
			}
			days = first - weekday + int64(p.week-1)*7 + int64(p.weekday-1)
		}
		return days, ValidDate(days)
	}
	return MakeDays(p.year, p.month, p.day)
}

func (p *dateParser) time() (int64, bool) {
	hour := p.hour
	if p.isOfTwelve {
		if hour < 1 || hour > 12 {
			return 0, false
		}
		hour %= 12
		if p.isPM {
			hour += 12
		}
	}
	if hour > 23 || p.minute > 59 || p.second > 59 {
		return 0, false
	}
	return clock(hour, p.minute, p.second, p.micros), true
}
