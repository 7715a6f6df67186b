package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestPositions checks that errors point at the name, or the expression, that they are about, marked by ^ before it.
func TestPositions(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT); CREATE TABLE u (a INT); CREATE VIEW v AS SELECT a FROM t; DROP TABLE t; "+
		"CREATE TABLE n (id INT PRIMARY KEY, big BIGINT NOT NULL, s VARCHAR(3), KEY k (s)); INSERT INTO n VALUES (1, 9223372036854775807, ''), (2, 2, ''); "+
		"CREATE TABLE doc (d JSON); CREATE VIEW wide AS SELECT big + id - 1 AS b FROM n")
	for _, marked := range []string{
		"SELECT a FROM ^nothing",
		"SELECT nothing FROM u JOIN ^main.nothing",
		"SELECT * FROM ^other.t",
		"SELECT * FROM\n  ^`missing.parquet` AS m",
		"SELECT ^nothing.* FROM u",
		"INSERT INTO ^nothing VALUES (1)",
		"UPDATE ^nothing SET a = 1",
		"DELETE FROM ^nothing",
		"DROP TABLE ^nothing",
		"DROP TABLE IF EXISTS ^nowhere.nothing",
		"CREATE VIEW ^v AS SELECT 1",
		"DESCRIBE ^nothing",
		"DESCRIBE ^`missing.csv`",
		"USE ^nowhere",
		"EXPLAIN SELECT * FROM ^nothing",
		"SELECT * FROM (SELECT 1) AS t, v", // the name is in the view, not here
		"SELECT id,\n  ^big+id FROM n",
		"SELECT id, (^`n`.big * 2) + 1 FROM n WHERE id = 1",
		"SELECT -ABS(^-big - 2) FROM n", // the position is that of what fails, which stands inside
		"SELECT id FROM n WHERE id IN (SELECT 1) AND big = ^(SELECT id FROM n)",
		"SELECT (SELECT 1), (SELECT id FROM n)", // one of the two
		"INSERT INTO n (id, ^big) VALUES (3, NULL)",
		"UPDATE n SET s = '', ^big = NULL",
		"INSERT INTO n VALUES (3, ^NULL, '')",
		"INSERT INTO n VALUES (3, 1, ''), (4, LENGTH('a, b') + (1), ^CONCAT('lo', ('ng')))",
		"REPLACE INTO n VALUES (3, 1, ''), (4, ^1e20, '')",
		"SELECT id, ^JSON_EXTRACT('[', '$'), JSON_EXTRACT('{}', '$') FROM n",
		"SELECT id, s^->'$' FROM n",
		"SELECT id, JSON_VALID(s), ^CAST(s AS JSON) FROM n",
		"SELECT id, 1 ^MEMBER OF (s) FROM n",
		"SELECT id, s REGEXP 'a' FROM n WHERE s REGEXP '('", // one of the two
		"SELECT id FROM n WHERE CONCAT('a', id) ^RLIKE '('",
		"SELECT id, ^REGEXP_REPLACE(s, '(', 'a') FROM n",
		"SELECT id, CAST(big AS UNSIGNED) ^* 3 FROM n",
		"SELECT d ^+ id FROM (SELECT CAST(big AS SIGNED) AS d, id FROM n) AS x, (SELECT big FROM n) AS y",
		"INSERT INTO doc SELECT CAST('[' AS CHAR)", // that CAST is not at fault
		"SELECT b + 1 FROM wide",                   // it is the view's + that fails, as is told by the columns
		"INSERT INTO n (id, big, ^s) VALUES (3, 3, 'long')",
		"INSERT INTO n (id, ^big) VALUES (3, 'x')",
		"INSERT INTO n (id, ^bog) VALUES (3, 1)",
		"UPDATE n SET ^bog = 1",
		"ALTER TABLE n DROP COLUMN ^bog",
		"ALTER TABLE n MODIFY ^bog INT",
		"DROP INDEX ^kk ON n",
		"CREATE INDEX i ON n (id, ^bog)",
		"CREATE TABLE m (a INT, PRIMARY KEY (^aa))",
		"SET ^sql_mod = ''",
	} {
		want := strings.IndexByte(marked, '^')
		sql := strings.Replace(marked, "^", "", 1)
		_, err := run(context.Background(), s, sql)
		var e *sqlerr.Error
		switch {
		case want < 0:
			if errors.As(err, &e) && e.Pos.Known() {
				t.Errorf("%s: %v has a position", sql, e)
			}
		case sql == "DROP TABLE IF EXISTS nowhere.nothing" && err == nil: // a note, as in MySQL
		case !errors.As(err, &e):
			t.Errorf("%s: %v is no *sqlerr.Error", sql, err)
		case !e.Pos.Known() || e.Pos.Offset != want:
			t.Errorf("%s: %v: at offset %d, want %d", sql, e, e.Pos.Offset, want)
		}
	}
}

func TestDescribeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("id,name,day\n1,a,2024-01-01\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, database.Options{Threads: 1})
	got := mustRun(t, s, "DESCRIBE `"+path+"`")
	mustRun(t, s, "CREATE TABLE copy AS SELECT * FROM `"+path+"`")
	if want := mustRun(t, s, "DESCRIBE copy"); got != want {
		t.Errorf("DESCRIBE of a file gives\n%sof a table made of it\n%s", got, want)
	}
	if got := mustRun(t, s, "EXPLAIN SELECT id FROM `"+path+"`"); !strings.Contains(got, "scan x (") {
		t.Errorf("EXPLAIN does not scan x:\n%s", got)
	}
}

// A name that is a file's, but of no kind that can be read, is told from a table that is missing.
func TestUnknownKindOfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.foo")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, database.Options{Threads: 1})
	for name, says := range map[string]string{path: "a file of this name exists", path + ".no": "doesn't exist"} {
		_, err := run(context.Background(), s, "SELECT * FROM `"+name+"`")
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.CodeNoSuchTable || !strings.Contains(e.Error(), says) || (e.Hint == "") != (name != path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What SHOW CREATE TABLE prints makes the same table again.
func TestShowCreateTableRoundTrip(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT PRIMARY KEY, b DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3), c INT DEFAULT (LENGTH('a)')), "+
		"d DATETIME DEFAULT NOW(), e VARCHAR(10) NOT NULL DEFAULT 'it''s', f INT DEFAULT -3, UNIQUE KEY u (e, f))")
	create := func() string {
		stmts, err := s.Parse("SHOW CREATE TABLE t")
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Execute(context.Background(), stmts[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		b, err := res.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return b.Cols[1].StringAt(0)
	}
	first := create()
	mustRun(t, s, "DROP TABLE t")
	mustRun(t, s, first)
	if second := create(); second != first {
		t.Errorf("\n%s\nmakes\n%s", first, second)
	}
}

// TestTimeHints checks that hints bound the time of their statement and of no other.
func TestTimeHints(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	for _, hint := range []string{"MAX_EXECUTION_TIME(20)", "SET_VAR(max_execution_time = 20)"} {
		begin := time.Now()
		_, err := run(context.Background(), s, "SELECT /*+ "+hint+" */ SLEEP(20)")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 10*time.Second {
			t.Errorf("%s: %v after %v", hint, err, time.Since(begin))
		}
		mustRun(t, s, "SELECT SLEEP(0.05)")
	}
}

// EXPLAIN ANALYZE tells how many groups the CPU found, and in what form it held them. Of pipelines that end in the same groups the last
// one tells it.
func TestExplainAnalyzeTellsGroups(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, Device: gpu.Never})
	mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 199) SELECT n FROM r;
		CREATE TABLE t AS SELECT a.n * 200 + b.n AS id, (a.n * 200 + b.n) * 1000003 AS sorted, b.n % 7 AS few, (a.n * 31 + b.n) * 1000000000000007 AS wide, a.n * 1.5e0 AS x, CONCAT('word', b.n % 3) AS word
		FROM d AS a JOIN d AS b ORDER BY id`)
	for _, c := range []struct{ sql, form string }{
		{"SELECT few, COUNT(*) FROM t GROUP BY few", "groups in an array"},
		{"SELECT wide, COUNT(*) FROM t GROUP BY wide", "keys of one word"},
		{"SELECT wide, id, COUNT(*) FROM t GROUP BY wide, id", "keys of two words"},
		{"SELECT wide, x, id, COUNT(*) FROM t GROUP BY wide, x, id", "keys of several words"},
		{"SELECT wide, CAST(id AS DECIMAL(30, 2)), COUNT(*) FROM t GROUP BY 1, 2", "keys as bytes"},
		{"SELECT /*+ STREAM_AGG() */ sorted, COUNT(*) FROM t GROUP BY sorted", "runs of equal keys"},
		{"SELECT wide FROM t UNION SELECT n FROM d", "keys of one word"},
		{"SELECT word FROM t UNION SELECT 'x'", "keys of one string"}, // 'x' is not in the dictionary
	} {
		groups := len(values(t, s, c.sql))
		got := mustRun(t, s, "EXPLAIN ANALYZE "+c.sql)
		if strings.Count(got, " groups, ") != 1 || !strings.Contains(got, fmt.Sprintf(" %d groups, ", groups)) || strings.Count(got, ", "+c.form+"]") != 1 {
			t.Errorf("%s has %d groups in the form %q; EXPLAIN ANALYZE is\n%s", c.sql, groups, c.form, got)
		}
		if got = mustRun(t, s, "EXPLAIN ANALYZE FORMAT = 'json' "+c.sql); strings.Count(got, fmt.Sprintf("\"text\": %q", c.form)) != 1 {
			t.Errorf("%s has groups in the form %q; EXPLAIN ANALYZE is\n%s", c.sql, c.form, got)
		}
	}
}

func TestExplainFormats(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	pipelines, tree := mustRun(t, s, "EXPLAIN SELECT 1"), mustRun(t, s, "EXPLAIN FORMAT=TREE SELECT 1")
	if !strings.HasPrefix(pipelines, "pipeline 0 on cpu") || !strings.HasPrefix(tree, "rows  plan\n  ~1  result\n      └─ project 1\n") {
		t.Errorf("%s\n%s", pipelines, tree)
	}
	for sql, want := range map[string]string{"explain format = tree select 1": tree, "DESC FORMAT='tree' SELECT 1": tree, "EXPLAIN FORMAT=pipelines SELECT 1": pipelines,
		"EXPLAIN FORMAT = 'pipelines' SELECT 1": pipelines, "SET explain_format = 'tree'; EXPLAIN SELECT 1": tree, "SET explain_format = 'traditional'; EXPLAIN SELECT 1": pipelines} {
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("%s gives\n%s, want\n%s", sql, got, want)
		}
	}
	if _, err := run(context.Background(), s, "SET explain_format = 'boxes'"); err == nil {
		t.Error("explain_format takes boxes")
	}
	if got := mustRun(t, s, "EXPLAIN ANALYZE FORMAT=TREE SELECT 1"); !strings.Contains(got, " ms") {
		t.Errorf("EXPLAIN ANALYZE FORMAT=TREE gives no times:\n%s", got)
	}
	_, err := run(context.Background(), s, "EXPLAIN FORMAT=TREE SELECT 1 +")
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Pos.Offset != len("EXPLAIN FORMAT=TREE SELECT 1 +") {
		t.Errorf("the position is %v", err)
	}
}

func TestShowFullColumns(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT PRIMARY KEY COMMENT 'the key', b VARCHAR(5), c BLOB)")
	got := mustRun(t, s, "SHOW FULL COLUMNS FROM t")
	for i, want := range []string{"a|int|NULL|NO|PRI|NULL||select,insert,update|the key", "b|varchar(5)|utf8mb4_bin|YES||NULL||select,insert,update|", "c|blob|NULL|YES||NULL||select,insert,update|"} {
		if line := strings.Split(got, "\n")[i]; line != want {
			t.Errorf("got %q, want %q", line, want)
		}
	}
}

func TestRowCount(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT PRIMARY KEY)")
	for _, c := range []struct{ sql, want string }{
		{"INSERT INTO t VALUES (1), (2), (3)", "3"},
		{"DELETE FROM t WHERE a > 1", "2"},
		{"SELECT 1", "-1"},
		{"INSERT INTO t VALUES (1)", "-1"}, // fails
		{"CREATE TABLE u (a INT)", "0"},
	} {
		_, _ = run(context.Background(), s, c.sql) // the duplicate is meant to fail
		if got := strings.TrimSpace(mustRun(t, s, "SELECT ROW_COUNT()")); got != c.want {
			t.Errorf("after %s: %s, want %s", c.sql, got, c.want)
		}
	}
}

// Who writes a file's name without backticks is told how.
func TestFileWithoutBackticks(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	for sql, want := range map[string]string{"SELECT * FROM sales.csv": "FROM `sales.csv`", "SELECT * FROM t JOIN sales.parquet USING (a)": "FROM `sales.parquet`", "SELECT * FROM mian.t": "did you mean 'main'"} {
		_, err := run(context.Background(), s, "CREATE TABLE IF NOT EXISTS t (a INT); "+sql)
		if e := sqlerr.From(err); e == nil || e.Code != sqlerr.CodeUnknownDatabase || !strings.Contains(e.Hint, want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestExplainTree looks at a plan whose pipelines branch: a join's builds, a union, a recursion.
func TestExplainTree(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, "CREATE TABLE a (x INT, y INT); CREATE TABLE b (x INT, z INT); INSERT INTO a VALUES (1, 2), (2, 3), (3, 4); INSERT INTO b VALUES (1, 5), (2, 6); SET explain_format = 'tree'")
	got := mustRun(t, s, "EXPLAIN ANALYZE SELECT y, SUM(z) FROM a JOIN b USING (x) GROUP BY y ORDER BY y")
	lines := 0
	for _, line := range strings.Split(got, "\n")[1:] {
		if strings.HasPrefix(line, "on cpu") {
			break
		}
		if lines++; !strings.Contains(line, " ms ") || !strings.Contains(line, "%") {
			t.Errorf("no time in %q", line)
		}
	}
	for _, want := range []string{"result", "sort", "aggregate", "inner join", "scan main.a", "build", "scan main.b"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if lines < 7 || !strings.Contains(got, "├─ scan") || strings.Contains(got, "join with ") {
		t.Errorf("the tree has %d lines:\n%s", lines, got)
	}
	got = mustRun(t, s, "EXPLAIN WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT n FROM r UNION ALL SELECT x FROM a")
	for _, want := range []string{"recursion r", "rows of the last round", "└─ scan main.a"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
