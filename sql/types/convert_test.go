package types

import (
	"math"
	"testing"
	"time"
)

func decimalOf(t *testing.T, s string) Value {
	v, scale, status := ParseDecimal(s)
	if status != ConvertOK {
		t.Fatalf("%q: %v", s, status)
	}
	return DecimalValue(Decimal(max(DecimalDigits(v), scale+1), scale), v)
}

func temporalOf(t *testing.T, s string, to Type) Value {
	v, status := Cast(StringValue(s), to)
	if status != ConvertOK {
		t.Fatalf("%q as %v: %v", s, to, status)
	}
	return v
}

var enumSizes = Type{Kind: KindEnum, Enum: &EnumMembers{Names: []string{"small", "medium", "large"}}}

func TestCast(t *testing.T) {
	str := StringValue
	for _, c := range []struct {
		v      Value
		to     Type
		want   string
		status ConvertStatus
	}{
		{str("12.9abc"), Int64, "12", ConvertTruncated},
		{str("-1"), Uint64, "18446744073709551615", ConvertOutOfRange},
		{IntValue(-1), Uint64, "18446744073709551615", ConvertOK},
		{UintValue(math.MaxUint64), Int64, "-1", ConvertOK},
		{str("99999999999999999999"), Int64, "-1", ConvertOutOfRange},
		{str("99999999999999999999"), Uint64, "18446744073709551615", ConvertOutOfRange},
		{FloatValue(2.5), Int64, "2", ConvertRounded},
		{FloatValue(1e300), Int64, "9223372036854775807", ConvertOutOfRange},
		{FloatValue(-1e300), Int8, "-128", ConvertOutOfRange},
		{decimalOf(t, "2.5"), Int64, "3", ConvertRounded},
		{decimalOf(t, "-2.5"), Int64, "-3", ConvertRounded},
		{decimalOf(t, "12345678901234567890.5"), Uint64, "12345678901234567891", ConvertRounded},
		{temporalOf(t, "2020-01-02", Date), Int64, "20200102", ConvertOK},
		{temporalOf(t, "2020-01-02 03:04:59.6", DatetimeFsp(1)), Int64, "20200102030500", ConvertRounded},
		{temporalOf(t, "-12:30:01.4", TimeFsp(1)), Int64, "-123001", ConvertRounded},
		{temporalOf(t, "2020-01-02 03:04:59.6", DatetimeFsp(1)), Double, "20200102030459.6", ConvertOK},
		{temporalOf(t, "2020-01-02 03:04:59.6", DatetimeFsp(1)), Decimal(20, 2), "20200102030459.60", ConvertOK},
		{str("abc"), Double, "0", ConvertInvalid},
		{str(" 1e2x"), Double, "100", ConvertTruncated},
		{FloatValue(1e39), Float, "3.40282e38", ConvertOutOfRange},
		{FloatValue(0.1), Decimal(5, 2), "0.10", ConvertOK},
		{IntValue(1234), Decimal(5, 2), "999.99", ConvertOutOfRange},
		{decimalOf(t, "1.255"), Decimal(5, 2), "1.26", ConvertRounded},
		{decimalOf(t, "1.25"), Decimal(38, 10), "1.2500000000", ConvertOK},
		{str("2020-02-30"), Date, "NULL", ConvertInvalid},
		{str("2020-01-02 03:04:05"), Date, "2020-01-02", ConvertRounded},
		{IntValue(20200102), Date, "2020-01-02", ConvertOK},
		{decimalOf(t, "20200102030405.678"), DatetimeFsp(2), "2020-01-02 03:04:05.68", ConvertRounded},
		{str("9999-12-31 23:59:59.9"), Datetime, "NULL", ConvertInvalid},
		{temporalOf(t, "2020-01-02 03:04:05", Datetime), Time, "03:04:05", ConvertOK},
		{temporalOf(t, "2020-01-02", Date), Datetime, "2020-01-02 00:00:00", ConvertOK},
		{IntValue(123456), Time, "12:34:56", ConvertOK},
		{IntValue(126056), Time, "NULL", ConvertInvalid},
		{str("1000:00:00"), Time, "838:59:59", ConvertOutOfRange},
		{IntValue(70), Year, "1970", ConvertOK},
		{str("0"), Year, "2000", ConvertOK},
		{IntValue(0), Year, "0000", ConvertOK},
		{IntValue(2200), Year, "0000", ConvertOutOfRange},
		{str("medium"), enumSizes, "medium", ConvertOK},
		{str("3"), enumSizes, "large", ConvertOK},
		{IntValue(1), enumSizes, "small", ConvertOK},
		{str("huge"), enumSizes, "", ConvertInvalid},
		{Value{Type: enumSizes, I: 2}, Int64, "2", ConvertOK},
		{Value{Type: enumSizes, I: 2}, Varchar(3), "med", ConvertTruncated},
		{str("naïve"), Varchar(3), "naï", ConvertTruncated},
		{str("ab  "), Varchar(2), "ab", ConvertOK},
		{str("ab  "), Char(8), "ab", ConvertOK},
		{str("ab"), Type{Kind: KindBinary, Length: 3}, "ab\x00", ConvertOK},
		{FloatValue(1e15), Varchar(20), "1e15", ConvertOK},
		{BoolValue(true), Varchar(1), "1", ConvertOK},
		{NullOf(Int64), Date, "NULL", ConvertOK},
		{FloatValue(math.NaN()), Int64, "0", ConvertInvalid},
	} {
		got, status := Cast(c.v, c.to)
		if got.Text() != c.want || status != c.status || got.Type != c.to {
			t.Errorf("CAST(%s %q AS %v) = %q (%v) %v, want %q %v", c.v.Type, c.v.Text(), c.to, got.Text(), got.Type, status, c.want, c.status)
		}
	}
}

func TestStore(t *testing.T) {
	for _, c := range []struct {
		v      Value
		to     Type
		want   string
		status ConvertStatus
	}{
		{StringValue("2.5"), Int32, "3", ConvertRounded},
		{StringValue("1e3"), Int32, "1000", ConvertOK},
		{IntValue(-1), Uint64, "0", ConvertOutOfRange},
		{IntValue(-1), Uint32, "0", ConvertOutOfRange},
		{UintValue(math.MaxUint64), Int64, "9223372036854775807", ConvertOutOfRange},
		{IntValue(300), Int8, "127", ConvertOutOfRange},
		{FloatValue(0.1), Float, "0.1", ConvertOK},
	} {
		got, status := Store(c.v, c.to)
		if got.Text() != c.want || status != c.status {
			t.Errorf("store %q as %v = %q %v, want %q %v", c.v.Text(), c.to, got.Text(), status, c.want, c.status)
		}
	}
}

func TestConvertContext(t *testing.T) {
	zone := time.FixedZone("+05:30", 5*3600+1800)
	today, _ := ParseDate("2024-02-29")
	c := ConvertContext{Zone: zone, Today: today}
	stamp := Type{Kind: KindTimestamp}
	v, status := c.Cast(StringValue("2020-01-02 03:04:05"), stamp)
	if v.Text() != "2020-01-01 21:34:05" || v.TextIn(zone) != "2020-01-02 03:04:05" || status != ConvertOK {
		t.Errorf("TIMESTAMP is %q in UTC, %v", v.Text(), status)
	}
	if d, _ := c.Cast(v, Datetime); d.Text() != "2020-01-02 03:04:05" {
		t.Errorf("back to DATETIME: %s", d.Text())
	}
	if v, status = c.Cast(StringValue("2040-01-01"), stamp); !v.Null || status != ConvertInvalid {
		t.Errorf("a TIMESTAMP in 2040: %v %v", v.Text(), status)
	}
	if v, _ = c.Cast(temporalOf(t, "26:00:00", Time), Datetime); v.Text() != "2024-03-01 02:00:00" {
		t.Errorf("TIME as DATETIME: %s", v.Text())
	}
}

// Converting to text and back is the identity for every type whose text is exact.
func TestTextRoundTrip(t *testing.T) {
	r := testRand(t)
	for range 20000 {
		d, scale := randDecimal(r)
		for _, v := range []Value{
			IntValue(int64(r.Uint64())), UintValue(r.Uint64()), FloatValue(math.Ldexp(r.Float64(), r.IntN(200)-100)),
			DecimalValue(Decimal(38, scale), d),
			{Type: Date, I: MinDate + r.Int64N(MaxDate-MinDate+1)},
			{Type: DatetimeFsp(6), I: MinDatetime + r.Int64N(MaxDatetime-MinDatetime+1)},
			{Type: TimeFsp(6), I: r.Int64N(2*MaxTime+1) - MaxTime},
			{Type: Year, I: 1901 + r.Int64N(255)},
		} {
			back, status := Store(StringValue(v.Text()), v.Type)
			if status != ConvertOK || Compare(v, back) != 0 {
				t.Fatalf("%v %s reads back as %s, %v", v.Type, v.Text(), back.Text(), status)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	// Each list ascends.
	for _, list := range [][]Value{
		{NullOf(Int64), IntValue(math.MinInt64), IntValue(-1), IntValue(0), IntValue(5)},
		{UintValue(0), UintValue(math.MaxInt64), UintValue(math.MaxUint64)},
		{FloatValue(math.Inf(-1)), FloatValue(-1), FloatValue(0), FloatValue(math.Inf(1)), FloatValue(math.NaN())},
		{decimalOf(t, "-100"), decimalOf(t, "-0.001"), decimalOf(t, "0.0"), decimalOf(t, "1.499"), decimalOf(t, "1.5"), decimalOf(t, "99999999999999999999999")},
		{StringValue(""), StringValue("A"), StringValue("B"), StringValue("a"), StringValue("a "), StringValue("é")},
		{temporalOf(t, "1969-12-31", Date), temporalOf(t, "1970-01-01", Date)},
	} {
		for i, a := range list {
			for j, b := range list {
				if got := Compare(a, b); got != compareInts(i, j) {
					t.Errorf("Compare(%s, %s) = %d", a.Text(), b.Text(), got)
				}
			}
		}
	}
}

func TestCommonType(t *testing.T) {
	binary := Type{Kind: KindVarbinary, Length: 5}
	for _, c := range []struct {
		a, b Type
		want string
	}{
		{Null, Int32, "INT"}, {Null, Null, "NULL"}, {Int8, Int32, "INT"}, {Bool, Bool, "BOOLEAN"}, {Bool, Int8, "TINYINT"},
		{Int32, Uint32, "BIGINT"}, {Int64, Uint32, "BIGINT"}, {Int64, Uint64, "DECIMAL(20,0)"}, {Int8, Uint64, "DECIMAL(20,0)"},
		{Uint8, Uint64, "BIGINT UNSIGNED"}, {Int16, Uint8, "SMALLINT"}, {Int16, Uint16, "MEDIUMINT"},
		{Int32, Decimal(5, 2), "DECIMAL(12,2)"}, {Decimal(10, 4), Decimal(15, 2), "DECIMAL(17,4)"}, {Decimal(38, 0), Decimal(30, 20), "DECIMAL(38,16)"},
		{Float, Int16, "FLOAT"}, {Float, Int32, "DOUBLE"}, {Double, Decimal(5, 2), "DOUBLE"}, {Float, Double, "DOUBLE"},
		{Date, Datetime, "DATETIME"}, {Date, TimeFsp(3), "DATETIME(3)"}, {DatetimeFsp(2), DatetimeFsp(4), "DATETIME(4)"}, {Date, Date, "DATE"},
		{Type{Kind: KindTimestamp}, Datetime, "DATETIME"}, {Date, Int64, "VARCHAR(20)"}, {Int32, Varchar(5), "VARCHAR(11)"},
		{Char(3), Char(5), "CHAR(5)"}, {Char(3), Varchar(5), "VARCHAR(5)"}, {Varchar(5), Text, "TEXT"}, {Varchar(3), binary, "VARBINARY(5)"},
		{binary, Text, "BLOB"}, {enumSizes, enumSizes, enumSizes.String()}, {enumSizes, Varchar(2), "VARCHAR(6)"}, {JSON, JSON, "JSON"},
		{JSON, Int64, "TEXT"}, {Decimal(5, 2), Varchar(3), "VARCHAR(7)"}, {Year, Year, "YEAR"}, {Year, Date, "VARCHAR(10)"},
	} {
		if got := CommonType(c.a, c.b).String(); got != c.want {
			t.Errorf("CommonType(%v, %v) = %s, want %s", c.a, c.b, got, c.want)
		}
		if got := CommonType(c.b, c.a).String(); got != c.want {
			t.Errorf("CommonType(%v, %v) = %s, want %s", c.b, c.a, got, c.want)
		}
	}
}

func TestComparisonType(t *testing.T) {
	for _, c := range []struct {
		a, b Type
		want string
	}{
		{Int32, Int64, "BIGINT"}, {Bool, Uint32, "BIGINT"}, {Uint64, Uint8, "BIGINT UNSIGNED"}, {Uint64, Int8, "DECIMAL(20,0)"},
		{Varchar(3), Varchar(9), "VARCHAR(9)"}, {Varchar(3), Int64, "DOUBLE"}, {Varchar(3), Decimal(5, 2), "DOUBLE"},
		{Decimal(5, 2), Int32, "DECIMAL(12,2)"}, {Decimal(38, 0), Decimal(30, 20), "DECIMAL(38,20)"}, {Decimal(5, 2), Double, "DOUBLE"},
		{Date, Date, "DATE"}, {Date, DatetimeFsp(3), "DATETIME(3)"}, {Date, Varchar(10), "DATETIME(6)"}, {Time, Text, "TIME(6)"},
		{Date, Int64, "BIGINT"}, {DatetimeFsp(3), Int64, "DECIMAL(22,3)"}, {Date, Double, "DOUBLE"}, {Year, Int32, "BIGINT"},
		{enumSizes, Varchar(3), "VARCHAR(6)"}, {enumSizes, Int64, "BIGINT"}, {Null, Varchar(3), "VARCHAR(3)"}, {Null, Null, "BIGINT"},
	} {
		for _, p := range [][2]Type{{c.a, c.b}, {c.b, c.a}} {
			if got := ComparisonType(p[0], p[1]).String(); got != c.want {
				t.Errorf("ComparisonType(%v, %v) = %s, want %s", p[0], p[1], got, c.want)
			}
		}
	}
}

// Every pair of types converts without a panic to both of its common types.
func TestTypesClosed(t *testing.T) {
	all := []Type{Null, Bool, Int8, Int16, Int24, Int32, Int64, Uint8, Uint16, Uint24, Uint32, Uint64, Float, Double, Decimal(5, 2), Decimal(38, 10),
		Date, Datetime, DatetimeFsp(6), {Kind: KindTimestamp}, Time, TimeFsp(3), Year, Char(5), Varchar(5), Text, {Kind: KindBinary, Length: 4},
		{Kind: KindVarbinary, Length: 4}, Blob, enumSizes, JSON}
	for _, a := range all {
		for _, text := range []string{"7", "2020-01-02", "12:30:00", "large", "x", ""} {
			v, _ := Store(StringValue(text), a)
			for _, b := range all {
				for _, to := range []Type{b, CommonType(a, b), ComparisonType(a, b)} {
					if got, _ := Cast(v, to); got.Type != to {
						t.Errorf("%v of type %v to %v is of type %v", v.Text(), a, to, got.Type)
					}
				}
				if CommonType(a, b) != CommonType(b, a) {
					t.Errorf("CommonType of %v and %v depends on the order", a, b)
				}
			}
		}
	}
}
