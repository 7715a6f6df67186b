package fuzz

import (
	"fmt"
	"strings"
)

// dictionaries are statements over a table of several batches and a string column of few distinct values: functions of it beside what is constant
// within a batch only, the row of a nested loop and a CASE over literals.
func (g *generator) dictionaries() []string {
	var rows []string
	for i := range 70 {
		rows = append(rows, fmt.Sprintf("(%d, 't%dq', %d)", i, i%(7+g.r.IntN(30)), i%5))
	}
	out := []string{"DROP TABLE IF EXISTS dl, ds", "CREATE TABLE ds (id INT PRIMARY KEY, s VARCHAR(12), n INT)", "INSERT INTO ds VALUES " + strings.Join(rows, ", "),
		"CREATE TABLE dl (id INT PRIMARY KEY, s VARCHAR(12), n INT)", "INSERT INTO dl SELECT x.id * 70 + y.id, y.s, x.n FROM ds AS x, ds AS y"}
	for range 5 {
		on := g.any("x.s LIKE y.s", "x.s LIKE CONCAT(LEFT(y.s, 2), '%')", "STRCMP(x.s, y.s) > 0", "LOCATE(SUBSTRING(y.s, 2, 1), x.s) > 2", "CONCAT(x.s, y.s) < 't3qt3'", "x.s REGEXP CONCAT('^', y.s, '$')", "REPLACE(x.s, LEFT(y.s, 2), '') = 'q'",
			"LPAD(x.s, y.n + 2, 'z') = y.s", "LEFT(x.s, y.n) = LEFT(y.s, x.n)")
		word := fmt.Sprintf(g.any("IF(id < %d, 't1', 't2q')", "CASE WHEN id >= %d THEN 'q' ELSE 't' END", "IF(id < %d, 'x', 'yy')"), g.r.IntN(5000))
		out = append(out, g.any(
			"SELECT COUNT(*), SUM(x.id) FROM dl AS x JOIN ds AS y ON "+on,
			"SELECT COUNT(*), SUM(y.id) FROM ds AS x JOIN dl AS y ON "+on,
			"SELECT COUNT(*), COUNT(y.id) FROM dl AS x LEFT JOIN ds AS y ON "+on,
			"SELECT COUNT(*) FROM dl AS x WHERE NOT EXISTS (SELECT 1 FROM ds AS y WHERE "+on+")",
			"SELECT CONCAT(s, "+word+") AS w, COUNT(*) AS c FROM dl GROUP BY CONCAT(s, "+word+")",
			"SELECT COUNT(*), SUM(id) FROM dl WHERE LOCATE("+word+", s) > 0",
			"SELECT COUNT(*), SUM(id) FROM dl WHERE s LIKE CONCAT("+word+", '%')"))
	}
	return append(out, "DROP TABLE dl, ds")
}
