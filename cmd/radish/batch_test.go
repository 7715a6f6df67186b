package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBatchFlags checks what each flag changes of a script's run.
func TestBatchFlags(t *testing.T) {
	broken := writeFile(t, "broken.sql", "CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nSELECT nosuch FROM t;\nSELECT COUNT(*) + 40 AS n FROM t;\n")
	init := writeFile(t, "init.sql", "CREATE TABLE early (a INT);")
	out := filepath.Join(t.TempDir(), "out.csv")
	for _, tt := range []struct {
		name                 string
		args                 []string
		stdout, stderr, file string
		code                 int
	}{
		{"bail", []string{"--format", "csv", broken}, "", "broken.sql: ERROR 1054", "", 1},
		{"no-bail", []string{"--no-bail", "--format", "csv", broken}, "n\n41\n", "broken.sql: ERROR 1054", "", 1},
		{"echo", []string{"--echo", "--format", "csv", "-c", "SELECT 1 AS x;"}, "SELECT 1 AS x;\nx\n1\n", "", "", 0},
		{"timer", []string{"--timer", "--format", "csv", "-c", "SELECT 1 AS x;"}, "x\n1\n", " s\n", "", 0},
		{"var", []string{"--var", "n=40", "--var", "@s=it's", "--var", "d=1.50", "--format", "csv", "-c", "SELECT @n + 2 AS n, @s AS s, @d AS d"}, "n,s,d\n42,it's,1.50\n", "", "", 0},
		{"var wrong", []string{"--var", "n", "-c", "SELECT 1"}, "", "NAME=VALUE", "", 2},
		{"output", []string{"--output", out, "--format", "csv", "-c", "SELECT 1 AS x; SELECT 2 AS y"}, "", "", "x\n1\ny\n2\n", 0},
		{"output wrong", []string{"--output", "/nonexistent/x", "-c", "SELECT 1"}, "", "cannot write /nonexistent/x", "", 1},
		{"init", []string{"--init", init, "--format", "csv", "-c", "SHOW TABLES"}, "Tables_in_main\nearly\n", "", "", 0},
		{"init wrong", []string{"--init", "nothere.sql", "-c", "SELECT 1"}, "", "nothere.sql", "", 1},
		{"transaction", []string{"--format", "csv", "-c", "CREATE TABLE t (a INT)", "--transaction", "-c", "INSERT INTO t VALUES (1); SELECT nosuch FROM t"}, "", "rolled back", "", 1},
		{"commands", []string{"-c", ".mode csv\n.print start\nSELECT 1 AS x; SELECT 2 AS y;\n.mode json\nSELECT 3 AS z;"}, "start\nx\n1\ny\n2\n[\n{\"z\":3}\n]\n", "", "", 0},
		{"command wrong", []string{"-c", "SELECT 1 AS x;\n\n.nosuch\nSELECT 2;"}, "+", "there is no command .nosuch", "", 1},
		{"vertical", []string{"--format", "csv", "-c", "SELECT 1 AS x\\G\nSELECT '\\G' AS y;\nSELECT 2 AS z\\G .print end"},
			"*************************** 1. row ***************************\nx: 1\ny\nG\n*************************** 1. row ***************************\nz: 2\nend\n", "", "", 0},
		{"quit", []string{"-c", ".mode csv\nSELECT 1 AS x;\n.quit\nSELECT 2 AS y;"}, "x\n1\n", "", "", 0},
		{"read", []string{"--format", "csv", "-c", ".read '" + broken + "'\nSELECT 2 AS y;"}, "", "broken.sql: ERROR 1054 (42S22) at line 3", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, code := runRadish(t, "", tt.args...)
			if code != tt.code || tt.stdout == "+" && stdout == "" || tt.stdout != "+" && stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
				t.Errorf("exit %d\nstdout %q\nstderr %q", code, stdout, stderr)
			}
			if tt.file != "" {
				if text, err := os.ReadFile(out); err != nil || string(text) != tt.file {
					t.Errorf("the file holds %q, %v", text, err)
				}
			}
		})
	}
}

// TestBatchTransaction checks that a file in a transaction leaves all or nothing.
func TestBatchTransaction(t *testing.T) {
	script := writeFile(t, "script.sql", "INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2);\nSELECT nosuch FROM t;")
	good := writeFile(t, "good.sql", "INSERT INTO t VALUES (40);\nINSERT INTO t VALUES (2);")
	init := writeFile(t, "init.sql", "CREATE TABLE t (a INT);")
	end := writeFile(t, "end.sql", "SELECT COALESCE(SUM(a), 0) AS n FROM t;")
	if stdout, stderr, code := runRadish(t, "", "--transaction", "--no-bail", "--format", "csv", init, script, end); stdout != "n\n0\n" || code != 1 || !strings.Contains(stderr, "script.sql is rolled back") {
		t.Errorf("a failing file: exit %d, %q, %q", code, stdout, stderr)
	}
	if stdout, stderr, code := runRadish(t, "", "--transaction", "--format", "csv", init, good, end); stdout != "n\n42\n" || code != 0 {
		t.Errorf("a good file: exit %d, %q, %q", code, stdout, stderr)
	}
}

// TestBatchTransactionCommitted checks that DDL within a transaction commits, that what follows does not, and that this is said.
func TestBatchTransactionCommitted(t *testing.T) {
	script := writeFile(t, "script.sql", "CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nCREATE TABLE u (a INT);\nINSERT INTO t VALUES (2);\nSELECT nosuch FROM t;")
	end := writeFile(t, "end.sql", "SELECT SUM(a) AS n FROM t;")
	stdout, stderr, code := runRadish(t, "", "--transaction", "--no-bail", "--format", "csv", script, end)
	if stdout != "n\n1\n" || code != 1 || !strings.Contains(stderr, "script.sql is rolled back up to line 3, which committed") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// TestPipedCommands pipes commands and statements in, in one write.
func TestPipedCommands(t *testing.T) {
	stdout, stderr, code := runRadish(t, ".mode csv\nSELECT 1 AS x;\n-- a comment\n.headers off\nSELECT 2 AS y\n;\n.print end")
	if stdout != "x\n1\n2\nend\n" || stderr != "" || code != 0 {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// TestCheck checks that every error of a file is reported, and that nothing runs.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	script := writeFile(t, "script.sql", `CREATE TABLE t (a INT, b VARCHAR(10));
SELECT a, c FROM t;
INSERT INTO t VALUES (1);
SELEC 1;
SELECT a FROM t WHERE b LIKE 'x';
.mode csv
.nosuch
CALL tpch_generate(100);
SELECT COUNT(*) FROM lineitem WHERE l_nosuch = 1;
SELECT * FROM t INTO OUTFILE '`+filepath.Join(dir, "never.csv")+`';
DROP TABLE t;
SELECT a
  FROM t;
`)
	stdout, stderr, code := runRadish(t, "", "check", script)
	if code != 1 || stdout != "" {
		t.Errorf("exit %d, %q", code, stdout)
	}
	for _, want := range []string{"at line 2, column 11", "at line 3, column", "at line 4, column 1", "script.sql:7: there is no command .nosuch", "at line 9, column 37", "at line 13, column 8", "12 statements, 6 wrong"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is missing in\n%s", want, stderr)
		}
	}
	if n := strings.Count(stderr, "ERROR "); n != 5 {
		t.Errorf("%d errors of SQL in\n%s", n, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "never.csv")); err == nil {
		t.Error("a query was run")
	}
	good := writeFile(t, "good.sql", "CREATE TABLE t (a INT); INSERT INTO t VALUES (1); SELECT a FROM t")
	if stdout, stderr, code := runRadish(t, "", "check", good); code != 0 || stdout != "3 statements, none wrong\n" || stderr != "" {
		t.Errorf("a good file: exit %d, %q, %q", code, stdout, stderr)
	}
	if _, _, code := runRadish(t, "", "check"); code != exitUsage {
		t.Errorf("no file: exit %d", code)
	}
}
