package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/planner/cost"
)

// TestGPUJoinPartitions runs joins in partitions, as variables and SET_VAR want them, and compares their rows with the CPU's. EXPLAIN says how they are partitioned.
func TestGPUJoinPartitions(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 59) SELECT n FROM r;
			CREATE TABLE r AS SELECT (a.n * 60 + b.n) * 40503 % 65521 AS k, IF(b.n % 7 = 0, NULL, a.n) AS v, CONCAT('row ', b.n) AS t FROM d AS a JOIN d AS b;
			CREATE TABLE s AS SELECT k + (k % 3 = 0) * 70000 AS k, k % 500 AS w FROM r`)
		for _, sql := range []string{
			"SELECT COUNT(*), SUM(a.v), SUM(c.w) FROM r AS a JOIN s AS b ON a.k = b.k JOIN s AS c ON b.w = c.w",
			"SELECT COUNT(*), SUM(a.v), MIN(c.t), COUNT(b.w) FROM r AS a LEFT JOIN s AS b ON a.k = b.k LEFT JOIN r AS c ON b.w = c.k AND c.v > a.v",
			"SELECT COUNT(*), SUM(g.n), SUM(r.v) FROM (SELECT w, COUNT(*) AS n FROM s GROUP BY w) AS g JOIN r ON r.k = g.w WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.k + 70000)",
			"SELECT COUNT(*), SUM(r.v) FROM r WHERE k NOT IN (SELECT k FROM s) AND v IN (SELECT w FROM s)",
		} {
			want := textOnCPU(t, s, sql, "gpu_strict")
			with := func(set, sql string) string {
				return strings.Replace(sql, "SELECT", "SELECT /*+ "+set+" */", 1)
			}
			never := with("SET_VAR(radish_gpu_join_partitions = 'never')", sql)
			if text := mustRun(t, s, "EXPLAIN "+never); strings.Contains(text, "partitioned") {
				t.Errorf("%s\nis partitioned:\n%s", never, text)
			}
			if got := mustRun(t, s, never); got != want {
				t.Errorf("%s\ngives %s and not %s", never, got, want)
			}
			for _, x := range []struct {
				passes, bits int
				explained    string
			}{{0, 0, "by one pass of 5 bits"}, {1, 9, "by one pass of 9 bits"}, {2, 6, "by two passes of 6 bits"}} {
				always := with(fmt.Sprintf("SET_VAR(radish_gpu_join_partitions = 'always') SET_VAR(radish_gpu_join_passes = %d) SET_VAR(radish_gpu_join_bits = %d)", x.passes, x.bits), sql)
				if got := mustRun(t, s, always); got != want {
					t.Errorf("%s\ngives %s and not %s", always, got, want)
				}
				text := mustRun(t, s, "EXPLAIN "+always)
				if !strings.Contains(text, "partitioned hash") || !strings.Contains(text, x.explained) || !strings.Contains(text, "radish_gpu_join_partitions is 'always'") {
					t.Errorf("EXPLAIN %s\nsays\n%s", always, text)
				}
				if x.passes == 0 && strings.Count(text, "build partitioned hash") < 2 {
					t.Errorf("EXPLAIN %s\nhas fewer than two joins in partitions:\n%s", always, text)
				}
			}
		}
		for _, sql := range []string{"SET radish_gpu_join_partitions = 'some'", "SET radish_gpu_join_bits = 4", "SET radish_gpu_join_bits = 10", "SET radish_gpu_join_passes = 3"} {
			if _, err := run(t.Context(), s, sql); err == nil {
				t.Errorf("%s: no error", sql)
			}
		}
	})
}

// TestGPUJoinCosts looks at which joins of 2^16 rows are partitioned: where many rows look themselves up, unless partitions were measured to be slow. EXPLAIN says what
// either way costs.
func TestGPUJoinCosts(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		d, err := e.GPU()
		if err != nil {
			t.Fatal(err)
		}
		d.Advisor().SetMeasuredCosts(cost.Default()) // a GPU that was calibrated has other prices
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE r AS SELECT i * 40503 % 65537 * 65521 AS k, i % 100 AS v FROM generate_series(0, 65535) AS g(i);
			CREATE TABLE few AS SELECT k, v FROM r WHERE v < 20; CREATE TABLE least AS SELECT k, v FROM r LIMIT 1000;
			CREATE TABLE s AS SELECT a.k, a.v AS w FROM r AS a JOIN least AS b ON b.k >= 0 AND b.v < 6; SET radish_device = 'gpu_strict'`)
		for _, x := range []struct{ sql, want, costs string }{
			{"SELECT COUNT(*), SUM(v), SUM(w) FROM r JOIN s ON r.k = s.k", "build partitioned hash", "ms, by a table of its own 0."},
			{"SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM r AS a JOIN r AS b ON a.k = b.k", "build hash", "ms, in partitions 0.3"},
			{"SELECT COUNT(*), SUM(v), SUM(w) FROM least JOIN s ON least.k = s.k", "build hash", ""},
			{"SELECT /*+ SET_VAR(radish_gpu_join_partitions = 'never') */ COUNT(*), SUM(v), SUM(w) FROM r JOIN s ON r.k = s.k", "build hash", ""},
		} {
			text := mustRun(t, s, "EXPLAIN "+x.sql)
			if !strings.Contains(text, x.want) || !strings.Contains(text, x.costs) || strings.Contains(text, "about") != (x.costs != "") {
				t.Errorf("%s: want %q and %q in\n%s", x.sql, x.want, x.costs, text)
			}
		}
		slow := cost.Default()
		slow.GPUJoins.Partitions *= 16
		d.Advisor().SetMeasuredCosts(slow)
		if text := mustRun(t, s, "EXPLAIN SELECT COUNT(*), SUM(v), SUM(w) FROM r JOIN s ON r.k = s.k"); !strings.Contains(text, "build hash") {
			t.Errorf("where partitions are slow a table is wanted in\n%s", text)
		}
	})
}

// TestGPUJoinSorted runs joins whose sides are sorted, as hints, variables and SET_VAR want them, and compares their rows with the CPU's. EXPLAIN says how they are sorted, or why not.
func TestGPUJoinSorted(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 59) SELECT n FROM r;
			CREATE TABLE r AS SELECT IF(b.n % 11 = 3, NULL, (a.n * 60 + b.n) * 40503 % 65521) AS k, IF(b.n % 7 = 0, NULL, a.n) AS v, DATE '2020-01-01' + INTERVAL b.n DAY AS t, CONCAT('row ', b.n) AS c FROM d AS a JOIN d AS b;
			CREATE TABLE s AS SELECT k + (k % 3 = 0) * 70000 AS k, k % 500 AS w, t FROM r`)
		for _, x := range []struct{ sql, explained string }{
			{"SELECT COUNT(*), SUM(r.v), SUM(s.w) FROM r JOIN s ON r.k = s.k", "sort-merge inner join"},
			{"SELECT COUNT(*), SUM(r.v), SUM(s.w) FROM r JOIN s ON r.v = s.w", "build rows of"},
			{"SELECT r.v, COUNT(*), MAX(s.t) FROM r JOIN s ON r.k = s.w AND r.v < s.k GROUP BY r.v ORDER BY r.v", "sort-merge inner join"},
			{"SELECT COUNT(*), SUM(a.v), SUM(c.w) FROM r AS a JOIN s AS b ON a.k = b.k JOIN s AS c ON b.w = c.w", "sort-merge inner join"},
			{"SELECT COUNT(*), SUM(r.v), COUNT(s.w), MIN(s.t) FROM r LEFT JOIN s ON r.k = s.k", "sort-merge left join"},
			{"SELECT COUNT(*), SUM(r.k) FROM r JOIN s ON r.t = s.t AND r.k = s.k", "sort-merge inner join"},
			{"SELECT r.k, r.v, r.c, s.w, s.t FROM r JOIN s ON r.k = s.w ORDER BY 1, 2, 3, 4, 5", "sort-merge inner join"},
			{"SELECT COUNT(*), SUM(k) FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.k)", "sort-merge semi join"},
			{"SELECT COUNT(*), SUM(k) FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k)", "sort-merge anti join"},
			{"SELECT COUNT(*), SUM(r.k), SUM(b.k) FROM r FULL JOIN r AS b ON r.k = b.k", "no sort-merge join: rows of the build without a match are wanted"},
			{"SELECT COUNT(*), SUM(r.k) FROM r JOIN r AS b ON r.c = b.c AND r.k = b.k", "no sort-merge join: its keys do not pack into 64 bits"},
		} {
			want := textOnCPU(t, s, x.sql, "gpu_strict")
			hinted := strings.Replace(x.sql, "SELECT", "SELECT /*+ SET_VAR(radish_gpu_join_sorted = 'always') */", 1)
			if got := mustRun(t, s, hinted); got != want {
				t.Errorf("%s\ngives %s and not %s", hinted, got, want)
			}
			if text := mustRun(t, s, "EXPLAIN "+hinted); !strings.Contains(text, x.explained) {
				t.Errorf("EXPLAIN %s\nsays\n%s\nwithout %q", hinted, text, x.explained)
			}
		}
		const sql = "SELECT /*+ MERGE_JOIN(r)%s */ COUNT(*), SUM(r.v), SUM(s.w) FROM r JOIN s ON r.k = s.k"
		want := textOnCPU(t, s, fmt.Sprintf(sql, ""), "gpu_strict")
		for set, explained := range map[string]string{"": "hint MERGE_JOIN", " SET_VAR(radish_gpu_join_sorted = 'never')": "hash inner join"} {
			hinted := fmt.Sprintf(sql, set)
			if got := mustRun(t, s, hinted); got != want {
				t.Errorf("%s\ngives %s and not %s", hinted, got, want)
			}
			text := mustRun(t, s, "EXPLAIN "+hinted)
			if !strings.Contains(text, explained) || strings.Contains(text, "sort-merge") != (set == "") {
				t.Errorf("EXPLAIN %s\nsays\n%s", hinted, text)
			}
		}
		if _, err := run(t.Context(), s, "SET radish_gpu_join_sorted = 'auto'"); err == nil {
			t.Error("SET radish_gpu_join_sorted = 'auto': no error")
		}
	})
}

// TestGPUJoinHints runs joins by each algorithm that a hint asks for, wholly on the device, and compares their rows with those of the CPU without a hint. EXPLAIN names the algorithm.
func TestGPUJoinHints(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 29) SELECT n FROM r;
			CREATE TABLE r AS SELECT IF(b.n % 11 = 3, NULL, (a.n * 30 + b.n) * 211 % 1009) AS k, IF(b.n % 7 = 0, NULL, a.n) AS v, DATE '2020-01-01' + INTERVAL b.n DAY AS t, CONCAT('row ', b.n) AS c FROM d AS a JOIN d AS b;
			CREATE TABLE s AS SELECT k + (k % 3 = 0) * 2000 AS k, k % 50 AS w, t, c FROM r`)
		for _, x := range []struct {
			sql, kind string
			searched  string // INL_JOIN's algorithm
		}{
			{"SELECT COUNT(*), SUM(r.v), SUM(s.w) FROM r JOIN s ON r.k = s.k", "inner join", "index nested loop"},
			{"SELECT COUNT(*), SUM(r.v), SUM(s.w) FROM r JOIN s ON r.t = s.t AND r.v < s.w", "inner join", "index nested loop"},
			{"SELECT COUNT(*), SUM(r.v), SUM(s.w) FROM r LEFT JOIN s ON r.k = s.k", "left join", "index nested loop"},
			{"SELECT COUNT(*), SUM(r.k), SUM(s.w) FROM r JOIN s ON r.c = s.c AND r.k = s.k", "inner join", "nested loop"},
			{"SELECT COUNT(*), SUM(r.k), SUM(s.w) FROM r JOIN s ON r.k <=> s.k", "inner join", "nested loop"},
		} {
			want := mustRun(t, s, "SET radish_device = 'cpu'; "+x.sql)
			for hint, algorithm := range map[string]string{"HASH_JOIN(r)": "hash", "INL_JOIN(r)": x.searched, "MERGE_JOIN(r)": ""} {
				for _, device := range []string{"cpu", "gpu_strict"} {
					mustRun(t, s, "SET radish_device = '"+device+"'")
					hinted := strings.Replace(x.sql, "SELECT", "SELECT /*+ "+hint+" */", 1)
					if got := mustRun(t, s, hinted); got != want {
						t.Errorf("%s: %s\ngives %s and not %s", device, hinted, got, want)
					}
					if text := mustRun(t, s, "EXPLAIN "+hinted); device != "cpu" && algorithm != "" && !strings.Contains(text, "  "+algorithm+" "+x.kind) {
						t.Errorf("EXPLAIN %s\nsays\n%s\nwithout %s %s", hinted, text, algorithm, x.kind)
					}
				}
			}
		}
	})
}
