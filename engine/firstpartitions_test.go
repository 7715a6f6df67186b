package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// asNew makes a statement come for the first time to devices whose tuning lets up to so many rows (0: none) do without the kernels that take long to compile.
func asNew(t *testing.T, s *Session, query string, tune func(first float64), devices ...*gpu.Device) {
	t.Helper()
	tune(0)
	mustRun(t, s, query) // now the kernels are loaded, so that they can be forgotten, those of an earlier process too
	tune(1e9)
	for _, d := range devices {
		d.AwaitKernels()
		d.ForgetKernels()
	}
}

// partitionFrom has groups of so many rows made in partitions. Up to first, no query waits for the kernels of these.
func partitionFrom(rows, first float64) func(*kernel.Tuning) {
	return func(t *kernel.Tuning) { t.Partition.Rows, t.Partition.FirstRows = rows, first }
}

// rowByRow has tables of up to few rows scanned row by row, and those of up to first while other kernels are compiled.
func rowByRow(few, first float64) func(*kernel.Tuning) {
	return func(t *kernel.Tuning) {
		t.Scan = kernel.Scans{FewRows: few, FirstRows: first, FirstAppends: first}
	}
}

// TestFirstPartitions runs statements whose groups are made in partitions: the first time without these, since their kernels take long to compile, and with them as soon as they are there. Rows are the CPU's.
func TestFirstPartitions(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 59) SELECT n FROM r;
			CREATE TABLE r AS SELECT (a.n * 3600 + b.n * 60 + c.n) % 50021 AS k, b.n AS v FROM d AS a JOIN d AS b JOIN d AS c;
			SET radish_device = 'gpu_strict'`)
		d := theGPU(t, e)
		defer d.Tune(partitionFrom(4e6, 0))
		for i, query := range []string{
			"SELECT n, COUNT(*), SUM(k) FROM (SELECT k, COUNT(*) AS n FROM r WHERE v <> 7 GROUP BY k) AS x GROUP BY n ORDER BY n",
			"SELECT COUNT(*), MAX(n), SUM(k * n) FROM (SELECT k * 1000003 AS k, SUM(v) AS n FROM r GROUP BY k * 1000003) AS x WHERE n > 100",
		} {
			if testing.Short() && i > 0 {
				continue
			}
			want := mustRun(t, e.NewSession(), "SET radish_device = 'cpu'; "+query)
			asNew(t, s, query, func(first float64) { d.Tune(partitionFrom(1000, first)) }, d)
			inPartitions := func() bool {
				return strings.Contains(mustRun(t, s, "EXPLAIN FORMAT = 'pipelines' "+query), "partitions of")
			}
			if inPartitions() {
				t.Errorf("the first run waits for partitions: %s", mustRun(t, s, "EXPLAIN FORMAT = 'pipelines' "+query))
			}
			for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				then := inPartitions()
				if got := mustRun(t, s, query); got != want {
					t.Fatalf("%s gives\n%s\nwant\n%s\nin partitions: %t", query, got, want, then)
				}
				if then {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the kernels of partitions do not come:\n%s", mustRun(t, s, "EXPLAIN FORMAT = 'pipelines' "+query))
				}
			}
		}
	})
}

// TestFirstScans runs statements whose scans go row by row, and whose kernels are compiled quickly, until the kernels are compiled that load several rows at once. Rows are the CPU's.
func TestFirstScans(t *testing.T) {
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 59) SELECT n FROM r;
			CREATE TABLE r AS SELECT a.n * 60 + b.n AS k, IF(b.n % 7 = 0, NULL, b.n) AS v FROM d AS a JOIN d AS b;
			DELETE FROM r WHERE k % 50 = 3;
			SET radish_device = 'gpu_strict'`)
		d := theGPU(t, e)
		defer d.Tune(rowByRow(0, 0))
		if !testing.Short() {
			d.UseQuickOptions("-DRADISH_QUICK")
			defer d.UseQuickOptions()
		}
		for _, query := range []string{
			"SELECT v, COUNT(*), SUM(k) FROM r WHERE v <> 8 AND k > 100 GROUP BY v ORDER BY v",
			"SELECT COUNT(*), SUM(r.k), MIN(r.v) FROM r JOIN d ON r.v = d.n WHERE d.n BETWEEN 5 AND 30 AND r.k % 3 = 1",
		} {
			want := mustRun(t, e.NewSession(), "SET radish_device = 'cpu'; "+query)
			asNew(t, s, query, func(first float64) { d.Tune(rowByRow(0, first)) }, d)
			rowByRow := func() bool {
				return strings.Contains(mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+query), "// decided: scan: take row by row")
			}
			if !rowByRow() {
				t.Errorf("the first run waits for kernels that take long to compile: %s", mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+query))
			}
			if got := mustRun(t, s, query); got != want {
				t.Fatalf("%s gives row by row\n%s\nwant\n%s", query, got, want)
			}
			d.AwaitKernels()
			if rowByRow() {
				t.Errorf("the second run does not use the kernels that have been compiled: %s", mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+query))
			}
			compiled := d.FirstRun().Compiled.Tasks
			if got := mustRun(t, s, query); got != want {
				t.Fatalf("%s gives\n%s\nwant\n%s", query, got, want)
			}
			d.AwaitKernels()
			if n := d.FirstRun().Compiled.Tasks - compiled; n != 0 {
				t.Errorf("%s: %d kernels of the second run had not been compiled behind the first", query, n)
			}
		}
	})
}

// TestFirstSorts orders rows by kernels that order by any columns, until those of the statement's columns are compiled behind it. Rows are the CPU's.
func TestFirstSorts(t *testing.T) {
	if testing.Short() {
		t.Skip("the kernels take seconds to compile for an emulated device; TestSortRowsByAny runs some of them")
	}
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, `CREATE TABLE d AS WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 99) SELECT n FROM r;
			CREATE TABLE r AS SELECT a.n * 100 + b.n AS k, IF(b.n % 7 = 0, NULL, b.n) AS v, CONCAT('s', b.n % 10) AS t, CAST((a.n - 50) * b.n AS DECIMAL(30, 2)) AS w FROM d AS a JOIN d AS b;
			SET radish_device = 'gpu_strict'`)
		d := theGPU(t, e)
		d.LoadAnySorts()
		defer d.Tune(rowByRow(0, 0))
		for _, query := range []string{
			"SELECT v, t, w, k FROM r WHERE k % 9 = 1 ORDER BY v DESC, t, w DESC, k", // in one block
			"SELECT t, w, k FROM r WHERE k > 100 ORDER BY t DESC, w, k",              // merged
			"SELECT w, k FROM r ORDER BY w, k DESC LIMIT 7 OFFSET 3",
		} {
			want := mustRun(t, e.NewSession(), "SET radish_device = 'cpu'; "+query)
			asNew(t, s, query, func(first float64) { d.Tune(rowByRow(0, first)) }, d)
			for range 2 {
				if got := mustRun(t, s, query); got != want {
					t.Fatalf("%s gives\n%s\nwant\n%s", query, got, want)
				}
				d.AwaitKernels()
			}
			compiled := d.FirstRun().Compiled.Tasks
			mustRun(t, s, query)
			d.AwaitKernels()
			if n := d.FirstRun().Compiled.Tasks - compiled; n != 0 {
				t.Errorf("%s: %d kernels of the third run had not been compiled behind the others", query, n)
			}
		}
	})
}

// TestFirstScansOnGPUs does the same where two GPUs share a statement: both have their kernels compiled behind the first run.
func TestFirstScansOnGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a dozen kernels, as TestFirstScans does")
	}
	eachGPU(t, func(t *testing.T, e *Engine) {
		c := e.NewSession()
		mustRun(t, c, "SET radish_device = 'cpu'; CREATE TABLE t (k INT, a BIGINT); INSERT INTO t SELECT k, k * 7919 % 1009 FROM (WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM r WHERE k < 900) SELECT k FROM r) AS x")
		splitTables(t, e, "t")
		s := fleetSession(t, e, 2)
		const query = "SELECT COUNT(*), SUM(a), MAX(k) FROM t WHERE a > 100 AND k <> 7"
		want := mustRun(t, c, query)
		devices := fleetDevices(t, s)
		rowByRow := func(first float64) {
			for _, d := range devices {
				d.Tune(rowByRow(0, first))
			}
		}
		defer rowByRow(0)
		asNew(t, s, query, rowByRow, devices...)
		for _, first := range []bool{true, false} {
			if text := mustRun(t, s, "EXPLAIN FORMAT = 'kernels' "+query); strings.Contains(text, "take row by row") != first {
				t.Errorf("the scan should go row by row: %t, but kernels are\n%s", first, text)
			}
			if got := mustRun(t, s, query); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, d := range devices {
				d.AwaitKernels()
			}
		}
	})
}
