package engine

import (
	"strings"
	"testing"
)

// TestAveragesBesideDistinct computes averages beside DISTINCT aggregates, for which the rule rewrite_distinct makes them of sums and counts, as they are without it:
// on the CPU and on a GPU.
func TestAveragesBesideDistinct(t *testing.T) { eachGPU(t, testAveragesBesideDistinct) }

func testAveragesBesideDistinct(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CREATE TABLE n AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 700) SELECT n FROM r")
	// Averages have four digits behind the point more: those with nine or eighteen are cut, others rounded.
	mustRun(t, s, `CREATE TABLE t (k INT, x INT, i INT, b BIGINT, u BIGINT UNSIGNED, d DECIMAL(12, 2), e DECIMAL(12, 5), f DECIMAL(25, 14), w DECIMAL(38, 10), z DECIMAL(38, 30), p DOUBLE, q FLOAT, y DATE);
		INSERT INTO t SELECT NULLIF(n % 5, 3), NULLIF(n % 11, 4), NULLIF(n, 9), (n - 300) * 9007199254740993, CAST(n AS UNSIGNED) * 26000000000000000, (n - 99) / 7, (n - 350) / 13, (n - 350) / 17, (n - 350) * 123456789012345.6789,
			n / 7, IF(n % 7 = 0, NULL, n / 8), n / 4, DATE_ADD(DATE '2024-02-20', INTERVAL n % 90 DAY) FROM n;
		INSERT INTO t (k, x) VALUES (9, NULL), (10, 1), (10, 1), (10, 2)`)
	const averages = "AVG(i), AVG(b), AVG(u), AVG(d), AVG(e), AVG(f), AVG(w), AVG(z), AVG(p), AVG(q), AVG(y), AVG(-e), AVG(d * e), AVG(i) + 0.00001, AVG(i / 3)"
	for _, sql := range []string{
		"SELECT k, COUNT(DISTINCT x), " + averages + " FROM t GROUP BY k ORDER BY k",
		"SELECT COUNT(DISTINCT x), SUM(DISTINCT x), AVG(DISTINCT x), COUNT(i), SUM(e), " + averages + " FROM t",
		"SELECT COUNT(DISTINCT x), " + averages + " FROM t WHERE k > 10",
		"SELECT k, COUNT(DISTINCT x), " + averages + " FROM t WHERE k > 10 GROUP BY k",
		"SELECT k, COUNT(DISTINCT x, i), " + averages + " FROM t GROUP BY k HAVING AVG(i) > 340 ORDER BY k",
		"SELECT k % 2, COUNT(DISTINCT n) FROM (SELECT k, AVG(i) AS n, COUNT(DISTINCT x) AS m FROM t GROUP BY k) AS g GROUP BY k % 2 ORDER BY 1",
	} {
		sameWithoutRewriting(t, s, sql)
	}
}

// TestSeveralDistinct computes DISTINCT aggregates of several arguments, and others beside them, which a GPU joins from several aggregations.
func TestSeveralDistinct(t *testing.T) { eachGPU(t, testSeveralDistinct) }

func testSeveralDistinct(t *testing.T, e *Engine) {
	s := e.NewSession()
	mustRun(t, s, "CREATE TABLE n AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 990) SELECT n FROM r")
	mustRun(t, s, `CREATE TABLE t (k INT, g VARCHAR(10), h DOUBLE, x INT, y VARCHAR(10), z DECIMAL(12, 2), id INT);
		INSERT INTO t SELECT NULLIF(n % 5, 3), IF(n % 7 = 2, NULL, CONCAT('g', n % 3)), NULLIF(n % 4, 1) / 8 - 0.125, NULLIF(n % 11, 4), IF(n % 13 = 1, NULL, CONCAT('y', n % 9)), n / 3, n FROM n;
		INSERT INTO t SELECT k + 1, g, h, x, CONCAT(y, 'z'), z, id + 2000 FROM t;
		INSERT INTO t (k, x) VALUES (9, NULL), (10, 1), (10, 1), (10, 2);
		CREATE TABLE u (x INT, w INT); INSERT INTO u VALUES (1, 5), (2, 5), (2, NULL), (3, 7), (NULL, 8), (7, 9)`)
	mustRun(t, s, "SET radish_device = 'cpu'")
	for sql, times := range map[string]int{
		"SELECT COUNT(DISTINCT x), COUNT(DISTINCT y) FROM t WHERE id > 7":              2,
		"SELECT COUNT(DISTINCT x), COUNT(DISTINCT y) FROM t WHERE y LIKE '%z'":         1, // which costs more than a set
		"SELECT COUNT(DISTINCT t.x), COUNT(DISTINCT w) FROM t JOIN u ON t.x = u.x":     2, // both tables once
		"SELECT COUNT(DISTINCT x), COUNT(DISTINCT w) FROM u":                           1, // few rows
		"SELECT COUNT(DISTINCT x, y), COUNT(DISTINCT x), GROUP_CONCAT(y) FROM t":       3,
		"SELECT k, COUNT(DISTINCT x), GROUP_CONCAT(DISTINCT y) AS y FROM t GROUP BY k": 1,
	} {
		plan := mustRun(t, s, "EXPLAIN "+sql)
		if strings.Count(plan, " scan main.") != times {
			t.Errorf("the CPU does not scan %d times for %s:\n%s", times, sql, plan)
		}
	}
	for _, sql := range []string{
		"SELECT COUNT(DISTINCT x), COUNT(DISTINCT y) FROM t",
		"SELECT COUNT(DISTINCT x), COUNT(DISTINCT y), COUNT(*), SUM(DISTINCT z), AVG(z), STD(z) FROM t WHERE id > 5000",
		"SELECT k, COUNT(DISTINCT x), COUNT(DISTINCT y), COUNT(DISTINCT x, y), SUM(z), MIN(y), COUNT(*) FROM t GROUP BY k ORDER BY k",
		"SELECT g, h, COUNT(DISTINCT x), AVG(DISTINCT z), SUM(DISTINCT x), STD(z), VAR_SAMP(h) FROM t GROUP BY g, h ORDER BY g, h",
		"SELECT k, STD(z), COUNT(DISTINCT x) FROM t WHERE y <> 'y3' GROUP BY k HAVING COUNT(DISTINCT x) > 2 ORDER BY k",
		"SELECT k + 1 AS j, COUNT(DISTINCT x % 3), COUNT(DISTINCT CONCAT(y, g)) FROM t GROUP BY k + 1 ORDER BY 1",
		"SELECT w, COUNT(DISTINCT k), COUNT(DISTINCT y), COUNT(DISTINCT g), BIT_XOR(id) FROM t JOIN u ON t.x = u.x GROUP BY w ORDER BY w",
		"SELECT id, COUNT(DISTINCT x), COUNT(DISTINCT k), COUNT(*) FROM t GROUP BY id ORDER BY id",
		"SELECT SUM(a), SUM(b) FROM (SELECT k, COUNT(DISTINCT x) AS a, COUNT(DISTINCT y) AS b FROM (SELECT k, x, y FROM t UNION ALL SELECT w, x, 'y1' FROM u) AS v GROUP BY k) AS g",
		"SELECT u.w, (SELECT COUNT(DISTINCT t.k) * 100 + COUNT(DISTINCT t.y) FROM t WHERE t.x = u.x) FROM u ORDER BY 1, 2",
	} {
		sameWithoutRewriting(t, s, sql)
	}
}

// sameWithoutRewriting runs a statement on the CPU and on the GPU with the rule rewrite_distinct, and compares what it gives with what it gives without.
func sameWithoutRewriting(t *testing.T, s *Session, sql string) {
	t.Helper()
	mustRun(t, s, "SET radish_disabled_rules = 'rewrite_distinct', radish_device = 'cpu'")
	want := values(t, s, sql)
	mustRun(t, s, "SET radish_disabled_rules = ''")
	for _, device := range []string{"cpu", "gpu_strict"} {
		mustRun(t, s, "SET radish_device = '"+device+"'")
		got := values(t, s, sql)
		if len(got) != len(want) {
			t.Errorf("%s on %s gives %d rows, want %d", sql, device, len(got), len(want))
			continue
		}
		for i := range got {
			for c, x := range got[i] {
				if !nearly(x, want[i][c]) {
					t.Errorf("%s on %s: column %d of row %d is %s, want %s", sql, device, c, i, rowTexts(got[i : i+1])[0], rowTexts(want[i : i+1])[0])
					break
				}
			}
		}
	}
}
