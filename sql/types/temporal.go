package types

import "time"

// DATETIME and TIMESTAMP are microseconds since 1970-01-01 00:00:00, TIME is signed microseconds. Nothing here reads a
// clock or a time zone: the current time and the session's zone are parameters.

// Microseconds in each unit.
const (
	MicrosPerSecond = 1_000_000
	MicrosPerMinute = 60 * MicrosPerSecond
	MicrosPerHour   = 60 * MicrosPerMinute
	MicrosPerDay    = 24 * MicrosPerHour
)

// Ranges of the temporal types.
const (
	MinDatetime = MinDate * MicrosPerDay
	MaxDatetime = (MaxDate+1)*MicrosPerDay - 1
	MaxTime     = 838*MicrosPerHour + 59*MicrosPerMinute + 59*MicrosPerSecond // 838:59:59
	MinTime     = -MaxTime

	// TIMESTAMP runs from 1970-01-01 00:00:01 to 2038-01-19 03:14:07.999999, in UTC.
	MinTimestamp = MicrosPerSecond
	MaxTimestamp = 1<<31*MicrosPerSecond - 1
)

// MaxFsp is the largest fractional seconds precision.
const MaxFsp = 6

// ValidDatetime says whether micros is a DATETIME.
func ValidDatetime(micros int64) bool { return micros >= MinDatetime && micros <= MaxDatetime }

// DateOf returns the DATE part of a DATETIME; Go's division cuts toward zero, this one goes down.
func DateOf(datetime int64) int64 {
	days := datetime / MicrosPerDay
	if datetime%MicrosPerDay < 0 {
		days--
	}
	return days
}

// TimeOf returns the TIME part of a DATETIME, at least 0 and below one day.
func TimeOf(datetime int64) int64 { return datetime - DateOf(datetime)*MicrosPerDay }

// DatetimeOfDate returns midnight of a DATE.
func DatetimeOfDate(days int64) int64 { return days * MicrosPerDay }

// clockFields splits a non-negative number of microseconds.
func clockFields(micros int64) (hour, minute, second, micro int) {
	s := micros / MicrosPerSecond
	micro = int(micros - s*MicrosPerSecond)
	return int(s / 3600), int(s / 60 % 60), int(s % 60), micro
}

// RoundDatetime rounds to fsp fractional digits, half up; ok is false if that leaves the range.
func RoundDatetime(datetime int64, fsp int) (v int64, ok bool) {
	unit := pow10Int64[MaxFsp-fsp]
	if unit == 1 {
		return datetime, ValidDatetime(datetime)
	}
	rest := datetime % unit
	if rest < 0 {
		rest += unit
	}
	datetime -= rest
	if rest >= unit/2 {
		datetime += unit
	}
	return datetime, ValidDatetime(datetime)
}

// TruncateDatetime cuts to fsp fractional digits, as NOW(fsp) does.
func TruncateDatetime(datetime int64, fsp int) int64 {
	unit := pow10Int64[MaxFsp-fsp]
	rest := datetime % unit
	if rest < 0 {
		rest += unit
	}
	return datetime - rest
}

// RoundTime rounds to fsp fractional digits, half away from zero, and stays within TIME's range.
func RoundTime(t int64, fsp int) int64 {
	r, _ := RescaleInt64(t, MaxFsp, fsp)
	return min(max(r*pow10Int64[MaxFsp-fsp], MinTime), MaxTime)
}

// DateNumber returns a DATE in numeric context, 20200102.
func DateNumber(days int64) int64 {
	y, m, d := CivilFromDays(days)
	return int64(y)*10000 + int64(m)*100 + int64(d)
}

// DatetimeNumber returns a DATETIME in numeric context, 20200102030405, cut to seconds.
func DatetimeNumber(datetime int64) int64 {
	days := DateOf(datetime)
	return DateNumber(days)*1_000_000 + TimeNumber(datetime-days*MicrosPerDay)
}

// TimeNumber returns a TIME in numeric context, [-]HHMMSS, cut to seconds.
func TimeNumber(t int64) int64 {
	if t < 0 {
		return -TimeNumber(-t)
	}
	h, m, s, _ := clockFields(t)
	return int64(h)*10000 + int64(m)*100 + int64(s)
}

// DatetimeDecimal returns a DATETIME(fsp) in numeric context as the unscaled value of a DECIMAL(14+fsp, fsp). It needs
// an Int128 for fsp > 4.
func DatetimeDecimal(datetime int64, fsp int) Int128 {
	frac := (datetime - DateOf(datetime)*MicrosPerDay) % MicrosPerSecond
	return MulInt64s(DatetimeNumber(datetime), pow10Int64[fsp]).AddInt64(frac / pow10Int64[MaxFsp-fsp])
}

// TimeDecimal returns a TIME(fsp) in numeric context as the unscaled value of a DECIMAL(7+fsp, fsp).
func TimeDecimal(t int64, fsp int) int64 {
	return TimeNumber(t)*pow10Int64[fsp] + t%MicrosPerSecond/pow10Int64[MaxFsp-fsp]
}

// AppendDate appends YYYY-MM-DD.
func AppendDate(dst []byte, days int64) []byte {
	y, m, d := CivilFromDays(days)
	dst = append2(dst, y/100)
	dst = append2(dst, y%100)
	dst = append(dst, '-')
	dst = append2(dst, m)
	dst = append(dst, '-')
	return append2(dst, d)
}

// AppendDatetime appends YYYY-MM-DD HH:MM:SS and fsp fractional digits.
func AppendDatetime(dst []byte, datetime int64, fsp int) []byte {
	days := DateOf(datetime)
	dst = AppendDate(dst, days)
	dst = append(dst, ' ')
	return AppendTime(dst, datetime-days*MicrosPerDay, fsp)
}

// AppendTime appends [-]HH:MM:SS, with three digits for hours above 99, and fsp fractional digits.
func AppendTime(dst []byte, t int64, fsp int) []byte {
	if t < 0 {
		dst = append(dst, '-')
		t = -t
	}
	h, m, s, micro := clockFields(t)
	if h > 99 {
		dst = append(dst, byte('0'+h/100))
	}
	dst = append2(dst, h%100)
	dst = append(dst, ':')
	dst = append2(dst, m)
	dst = append(dst, ':')
	dst = append2(dst, s)
	return appendFraction(dst, micro, fsp)
}

func appendFraction(dst []byte, micro, fsp int) []byte {
	if fsp == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := 100_000; fsp > 0; fsp-- {
		dst = append(dst, byte('0'+micro/unit%10))
		unit /= 10
	}
	return dst
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// FormatTime returns the text that AppendTime writes.
func FormatTime(t int64, fsp int) string { return string(AppendTime(make([]byte, 0, 17), t, fsp)) }

// SecToTime is SEC_TO_TIME() of a number of microseconds: cut to TIME's range, and then ok is false.
func SecToTime(micros int64) (t int64, ok bool) {
	t = min(max(micros, MinTime), MaxTime)
	return t, t == micros
}

// TimeToSec is TIME_TO_SEC(): whole seconds, cut toward zero.
func TimeToSec(t int64) int64 { return t / MicrosPerSecond }

// MakeTime is MAKETIME(hour, minute, seconds), with the seconds in microseconds. ok is false, hence NULL, unless
// minutes and seconds are below 60; hours beyond the range give its end.
func MakeTime(hour, minute, secondMicros int64) (t int64, ok bool) {
	if minute < 0 || minute > 59 || secondMicros < 0 || secondMicros >= MicrosPerMinute {
		return 0, false
	}
	if hour > 838 {
		return MaxTime, true
	}
	if hour < -838 {
		return MinTime, true
	}
	rest := minute*MicrosPerMinute + secondMicros
	if hour < 0 {
		rest = -rest
	}
	return min(max(hour*MicrosPerHour+rest, MinTime), MaxTime), true
}

// InZone returns the DATETIME that a clock in the zone shows at a moment given in microseconds UTC, which is how a
// TIMESTAMP is read and what FROM_UNIXTIME() returns.
func InZone(utc int64, zone *time.Location) int64 {
	_, offset := time.UnixMicro(utc).In(zone).Zone()
	return utc + int64(offset)*MicrosPerSecond
}

// FromZone returns the moment, in microseconds UTC, at which a clock in the zone shows the DATETIME. That is how a TIMESTAMP is stored and what
// UNIX_TIMESTAMP() returns. For a time that clocks show twice it is the first moment. For one that they skip it is the moment at which clocks are put
// forward, as in MySQL (TIME_to_gmt_sec in tztime.cc).
func FromZone(datetime int64, zone *time.Location) int64 {
	days := DateOf(datetime)
	y, m, d := CivilFromDays(days)
	h, min, s, micro := clockFields(datetime - days*MicrosPerDay)
	t := time.Date(y, time.Month(m), d, h, min, s, micro*1000, zone)
	utc := t.UnixMicro()
	start, end := t.ZoneBounds()
	switch shown := InZone(utc, zone); {
	case shown > datetime:
		return start.UnixMicro()
	case shown < datetime:
		return end.UnixMicro()
	}
	if start.IsZero() {
		return utc
	}
	_, offset := t.Zone()
	_, before := start.Add(-1).Zone()
	if earlier := utc - int64(before-offset)*MicrosPerSecond; before > offset && earlier < start.UnixMicro() {
		return earlier
	}
	return utc
}
