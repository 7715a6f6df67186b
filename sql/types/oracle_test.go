package types

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// oracleCase is an expression and what Radish makes of it.
type oracleCase struct{ expr, got string }

// TestAgainstMariaDB compares thousands of random conversions and date computations with a MariaDB server. It runs where
// RADISH_MARIADB_SOCKET names the server's socket and the program mariadb is installed; the server's user is root
// without a password. Where MariaDB is known to differ from MySQL 8.0 the cases keep to common ground.
func TestAgainstMariaDB(t *testing.T) {
	socket := os.Getenv("RADISH_MARIADB_SOCKET")
	if socket == "" {
		t.Skip("RADISH_MARIADB_SOCKET names no server")
	}
	for name, makeCase := range map[string]func(*rand.Rand) oracleCase{
		"float text": floatCase, "text to number": textNumberCase, "text to temporal": textTemporalCase,
		"number to temporal": numberTemporalCase, "decimal arithmetic": decimalCase, "interval": intervalCase,
		"date parts": datePartCase, "date format": dateFormatCase, "date difference": dateDiffCase, "str to date": strToDateCase,
		"rounding": roundingCase,
	} {
		t.Run(name, func(t *testing.T) {
			r := testRand(t)
			cases := make([]oracleCase, 2000)
			for i := range cases {
				cases[i] = makeCase(r)
			}
			want := askMariaDB(t, socket, cases)
			failed := 0
			for i, c := range cases {
				if strings.Trim(want[i], "-0.") == "" { // MariaDB has a decimal -0
					want[i] = strings.TrimPrefix(want[i], "-")
				}
				if c.got != want[i] {
					t.Errorf("%s = %s, MariaDB says %s", c.expr, c.got, want[i])
					if failed++; failed == 10 {
						t.FailNow()
					}
				}
			}
		})
	}
}

func askMariaDB(t *testing.T, socket string, cases []oracleCase) []string {
	var script bytes.Buffer
	script.WriteString("SET sql_mode='STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO';\n")
	for i, c := range cases {
		fmt.Fprintf(&script, "SELECT %d, %s;\n", i, c.expr)
	}
	cmd := exec.Command("mariadb", "--no-defaults", "-S", socket, "-uroot", "-N", "-B", "--raw", "--force", "--default-character-set=utf8mb4")
	cmd.Stdin = &script
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output() // a statement's error makes the exit status 1; its case then has no answer
	answers := make([]string, len(cases))
	for i := range answers {
		answers[i] = "an error"
	}
	for line := range strings.Lines(string(out)) {
		number, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		i, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("unexpected answer %q\n%s", line, stderr.String())
		}
		answers[i] = text
	}
	if stderr.Len() > 0 {
		t.Log(stderr.String()[:min(stderr.Len(), 2000)])
	}
	return answers
}

func floatCase(r *rand.Rand) oracleCase {
	f := math.Ldexp(r.Float64()-0.5, r.IntN(160)-80)
	if r.IntN(2) == 0 {
		f = float64(r.IntN(100000)) * math.Pow10(r.IntN(40)-20)
	}
	return oracleCase{strconv.FormatFloat(f, 'e', -1, 64), FormatFloat(f)}
}

// randNumberText is now and then no number.
func randNumberText(r *rand.Rand) string {
	var b strings.Builder
	parts := []string{"", " ", "-", "+", "1", "22", "905", "0", "00", ".", ".5", ".45", "e", "e2", "E-2", "x", " 7", "123456789", "99999"}
	for range 1 + r.IntN(4) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func textNumberCase(r *rand.Rand) oracleCase {
	s := randNumberText(r)
	quoted := "'" + s + "'"
	switch r.IntN(4) {
	case 0:
		// MariaDB reads a decimal point or exponent in CAST(text AS SIGNED); MySQL 8.0 does not.
		if strings.ContainsAny(s, ".eE") {
			return oracleCase{"1", "1"}
		}
		v, _ := Cast(StringValue(s), Int64)
		return oracleCase{"CAST(" + quoted + " AS SIGNED)", v.Text()}
	case 1:
		v, _ := Cast(StringValue(s), Double)
		return oracleCase{quoted + "+0e0", FormatFloat(v.F + 0)}
	}
	if strings.Contains(s, "e ") { // strtoll10 lets spaces stand before a decimal's exponent; Radish does not
		return oracleCase{"1", "1"}
	}
	scale := r.IntN(5)
	v, _ := Cast(StringValue(s), Decimal(10, scale))
	return oracleCase{fmt.Sprintf("CAST(%s AS DECIMAL(10,%d))", quoted, scale), v.Text()}
}

func randTemporalText(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	two := func(hi int) string {
		n := r.IntN(hi + 1)
		if r.IntN(3) == 0 {
			return strconv.Itoa(n)
		}
		return fmt.Sprintf("%02d", n)
	}
	year := pick(strconv.Itoa(1000+r.IntN(9000)), fmt.Sprintf("%02d", r.IntN(100)))
	if r.IntN(4) == 0 {
		s := year + fmt.Sprintf("%02d%02d", r.IntN(14), r.IntN(33))
		if r.IntN(2) == 0 {
			s += fmt.Sprintf("%02d%02d%02d", r.IntN(25), r.IntN(61), r.IntN(61))
			if r.IntN(2) == 0 {
				s += "." + strconv.Itoa(r.IntN(100000))
			}
		}
		return s
	}
	sep := pick("-", "-", "/", ".", ":")
	s := year + sep + two(13) + sep + two(32)
	if r.IntN(2) == 0 {
		s += pick(" ", "T", "  ") + two(24) + ":" + two(60)
		if r.IntN(4) > 0 {
			s += ":" + two(60)
			if r.IntN(2) == 0 {
				s += "." + strconv.Itoa(r.IntN(10000000))
			}
		}
	}
	if r.IntN(10) == 0 {
		s += pick(" ", "x", " x", "-")
	}
	return s
}

func textTemporalCase(r *rand.Rand) oracleCase {
	s := randTemporalText(r)
	switch r.IntN(3) {
	case 0:
		v, _ := Cast(StringValue(s), Date)
		return oracleCase{"CAST('" + s + "' AS DATE)", v.Text()}
	case 1:
		parts := strings.Split(s, " ")
		s = parts[len(parts)-1]
		if r.IntN(2) == 0 {
			s = fmt.Sprintf("%d:%02d:%02d", r.IntN(900)-400, r.IntN(61), r.IntN(61))
		}
		if i := strings.IndexByte(s, '.'); !strings.Contains(s, ":") || i >= 0 {
			return oracleCase{"1", "1"}
		}
		if strings.ContainsAny(s, "-/T") && s[0] != '-' {
			return oracleCase{"1", "1"}
		}
		v, status := Cast(StringValue(s), TimeFsp(6))
		if status != ConvertOK { // MariaDB's largest TIME has a fraction, MySQL's has none
			return oracleCase{"1", "1"}
		}
		return oracleCase{"CAST('" + s + "' AS TIME(6))", v.Text()}
	}
	// MariaDB cuts where MySQL rounds, so all written digits are kept.
	if i := strings.IndexByte(s, '.'); i >= 0 && len(s)-i > 7 {
		s = s[:i+7]
	}
	v, _ := Cast(StringValue(s), DatetimeFsp(MaxFsp))
	return oracleCase{fmt.Sprintf("CAST('%s' AS DATETIME(%d))", s, MaxFsp), v.Text()}
}

func numberTemporalCase(r *rand.Rand) oracleCase {
	n := r.Int64N(pow10Int64[1+r.IntN(14)])
	if r.IntN(2) == 0 {
		n = DatetimeNumber(MinDatetime + r.Int64N(MaxDatetime-MinDatetime))
	}
	if r.IntN(3) == 0 && n < 8385959 {
		v, _ := Cast(IntValue(n), Time)
		return oracleCase{fmt.Sprintf("CAST(%d AS TIME)", n), v.Text()}
	}
	v, _ := Cast(IntValue(n), Datetime)
	return oracleCase{fmt.Sprintf("CAST(%d AS DATETIME)", n), v.Text()}
}

func decimalCase(r *rand.Rand) oracleCase {
	operand := func() Value {
		u := r.Int64N(pow10Int64[1+r.IntN(12)])
		scale := r.IntN(6)
		v := DecimalValue(Decimal(max(DecimalDigits(Int128FromInt64(u)), scale), scale), Int128FromInt64(u))
		if scale == 0 {
			return IntValue(u)
		}
		return v
	}
	a, b := operand(), operand()
	if a.Type.Kind != KindDecimal && b.Type.Kind != KindDecimal { // integers have their own arithmetic
		return oracleCase{"1", "1"}
	}
	an, as := a.Unscaled(), int(a.Type.Scale)
	bn, bs := b.Unscaled(), int(b.Type.Scale)
	if r.IntN(2) == 0 {
		an, _ = an.Neg()
	}
	if r.IntN(2) == 0 {
		bn, _ = bn.Neg()
	}
	op := []string{"+", "-", "*", "/", "%", "DIV", "<=>", "<"}[r.IntN(8)]
	expr := fmt.Sprintf("(%s) %s (%s)", FormatDecimal(an, as), op, FormatDecimal(bn, bs))
	got := "NULL"
	show := func(v Int128, ok bool, scale int) {
		if ok {
			got = FormatDecimal(v, scale)
		}
	}
	switch op {
	case "+", "-":
		s := int(AddType(a.Type, b.Type).Scale)
		x, _ := Rescale(an, as, s)
		y, _ := Rescale(bn, bs, s)
		v, ok := x.Add(y)
		if op == "-" {
			v, ok = x.Sub(y)
		}
		show(v, ok, s)
	case "*":
		s := int(MulType(a.Type, b.Type).Scale)
		v, ok := DecimalMul(an, as, bn, bs, s)
		show(v, ok, s)
	case "/":
		if as == 5 && bs == 0 { // the server cuts the last digit, see DecimalDiv
			return oracleCase{"1", "1"}
		}
		s := int(DivType(a.Type, b.Type).Scale)
		v, ok := DecimalDiv(an, as, bn, bs, s)
		show(v, ok, s)
	case "%":
		v, ok := DecimalMod(an, as, bn, bs)
		show(v, ok, max(as, bs))
	case "DIV":
		v, ok := DecimalDivInt(an, as, bn, bs)
		show(v, ok, 0)
	case "<=>":
		got = BoolValue(CompareDecimal(an, as, bn, bs) == 0).Text()
	default:
		got = BoolValue(CompareDecimal(an, as, bn, bs) < 0).Text()
	}
	return oracleCase{expr, got}
}

func randDatetime(r *rand.Rand) int64 {
	lo, _ := ParseDatetime("1000-01-01", nil)
	v := lo + r.Int64N(MaxDatetime-lo)
	if r.IntN(2) == 0 {
		v = TruncateDatetime(v, 0)
	}
	return v
}

func intervalCase(r *rand.Rand) oracleCase {
	at := randDatetime(r)
	u := Unit(r.IntN(len(unitNames)))
	text := strconv.Itoa(r.IntN(2000) - 1000)
	if u.IsCompound() {
		var b strings.Builder
		if r.IntN(3) == 0 {
			b.WriteByte('-')
		}
		for i := range 1 + r.IntN(len(compoundParts[u])) {
			if i > 0 {
				b.WriteByte(" :-."[r.IntN(4)])
			}
			fmt.Fprint(&b, r.IntN(100))
		}
		text = b.String()
	} else if u == UnitSecond && r.IntN(2) == 0 {
		text += ".25"
	}
	got := "NULL"
	if iv, ok := ParseInterval(text, u); ok {
		if v, ok := AddDatetime(at, iv); ok {
			got = FormatDatetime(v, 6)
		}
	}
	return oracleCase{fmt.Sprintf("DATE_FORMAT(CAST('%s' AS DATETIME(6)) + INTERVAL '%s' %v, '%%Y-%%m-%%d %%H:%%i:%%s.%%f')", FormatDatetime(at, 6), text, u), got}
}

func datePartCase(r *rand.Rand) oracleCase {
	at := randDatetime(r)
	days := DateOf(at)
	literal := "CAST('" + FormatDatetime(at, 6) + "' AS DATETIME(6))"
	switch r.IntN(9) {
	case 0:
		mode := r.IntN(8)
		return oracleCase{fmt.Sprintf("WEEK(%s,%d)", literal, mode), fmt.Sprint(Week(days, mode))}
	case 1:
		mode := r.IntN(8)
		return oracleCase{fmt.Sprintf("YEARWEEK(%s,%d)", literal, mode), fmt.Sprint(YearWeek(days, mode))}
	case 2:
		return oracleCase{"TO_DAYS(" + literal + ")", fmt.Sprint(ToDays(days))}
	case 3:
		return oracleCase{"LAST_DAY(" + literal + ")", FormatDate(LastDay(days))}
	case 4:
		return oracleCase{"CONCAT_WS(' ',DAYOFYEAR(" + literal + "),DAYNAME(" + literal + "),DAYOFWEEK(" + literal + "))",
			fmt.Sprint(DayOfYear(days), " ", DayName(days), " ", DayOfWeek(days))}
	case 5:
		p, n := r.Int64N(300000)/100*100+r.Int64N(12)+1, r.Int64N(5000)-1000
		v, ok := PeriodAdd(p, n)
		if !ok {
			return oracleCase{"1", "1"}
		}
		return oracleCase{fmt.Sprintf("PERIOD_ADD(%d,%d)", p, n), fmt.Sprint(v)}
	case 6:
		y, d := r.Int64N(10000), r.Int64N(1000)
		got := "NULL"
		if v, ok := MakeDate(y, d); ok {
			got = FormatDate(v)
		}
		return oracleCase{fmt.Sprintf("MAKEDATE(%d,%d)", y, d), got}
	case 7:
		h, m, s := r.Int64N(2000)-1000, r.Int64N(62), r.Int64N(62)
		got := "NULL"
		if v, ok := MakeTime(h, m, s*MicrosPerSecond); ok {
			got = FormatTime(v, 0)
		}
		return oracleCase{fmt.Sprintf("MAKETIME(%d,%d,%d)", h, m, s), got}
	}
	u := Unit(r.IntN(len(unitNames)))
	return oracleCase{fmt.Sprintf("EXTRACT(%v FROM %s)", u, literal), fmt.Sprint(ExtractDatetime(at, u))}
}

func dateFormatCase(r *rand.Rand) oracleCase {
	at := randDatetime(r)
	format := "%a|%b|%c|%D|%d|%e|%f|%H|%h|%I|%i|%j|%k|%l|%M|%m|%p|%r|%S|%s|%T|%U|%u|%V|%v|%W|%w|%X|%x|%Y|%y|%%|%q"
	return oracleCase{fmt.Sprintf("DATE_FORMAT('%s','%s')", FormatDatetime(at, 6), format), DateFormat(at, format)}
}

func dateDiffCase(r *rand.Rand) oracleCase {
	a, b := randDatetime(r), randDatetime(r)
	if r.IntN(2) == 0 {
		iv, _ := IntervalOf(r.Int64N(60), UnitMonth)
		if v, ok := AddDatetime(a, iv); ok {
			b = v + r.Int64N(3) - 1
		}
	}
	if !ValidDatetime(b) {
		b = a
	}
	u := Unit(r.IntN(int(UnitYear) + 1))
	return oracleCase{fmt.Sprintf("TIMESTAMPDIFF(%v,'%s','%s')", u, FormatDatetime(a, 6), FormatDatetime(b, 6)), fmt.Sprint(TimestampDiff(u, a, b))}
}

func strToDateCase(r *rand.Rand) oracleCase {
	at := randDatetime(r)
	formats := []string{"%Y-%m-%d %H:%i:%s.%f", "%d/%c/%Y", "%W %M %e %Y", "%D %b %Y %r", "%Y %j", "%X %V %W", "%x %v %a", "%T", "%h:%i %p", "%y%m%d", "%Y %U %W", "%Y %u %w"}
	format := formats[r.IntN(len(formats))]
	text := DateFormat(at, format)
	if r.IntN(3) == 0 {
		format = formats[r.IntN(len(formats))]
	}
	v, _ := StrToDate(text, format)
	return oracleCase{fmt.Sprintf("STR_TO_DATE('%s','%s')", text, format), v.Text()}
}

func roundingCase(r *rand.Rand) oracleCase {
	v, scale := Int128FromInt64(r.Int64N(2*pow10Int64[12])-pow10Int64[12]), 1+r.IntN(6)
	text := FormatDecimal(v, scale)
	digits := r.IntN(10) - 3
	switch r.IntN(5) {
	case 0:
		return oracleCase{"FLOOR(" + text + ")", FloorDecimal(v, scale).String()}
	case 1:
		return oracleCase{"CEIL(" + text + ")", CeilDecimal(v, scale).String()}
	case 2:
		to := max(digits, 0)
		x, _ := RoundDecimal(v, scale, digits)
		x, _ = Rescale(x, scale, to)
		return oracleCase{fmt.Sprintf("ROUND(%s,%d)", text, digits), FormatDecimal(x, to)}
	case 3:
		to := max(digits, 0)
		x, _ := Rescale(TruncateDecimal(v, scale, digits), scale, to)
		return oracleCase{fmt.Sprintf("TRUNCATE(%s,%d)", text, digits), FormatDecimal(x, to)}
	}
	f := float64(r.IntN(2000)-1000) / 4
	return oracleCase{fmt.Sprintf("CAST(%v AS DECIMAL(10,0))", FormatShortDecimal(int64(f*100), 2)), func() string {
		d, _ := DecimalToInt(Int128FromInt64(int64(f*100)), 2)
		return fmt.Sprint(d)
	}()}
}
