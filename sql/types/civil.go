package types

// The calendar. A DATE is the number of days since 1970-01-01 in the proleptic Gregorian calendar; valid dates run
// from 0000-01-01 to 9999-12-31. (MySQL's day numbers treat the year 0 as no leap year, so that TO_DAYS of its January
// and February is one more than here.)

// The first and last valid DATE.
const (
	MinDate = -719528 // 0000-01-01
	MaxDate = 2932896 // 9999-12-31
)

const firstReached = MinDate + 366 // 0001-01-01

const daysToYear0 = 719528 // days from 0000-01-01, MySQL's day 0, to 1970-01-01

// ValidDate says whether days is a DATE.
func ValidDate(days int64) bool { return days >= MinDate && days <= MaxDate }

// ReachesDate says whether days is a DATE that another may lead to by days: MySQL gives the zero date, which is none here, in place of those of the year 0.
func ReachesDate(days int64) bool { return days >= firstReached && days <= MaxDate }

// ReachesDatetime is ReachesDate for a DATETIME, by days and what is shorter.
func ReachesDatetime(micros int64) bool {
	return micros >= firstReached*MicrosPerDay && micros <= MaxDatetime
}

// DaysFromCivil returns the day of a date that exists. Years count from March, so that the leap day comes last
// (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", 2013, days_from_civil).
func DaysFromCivil(year, month, day int) int64 {
	y, m := uint32(year+400), uint32(month) // one era up, so that all stays positive
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	yoe := y % 400
	doy := (153*(m-3)+2)/5 + uint32(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return int64(era)*146097 + int64(doe) - 719468 - 146097
}

// CivilFromDays returns year, month (1..12) and day (1..31) of a valid DATE. Divisions by constants are replaced by
// multiplications that are exact on the range (Cassio Neri and Lorenz Schneider, "Euclidean affine functions and their
// application to calendar algorithms", 2022).
func CivilFromDays(days int64) (year, month, day int) {
	year, ny := marchYear(days)
	n3 := 2141*ny + 197913
	month, day = int(n3>>16), int(n3&0xffff/2141)+1
	if ny >= 306 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

// marchYear returns the year that began on the last 1 March, and the days since then (0..365).
func marchYear(days int64) (year int, dayOfYear uint32) {
	n1 := 4*uint32(days+719468+146097) + 3
	century := n1 / 146097
	n2 := n1%146097 | 3
	p2 := 2939745 * uint64(n2)
	return int(100*century+uint32(p2>>32)) - 400, uint32(p2) / 2939745 / 4
}

// YearOf returns the year of a valid DATE.
func YearOf(days int64) int {
	year, ny := marchYear(days)
	if ny >= 306 {
		year++
	}
	return year
}

// MonthOf returns the month (1..12) of a valid DATE.
func MonthOf(days int64) int {
	_, ny := marchYear(days)
	m := int((2141*ny + 197913) >> 16)
	if ny >= 306 {
		m -= 12
	}
	return m
}

// DayOf returns the day of the month (1..31) of a valid DATE.
func DayOf(days int64) int {
	_, ny := marchYear(days)
	return int((2141*ny+197913)&0xffff/2141) + 1
}

// DayOfYear returns 1..366.
func DayOfYear(days int64) int {
	return int(days-DaysFromCivil(YearOf(days), 1, 1)) + 1
}

// QuarterOf returns 1..4.
func QuarterOf(days int64) int { return (MonthOf(days) + 2) / 3 }

// Weekday is WEEKDAY(): 0 is Monday. DAYOFWEEK() counts from 1, Sunday: see DayOfWeek.
func Weekday(days int64) int { return int((days-MinDate+5)%7+7) % 7 }

// DayOfWeek is DAYOFWEEK(): 1 is Sunday, 7 is Saturday.
func DayOfWeek(days int64) int { return (Weekday(days)+1)%7 + 1 }

// IsLeapYear says whether the year has a 29 February.
func IsLeapYear(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// DaysInMonth returns 28..31.
func DaysInMonth(year, month int) int {
	if month == 2 {
		if IsLeapYear(year) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

func daysInYear(year int) int64 {
	if IsLeapYear(year) {
		return 366
	}
	return 365
}

// LastDay is LAST_DAY(): the last day of the date's month.
func LastDay(days int64) int64 {
	y, m, d := CivilFromDays(days)
	return days + int64(DaysInMonth(y, m)-d)
}

// validCivil says whether such a date exists. Zero months and days do not (NO_ZERO_IN_DATE, NO_ZERO_DATE).
func validCivil(year, month, day int) bool {
	return year >= 0 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= DaysInMonth(year, month)
}

// MakeDays returns the day of a date; ok is false if there is no such date.
func MakeDays(year, month, day int) (days int64, ok bool) {
	if !validCivil(year, month, day) {
		return 0, false
	}
	return DaysFromCivil(year, month, day), true
}

// ToDays is TO_DAYS(): the day number counted from year 0.
func ToDays(days int64) int64 { return days + daysToYear0 }

// FromDays is FROM_DAYS(). MySQL gives the zero date for n up to 365 and beyond 9999-12-31; here ok is false.
func FromDays(n int64) (days int64, ok bool) {
	if n <= 365 || n > MaxDate+daysToYear0 {
		return 0, false
	}
	return n - daysToYear0, true
}

// Week is WEEK(date, mode) for the modes 0..7.
func Week(days int64, mode int) int {
	_, w := weekOf(days, weekFlags(mode))
	return w
}

// YearWeek is YEARWEEK(date, mode): year*100+week, where the first and last days of a year may belong to another's weeks.
func YearWeek(days int64, mode int) int64 {
	y, w := weekOf(days, weekFlags(mode)|weekYear)
	return int64(y)*100 + int64(w)
}

// The bits of MySQL's week behaviour (sql_time.cc, calc_week).
const (
	weekMondayFirst  = 1 // weeks begin on Monday, else on Sunday
	weekYear         = 2 // weeks 1..53 and possibly another year's, else 0..53 of this year
	weekFirstWeekday = 4 // week 1 begins with the first such weekday, else it is the first with 4 days in the year
)

// weekFlags turns a mode into behaviour: for weeks from Sunday the third bit means the opposite.
func weekFlags(mode int) int {
	mode &= 7
	if mode&weekMondayFirst == 0 {
		mode ^= weekFirstWeekday
	}
	return mode
}

func weekOf(days int64, flags int) (year, week int) {
	year = YearOf(days)
	first := DaysFromCivil(year, 1, 1)
	weekday := int64(Weekday(first))
	if flags&weekMondayFirst == 0 {
		weekday = (weekday + 1) % 7
	}
	ofYear := flags&weekYear != 0
	// Does the year's first, partial week belong to the year before?
	partial := func() bool {
		if flags&weekFirstWeekday != 0 {
			return weekday != 0
		}
		return weekday >= 4
	}
	if days-first < 7-weekday {
		if !ofYear && partial() {
			return year, 0
		}
		ofYear = true
		year--
		n := daysInYear(year)
		first -= n
		weekday = (weekday + 53*7 - n) % 7
	}
	var since int64
	if partial() {
		since = days - (first + 7 - weekday)
	} else {
		since = days - (first - weekday)
	}
	if ofYear && since >= 52*7 {
		weekday = (weekday + daysInYear(year)) % 7
		if !partial() {
			return year + 1, 1
		}
	}
	return year, int(since/7) + 1
}

// MakeDate is MAKEDATE(year, dayOfYear); two-digit years are of 1970..2069.
func MakeDate(year, dayOfYear int64) (days int64, ok bool) {
	if year < 0 || year > 9999 || dayOfYear < 1 || dayOfYear > MaxDate-MinDate+1 {
		return 0, false
	}
	days = DaysFromCivil(fullYear(int(year)), 1, 1) + dayOfYear - 1
	return days, ValidDate(days)
}

// fullYear completes a two-digit year: 0..69 are of this century, 70..99 of the last.
func fullYear(year int) int {
	switch {
	case year < 70:
		return year + 2000
	case year < 100:
		return year + 1900
	}
	return year
}

// PeriodAdd is PERIOD_ADD(period, months) on periods YYMM or YYYYMM; ok is false for a period without a month 1..12.
func PeriodAdd(period, months int64) (v int64, ok bool) {
	m, ok := periodMonths(period)
	if !ok || months < -1e7 || months > 1e7 {
		return 0, false
	}
	if m += months; m < 0 {
		return 0, false
	}
	return int64(fullYear(int(m/12)))*100 + m%12 + 1, true
}

// PeriodDiff is PERIOD_DIFF(a, b), the months from b to a.
func PeriodDiff(a, b int64) (v int64, ok bool) {
	x, okA := periodMonths(a)
	y, okB := periodMonths(b)
	return x - y, okA && okB
}

func periodMonths(period int64) (months int64, ok bool) {
	if period <= 0 || period > 999912 || period%100 < 1 || period%100 > 12 {
		return 0, false
	}
	return int64(fullYear(int(period/100)))*12 + period%100 - 1, true
}
