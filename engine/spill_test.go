package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// spillSession has a table whose groups do not fit some MB: 40,000 rows of numbers that repeat, or not, or hardly, with NULLs and strings, short and long.
func spillSession(t *testing.T) (s *Session, folder string) {
	s = newSession(t, database.Options{Threads: 2, Device: gpu.Never})
	mustRun(t, s, `CREATE TABLE t AS WITH d AS (SELECT column1 AS d FROM (VALUES ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7), ROW(8), ROW(9)) x (column1)),
		n AS (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS i FROM d a, d b, d c, d e, d f WHERE f.d < 4)
		SELECT i, i * 7919 % 39989 AS k, IF(i % 3 = 0, i % 50, i) AS skewed, NULLIF(i * 31 % 29009, 5) / 4 AS e, CAST(i % 30011 AS DOUBLE) AS f,
			IF(i % 10 = 0, NULL, CONCAT('key ', i * 13 % 35027)) AS s, CONCAT(REPEAT('long ', i % 40), i * 17 % 39019) AS l FROM n`)
	folder = t.TempDir()
	mustRun(t, s, "SET radish_temp_folder = '"+folder+"'")
	return s, folder
}

// Groups that do not fit a query's memory are those that fit it without a limit, and no file is left of them.
func TestGroupsSpill(t *testing.T) {
	s, folder := spillSession(t)
	for _, key := range []string{"k", "e", "f", "s", "l", "k, s", "skewed, l, e"} {
		if testing.Short() && key != "s" && key != "k" {
			continue
		}
		inner := fmt.Sprintf("SELECT %s, COUNT(*) AS n, SUM(i) AS x, MIN(s) AS a, MAX(l) AS b, AVG(k) AS c, ANY_VALUE(e) AS g FROM t GROUP BY %[1]s", key)
		sql := "SELECT COUNT(*), SUM(n), SUM(n * n), SUM(x * x), SUM(CRC32(a)), SUM(CRC32(b)), SUM(c) FROM (" + inner + ") x"
		want := mustRun(t, s, sql)
		mustRun(t, s, "SET radish_memory_limit = '5MB'")
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("GROUP BY %s: %swant %s", key, got, want)
		}
		if key == "k" {
			if text := mustRun(t, s, "EXPLAIN ANALYZE "+sql); !strings.Contains(text, " rows spilled, ") {
				t.Errorf("EXPLAIN ANALYZE says nothing of spilled rows: %s", text)
			}
		}
		mustRun(t, s, "SET radish_memory_limit = 0")
	}
	for _, sql := range []string{
		"SELECT COUNT(*), SUM(CRC32(l)) FROM (SELECT DISTINCT l, s FROM t) x",
		"SELECT COUNT(DISTINCT l), COUNT(DISTINCT k), COUNT(DISTINCT s) FROM t",
		"SELECT COUNT(*), SUM(n) FROM (SELECT skewed % 7 AS g, COUNT(DISTINCT l) AS n FROM t GROUP BY g) x",
		"SELECT k, COUNT(*) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 7",
		"WITH g AS (SELECT l, COUNT(*) AS n FROM t GROUP BY l) SELECT COUNT(*), SUM(n), (SELECT MAX(n) FROM g) FROM g", // read twice
		"SELECT COUNT(*), SUM(CRC32(l)) FROM (SELECT l FROM t UNION SELECT s FROM t) x",
	} {
		want := mustRun(t, s, sql)
		mustRun(t, s, "SET radish_memory_limit = '8MB'")
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("%s: %swant %s", sql, got, want)
		}
		mustRun(t, s, "SET radish_memory_limit = 0")
	}
	noFiles(t, folder)
}

func noFiles(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// setGone makes the session's temporary folder one that goes away, and returns it.
func setGone(t *testing.T, s *Session, folder string) string {
	t.Helper()
	gone := folder + "/gone"
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, "SET radish_temp_folder = '"+gone+"'")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	return gone
}

// Nothing is written where that is not allowed, and what cannot be written is said.
func TestSpillingIsBounded(t *testing.T) {
	s, folder := spillSession(t)
	const sql = "SELECT COUNT(*) FROM (SELECT l, COUNT(*) FROM t GROUP BY l) x"
	mustRun(t, s, "SET radish_memory_limit = '5MB'")
	fails := func(s *Session, code sqlerr.Code, says string) {
		t.Helper()
		_, err := run(context.Background(), s, sql)
		if !errors.Is(err, code) || !errors.Is(err, sqlerr.Resource) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that says %q", err, says)
		}
	}
	mustRun(t, s, "SET radish_temp_folder = 'none'")
	fails(s, sqlerr.CodeCapacityExceeded, "out of memory in aggregation")
	for _, folder := range []string{folder + "/missing", folder + "/none"} {
		if _, err := run(context.Background(), s, "SET radish_temp_folder = '"+folder+"'"); !errors.Is(err, sqlerr.User) {
			t.Errorf("a folder that is not there: %v", err)
		}
	}
	gone := setGone(t, s, folder)
	fails(s, sqlerr.CodeErrorOnWrite, "cannot write a temporary file in '"+gone+"'")
	mustRun(t, s, "SET radish_temp_folder = '"+folder+"'")
	mustRun(t, s, sql)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := run(ctx, s, "SELECT COUNT(*) FROM (SELECT x.l, y.i, COUNT(*) FROM t x, t y GROUP BY x.l, y.i) x"); !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("a cancelled statement: %v", err)
	}
	for _, access := range []string{"read", "none"} {
		mustRun(t, s, "SET radish_file_access = '"+access+"'")
		fails(s, sqlerr.CodeCapacityExceeded, "out of memory in aggregation")
	}
	noFiles(t, folder)
}
