package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// joinSession has two tables that do not fit some MB: numbers that are unique, repeat or are skewed, some of which the other table has not, with NULLs, doubles,
// decimals and strings, short and long.
func joinSession(t *testing.T) (s *Session, folder string) {
	s, folder = spillSession(t)
	mustRun(t, s, `CREATE TABLE u AS SELECT i, k, skewed, e, f, s, l FROM t UNION ALL SELECT i + 40000, k + 40000, IF(i % 3 = 0, i % 50, i + 40000), e + 10000, f, CONCAT(s, 'y'), CONCAT(l, 'y') FROM t;
		CREATE TABLE a AS SELECT i, k, skewed, e, f, s, l, NULLIF(k % 70011, 7) AS n FROM u;
		CREATE TABLE b AS SELECT i + 13000 AS i, k * 2 AS k, IF(i % 4 = 0, i % 60, i) AS skewed, e, f * 2 AS f, s, CONCAT(l, IF(i % 3 = 0, 'x', '')) AS l,
			NULLIF(k % 80011, 9) AS n FROM u WHERE i % 10 < 9`)
	return s, folder
}

// spilledJoins are statements, with a limit in front of them where it is not 6 MB.
var spilledJoins = []string{
	// INNER, with keys of each form
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.l)) FROM a JOIN b ON a.i = b.i",
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.l)) FROM a JOIN b ON a.s = b.s",
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.s)) FROM a JOIN b ON a.l = b.l",
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.l)) FROM a JOIN b ON a.e = b.e",
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.l)) FROM a JOIN b ON a.f = b.f",
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.l)) FROM a JOIN b ON a.i = b.i AND a.s = b.s",
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.l)) FROM a JOIN b ON a.e <=> b.e AND a.s <=> b.s",
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.l)) FROM a JOIN b ON a.i + 1 = b.i - 3 AND a.k < b.k",
	"SELECT COUNT(*), SUM(a.i * b.k), SUM(CRC32(b.l)) FROM a JOIN b ON a.skewed = b.skewed AND a.i BETWEEN b.i - 9000 AND b.i - 8900",
	// outer
	"SELECT COUNT(*), COUNT(b.i), SUM(a.i), SUM(CRC32(b.l)) FROM a LEFT JOIN b ON a.i = b.i",
	"SELECT COUNT(*), COUNT(b.i), SUM(a.i), SUM(CRC32(b.l)) FROM a LEFT JOIN b ON a.s = b.s AND a.k < b.k",
	"SELECT COUNT(*), COUNT(a.i), SUM(b.i), SUM(CRC32(a.l)) FROM a RIGHT JOIN b ON a.n = b.n AND a.k < b.k",
	"SELECT COUNT(*), COUNT(a.i), COUNT(b.i), SUM(a.i), SUM(b.i), SUM(CRC32(a.l)), SUM(CRC32(b.l)) FROM a FULL JOIN b ON a.i = b.i AND a.k < b.k",
	"SELECT COUNT(*), COUNT(a.i), COUNT(b.i), COUNT(c.i), SUM(c.i), SUM(CRC32(a.l)), SUM(CRC32(b.l)) FROM a FULL JOIN b ON a.i = b.i FULL JOIN b c ON c.n = a.k",
	// semi, anti, mark, single
	"SELECT COUNT(*), SUM(i) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.s = a.s AND b.k > a.k)",
	"SELECT COUNT(*), SUM(i) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.l = a.l)",
	"SELECT COUNT(*), SUM(i) FROM a WHERE l IN (SELECT l FROM b)",
	"4MB: SELECT COUNT(*), SUM(i) FROM a WHERE n NOT IN (SELECT n FROM b WHERE n IS NOT NULL)",
	"4MB: SELECT COUNT(*), SUM(i) FROM a WHERE n NOT IN (SELECT n FROM b)",
	"SELECT COUNT(*), COUNT(m), SUM(m), SUM(i) FROM (SELECT i, s IN (SELECT s FROM b) AS m FROM a) x",
	"4MB: SELECT COUNT(*), COUNT(m), SUM(m), SUM(i) FROM (SELECT i, n IN (SELECT n FROM b WHERE n > 4) AS m FROM a) x",
	"SELECT COUNT(*), SUM(i) FROM a WHERE (i, l) NOT IN (SELECT i, s FROM b)",
	"10MB: SELECT COUNT(*), SUM(x), SUM(i) FROM (SELECT i, (SELECT MAX(b.k) FROM b WHERE b.l = a.l) AS x FROM a) x",
	"SELECT COUNT(*), SUM(x), SUM(i) FROM (SELECT i, (SELECT b.k FROM b WHERE b.i = a.i) AS x FROM a) x",
	// three quarters of the rows have one key
	"5MB: SELECT COUNT(*), SUM(a.i), SUM(b.i), SUM(CRC32(b.l)), SUM(CRC32(b.s)) FROM a JOIN (SELECT i, k, l, s, IF(i % 4 > 0, 7, i) AS z FROM b) b ON a.i = b.z AND b.k <> a.n",
	"5MB: SELECT COUNT(*), COUNT(b.i), SUM(a.i), SUM(b.i), SUM(CRC32(b.l)), SUM(CRC32(b.s)) FROM a LEFT JOIN (SELECT i, l, s, IF(i % 4 > 0, 7, i) AS z FROM b) b ON a.i = b.z AND b.i > a.k",
	"5MB: SELECT COUNT(*), SUM(i) FROM a WHERE NOT EXISTS (SELECT 1 FROM (SELECT i, l, s, IF(i % 4 > 0, 7, i) AS z FROM b) b WHERE b.z = a.i AND (b.i + a.k) % 3 = 0 AND b.l < a.l AND b.s < a.s)",
	// several in a pipeline, and what reads them
	"SELECT COUNT(*), SUM(a.i), SUM(b.k), SUM(CRC32(c.l)) FROM a JOIN b ON a.i = b.i JOIN a c ON c.l = a.l LEFT JOIN b d ON d.s = c.s",
	"SELECT COUNT(*), SUM(n), SUM(n * x) FROM (SELECT b.l, COUNT(*) AS n, SUM(a.i) AS x FROM a LEFT JOIN b ON a.k = b.k GROUP BY b.l) x",
	"SELECT a.i, b.l FROM a JOIN b ON a.l = b.l ORDER BY a.i DESC, b.i LIMIT 5",
	"SELECT COUNT(*), COUNT(CRC32(l)) FROM (SELECT a.i, b.l FROM a FULL JOIN b ON a.l = b.l LIMIT 50) x",
	"SELECT COUNT(*), SUM(r) FROM (SELECT a.i, ROW_NUMBER() OVER (PARTITION BY a.i % 7 ORDER BY a.i) AS r FROM a JOIN b ON a.l = b.l WHERE b.l > '') x",
	"SELECT COUNT(*), SUM(CRC32(l)) FROM (SELECT a.l FROM a JOIN b ON a.i = b.i UNION ALL SELECT b.l FROM b LEFT JOIN a ON a.s = b.s) x",
}

// Joins whose builds do not fit a query's memory give the same as without a limit, and no file is left of them.
func TestJoinsSpill(t *testing.T) {
	s, folder := joinSession(t)
	for i, text := range spilledJoins {
		if testing.Short() && i%8 > 0 {
			continue
		}
		limit, sql, ok := strings.Cut(text, ": ")
		if !ok {
			limit, sql = "6MB", text
		}
		want := mustRun(t, s, sql)
		mustRun(t, s, "SET radish_memory_limit = '"+limit+"'")
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("%s: %swant %s", sql, got, want)
		}
		if text := mustRun(t, s, "EXPLAIN ANALYZE "+sql); strings.Count(text, " rows spilled, ") < 2 {
			t.Errorf("%s: EXPLAIN ANALYZE says nothing of spilled rows: %s", sql, text)
		}
		mustRun(t, s, "SET radish_memory_limit = 0")
	}
	noFiles(t, folder)
}

// Joins write nothing where that is not allowed, and what cannot be written is said.
func TestSpillingJoinsIsBounded(t *testing.T) {
	s, folder := joinSession(t)
	const sql = "SELECT COUNT(*), SUM(CRC32(b.s)) FROM a JOIN b ON a.l = b.l"
	mustRun(t, s, "SET radish_memory_limit = '4MB'")
	fails := func(code sqlerr.Code, says string) {
		t.Helper()
		_, err := run(context.Background(), s, sql)
		if !errors.Is(err, code) || !errors.Is(err, sqlerr.Resource) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that says %q", err, says)
		}
	}
	mustRun(t, s, "SET radish_temp_folder = 'none'")
	fails(sqlerr.CodeCapacityExceeded, "out of memory in join build")
	gone := setGone(t, s, folder)
	fails(sqlerr.CodeErrorOnWrite, "cannot write a temporary file in '"+gone+"'")
	mustRun(t, s, "SET radish_temp_folder = '"+folder+"'")
	mustRun(t, s, sql)
	if _, err := run(context.Background(), s, "SELECT COUNT(*), SUM(1 / (a.i - a.i)), SUM(CAST(b.l AS SIGNED) + 1), SUM(JSON_EXTRACT(b.l, '$')) FROM a JOIN b ON a.l = b.l"); err == nil {
		t.Error("a statement that fails while rows are read gave a result")
	}
	noFiles(t, folder)
	for _, patience := range []time.Duration{2, 10, 40} {
		ctx, cancel := context.WithTimeout(context.Background(), patience*time.Millisecond)
		if _, err := run(ctx, s, "SELECT COUNT(*), SUM(CRC32(b.s)) FROM a JOIN b ON a.l = b.l JOIN b c ON c.skewed = b.skewed"); !errors.Is(err, sqlerr.Cancelled) {
			t.Errorf("a statement that is cancelled after %d ms: %v", patience, err)
		}
		cancel()
		noFiles(t, folder)
	}
}
