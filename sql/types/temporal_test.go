package types

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestParseDatetime(t *testing.T) {
	for _, c := range []struct {
		in, want string
		status   ConvertStatus
	}{
		{"2020-01-02", "2020-01-02 00:00:00.000000", ConvertOK},
		{"20-1-2", "2020-01-02 00:00:00.000000", ConvertOK},
		{"70-1-2", "1970-01-02 00:00:00.000000", ConvertOK},
		{"20200102", "2020-01-02 00:00:00.000000", ConvertOK},
		{"200102", "2020-01-02 00:00:00.000000", ConvertOK},
		{"20200102030405", "2020-01-02 03:04:05.000000", ConvertOK},
		{"20200102030405.5", "2020-01-02 03:04:05.500000", ConvertOK},
		{"200102030405", "2020-01-02 03:04:05.000000", ConvertOK},
		{"2020-01-02 03:04:05.123456", "2020-01-02 03:04:05.123456", ConvertOK},
		{"2020-01-02 03:04:05.1234567", "2020-01-02 03:04:05.123457", ConvertOK},
		{"2020-01-02T03:04:05", "2020-01-02 03:04:05.000000", ConvertOK},
		{"20200102T030405", "2020-01-02 03:04:05.000000", ConvertOK},
		{"2020/01.02 03*04@05", "2020-01-02 03:04:05.000000", ConvertOK},
		{"2012^12^31 11+30+45", "2012-12-31 11:30:45.000000", ConvertOK},
		{" 2020-01-02  ", "2020-01-02 00:00:00.000000", ConvertOK},
		{"2020-1-2 3:4", "2020-01-02 03:04:00.000000", ConvertOK},
		{"2020-01-02 3", "2020-01-02 03:00:00.000000", ConvertOK},
		{"2020-01-02x", "2020-01-02 00:00:00.000000", ConvertTruncated},
		{"2020-01-02 03:04:05abc", "2020-01-02 03:04:05.000000", ConvertTruncated},
		{"0000-00-00", "", ConvertInvalid}, {"2020-00-01", "", ConvertInvalid}, {"2020-01-00", "", ConvertInvalid},
		{"2020-13-01", "", ConvertInvalid}, {"2021-02-29", "", ConvertInvalid}, {"2020-01-02 24:00:00", "", ConvertInvalid},
		{"2020-01-02 23:60:00", "", ConvertInvalid}, {"", "", ConvertInvalid}, {"abc", "", ConvertInvalid}, {"2020", "", ConvertInvalid},
		{"2020-01", "", ConvertInvalid}, {"-2020-01-01", "", ConvertInvalid}, {"9999-12-31 23:59:59.9999999", "", ConvertInvalid},
		{"2020-02-29", "2020-02-29 00:00:00.000000", ConvertOK},
	} {
		got, status := ParseDatetime(c.in, nil)
		if status != c.status || status != ConvertInvalid && FormatDatetime(got, 6) != c.want {
			t.Errorf("ParseDatetime(%q) = %s %v, want %s %v", c.in, FormatDatetime(got, 6), status, c.want, c.status)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		in, want string
		status   ConvertStatus
	}{
		{"12:30", "12:30:00.000000", ConvertOK}, {"1 12:30:00", "36:30:00.000000", ConvertOK}, {"123000", "12:30:00.000000", ConvertOK},
		{"-1:00", "-01:00:00.000000", ConvertOK}, {"10", "00:00:10.000000", ConvertOK}, {"1112", "00:11:12.000000", ConvertOK},
		{"11:12", "11:12:00.000000", ConvertOK}, {"2 10", "58:00:00.000000", ConvertOK}, {"10:11:12.345", "10:11:12.345000", ConvertOK},
		{"838:59:59", "838:59:59.000000", ConvertOK}, {"838:59:59.5", "838:59:59.000000", ConvertOutOfRange},
		{"-900:00:00", "-838:59:59.000000", ConvertOutOfRange}, {"12:60:00", "00:00:00.000000", ConvertInvalid}, {"x", "00:00:00.000000", ConvertInvalid},
		{"16:04:15.000000", "16:04:15.000000", ConvertOK}, {"06:02:11.000019", "06:02:11.000019", ConvertOK}, {"2020-01-02T03:04:05.5", "03:04:05.500000", ConvertOK},
		{"20200102030405", "03:04:05.000000", ConvertOK}, {"20200102030405.25", "03:04:05.250000", ConvertOK}, {" 16:04:15.00000  ", "16:04:15.000000", ConvertOK},
		{"2020-01-02 03:04:05.5", "03:04:05.500000", ConvertOK}, {"12:30xyz", "12:30:00.000000", ConvertTruncated},
		{"101112.25", "10:11:12.250000", ConvertOK}, {"99999999999999999999:00", "838:59:59.000000", ConvertOutOfRange},
	} {
		if got, status := ParseTime(c.in, nil); FormatTime(got, 6) != c.want || status != c.status {
			t.Errorf("ParseTime(%q) = %s %v, want %s %v", c.in, FormatTime(got, 6), status, c.want, c.status)
		}
	}
}

func TestTemporalNumbers(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{20200102, "2020-01-02 00:00:00"}, {200102, "2020-01-02 00:00:00"}, {700101, "1970-01-01 00:00:00"}, {101, "2000-01-01 00:00:00"},
		{1231, "2000-12-31 00:00:00"}, {20200102030405, "2020-01-02 03:04:05"}, {200102030405, "2020-01-02 03:04:05"}, {0, "invalid"}, {100, "invalid"},
		{691232, "invalid"}, {2280213041718, "0228-02-13 04:17:18"}, {5010101, "invalid"}, {20201301, "invalid"}, {20200102250000, "invalid"}, {991231235959, "1999-12-31 23:59:59"}, {-1, "invalid"},
		{101000000000, "invalid"}, {100000000000000, "invalid"},
	} {
		got := "invalid"
		if v, status := DatetimeFromNumber(c.n); status == ConvertOK {
			got = FormatDatetime(v, 0)
		}
		if got != c.want {
			t.Errorf("DatetimeFromNumber(%d) = %s, want %s", c.n, got, c.want)
		}
	}
}

// Times and numbers of every second of sampled moments agree with package time's.
func TestDatetimeAgainstTime(t *testing.T) {
	r := testRand(t)
	for range 50000 {
		v := MinDatetime + r.Int64N(MaxDatetime-MinDatetime+1)
		at := time.UnixMicro(v).UTC()
		if got, want := FormatDatetime(v, 6), at.Format("2006-01-02 15:04:05.000000"); got != want {
			t.Fatalf("%d prints as %s, want %s", v, got, want)
		}
		if got, status := ParseDatetime(at.Format("2006-01-02T15:04:05.000000"), nil); got != v || status != ConvertOK {
			t.Fatalf("%v reads as %d, want %d", at, got, v)
		}
		if at.Year() >= 1000 {
			if got, status := DatetimeFromNumber(DatetimeNumber(v)); status != ConvertOK || got != TruncateDatetime(v, 0) {
				t.Fatalf("number of %v: %d", at, DatetimeNumber(v))
			}
		}
		if got := DatetimeDecimal(v, 6).String(); v >= 0 && got != at.Format("20060102150405")+fmt.Sprintf("%06d", at.Nanosecond()/1000) {
			t.Fatalf("decimal of %v: %s", at, got)
		}
		fsp := r.IntN(7)
		unit := time.Duration(pow10Int64[6-fsp]) * time.Microsecond
		if got, ok := RoundDatetime(v, fsp); ok {
			// Duration.Round works on the day's own duration, which is positive, so halves go up.
			day := time.Duration(TimeOf(v)) * time.Microsecond
			if want := DateOf(v)*MicrosPerDay + int64(day.Round(unit)/time.Microsecond); got != want {
				t.Fatalf("%v rounded to %d digits: %d, want %d", at, fsp, got, want)
			}
		}
		d := r.Int64N(2*MaxTime) - MaxTime
		if got, want := RoundTime(d, fsp), int64((time.Duration(d)*time.Microsecond).Round(unit)/time.Microsecond); got != want && want <= MaxTime && want >= MinTime {
			t.Fatalf("TIME %d rounded to %d digits: %d, want %d", d, fsp, got, want)
		}
		if got, status := TimeFromNumber(TimeNumber(d)); status != ConvertOK || got != d/MicrosPerSecond*MicrosPerSecond {
			t.Fatalf("number of TIME %s: %d", FormatTime(d, 6), TimeNumber(d))
		}
	}
}

// ParseISODate reads what package time reads by the same form.
func TestISODates(t *testing.T) {
	const seed = 20
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	check := func(s string) {
		t.Helper()
		days, ok := ParseISODate(s)
		when, err := time.Parse(time.DateOnly, s)
		if ok != (err == nil) || ok && days != when.Unix()/86400 {
			t.Fatalf("'%s': %d, %v; %v, %v by package time", s, days, ok, when, err)
		}
	}
	for range 100_000 {
		s := []byte(time.Unix(rng.Int64N(300_000_000_000)-60_000_000_000, 0).UTC().Format(time.DateOnly))
		check(string(s))
		s[rng.IntN(len(s))] = byte(rng.IntN(256))
		check(string(s))
		s[rng.IntN(len(s))] = "0123456789-/:"[rng.IntN(13)]
		check(string(s))
	}
	for _, s := range []string{"", "2024-01-1", "2024-01-011", "0000-00-00", "2023-02-29", "2024-02-29", "1969-12-31"} {
		check(s)
	}
}

func TestZones(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("no time zone database:", err)
	}
	for _, c := range []struct{ utc, local string }{
		{"2024-01-15 17:00:00", "2024-01-15 12:00:00"}, {"2024-07-15 16:00:00", "2024-07-15 12:00:00"},
	} {
		u, _ := ParseDatetime(c.utc, nil)
		l, _ := ParseDatetime(c.local, nil)
		if InZone(u, zone) != l || FromZone(l, zone) != u {
			t.Errorf("%s UTC is %s", c.utc, FormatDatetime(InZone(u, zone), 0))
		}
	}
}

// What clocks show twice is the first moment, and what they skip the moment of the jump: MariaDB 10.11 gives the same.
func TestZoneChanges(t *testing.T) {
	for _, c := range []struct{ zone, local, utc string }{
		{"Europe/Berlin", "2024-03-31 01:59:59", "2024-03-31 00:59:59"}, {"Europe/Berlin", "2024-03-31 02:00:00", "2024-03-31 01:00:00"},
		{"Europe/Berlin", "2024-03-31 02:30:00", "2024-03-31 01:00:00"}, {"Europe/Berlin", "2024-03-31 03:00:00", "2024-03-31 01:00:00"},
		{"Europe/Berlin", "2024-10-27 01:59:59", "2024-10-26 23:59:59"}, {"Europe/Berlin", "2024-10-27 02:00:00", "2024-10-27 00:00:00"},
		{"Europe/Berlin", "2024-10-27 02:59:59", "2024-10-27 00:59:59"}, {"Europe/Berlin", "2024-10-27 03:00:00", "2024-10-27 02:00:00"},
		{"America/New_York", "2024-03-10 02:30:00", "2024-03-10 07:00:00"}, {"America/New_York", "2024-11-03 01:30:00", "2024-11-03 05:30:00"},
		{"Australia/Lord_Howe", "2024-04-07 01:45:00", "2024-04-06 14:45:00"}, {"Australia/Lord_Howe", "2024-10-06 02:15:00", "2024-10-05 15:30:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Skip("no time zone database:", err)
		}
		local, _ := ParseDatetime(c.local, nil)
		if utc := FormatDatetime(FromZone(local, zone), 0); utc != c.utc {
			t.Errorf("%s in %s is %s UTC, want %s", c.local, c.zone, utc, c.utc)
		}
	}
}

func TestMakeTime(t *testing.T) {
	for _, c := range []struct {
		h, m, s int64
		want    string
	}{{12, 15, 30, "12:15:30"}, {-12, 15, 30, "-12:15:30"}, {900, 0, 0, "838:59:59"}, {0, 60, 0, "NULL"}, {0, 0, 60, "NULL"}, {0, -1, 0, "NULL"}} {
		got := "NULL"
		if v, ok := MakeTime(c.h, c.m, c.s*MicrosPerSecond); ok {
			got = FormatTime(v, 0)
		}
		if got != c.want {
			t.Errorf("MAKETIME(%d,%d,%d) = %s, want %s", c.h, c.m, c.s, got, c.want)
		}
	}
	if v, ok := SecToTime(2378 * MicrosPerSecond); !ok || FormatTime(v, 0) != "00:39:38" || TimeToSec(v) != 2378 {
		t.Errorf("SEC_TO_TIME(2378) = %s", FormatTime(v, 0))
	}
}

func FuzzParseDatetime(f *testing.F) {
	for _, s := range []string{"2020-01-02", "20200102T030405.5", "20-1-2 3:4:5", "2020/1/2", "20200102 03:04", "0000-00-00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, status := ParseDatetime(s, nil)
		if status != ConvertInvalid {
			if again, st := ParseDatetime(FormatDatetime(v, 6), nil); again != v || st != ConvertOK {
				t.Fatalf("%q = %s, which reads as %d %v", s, FormatDatetime(v, 6), again, st)
			}
		}
		if v, status := ParseTime(s, nil); v < MinTime || v > MaxTime || status == ConvertInvalid && v != 0 {
			t.Fatalf("ParseTime(%q) = %d %v", s, v, status)
		}
	})
}

// Strings with an offset from UTC, compared with what Go's time package reads: the result is what a clock in the zone shows.
func TestOffsets(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(20261123, 1))
	layouts := map[string]string{"2006-01-02 15:04:05Z07:00": "", "2006-01-02T15:04:05.000Z07:00": "", "2006-01-02 15:04:05.999999-07:00": "", "2006-01-02 15:04:05-0700": ":00", "2006-01-02T15:04:05-07": ":00:00"}
	for range 3000 {
		offset := (r.IntN(28*4+1) - 14*4) * 900
		at := time.UnixMicro(r.Int64N(4e15)).In(time.FixedZone("", offset))
		for layout := range layouts {
			if strings.HasSuffix(layout, "-07") && offset%3600 != 0 {
				continue
			}
			text := at.Format(layout)
			want, err := time.Parse(layout, text)
			if err != nil {
				t.Fatal(err)
			}
			for _, zone := range []*time.Location{nil, time.UTC, berlin} {
				shown := want.UTC()
				if zone != nil {
					shown = want.In(zone)
				}
				got, status := ParseDatetime(text, zone)
				if s := FormatDatetime(got, 6); s != shown.Format("2006-01-02 15:04:05.000000") || status != ConvertOK {
					t.Fatalf("%s in %v is %s (%v), want %s", text, zone, s, status, shown)
				}
				if clock, status := ParseTime(text, zone); FormatTime(clock, 6) != shown.Format("15:04:05.000000") || status != ConvertOK {
					t.Fatalf("the time of %s in %v is %s (%v)", text, zone, FormatTime(clock, 6), status)
				}
			}
			if utc, ok := ParseMoment(text); !ok || utc != want.UnixMicro() {
				t.Fatalf("%s is %d, %v", text, utc, ok)
			}
			stamp, status := ConvertContext{Zone: berlin}.Store(StringValue(text), Type{Kind: KindTimestamp, Scale: 6})
			if at := want.UnixMicro(); at >= MinTimestamp && at <= MaxTimestamp && (stamp.I != at || status != ConvertOK) {
				t.Fatalf("%s is stored as %d (%v), want %d", text, stamp.I, status, at)
			}
		}
	}
	for text, want := range map[string]ConvertStatus{
		"2024-05-01 10:00:00+15:00": ConvertTruncated, "2024-05-01 10:00:00+1": ConvertTruncated, "2024-05-01 10:00:00+02:60": ConvertTruncated, "2024-05-01 10:00:00 +x": ConvertTruncated, "2024-05-01 10:00:00+14:00": ConvertOK,
		"2024-05-01 10:00:00+14:01": ConvertTruncated, "2024-05-01 10:00:00ZZ": ConvertTruncated, "2024-05-01 10:00:00+02:00x": ConvertTruncated, "9999-12-31 23:59:59-02:00": ConvertInvalid, "2024-05-01 10:00:00.5Z ": ConvertOK,
	} {
		if _, status := ParseDatetime(text, nil); status != want {
			t.Errorf("%s: %v, want %v", text, status, want)
		}
		if _, ok := ParseMoment(text); ok != (want == ConvertOK) && want != ConvertInvalid {
			t.Errorf("%s is a moment: %v", text, ok)
		}
	}
	if LiteralFsp("2024-05-01 10:00:00.25+02:00") != 2 {
		t.Error("the digits before an offset are not counted")
	}
}
