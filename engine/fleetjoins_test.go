package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestJoinsMoveRows joins tables whose rows lie over several devices, in partitions that move between them, and compares rows with the CPU's: all kinds of joins, keys of several types with NULLs, one pass and
// two, partitions too small at first, tables too small for a partition, and pipelines that run again because their sink was too small.
func TestJoinsMoveRows(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 79) SELECT n FROM r;
			CREATE TABLE r AS SELECT IF(b.n % 11 = 3, NULL, (a.n * 80 + b.n) * 40503 % 65521) AS k, IF(b.n % 7 = 0, NULL, a.n) AS v, CONCAT('row ', b.n, ' of ', a.n) AS c FROM d AS a JOIN d AS b;
			CREATE TABLE s AS SELECT k + (k % 3 = 0) * 70000 AS k, k % 500 AS w, c FROM r;
			CREATE TABLE f AS SELECT IF(a.n < 60, 7, a.n * 80 + b.n) AS k, a.n AS v FROM d AS a JOIN d AS b`)
		for _, x := range []struct {
			sql   string
			moves int // joins that move rows, at the least
		}{
			{"SELECT COUNT(*), SUM(r.v), SUM(s.w) FROM r JOIN s ON r.k = s.k", 1},
			{"SELECT COUNT(*), SUM(r.v), SUM(s.w), MIN(r.c) FROM r JOIN s ON r.c = s.c AND r.k <> s.w", 1},
			{"SELECT COUNT(*), SUM(a.v), SUM(c.w) FROM r AS a JOIN s AS b ON a.k = b.k JOIN s AS c ON b.w = c.w", 1},
			{"SELECT COUNT(*), SUM(a.v), COUNT(b.w), MIN(b.c) FROM r AS a LEFT JOIN s AS b ON a.k = b.k AND b.w > a.v", 1},
			{"SELECT COUNT(*), SUM(a.v), SUM(b.w), COUNT(a.k), COUNT(b.k) FROM r AS a FULL JOIN s AS b ON a.k = b.k", 1},
			{"SELECT COUNT(*), SUM(v) FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.k)", 0},
			{"SELECT COUNT(*), SUM(v) FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k AND s.w < r.v + 300)", 1},
			{"SELECT r.k, COUNT(*), SUM(s.w) FROM r JOIN s ON r.k = s.k GROUP BY r.k ORDER BY 1 LIMIT 20", 0},
			{"SELECT a.k, COUNT(*) FROM r AS a LEFT JOIN s AS b ON a.k = b.k GROUP BY a.k ORDER BY 2 DESC, 1 LIMIT 20", 1},
			{"SELECT COUNT(*), SUM(r.v), SUM(f.v) FROM r JOIN f ON r.v = f.k", 0},
			{"SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM f AS a JOIN f AS b ON a.k = b.k AND a.v = b.v", 1},
			{"SELECT r.v, s.w, r.c FROM r JOIN s ON r.k = s.k ORDER BY r.c, s.w LIMIT 30", 0},
		} {
			want := mustRun(t, s, "SET radish_device = 'cpu'; "+x.sql)
			mustRun(t, s, "SET radish_device = 'gpu_strict'; SET radish_gpu_share = 'always'; SET radish_gpu_join_partitions = 'always'")
			for _, p := range []struct {
				devices      string
				passes, bits int
			}{{"0,0", 2, 5}, {"0,0,0", 2, 5}, {"0,0,0", 1, 7}} {
				mustRun(t, s, fmt.Sprintf("SET radish_gpu_devices = '%s'; SET radish_gpu_join_passes = %d; SET radish_gpu_join_bits = %d", p.devices, p.passes, p.bits))
				if got := mustRun(t, s, x.sql); got != want {
					t.Errorf("%s\nwith %v gives\n%s\nwant\n%s", x.sql, p, got, want)
				}
				text := mustRun(t, s, "EXPLAIN "+x.sql)
				if n := strings.Count(text, "so the join moves rows"); p.passes == 2 && n < x.moves || p.passes == 1 && n > 0 {
					t.Errorf("%s\nwith %v: %d joins move rows:\n%s", x.sql, p, n, text)
				}
			}
		}
		// A join that cannot move rows, as its build reads groups, has them stored before. The other join of the plan moves rows all the same.
		const both = "SELECT COUNT(*), SUM(a.v), SUM(c.w) FROM (SELECT DISTINCT r.c, r.v, s.w FROM r JOIN s ON r.k = s.k) AS a JOIN s AS c ON a.w = c.w"
		want := mustRun(t, s, "SET radish_device = 'cpu'; "+both)
		mustRun(t, s, "SET radish_device = 'gpu_strict'; SET radish_gpu_devices = '0,0,0'; SET radish_gpu_join_passes = 2; SET radish_gpu_join_bits = 5")
		if got := mustRun(t, s, both); got != want {
			t.Errorf("%s\ngives\n%s\nwant\n%s", both, got, want)
		}
		for _, part := range []string{"so the join moves rows", "materialize (v, w), then repartition by w"} {
			if text := mustRun(t, s, "EXPLAIN "+both); !strings.Contains(text, part) {
				t.Errorf("%s\nhas no %q:\n%s", both, part, text)
			}
		}
	})
}
