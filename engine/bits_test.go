package engine

import (
	"strings"
	"testing"
)

// TestBits: hexadecimal and bit literals where MySQL differs from MariaDB, which wrote what test/sqllogic/testdata/bits.slt expects. The answers are those of MySQL's
// Reference Manual 11.1.4 and 11.1.5, and of its code.
func TestBits(t *testing.T) {
	s := session(t, Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (n INT, d DECIMAL(30,2), f DOUBLE, v VARCHAR(9), b BLOB)")
	mustRun(t, s, "SET @a = 0x41, @n = 65; PREPARE p FROM 'SELECT ? = 0x41, 0x41 IN (?), ? + 0x1'")
	for _, c := range []struct{ sql, want string }{
		{"SELECT x'41' + 0, X'41' = 65, b'1000001' = 65, 65 IN (1, x'41')", "65|1|1|1"},
		{"INSERT INTO t VALUES (5, 5, 5, x'35', x'35'), (x'10', x'10', x'10', x'41', x'41'), (b'101', 0x5, 0b101, 0x35, 0x35); SELECT * FROM t", "5|5.00|5|5|5\n16|16.00|16|A|A\n5|5.00|5|5|5"},
		{"SELECT @a = 65, @a + 0, @a = 'A'", "0|0|1"},
		{"EXECUTE p USING @n, @n, @n", "1|1|66"},
		{"SELECT 0x112233445566778899 + 0, 0x112233445566778899 = 0x2233445566778899 + 0, HEX(0x112233445566778899)", "2464388554683811993|1|112233445566778899"},
		{"SELECT COUNT(*) FROM t WHERE n = x'10' OR v = x'41' AND d = 0x10", "1"},
		{"SELECT x + 0, x = 'A' FROM (SELECT x'41' AS x UNION ALL SELECT 'B') AS u ORDER BY x LIMIT 1", "0|1"},
	} {
		if got := strings.TrimSpace(mustRun(t, s, c.sql)); got != c.want {
			t.Errorf("%s: %q, want %q", c.sql, got, c.want)
		}
	}
	for _, sql := range []string{
		"INSERT INTO t (n) VALUES (0x112233445566778899)",
		"INSERT INTO t (d) VALUES (0x112233445566778899)",
		"INSERT INTO t (n) VALUES (1), (x'112233445566778899')",
		"UPDATE t SET n = 0xFFFFFFFFFF",
	} {
		if _, err := run(t.Context(), s, sql); err == nil || !strings.Contains(err.Error(), "Out of range value") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// MySQL asks what is chosen for its number, so that a literal is one even where strings and other numbers are among the choices.
func TestBitsThatAreChosen(t *testing.T) {
	s := session(t, Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (c INT); INSERT INTO t VALUES (1), (0), (NULL)")
	for sql, want := range map[string]string{
		"SELECT SUM(IF(c, 0x41, 1)), SUM(IF(c, 1, 0x41)) FROM t":                                                                      "67|131",
		"SELECT IF(1, 0x41, 1) = 65, CASE WHEN 1 THEN 0x41 ELSE 2 END = 65, COALESCE(0x41, 1) + 0, IFNULL(NULL, 0x41) * 2":            "1|1|0|0",
		"SELECT IF(1, IF(0, 1, 0x41), 'a') + 0, IF(0, 0x41, '7') + 0, -IF(1, 0x41, 1), ABS(CASE 1 WHEN 1 THEN 0x41 ELSE 1.5 END)":     "65|7|-65|65",
		"SELECT IF(IF(1, 0x00, 1), 'y', 'n'), BIT_COUNT(IF(1, 0xFF, 1)), CAST(IF(1, 0x41, 1) AS SIGNED), LEFT('abc', IF(1, 0x02, 1))": "n|8|65|ab",
		"SELECT IF(1, 0x41, 1) = 'A', CONCAT(COALESCE(0x41, 1)), CAST(0x41 AS CHAR) + 0, IF(1, CAST(0x41 AS BINARY), 1) + 0":          "1|A|0|0",
		"SELECT SUM(x) FROM (SELECT IF(c, 0x41, 1) AS x FROM t) AS d":                                                                 "67",
	} {
		if got := mustRun(t, s, sql); got != want+"\n" {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
