package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// A LIMIT above groups without aggregates gives that many of them, whatever their keys. A scan ends then: the last rows of t have keys that no BIGINT holds.
func TestDistinctWithLimit(t *testing.T) {
	s := newSession(t, database.Options{Threads: 3})
	const rows = 300_000
	mustRun(t, s, fmt.Sprintf("SET radish_device = 'cpu'; CREATE TABLE t AS SELECT i, i * 7919 %% %d AS p, i %% 40 AS few, CONCAT('s', i) AS s FROM generate_series(1, %d) AS r(i)", rows, rows))
	late := fmt.Sprintf("i + %d", 9223372036854775807-rows+1000)
	for _, c := range []struct {
		keys, counted string
		limit         int
		want          string
	}{
		{"i", "i", 100, "100|100"},
		{"p", "p", 100, "100|100"},
		{"s", "s", 100, "100|100"},
		{"few", "few", 30, "30|30"},
		{"few", "few", 100, "40|40"},
		{"s, few", "s, few", 5000, "5000|5000"},
		{"p", "p", 299_000, "299000|299000"},
		{"p", "p", 400_000, "300000|300000"},
		{late + " AS k", "k", 100, "100|100"},
		{"CONCAT(s, " + late + ") AS k", "k", 100, "100|100"},
	} {
		distinct := fmt.Sprintf("SELECT DISTINCT %s FROM t LIMIT %d", c.keys, c.limit)
		first := mustRun(t, s, distinct)
		if again := mustRun(t, s, distinct); first != again {
			t.Errorf("%s gives other rows when it runs again", distinct)
		}
		sql := fmt.Sprintf("SELECT COUNT(*), COUNT(DISTINCT %s) FROM (%s) q", c.counted, distinct)
		if got := strings.TrimSpace(mustRun(t, s, sql)); got != c.want {
			t.Errorf("%s gives %s, want %s", sql, got, c.want)
		}
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM (SELECT p FROM t GROUP BY p LIMIT 20 OFFSET 299990) q":                                                             "10",
		"SELECT COUNT(*) FROM (SELECT few FROM t UNION SELECT p FROM t LIMIT 50) q":                                                              "50",
		"SELECT COUNT(*), COUNT(t.i) FROM (SELECT DISTINCT p FROM t LIMIT 50) q LEFT JOIN t ON t.p = q.p":                                        "50|50",
		"SELECT COUNT(*), MIN(n), MAX(n) FROM (SELECT few, COUNT(*) AS n FROM t GROUP BY few LIMIT 7) q":                                         "7|7500|7500",
		"WITH d AS (SELECT DISTINCT few FROM t) SELECT (SELECT COUNT(*) FROM d), (SELECT COUNT(*) FROM (SELECT few FROM d LIMIT 3) q)":           "40|3",
		"SELECT (SELECT COUNT(*) FROM (SELECT DISTINCT few FROM t) a), (SELECT COUNT(*) FROM (SELECT DISTINCT few FROM t LIMIT 3) b)":            "40|3",
		"SELECT COUNT(*) FROM (SELECT 1 FROM t a JOIN t b ON TRUE WHERE a.i < 8 AND b.i IN (5, 70000, 299999) GROUP BY a.few, b.few LIMIT 15) q": "15",
		"SELECT COUNT(*) FROM (SELECT 1 FROM t a LEFT JOIN t b ON b.i < a.i WHERE a.i < 40 GROUP BY a.few LIMIT 100) q":                          "39",
		"SELECT COUNT(*) FROM (SELECT DISTINCT few FROM t WHERE i % 5000 = few LIMIT 40) q":                                                      "40",
		"SELECT COUNT(*) FROM (SELECT DISTINCT few FROM t WHERE i < 90000 LIMIT 0) q":                                                            "0",
		"SELECT COUNT(*) FROM (SELECT s FROM t GROUP BY s HAVING s LIKE '%7' LIMIT 33) q WHERE s LIKE '%7'":                                      "33",
	} {
		if got := strings.TrimSpace(mustRun(t, s, sql)); got != want {
			t.Errorf("%s gives %s, want %s", sql, got, want)
		}
	}
}
