package expr

import (
	"errors"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Reference Manual 14.7 and 11.1.3.
var _ = addExamples([]example{
	{"now", nil, "2024-03-15 13:14:15"},
	{"sysdate", nil, "2024-03-15 13:14:15"},
	{"utc_timestamp", nil, "2024-03-15 13:14:15"},
	{"current_time", nil, "13:14:15"},
	{"utc_time", nil, "13:14:15"},
	{"curdate", nil, "2024-03-15"},
	{"current_date", nil, "2024-03-15"},
	{"utc_date", nil, "2024-03-15"},
	{"curtime", nil, "13:14:15"},
	{"hour", []any{"10:05:03"}, "10"},
	{"hour", []any{"272:59:59"}, "272"},
	{"hour", []any{clock("-272:59:59")}, "272"},
	{"hour", []any{datetime("2008-02-03 21:05:03")}, "21"},
	{"hour", []any{date("2008-02-03")}, "0"},
	{"minute", []any{"2008-02-03 10:05:03"}, "5"},
	{"second", []any{"10:05:03"}, "3"},
	{"microsecond", []any{"12:00:00.123456"}, "123456"},
	{"microsecond", []any{"2019-12-31 23:59:59.000010"}, "10"},
	{"minute", []any{"10:99:00"}, nil},
	{"dayname", []any{"2007-02-03"}, "Saturday"},
	{"monthname", []any{"2008-02-03"}, "February"},
	{"week", []any{"2008-02-20"}, "7"},
	{"week", []any{"2008-02-20", 0}, "7"},
	{"week", []any{"2008-02-20", 1}, "8"},
	{"week", []any{"2008-12-31", 1}, "53"},
	{"week", []any{"2000-01-01", 2}, "52"},
	{"weekofyear", []any{"2008-02-20"}, "8"},
	{"yearweek", []any{"1987-01-01"}, "198652"},
	{"yearweek", []any{"2000-01-01", 0}, "199952"},
	{"to_days", []any{950501}, "728779"},
	{"to_days", []any{"2007-10-07"}, "733321"},
	{"to_days", []any{"0000-00-00"}, nil},
	{"last_day", []any{"2003-02-05"}, "2003-02-28"},
	{"last_day", []any{"2004-01-01 01:01:01"}, "2004-01-31"},
	{"last_day", []any{"2003-03-32"}, nil},
	{"date", []any{"2003-12-31 01:02:03"}, "2003-12-31"},
	{"to_seconds", []any{950501}, "62966505600"},
	{"to_seconds", []any{"2009-11-29 13:43:32"}, "63426721412"},
	{"time", []any{datetime("2003-12-31 01:02:03")}, "01:02:03"},
	{"time", []any{"2003-12-31 01:02:03.000123"}, "01:02:03.000123"},
	{"time", []any{101112}, "10:11:12"},
	{"timestamp", []any{date("2003-12-31")}, "2003-12-31 00:00:00"},
	{"timestamp", []any{datetime("2003-12-31 12:00:00"), clock("12:00:00")}, "2004-01-01 00:00:00"},
	{"timestamp", []any{datetime("9999-12-31 12:00:00"), clock("12:00:00")}, nil},
	{"from_days", []any{730669}, "2000-07-03"},
	{"from_days", []any{0}, nil},
	{"makedate", []any{2011, 31}, "2011-01-31"},
	{"makedate", []any{2014, 365}, "2014-12-31"},
	{"makedate", []any{2011, 0}, nil},
	{"maketime", []any{12, 15, 30}, "12:15:30"},
	{"maketime", []any{-12, 15, dec("30.25")}, "-12:15:30.25"},
	{"maketime", []any{12, 60, 30}, nil},
	{"maketime", []any{1000, 0, 0}, "838:59:59"},
	{"sec_to_time", []any{2378}, "00:39:38"},
	{"sec_to_time", []any{dec("-61.5")}, "-00:01:01.5"},
	{"sec_to_time", []any{10000000}, "838:59:59"},
	{"time_to_sec", []any{"22:23:00"}, "80580"},
	{"time_to_sec", []any{"00:39:38"}, "2378"},
	{"period_add", []any{200801, 2}, "200803"},
	{"period_diff", []any{200802, 200703}, "11"},
	{"adddate", []any{"2008-01-02", 31, "DAY"}, "2008-02-02"},
	{"subdate", []any{"2008-01-02 12:00:00", 31, "DAY"}, "2007-12-02 12:00:00"},
	{"timestampadd", []any{"MINUTE", 1, "2003-01-02"}, "2003-01-02 00:01:00"},
	{"timestampadd", []any{"WEEK", 1, date("2003-01-02")}, "2003-01-09"},
	{"datediff", []any{"2007-12-31 23:59:59", "2007-12-30"}, "1"},
	{"datediff", []any{date("2010-11-30"), datetime("2010-12-31 23:59:59")}, "-31"},
	{"timestampdiff", []any{"MONTH", "2003-02-01", "2003-05-01"}, "3"},
	{"timestampdiff", []any{"YEAR", "2002-05-01", "2001-01-01"}, "-1"},
	{"timestampdiff", []any{"MINUTE", "2003-02-01", "2003-05-01 12:05:55"}, "128885"},
	{"timediff", []any{"2000-01-01 00:00:00.000000", "2000-01-01 00:00:00.000001"}, "-00:00:00.000001"},
	{"timediff", []any{"2008-12-31 23:59:59.000001", "2008-12-30 01:01:01.000002"}, "46:58:57.999999"},
	{"timediff", []any{clock("10:00:00"), datetime("2000-01-01 00:00:00")}, nil},
	{"timediff", []any{datetime("2000-01-01 00:00:00"), datetime("1999-01-01 00:00:00")}, "838:59:59"},
	{"addtime", []any{"2007-12-31 23:59:59.999999", "1 1:1:1.000002"}, "2008-01-02 01:01:01.000001"},
	{"addtime", []any{"01:59:59.999999", "02:00:00.999998"}, "04:00:00.999997"},
	{"addtime", []any{datetime("2007-12-31 23:00:00"), clock("01:30:00")}, "2008-01-01 00:30:00"},
	{"addtime", []any{clock("10:00:00"), "2008-01-01 10:00:00"}, nil},
	{"subtime", []any{"2007-12-31 23:59:59.999999", "1 1:1:1.000002"}, "2007-12-30 22:58:58.999997"},
	{"subtime", []any{"01:00:00.999999", "02:00:00.999998"}, "-00:59:59.999999"},
	{"date_format", []any{"2009-10-04 22:23:00", "%W %M %Y"}, "Sunday October 2009"},
	{"date_format", []any{"2007-10-04 22:23:00", "%H:%i:%s"}, "22:23:00"},
	{"date_format", []any{"1900-10-04 22:23:00", "%D %y %a %d %m %b %j"}, "4th 00 Thu 04 10 Oct 277"},
	{"date_format", []any{"1997-10-04 22:23:00", "%H %k %I %r %T %S %w"}, "22 22 10 10:23:00 PM 22:23:00 00 6"},
	{"date_format", []any{"1999-01-01", "%X %V"}, "1998 52"},
	{"date_format", []any{"2006-06-00", "%d"}, nil},
	{"time_format", []any{"100:00:00", "%H %k %h %I %l"}, "100 100 04 04 4"},
	{"time_format", []any{clock("10:00:00"), "%W"}, nil},
	{"str_to_date", []any{"2013-05-01 9:30:17.25", "%Y-%m-%d %H:%i:%s.%f"}, "2013-05-01 09:30:17.250000"},
	{"str_to_date", []any{"abc", "abc"}, nil},
	{"str_to_date", []any{"9", "%m"}, nil},
	{"get_format", []any{"DATE", "EUR"}, "%d.%m.%Y"},
	{"get_format", []any{"DATETIME", "USA"}, "%Y-%m-%d %H.%i.%s"},
	{"get_format", []any{"TIME", "Mars"}, nil},
	{"unix_timestamp", nil, "1710508455"},
	{"unix_timestamp", []any{datetime("2015-11-13 10:20:19")}, "1447410019"},
	{"unix_timestamp", []any{datetime("2015-11-13 10:20:19.012")}, "1447410019.012"},
	{"unix_timestamp", []any{date("1969-12-31")}, "0"},
	{"from_unixtime", []any{1447430881}, "2015-11-13 16:08:01"},
	{"from_unixtime", []any{dec("1447430881.25")}, "2015-11-13 16:08:01.25"},
	{"from_unixtime", []any{1447430881, "%Y %D %M %h:%i:%s"}, "2015 13th November 04:08:01"},
	{"from_unixtime", []any{-1}, nil},
	{"convert_tz", []any{datetime("2004-01-01 12:00:00"), "+00:00", "+10:00"}, "2004-01-01 22:00:00"},
	{"convert_tz", []any{datetime("1900-01-01 12:00:00"), "+00:00", "+10:00"}, "1900-01-01 12:00:00"},
	{"convert_tz", []any{datetime("2004-01-01 12:00:00"), "+00:00", "Nowhere"}, nil},
	{"dateliteral", []any{"2012-12-31"}, "2012-12-31"},
	{"dateliteral", []any{"2012^12^31"}, "2012-12-31"},
	{"timeliteral", []any{"10:11:12.123456"}, "10:11:12.123456"},
	{"timestampliteral", []any{"2012-12-31 11:30:45.123456"}, "2012-12-31 11:30:45.123456"},
})

// callText evaluates a call of constants.
func callText(t *testing.T, c *Context, fn string, args ...any) (string, error) {
	t.Helper()
	consts := make([]Expr, len(args))
	for i, a := range args {
		consts[i] = &Const{value(a)}
	}
	call, err := NewCall(fn, consts...)
	if err != nil {
		return "", err
	}
	v, err := Eval1(call, c)
	return show(v), err
}

// A literal operand says how many fractional digits the result has, a column of texts does not: it gives six.
func TestLiteralsKeepTheirDigits(t *testing.T) {
	for _, e := range []example{
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
		got, err := callText(t, testContext(), e.fn, e.args...)
		if err != nil || got != e.wanted() {
			t.Errorf("%s = %s, %v; want %s", e, got, err, e.wanted())
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
		if got, err := callText(t, testContext(), e.fn, e.args...); !errors.Is(err, e.code) {
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
		{"timediff", []any{datetime("2000-01-01 00:00:00"), datetime("1999-01-01 00:30:00")}, sqlerr.CodeTruncatedWrongValue,
			"Truncated incorrect time value: '8759:30:00'"},
		{"timestamp", []any{datetime("9999-12-31 12:00:00"), clock("12:00:00")}, sqlerr.CodeDatetimeOverflow, "Datetime function: datetime field overflow"},
	} {
		c := testContext()
		if _, err := callText(t, c, e.fn, e.args...); err != nil {
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
	c := testContext()
	c.Location = met
	for _, e := range []example{
		{"unix_timestamp", []any{"2005-03-27 03:00:00"}, "1111885200"},
		{"unix_timestamp", []any{"2005-03-27 02:00:00"}, "1111885200"},
		{"unix_timestamp", []any{"2005-03-27 02:30:00"}, "1111885200"},
		{"unix_timestamp", []any{"2005-03-27 01:59:59"}, "1111885199"},
		{"from_unixtime", []any{1111885200}, "2005-03-27 03:00:00"},
		{"now", nil, "2024-03-15 14:14:15"},
		{"utc_timestamp", nil, "2024-03-15 13:14:15"},
		{"convert_tz", []any{"2024-07-01 12:00:00", "Europe/Berlin", "America/New_York"}, "2024-07-01 06:00:00"},
	} {
		got, err := callText(t, c, e.fn, e.args...)
		if err != nil || got != e.wanted() {
			t.Errorf("%s = %s, %v; want %s", e, got, err, e.wanted())
		}
	}
	moment := types.Value{Type: types.Type{Kind: types.KindTimestamp}, I: 1111885200 * types.MicrosPerSecond}
	if got, err := callText(t, c, "unix_timestamp", moment); err != nil || got != "1111885200" {
		t.Errorf("UNIX_TIMESTAMP of a TIMESTAMP = %s, %v", got, err)
	}
}
