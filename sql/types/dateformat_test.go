package types

import "testing"

// The examples of DATE_FORMAT in the MySQL 8.0 Reference Manual, 14.7, and one of every code.
func TestDateFormat(t *testing.T) {
	for _, c := range []struct{ at, format, want string }{
		{"2009-10-04 22:23:00", "%W %M %Y", "Sunday October 2009"},
		{"2007-10-04 22:23:00", "%H:%i:%s", "22:23:00"},
		{"1900-10-04 22:23:00", "%D %y %a %d %m %b %j", "4th 00 Thu 04 10 Oct 277"},
		{"1997-10-04 22:23:00", "%H %k %I %r %T %S %w", "22 22 10 10:23:00 PM 22:23:00 00 6"},
		{"1999-01-01", "%X %V", "1998 52"},
		{"2006-06-01", "%d", "01"},
		{"2024-03-05 00:07:08.000900", "%c %e %f %h %l %p %U %u %v %x %%%q%", "3 5 000900 12 12 AM 09 10 10 2024 %q%"},
		{"2024-03-21 12:00:00", "%D %p %I", "21st PM 12"}, {"2024-03-11", "%D", "11th"}, {"2024-03-22", "%D", "22nd"}, {"2024-03-03", "%D", "3rd"},
	} {
		at, _ := ParseDatetime(c.at, nil)
		if got := DateFormat(at, c.format); got != c.want {
			t.Errorf("DATE_FORMAT(%s, %s) = %q, want %q", c.at, c.format, got, c.want)
		}
	}
	for _, c := range []struct{ at, format, want string }{
		{"100:00:00", "%H %k %h %I %l", "100 100 04 04 4"}, {"-01:02:03.4", "%T.%f", "-01:02:03.400000"}, {"01:00:00", "%Y-%m", "0000-00"}, {"01:00:00", "%W", "NULL"},
	} {
		at, _ := ParseTime(c.at, nil)
		got, ok := AppendTimeFormat(nil, at, c.format)
		if !ok {
			got = []byte("NULL")
		}
		if string(got) != c.want {
			t.Errorf("TIME_FORMAT(%s, %s) = %q, want %q", c.at, c.format, got, c.want)
		}
	}
}

func TestStrToDate(t *testing.T) {
	for _, c := range []struct {
		in, format, want string
		to               string
	}{
		{"01,5,2013", "%d,%m,%Y", "2013-05-01", "DATE"},
		{"May 1, 2013", "%M %d,%Y", "2013-05-01", "DATE"},
		{"a09:30:17", "a%h:%i:%s", "09:30:17", "TIME"},
		{"a09:30:17", "%h:%i:%s", "NULL", "TIME"},
		{"09:30:17a", "%h:%i:%s", "09:30:17 truncated", "TIME"},
		{"abc", "abc", "NULL", "DATE"},
		{"9", "%m", "NULL", "DATE"},
		{"200442 Monday", "%X%V %W", "2004-10-18", "DATE"},
		{"04/31/2004", "%m/%d/%Y", "NULL", "DATE"},
		{"2020-02-29 11:12:13.5", "%Y-%m-%d %H:%i:%s.%f", "2020-02-29 11:12:13.500000", "DATETIME(6)"},
		{"2020-02-29 11:12:13 pm", "%Y-%m-%d %r", "2020-02-29 23:12:13", "DATETIME"},
		{"12:00:00 AM", "%r", "00:00:00", "TIME"},
		{"13:00", "%h:%i", "NULL", "TIME"},
		{"2021 060", "%Y %j", "2021-03-01", "DATE"},
		{"2021 366", "%Y %j", "NULL", "DATE"},
		{"3rd Jan 99", "%D %b %y", "1999-01-03", "DATE"},
		{"2020--01::02", "%Y%.%m%.%d", "2020-01-02", "DATE"},
		{"x12y2020-01-02", "%@%#%@%Y-%m-%d", "2020-01-02", "DATE"},
		{"100% 2020-01-02", "100%% %Y-%m-%d", "2020-01-02", "DATE"},
		{"2024 10 Tue", "%x %v %a", "2024-03-05", "DATE"},
		{"2024 09 2", "%Y %U %w", "2024-03-05", "DATE"},
		{"2020-01-02", "%Y-%m-%d %H:%i:%s", "2020-01-02 00:00:00", "DATETIME"},
		{"2020-01-02", "%Y-%m-%d%z", "2020-01-02", "DATE"},
		{"25:00:00", "%T", "NULL", "TIME"},
	} {
		v, status := StrToDate(c.in, c.format)
		got := v.Text()
		if status == ConvertTruncated {
			got += " truncated"
		}
		if got != c.want || v.Type.String() != c.to || (status == ConvertInvalid) != v.Null {
			t.Errorf("STR_TO_DATE(%q, %q) = %s (%v) %v, want %s (%s)", c.in, c.format, got, v.Type, status, c.want, c.to)
		}
	}
}

// Whatever a set of codes determines fully, formatting and reading back must give again.
func TestDateFormatRoundTrip(t *testing.T) {
	r := testRand(t)
	for range 5000 {
		// Two-digit years are of 1970..2069.
		at := r.Int64N(100*365*MicrosPerDay - 1)
		for _, format := range []string{"%Y-%m-%d %H:%i:%s.%f", "%W, %D %M %y %h:%i:%s %p .%f", "%Y/%j %T %f", "%X %V %a %r %f", "%x %v %w %k:%i:%s|%f"} {
			text := DateFormat(at, format)
			v, status := StrToDate(text, format)
			if status != ConvertOK || v.I != at {
				t.Fatalf("%s as %q is %q, which reads as %s, %v", FormatDatetime(at, 6), format, text, v.Text(), status)
			}
		}
	}
}

func TestBinaryNumber(t *testing.T) {
	for _, c := range []struct {
		bytes  string
		n      uint64
		status ConvertStatus
	}{
		{"MySQL", 0x4D7953514C, ConvertOK}, {"My", 0x4d79, ConvertOK}, {"", 0, ConvertOK}, {"\n", 10, ConvertOK}, {"\x01\x01", 257, ConvertOK},
		{"\xff\xff\xff\xff\xff\xff\xff\xff", 1<<64 - 1, ConvertOK}, {"123456789", 1<<64 - 1, ConvertOutOfRange},
	} {
		if n, status := BinaryNumber(c.bytes); n != c.n || status != c.status {
			t.Errorf("%q is %d, %v; want %d, %v", c.bytes, n, status, c.n, c.status)
		}
	}
}

func FuzzStrToDate(f *testing.F) {
	f.Add("2020-01-02 03:04:05", "%Y-%m-%d %H:%i:%s")
	f.Add("May 1, 2013", "%M %d,%Y")
	f.Add("200442 Monday", "%X%V %W")
	f.Fuzz(func(t *testing.T, s, format string) {
		v, status := StrToDate(s, format)
		if v.Null != (status == ConvertInvalid) {
			t.Fatalf("%v with %v", v, status)
		}
		switch {
		case v.Null:
		case v.Type.Kind == KindDate && !ValidDate(v.I), v.Type.Kind == KindDatetime && !ValidDatetime(v.I):
			t.Fatalf("%q by %q is %d", s, format, v.I)
		case v.Type.Kind == KindDatetime:
			DateFormat(v.I, format)
		}
	})
}
