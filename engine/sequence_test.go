package engine

import (
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// RAND with a constant seed gives one sequence, however many workers there are. The figures are MariaDB's, over seq_1_to_1000000.
func TestSeededRand(t *testing.T) {
	for _, threads := range []int{1, 5} {
		s := newSession(t, database.Options{Threads: threads})
		mustRun(t, s, "CREATE TABLE t AS WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 1000) SELECT (x.a - 1) * 1000 + y.a AS a FROM r AS x, r AS y")
		for _, tc := range []struct{ sql, want string }{
			{"SELECT COUNT(*) FROM t WHERE RAND(7) < 0.5", "499396"},
			{"SELECT ROUND(SUM(r), 6) FROM (SELECT RAND(7) AS r FROM t) AS d", "500302.929683"},
			{"SELECT ROUND(SUM(RAND(7)), 6) FROM t", "500302.929683"},
			{"SELECT RAND(3) FROM t LIMIT 3", "0.9057697559760601 0.37307905813034536 0.14808605345719125"},
			{"SELECT SUM(r = q) FROM (SELECT a, RAND(7) AS r FROM t) AS x JOIN (SELECT a, RAND(7) AS q FROM t) AS y USING (a)", "1000000"},
		} {
			got := strings.ReplaceAll(strings.TrimSpace(mustRun(t, s, tc.sql)), "\n", " ")
			if got != tc.want {
				t.Errorf("%d threads: %s: %q, want %q", threads, tc.sql, got, tc.want)
			}
		}
	}
}
