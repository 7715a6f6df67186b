package engine

import "testing"

// Row aliases as MySQL's manual has them (section 15.2.7.2); MariaDB does not know them.
func TestRowAlias(t *testing.T) {
	play(t, "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, `d e` INT); INSERT INTO t VALUES (1, 10, 100, NULL)", `
		a INSERT INTO t (a, b, c) VALUES (1, 2, 3), (4, 5, 6) AS new ON DUPLICATE KEY UPDATE c = new.a + new.b
		a SELECT GROUP_CONCAT(a, ' ', b, ' ', c ORDER BY a) FROM t => 1 10 3,4 5 6
		a INSERT INTO t (a, b, c) VALUES (1, 2, 3), (4, 5, 6) AS new(m, n, p) ON DUPLICATE KEY UPDATE c = m + n, t.b = b + p
		a SELECT GROUP_CONCAT(a, ' ', b, ' ', c ORDER BY a) FROM t => 1 13 3,4 11 9
		a INSERT INTO t SET a = 1, b = 2 AS `+"`new row`"+` ON DUPLICATE KEY UPDATE c = `+"`new row`.b, `d e` = t.c"+` + 1
		a SELECT c, `+"`d e`"+` FROM t WHERE a = 1 => 2|3
		a INSERT INTO t VALUES (7, 7, 7, CAST('8' AS SIGNED)) AS new
		a INSERT INTO t (a, b) VALUES (1, 2) AS new ON DUPLICATE KEY UPDATE c = new.c => error 1054
		a INSERT INTO t (a, b) VALUES (1, 2) AS new ON DUPLICATE KEY UPDATE c = b => error 1052
		a INSERT INTO t (a, b) VALUES (1, 2) AS new (x) ON DUPLICATE KEY UPDATE c = x => error 1353
		a INSERT INTO t (a, b) VALUES (1, 2) AS new (x, x) ON DUPLICATE KEY UPDATE c = x => error 1060
		a INSERT INTO t (a, b) VALUES (1, 2) AS t ON DUPLICATE KEY UPDATE c = 1 => error 1066
		a INSERT INTO t (a, b) SELECT 1 AS x, 2 AS y ON DUPLICATE KEY UPDATE b = VALUES(b) + 1
		a SELECT b FROM t WHERE a = 1 => 3
		a INSERT INTO t (a, b) VALUES (1, 2) AS ON DUPLICATE KEY UPDATE b = 1 => error 1064
		a INSERT INTO t (a, b) VALUES (1, 2) ON DUPLICATE KEY UPDATE b = (SELECT t.b) => error 1235
		a UPDATE t SET b = b + 1, c = t.b * 10 WHERE a = 1
		a SELECT b, c FROM t WHERE a = 1 => 4|40`)
}
