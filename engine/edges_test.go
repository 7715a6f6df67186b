package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Columns that hold the empty text only, as MariaDB has them.
func TestEmptyTypes(t *testing.T) {
	play(t, "CREATE TABLE t (a VARCHAR(0), b CHAR(0), c BINARY(0), d VARBINARY(0))", `
		a INSERT INTO t VALUES ('', '   ', '', '')
		a INSERT INTO t VALUES ('a', '', '', '') => error 1406
		a INSERT INTO t VALUES ('', 'b', '', '') => error 1406
		a INSERT INTO t VALUES ('', '', 'c', '') => error 1406
		a INSERT INTO t VALUES ('', '', '', 'd') => error 1406
		a UPDATE t SET a = 'a' => error 1406
		a INSERT IGNORE INTO t VALUES ('abc', 'b', 'c', 'd')
		a SELECT SUM(LENGTH(CONCAT(a, b, c, d))), COUNT(*) FROM t => 0|2
		a SELECT data_type, character_maximum_length FROM information_schema.columns WHERE table_name = 't' AND column_name = 'a' => varchar|0
		a CREATE TABLE u AS SELECT CONCAT(a, 'xy') AS s, COALESCE(a, 'abc') AS c, '' AS e, NULL AS n FROM t LIMIT 1
		a UPDATE u SET e = 'room', n = 'here'
		a SELECT * FROM u => xy||room|here
		a SELECT CAST('abc' AS CHAR(0)), LENGTH(CAST('abc' AS BINARY(0))) => |0`)
}

// A document is at most 100 arrays and objects deep (MySQL manual, section 13.5), whoever makes it.
func TestJSONDepth(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE t (d JSON)")
	doc := func(n int) string {
		return "'" + strings.Repeat(`[{"k":`, n/2) + strings.Repeat("[", n%2) + `"[[[\"[["` + strings.Repeat("]", n%2) + strings.Repeat("}]", n/2) + "'"
	}
	doc100, doc101 := strings.ReplaceAll(doc(100), `\`, `\\`), strings.ReplaceAll(doc(101), `\`, `\\`)
	mustRun(t, s, "INSERT INTO t VALUES ("+doc100+")")
	if got := mustRun(t, s, "SELECT JSON_DEPTH(d), JSON_VALID("+doc100+"), JSON_STORAGE_SIZE(d) = LENGTH(d), JSON_STORAGE_FREE(d) FROM t"); got != "101|1|1|0\n" {
		t.Errorf("a document 100 deep: %s", got)
	}
	for _, sql := range []string{
		"INSERT INTO t VALUES (" + doc101 + ")", "SELECT CAST(" + doc101 + " AS JSON)", "SELECT JSON_VALID(" + doc101 + ")", "SELECT JSON_TYPE(" + doc101 + ")",
		"SELECT JSON_ARRAY(d) FROM t", "SELECT JSON_OBJECT('a', d) FROM t", "SELECT JSON_SET(d, '$[0].k', CAST(d AS JSON)) FROM t", "UPDATE t SET d = JSON_ARRAY(d)",
		"SELECT JSON_ARRAYAGG(d) FROM t",
	} {
		if _, err := run(context.Background(), s, sql); !errors.Is(err, sqlerr.Code(3157)) {
			t.Errorf("%.60s: %v", sql, err)
		}
	}
}

// A point behind a number does not make a name of the word behind it.
func TestBarePoints(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1.)")
	for sql, want := range map[string]string{
		"SELECT 1. AS x": "1", "SELECT 1.AS x": "1", "SELECT 2.FROM t": "2", "SELECT 7. FROM t WHERE a BETWEEN 0. AND 1. OR 5. IS NULL": "7",
		"SELECT CASE WHEN a = 1. THEN 2. ELSE 3. END FROM t": "2", "SELECT t.a FROM t": "1", "SELECT 5./2": "2.5000", "SELECT '1. AS', 1. `from`": "1. AS|1",
		"SELECT 1.5, 1.e1, 1.5e1": "1.5|10|15", "SELECT t . a FROM t": "1",
	} {
		if got := strings.TrimSpace(mustRun(t, s, sql)); got != want {
			t.Errorf("%s gives %s, want %s", sql, got, want)
		}
	}
}

// What goes to a CSV file comes back as it was, or does not go there.
func TestBytesInCSV(t *testing.T) {
	s, dir := newSession(t, database.Options{Threads: 2}), t.TempDir()
	mustRun(t, s, `CREATE TABLE t (id INT, v VARBINARY(10), b BLOB);
		INSERT INTO t VALUES (1, 'ab', 'ü"\n,'), (2, '', '\\x41'), (3, NULL, NULL), (4, x'61000A', ' '); CREATE TABLE u LIKE t`)
	same := func(sql string, rows string) {
		t.Helper()
		mustRun(t, s, "TRUNCATE u; "+strings.ReplaceAll(sql, "DIR", dir))
		if got := mustRun(t, s, "SELECT COUNT(*) FROM t JOIN u USING (id) WHERE t.v <=> u.v AND t.b <=> u.b"); got != rows+"\n" {
			t.Errorf("%s: %s rows came back as they were, want %s", sql, strings.TrimSpace(got), rows)
		}
	}
	same("SELECT * FROM t INTO OUTFILE 'DIR/t.csv'; INSERT INTO u SELECT * FROM `DIR/t.csv`", "4")
	mustRun(t, s, "INSERT INTO t VALUES (5, x'FF', 'z')")
	for _, sql := range []string{"SELECT * FROM t INTO OUTFILE 'DIR/u.csv'", "SELECT id, CONCAT(v, b) AS c FROM t INTO OUTFILE 'DIR/u.tsv'"} {
		_, err := run(context.Background(), s, strings.ReplaceAll(sql, "DIR", dir))
		if !errors.Is(err, sqlerr.CodeErrorOnWrite) || !strings.Contains(err.Error(), "of row 5 is not valid UTF-8") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	same("SELECT id, HEX(v) AS v, b FROM t INTO OUTFILE 'DIR/u.csv'; INSERT INTO u SELECT id, UNHEX(v), b FROM `DIR/u.csv`", "5")
	same("SELECT * FROM t INTO OUTFILE 'DIR/u.parquet'; INSERT INTO u SELECT * FROM `DIR/u.parquet`", "5")
	same("SELECT * FROM t INTO OUTFILE 'DIR/m.csv' FIELDS TERMINATED BY ','; LOAD DATA INFILE 'DIR/m.csv' INTO TABLE u FIELDS TERMINATED BY ','", "5")
}

// Defaults as SHOW CREATE TABLE and information_schema write them in MySQL.
func TestShownDefaults(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, `CREATE TABLE t (a TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), b DATETIME DEFAULT NOW() ON UPDATE NOW(), c DATE DEFAULT (CURDATE()),
		d VARCHAR(9) DEFAULT (CONCAT('x', 1 + 1)), e INT DEFAULT '7')`)
	shown := strings.Split(mustRun(t, s, "SHOW CREATE TABLE t"), "|")[1]
	for _, want := range []string{
		"TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)", "DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
		"DATE DEFAULT (CURDATE())", "VARCHAR(9) DEFAULT (CONCAT(", "INT DEFAULT '7'",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s\nlacks %s", shown, want)
		}
	}
	mustRun(t, s, "RENAME TABLE t TO u; "+shown+"; INSERT INTO t () VALUES (); INSERT INTO u () VALUES ()")
	if got := mustRun(t, s, "SELECT a > '2020-01-01', b > '2020-01-01', c > '2020-01-01', d, e FROM t"); got != "1|1|1|x2|7\n" {
		t.Errorf("a table made of what SHOW CREATE TABLE gives: %s", got)
	}
	if again := strings.Split(mustRun(t, s, "SHOW CREATE TABLE t"), "|")[1]; again != shown {
		t.Errorf("%s\nis shown again as\n%s", shown, again)
	}
	if got := mustRun(t, s, "SELECT GROUP_CONCAT(column_default ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 't' AND column_name IN ('a', 'b', 'c')"); got != "CURRENT_TIMESTAMP(6),CURRENT_TIMESTAMP,CURDATE()\n" {
		t.Errorf("information_schema.columns: %s", got)
	}
}
