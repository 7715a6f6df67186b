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
