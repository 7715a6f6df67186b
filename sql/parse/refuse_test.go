package parse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestNamesWithoutBackticks checks the hint on names that need them, and that nothing else gets it.
func TestNamesWithoutBackticks(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT * FROM my-table": true, "SELECT * FROM my-db.t": true, "SELECT * FROM t JOIN my-db.t ON 1": true, "SELECT * FROM t, a/b": true,
		"SELECT * FROM sales-2024.csv": true, "SELECT * FROM 2024.csv": true, "SELECT * FROM sales.csv.gz": true, "SELECT * FROM sales*.xyz": true, "SELECT * FROM a.b.c": true,
		"SELECT * FROM t - x.csv": false, "SELECT * FROM t,-1": false, "SELECT * FROM t WHERE a.b.c.d = 1": false, "SELECT * FROM t=1": false, "SELECT * FROM t 5": false, "SELECT * FROM (a)-b": false, "SELECT * FROM": false,
	} {
		_, err := parse.One(sql, parse.DefaultMode)
		if got := sqlerr.From(err); got.Code != 1064 || strings.Contains(got.Hint, "in backticks") != want {
			t.Errorf("%s: %v; hint %q", sql, got, got.Hint)
		}
	}
}

// Each text has one ‸, which is taken out before parsing, where the error has to point.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct{ sql, want string }{
		{"SELECT full.a FROM t ‸FULL JOIN u ON full.a = u.a", "FULL JOIN beside a table called FULL is not supported: if FULL is the table's alias here, write AS FULL"},
		{"SELECT * FROM t FULL JOIN u‸", "the statement ends too early"},
		{"SELECT * FROM t ‸ASOF JOIN u ON t.a >= u.a", "ASOF JOIN is not supported"},
		{"SELECT * FROM t ‸ASOF LEFT JOIN u ON t.a >= u.a", "ASOF LEFT JOIN is not supported"},
		{"SELECT * FROM t ‸SEMI JOIN u USING (a)", "SEMI JOIN is not supported"},
		{"SELECT * FROM t ‸anti join u USING (a)", "ANTI JOIN is not supported"},
		{"SELECT * FROM t LEFT ‸SEMI JOIN u USING (a)", "LEFT SEMI JOIN is not supported"},
		{"SELECT * FROM t ‸POSITIONAL JOIN u", "POSITIONAL JOIN is not supported"},
		{"SELECT a, b, COUNT(*) FROM t GROUP BY ‸CUBE(a, b)", "GROUP BY CUBE(...) is not supported: write GROUP BY ... WITH ROLLUP"},
		{"SELECT a, b, COUNT(*) FROM t GROUP BY a, ‸CUBE (b)", "GROUP BY CUBE(...) is not supported"},
		{"SELECT a, b, COUNT(*) FROM t GROUP BY ‸ROLLUP(a, b)", "GROUP BY ROLLUP(...) is not supported: write GROUP BY a, b WITH ROLLUP"},
		{"SELECT a FROM t GROUP BY ‸GROUPING SETS ((a), ())", "GROUPING SETS is not supported"},
		{"SELECT a FROM t WHERE b = ‸$1", "the parameter $1 is not supported: write ?"},
		{"SELECT a FROM t WHERE b = ‸:name", "a named parameter with a colon is not supported"},
		{"SELECT * FROM ‸'file.parquet'", "put its name in backticks"},
		{"SELECT * FROM t, ‸\"file.parquet\"", "put its name in backticks"},
		{"SELECT * FROM t JOIN ‸'file.parquet' f ON 1", "put its name in backticks"},
		{"SELECT a‸::int FROM t", "'::' as a cast is not supported: write CAST"},
		{"SELECT '1' ‸:: int", "'::' as a cast is not supported"},
		{"SELECT a FROM t ORDER BY a ‸NULLS FIRST", "NULLS FIRST is not supported: write ORDER BY x IS NOT NULL, x"},
		{"SELECT a FROM t ORDER BY a DESC ‸nulls last, b", "NULLS LAST is not supported: write ORDER BY x IS NULL, x"},
		{"‸COPY t TO 'x.csv'", "COPY is not supported: write SELECT ... INTO OUTFILE"},
		{"SELECT 1;\n ‸COPY t FROM 'x.csv';", "COPY is not supported"},
		{"SELECT * FROM t, ‸range(10) AS g", "generate_series(1, 10) gives numbers"},
		{"‸EXPORT DATABASE 'folder'", "EXPORT DATABASE is not supported: in the shell write .backup FOLDER"},
		{"‸IMPORT DATABASE 'folder'", "in the shell write .restore FOLDER"},
		{"‸DETACH x", "write DROP DATABASE"},
		{"‸LOAD httpfs", "LOAD of an extension is not supported"},
		{"LOAD ‸XML INFILE 'f' INTO TABLE t", "syntax error near 'XML"},
		{"‸CHECKPOINT", "CHECKPOINT is not supported: tables lie in memory"},
		{"‸SET VARIABLE x = 1", "write SET @name = value"},
		{"‸EXECUTE IMMEDIATE 'SELECT 1'", "write PREPARE"},
		{"‸CREATE MACRO f(x) AS x + 1", "write a view"},
		{"‸CREATE TYPE mood AS ENUM ('a')", "write the type at each column"},
		{"‸CREATE VIEW IF NOT EXISTS v AS SELECT 1", "write CREATE OR REPLACE VIEW"},
		{"SELECT 1 AS a UNION ALL ‸BY NAME SELECT 2 AS a", "write the columns of all in one order"},
		{"SELECT 1 AS a UNION ‸BY NAME SELECT 2 AS a", "write the columns of all in one order"},
		{"INSERT INTO t ‸BY NAME SELECT 1 AS a", "INSERT INTO t (a, b) SELECT a, b"},
		{"ALTER TABLE t ‸RENAME a TO b", "write ALTER TABLE t RENAME COLUMN a TO b"},
		{"SELECT a FROM t ‸LIMIT 10%", "LIMIT by percent is not supported"},
		{"SELECT a FROM t ‸LIMIT 10 PERCENT", "LIMIT by percent is not supported"},
		{"SELECT ‸TRY_CAST(a AS DATE) FROM t", "write CAST(a AS type)"},
		{"SELECT ‸COLUMNS('a.*') FROM t", "write * EXCLUDE (a)"},
		{"SELECT a‸, FROM t", "a comma behind the last column is not supported: take it away"},
		{"SELECT ‸FIRST(a) FROM t", "FIRST or LAST as an aggregate is not supported: write ANY_VALUE(a)"},
		{"SELECT ‸list(a) FROM t", "write JSON_ARRAYAGG(a)"},
		{"SELECT ‸{'a': 1}", "write JSON_OBJECT('a', 1)"},
		{"SELECT a, ‸MEDIAN(b + (1)) OVER (PARTITION BY a) FROM t", "MEDIAN as a window function is not supported: aggregate in a derived table"},
		{"SELECT ‸COUNT(DISTINCT a) OVER () FROM t", "COUNT(DISTINCT ...) as a window function is not supported"},
		{"SELECT ‸any_value(a) OVER () FROM t", "ANY_VALUE as a window function is not supported"},
		{"SELECT a FROM ‸data/sales.csv WHERE a > 1", "a path or address without backticks is not supported: put all of it in backticks"},
		{"SELECT a FROM t JOIN ‸./x-2024.Parquet;", "a path or address without backticks"},
		{"SELECT a FROM t, ‸https://example.com/x)", "a path or address without backticks"},
		{"SELECT a FROM ‸~/x.json", "a path or address without backticks"},
		{"SELECT a FROM ‸./x.unknown", "a path or address without backticks"},
		{"SELECT a FROM ‸s3://bucket/x", "a path or address without backticks"},
		{"SELECT a FROM t ‸- x.csv", "syntax error near '- x.csv'"},
		{"SELECT a FROM a‸/b", "syntax error near '/b'"},
		{"SELECT (a) ‸OVER () FROM t", "syntax error near 'OVER"},
		{"SELECT ‸* REPLACE (a + 1 AS a) FROM t", "write * EXCLUDE (a)"},
		{"SELECT a FROM t QUALIFY a > 1 ‸QUALIFY b", "a second QUALIFY"},
		{"SELECT JSON_ARRAYAGG(a) ‸FILTER (WHERE b) FROM t", "FILTER stands behind an aggregate function"},
		{"SELECT ABS(a) ‸FILTER (WHERE b) FROM t", "FILTER stands behind an aggregate function"},
		{"SELECT SUM(a) FILTER (WHERE a >‸) FROM t", "the statement ends too early"},
		{"SELECT * FROM ‸read_parquet('x')", "a table function is not supported: name a file in backticks"},
		{"SELECT ‸DISTINCT ON (a) a FROM t", "DISTINCT ON is not supported"},
		{"INSERT INTO t VALUES (1) ‸ON CONFLICT DO NOTHING", "ON CONFLICT is not supported: write ON DUPLICATE KEY UPDATE"},
		{"INSERT INTO t VALUES (1) ‸RETURNING a", "RETURNING is not supported: write a SELECT"},
		{"SELECT ‸TOP 5 a FROM t", "SELECT TOP is not supported: write LIMIT"},
		{"SELECT d + ‸INTERVAL '1 day' FROM t", "an interval in one string is not supported: write INTERVAL 1 DAY"},
		{"SELECT a FROM t WHERE a IN ‸()", "an empty list is not supported"},
		{"SELECT a FROM t WHERE a ‸== 1", "'==' is not supported: write ="},
		{"SELECT ‸[1, 2]", "an array in brackets is not supported"},
		{"‸INSERT OR REPLACE INTO t VALUES (1)", "write REPLACE INTO"},
		{"‸INSERT OR IGNORE INTO t VALUES (1)", "write INSERT IGNORE INTO"},
		{"‸CREATE TEMP TABLE t (a INT)", "write CREATE TEMPORARY TABLE"},
		{"‸FROM t SELECT a", "write SELECT * FROM t"},
		{"‸BEGIN TRANSACTION", "write BEGIN or START TRANSACTION"},
		{"‸END", "write COMMIT"},
		{"‸VACUUM", "nothing to clean up"},
		{"‸CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1", "or a generated column"},
		{"‸CREATE FUNCTION f(a INT) RETURNS INT RETURN a + 1", "functions are added by Go programs"},
		{"‸CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "let a scheduler run"},
		{"‸SIGNAL SQLSTATE '45000'", "no programs in SQL"},
		{"‸XA START 'a'", "write BEGIN"},
		{"‸HANDLER t OPEN", "write SELECT"},
		{"‸DELIMITER //", "end statements with ;"},
		{"‸GET DIAGNOSTICS @n = NUMBER", "write SHOW WARNINGS"},
		{"‸SET PERSIST sort_buffer_size = 1", "write SET"},
		{"SELECT 'a' ‸SOUNDS LIKE 'b'", "SOUNDEX(a) = SOUNDEX(b)"},
		{"CREATE TABLE t (a INT, b INT ‸INVISIBLE)", "INVISIBLE column is not supported"},
		{"SELECT CAST('a' AS ‸NCHAR)", "CAST takes SIGNED"},
		{"SELECT 1, ‸JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$'))", "JSON_TABLE is a table, which stands in FROM"},
		{"SELECT ‸JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$'))", "JSON_TABLE outside FROM is not supported: write FROM JSON_TABLE"},
		{"‸SHOW ALL TABLES", "write SHOW TABLES"},
		{"‸EXPLAIN QUERY PLAN SELECT 1", "write EXPLAIN"},
		{"CREATE TABLE t (a INT PRIMARY KEY ‸AUTOINCREMENT)", "write AUTO_INCREMENT"},
		{"CREATE TABLE t (a INT ‸IDENTITY(1, 1))", "write AUTO_INCREMENT"},
		{"SELECT a ‸IS DISTINCT FROM 3", "write NOT (a <=> b)"},
		{"SELECT a ‸IS NOT DISTINCT FROM 3", "write a <=> b"},
		{"SELECT percentile_cont(0.5) ‸WITHIN GROUP (ORDER BY a) FROM t", "WITHIN GROUP is not supported"},
		{"SELECT * FROM t ‸USING SAMPLE 10", "TABLESAMPLE (10 ROWS)"},
		{"UPDATE t SET a = 1 ‸FROM u WHERE t.a = u.a", "write UPDATE t JOIN u"},
		{"SELECT 5 ‸// 2", "write a DIV b"},
		{"‸VALUES (1, 2), (3, 4)", "write VALUES ROW(1, 2)"},
		{"SELECT x FROM (‸VALUES (1), (2)) AS v (x)", "write VALUES ROW(1, 2)"},
		{"SELECT CAST(ABS(1) AS ‸INTEGER)", "CAST takes SIGNED"},
		{"SELECT CAST(a AS ‸VARCHAR(10)) FROM t", "CAST takes SIGNED"},
		{"SELECT EXTRACT(‸EPOCH FROM NOW())", "UNIX_TIMESTAMP"},
		{"SELECT ‸123456789012345678901234567890123456789", "a number of 39 digits is not supported"},
		{"SELECT ‸0.1234567890123456789012345678901", "a number of 31 decimal places is not supported"},
		{"SELECT ‸" + strings.Repeat("9", 200), "a number of 200 digits is not supported"}, // the parser's value panics
		{"SELECT ‸0." + strings.Repeat("0", 200) + "1", "a number of 201 digits is not supported"},

		{"SELECT 1 FROM‸", "syntax error: the statement ends too early"},
		{"SELECT 1 +\n-- nothing\n", "syntax error: the statement ends too early"},
		{"SELECT a,\n  b FROM ‸WHERE x", "syntax error near 'WHERE x'"},
		{"SELECT 1;\nSELECT 2;\n‸SELEKT 3", "syntax error near 'SELEKT 3'"},
		{"SELECT 1 a ‸5 \x1b[31m\xff\x00", "syntax error near '5 \ufffd[31m\ufffd\ufffd'"},
		{"SELECT 'ä€日', 'b' 'c' ‸5 6", "syntax error near '5 6'"},
		{"SELECT 1 a ‸\" and\"\" so\" x", "syntax error near '\" and\"\" so\" x'"},
		{"SELECT 1 a ‸\" and so\"", "syntax error near '\" and so\"'"},
		{"SELECT ‸'open", "the string that starts here has no end"},
		{"SELECT 1 ‸/* open", "the comment that starts here has no end"},
		{"SELECT 1 ‸/*! + 1", "the comment that starts here has no end"},
		{"SELECT ‸`open", "the quoted name that starts here has no end"},
		{"SELECT ‸x'1'", "invalid hexadecimal format"},
		{"SELECT \xff\xff ‸1 2", "syntax error near '1 2'"},
		{"SELECT a \x01", "syntax error"},
		{"SELECT 1e999", "Illegal double '1e999'"},
	} {
		sql := strings.Replace(tc.sql, "‸", "", 1)
		list, err := parse.Parse(sql, parse.DefaultMode)
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			t.Errorf("%s\nis accepted as %v", sql, list)
			continue
		}
		if !strings.Contains(e.Message, tc.want) {
			t.Errorf("%s\n%s\nwant %s", sql, e.Message, tc.want)
		}
		if want := strings.Index(tc.sql, "‸"); want >= 0 && e.Pos.Offset != want {
			t.Errorf("%s\nwant offset %d\n%s", tc.sql, want, e.Render())
		}
		if e.Kind != sqlerr.User && e.Kind != sqlerr.NotSupported || !e.Pos.Known() {
			t.Errorf("%s\n%v at %v", sql, e.Kind, e.Pos)
		}
	}
}

// What looks like a refused idiom and is plain MySQL.
func TestNotRefused(t *testing.T) {
	for _, sql := range []string{
		"SELECT * FROM t AS full JOIN u ON full.a = u.a",
		"SELECT * FROM t `full` JOIN u ON `full`.a = u.a",
		"SELECT full FROM t JOIN u ON 1",
		"SELECT a full FROM t",
		"SELECT * FROM full JOIN u ON full.a = u.a",
		"SELECT * FROM t JOIN full JOIN u ON 1",
		"SELECT * FROM a, full JOIN u ON 1",
		"SELECT * FROM a JOIN b ON a.x = b.full JOIN c ON 1",
		"SELECT * FROM a JOIN b ON a.x = full JOIN c ON 1",
		"SELECT * FROM a JOIN b ON NOT full JOIN c ON 1",
		"SELECT * FROM db.full JOIN c ON 1",
		"SELECT * FROM asof JOIN semi JOIN anti",
		"SELECT 'FULL JOIN', \"t FULL JOIN u\" FROM t -- FULL JOIN\n JOIN u /* t FULL JOIN u */",
		"SHOW FULL COLUMNS FROM t",
		"SHOW FULL TABLES",
		"CREATE TABLE cube (a INT)",
		"INSERT INTO cube (a) VALUES (1)",
		"SELECT cube FROM t GROUP BY cube",
		"SELECT a FROM t GROUP BY a WITH ROLLUP",
		"SELECT GROUPING(a) FROM t GROUP BY a WITH ROLLUP",
		"SELECT TRIM(LEADING 'x' FROM 'xa'), SUBSTRING('abc' FROM 2), EXTRACT(YEAR FROM '2020-01-01')",
		"SELECT a$1, `$1` FROM t",
		"SELECT @a := 1",
		"SELECT qualify, nulls, copy, filter FROM t",
		"SELECT a AS qualify FROM t QUALIFY",
		"SELECT 1e40, 12345678901234567890123456789012345678, -0.123456789012345678901234567890, 000000000000000000000000000000000000000000001",
		"SELECT INTERVAL 1 DAY + d, d + INTERVAL '1' DAY, d + INTERVAL '1 2' DAY_HOUR FROM t",
		"SELECT * FROM `data/x.parquet` x JOIN `a.csv`",
		"SELECT * FROM t LEFT JOIN LATERAL (SELECT t.a) u ON TRUE",
		"WITH t(a, b) AS (SELECT 1, 2) SELECT * FROM t",
		"SELECT 1 EXCEPT ALL SELECT 2 INTERSECT SELECT 3",
		"SELECT 0xFF, x'ff', b'101', 0b1, N'x', _utf8mb4'x', 1.e5, .5, 5., t.1a FROM t",
		"SELECT a->'$.x', a->>'$.y' FROM t",
	} {
		if _, err := parse.One(sql, parse.DefaultMode); err != nil {
			t.Errorf("%s\n%v", sql, err)
		}
	}
}

func TestRenderedError(t *testing.T) {
	_, err := parse.Parse("SELECT 1;\nSELECT l_orderkey\nFROM orders\tASOF JOIN lineitem", parse.DefaultMode)
	want := "ERROR 1235 (42000) at line 3, column 13: ASOF JOIN is not supported: write a LATERAL subquery with ORDER BY and LIMIT 1; " +
		"if ASOF is the table's alias, write AS ASOF\n" +
		"  FROM orders ASOF JOIN lineitem\n" +
		"              ^"
	if got := sqlerr.From(err).Render(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
