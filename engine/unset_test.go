package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// A user variable that nothing has set is NULL as in MySQL, unless radish_unset_variables has it an error; who asks for NULL gets an answer
// whatever it says.
func TestUnsetVariables(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2)")
	file := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(file, []byte("7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := mustRun(t, s, "SELECT COUNT(*) FROM t WHERE a = @day"); got != "0\n" {
		t.Error(got)
	}
	mustRun(t, s, "SET radish_unset_variables = 'warn'; SELECT @day")
	if list := s.Warnings(); len(list) != 1 || !strings.Contains(list[0].Message, "'@day'") {
		t.Error(list)
	}
	mustRun(t, s, "SET radish_unset_variables = 'ERROR'")
	for _, sql := range []string{
		"SELECT * FROM t WHERE a = @day", "SELECT 1 UNION SELECT @day", "SELECT * FROM (SELECT @day AS x) AS y", "INSERT INTO t VALUES (@day, 1)", "UPDATE t SET a = @day", "DELETE FROM t WHERE a > @day",
		"SET @x = @day + 1", "SET @x1 = 1, @y1 = @x1", "SET @day = @day + 1", "SET max_execution_time = @day", "DO @day", "CREATE TABLE u AS SELECT @day AS d", "CALL tpch_generate(@day)", "PREPARE p FROM @day",
		"PREPARE p FROM 'SELECT ?'; EXECUTE p USING @day", "PREPARE p FROM 'SELECT @day'; EXECUTE p", "EXPLAIN SELECT @day", "SELECT @day INTO @z1", "SHOW TABLES WHERE @day = 1", "SELECT 1 LIMIT 1 OFFSET 0; SELECT COALESCE(a, @day) + @other FROM t",
		"LOAD DATA INFILE '" + file + "' INTO TABLE t (@f) SET a = @f, b = @day",
	} {
		_, err := run(context.Background(), s, sql)
		if e := sqlerr.From(err); !errors.Is(err, sqlerr.CodeUnknownVariable) || !strings.Contains(e.Message, "the user variable '@") || !e.Pos.Known() || e.Hint == "" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		"SELECT IFNULL(@day, 3)", "SELECT COALESCE(@day, @night, 3)", "SELECT @day IS NULL", "SELECT IF(@day IS NULL, 1, @day)", "SELECT ISNULL(@day)", "SELECT @@sql_mode", "SELECT a INTO @first FROM t LIMIT 1",
		"SELECT @first + 1", "SET @null = NULL; SELECT @null", "LOAD DATA INFILE '" + file + "' INTO TABLE t (@f) SET a = @f", "SELECT @n := 1, @n + 1", "SELECT '@day'",
	} {
		mustRun(t, s, sql)
	}
	if _, err := run(context.Background(), s, "SELECT @frist"); err == nil || !strings.Contains(sqlerr.From(err).Hint, "did you mean @first?") {
		t.Error(err)
	}
}

// Check knows the files and variables that statements before would have made.
func TestCheckKnowsWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "SET radish_unset_variables = 'error'")
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, tc := range []struct{ sql, want string }{
		{"SELECT * FROM `" + path("a.parquet") + "`", "cannot read"},
		{"SELECT 1 AS a, 'x' AS b INTO OUTFILE '" + path("a.parquet") + "'", ""},
		{"SELECT a, b FROM `" + path("a.parquet") + "`", ""},
		{"SELECT c FROM `" + path("a.parquet") + "`", "Unknown column 'c'"},
		{"SELECT a FROM `" + path("*.parquet") + "`", ""},
		{"SELECT a FROM `" + path("*.csv") + "`", "no file matches"},
		{"SELECT 1 AS d UNION SELECT 2 INTO OUTFILE '" + path("u.csv") + "'", ""},
		{"CREATE TABLE t AS SELECT * FROM `" + path("u.csv") + "`", ""},
		{"SELECT d FROM t", ""},
		{"SELECT 1 AS d INTO OUTFILE '" + path("u.xlsx") + "'", "no format has the ending"},
		{"SELECT @v", "'@v'"},
		{"SELECT 1 INTO @v", ""},
		{"SELECT @v", ""},
		{"SET @w = (SELECT SLEEP(9))", ""},
		{"SELECT @w", ""},
	} {
		stmts, err := s.Parse(tc.sql)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Check(context.Background(), stmts[0])
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.sql, err, tc.want)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
}

// An address is no file: it is refused by name, or by the policy that says which may be read.
func TestAddressesAreNoFiles(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (a INT)")
	for _, address := range []string{"https://example.com/a.csv", "s3://bucket/a.parquet", "file:///tmp/a.csv", "http://example.com/data"} {
		for _, sql := range []string{"SELECT * FROM `" + address + "`", "LOAD DATA INFILE '" + address + "' INTO TABLE t", "IMPORT INTO t FROM '" + address + "' FORMAT 'csv'", "SELECT 1 INTO OUTFILE '" + address + ".txt' FIELDS TERMINATED BY ','"} {
			want := ": an address is not supported"
			switch {
			case strings.HasPrefix(address, "file") || strings.Contains(sql, "OUTFILE"):
			case strings.HasPrefix(sql, "SELECT") && strings.HasSuffix(address, "data"):
				want = "its ending is unknown"
			default:
				want = "is refused: file_access is 'full'"
			}
			if _, err := run(context.Background(), s, sql); err == nil || !strings.Contains(err.Error(), "'"+address) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	if _, err := run(context.Background(), s, "SELECT * FROM `https://example.com/a#1.csv`"); err == nil || !strings.Contains(err.Error(), "# in a name is %23") {
		t.Error(err)
	}
}
