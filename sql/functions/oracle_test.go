package functions_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that MariaDB has as MySQL has them, each with the kinds of operands that its random calls get; see randomOperand.
// The SQL form is the call itself unless the third part gives another, with %s for each operand.
var oracleCalls = []struct{ fn, operands, form string }{
	{"hour", "t", ""}, {"minute", "t", ""}, {"second", "t", ""}, {"microsecond", "t", ""},
	{"dayname", "d", ""}, {"monthname", "d", ""}, {"weekofyear", "d", ""}, {"week", "dm", ""}, {"yearweek", "dm", ""},
	{"to_days", "d", ""}, {"to_seconds", "d", ""}, {"last_day", "d", ""}, {"date", "d", ""}, {"time", "t", ""}, {"timestamp", "d", ""}, {"timestamp", "dt", ""},
	{"from_days", "x", ""}, {"makedate", "yn", ""}, {"sec_to_time", "N", ""}, {"time_to_sec", "t", "TRUNCATE(TIME_TO_SEC(%s), 0)"}, {"maketime", "nnn", ""},
	{"datediff", "dd", ""}, {"timediff", "TT", ""}, {"timediff", "DD", ""}, {"addtime", "Dt", ""}, {"addtime", "TT", ""}, {"subtime", "Dt", ""}, {"subtime", "tT", ""},
	{"date_format", "df", ""}, {"time_format", "TF", ""}, {"unix_timestamp", "M", ""}, {"from_unixtime", "N", ""},
	{"timestampdiff", "udd", "TIMESTAMPDIFF(%s,%s,%s)"}, {"timestampadd", "und", "TIMESTAMPADD(%s,%s,%s)"},
	{"adddate", "dnU", "ADDDATE(%s, INTERVAL %s %s)"}, {"subdate", "dnU", "SUBDATE(%s, INTERVAL %s %s)"},
	{"dateliteral", "e", "DATE %s"},
	{"convert_tz", "Mzz", ""},
	{"lpad", "snp", ""}, {"rpad", "snp", ""}, {"repeat", "sn", ""}, {"space", "n", ""}, {"substring_index", "scn", ""}, {"insert", "snns", ""},
	{"strcmp", "ss", ""}, {"find_in_set", "cl", ""}, {"soundex", "w", ""}, {"quote", "s", ""}, {"bit_length", "s", ""}, {"ascii", "s", ""}, {"ord", "s", ""},
	{"field", "ssss", ""}, {"field", "nnnn", ""}, {"elt", "nsss", ""}, {"make_set", "nsss", ""}, {"export_set", "nsscn", ""},
	{"hex", "s", ""}, {"hex", "N", ""}, {"bin", "N", ""}, {"oct", "N", ""}, {"unhex", "h", ""}, {"to_base64", "s", ""},
	{"md5", "s", ""}, {"sha1", "s", ""}, {"sha2", "sb", ""}, {"format", "qm", ""}, {"format", "Nm", ""},
	{"inet_aton", "i", ""}, {"inet_ntoa", "N", ""}, {"is_ipv4", "i", ""}, {"crc32", "s", ""},
	{"concat", "sns", ""}, {"concat_ws", "csns", ""}, {"substring", "sn", ""}, {"substring", "snn", ""}, {"left", "sn", ""}, {"right", "sn", ""},
	{"locate", "cs", ""}, {"locate", "pwn", ""}, {"instr", "sc", ""}, {"replace", "scs", ""}, {"reverse", "s", ""}, {"upper", "w", ""}, {"lower", "w", ""},
	{"trim", "s", ""}, {"trim", "sc", "TRIM(%[2]s FROM %[1]s)"}, {"trim", "scL", "TRIM(%[3]s %[2]s FROM %[1]s)"}, {"ltrim", "s", ""}, {"rtrim", "s", ""}, {"char_length", "s", ""},
}

// TestFunctionsAgainstMariaDB compares random calls with a MariaDB server. It runs where RADISH_MARIADB_SOCKET names the
// server's socket and the program mariadb is installed; the server's user is root without a password.
func TestFunctionsAgainstMariaDB(t *testing.T) {
	socket := os.Getenv("RADISH_MARIADB_SOCKET")
	if socket == "" {
		t.Skip("RADISH_MARIADB_SOCKET names no server")
	}
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RADISH_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("RADISH_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	const perCall = 150
	var sql, got []string
	for _, call := range oracleCalls {
		for range perCall {
			text, args := oracleCall(r, call.fn, call.operands, call.form)
			result, err := exprtest.CallText(t, exprtest.NewContext(), call.fn, args...)
			if err != nil {
				result = "an error"
			}
			sql, got = append(sql, text), append(got, result)
		}
	}
	want := askServer(t, socket, sql)
	failures := map[string]int{}
	for i := range sql {
		if got[i] == want[i] || knownDifference(got[i], want[i]) {
			continue
		}
		if fn := oracleCalls[i/perCall].fn; failures[fn] < 4 {
			failures[fn]++
			t.Errorf("%s = %q, MariaDB says %q", sql[i], got[i], want[i])
		}
	}
}

// knownDifference: MariaDB's zero may have a sign; its longest TIME has a fraction, MySQL's and ours is 838:59:59; text plus
// an interval of microseconds has a fraction in MariaDB even if that is 0.
func knownDifference(got, want string) bool {
	return got+".000000" == want && len(got) == len("2000-01-01 00:00:00") || strings.Trim(want, "-0.:") == "" && strings.TrimPrefix(want, "-") == got ||
		strings.HasPrefix(strings.TrimPrefix(want, "-"), "838:59:59.9") && strings.HasPrefix(strings.TrimPrefix(got, "-"), "838:59:59")
}

func oracleCall(r *rand.Rand, fn, operands, form string) (sql string, args []any) {
	var texts []any
	for _, kind := range operands {
		v, text := randomOperand(r, byte(kind))
		args, texts = append(args, v), append(texts, text)
	}
	if form == "" {
		form = fn + "(" + strings.TrimSuffix(strings.Repeat("%s,", len(texts)), ",") + ")"
	}
	return fmt.Sprintf(form, texts...), args
}

// randomOperand makes a random operand of a kind and its SQL text.
func randomOperand(r *rand.Rand, kind byte) (types.Value, string) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	str := func(s string) (types.Value, string) {
		return types.StringValue(s), "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
	}
	integer := func(n int64) (types.Value, string) { return types.IntValue(n), strconv.FormatInt(n, 10) }
	days := int64(r.IntN(60000) - 20000)
	if r.IntN(10) == 0 {
		days = int64(r.IntN(types.MaxDate-types.MinDate-800)) + types.MinDate + 400
	}
	fsp := []int{0, 0, 3, 6}[r.IntN(4)]
	micros := r.Int64N(types.MicrosPerDay)
	micros -= micros % types.Pow10(types.MaxFsp-fsp)
	span := micros + r.Int64N(20)*types.MicrosPerDay
	if r.IntN(3) == 0 {
		span = -span
	}
	switch kind {
	case 'e': // a date as text, now and then none
		if r.IntN(8) == 0 {
			return str(pick("2024-02-30", "2023-13-01", "2020-01-01 10:00:00"))
		}
		return str(string(types.AppendDate(nil, days)))
	case 'd':
		switch r.IntN(6) {
		case 0:
			return randomOperand(r, 'D')
		case 1:
			return str(string(types.AppendDate(nil, days)))
		case 2:
			return str(pick("2024-02-30", "no date", "2023-13-01", "20240131", "1999-12-31 23:59:59"))
		}
		return types.Value{Type: types.Date, I: days}, "DATE'" + string(types.AppendDate(nil, days)) + "'"
	case 'D':
		text := string(types.AppendDatetime(nil, days*types.MicrosPerDay+micros, fsp))
		return types.Value{Type: types.DatetimeFsp(fsp), I: days*types.MicrosPerDay + micros}, "TIMESTAMP'" + text + "'"
	case 'T':
		return types.Value{Type: types.TimeFsp(fsp), I: span}, "TIME'" + types.FormatTime(span, fsp) + "'"
	case 't':
		switch r.IntN(4) {
		case 0:
			return str(types.FormatTime(span, fsp))
		case 1:
			return str(pick("10:11", "101112", "1 10:11:12.5", "10:61:00", "-5", "9:8:7"))
		}
		return randomOperand(r, 'T')
	case 'M': // a DATETIME that a TIMESTAMP of 32 bits can be
		v := types.Value{Type: types.DatetimeFsp(fsp), I: int64(400+r.IntN(24000))*types.MicrosPerDay + micros}
		return v, "TIMESTAMP'" + v.Text() + "'"
	case 'x': // a day number
		return integer(int64(366 + r.IntN(3000000)))
	case 'p':
		return str(pick("a", "xyz", "né", " ", "0"))
	case 'L':
		side := pick("LEADING", "TRAILING", "BOTH")
		return types.StringValue(side), side
	case 'm':
		return integer(int64(r.IntN(8)))
	case 'n':
		return integer(int64(r.IntN(14) - 3))
	case 'N':
		return integer([]int64{0, 1, -1, 59, 3600, 100000, 735000, 167773449, 2147483647, 1700000000, -12345}[r.IntN(11)])
	case 'y':
		return integer(int64([]int{0, 5, 69, 70, 99, 1000, 1999, 2024, 9999}[r.IntN(9)]))
	case 'q':
		d := exprtest.Dec(fmt.Sprintf("%d.%03d", r.IntN(20000000)-10000000, r.IntN(1000)))
		return d, d.Text()
	case 'u':
		u := pick("MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
		return types.StringValue(u), u
	case 'U':
		u := pick("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "DAY_HOUR", "YEAR_MONTH")
		return types.StringValue(u), u
	case 'f':
		return str(pick("%W %M %Y", "%a %b %c %D %d", "%e %f %H %h %I %i", "%j %k %l %m %p", "%r %S %s %T", "%U %u %V %v %w", "%X %x %y %%", "%Y-%m-%d x"))
	case 'F':
		return str(pick("%H:%i:%s", "%k %l %h %I", "%f %p %r", "%T %S", "%%x"))
	case 'z':
		return str(pick("+00:00", "+10:00", "-05:30", "+13:00", "-12:59", "+15:00", "nowhere"))
	case 's':
		return str(pick("", "a", "abc", "aXbXc", "Quadratically", "né海", "a,b,,c", "don't", `b\c`, "  pad ", "aaaa", "123"))
	case 'w':
		return str(pick("", "Hello", "Quadratically", "Tymczak", "Pfister", "Ashcraft", "Honeyman", "a1b2", "BRAVO", "x-y", "Robert", "Lloyd"))
	case 'c':
		return str(pick("a", "aa", "X", ",", "", "b", "é", " "))
	case 'l':
		return str(pick("", "a", "a,b", "a,,b", ",", "b,a,", "X,aa,b"))
	case 'h':
		return str(pick("", "41", "4142", "414", "GG", "e6b5b7", "4d7953514c"))
	case 'b':
		return integer(int64([]int{0, 224, 256, 384, 512, 1}[r.IntN(6)]))
	default: // i: an IPv4 address or nearly
		return str(pick("10.0.5.9", "127.1", "1.2.3.4", "255.255.255.255", "256.1.1.1", "1.2.3", "a.b", "", "1.2.3.4.5"))
	}
}

// askServer returns the answers of a server to expressions, as text.
func askServer(t *testing.T, socket string, exprs []string) []string {
	var script bytes.Buffer
	script.WriteString("SET sql_mode='STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO', time_zone='+00:00', timestamp=1710508455.123456;\n")
	script.WriteString("SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin;\n")
	for i, e := range exprs {
		fmt.Fprintf(&script, "SELECT %d, %s;\n", i, e)
	}
	cmd := exec.Command("mariadb", "--no-defaults", "-S", socket, "-uroot", "-N", "-B", "--raw", "--force", "--default-character-set=utf8mb4")
	cmd.Stdin = &script
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output() // a statement's error makes the exit status 1; its case then has no answer
	answers := make([]string, len(exprs))
	for i := range answers {
		answers[i] = "an error"
	}
	last := 0
	for line := range strings.Lines(string(out)) {
		number, text, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		i, err := strconv.Atoi(number)
		if !found || err != nil {
			answers[last] += "\n" + strings.TrimSuffix(line, "\n") // a text of several lines
			continue
		}
		answers[i], last = text, i
	}
	if stderr.Len() > 0 {
		t.Log(stderr.String()[:min(stderr.Len(), 1000)])
	}
	return answers
}
