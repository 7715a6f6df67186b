package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestAnalysts runs what MySQL's grammar lacks. The values are those of DuckDB 2.0.0, but that NULL comes first; TestAnalystsAsDuckDB of test/oracle/others has more.
func TestAnalysts(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, Device: gpu.Never})
	mustRun(t, s, `CREATE TABLE t (g INT, x DOUBLE, y INT, s VARCHAR(10), d DATE);
		INSERT INTO t VALUES (1, 2.5, 3, 'a', '2024-01-01'), (1, 3.5, 5, 'b', '2024-01-03'), (2, 7.25, 1, 'a', '2024-02-01'), (2, NULL, 4, 'a', '2024-03-01'), (3, NULL, NULL, NULL, NULL), (1, 9, 4, 'b', '2024-05-05')`)
	for _, tc := range []struct{ sql, want string }{
		{"SELECT MEDIAN(x), QUANTILE_CONT(x, 0.25), QUANTILE_DISC(x, 0.25), QUANTILE(s, 0.5), MEDIAN(d) FROM t", "5.375|3.25|2.5|a|2024-02-01 00:00:00.000000"},
		{"SELECT g, MEDIAN(x), MODE(s), ARG_MIN(s, x), MAX_BY(d, y), APPROX_COUNT_DISTINCT(s) FROM t GROUP BY g ORDER BY g", "1|3.5|b|a|2024-01-03|2 2|7.25|a|a|2024-03-01|1 3|NULL|NULL|NULL|NULL|0"},
		{"SELECT ROUND(CORR(x, y), 9), COVAR_POP(x, y), ROUND(COVAR_SAMP(x, y), 9) FROM t", "-0.258178521|-1.015625|-1.354166667"},
		{"SELECT ROUND(REGR_SLOPE(y, x), 9), ROUND(REGR_INTERCEPT(y, x), 9), ROUND(REGR_R2(y, x), 9), REGR_COUNT(y, x), REGR_AVGX(y, x), REGR_AVGY(y, x), REGR_SXX(y, x), REGR_SYY(y, x), REGR_SXY(y, x) FROM t",
			"-0.14356709|4.048591938|0.066656149|4|5.5625|3.25|28.296875|8.75|-4.0625"},
		{"SELECT MEDIAN(x), MODE(x), CORR(x, y), REGR_COUNT(x, y), APPROX_COUNT_DISTINCT(x), ARG_MAX(x, y) FROM t WHERE FALSE", "NULL|NULL|NULL|0|0|NULL"},
		{"SELECT COUNT(*) FILTER (WHERE x > 3), SUM(y) FILTER (WHERE s = 'a'), ROUND(AVG(x) FILTER (WHERE g = 1 AND (x > 3 OR y = 3)), 3) FROM t", "3|8|5"},
		{"SELECT g, COUNT(*) FILTER (WHERE s = 'b') AS b, ARG_MAX(s, y) FILTER (WHERE y < 5) AS m FROM t GROUP BY g HAVING COUNT(*) FILTER (WHERE x > 1) > 0 ORDER BY g", "1|2|b 2|0|a"},
		{"SELECT g, SUM(y) FILTER (WHERE s = 'a') OVER (PARTITION BY g) AS w FROM t ORDER BY g, w", "1|3 1|3 1|3 2|5 2|5 3|NULL"},
		{"SELECT ANY_VALUE(y) FILTER (WHERE g = 2 AND x > 0), GROUP_CONCAT(s ORDER BY y SEPARATOR '-') FILTER (WHERE y > 1), COUNT(DISTINCT s) FILTER (WHERE g < 2) FROM t", "1|a-a-b-b|2"},
		{"SELECT * EXCLUDE (s, d) FROM t WHERE g = 2 ORDER BY y", "2|7.25|1 2|NULL|4"},
		{"SELECT u.* EXCLUDE g, 7 AS k FROM (SELECT g, s FROM t WHERE g = 2) AS u", "a|7 a|7"},
		{"SELECT g, s, y FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY y DESC) = 1 ORDER BY g", "1|b|5 2|a|4 3|NULL|NULL"},
		{"SELECT y, RANK() OVER (ORDER BY y) AS r FROM t WHERE y > 1 QUALIFY r <= 2 ORDER BY y", "3|1 4|2 4|2"},
		{"SELECT g, SUM(y) AS n FROM t GROUP BY g HAVING SUM(y) > 3 QUALIFY RANK() OVER (ORDER BY SUM(y) DESC) = 1", "1|12"},
		{"SELECT y FROM (SELECT g, y FROM t QUALIFY COUNT(*) OVER (PARTITION BY g) > 2) AS q ORDER BY y", "3 4 5"},
		{"SELECT DISTINCT g FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY y DESC) <= 1", "1"},
		{"SELECT g, COUNT(*) AS n FROM t GROUP BY ALL ORDER BY ALL DESC", "3|1 2|2 1|3"},
		{"SELECT g + 1 AS h, MIN(y) AS m FROM t WHERE g < 3 GROUP BY ALL ORDER BY h", "2|3 3|1"},
		{"SELECT COUNT(*) FROM t WHERE FALSE GROUP BY ALL", "0"},
		{"SELECT SUM(i) FROM generate_series(1, 100000) AS r(i)", "5000050000"},
		// The first of equal rows is another worker's than the first worker's.
		{"CREATE TABLE u AS SELECT i FROM generate_series(1, 200000) AS r(i); SELECT ARG_MIN(i, i < 40000), ARG_MAX(i, i >= 50000) FROM u", "40000|50000"},
		{"SELECT i % 2 AS g, ARG_MIN(i, i < 40000), ARG_MAX(i, i >= 50000) FROM u GROUP BY g ORDER BY g", "0|40000|50000 1|40001|50001"},
		{"SELECT SUM(m), COUNT(*) FROM (SELECT i % 20000 AS g, ARG_MIN(i, i < 40000) AS m FROM u GROUP BY g) AS q", "999990000|20000"},
		{"SELECT i FROM generate_series(5, 1, -2) AS r(i) ORDER BY i", "1 3 5"},
		{"SELECT generate_series FROM generate_series(9223372036854775806, 9223372036854775807)", "9223372036854775806 9223372036854775807"},
		{"SELECT t.g, COUNT(*) FROM t, generate_series(1, t.y) AS r(i) GROUP BY t.g ORDER BY t.g", "1|12 2|5"},
		{"SELECT g, i FROM t LEFT JOIN generate_series(1, y - 3) AS r(i) ON TRUE WHERE g > 1 ORDER BY g, i", "2|NULL 2|1 3|NULL"},
		{"SELECT COUNT(*) FROM generate_series(3, 2) AS r(i), t", "0"},
		{"SELECT COUNT(*) FROM generate_series(NULL, 2) AS r(i)", "0"},
		{"SELECT column_name, column_type, min, max, approx_unique, q50, count, null_percentage FROM (SUMMARIZE t) AS s",
			"g|int|1|3|3|1.5|6|0.00 x|double|2.5|9|4|5.375|6|33.33 y|int|1|5|4|4|6|16.67 s|varchar(10)|a|b|2|NULL|6|16.67 d|date|2024-01-01|2024-05-05|5|2024-02-01 00:00:00.000000|6|16.67"},
		{"SELECT COUNT(*) FROM t TABLESAMPLE 100%", "6"},
		{"SELECT COUNT(*) FROM t TABLESAMPLE BERNOULLI (0)", "0"},
		{"SELECT COUNT(*), COUNT(DISTINCT y, s) <= 4 FROM t AS u TABLESAMPLE (4 ROWS)", "4|1"},
		{"CREATE VIEW v AS SELECT * EXCLUDE (d, s, x), COUNT(*) FILTER (WHERE y > 1) AS n, MODE(s) AS m FROM t GROUP BY ALL QUALIFY ROW_NUMBER() OVER (ORDER BY g, y) <= 2; SELECT * FROM v ORDER BY y", "1|3|1|a 1|4|1|b"},
		{"CREATE VIEW w AS SELECT r.i, z.column_name FROM generate_series(1, 2) AS r(i), (SUMMARIZE t) AS z; SELECT COUNT(*), MAX(i), MIN(column_name) FROM w", "10|2|d"},
		{"PREPARE p FROM 'SELECT COUNT(*) FILTER (WHERE y > ?), QUANTILE_DISC(y, ?) FROM t WHERE g < ? QUALIFY ? = 1'; SET @a = 3, @b = 0, @c = 3, @d = 1; EXECUTE p USING @a, @b, @c, @d", "3|1"},
	} {
		got := strings.ReplaceAll(strings.TrimSuffix(mustRun(t, s, tc.sql), "\n"), "\n", " ")
		if got != tc.want {
			t.Errorf("%s:\n%s, want\n%s", tc.sql, got, tc.want)
		}
	}
	for sql, want := range map[string]string{
		"SELECT * EXCLUDE (z) FROM t":                    "Unknown column 'z' in 'EXCLUDE'",
		"SELECT * EXCLUDE (g, x, y, s, d) FROM t":        "EXCLUDE leaves no column",
		"SELECT QUANTILE_CONT(x, 1.5) FROM t":            "Incorrect arguments to quantile_cont",
		"SELECT QUANTILE_CONT(x, y) FROM t":              "",
		"SELECT g FROM t QUALIFY z = 1":                  "Unknown column 'z' in 'qualify clause'",
		"SELECT * FROM generate_series(1, 2, 0)":         "the step is not 0",
		"SELECT * FROM generate_series('2024-01-01', 2)": "it takes integers",
		"SELECT * FROM generate_series(1)":               "Incorrect parameter count",
		"SUMMARIZE SELECT 1 AS a, 2 AS A":                "Duplicate column name 'A'",
		"SUMMARIZE nothing":                              "nothing' doesn't exist",
		"SELECT * FROM t TABLESAMPLE 101%":               "percents lie between 0 and 100",
		"SELECT COUNT(*) FROM t TABLESAMPLE REGIONS ()":  "TABLESAMPLE",
		"SELECT MODE(MODE(g)) FROM t":                    "Invalid use of group function",
		"SELECT g FROM t WHERE MEDIAN(x) > 1":            "Invalid use of group function",
		"SELECT g, MEDIAN(x) FROM t":                     "sql_mode=only_full_group_by",
	} {
		if _, err := run(context.Background(), s, sql); err == nil || !strings.Contains(err.Error()+" "+sqlerr.From(err).Hint, want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}
