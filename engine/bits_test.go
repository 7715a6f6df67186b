package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// TestBits: hexadecimal and bit literals where MySQL differs from MariaDB, which wrote what test/sqllogic/testdata/bits.slt expects. The answers are those of MySQL's
// Reference Manual 11.1.4 and 11.1.5, and of its code.
func TestBits(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
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
	s := newSession(t, database.Options{Threads: 1})
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

// A set operation or DISTINCT behind IN, ANY or ALL compares as its queries do by themselves, which MySQL puts the comparison into.
func TestBitsOfSetOperations(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, `CREATE TABLE t (i INT, d DECIMAL(10,2), f DOUBLE, s VARCHAR(9), y YEAR, b BIGINT UNSIGNED);
		INSERT INTO t VALUES (65, 65, 65, 'A', 1965, 65), (66, 66, 66, 'B', 1966, 66), (66, 66, 66, 'B', 1966, 66), (1, 1.5, 1.5, '65', 2001, 1), (0, 0, 0, '', 2000, 0), (NULL, NULL, NULL, NULL, NULL, NULL)`)
	queries := []string{
		"SELECT 0x41", "SELECT b'1000010' FROM t", "SELECT 66", "SELECT '66'", "SELECT NULL", "SELECT 1.5", "SELECT IF(i > 65, 0x41, 0x01) FROM t",
		"SELECT DISTINCT 0x41 FROM t", "SELECT x FROM (SELECT 0x42 AS x FROM t) AS d", "SELECT i FROM t", "SELECT d FROM t WHERE i = 1", "SELECT 0x41 WHERE FALSE",
	}
	forms := []struct{ form, and string }{
		{"%s IN (%s)", "OR"}, {"%s NOT IN (%s)", "AND"}, {"%s = ANY (%s)", "OR"}, {"%s <> ALL (%s)", "AND"}, {"%s > ANY (%s)", "OR"}, {"%s <= ALL (%s)", "AND"}, {"%s <> ANY (%s)", "OR"},
	}
	for i, left := range queries {
		for k, right := range queries[i:] {
			if testing.Short() && (i+k)%16 > 0 { // one thread has nothing for the race detector
				continue
			}
			for _, arg := range []string{"o.i", "o.d", "o.f", "o.b", "o.y - 1900"} {
				for _, f := range forms {
					a, b := fmt.Sprintf(f.form, arg, left), fmt.Sprintf(f.form, arg, right)
					want := mustRun(t, s, fmt.Sprintf("SELECT i, (%s) %s (%s) FROM t AS o ORDER BY 1, 2", a, f.and, b))
					for _, all := range []string{left + " UNION " + right, left + " UNION ALL " + right + " ORDER BY 1", "(" + left + " UNION " + right + ") UNION ALL " + left} {
						sql := fmt.Sprintf("SELECT i, "+f.form+" FROM t AS o ORDER BY 1, 2", arg, all)
						if got := mustRun(t, s, sql); got != want && strings.Contains(left+right, "0x") {
							t.Fatalf("%s:\n%swant\n%s", sql, got, want)
						}
					}
				}
			}
		}
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM t WHERE s IN (SELECT 0x41 UNION SELECT 0x42)":                                            "3",
		"SELECT COUNT(*) FROM t WHERE (i, s) IN (SELECT 0x41, 'a' UNION SELECT 0x42, 'B')":                             "2",
		"SELECT COUNT(*) FROM t WHERE s IN (SELECT DISTINCT 0x41 FROM t EXCEPT ALL SELECT 0x41)":                       "0",
		"SELECT COUNT(*) FROM t WHERE i IN (SELECT DISTINCT 0x41 FROM t EXCEPT ALL SELECT 0x41)":                       "0",
		"SELECT COUNT(*) FROM t WHERE (i, s) IN (SELECT 0x41, 0x41 UNION SELECT 0x42, 0x42)":                           "3",
		"SELECT COUNT(*) FROM t WHERE i IN (SELECT 0x41 INTERSECT SELECT 0x41)":                                        "1",
		"SELECT COUNT(*) FROM t WHERE i IN (SELECT DISTINCT 0x42 FROM t ORDER BY 1)":                                   "2",
		"SELECT COUNT(*) FROM t WHERE i IN (SELECT 0x41 UNION SELECT 0x42 EXCEPT SELECT 0x42)":                         "1",
		"SELECT COUNT(*) FROM t WHERE s IN (SELECT 0x3635 EXCEPT SELECT '65')":                                         "0",
		"SELECT (65, 66) = (SELECT DISTINCT 0x41 + 0, 66 FROM t), (1, 2) = (SELECT DISTINCT i, i FROM t WHERE i = 66)": "1|0",
		"SELECT COUNT(*) FROM t WHERE (i, i) IN (SELECT DISTINCT x, x FROM (SELECT 0x41 AS x FROM t) AS d)":            "1",
	} {
		if got := mustRun(t, s, sql); got != want+"\n" {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
