package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// session opens a session of a new engine.
func newSession(t *testing.T, opts database.Options) *Session {
	t.Helper()
	e, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.NewSession()
}

// run executes all statements of a text and returns the rows of the last one, a line each, columns separated by bars.
func run(ctx context.Context, s *Session, sql string) (string, error) {
	stmts, err := s.Parse(sql)
	if err != nil {
		return "", err
	}
	var out string
	for _, stmt := range stmts {
		res, err := s.Execute(ctx, stmt, nil)
		if err != nil {
			return "", err
		}
		if out, err = lines(ctx, res); err != nil {
			return "", err
		}
	}
	return out, nil
}

func lines(ctx context.Context, res *result.Result) (string, error) {
	defer res.Close()
	var b strings.Builder
	for {
		batch, err := res.Next(ctx)
		if err != nil {
			return "", err
		}
		if batch == nil {
			return b.String(), nil
		}
		for i := range batch.Rows() {
			at := i
			if batch.Sel != nil {
				at = int(batch.Sel[i])
			}
			for c, v := range batch.Cols {
				if c > 0 {
					b.WriteByte('|')
				}
				b.WriteString(v.Value(at).Text())
			}
			b.WriteByte('\n')
		}
	}
}

func mustRun(t *testing.T, s *Session, sql string) string {
	t.Helper()
	out, err := run(context.Background(), s, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

const people = `
CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, born DATE, height DECIMAL(4,2), UNIQUE KEY by_name (name));
INSERT INTO people VALUES (1, 'Ada', '1815-12-10', 1.65), (2, 'Kurt', '1906-04-28', NULL), (3, 'Emmy', '1882-03-23', 1.6);
`

// Every mistake gets an error with MySQL's number and words that name what is wrong; the data stays as it was.
func TestMistakes(t *testing.T) {
	t.Run("cpu", func(t *testing.T) { testMistakes(t, newSession(t, database.Options{Threads: 2, Device: gpu.Never})) })
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "SET radish_device = 'gpu'")
		testMistakes(t, s)
	})
}

func testMistakes(t *testing.T, s *Session) {
	cases := []struct {
		sql  string
		code sqlerr.Code
		says string
	}{
		{"SELECT nmae FROM people", sqlerr.CodeUnknownColumn, "did you mean 'name'"},
		{"SELECT * FROM poeple", sqlerr.CodeNoSuchTable, "did you mean 'people'"},
		{"SELECT date_trunc('month', born) FROM people", sqlerr.CodeUnknownFunction, "DATE_FORMAT"},
		{"SET threads = 4", sqlerr.CodeUnknownVariable, "did you mean 'radish_threads'"},
		{"DELETE FROM people USING (SELECT 1 AS one) x WHERE people.id = x.one", sqlerr.CodeUnknownTableIn, "list each one after USING"},
		{"SELECT @@sql_mod", sqlerr.CodeUnknownVariable, "did you mean 'sql_mode'"},
		{"ALTER TABLE people DROP COLUMN nmae", sqlerr.CodeCantDropFieldOrKey, "did you mean 'name'"},
		{"ALTER TABLE people DROP INDEX by_nmae", sqlerr.CodeCantDropFieldOrKey, "did you mean 'by_name'"},
		{"DROP INDEX by_nmae ON people", sqlerr.CodeCantDropFieldOrKey, "did you mean 'by_name'"},
		{"ALTER TABLE people RENAME INDEX by_nmae TO x", sqlerr.CodeKeyDoesNotExist, "did you mean 'by_name'"},
		{"SELECT * FROM people FORCE INDEX (by_nmae)", sqlerr.CodeKeyDoesNotExist, "did you mean 'by_name'"},
		{"SELECT name, COUNT(*) FROM people GROUP BY name DESC", sqlerr.CodeNotSupported, "write ORDER BY"},
		{"DELETE FROM people PARTITION (p0)", sqlerr.CodePartitionClause, "no partitioned tables"},
		{"UPDATE people PARTITION (p0) SET id = 1", sqlerr.CodePartitionClause, "no partitioned tables"},
		{"UPDATE people FORCE INDEX (by_nmae) SET id = 1", sqlerr.CodeKeyDoesNotExist, "did you mean 'by_name'"},
		{"SET time_zone = NULL", sqlerr.CodeWrongValueForVar, "NULL"},
		{"SET sql_mode = (SELECT NULL)", sqlerr.CodeWrongValueForVar, "NULL"},
		{"INSERT INTO people PARTITION (p0) VALUES (4, 'Alan', NULL, NULL)", sqlerr.CodePartitionClause, "no partitioned tables"},
		{"SHOW TABLES LIKE (SELECT 'p%')", sqlerr.CodeParseError, "write SHOW ... WHERE"},
		{"CREATE TABLE q (a INT DEFAULT ((SELECT 1)))", sqlerr.CodeDefaultFunction, "subquery"},
		{"CREATE INDEX i ON people (hieght)", sqlerr.CodeKeyColumnMissing, "did you mean 'height'"},
		{"ALTER TABLE people ADD UNIQUE (hieght)", sqlerr.CodeKeyColumnMissing, "did you mean 'height'"},
		{"CREATE TABLE x (height INT, FOREIGN KEY (hieght) REFERENCES people (id))", sqlerr.CodeKeyColumnMissing, "did you mean 'height'"},
		{"SELECT p.id FROM people q", sqlerr.CodeUnknownColumn, "p.id"},
		{"SELEC 1", sqlerr.CodeParseError, "line 1"},
		{"SELECT uper(name) FROM people", sqlerr.CodeUnknownFunction, "upper"},
		{"SELECT substring() FROM people", sqlerr.CodeParseError, ""},
		{"SELECT sqrt(1, 2)", sqlerr.CodeWrongParamCount, "SQRT"},
		{"SELECT 9223372036854775807 + id FROM people", sqlerr.CodeDataOutOfRange, "BIGINT"},
		{"SELECT CAST(1 AS UNSIGNED) - id - id FROM people", sqlerr.CodeDataOutOfRange, "UNSIGNED"},
		{"INSERT INTO people VALUES (4, 'Alan', '1912-06-23', 12345.6)", sqlerr.CodeOutOfRangeForColumn, "height"},
		{"INSERT INTO people VALUES (3000000000, 'Alan', NULL, NULL)", sqlerr.CodeOutOfRangeForColumn, "id"},
		{"INSERT INTO people VALUES (4, 'a name of more than twenty characters', NULL, NULL)", sqlerr.CodeDataTooLong, "name"},
		{"INSERT INTO people VALUES (4, 'Alan', '1912-13-23', NULL)", sqlerr.CodeTruncatedWrongValue, "1912-13-23"},
		{"INSERT INTO people VALUES (4, NULL, NULL, NULL)", sqlerr.CodeBadNull, "name"},
		{"INSERT INTO people VALUES (4, 'Alan', NULL, NULL), (1, 'Grace', NULL, NULL)", sqlerr.CodeDupEntry, "PRIMARY"},
		{"INSERT INTO people VALUES (4, 'Ada', NULL, NULL)", sqlerr.CodeDupEntry, "by_name"},
		{"INSERT INTO people (id) VALUES (4)", sqlerr.CodeNoDefaultForField, "name"},
		{"INSERT INTO people VALUES (4, 'Alan')", sqlerr.CodeWrongValueCount, "row 1"},
		{"INSERT INTO people SELECT id + 1, name, born, height FROM people", sqlerr.CodeDupEntry, ""},
		{"INSERT INTO people VALUES (4, 'Alan', NULL, 1/0)", sqlerr.CodeDivisionByZero, "Division"},
		{"UPDATE people SET id = 7", sqlerr.CodeDupEntry, "PRIMARY"},
		{"UPDATE people SET name = NULL WHERE id = 1", sqlerr.CodeBadNull, "name"},
		{"UPDATE people SET hight = 1", sqlerr.CodeUnknownColumn, "height"},
		{"CREATE TABLE people (x INT)", sqlerr.CodeTableExists, "people"},
		{"CREATE TABLE x (a INT, A INT)", sqlerr.CodeDupFieldName, "A"},
		{"CREATE TABLE x (a DECIMAL(50,2))", sqlerr.CodeTooBigPrecision, "38"},
		{"CREATE TABLE x (a INT DEFAULT 'abc')", sqlerr.CodeInvalidDefault, "a"},
		{"DROP TABLE nothing", sqlerr.CodeUnknownTable, "nothing"},
		{"USE nowhere", sqlerr.CodeUnknownDatabase, "nowhere"},
		{"SET radish_treads = 2", sqlerr.CodeUnknownVariable, "radish_threads"},
		{"SET radish_threads = 'many'", sqlerr.CodeWrongValueForVar, "many"},
		{"SET version = '9'", sqlerr.CodeReadOnlyVariable, "version"},
		{"SELECT (SELECT id FROM people)", sqlerr.CodeSubqueryNo1Row, "more than 1 row"},
		{"SELECT id FROM people WHERE id = (SELECT 1, 2)", sqlerr.CodeOperandColumns, "1 column"},
		{"SELECT id FROM people UNION SELECT 1, 2", sqlerr.CodeWrongNumberOfColumns, "columns"},
		{"SELECT name, count(*) FROM people", sqlerr.CodeMixOfGroupFunc, "people.name"},
		{"SELECT * FROM people a ASOF JOIN people b ON a.id = b.id", sqlerr.CodeNotSupported, "ASOF"},
		{"CREATE TABLE x (a BIT(3))", sqlerr.CodeNotSupported, "a BIT column is not supported"},
		{"SELECT CAST('a' AS JSON)", sqlerr.CodeInvalidJSONTextInParam, "\"Invalid value.\" at position 0"},
		{"SELECT CAST(concat(name, ']') AS JSON) FROM people", sqlerr.CodeInvalidJSONTextInParam, "cast_as_json"},
		{"SELECT CAST('[1] 2' AS JSON)", sqlerr.CodeInvalidJSONTextInParam, "must not be followed by other values.\" at position 4"},
		{"SELECT CAST(' ' AS JSON)", sqlerr.CodeInvalidJSONTextInParam, "The document is empty."},
		{"CREATE TABLE j (x JSON); INSERT INTO j VALUES ('[1'), ('2')", sqlerr.CodeInvalidJSONText, "position 2 in value for column 'x'"},
		{"INSERT IGNORE INTO j SELECT name FROM people", sqlerr.CodeInvalidJSONText, "column 'x'"},
		{"SELECT * FROM `missing.csv`", sqlerr.CodeFileNotFound, "missing.csv"},
		{"CALL tpch_generate(0)", 0, "scale factor"},
		{"CALL tpch_generator(1)", sqlerr.CodeUnknownFunction, "tpch_generate"},
		{"START TRANSACTION READ ONLY AS OF TIMESTAMP '2020-01-01'", sqlerr.CodeNotSupported, "newest"},
		{"SAVEPOINT a; ROLLBACK TO a", sqlerr.CodeUnknownFunction, "SAVEPOINT a does not exist"},
		{"INSERT INTO information_schema.schemata VALUES ('a', 'b', 'c', 'd')", sqlerr.CodeNotSupported, "information_schema"},
		{"DELETE FROM information_schema.tables", sqlerr.CodeNotSupported, "information_schema"},
	}
	mustRun(t, s, people)
	before := mustRun(t, s, "SELECT * FROM people ORDER BY id")
	for _, c := range cases {
		_, err := run(context.Background(), s, c.sql)
		var e *sqlerr.Error
		switch {
		case err == nil:
			t.Errorf("%s: no error", c.sql)
		case !errors.As(err, &e):
			t.Errorf("%s: %v is no *sqlerr.Error", c.sql, err)
		case c.code != 0 && e.Code != c.code:
			t.Errorf("%s: error %d (%v), want %d", c.sql, e.Code, e, c.code)
		case !strings.Contains(e.Error(), c.says):
			t.Errorf("%s: %q does not say %q", c.sql, e.Error(), c.says)
		case e.Kind == sqlerr.Internal:
			t.Errorf("%s: an internal error: %v", c.sql, err)
		}
		if after := mustRun(t, s, "SELECT * FROM people ORDER BY id"); after != before {
			t.Fatalf("%s changed the table to\n%s", c.sql, after)
		}
	}
}

// Statements of absurd size end quickly, with a result or a clear error.
func TestHugeStatements(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, people)
	list := make([]string, 100_000)
	for i := range list {
		list[i] = fmt.Sprint(i * 2)
	}
	if got := mustRun(t, s, "SELECT id FROM people WHERE id IN ("+strings.Join(list, ",")+")"); got != "2\n" {
		t.Errorf("an IN list of 100,000 elements found %q", got)
	}
	for name, sql := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000),
		"additions":   "SELECT " + strings.Repeat("1+", 10_000) + "1",
		"subqueries":  strings.Repeat("SELECT (", 10_000) + "1" + strings.Repeat(")", 10_000),
		"garbage":     strings.Repeat("\x00\xff}{'`", 1<<17),
	} {
		_, err := run(context.Background(), s, sql)
		var e *sqlerr.Error
		if err != nil && (!errors.As(err, &e) || e.Kind == sqlerr.Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ors := make([]string, 4000)
	for i := range ors {
		ors[i] = fmt.Sprintf("id = %d", i+2)
	}
	if got := mustRun(t, s, "SELECT count(*) FROM people WHERE "+strings.Join(ors, " OR ")); got != "2\n" {
		t.Errorf("4,000 ORs found %q", got)
	}
}

// A query that needs more than its budget fails with the operator and the bytes; the next one runs.
func TestMemoryBudget(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, Device: gpu.Never}) // what runs on a GPU needs memory there
	mustRun(t, s, "CALL tpch_generate(0.01); SET radish_memory_limit = '256KB'")
	for _, sql := range []string{
		"SELECT l_comment, count(*) FROM lineitem GROUP BY l_comment",
		"SELECT * FROM lineitem ORDER BY l_comment",
		"SELECT count(*) FROM lineitem a JOIN lineitem b ON a.l_comment = b.l_comment",
		"UPDATE lineitem SET l_comment = concat(l_comment, '!')",
		"REPLACE INTO lineitem SELECT * FROM lineitem",
	} {
		_, err := run(context.Background(), s, sql)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Kind != sqlerr.Resource || !strings.Contains(e.Error(), "KiB") {
			t.Errorf("%s: got %v, want a memory error that names bytes", sql, err)
		}
	}
	if got := mustRun(t, s, "SELECT count(*) FROM region"); got != "5\n" {
		t.Errorf("after the errors: %q", got)
	}
	if used := s.engine.MemoryUsed(); used != 0 {
		t.Errorf("%d bytes are still held", used)
	}
}

// The row counts of writes, and what they leave behind.
func TestWrites(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, people)
	for _, c := range []struct{ sql, want string }{
		{"UPDATE people SET height = height + 0.1 WHERE height IS NOT NULL; SELECT id, height FROM people ORDER BY id", "1|1.75\n2|NULL\n3|1.70\n"},
		{"UPDATE people SET id = id + 1, born = NULL; SELECT id, born FROM people ORDER BY id", "2|NULL\n3|NULL\n4|NULL\n"},
		{"DELETE FROM people ORDER BY name LIMIT 1; SELECT name FROM people ORDER BY name", "Emmy\nKurt\n"},
		{"INSERT INTO people (name, id) SELECT concat(name, '!'), id + 10 FROM people; SELECT id, name FROM people ORDER BY id", "3|Kurt\n4|Emmy\n13|Kurt!\n14|Emmy!\n"},
		{"CREATE TABLE copy AS SELECT id, upper(name) AS n FROM people; SELECT * FROM copy ORDER BY id LIMIT 1", "3|KURT\n"},
		{"CREATE VIEW v (x) AS SELECT max(id) FROM people; INSERT INTO people VALUES (99, 'x', NULL, NULL); SELECT x FROM v", "99\n"},
		{"TRUNCATE people; SELECT count(*) FROM people", "0\n"},
		{"CREATE DATABASE d2; USE d2; CREATE TABLE t (a INT DEFAULT 5, b TIMESTAMP DEFAULT CURRENT_TIMESTAMP); INSERT INTO t (a) VALUES (DEFAULT); SELECT a, b > '2020-01-01' FROM t", "5|1\n"},
		{"DROP DATABASE d2; USE main; SHOW TABLES LIKE 'c%'", "copy\n"},
	} {
		if got := mustRun(t, s, c.sql); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.sql, got, c.want)
		}
	}
}

// A BOOLEAN column may hold other numbers than 0 and 1, which IS TRUE takes as conditions do.
func TestTruthOfBooleanColumns(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (b BOOLEAN); INSERT INTO t VALUES (2), (0), (NULL)")
	got := mustRun(t, s, "SELECT b IS TRUE, b IS FALSE, b IS NOT TRUE, b = TRUE FROM t ORDER BY b DESC")
	if want := "1|0|0|0\n0|1|1|0\n0|0|1|NULL\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// JSON is held as it was written, numbers and dates become documents.
func TestJSONValues(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, people+"CREATE TABLE j (x JSON); INSERT INTO j VALUES (' {\"b\": 1,\"a\": [2]} '), (NULL), (5), (1.50), (DATE '2020-02-03')")
	if got, want := mustRun(t, s, "SELECT x FROM j"), " {\"b\": 1,\"a\": [2]} \nNULL\n5\n1.50\n\"2020-02-03\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got := mustRun(t, s, "SELECT CAST(id AS JSON), CAST(concat('[', id, ']') AS JSON), CAST(NULL AS JSON) FROM people ORDER BY id LIMIT 1")
	if want := "1|[1]|NULL\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// ANALYZE TABLE tells in its rows, as MySQL's does, what it could not do.
func TestAnalyzeTable(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, people+"CREATE VIEW v AS SELECT 1")
	got := mustRun(t, s, "ANALYZE TABLE people, nothing, v")
	want := "main.people|analyze|status|OK\n" +
		"main.nothing|analyze|Error|Table 'main.nothing' doesn't exist\nmain.nothing|analyze|status|Operation failed\n" +
		"main.v|analyze|Error|'main.v' is not BASE TABLE\nmain.v|analyze|status|Operation failed\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Defaults as MySQL's manual has them (section 13.6): literals and expressions in parentheses.
func TestDefaults(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, `CREATE TABLE t1 (i INT DEFAULT 0, c VARCHAR(10) DEFAULT '', f FLOAT DEFAULT (RAND() * RAND()), b BINARY(16) DEFAULT (UUID_TO_BIN(UUID())),
		d DATE DEFAULT (CURRENT_DATE + INTERVAL 1 YEAR), j JSON DEFAULT (JSON_ARRAY()));
		INSERT INTO t1 () VALUES (), ()`)
	if got := mustRun(t, s, "SELECT COUNT(DISTINCT f), COUNT(DISTINCT b), MIN(d) = CURDATE() + INTERVAL 1 YEAR, MIN(j), MAX(c) FROM t1"); got != "2|2|1|[]|\n" {
		t.Errorf("got %q", got)
	}
	mustRun(t, s, `CREATE TABLE t (k INT, a INT DEFAULT (abs(-3)), b VARCHAR(9) DEFAULT (concat('x', 1 + 1)), c DATETIME DEFAULT CURRENT_TIMESTAMP, d INT DEFAULT 7,
		e DATE DEFAULT (CURRENT_DATE), f INT DEFAULT (1), g INT NOT NULL DEFAULT (-1), h TEXT DEFAULT ('DEFAULT (1 + 1)'), i VARCHAR(3) DEFAULT ('x') COMMENT 'DEFAULT (1)', l INT DEFAULT (1 + 2 * (3)),
		m INT DEFAULT (CAST('7' AS SIGNED)), n INT DEFAULT (CASE WHEN 1 THEN 5 END), o INT DEFAULT (NULL), p BOOL DEFAULT (TRUE));
		ALTER TABLE t ADD COLUMN q INT DEFAULT (2 * 21), ADD COLUMN (r INT DEFAULT (10 DIV 3), s INT), ALTER COLUMN d SET DEFAULT (4 + 4);
		INSERT INTO t (k) VALUES (1)`)
	const all, want = "SELECT a, b, c > '2020-01-01', d, e = CURRENT_DATE, f, g, h, i, l, m, n, o, p, q, r, s FROM t", "3|x2|1|8|1|1|-1|DEFAULT (1 + 1)|x|7|7|5|NULL|1|42|3|NULL\n"
	if got := mustRun(t, s, all); got != want {
		t.Errorf("got %q", got)
	}
	shown := strings.Split(mustRun(t, s, "SHOW CREATE TABLE t"), "|")[1]
	mustRun(t, s, "DROP TABLE t; "+shown+"; INSERT INTO t (k) VALUES (1)")
	if got := mustRun(t, s, all); got != want {
		t.Errorf("of a table that SHOW CREATE TABLE makes: %q", got)
	}
	for sql, code := range map[string]sqlerr.Code{
		"CREATE TABLE u (a INT DEFAULT (1 +))":          sqlerr.CodeParseError,
		"CREATE TABLE u (a INT DEFAULT (1, 2))":         sqlerr.CodeParseError,
		"CREATE TABLE u (a INT DEFAULT (SELECT 1))":     sqlerr.CodeParseError,
		"CREATE TABLE u (a INT DEFAULT (nothing + 1))":  sqlerr.CodeUnknownColumn,
		"CREATE TABLE u (a INT, b INT DEFAULT (a + 1))": sqlerr.CodeUnknownColumn,
	} {
		if _, err := run(context.Background(), s, sql); !errors.Is(err, code) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
