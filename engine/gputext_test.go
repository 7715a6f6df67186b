package engine

import "testing"

// TestGPUMadeStrings makes strings in kernels, some in so much more memory than they were thought to take that pipelines run again, into sinks of every kind.
func TestGPUMadeStrings(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 59) SELECT n FROM r;
			CREATE TABLE w AS SELECT a.n * 60 + b.n AS id, CONCAT(REPEAT('Ärger ', a.n), b.n) AS s, IF(b.n % 7 = 0, NULL, CAST(b.n * 1.25 - 9 AS DECIMAL(20,4))) AS m,
				DATE_ADD('1999-12-25', INTERVAL b.n DAY) AS dt, CAST('2001-02-03 04:05:06.789' AS DATETIME(3)) - INTERVAL a.n * 7919 SECOND AS ts,
				CAST(SEC_TO_TIME(b.n * 40000 - 900000) AS TIME) AS ti, 18446744073709551615 - a.n AS u FROM d AS a JOIN d AS b`)
		for _, sql := range []string{
			"SELECT id, CONCAT(s, '|', m), CONCAT_WS(', ', m, dt, ts, ti, u, NULL, s) FROM w WHERE id % 11 = 3 ORDER BY id",
			"SELECT CONCAT(s, s, s, s, s, s, '/', id), id FROM w ORDER BY id",
			"SELECT CONCAT(s, s, s, s, s, s, '/', id) AS x FROM w ORDER BY x DESC, id",
			"SELECT CONCAT(s, s, s, s, s, s, '/', id % 7) AS x, COUNT(*), SUM(id) FROM w GROUP BY x ORDER BY x",
			"SELECT CONCAT(id % 3, '') AS x, MIN(CONCAT(s, s, s, s, s, s, id)), MAX(CONCAT(dt, ' ', ti)) FROM w GROUP BY x ORDER BY x",
			"SELECT MAX(CONCAT(s, s, s, s, s, s, ts)), COUNT(DISTINCT CONCAT(u, m)) FROM w",
			"SELECT COUNT(*), SUM(a.id) FROM w AS a JOIN w AS b ON CONCAT(a.s, a.s, a.s, a.s, a.s, a.dt) = CONCAT(b.s, b.s, b.s, b.s, b.s, b.dt)",
			"SELECT CONCAT(s, s, s, s, s, id) AS x FROM w WHERE id < 1800 UNION ALL SELECT CONCAT('-', s, s, s, s, s, id) FROM w WHERE id >= 1800 ORDER BY x",
			"SELECT id, CONCAT_WS(NULLIF(id % 2, 1), 'a', m), CONCAT_WS(s, NULL, NULL) FROM w WHERE CONCAT(ti, '') LIKE '-%' ORDER BY id",
			"SELECT CAST(m AS CHAR), CAST(id AS CHAR(20)), CAST(dt AS CHAR), CAST(ts AS CHAR(30)), CAST(ti AS CHAR), CAST(u AS CHAR) FROM w WHERE id < 300 ORDER BY id",
		} {
			sameOnGPU(t, s, sql)
		}
	})
}

// TestGPUStringsOfPairs makes strings in conditions of pairs of rows, of which there are many more than rows: in all kinds of joins and ways to join. A text that has found no memory is empty. It may
// meet a condition that it should not meet, which must leave no trace.
func TestGPUStringsOfPairs(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 69) SELECT n FROM r;
			CREATE TABLE y AS SELECT n AS id, CONCAT('t', n * 41 % 31, 'q') AS s, n % 5 AS n, REPEAT(CONCAT(n, '-'), 30) AS l FROM d;
			CREATE TABLE x AS SELECT a.n * 70 + b.n AS id, b.s, a.n % 5 AS n, b.l FROM d AS a JOIN y AS b`)
		for i, x := range []struct{ set, sql string }{
			{"", "SELECT COUNT(*) FROM x WHERE NOT EXISTS (SELECT 1 FROM y WHERE CONCAT(x.s, y.s) < 't0qt3')"},
			{"", "SELECT COUNT(*), SUM(id) FROM x WHERE EXISTS (SELECT 1 FROM y WHERE CONCAT(x.s, y.s, x.n) < CONCAT(y.s, 't1', x.n + y.n))"},
			{"", "SELECT COUNT(*), SUM(x.id), SUM(y.id) FROM x LEFT JOIN y ON CONCAT(x.s, ':', y.s) < 't12q:t2'"},
			{"", "SELECT COUNT(*), COUNT(x.id), SUM(y.id) FROM x FULL JOIN y ON x.n = y.n AND CONCAT(x.s, y.s) < 't1'"},
			{"", "SELECT COUNT(*), COUNT(x.id), SUM(y.id) FROM x FULL JOIN y ON x.n = y.n AND CONCAT(y.l, x.l, y.l, x.l, y.l) < '1'"},
			{"SET radish_gpu_join_partitions = 'always'", "SELECT COUNT(*), COUNT(x.id), SUM(y.id) FROM x FULL JOIN y ON x.n = y.n AND CONCAT(y.l, x.l, y.l, x.l, y.l) < '1'"},
			{"SET radish_gpu_join_partitions = 'always'", "SELECT COUNT(*), SUM(x.id), SUM(y.id), COUNT(DISTINCT CONCAT(x.s, y.s)) FROM x JOIN y ON x.n = y.n AND CONCAT(x.s, y.s) > 't2'"},
			{"SET radish_gpu_join_sorted = 'always'", "SELECT COUNT(*), SUM(x.id), SUM(y.id), MIN(CONCAT(x.s, y.s)) FROM x JOIN y ON x.n = y.n AND CONCAT(x.s, y.s) > 't2'"},
			{"", "SELECT COUNT(*), SUM(EXISTS (SELECT 1 FROM y WHERE SUBSTRING(CONCAT(x.s, y.s), 2, 4) = CONCAT(y.n, x.id % 10, 'qt'))) FROM x"},
			{"", "SELECT COUNT(*), SUM(x.id) FROM x JOIN y ON CASE WHEN CONCAT(x.s, y.n) < 't2' THEN CONCAT(y.s, x.n) ELSE CONCAT_WS('-', x.n, y.s) END > 't29'"},
			{"", "SELECT COUNT(*), MAX(c) FROM (SELECT CONCAT(x.s, y.l) AS c, y.n FROM x JOIN y ON x.n > y.n) AS z WHERE CONCAT(c, n) LIKE '%3-%4'"},
			{"", "SELECT COUNT(*), SUM(id) FROM x WHERE CONCAT(l, s, l, s, l, id, l, s, l, s, l) LIKE '%19%7%' OR CONCAT(s, id) < 't1' AND CONCAT(id, s) > '3'"},
		} {
			if testing.Short() && i%3 != 0 { // each compiles a kernel
				continue
			}
			mustRun(t, s, "SET radish_gpu_join_partitions = 'auto', radish_gpu_join_sorted = 'hint'; "+x.set)
			sameOnGPU(t, s, x.sql)
		}
	})
}
