package engine

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// TestGPUVariances computes variances on a GPU: of NIST's data sets for them, whose standard deviations are published, and of others as the CPU does.
func TestGPUVariances(t *testing.T) { eachGPU(t, testGPUVariances) }

func testGPUVariances(t *testing.T, e *Engine) {
	s := e.NewSession()
	// Statistical Reference Datasets, univariate: NumAcc1 to NumAcc4. Beside the mean the deviations get smaller and smaller.
	mustRun(t, s, "SET cte_max_recursion_depth = 1001; CREATE TABLE n AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT n FROM r")
	for i, c := range []struct {
		values string
		want   float64
		rows   int
	}{
		{"10000001 + (n * 2) % 3", 1, 3}, // 10000001, 10000003, 10000002
		{"CASE WHEN n = 0 THEN 1.2 WHEN n % 2 = 1 THEN 1.1 ELSE 1.3 END", 0.1, 1001},
		{"CASE WHEN n = 0 THEN 1000000.2 WHEN n % 2 = 1 THEN 1000000.1 ELSE 1000000.3 END", 0.1, 1001},
		{"CASE WHEN n = 0 THEN 10000000.2 WHEN n % 2 = 1 THEN 10000000.1 ELSE 10000000.3 END", 0.1, 1001},
	} {
		mustRun(t, s, fmt.Sprintf("CREATE TABLE acc%d AS SELECT CAST(%s AS DECIMAL(15, 1)) AS d, CAST(%s AS DOUBLE) AS f, CAST(%s AS DECIMAL(30, 1)) AS w, n %% 2 = 5 AS k FROM n WHERE n < %d",
			i+1, c.values, c.values, c.values, c.rows))
		for _, by := range []string{"", " GROUP BY k"} {
			mustRun(t, s, "SET radish_device = 'gpu_strict'")
			got := values(t, s, fmt.Sprintf("SELECT STDDEV_SAMP(d), STDDEV_SAMP(f), STDDEV_SAMP(w), VAR_SAMP(d) FROM acc%d%s", i+1, by))
			// Tenths are no doubles: those near 10^7 are 10^-9 off.
			for k, off := range []float64{1e-15, 1e-8, 1e-8} {
				if x := got[0][k].F; math.Abs(x-c.want) > off*c.want {
					t.Errorf("NumAcc%d%s: column %d gives %.17g, want %g", i+1, by, k, x, c.want)
				}
			}
			if x := got[0][3].F; x != c.want*c.want && math.Abs(x-c.want*c.want) > 1e-15*x {
				t.Errorf("NumAcc%d%s: the variance is %.17g, want %g", i+1, by, x, c.want*c.want)
			}
		}
	}

	mustRun(t, s, `CREATE TABLE v AS SELECT a.n % 7 AS k, a.n * 1000 + b.n AS id, IF(a.n % 5 = 0, NULL, a.n * b.n) AS i, 1700000000000000 + a.n * 4099 + b.n AS us,
		CAST((a.n * 77 + b.n * 13) % 9973 / 100 AS DECIMAL(15, 2)) AS p, CAST(b.n % 11 / 100 AS DECIMAL(15, 2)) AS q, SIN(a.n) * 1e6 + b.n AS f,
		IF(a.n = 3, NULL, CAST(b.n % 300 - 128 AS SIGNED)) AS t, DATE_ADD(DATE '2020-01-01', INTERVAL a.n % 400 DAY) AS d
		FROM n AS a JOIN n AS b ON b.n < 40 WHERE a.n < 500`)
	mustRun(t, s, "CREATE TABLE x (a DOUBLE, b DOUBLE, c BIGINT UNSIGNED, d FLOAT); INSERT INTO x VALUES (1e200, 1e-160, 18446744073709551615, 0.1), (3e200, 2e-160, 18446744073709551000, 1e30), (NULL, NULL, NULL, NULL)")
	for _, device := range []string{"cpu", "gpu"} {
		mustRun(t, s, "SET radish_device = '"+device+"'")
		var e *sqlerr.Error
		if _, err := run(t.Context(), s, "SELECT STD(a) FROM x"); !errors.As(err, &e) || e.Code != sqlerr.CodeDataOutOfRange {
			t.Errorf("squares beyond doubles on the %s: %v", device, err)
		}
	}
	for _, c := range []struct{ sql, text string }{
		{"SELECT k, COUNT(*), VAR_POP(i), VAR_SAMP(i), STD(i), STDDEV_SAMP(i), SUM(i), AVG(i) FROM v GROUP BY k", ""},
		{"SELECT STD(us), VARIANCE(us), AVG(us), STD(t), STD(p) FROM v", ""},
		{"SELECT k, STD(us), STD(t), VARIANCE(q) FROM v GROUP BY k", ""},
		{"SELECT k, STD(p * (1 - q)), AVG(p * (1 - q)), VAR_SAMP(p - q) FROM v GROUP BY k", ""},
		{"SELECT k, STD(f), AVG(f), VAR_SAMP(f) FROM v WHERE id % 3 = 1 GROUP BY k", "add_square"},
		{"SELECT id % 40, STD(p) FROM v GROUP BY id % 40", ""},
		{"SELECT id, STD(p), VAR_SAMP(p), STDDEV_SAMP(f) FROM v GROUP BY id", "add_square"},
		{"SELECT k, d, STD(i), STD(t) FROM v GROUP BY k, d", ""},
		{"SELECT VAR_POP(d), STD(k > 3) FROM v", "add_square"},
		{"SELECT k, VAR_POP(p) FROM (SELECT k, CAST(p AS DECIMAL(9, 2)) AS p FROM v UNION ALL SELECT k + 1, CAST(q AS DECIMAL(9, 2)) FROM v) AS u GROUP BY k", ""},
		{"SELECT k, VAR_POP(p), VAR_POP(i) FROM (SELECT k, p, i FROM v UNION ALL SELECT k + 1, q, us FROM v) AS u GROUP BY k", "add_square"},
		{"SELECT STD(p), VAR_SAMP(f), VAR_SAMP(i) FROM v WHERE id < 0", ""},
		{"SELECT k, STD(p), VAR_SAMP(f), VAR_SAMP(i) FROM v WHERE id < 0 GROUP BY k", ""},
		{"SELECT STD(p), VAR_SAMP(p), VAR_SAMP(f), STDDEV_SAMP(i), STDDEV_POP(f) FROM v WHERE id = 1001", ""},
		{"SELECT STD(s), VAR_SAMP(a) FROM (SELECT k, STD(p) AS s, AVG(p) AS a FROM v GROUP BY k, d) AS g", "add_square"},
		{"SELECT STD(c), STD(d) FROM x", "add_square"},
		{"SELECT STD(b) FROM x", "add_square"}, // squares that are no doubles
	} {
		sorted := c.sql
		if strings.Contains(sorted, "GROUP BY") {
			sorted += " ORDER BY 1, 2"
		}
		mustRun(t, s, "SET radish_device = 'cpu'")
		want := values(t, s, sorted)
		mustRun(t, s, "SET radish_device = 'gpu_strict'")
		if text := mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+c.sql); c.text != "" && !strings.Contains(text, c.text) || c.text == "" && strings.Contains(text, "add_square") && !strings.Contains(c.sql, "(f)") {
			t.Errorf("%s has the kernels\n%s", c.sql, text)
		}
		got := values(t, s, sorted)
		if len(got) != len(want) {
			t.Errorf("%s gives %d rows on the GPU, %d on the CPU", c.sql, len(got), len(want))
			continue
		}
		for i := range got {
			for k, x := range got[i] {
				if !nearly(x, want[i][k]) {
					t.Fatalf("%s, row %d: the GPU gives %s, the CPU %s", c.sql, i, rowTexts(got[i : i+1])[0], rowTexts(want[i : i+1])[0])
				}
			}
		}
	}
}

// nearly compares values, doubles to nine digits.
func nearly(a, b types.Value) bool {
	if a.Null || b.Null || !a.Type.IsFloat() {
		return a.Null == b.Null && (a.Null || a.Text() == b.Text())
	}
	return a.F == b.F || math.Abs(a.F-b.F) <= 1e-9*math.Max(math.Abs(a.F), math.Abs(b.F))
}
