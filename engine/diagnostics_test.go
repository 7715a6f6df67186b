package engine

import (
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// TestShowErrors asks what went wrong with the statement before: when it was bound and run, and while its rows were.
func TestShowErrors(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)")
	for _, c := range []struct{ sql, code string }{
		{"SELECT * FROM nope", "1146"},
		{"INSERT INTO t VALUES ('x')", "1366"},
		{"SELECT (SELECT a FROM t)", "1242"},
		{"SELECT /*+ MAX_EXECUTION_TIME(1) */ COUNT(*) FROM t AS a JOIN t AS b WHERE SLEEP(1)", "3024"},
	} {
		if _, err := run(t.Context(), s, c.sql); err == nil {
			t.Fatalf("%s has no error", c.sql)
		}
		for _, show := range []string{"SHOW ERRORS", "SHOW WARNINGS"} {
			if got := mustRun(t, s, show); !strings.HasPrefix(got, "Error|"+c.code+"|") || strings.Count(got, "Error|") != 1 {
				t.Errorf("%s after %s gives %q, want one error %s", show, c.sql, got, c.code)
			}
		}
		if got := mustRun(t, s, "SELECT @@error_count"); strings.TrimSpace(got) != "1" {
			t.Errorf("@@error_count after %s is %s", c.sql, got)
		}
		if got := mustRun(t, s, "SHOW ERRORS"); got != "" {
			t.Errorf("errors stay: %q", got)
		}
	}
}

// A statement that cannot be read leaves its error; the next one that can forgets it, and what a statement without tables left, too.
func TestShowSyntaxErrors(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, "SELECT 1 / 0")
	if _, err := s.Parse("SELEC 1"); err == nil {
		t.Fatal("SELEC is read")
	}
	for _, show := range []string{"SHOW ERRORS", "SHOW WARNINGS"} {
		if got := mustRun(t, s, show); !strings.HasPrefix(got, "Error|1064|") || strings.Count(got, "|1064|") != 1 || strings.Contains(got, "1365") {
			t.Errorf("%s gives %q, want error 1064 alone", show, got)
		}
	}
	if got := strings.TrimSpace(mustRun(t, s, "SELECT @@error_count")); got != "1" {
		t.Errorf("@@error_count is %s", got)
	}
	stmts, err := s.Parse("SELECT nope")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Prepare(t.Context(), stmts[0]); err == nil {
		t.Fatal("SELECT nope is prepared")
	}
	if got := mustRun(t, s, "SHOW ERRORS"); !strings.HasPrefix(got, "Error|1054|") {
		t.Errorf("SHOW ERRORS after preparing gives %q, want error 1054", got)
	}
	mustRun(t, s, "SELECT 1 / 0; SELECT 2")
	if got := mustRun(t, s, "SHOW WARNINGS"); got != "" {
		t.Errorf("warnings of the statement before the last are shown: %q", got)
	}
}
