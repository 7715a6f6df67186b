package engine

import (
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// TestNotInByKeys: NOT IN whose subquery's rows an equality chooses looks up keys where a key has many rows; NULLs are looked up too, not compared. test/sqllogic's
// notin.slt has the answers.
func TestNotInByKeys(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE few (k INT, v INT); CREATE TABLE many (k INT, v INT)")
	mustRun(t, s, "INSERT INTO few WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 100) SELECT n, n FROM s")
	mustRun(t, s, "INSERT INTO many SELECT k % 4, NULLIF(v, 50) FROM few")
	for _, c := range []struct {
		table string
		joins int
	}{{"few", 2}, {"many", 3}} {
		plan := mustRun(t, s, "EXPLAIN SELECT COUNT(*) FROM few AS a WHERE a.v NOT IN (SELECT b.v FROM "+c.table+" AS b WHERE b.k = a.k)")
		if n := strings.Count(plan, "mark join with"); n != c.joins {
			t.Errorf("%d mark joins with %s, want %d:\n%s", n, c.table, c.joins, plan)
		}
		if byKeys := strings.Contains(plan, "equality of 2 keys"); byKeys != (c.table == "many") {
			t.Errorf("%s by keys: %v\n%s", c.table, byKeys, plan)
		}
	}
}
