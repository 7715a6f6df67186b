package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestGPUManyWords runs statements whose kernels have more parameters than a launch passes.
func TestGPUManyWords(t *testing.T) { eachGPU(t, testGPUManyWords) }

func testGPUManyWords(t *testing.T, e *Engine) {
	const columns, rows = 180, 500
	list := func(n int, format, between string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
		}
		return strings.Join(all, between)
	}
	s := e.NewSession()
	mustRun(t, s, fmt.Sprintf(`SET cte_max_recursion_depth = %d;
		CREATE TABLE w AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < %d) SELECT n, %s FROM r`,
		rows, rows-1, list(columns, "IF(n % (# + 7) = 0, NULL, (n * # + n) % 97) AS c#", ", ")))
	mustRun(t, s, "SET radish_device = 'gpu_strict'")
	for i, sql := range []string{
		"SELECT n % 3, " + list(110, "MAX(c#)", ", ") + " FROM w GROUP BY n % 3 ORDER BY 1",
		"SELECT MIN(n), COUNT(*), " + list(120, "c#", ", ") + " FROM w GROUP BY " + list(120, "c#", ", ") + " ORDER BY 1",
		"SELECT a.n, " + list(columns, "b.c#", ", ") + " FROM w a JOIN w b ON a.n = b.n + 1 ORDER BY a.n",
		"SELECT n FROM w WHERE " + list(170, "c# <> # % 89 + 1", " AND ") + " ORDER BY n",
	} {
		if text := mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+sql); !strings.Contains(text, "lie in memory") {
			t.Errorf("no kernel has too many parameters for a launch: %s", sql)
		}
		if i == 0 || !testing.Short() { // they take seconds to compile
			sameOnGPU(t, s, sql)
		}
	}
	mustRun(t, s, "SET radish_device = 'gpu'")
	if text := mustRun(t, s, "EXPLAIN SELECT "+list(2001, "n + #", ", ")+" FROM w"); !strings.Contains(text, "more than 2000 values") {
		t.Errorf("a kernel of 2001 values is not refused:\n%s", text)
	}
}
