package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
)

// million makes a table big of a million rows, n from 1.
const million = "CREATE TABLE ten AS SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6" +
	" UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10;" +
	"CREATE TABLE big AS SELECT (((((a.n-1)*10+b.n-1)*10+c.n-1)*10+d.n-1)*10+e.n-1)*10+f.n AS n FROM ten a, ten b, ten c, ten d, ten e, ten f;"

// aliases lists a table under n aliases.
func aliases(table string, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%s a%d", table, i))
	}
	return strings.Join(list, ", ")
}

// Products whose number of rows no float64 can hold are planned like others, and give their first row at once.
func TestHugeProducts(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, Device: gpu.Never})
	mustRun(t, s, million)
	numbers := []int{4, 9, 55, 64, 65, 200}
	if testing.Short() {
		numbers = []int{4, 55}
	}
	for _, n := range numbers {
		sql := "SELECT 1 FROM " + aliases("big", n) + " LIMIT 1"
		if got := mustRun(t, s, sql); got != "1\n" {
			t.Errorf("%d relations: %q", n, got)
		}
		// The rows of a product are never stored: whatever is built on is one table.
		for _, p := range strings.Split(mustRun(t, s, "EXPLAIN "+sql), "pipeline ") {
			if strings.Contains(p, "\n  build") && strings.Contains(p, "join with") {
				t.Errorf("%d relations: a product is stored:\n%s", n, p)
			}
		}
	}
	if got := mustRun(t, s, "SELECT count(*) FROM (SELECT 1 FROM big a, big b, big c, big d LIMIT 5) x"); got != "5\n" {
		t.Errorf("five rows of a product are %q", got)
	}
	if got := mustRun(t, s, "SELECT a.n, b.n, c.n FROM big a, big b, big c WHERE a.n + b.n = c.n AND a.n < 40 AND b.n < 30 ORDER BY 1, 2 LIMIT 2"); got != "1|1|2\n1|2|3\n" {
		t.Errorf("a sum of two columns equal to a third: %q", got)
	}
	// More relations than are ordered at once: joined along a chain, as views that double, and filtered by semi joins.
	mustRun(t, s, "CREATE VIEW w0 AS SELECT n FROM ten")
	for i := 1; i <= 8; i++ {
		mustRun(t, s, fmt.Sprintf("CREATE VIEW w%d AS SELECT a.n FROM w%d a JOIN w%d b", i, i-1, i-1))
	}
	if got := mustRun(t, s, "SELECT 1 FROM w8 LIMIT 1"); got != "1\n" {
		t.Errorf("views that double: %q", got)
	}
	chain := "a0.n > 4 AND a0.n IN (SELECT n FROM ten WHERE n < 8) AND a130.n NOT IN (SELECT n FROM ten WHERE n = 6)"
	for i := range 149 {
		chain += fmt.Sprintf(" AND a%d.n = a%d.n", 149-i, (149-i+7)%150)
	}
	if got := mustRun(t, s, "SELECT a0.n, a149.n FROM "+aliases("ten", 150)+" WHERE "+chain+" ORDER BY 1"); got != "5|5\n7|7\n" {
		t.Errorf("a chain of 150: %q", got)
	}
	for n := 5; n < 15; n++ {
		with := "WITH c0 AS (SELECT 1 AS x UNION ALL SELECT 2)"
		for i := 1; i <= n; i++ {
			with += fmt.Sprintf(", c%d AS (SELECT a.x FROM c%d a JOIN c%d b)", i, i-1, i-1)
		}
		mustRun(t, s, "EXPLAIN "+with+fmt.Sprintf(" SELECT * FROM c%d LIMIT 1", n))
		mustRun(t, s, "EXPLAIN "+with+fmt.Sprintf(" SELECT * FROM c%d a JOIN c%d b", n, n))
	}
}

// Estimates over doubles that lie further apart than the largest double are numbers.
func TestEstimatesOfHugeDoubles(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	// Two heaps of values, so that a bucket of the histogram spans what lies between them.
	mustRun(t, s, million+"CREATE TABLE d AS SELECT IF(n % 2 = 0, -1, 1) * (1.7e308 - n * 1e303) AS x, n AS y FROM big WHERE n <= 1000")
	const sql = "SELECT a.y, b.y FROM d a, d b, d c WHERE a.x < 1.5e308 AND b.x < 1.4e308 AND c.x > -1.75e308 AND a.y = b.y AND b.y = c.y ORDER BY 1 LIMIT 2"
	if got := mustRun(t, s, sql); got != "2|2\n4|4\n" {
		t.Errorf("%q", got)
	}
	if plan := mustRun(t, s, "EXPLAIN "+sql); strings.Contains(plan, "NaN") || strings.Contains(plan, "~1000T") {
		t.Error(plan)
	}
}

// A scan for values that its table does not have is no scan, as long as the table does not have them.
func TestProvablyEmpty(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, Device: gpu.Never})
	mustRun(t, s, "CREATE TABLE t (k INT, s VARCHAR(10), d DECIMAL(6,2), n INT); INSERT INTO t VALUES (1, 'b', 1.50, NULL), (7, 'x', 9.25, NULL)")
	for _, cond := range []string{"k = -1", "k > 7", "k >= 8", "k < 1", "k <= 0", "k IN (-5, 9, 11)", "s = 'a'", "s > 'x'", "d = 9.26", "d < 1.5", "k BETWEEN 8 AND 20"} {
		if plan := mustRun(t, s, "EXPLAIN SELECT count(*) FROM t WHERE "+cond); strings.Contains(plan, "scan") {
			t.Errorf("%s:\n%s", cond, plan)
		}
		if got := mustRun(t, s, "SELECT count(*) FROM t WHERE "+cond); got != "0\n" {
			t.Errorf("%s: %q", cond, got)
		}
	}
	for _, cond := range []string{"k = 1", "k = 4", "k >= 7", "k <= 1", "k <=> NULL", "k IN (-5, 7)", "s = 'b'", "s >= 'x'", "d = 9.25", "d <= 1.5", "k <> 1", "n IS NULL", "NOT k = -1", "k = -1 OR s = 'b'"} {
		if plan := mustRun(t, s, "EXPLAIN SELECT count(*) FROM t WHERE "+cond); !strings.Contains(plan, "scan") {
			t.Errorf("%s:\n%s", cond, plan)
		}
	}
	// What was planned, prepared or begun before rows came does not hold afterwards.
	mustRun(t, s, "PREPARE q FROM 'SELECT count(*) FROM t WHERE k = -1'")
	if got := mustRun(t, s, "EXECUTE q"); got != "0\n" {
		t.Errorf("before: %q", got)
	}
	mustRun(t, s, "INSERT INTO t VALUES (-1, 'a', 0, 0)")
	if got := mustRun(t, s, "EXECUTE q"); got != "1\n" {
		t.Errorf("after: %q", got)
	}
	mustRun(t, s, "UPDATE t SET k = 100 WHERE k = 7; BEGIN; INSERT INTO t VALUES (200, 'a', 0, 0)")
	if got := mustRun(t, s, "SELECT count(*) FROM t WHERE k > 7"); got != "2\n" {
		t.Errorf("in the transaction: %q", got)
	}
	mustRun(t, s, "ROLLBACK; DELETE FROM t WHERE k = 100")
	if got := mustRun(t, s, "SELECT count(*) FROM t WHERE k > 7"); got != "0\n" {
		t.Errorf("after it: %q", got)
	}
	mustRun(t, s, "UPDATE t SET n = 1 WHERE k = 1000; DELETE FROM t WHERE s = 'zzz'; INSERT INTO t SELECT * FROM t WHERE k = 12345")
	if got := mustRun(t, s, "SELECT count(*), sum(n IS NULL) FROM t"); got != "2|1\n" {
		t.Errorf("at last: %q", got)
	}
}
