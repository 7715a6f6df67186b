package engine

import "testing"

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
