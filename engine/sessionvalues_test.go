package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What a session keeps counts until it is given back, and the error of what does not fit says how.
func TestSessionValuesAreCounted(t *testing.T) {
	const limit = 20 << 20
	for _, c := range []struct{ fill, says, free string }{
		{"SET @x%d = REPEAT('a', 3000000)", "SET @name = NULL", "SET @x%d = NULL"},
		{"SELECT REPEAT('a', 3000000) INTO @x%d", "SET @name = NULL", "SET @x%d = 1"},
		{"SET @t = CONCAT('SELECT LENGTH(''', REPEAT('a', 500000), ''')'); PREPARE p%d FROM @t; SET @t = NULL", "DEALLOCATE PREPARE", "DEALLOCATE PREPARE p%d"},
	} {
		s := newSession(t, database.Options{Threads: 2, MemoryLimit: limit})
		n := 0
		var err error
		for ; err == nil && n < 100; n++ {
			_, err = run(context.Background(), s, fmt.Sprintf(c.fill, n))
		}
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Kind != sqlerr.Resource || !strings.Contains(e.Hint, c.says) || n < 4 {
			t.Fatalf("%s: %v behind %d", c.fill, err, n)
		}
		if used := s.engine.Budget.Used(); used > limit || used < limit/2 || used != s.engine.KeptBudget.Used() {
			t.Errorf("%s: %d bytes are counted, %d as kept", c.fill, used, s.engine.KeptBudget.Used())
		}
		_, err = run(context.Background(), s, "SELECT COUNT(DISTINCT REPEAT(n, 3000000)) FROM (VALUES ROW(1), ROW(2), ROW(3)) v (n)")
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "user variables and prepared statements hold") {
			t.Errorf("%s: another statement's error is %v", c.fill, err)
		}
		mustRun(t, s, fmt.Sprintf(c.free, 0))
		mustRun(t, s, fmt.Sprintf(c.fill, 0))
		s.Close()
		if used := s.engine.Budget.Used(); used != 0 {
			t.Errorf("%s: %d bytes are counted of a closed session", c.fill, used)
		}
	}
}

// Definitions count with what they say: defaults, comments, texts of views.
func TestDefinitionsAreCounted(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, c := range []struct{ make, drop string }{
		{"CREATE VIEW v AS SELECT '" + long + "' AS x", "DROP VIEW v"},
		{"CREATE TABLE t (a LONGTEXT DEFAULT ('" + long + "'))", "DROP TABLE t"},
		{"CREATE TABLE t (a LONGTEXT CHECK (a <> '" + long + "'))", "DROP TABLE t"},
		{"CREATE TABLE t (a INT) COMMENT '" + long + "'", "DROP TABLE t"},
		{"CREATE TABLE t (a ENUM('b', '" + long + "'))", "DROP TABLE t"},
	} {
		s := newSession(t, database.Options{Threads: 2})
		mustRun(t, s, c.make)
		if got := s.engine.MemoryStored(); got < 1<<20 || got > 2<<20 {
			t.Errorf("%.30s...: %d bytes are counted", c.make, got)
		}
		mustRun(t, s, c.drop)
		if got := s.engine.MemoryStored(); got != 0 {
			t.Errorf("%.30s...: %d bytes are left", c.make, got)
		}
	}
}

// Messages do not keep the long values that they tell of.
func TestMessagesAreShort(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "SELECT CAST(REPEAT('x', 1000000) AS DATE)")
	if w := s.Warnings(); len(w) != 1 || len(w[0].Message) > 4096 || !strings.Contains(w[0].Message, "xxx ... xxx") {
		t.Errorf("%d warnings: %.100s", len(w), fmt.Sprint(w))
	}
}
