package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// byRule is what the reference says that an operation on doubles gives: IEEE 754's result, but error 1690 where finite operands make
// one that is not finite, and NULL for a division by 0.
func byRule(op string, a, b special) string {
	if a.null() || b.null() {
		return "NULL"
	}
	var r float64
	switch op {
	case "+":
		r = a.f + b.f
	case "-":
		r = a.f - b.f
	case "*":
		r = a.f * b.f
	case "/", "%":
		if b.f == 0 {
			return "NULL"
		}
		if r = a.f / b.f; op == "%" {
			r = math.Mod(a.f, b.f)
		}
	}
	finite := func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
	switch {
	case !finite(r) && finite(a.f) && finite(b.f):
		return "error"
	case math.IsNaN(r):
		return "NaN"
	case math.IsInf(r, 0):
		return strings.Replace(fmt.Sprint(r), "Inf", "Infinity", 1)[map[bool]int{true: 1}[r > 0]:]
	}
	return types.FormatFloat(r)
}

// TestFloatArithmetic compares operators and functions of doubles with IEEE 754 and the rule for overflow, for all pairs of values.
func TestFloatArithmetic(t *testing.T) {
	t.Run("cpu", func(t *testing.T) {
		testFloatArithmetic(t, newSession(t, database.Options{Threads: 2, Device: gpu.Never}))
	})
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "SET radish_device = 'gpu_strict'")
		testFloatArithmetic(t, s)
	})
}

func testFloatArithmetic(t *testing.T, s *Session) {
	for _, op := range []string{"+", "-", "*", "/", "%"} {
		var good, bad [][]special
		for _, a := range specials {
			for _, b := range specials {
				if byRule(op, a, b) == "error" {
					bad = append(bad, []special{a, b})
				} else {
					good = append(good, []special{a, b})
				}
			}
		}
		give(t, s, "DROP TABLE IF EXISTS good; CREATE TABLE good AS SELECT * FROM given", floatTable(t, "given", good))
		var want []string
		for i, p := range good {
			want = append(want, fmt.Sprintf("%d|%s|", i, byRule(op, p[0], p[1])))
		}
		sameRows(t, s, "SELECT id, a "+op+" b FROM good", want)
		if len(bad) == 0 {
			continue
		}
		give(t, s, "DROP TABLE IF EXISTS bad; CREATE TABLE bad AS SELECT * FROM given", floatTable(t, "given", bad))
		for i := range bad {
			if _, err := with(s, "SELECT a "+op+" b FROM bad WHERE id = ?", types.IntValue(int64(i))); !errors.Is(err, sqlerr.CodeDataOutOfRange) {
				t.Errorf("%v %s %v: %v, want an error", bad[i][0].f, op, bad[i][1].f, err)
			}
		}
	}

	inf, ninf, nan := special{math.Inf(1), 8}, special{math.Inf(-1), 0}, special{math.NaN(), 9}
	give(t, s, "CREATE TABLE f AS SELECT * FROM given", floatTable(t, "given", [][]special{{inf}, {ninf}, {nan}}))
	for _, f := range []struct{ sql, inf, ninf, nan string }{
		{"-a", "-Infinity", "Infinity", "NaN"}, {"ABS(a)", "Infinity", "Infinity", "NaN"}, {"SQRT(a)", "Infinity", "NULL", "NaN"},
		{"FLOOR(a)", "Infinity", "-Infinity", "NaN"}, {"CEIL(a)", "Infinity", "-Infinity", "NaN"}, {"ROUND(a, 2)", "Infinity", "-Infinity", "NaN"},
		{"TRUNCATE(a, -2)", "Infinity", "-Infinity", "NaN"}, {"EXP(a)", "Infinity", "0", "NaN"}, {"LN(a)", "Infinity", "NULL", "NaN"},
		{"LOG10(a)", "Infinity", "NULL", "NaN"}, {"LOG(2, a)", "Infinity", "NULL", "NaN"}, {"SIN(a)", "NaN", "NaN", "NaN"}, {"ASIN(a)", "NULL", "NULL", "NaN"},
		{"ATAN(a) > 0", "1", "0", "1"}, {"POW(a, 2)", "Infinity", "Infinity", "NaN"}, {"POW(a, 0)", "1", "1", "1"}, {"SIGN(a)", "1", "-1", "1"},
	} {
		sameRows(t, s, "SELECT id, "+f.sql+" FROM f", []string{"0|" + f.inf + "|", "1|" + f.ninf + "|", "2|" + f.nan + "|"})
	}
}

// TestFloatSums is of SUM, AVG and variances of groups with special values, and of sums that overflow.
func TestFloatSums(t *testing.T) {
	t.Run("cpu", func(t *testing.T) { testFloatSums(t, newSession(t, database.Options{Threads: 2, Device: gpu.Never})) })
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "SET radish_device = 'gpu'")
		testFloatSums(t, s)
	})
}

func testFloatSums(t *testing.T, s *Session) {
	number := func(f float64) special { return special{f, 0} }
	inf, ninf, nan, most := number(math.Inf(1)), number(math.Inf(-1)), number(math.NaN()), number(math.MaxFloat64)
	for i, tc := range []struct {
		values             []special
		sum, avg, variance string
	}{
		{[]special{number(1), number(2)}, "3", "1.5", "0.25"},
		{[]special{number(1), inf, number(2)}, "Infinity", "Infinity", "NaN"},
		{[]special{inf, inf}, "Infinity", "Infinity", "NaN"},
		{[]special{ninf, number(5)}, "-Infinity", "-Infinity", "NaN"},
		{[]special{ninf, number(5), inf}, "NaN", "NaN", "NaN"},
		{[]special{number(1), nan}, "NaN", "NaN", "NaN"},
		{[]special{nan, number(1), inf}, "NaN", "NaN", "NaN"},
		{[]special{inf}, "Infinity", "Infinity", "NaN"},
		{[]special{most, most}, "error", "error", ""},
		{[]special{most, most, inf}, "Infinity", "Infinity", "NaN"},
		{[]special{ninf, most, most}, "-Infinity", "-Infinity", "NaN"},
		{[]special{most, number(-math.MaxFloat64)}, "0", "0", "error"},
	} {
		var rows [][]special
		for _, v := range tc.values {
			rows = append(rows, []special{v, number(float64(i))})
		}
		give(t, s, "DROP TABLE IF EXISTS x; CREATE TABLE x AS SELECT * FROM given", floatTable(t, "given", rows))
		for what, want := range map[string]string{"SUM": tc.sum, "AVG": tc.avg, "VAR_POP": tc.variance} {
			n := len(tc.values)
			for sql, times := range map[string]int{
				what + "(a) FROM x": 1, what + "(a) FROM x GROUP BY b": 1, what + "(a) FROM x GROUP BY CAST(b AS CHAR)": 1,
				what + "(a) OVER () FROM x": n, what + "(a) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM x": n,
			} {
				switch want {
				case "": // what it gives is no matter of special values
				case "error":
					if _, err := with(s, "SELECT "+sql); !errors.Is(err, sqlerr.CodeDataOutOfRange) {
						t.Errorf("SELECT %s of %v: %v, want an error", sql, tc.values, err)
					}
				default:
					var rows []string
					for range times {
						rows = append(rows, want+"|")
					}
					sameRows(t, s, "SELECT "+sql, rows)
				}
			}
		}
	}
}

// TestFloatStrings is of what special doubles become, and of what becomes one.
func TestFloatStrings(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, "SET sql_mode = 'STRICT_TRANS_TABLES'; CREATE TABLE d (x DOUBLE, y FLOAT)")
	nan, inf, ninf, zero := types.FloatValue(math.NaN()), types.FloatValue(math.Inf(1)), types.FloatValue(math.Inf(-1)), types.FloatValue(math.Copysign(0, -1))
	all := []types.Value{nan, inf, ninf, zero}
	for _, tc := range []struct {
		sql  string
		want string // for NaN, Infinity, -Infinity and -0
	}{
		{"CAST(? AS CHAR)", "NaN Infinity -Infinity -0"},
		{"CONCAT('<', ?, '>')", "<NaN> <Infinity> <-Infinity> <-0>"},
		{"CAST(? AS FLOAT)", "NaN Infinity -Infinity -0"},
		{"CAST(? AS SIGNED)", "0 9223372036854775807 -9223372036854775808 0"},
		{"CAST(? AS UNSIGNED)", "0 18446744073709551615 0 0"},
		{"CAST(? AS DECIMAL(5,2))", "0.00 999.99 -999.99 0.00"},
		{"CAST(? AS DATE) IS NULL", "1 1 1 1"},
		{"CAST(? AS DATETIME) IS NULL", "1 1 1 1"},
		{"CAST(? AS TIME) IS NULL", "1 1 1 0"},
		{"FORMAT(?, 2)", "NaN Infinity -Infinity 0.00"},
		{"JSON_ARRAY(?)", `["NaN"] ["Infinity"] ["-Infinity"] [-0.0]`},
		{"JSON_OBJECT('k', ?)", `{"k": "NaN"} {"k": "Infinity"} {"k": "-Infinity"} {"k": -0.0}`},
		{"CAST(? AS JSON)", `"NaN" "Infinity" "-Infinity" -0.0`},
		{"CAST(CAST(? AS CHAR) AS DOUBLE)", "NaN Infinity -Infinity -0"},
		{"? + 0", "NaN Infinity -Infinity 0"},
		{"? IS NULL", "0 0 0 0"},
		{"IF(?, 'true', 'false')", "true true true false"},
	} {
		var got []string
		for _, v := range all {
			rows, err := with(s, "SELECT "+tc.sql, v)
			if err != nil {
				t.Errorf("%s of %v: %v", tc.sql, v.F, err)
				continue
			}
			got = append(got, strings.TrimSuffix(rows[0], "|"))
		}
		want := strings.ReplaceAll(tc.want, "\": ", "\":")
		if strings.ReplaceAll(strings.Join(got, " "), "\": ", "\":") != want {
			t.Errorf("%s: %s, want %s", tc.sql, strings.Join(got, " "), tc.want)
		}
	}
	// The words are doubles where a column or a CAST asks for one, and strings that begin with no number elsewhere.
	for sql, want := range map[string]string{
		"SELECT CAST('NaN' AS DOUBLE), CAST(' -inf ' AS DOUBLE), CAST('+Infinity' AS DOUBLE), CAST('-nan' AS FLOAT)": "NaN|-Infinity|Infinity|NaN|",
		"SELECT CAST('Infinit' AS DOUBLE), CAST('nano' AS DOUBLE), CAST('--inf' AS DOUBLE), CAST('' AS DOUBLE)":      "0|0|0|0|",
		"SELECT 'NaN' = 0, 'Infinity' + 1, 'nan' < 1e0, CAST('NaN' AS SIGNED), SQRT('inf')":                          "1|1|1|0|0|",
		"SELECT CAST(v AS DOUBLE), v + 1 FROM (SELECT 'NaN' v) q":                                                    "NaN|1|",
		"SELECT CAST('NaN' AS DOUBLE) = CAST('nan' AS DOUBLE), CAST('inf' AS DOUBLE) < CAST('NaN' AS DOUBLE)":        "1|1|",
	} {
		sameRows(t, s, sql, []string{want})
	}
	mustRun(t, s, "INSERT INTO d VALUES ('NaN', '-Infinity'), (' inf', 'nan'), (-0e0, -0e0)")
	sameRows(t, s, "SELECT * FROM d", []string{"NaN|-Infinity|", "Infinity|NaN|", "-0|-0|"})
	for _, bad := range []string{"'Infinit'", "'nano'", "'x'"} {
		if _, err := with(s, "INSERT INTO d VALUES ("+bad+", 1)"); err == nil {
			t.Errorf("%s is taken as a DOUBLE", bad)
		}
	}
	mustRun(t, s, "CREATE TABLE i (n INT, m DECIMAL(5,2), d DATE, t TEXT)")
	for _, column := range []string{"n", "m", "d"} {
		for _, v := range all[:3] {
			if _, err := with(s, "INSERT INTO i ("+column+") VALUES (?)", v); err == nil {
				t.Errorf("%v is stored in %s", v.F, column)
			}
		}
	}
	// Defaults and their statement.
	mustRun(t, s, "CREATE TABLE def (a DOUBLE DEFAULT 'NaN', b DOUBLE DEFAULT '-inf', c DOUBLE DEFAULT -0e0)")
	create := mustRun(t, s, "SHOW CREATE TABLE def")
	for _, want := range []string{"DEFAULT 'NaN'", "DEFAULT '-Infinity'", "DEFAULT '-0'"} {
		if !strings.Contains(create, want) {
			t.Errorf("SHOW CREATE TABLE has no %s: %s", want, create)
		}
	}
	_, text, _ := strings.Cut(create, "|")
	mustRun(t, s, "DROP TABLE def; "+strings.TrimSpace(strings.ReplaceAll(text, `\n`, "\n"))+"; INSERT INTO def VALUES ()")
	sameRows(t, s, "SELECT * FROM def", []string{"NaN|-Infinity|-0|"})
	if _, err := with(s, "SELECT SUM(x) OVER (ORDER BY x RANGE ? PRECEDING) FROM d", nan); err == nil {
		t.Error("NaN is taken as the distance of a frame")
	}
}

// TestFloatFiles takes special doubles through files of all formats.
func TestFloatFiles(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	var rows [][]special
	for _, v := range specials {
		rows = append(rows, []special{v})
	}
	give(t, s, "CREATE TABLE v AS SELECT * FROM given", floatTable(t, "given", rows))
	var want bytes.Buffer
	for i, v := range specials {
		text := v.text()
		if v.rank == 4 && math.Signbit(v.f) {
			text = "-0"
		}
		fmt.Fprintf(&want, "%d|%s|;", i, text)
	}
	for _, ending := range []string{"parquet", "arrow", "csv", "tsv", "jsonl"} {
		path := dir + "/v." + ending
		mustRun(t, s, "SELECT * FROM v ORDER BY id INTO OUTFILE '"+path+"'")
		got, err := with(s, "SELECT id, a FROM `"+path+"` ORDER BY id")
		if err != nil || strings.Join(got, ";")+";" != want.String() {
			t.Errorf("%s: %v, %v\nwant %s", ending, got, err, want.String())
		}
		if got, err = with(s, "SELECT COUNT(*) FROM `"+path+"` WHERE a > 1.6"); err != nil || got[0] != "6|" {
			t.Errorf("%s: %v above 1.6, %v", ending, got, err)
		}
	}
}

// TestSignsOfZeros: 0 and -0 are equal and one group, but a subquery sees the outer row's own.
func TestSignsOfZeros(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, Device: gpu.Never})
	mustRun(t, s, `CREATE TABLE o (id INT, f DOUBLE, k INT); INSERT INTO o VALUES (1, 0e0, 1), (2, -0e0, 1), (3, 1.5e0, 1), (4, -0e0, 2), (5, NULL, 1), (6, -2e0, 2);
		CREATE TABLE i (b INT, k INT); INSERT INTO i VALUES (1, 1), (2, 1), (4, 2)`)
	for query, want := range map[string][]string{
		"SELECT id, (SELECT s FROM (SELECT CONCAT(o.f) AS s, COUNT(*) FROM i WHERE i.k = o.k GROUP BY s) AS x) FROM o":        {"1|0|", "2|-0|", "3|1.5|", "4|-0|", "5|NULL|", "6|-2|"},
		"SELECT id, (SELECT MAX(CONCAT(o.f, ':', i.b)) FROM i WHERE i.k >= o.k) FROM o":                                       {"1|0:4|", "2|-0:4|", "3|1.5:4|", "4|-0:4|", "5|NULL|", "6|-2:4|"},
		"SELECT id, q FROM o, LATERAL (SELECT CONCAT(o.f, ':', i.b) AS q FROM i WHERE i.k = o.k ORDER BY i.b LIMIT 1) AS x":   {"1|0:1|", "2|-0:1|", "3|1.5:1|", "4|-0:4|", "5|NULL|", "6|-2:4|"},
		"SELECT id, (SELECT o.f FROM i WHERE i.k = o.k ORDER BY i.b DESC LIMIT 1) FROM o":                                     {"1|0|", "2|-0|", "3|1.5|", "4|-0|", "5|NULL|", "6|-2|"},
		"SELECT id FROM o WHERE '-0' IN (SELECT CONCAT(o.f) FROM i WHERE i.k >= o.k UNION SELECT i.b FROM i WHERE i.b = o.k)": {"2|", "4|"},
		"SELECT f, CONCAT(f), COUNT(*) FROM o GROUP BY f, CONCAT(f)":                                                          {"0|0|1|", "0|-0|2|", "1.5|1.5|1|", "NULL|NULL|1|", "-2|-2|1|"},
		"SELECT x.f, c, COUNT(*) FROM (SELECT f, CONCAT(f) AS c FROM o) AS x GROUP BY x.f, c":                                 {"0|0|1|", "0|-0|2|", "1.5|1.5|1|", "NULL|NULL|1|", "-2|-2|1|"},
	} {
		sameRows(t, s, query, want)
	}
}
