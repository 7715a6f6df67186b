package types

import (
	"math"
	"math/bits"
	"strings"
)

// Unit is a unit of INTERVAL, EXTRACT and TIMESTAMPDIFF.
type Unit uint8

// The units; a compound unit names its largest and its smallest part.
const (
	UnitMicrosecond Unit = iota
	UnitSecond
	UnitMinute
	UnitHour
	UnitDay
	UnitWeek
	UnitMonth
	UnitQuarter
	UnitYear
	UnitSecondMicrosecond
	UnitMinuteMicrosecond
	UnitMinuteSecond
	UnitHourMicrosecond
	UnitHourSecond
	UnitHourMinute
	UnitDayMicrosecond
	UnitDaySecond
	UnitDayMinute
	UnitDayHour
	UnitYearMonth
)

var unitNames = [...]string{"MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR",
	"SECOND_MICROSECOND", "MINUTE_MICROSECOND", "MINUTE_SECOND", "HOUR_MICROSECOND", "HOUR_SECOND", "HOUR_MINUTE",
	"DAY_MICROSECOND", "DAY_SECOND", "DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH"}

// String returns the unit as SQL writes it.
func (u Unit) String() string { return unitNames[u] }

// ParseUnit finds a unit by its SQL name, in any case, with or without the SQL_TSI_ prefix.
func ParseUnit(name string) (u Unit, ok bool) {
	name = strings.TrimPrefix(strings.ToUpper(name), "SQL_TSI_")
	for i, n := range unitNames {
		if n == name {
			return Unit(i), true
		}
	}
	return 0, false
}

// IsDateUnit says whether the unit has no part smaller than a day: a DATE plus such an interval stays a DATE, with any
// other it becomes a DATETIME.
func (u Unit) IsDateUnit() bool { return u >= UnitDay && u <= UnitYear || u == UnitYearMonth }

// IsMonthUnit says whether the unit counts months, whose length varies.
func (u Unit) IsMonthUnit() bool { return u >= UnitMonth && u <= UnitYear || u == UnitYearMonth }

// HasMicroseconds says whether intervals of the unit can have fractions of a second.
func (u Unit) HasMicroseconds() bool {
	switch u {
	case UnitMicrosecond, UnitSecondMicrosecond, UnitMinuteMicrosecond, UnitHourMicrosecond, UnitDayMicrosecond:
		return true
	}
	return false
}

// IsCompound says whether the interval's quantity is text of several numbers, to be read by ParseInterval.
func (u Unit) IsCompound() bool { return u >= UnitSecondMicrosecond }

// unitSize are the microseconds in a simple unit, or the months where IsMonthUnit.
var unitSize = [...]int64{1, MicrosPerSecond, MicrosPerMinute, MicrosPerHour, MicrosPerDay, 7 * MicrosPerDay, 1, 3, 12}

// Interval is a span of time: Count whole months or, unless InMonths is set, Count microseconds.
// No months are not the same as no microseconds: they lead to the year 0, as [AddDate] says.
type Interval struct {
	Count    int64
	InMonths bool
}

// Neg returns the interval backwards.
func (iv Interval) Neg() Interval { return Interval{-iv.Count, iv.InMonths} }

// IntervalOf returns n of a simple unit; ok is false if that is longer than any two dates are apart.
func IntervalOf(n int64, u Unit) (iv Interval, ok bool) {
	if n == math.MinInt64 {
		return Interval{}, false
	}
	size := unitSize[u]
	hi, lo := bits.Mul64(uint64(max(n, -n)), uint64(size))
	if hi != 0 || lo > 1<<62 {
		return Interval{}, false
	}
	return Interval{n * size, u.IsMonthUnit()}, true
}

// IntervalOfDecimal returns an interval of a simple unit whose number is a DECIMAL. SECOND keeps its fraction to the microsecond. Every other unit rounds
// half away from zero: INTERVAL 1.5 DAY is two days.
func IntervalOfDecimal(v Int128, scale int, u Unit) (iv Interval, ok bool) {
	if u == UnitSecond {
		r, ok := Rescale(v, scale, MaxFsp)
		n, fits := r.Int64()
		if !ok || !fits || n == math.MinInt64 {
			return Interval{}, false
		}
		return Interval{Count: n}, true
	}
	n, status := DecimalToInt(v, scale)
	if status == ConvertOutOfRange {
		return Interval{}, false
	}
	return IntervalOf(n, u)
}

// compoundParts are a compound unit's parts in units of its last, from the left.
var compoundParts = [...][]int64{
	UnitSecondMicrosecond: {MicrosPerSecond, 1},
	UnitMinuteMicrosecond: {MicrosPerMinute, MicrosPerSecond, 1},
	UnitMinuteSecond:      {MicrosPerMinute, MicrosPerSecond},
	UnitHourMicrosecond:   {MicrosPerHour, MicrosPerMinute, MicrosPerSecond, 1},
	UnitHourSecond:        {MicrosPerHour, MicrosPerMinute, MicrosPerSecond},
	UnitHourMinute:        {MicrosPerHour, MicrosPerMinute},
	UnitDayMicrosecond:    {MicrosPerDay, MicrosPerHour, MicrosPerMinute, MicrosPerSecond, 1},
	UnitDaySecond:         {MicrosPerDay, MicrosPerHour, MicrosPerMinute, MicrosPerSecond},
	UnitDayMinute:         {MicrosPerDay, MicrosPerHour, MicrosPerMinute},
	UnitDayHour:           {MicrosPerDay, MicrosPerHour},
	UnitYearMonth:         {12, 1},
}

// ParseInterval reads an interval's quantity from text, as MySQL's get_interval_value and get_interval_info do (item_timefunc.cc).
//
// A simple unit takes the integer that the text begins with, SECOND a decimal. A compound unit takes numbers with anything but digits between them.
// Parts that are missing are the leftmost: '10' MINUTE_SECOND is ten seconds. A fraction of a second counts its digits from
// the left: '1.5' SECOND_MICROSECOND is 1.5 seconds. ok is false, which makes the result NULL, for more numbers than parts and for numbers out of range.
func ParseInterval(s string, u Unit) (iv Interval, ok bool) {
	if !u.IsCompound() {
		if u == UnitSecond {
			v, scale, status := ParseDecimal(s)
			if status == ConvertOutOfRange {
				return Interval{}, false
			}
			return IntervalOfDecimal(v, scale, u)
		}
		n, status := ParseIntPrefix(s)
		if status == ConvertOutOfRange {
			return Interval{}, false
		}
		return IntervalOf(n, u)
	}
	parts := compoundParts[u]
	i := skipSpaces(s, 0)
	neg := i < len(s) && s[i] == '-'
	for i < len(s) && !isDigit(s[i]) {
		i++
	}
	var values [5]int64
	n, lastDigits := 0, 0
	for n < len(parts) && i < len(s) {
		start := i
		for ; i < len(s) && isDigit(s[i]); i++ {
			if values[n] > math.MaxInt64/10-10 {
				return Interval{}, false
			}
			values[n] = values[n]*10 + int64(s[i]-'0')
		}
		lastDigits = i - start
		n++
		for i < len(s) && !isDigit(s[i]) {
			i++
		}
	}
	if i < len(s) {
		return Interval{}, false
	}
	if u.HasMicroseconds() && n > 0 && lastDigits < MaxFsp {
		values[n-1] *= pow10Int64[MaxFsp-lastDigits]
	}
	var sum Int128
	for j, v := range values[:n] {
		sum, _ = sum.Add(MulInt64s(v, parts[len(parts)-n+j]))
	}
	total, ok := sum.Int64()
	if !ok {
		return Interval{}, false
	}
	iv = Interval{total, u.IsMonthUnit()}
	if neg {
		iv = iv.Neg()
	}
	return iv, true
}

// AddMonths moves a DATE by months; a day that the new month lacks becomes its last. ok is false outside the range.
func AddMonths(days, months int64) (v int64, ok bool) {
	y, m, d := CivilFromDays(days)
	if months < -12*10000 || months > 12*10000 {
		return 0, false
	}
	n := int64(y)*12 + int64(m-1) + months
	if n < 0 || n >= 12*10000 {
		return 0, false
	}
	year, month := int(n/12), int(n%12)+1
	return DaysFromCivil(year, month, min(d, DaysInMonth(year, month))), true
}

// AddDate moves a DATE by an interval of a unit that IsDateUnit; ok is false outside the range,
// and where days lead to the year 0, as [ReachesDate] says. Months and years do lead there.
func AddDate(days int64, iv Interval) (v int64, ok bool) {
	if iv.InMonths {
		return AddMonths(days, iv.Count)
	}
	v = days + iv.Count/MicrosPerDay
	return v, ReachesDate(v)
}

// AddDatetime moves a DATETIME as AddDate does; ok is false outside the range.
func AddDatetime(datetime int64, iv Interval) (v int64, ok bool) {
	if iv.InMonths {
		date := DateOf(datetime)
		days, ok := AddMonths(date, iv.Count)
		return datetime + (days-date)*MicrosPerDay, ok
	}
	if iv.Count > MaxDatetime-MinDatetime || iv.Count < MinDatetime-MaxDatetime {
		return 0, false
	}
	v = datetime + iv.Count
	return v, ReachesDatetime(v)
}

// AddTime moves a TIME by an interval without months; ok is false outside the range.
func AddTime(t int64, iv Interval) (v int64, ok bool) {
	if iv.InMonths && iv.Count != 0 || iv.Count > 2*MaxTime || iv.Count < 2*MinTime {
		return 0, false
	}
	v = t + iv.Count
	return v, v >= MinTime && v <= MaxTime
}

// ExtractDate is EXTRACT(unit FROM date).
func ExtractDate(days int64, u Unit) int64 { return ExtractDatetime(days*MicrosPerDay, u) }

// ExtractDatetime is EXTRACT(unit FROM datetime). WEEK is in mode 0.
func ExtractDatetime(datetime int64, u Unit) int64 {
	days := DateOf(datetime)
	switch u {
	case UnitYear:
		return int64(YearOf(days))
	case UnitMonth:
		return int64(MonthOf(days))
	case UnitDay:
		return int64(DayOf(days))
	case UnitQuarter:
		return int64(QuarterOf(days))
	case UnitWeek:
		return int64(Week(days, 0))
	case UnitYearMonth:
		return DateNumber(days) / 100
	}
	return extractClock(datetime-days*MicrosPerDay, int64(DayOf(days)), u)
}

// ExtractTime is EXTRACT(unit FROM time), with the time's sign. A TIME has no days, its hours go up to 838; the units
// of dates give 0.
func ExtractTime(t int64, u Unit) int64 {
	if u.IsDateUnit() {
		return 0
	}
	if t < 0 {
		return -extractClock(-t, 0, u)
	}
	return extractClock(t, 0, u)
}

func extractClock(t, day int64, u Unit) int64 {
	h, m, s, us := clockFields(t)
	hour, minute, second, micro := int64(h), int64(m), int64(s), int64(us)
	clock := hour*10000 + minute*100 + second
	switch u {
	case UnitMicrosecond:
		return micro
	case UnitSecond:
		return second
	case UnitMinute:
		return minute
	case UnitHour:
		return hour
	case UnitSecondMicrosecond:
		return second*1e6 + micro
	case UnitMinuteMicrosecond:
		return (minute*100+second)*1e6 + micro
	case UnitMinuteSecond:
		return minute*100 + second
	case UnitHourMicrosecond:
		return clock*1e6 + micro
	case UnitHourSecond:
		return clock
	case UnitHourMinute:
		return clock / 100
	case UnitDayMicrosecond:
		return (day*1e6+clock)*1e6 + micro
	case UnitDaySecond:
		return day*1e6 + clock
	case UnitDayMinute:
		return (day*1e6 + clock) / 100
	default: // UnitDayHour
		return day*100 + hour
	}
}

// TimestampDiff is TIMESTAMPDIFF(unit, from, to) on DATETIMEs: whole units, cut toward zero. A month is whole when the
// later moment has reached the earlier one's day and time of day.
func TimestampDiff(u Unit, from, to int64) int64 {
	if !u.IsMonthUnit() {
		return (to - from) / unitSize[u]
	}
	if to < from {
		return -TimestampDiff(u, to, from)
	}
	d1, d2 := DateOf(from), DateOf(to)
	y1, m1, day1 := CivilFromDays(d1)
	y2, m2, day2 := CivilFromDays(d2)
	months := int64(y2-y1)*12 + int64(m2-m1)
	if day2 < day1 || day2 == day1 && TimeOf(to) < TimeOf(from) {
		months--
	}
	return months / unitSize[u]
}
