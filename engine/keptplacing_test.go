package engine

import (
	"fmt"
	"sync"
	"testing"

	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/exec/gpu"
)

// TestKeptPlacing runs statements again and again, by several sessions at once, so that their kernels are those of the runs before, and compares rows with the CPU's: on one device and on several, after settings
// and tables have changed, and with literals that differ.
func TestKeptPlacing(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 59) SELECT n FROM r;
			CREATE TABLE r AS SELECT a.n * 60 + b.n AS k, IF(b.n = 7, NULL, a.n) AS v, CONCAT('row ', b.n) AS c FROM d AS a JOIN d AS b`)
		kept := func() (n int) {
			e.Plans.Mu.Lock()
			defer e.Plans.Mu.Unlock()
			for el := e.Plans.Order.Front(); el != nil; el = el.Next() {
				if el.Value.(*plans.Statement).Placing.(*gpu.Kept).IsKept() {
					n++
				}
			}
			return n
		}
		statements := []string{
			"SELECT v, COUNT(*), SUM(k) FROM r WHERE k >= %d GROUP BY v ORDER BY v",
			"SELECT COUNT(*), SUM(a.k), MAX(b.c) FROM r AS a JOIN r AS b ON a.k = b.k + %d WHERE a.c LIKE 'row 1_'",
			"SELECT k, c FROM r WHERE v %% 7 = %d ORDER BY k DESC LIMIT 5",
		}
		check := func(literal int) {
			t.Helper()
			var wants []string
			mustRun(t, s, "SET radish_device = 'cpu'")
			for _, x := range statements {
				wants = append(wants, mustRun(t, s, fmt.Sprintf(x, literal)))
			}
			for _, devices := range []string{"0", "0,0", "0"} {
				var all sync.WaitGroup
				for range 2 {
					all.Go(func() {
						own := e.NewSession()
						mustRun(t, own, fmt.Sprintf("SET radish_device = 'gpu_strict', radish_gpu_share = 'always', radish_gpu_devices = '%s'", devices))
						for range 4 {
							for i, x := range statements {
								if got := mustRun(t, own, fmt.Sprintf(x, literal)); got != wants[i] {
									t.Errorf("on devices %s, %s gives\n%s\nwant\n%s", devices, fmt.Sprintf(x, literal), got, wants[i])
								}
							}
						}
					})
				}
				all.Wait()
			}
		}
		check(3)
		if n := kept(); n != 2*len(statements) {
			t.Errorf("%d statements have their placing kept, want %d", n, 2*len(statements))
		}
		check(4)
		mustRun(t, s, "INSERT INTO r VALUES (9000, 5, 'row 12'), (9003, NULL, 'row 13')")
		if n := kept(); n != 0 {
			t.Errorf("%d statements have a placing, though their table has changed", n)
		}
		check(3)
		mustRun(t, s, "DROP TABLE r")
		if n := kept(); n != 0 {
			t.Errorf("%d statements have a placing, though their table is gone", n)
		}
	})
}
