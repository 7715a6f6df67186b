package types

import (
	"fmt"
	"testing"
	"time"
)

// Package time's calendar is the reference for every day of every valid year.
func TestCivilAgainstTime(t *testing.T) {
	at := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	for days := int64(MinDate); days <= MaxDate; days++ {
		y, m, d := CivilFromDays(days)
		if days == MinDate || d == 1 || days%97 == 0 {
			ty, tm, td := at.AddDate(0, 0, int(days-MinDate)).Date()
			if y != ty || m != int(tm) || d != td {
				t.Fatalf("day %d is %d-%d-%d, want %d-%d-%d", days, y, m, d, ty, tm, td)
			}
		}
		if DaysFromCivil(y, m, d) != days {
			t.Fatalf("%d-%d-%d is day %d, want %d", y, m, d, DaysFromCivil(y, m, d), days)
		}
		if YearOf(days) != y || MonthOf(days) != m || DayOf(days) != d || QuarterOf(days) != (m-1)/3+1 {
			t.Fatalf("parts of day %d", days)
		}
	}
	if y, m, d := CivilFromDays(MaxDate); y != 9999 || m != 12 || d != 31 {
		t.Fatalf("the last day is %d-%d-%d", y, m, d)
	}
}

func TestWeeksAgainstTime(t *testing.T) {
	r := testRand(t)
	for range 20000 {
		days := MinDate + 400 + r.Int64N(MaxDate-MinDate-800)
		at := time.Unix(days*86400, 0).UTC()
		if Weekday(days) != (int(at.Weekday())+6)%7 || DayOfWeek(days) != int(at.Weekday())+1 || DayOfYear(days) != at.YearDay() {
			t.Fatalf("weekday or day of year of %v", at)
		}
		// Mode 3 is ISO 8601.
		y, w := at.ISOWeek()
		if Week(days, 3) != w || YearWeek(days, 3) != int64(y*100+w) {
			t.Fatalf("%v: week %d of %d, want %d of %d", at, Week(days, 3), YearWeek(days, 3), w, y)
		}
		last := time.Date(at.Year(), at.Month()+1, 0, 0, 0, 0, 0, time.UTC)
		if LastDay(days)*86400 != last.Unix() {
			t.Fatalf("last day of %v", at)
		}
		for mode := range 8 {
			if got, want := Week(days, mode), weekByCounting(days, mode); got != want {
				t.Fatalf("WEEK(%v, %d) = %d, want %d", at, mode, got, want)
			}
		}
	}
}

// weekByCounting finds the week from the manual's table of modes: find the first day of week 1 of the year before,
// this year and the next, and count from the last that is not after the date.
func weekByCounting(days int64, mode int) int {
	start := func(year int) int64 {
		first := DaysFromCivil(year, 1, 1)
		weekday := Weekday(first) // Monday first
		if mode == 0 || mode == 2 || mode == 4 || mode == 6 {
			weekday = (weekday + 1) % 7
		}
		byDays := mode == 1 || mode == 3 || mode == 4 || mode == 6
		switch {
		case weekday == 0, byDays && 7-weekday >= 4:
			return first - int64(weekday)
		}
		return first + int64(7-weekday)
	}
	year := YearOf(days)
	if mode == 0 || mode == 1 || mode == 4 || mode == 5 { // range 0..53: of this year only
		if days < start(year) {
			return 0
		}
		return int(days-start(year))/7 + 1
	}
	for _, y := range []int{year + 1, year, year - 1} {
		if days >= start(y) {
			return int(days-start(y))/7 + 1
		}
	}
	return -1
}

func TestCalendarFunctions(t *testing.T) {
	day := func(s string) int64 {
		d, status := ParseDate(s)
		if status != ConvertOK {
			t.Fatalf("%q: %v", s, status)
		}
		return d
	}
	ok := func(v int64, ok bool) string {
		if !ok {
			return "NULL"
		}
		return fmt.Sprint(v)
	}
	date := func(v int64, ok bool) string {
		if !ok {
			return "NULL"
		}
		return FormatDate(v)
	}
	// The examples of the MySQL 8.0 Reference Manual, 14.7.
	for _, c := range []struct{ name, got, want string }{
		{"WEEK('2008-02-20')", fmt.Sprint(Week(day("2008-02-20"), 0)), "7"},
		{"WEEK('2008-02-20',1)", fmt.Sprint(Week(day("2008-02-20"), 1)), "8"},
		{"WEEK('2008-12-31',1)", fmt.Sprint(Week(day("2008-12-31"), 1)), "53"},
		{"WEEK('2000-01-01',2)", fmt.Sprint(Week(day("2000-01-01"), 2)), "52"},
		{"YEARWEEK('1987-01-01')", fmt.Sprint(YearWeek(day("1987-01-01"), 0)), "198652"},
		{"YEARWEEK('2000-01-01')", fmt.Sprint(YearWeek(day("2000-01-01"), 0)), "199952"},
		{"TO_DAYS('2007-10-07')", fmt.Sprint(ToDays(day("2007-10-07"))), "733321"},
		{"FROM_DAYS(730669)", date(FromDays(730669)), "2000-07-03"},
		{"FROM_DAYS(365)", date(FromDays(365)), "NULL"},
		{"LAST_DAY('2004-02-05')", FormatDate(LastDay(day("2004-02-05"))), "2004-02-29"},
		{"MAKEDATE(2011,31)", date(MakeDate(2011, 31)), "2011-01-31"},
		{"MAKEDATE(2014,365)", date(MakeDate(2014, 365)), "2014-12-31"},
		{"MAKEDATE(2011,0)", date(MakeDate(2011, 0)), "NULL"},
		{"MAKEDATE(9999,366)", date(MakeDate(9999, 366)), "NULL"},
		{"PERIOD_ADD(200801,2)", ok(PeriodAdd(200801, 2)), "200803"},
		{"PERIOD_ADD(9912,1)", ok(PeriodAdd(9912, 1)), "200001"},
		{"PERIOD_ADD(200800,2)", ok(PeriodAdd(200800, 2)), "NULL"},
		{"PERIOD_DIFF(200802,200703)", ok(PeriodDiff(200802, 200703)), "11"},
		{"DAYOFYEAR('2007-02-03')", fmt.Sprint(DayOfYear(day("2007-02-03"))), "34"},
		{"DAYOFWEEK('2007-02-03')", fmt.Sprint(DayOfWeek(day("2007-02-03"))), "7"},
		{"WEEKDAY('2007-11-06')", fmt.Sprint(Weekday(day("2007-11-06"))), "1"},
	} {
		if c.got != c.want {
			t.Errorf("%s = %s, want %s", c.name, c.got, c.want)
		}
	}
}

func BenchmarkYearOf(b *testing.B) {
	var dates [1024]int64
	for i := range dates {
		dates[i] = int64(i * 7)
	}
	sum := 0
	for b.Loop() {
		for _, d := range dates {
			sum += YearOf(d)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/date")
	if sum == 0 {
		b.Fatal(sum)
	}
}
