package datetime_test

import (
	"errors"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// A literal operand says how many fractional digits the result has, a column of strings does not: it gives six.
func TestLiteralsKeepTheirDigits(t *testing.T) {
	for _, e := range []exprtest.Example{
		{"now", []any{3}, "2024-03-15 13:14:15.123"},
		{"current_timestamp", []any{6}, "2024-03-15 13:14:15.123456"},
		{"current_time", []any{1}, "13:14:15.1"},
		{"utc_time", []any{6}, "13:14:15.123456"},
		{"str_to_date", []any{"01,5,2013", "%d,%m,%Y"}, "2013-05-01"},
		{"str_to_date", []any{"May 1, 2013", "%M %d,%Y"}, "2013-05-01"},
		{"str_to_date", []any{"a09:30:17", "a%h:%i:%s"}, "09:30:17"},
		{"str_to_date", []any{"09:30:17a", "%h:%i:%s"}, "09:30:17"},
		{"time", []any{"2003-12-31 01:02:03"}, "01:02:03"},
		{"time", []any{"2003-12-31 01:02:03.5"}, "01:02:03.5"},
		{"timestamp", []any{"2003-12-31"}, "2003-12-31 00:00:00"},
		{"timestamp", []any{"2003-12-31 12:00:00", "12:00:00.25"}, "2004-01-01 00:00:00.25"},
		{"timediff", []any{"2000:01:01 00:00:00", "2000:01:01 00:00:00.000001"}, "-00:00:00.000001"},
		{"timediff", []any{"12:00:00", "11:30:00"}, "00:30:00"},
		{"unix_timestamp", []any{"2015-11-13 10:20:19"}, "1447410019"},
		{"unix_timestamp", []any{"2015-11-13 10:20:19.012"}, "1447410019.012"},
		{"convert_tz", []any{"2004-01-01 12:00:00", "GMT", "+01:00"}, "2004-01-01 13:00:00"},
		{"'tidb`.(dateliteral", []any{"1998-12-01"}, "1998-12-01"},
		{"'tidb`.(timeliteral", []any{"101112"}, "10:11:12"},
		{"'tidb`.(timestampliteral", []any{"20121231113045"}, "2012-12-31 11:30:45"},
	} {
		got, err := exprtest.CallText(t, exprtest.NewContext(), e.Fn, e.Args...)
		if err != nil || got != exprtest.Wanted(e) {
			t.Errorf("%s = %s, %v; want %s", e, got, err, exprtest.Wanted(e))
		}
	}
}

func TestDateFunctionErrors(t *testing.T) {
	for _, e := range []struct {
		fn   string
		args []any
		code sqlerr.Code
	}{
		{"dateliteral", []any{"2012-13-31"}, sqlerr.CodeWrongValue},
		{"dateliteral", []any{"2012-12-31 10:00:00"}, sqlerr.CodeWrongValue},
		{"timestampliteral", []any{"2012-12-31"}, sqlerr.CodeWrongValue},
		{"timeliteral", []any{"10:11:12x"}, sqlerr.CodeWrongValue},
		{"now", []any{7}, sqlerr.CodeTooBigPrecision},
		{"now", []any{-1}, sqlerr.CodeWrongArguments},
		{"period_add", []any{200813, 2}, sqlerr.CodeWrongArguments},
		{"timestampdiff", []any{"DAY_HOUR", "2003-02-01", "2003-05-01"}, sqlerr.CodeWrongArguments},
	} {
		if got, err := exprtest.CallText(t, exprtest.NewContext(), e.fn, e.args...); !errors.Is(err, e.code) {
			t.Errorf("%s(%v) = %s, %v; want error %d", e.fn, e.args, got, err, e.code)
		}
	}
}

func TestDateFunctionWarnings(t *testing.T) {
	for _, e := range []struct {
		fn   string
		args []any
		code sqlerr.Code
		text string
	}{
		{"last_day", []any{"2003-03-32"}, sqlerr.CodeTruncatedWrongValue, "Incorrect datetime value: '2003-03-32'"},
		{"str_to_date", []any{"9", "%m"}, sqlerr.CodeWrongValueForType, "Incorrect date value: '9' for function str_to_date"},
		{"timediff", []any{exprtest.Datetime("2000-01-01 00:00:00"), exprtest.Datetime("1999-01-01 00:30:00")}, sqlerr.CodeTruncatedWrongValue,
			"Truncated incorrect time value: '8759:30:00'"},
		{"timestamp", []any{exprtest.Datetime("9999-12-31 12:00:00"), exprtest.Clock("12:00:00")}, sqlerr.CodeDatetimeOverflow, "Datetime function: datetime field overflow"},
	} {
		c := exprtest.NewContext()
		if _, err := exprtest.CallText(t, c, e.fn, e.args...); err != nil {
			t.Fatal(err)
		}
		w := c.Warnings.List()
		if len(w) != 1 || w[0].Code != e.code || w[0].Message != e.text {
			t.Errorf("%s(%v) warns %v, want %d %s", e.fn, e.args, w, e.code, e.text)
		}
	}
}

// The manual's example of MET (14.7, UNIX_TIMESTAMP()): clocks skip the hour from 02:00 to 03:00, so that its start and its
// end are one moment; in MySQL every time within it is too. Two times of autumn share a DATETIME.
func TestTimeZones(t *testing.T) {
	met, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone data: ", err)
	}
	c := exprtest.NewContext()
	c.Location = met
	for _, e := range []exprtest.Example{
		{"unix_timestamp", []any{"2005-03-27 03:00:00"}, "1111885200"},
		{"unix_timestamp", []any{"2005-03-27 02:00:00"}, "1111885200"},
		{"unix_timestamp", []any{"2005-03-27 02:30:00"}, "1111885200"},
		{"unix_timestamp", []any{"2005-03-27 01:59:59"}, "1111885199"},
		{"from_unixtime", []any{1111885200}, "2005-03-27 03:00:00"},
		{"now", nil, "2024-03-15 14:14:15"},
		{"utc_timestamp", nil, "2024-03-15 13:14:15"},
		{"convert_tz", []any{"2024-07-01 12:00:00", "Europe/Berlin", "America/New_York"}, "2024-07-01 06:00:00"},
	} {
		got, err := exprtest.CallText(t, c, e.Fn, e.Args...)
		if err != nil || got != exprtest.Wanted(e) {
			t.Errorf("%s = %s, %v; want %s", e, got, err, exprtest.Wanted(e))
		}
	}
	moment := types.Value{Type: types.Type{Kind: types.KindTimestamp}, I: 1111885200 * types.MicrosPerSecond}
	if got, err := exprtest.CallText(t, c, "unix_timestamp", moment); err != nil || got != "1111885200" {
		t.Errorf("UNIX_TIMESTAMP of a TIMESTAMP = %s, %v", got, err)
	}
}
