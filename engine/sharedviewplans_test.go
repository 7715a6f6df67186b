package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
)

// A plan that reads views is kept until one of them, or what they read, changes. What each change leads to is what MySQL gives: a view's columns are those that its
// query had when it was made, whatever is added to its tables; a view that lacks something is an error (1356); names in a view mean no TEMPORARY tables, but a
// TEMPORARY table hides the view of its name (MySQL manual, sections 15.1.23 and 15.1.20.2).
func TestSharedPlansOfViews(t *testing.T) {
	const setup = `
		CREATE TABLE t (id INT, n INT); INSERT INTO t VALUES (1, 10), (2, 20), (2, 30); CREATE TABLE u (id INT, n INT); INSERT INTO u VALUES (7, 70);
		CREATE VIEW low AS SELECT * FROM t WHERE n > 5; CREATE VIEW high AS SELECT id, SUM(n) AS total FROM low GROUP BY id`
	const query, at = "SELECT * FROM high ORDER BY id", "1 10/2 50"
	for _, c := range []struct{ change, want string }{
		{"INSERT INTO t VALUES (3, 40)", "1 10/2 50/3 40"}, {"UPDATE t SET n = n - 6", "2 38"}, {"DELETE FROM t WHERE id = 2", "1 10"}, {"TRUNCATE TABLE t", ""}, {"INSERT INTO u VALUES (8, 1)", at},
		{"CREATE OR REPLACE VIEW low AS SELECT * FROM u", "7 70"}, {"ALTER VIEW low AS SELECT id, n * 2 AS n FROM t", "1 20/2 100"}, {"CREATE OR REPLACE VIEW high AS SELECT id, COUNT(*) FROM low GROUP BY id", "1 1/2 2"},
		{"ALTER VIEW high (x, id) AS SELECT n, id FROM low WHERE n > 10", "20 2/30 2"}, {"DROP VIEW low", "error 1356"}, {"DROP VIEW high", "error 1146"}, {"DROP VIEW low; CREATE VIEW low AS SELECT id, n FROM u", "7 70"},
		{"DROP VIEW low; CREATE TABLE low AS SELECT 4 AS id, 5 AS n", "4 5"}, {"DROP VIEW high; CREATE TABLE high AS SELECT 4 AS id", "4"}, {"ALTER TABLE t ADD COLUMN extra INT FIRST", at}, {"ALTER TABLE t DROP COLUMN n", "error 1356"},
		{"ALTER TABLE t RENAME COLUMN n TO m", "error 1356"}, {"ALTER TABLE t MODIFY n DECIMAL(5,1)", "1 10.0/2 50.0"}, {"RENAME TABLE t TO t2", "error 1356"}, {"RENAME TABLE t TO t2, u TO t", "7 70"}, {"DROP TABLE t", "error 1356"},
		{"DROP TABLE t; CREATE TABLE t (n INT, id INT); INSERT INTO t VALUES (11, 12)", "12 11"}, {"CREATE INDEX byid ON t (id)", at}, {"ANALYZE TABLE t", at},
		{"CREATE TEMPORARY TABLE t (id INT, n INT)", at}, {"CREATE TEMPORARY TABLE low (id INT, n INT)", at}, {"CREATE TEMPORARY TABLE high (id INT)", ""}, {"BEGIN; INSERT INTO t VALUES (9, 90)", "1 10/2 50/9 90"},
		{"BEGIN; INSERT INTO t VALUES (9, 90); ROLLBACK", at}, {"CREATE DATABASE d2; USE d2; CREATE TABLE t (id INT, n INT); CREATE VIEW high AS SELECT * FROM main.low WHERE n < 20", "1 10"},
	} {
		s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
		mustRun(t, s, setup)
		other := s.engine.NewSession()
		if !isKept(t, t.Context(), s, query) || !isKept(t, t.Context(), other, query) {
			t.Fatal("the plan is not kept")
		}
		mustRun(t, s, c.change)
		for range 3 {
			got, err := run(t.Context(), s, query)
			if err != nil {
				got = fmt.Sprintf("error %d", sqlerr.From(err).Code)
			}
			if got = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(got), "|", " "), "\n", "/"); got != c.want {
				t.Errorf("after %s:\n%s\nMySQL gives\n%s", c.change, got, c.want)
			}
		}
		checkStore(t, s.engine)
	}
}

// A session whose TEMPORARY table has the name of one that a view reads keeps plans of the view, unless the statement names that table, too.
func TestSharedPlansOfViewsBesideTemporaryTables(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, keptTables)
	const ofView, ofBoth = "SELECT COUNT(*), SUM(n) FROM seen", "SELECT SUM(seen.n), SUM(b.n) FROM seen JOIN b ON seen.k = b.k"
	other := s.engine.NewSession()
	if !isKept(t, t.Context(), s, ofView) || !isKept(t, t.Context(), other, ofBoth) {
		t.Fatal("the plans are not kept")
	}
	mustRun(t, s, "CREATE TEMPORARY TABLE b (k INT, n INT); INSERT INTO b VALUES (1, 100)")
	if !isKept(t, t.Context(), s, ofView) || isKept(t, t.Context(), s, ofBoth) {
		t.Error("a TEMPORARY table counts where the statement names it, and nowhere else")
	}
	if mine, theirs := mustRun(t, s, ofBoth), mustRun(t, other, ofBoth); mine != "1|100\n" || theirs != "6|10\n" {
		t.Errorf("the session with the TEMPORARY table gets %q, the other one %q", mine, theirs)
	}
	checkStore(t, s.engine)
}

// A view that was dropped or defined anew is not held by plans that read it.
func TestSharedPlansHoldNoOldViews(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, keptTables)
	for _, change := range []string{"CREATE OR REPLACE VIEW seen AS SELECT k, MAX(n) AS n FROM b GROUP BY k", "ALTER VIEW seen AS SELECT k, n FROM b", "DROP VIEW seen"} {
		if !isKept(t, t.Context(), s, "SELECT COUNT(*), SUM(n) FROM seen") {
			t.Fatal("the plan is not kept")
		}
		old := func() weak.Pointer[catalog.View] {
			v, err := s.Snapshot().View(s.Session.Database, "seen")
			if err != nil {
				t.Fatal(err)
			}
			return weak.Make(v)
		}()
		mustRun(t, s, change)
		if n := storeLength(s.engine); n != 0 {
			t.Errorf("after %s %d plans are kept", change, n)
		}
		for i := 0; old.Value() != nil; i++ {
			if runtime.GC(); i == 20 {
				t.Fatalf("the old view is held after %s", change)
			}
		}
	}
}
