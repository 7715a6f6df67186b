package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestGPUMemoryLimit bounds what a query may hold on the device: one that holds more is an error or runs on the CPU, one that finds a slower way takes it, and
// nothing is left behind.
func TestGPUMemoryLimit(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 299) SELECT n FROM r;
			CREATE TABLE t AS SELECT a.n * 300 + b.n AS id, (a.n * 300 + b.n) * 40503 % 65521 AS k FROM d AS a JOIN d AS b`)
		const sql = "SELECT k, id FROM t ORDER BY k, id"
		want := mustRun(t, s, "SET radish_device = 'cpu'; "+sql)
		mustRun(t, s, "SET radish_device = 'gpu_strict'; SET radish_gpu_memory_limit = '64MB'")
		if got := mustRun(t, s, sql); got != want {
			t.Error("within the limit the rows are others")
		}
		mustRun(t, s, "SET radish_gpu_memory_limit = '256KB'")
		var x *sqlerr.Error
		if _, err := run(context.Background(), s, sql); !errors.As(err, &x) || x.Kind != sqlerr.Resource || x.Code != sqlerr.CodeCapacityExceeded ||
			!strings.Contains(err.Error(), "ORDER BY on the GPU ran out of memory") || !strings.Contains(err.Error(), "of 256.0 KiB (262144 bytes) allowed") || !strings.Contains(x.Hint, "radish_gpu_memory_limit") {
			t.Errorf("above the limit: %v", err)
		}
		if got := mustRun(t, s, "SELECT COUNT(*), SUM(k) FROM t"); got != mustRun(t, s, "SELECT /*+ SET_VAR(radish_device='cpu') */ COUNT(*), SUM(k) FROM t") {
			t.Errorf("a small query gives %s", got)
		}
		e.Auto.Instead = gpu.Eager
		mustRun(t, s, "SET radish_device = 'auto'")
		if got := mustRun(t, s, sql); got != want {
			t.Error("the CPU takes over and gives other rows")
		}
		if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0].Message, "radish_gpu_memory_limit") {
			t.Errorf("the warnings are %v", w)
		}
		d, err := gpu.Shared(e.Opts.GPULibrary)
		if err != nil {
			t.Fatal(err)
		}
		if n := settled(t, d, 0); n != 0 {
			t.Errorf("%d bytes are left", n)
		}
	})
}
