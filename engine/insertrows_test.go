package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// plainly and wholly begin the same INSERT, of one length: a comment of the second sort has the parser read all rows at once.
const plainly, wholly = "          ", "/*!     */"

// rowTypes are the types of columns that the values below are stored in.
var rowTypes = []string{
	"INT", "TINYINT", "BIGINT UNSIGNED", "BOOLEAN", "YEAR", "DECIMAL(10,2)", "DECIMAL(30,4)", "DECIMAL(3,3)", "DOUBLE", "FLOAT", "DATE", "DATETIME", "DATETIME(3)", "TIMESTAMP",
	"TIME", "CHAR(4)", "VARCHAR(6)", "TEXT", "BINARY(3)", "VARBINARY(6)", "BLOB", "ENUM('a','b','x y')", "JSON",
	"VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "INT NOT NULL", "VARCHAR(5) NOT NULL DEFAULT 'dft'", "DECIMAL(6,1) DEFAULT 7.5", "DATETIME DEFAULT CURRENT_TIMESTAMP",
}

// rowValues are values as they are written: of those that are plain many, of the others a few.
var rowValues = []string{
	"0", "1", "-1", "7", "-0", "00012", "127", "128", "-129", "255", "99999", "2147483648", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
	"-9223372036854775809", "123456789012345678", "1234567890123456789012345678901234567890", "0.5", "-0.5", "1.25", "10.005", "10.004", "0.000", "12345678.90", "123456789.01", "99.95", "0.1234567890123456789012345678901",
	"00.50", "1.", ".5", "1e3", "1E-2", "-2.5e10", "1e400", "1e-400", "0.1", "3.4028235e38", "1e39", "NULL", "null", "TRUE", "false", "NULL", "NULL",
	"''", "'a'", "'b'", "'x y'", "'A'", "'ab'", "'ab  '", "'abcdefg'", "'it''s'", `'it\'s'`, `'\n\t\\\0\b\Z\r'`, `'50\%\_'`, `'\q'`, `'"'`, `'""'`, `"dq"`, `"d""q"`, `"it's"`, `"a\"b"`, `"''"`, "'ä'", "'日本'", "'\U0001F600'", `'a\\'`, `'\\\''`,
	"'2024-01-02'", "'2024-02-30'", "'2024-1-2'", "'20240102'", "'0000-00-00'", "'2024-01-02 03:04:05'", "'2024-01-02 03:04:05.6789'", "'2024-01-02T03:04:05'", "'10:11:12'", "'-10:11:12'", "'838:59:59'", "'24'", "20240102", "2024", "24",
	"'12'", "'12.5'", "' 12'", "'12x'", "'1e2'", "'NaN'", "'-0.0'", "'[1, 2]'", "'{\"a\": 1}'", "'\xff'", "x'41'", "X'00ff'", "x'4'", "0x41", "b'01'", "'a' 'b'", "_utf8mb4'a'", "N'a'",
	"DEFAULT", "1 + 1", "CONCAT('a', 'b')", "(1)", "+1", "- 1", "- -1", "DATE '2024-01-02'", "CURRENT_DATE", "1/*c*/", "/*c*/2", "'a,b)'", "'(('", "nil", "1 2", "LEFT('abc', 2)", "--1", "'a'--1",
}

// rowGenerator writes INSERTs.
type rowGenerator struct{ r *rand.Rand }

func (g *rowGenerator) pick(list []string) string { return list[g.r.IntN(len(list))] }

// value is mostly one that its column can hold.
func (g *rowGenerator) value(good []string) string {
	if g.r.IntN(300) == 0 {
		return g.pick(rowValues)
	}
	return g.pick(good)
}

// goodValues are those that an INSERT of one row stores in a column without an error.
func goodValues(t *testing.T, s *Session) map[string][]string {
	good := map[string][]string{}
	for _, typ := range rowTypes {
		mustRun(t, s, "DROP TABLE IF EXISTS probe; CREATE TABLE probe (c "+typ+")")
		for _, v := range rowValues {
			if _, err := run(context.Background(), s, "INSERT INTO probe VALUES ("+v+")"); err == nil {
				good[typ] = append(good[typ], v)
			}
		}
		if len(good[typ]) < 3 {
			t.Fatalf("%s holds %q alone", typ, good[typ])
		}
	}
	return good
}

// outcome is what one can see of an INSERT: its error with the position; its warnings, counts and the rows.
func outcome(s *Session, sql string) (failed, rest string, code sqlerr.Code) {
	var out strings.Builder
	_, err := run(context.Background(), s, sql)
	if e := sqlerr.From(err); e != nil {
		message, _, _ := strings.Cut(e.Message, " near '") // up to the end of what was parsed at once
		code, failed = e.Code, fmt.Sprintf("%s %v %q\n", message, e.Pos, e.Hint)
	} else {
		// A block's values are converted before its rows are stored, so that blocks of other lengths warn in another order.
		var warnings []string
		for _, w := range s.Warnings() {
			warnings = append(warnings, fmt.Sprint(w))
		}
		if slices.Sort(warnings); len(warnings) < 64 { // all of them
			fmt.Fprintf(&out, "%q\n", warnings)
		}
	}
	for _, q := range []string{"SELECT ROW_COUNT()", "SELECT * FROM t", "SELECT COUNT(*) FROM t"} {
		rows, err := run(context.Background(), s, q)
		fmt.Fprintf(&out, "%s %v\n", rows, err)
	}
	return failed, out.String(), code
}

// A long INSERT means what it means when the parser reads it as a whole. RADISH_SEEDS sets how many statements are tried, RADISH_SEED the first.
func TestRowsOfLongInserts(t *testing.T) {
	n, first := 60, 1
	if testing.Short() {
		n = 20
	}
	for name, to := range map[string]*int{"RADISH_SEEDS": &n, "RADISH_SEED": &first} {
		if x, err := strconv.Atoi(os.Getenv(name)); err == nil {
			*to = x
		}
	}
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "SET timestamp = 1700000000")
	good := goodValues(t, s)
	long := 0
	for seed := first; seed < first+n; seed++ {
		g := &rowGenerator{rand.New(rand.NewPCG(uint64(seed), 16))}
		create, insert := g.statement(good)
		var got, failed [2]string
		var codes [2]sqlerr.Code
		for i, comment := range []string{plainly, wholly} {
			mustRun(t, s, "SET sql_mode = DEFAULT; DROP TABLE IF EXISTS t; "+create.table)
			if create.mode != "" {
				mustRun(t, s, "SET sql_mode = "+create.mode)
			}
			sql := strings.Replace(insert, "@@", comment, 1)
			if list, err := s.Parse(sql); i == 0 && err == nil && list[0].Rows != nil {
				long++
			}
			failed[i], got[i], codes[i] = outcome(s, sql)
		}
		// Of several mistakes the one that comes first depends on what is read and stored at once.
		first := codes[0] != 0 && codes[1] != 0 && (codes[0] != codes[1] || rowOf(failed[1]) == 0 || rowOf(failed[0]) < rowOf(failed[1]))
		if got[0] != got[1] || failed[0] != failed[1] && !first {
			t.Fatalf("RADISH_SEED=%d: %s\n%s\n%s\nread by rows:\n%s%s\nas a whole:\n%s%s", seed, create.mode, create.table, insert, failed[0], got[0], failed[1], got[1])
		}
	}
	if long < n/4 {
		t.Errorf("%d of %d statements were read by rows", long, n)
	}
}

// rowOf returns the row that an error names.
func rowOf(message string) (n int) {
	_, number, _ := strings.Cut(message, " at row ")
	_, _ = fmt.Sscan(number, &n) // 0: none
	return n
}

type madeTable struct{ mode, table string }

func (g *rowGenerator) statement(good map[string][]string) (madeTable, string) {
	cols := 1 + g.r.IntN(6)
	create := madeTable{table: "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY"}
	create.mode = g.pick([]string{"", "", "''", "'ANSI_QUOTES,STRICT_TRANS_TABLES'", "'NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES'", "'NO_AUTO_VALUE_ON_ZERO'"})
	names, lists := []string{"id"}, [][]string{{"NULL", "NULL", "NULL", "0"}}
	if g.r.IntN(2) == 0 {
		lists[0] = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}
	}
	for i := range cols {
		typ := g.pick(rowTypes)
		name := fmt.Sprintf("c%d", i)
		create.table += ", " + name + " " + typ
		if g.r.IntN(8) > 0 {
			names, lists = append(names, name), append(lists, good[typ])
		}
	}
	if g.r.IntN(3) == 0 { // which AUTO_INCREMENT does not go with
		create.table = strings.Replace(create.table, " AUTO_INCREMENT", "", 1) + g.pick([]string{", CHECK (id < 300)", ", g INT AS (id + 1)"})
	}
	create.table += ")"
	sql := g.pick([]string{"INSERT", "INSERT", "INSERT IGNORE", "REPLACE"}) + " @@ INTO t (" + strings.Join(names, ", ") + ") VALUES "
	if g.r.IntN(20) == 0 {
		sql = strings.Replace(sql, " (", " /* ( */ (", 1)
	}
	rows := 1 + g.r.IntN(400)
	for r := range rows {
		values := make([]string, len(names))
		for i := range values {
			values[i] = g.value(lists[i])
		}
		if len(lists[0]) == 9 && g.r.IntN(50) > 0 {
			values[0] = strconv.Itoa(r + 1)
		}
		if g.r.IntN(3000) == 0 {
			values = append(values, "1")
		}
		if r > 0 {
			sql += g.pick([]string{",", ", ", ",\n", ",\n", ",\n", " , /* c */ "}[:5+g.r.IntN(40)/39])
		}
		sql += "(" + strings.Join(values, g.pick([]string{",", ", "})) + ")"
	}
	if strings.HasPrefix(sql, "INSERT") && g.r.IntN(4) == 0 {
		sql += g.pick([]string{" ON DUPLICATE KEY UPDATE id = id + 100", " AS n ON DUPLICATE KEY UPDATE id = n.id + 500", " ON DUPLICATE KEY UPDATE id = VALUES(id) + 500, nope = 1"})
	}
	return create, sql + g.pick([]string{"", "", ";", " -- end"})
}

// Preparing a long INSERT, and radish check, find what is wrong with a row far behind.
func TestLongInsertIsBound(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE t (a INT, b INT)")
	rows := "INSERT INTO t VALUES (0, 0)" + strings.Repeat(", (1, 2)", 5000)
	for row, message := range map[string]string{
		"(1, 2)":       "",
		"(1)":          "Column count doesn't match value count at row 5002",
		"(1, x + 1)":   "Unknown column 'x' in 'field list'",
		"(1 + 1, 2)":   "",
		"(1, SUM(1))":  "Invalid use of group function",
		"(1, DEFAULT)": "",
	} {
		list, err := s.Parse(rows + ", " + row)
		if err == nil {
			_, _, err = s.Prepare(context.Background(), list[0])
		}
		e := sqlerr.From(err)
		if e == nil && message != "" || e != nil && (e.Message != message || e.Pos.Offset < len(rows)) {
			t.Errorf("%s: %v, want %s", row, err, message)
		}
	}
}

// The memory that a long INSERT takes is that of its rows and of a block, whatever the length of the text.
func TestLongInsertMemory(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, MemoryLimit: 48 << 20})
	mustRun(t, s, "CREATE TABLE t (a INT, b INT)")
	text := "INSERT INTO t VALUES (0, 0)" + strings.Repeat(", (1, 2)", 2_000_000) // 16 MB
	if list, err := s.Parse(text); err != nil {
		t.Fatal(err)
	} else if _, err := s.Execute(context.Background(), list[0], nil); err != nil {
		t.Fatal(err)
	}
	if got := mustRun(t, s, "SELECT COUNT(*), SUM(b) FROM t"); got != "2000001|4000000\n" {
		t.Error(got)
	}
}
