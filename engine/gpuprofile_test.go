package engine

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestGPUProfileCounts wants EXPLAIN ANALYZE to tell of each aggregation on the GPU as many groups as the CPU finds, whatever form they are kept in, and of
// each kernel that reads a table a share of the memory's speed.
func TestGPUProfileCounts(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 99) SELECT n FROM r;
			CREATE TABLE t AS SELECT a.n * 100 + b.n AS id, (a.n * 100 + b.n) % 37 AS few, (a.n * 100 + b.n) % 211 * 10000019 AS sparse,
				(a.n * 100 + b.n) % 89 * 90000000000000001 - 4000000000000000001 AS wide, CONCAT('word', b.n % 11) AS word, IF(a.n = 5, NULL, b.n % 7) AS nullable, a.n * 1.5e0 AS x
				FROM d AS a JOIN d AS b`)
		for _, keys := range []string{"few", "sparse", "wide", "nullable", "word", "word, few", "x, word", "wide, x", "nullable, sparse", ""} {
			sql := "SELECT SUM(id), COUNT(*) FROM t"
			if keys != "" {
				sql += " GROUP BY " + keys
			}
			want := int64(len(values(t, s, sql)))
			text := mustRun(t, s, "EXPLAIN ANALYZE FORMAT = 'json' "+strings.Replace(sql, "SELECT", "SELECT /*+ SET_VAR(radish_device='gpu') */", 1))
			var plan struct {
				Pipelines []struct {
					Device string
					Actual struct {
						Share float64 `json:"bandwidth_share"`
					}
					Operators []struct {
						Actual struct {
							Read   *int64 `json:"rows_read"`
							Groups *int64 `json:"groups"`
						}
					}
				}
			}
			if err := json.Unmarshal([]byte(text), &plan); err != nil {
				t.Fatal(err)
			}
			first, second := plan.Pipelines[0], plan.Pipelines[1]
			if first.Device != "gpu" || second.Device != "gpu" {
				t.Fatalf("GROUP BY %s: not on the GPU:\n%s", keys, text)
			}
			groups, read, rows := first.Operators[len(first.Operators)-1].Actual.Groups, second.Operators[0].Actual.Read, first.Operators[0].Actual.Read
			if groups == nil || *groups != want || read == nil || *read != want || rows == nil || *rows != 10000 || first.Actual.Share <= 0 {
				t.Errorf("GROUP BY %s has %d groups of 10,000 rows; EXPLAIN ANALYZE is\n%s", keys, want, text)
			}
		}
		// Of two pipelines that end in the same groups the last one tells how many there are.
		mustRun(t, s, "SET radish_device = 'gpu'")
		if text := mustRun(t, s, "EXPLAIN ANALYZE SELECT few FROM t UNION SELECT n FROM d"); !strings.Contains(text, "[100 groups, ") || strings.Count(text, " groups, ") != 1 {
			t.Errorf("a union of 100 rows:\n%s", text)
		}
	})
}

// TestGPUProfileDownloads wants EXPLAIN ANALYZE to tell how many bytes of a result came from the device.
func TestGPUProfileDownloads(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 999) SELECT n FROM r; SET radish_device = 'gpu'`)
		for _, c := range []struct{ sql, want string }{
			{"SELECT a.n * 1000 + b.n FROM d AS a JOIN d AS b", "; 7.6"},      // 10^6 integers of 8 bytes
			{"SELECT COUNT(*) FROM d AS a JOIN d AS b", " table columns; 1."}, // KiB: a row, and counters,
		} {
			if text := mustRun(t, s, "EXPLAIN ANALYZE "+c.sql); !strings.Contains(text, c.want) || !strings.Contains(text, " downloaded") {
				t.Errorf("%s: no %q in\n%s", c.sql, c.want, text)
			}
		}
	})
}

// TestGPUProfileBuilds wants EXPLAIN ANALYZE to tell of each build on the GPU as many rows as its table has with a key, whatever the build's form, and of rows without a match as many as it has.
func TestGPUProfileBuilds(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 39) SELECT n FROM r;
			CREATE TABLE r AS SELECT a.n * 40 + b.n AS id, IF(b.n % 7 = 0, NULL, (a.n * 40 + b.n) * 40503 % 65521) AS k, a.n * 1000003 * b.n * 1000 AS wide, CONCAT('row ', b.n) AS t, b.n AS v FROM d AS a JOIN d AS b;
			CREATE TABLE u (id BIGINT PRIMARY KEY, v INT); INSERT INTO u SELECT id, v FROM r WHERE v < 31;
			CREATE TABLE none AS SELECT * FROM r WHERE id < 0; SET radish_device = 'gpu_strict'`)
		for _, x := range []struct{ sql, sets, build, rows string }{
			{"SELECT COUNT(*), SUM(b.v) FROM r AS a JOIN r AS b ON a.k = b.k", "radish_gpu_join_sorted = 'always'", "sort-merge", "SELECT COUNT(*) FROM r WHERE k IS NOT NULL"},
			{"SELECT COUNT(*), SUM(b.v) FROM r AS a LEFT JOIN r AS b ON a.k = b.k", "radish_gpu_join_sorted = 'always'", "sort-merge", "SELECT COUNT(*) FROM r WHERE k IS NOT NULL"},
			{"SELECT COUNT(*), SUM(b.v) FROM r AS a JOIN none AS b ON a.k = b.k", "radish_gpu_join_sorted = 'always'", "sort-merge", "SELECT 0"},
			{"SELECT COUNT(*), SUM(b.v) FROM r AS a JOIN r AS b ON a.k = b.k", "radish_gpu_join_partitions = 'always'", "partitioned hash", "SELECT COUNT(*) FROM r WHERE k IS NOT NULL"},
			{"SELECT COUNT(*), SUM(b.v), MIN(b.t) FROM r AS a JOIN r AS b ON a.k = b.k AND a.t = b.t", "radish_gpu_join_partitions = 'always'", "partitioned hash", "SELECT COUNT(*) FROM r WHERE k IS NOT NULL"},
			{"SELECT COUNT(*), SUM(b.v), SUM(b.id) FROM r AS a JOIN r AS b ON a.wide = b.wide", "radish_gpu_join_partitions = 'always'", "partitioned hash", "SELECT COUNT(*) FROM r"},
			{"SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM r AS a FULL JOIN r AS b ON a.k = b.k", "radish_gpu_join_partitions = 'always'", "partitioned hash", "SELECT COUNT(*) FROM r"},
			{"SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM r AS a FULL JOIN r AS b ON a.k = b.k", "radish_gpu_join_partitions = 'never'", "dense", "SELECT COUNT(*) FROM r"},
			{"SELECT COUNT(*), SUM(b.v) FROM r AS a JOIN r AS b ON a.wide = b.wide", "radish_gpu_join_partitions = 'never'", "hash", "SELECT COUNT(*) FROM r"},
			{"SELECT COUNT(*), SUM(u.v) FROM r AS a JOIN u ON a.id = u.id", "radish_gpu_join_partitions = 'never'", "dense", "SELECT COUNT(*) FROM u"},
			{"SELECT COUNT(*), SUM(a.v) FROM r AS a WHERE EXISTS (SELECT 1 FROM u WHERE a.id = u.id)", "radish_gpu_join_partitions = 'never'", "dense", "SELECT COUNT(*) FROM u"},
		} {
			sql := "SELECT /*+ SET_VAR(" + x.sets + ") */" + strings.TrimPrefix(x.sql, "SELECT")
			want := values(t, s, "SELECT /*+ SET_VAR(radish_device='cpu') */"+strings.TrimPrefix(x.rows, "SELECT"))[0][0].I
			text := mustRun(t, s, "EXPLAIN ANALYZE FORMAT = 'json' "+sql)
			var plan struct {
				Pipelines []struct {
					Operators []struct {
						Name   string `json:"operator"`
						Detail string
						Actual struct {
							Rows *int64
							Read *int64 `json:"rows_read"`
						}
					}
				}
			}
			if err := json.Unmarshal([]byte(text), &plan); err != nil {
				t.Fatal(err)
			}
			builds := 0
			for _, p := range plan.Pipelines {
				for _, op := range p.Operators {
					switch {
					case strings.HasPrefix(op.Name, "build "):
						builds++
						if op.Name != "build "+x.build || op.Actual.Rows == nil || *op.Actual.Rows != want {
							t.Errorf("%s: want a %s build of %d rows:\n%s", sql, x.build, want, text)
						}
					case strings.HasPrefix(op.Detail, "unmatched rows"):
						if op.Actual.Read == nil || *op.Actual.Read != want {
							t.Errorf("%s: want %d rows read of the build:\n%s", sql, want, text)
						}
					}
				}
			}
			if builds != 1 {
				t.Errorf("%s: %d builds:\n%s", sql, builds, text)
			}
		}
	})
}
