package types

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestParseInterval(t *testing.T) {
	for _, c := range []struct {
		in   string
		u    Unit
		want string // months or seconds
	}{
		{"1", UnitDay, "86400s"}, {"-2", UnitHour, "-7200s"}, {"1.9", UnitDay, "86400s"}, {"1.5", UnitSecond, "1.5s"}, {"3x", UnitMonth, "3 months"},
		{"2", UnitYear, "24 months"}, {"1", UnitQuarter, "3 months"}, {"1-2", UnitYearMonth, "14 months"}, {"-1-2", UnitYearMonth, "-14 months"},
		{"5", UnitYearMonth, "5 months"}, {"1:10", UnitMinuteSecond, "70s"}, {"10", UnitMinuteSecond, "10s"}, {"1 1:1:1", UnitDaySecond, "90061s"},
		{"1:1:1", UnitDaySecond, "3661s"}, {"1 10", UnitDayHour, "122400s"}, {"-1 10", UnitDayHour, "-122400s"}, {"1.000002", UnitSecondMicrosecond, "1.000002s"},
		{"1.5", UnitSecondMicrosecond, "1.5s"}, {"1 1:1:1.02", UnitDayMicrosecond, "90061.02s"}, {"1:1:1:1", UnitDayMinute, "NULL"},
		{"", UnitDaySecond, "0s"}, {"99999999999999999999", UnitDay, "NULL"}, {"9223372036854775807", UnitDay, "NULL"}, {"1/1", UnitHourMinute, "3660s"},
	} {
		got := "NULL"
		if iv, ok := ParseInterval(c.in, c.u); ok {
			got = strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", float64(iv.Count)/1e6), "0"), ".") + "s"
			if c.u.IsMonthUnit() {
				got = fmt.Sprint(iv.Count, " months")
			}
		}
		if got != c.want {
			t.Errorf("INTERVAL '%s' %v = %s, want %s", c.in, c.u, got, c.want)
		}
	}
	if iv, ok := IntervalOfDecimal(Int128FromInt64(15), 1, UnitDay); !ok || iv.Count != 2*MicrosPerDay {
		t.Errorf("INTERVAL 1.5 DAY = %v", iv)
	}
	if iv, ok := IntervalOfDecimal(Int128FromInt64(-15), 1, UnitSecond); !ok || iv.Count != -1500000 {
		t.Errorf("INTERVAL -1.5 SECOND = %v", iv)
	}
}

// The examples of DATE_ADD in the MySQL 8.0 Reference Manual, 14.7.
func TestAddInterval(t *testing.T) {
	for _, c := range []struct {
		at, iv string
		u      Unit
		want   string
	}{
		{"2018-05-01", "1", UnitDay, "2018-05-02 00:00:00.000000"},
		{"2018-05-01", "-1", UnitYear, "2017-05-01 00:00:00.000000"},
		{"2020-12-31 23:59:59", "1", UnitSecond, "2021-01-01 00:00:00.000000"},
		{"2018-12-31 23:59:59", "1", UnitDay, "2019-01-01 23:59:59.000000"},
		{"2100-12-31 23:59:59", "1:1", UnitMinuteSecond, "2101-01-01 00:01:00.000000"},
		{"2025-01-01 00:00:00", "-1 1:1:1", UnitDaySecond, "2024-12-30 22:58:59.000000"},
		{"1900-01-01 00:00:00", "-1 10", UnitDayHour, "1899-12-30 14:00:00.000000"},
		{"1998-01-02", "-31", UnitDay, "1997-12-02 00:00:00.000000"},
		{"1992-12-31 23:59:59.000002", "1.999999", UnitSecondMicrosecond, "1993-01-01 00:00:01.000001"},
		{"2009-01-30", "1", UnitMonth, "2009-02-28 00:00:00.000000"},
		{"2024-01-31 01:02:03", "1", UnitMonth, "2024-02-29 01:02:03.000000"},
		{"2024-02-29", "1", UnitYear, "2025-02-28 00:00:00.000000"},
		{"9999-12-31", "1", UnitDay, "NULL"}, {"9999-12-31", "1", UnitMonth, "NULL"}, {"0001-01-01", "-10", UnitYear, "NULL"},
		{"2020-01-01", "100000000000", UnitSecond, "5188-11-15 09:46:40.000000"},
		{"2020-01-01", "1000000000000", UnitSecond, "NULL"},
	} {
		at, _ := ParseDatetime(c.at, nil)
		iv, ok := ParseInterval(c.iv, c.u)
		if !ok {
			t.Fatalf("interval %q", c.iv)
		}
		got := "NULL"
		v, ok := AddDatetime(at, iv)
		if ok {
			got = FormatDatetime(v, 6)
		}
		if got != c.want {
			t.Errorf("%s + %s %v = %s, want %s", c.at, c.iv, c.u, got, c.want)
		}
		if c.u.IsDateUnit() {
			d, okDate := AddDate(DateOf(at), iv)
			if okDate != ok || ok && d != DateOf(v) {
				t.Errorf("%s + %s %v as DATE = %s", c.at, c.iv, c.u, FormatDate(d))
			}
		}
	}
	if v, ok := AddTime(MaxTime-1, Interval{Count: 2}); ok {
		t.Errorf("past the end of TIME: %d", v)
	}
	if v, ok := AddTime(-MicrosPerHour, Interval{Count: 2 * MicrosPerHour}); !ok || v != MicrosPerHour {
		t.Errorf("-1:00 + 2 hours = %d", v)
	}
}

func TestExtract(t *testing.T) {
	at, _ := ParseDatetime("2019-07-02 01:02:03.000123", nil)
	for u, want := range map[Unit]int64{
		UnitYear: 2019, UnitMonth: 7, UnitDay: 2, UnitQuarter: 3, UnitWeek: 26, UnitYearMonth: 201907, UnitHour: 1, UnitMinute: 2,
		UnitSecond: 3, UnitMicrosecond: 123, UnitDayHour: 201, UnitDayMinute: 20102, UnitDaySecond: 2010203, UnitDayMicrosecond: 2010203000123,
		UnitHourMinute: 102, UnitHourSecond: 10203, UnitHourMicrosecond: 10203000123, UnitMinuteSecond: 203, UnitMinuteMicrosecond: 203000123,
		UnitSecondMicrosecond: 3000123,
	} {
		if got := ExtractDatetime(at, u); got != want {
			t.Errorf("EXTRACT(%v) = %d, want %d", u, got, want)
		}
		if p, ok := ParseUnit(strings.ToLower(u.String())); !ok || p != u {
			t.Errorf("unit %v is read as %v", u, p)
		}
	}
	if got := ExtractTime(-(100*MicrosPerHour + 5), UnitHourMicrosecond); got != -1000000000005 {
		t.Errorf("EXTRACT from a TIME = %d", got)
	}
	d, _ := ParseDate("2019-07-02")
	if got := ExtractDate(d, UnitDayMinute); got != 20000 {
		t.Errorf("EXTRACT from a DATE = %d", got)
	}
}

// n whole units lie between two moments exactly if n units after the first is not past the second, and n+1 is. For
// months that holds of moments on days that every month has; the manual's examples cover the rest.
func TestTimestampDiff(t *testing.T) {
	r := testRand(t)
	for range 20000 {
		from := MinDatetime + r.Int64N(MaxDatetime-MinDatetime)
		to := MinDatetime + r.Int64N(MaxDatetime-MinDatetime)
		if to < from {
			from, to = to, from
		}
		if DayOf(DateOf(from)) > 28 {
			continue
		}
		for u := UnitMicrosecond; u <= UnitYear; u++ {
			n := TimestampDiff(u, from, to)
			if TimestampDiff(u, to, from) != -n {
				t.Fatalf("TIMESTAMPDIFF(%v) is not antisymmetric", u)
			}
			iv, ok := IntervalOf(n, u)
			next, ok2 := IntervalOf(n+1, u)
			if !ok || !ok2 {
				t.Fatalf("interval of %d %v", n, u)
			}
			if at, ok := AddDatetime(from, iv); !ok || at > to {
				t.Fatalf("%d %v after %s is past %s", n, u, FormatDatetime(from, 6), FormatDatetime(to, 6))
			}
			if at, ok := AddDatetime(from, next); ok && at <= to {
				t.Fatalf("%d %v after %s is not past %s", n+1, u, FormatDatetime(from, 6), FormatDatetime(to, 6))
			}
		}
	}
	for _, c := range []struct {
		u        Unit
		from, to string
		want     int64
	}{
		{UnitMonth, "2003-02-01", "2003-05-01", 3}, {UnitYear, "2002-05-01", "2001-01-01", -1},
		{UnitMinute, "2003-02-01", "2003-05-01 12:05:55", 128885}, {UnitMonth, "2024-01-31", "2024-02-29", 0},
		{UnitMonth, "2024-02-29 12:00:00", "2024-03-29 11:59:59", 0},
	} {
		from, _ := ParseDatetime(c.from, nil)
		to, _ := ParseDatetime(c.to, nil)
		if got := TimestampDiff(c.u, from, to); got != c.want {
			t.Errorf("TIMESTAMPDIFF(%v, %s, %s) = %d, want %d", c.u, c.from, c.to, got, c.want)
		}
	}
}

func TestAddMonthsAgainstTime(t *testing.T) {
	r := testRand(t)
	for range 20000 {
		days := int64(MinDate) + r.Int64N(MaxDate-MinDate+1)
		months := int64(r.IntN(2400)) - 1200
		at := time.Unix(days*86400, 0).UTC()
		// The first of the target month, which always exists, then the day within it.
		first := time.Date(at.Year(), at.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		want := first.AddDate(0, 0, min(at.Day(), last)-1).Unix() / 86400
		got, ok := AddMonths(days, months)
		if ok != ValidDate(want) || ok && got != want {
			t.Fatalf("%s + %d months = %s, %v", FormatDate(days), months, FormatDate(got), ok)
		}
	}
}
