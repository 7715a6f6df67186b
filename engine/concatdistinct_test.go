package engine

import (
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// GROUP_CONCAT of DISTINCT values over many equal rows gives what it gives without DISTINCT over rows of which none are equal.
func TestConcatDistinctOfManyRows(t *testing.T) {
	s := newSession(t, database.Options{Threads: 3})
	mustRun(t, s, `SET group_concat_max_len = 1000000; CREATE TABLE t AS SELECT i, i % 7 AS g, NULLIF(i % 31, 5) AS few, i * 7919 % 100003 AS many, CONCAT('s', i % 53) AS s, CAST(i % 11 / 4 AS DECIMAL(6, 2)) AS d, i % 13 / 8e0 - 1 AS x
		FROM generate_series(1, 120000) AS r(i)`)
	for _, c := range [][2]string{
		{"SELECT g, GROUP_CONCAT(DISTINCT few ORDER BY few) FROM t GROUP BY g ORDER BY g", "SELECT g, GROUP_CONCAT(few ORDER BY few) FROM (SELECT DISTINCT g, few FROM t) q GROUP BY g ORDER BY g"},
		{"SELECT g, GROUP_CONCAT(DISTINCT s, d ORDER BY d DESC, s SEPARATOR ' ') FROM t GROUP BY g ORDER BY g", "SELECT g, GROUP_CONCAT(s, d ORDER BY d DESC, s SEPARATOR ' ') FROM (SELECT DISTINCT g, s, d FROM t) q GROUP BY g ORDER BY g"},
		{"SELECT GROUP_CONCAT(DISTINCT x ORDER BY x) FROM t", "SELECT GROUP_CONCAT(x ORDER BY x) FROM (SELECT DISTINCT x FROM t) q"},
		{"SELECT g, MD5(GROUP_CONCAT(DISTINCT many ORDER BY many)) FROM t GROUP BY g ORDER BY g", "SELECT g, MD5(GROUP_CONCAT(many ORDER BY many)) FROM (SELECT DISTINCT g, many FROM t) q GROUP BY g ORDER BY g"},
		// The first of equal values in the order counts, wherever its row lies.
		{"SELECT g, GROUP_CONCAT(DISTINCT s ORDER BY i DESC) FROM t GROUP BY g ORDER BY g", "SELECT g, GROUP_CONCAT(s ORDER BY m DESC) FROM (SELECT g, s, MAX(i) AS m FROM t GROUP BY g, s) q GROUP BY g ORDER BY g"},
		{"SELECT g, GROUP_CONCAT(DISTINCT few ORDER BY d, few) FROM t GROUP BY g ORDER BY g", "SELECT g, GROUP_CONCAT(few ORDER BY m, few) FROM (SELECT g, few, MIN(d) AS m FROM t GROUP BY g, few) q GROUP BY g ORDER BY g"},
	} {
		if got, want := mustRun(t, s, c[0]), mustRun(t, s, c[1]); got != want || len(got) < 50 {
			t.Errorf("%s gives\n%s, want\n%s", c[0], got, want)
		}
	}
}
