package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// autoEngine is an engine whose radish_device = 'auto' uses an emulated device as if it were a real one, and has learned nothing yet.
func autoEngine(t *testing.T) (*Engine, *gpu.Device, *Session) {
	t.Helper()
	return autoEngineOn(t, gputest.EmulatedLibrary(t))
}

func autoEngineOn(t *testing.T, library *gpukernels.Library) (*Engine, *gpu.Device, *Session) {
	t.Helper()
	e := gpuEngine(t, library)
	e.Auto.Emulated = true
	d, err := e.GPU()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Advisor().Forget(); err != nil {
		t.Fatal(err)
	}
	s := e.NewSession()
	mustRun(t, s, "SET radish_device = 'auto'")
	return e, d, s
}

const autoRows = 2 * placement.LeastRows

// autoTables makes tables that are large enough for a GPU.
func autoTables(t *testing.T, s *Session) {
	t.Helper()
	mustRun(t, s, "CREATE TABLE digits (d INT); INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7)")
	product := make([]string, 6)
	number := make([]string, 6)
	for i := range product {
		product[i] = fmt.Sprintf("digits AS d%d", i)
		number[i] = fmt.Sprintf("(d%d.d << %d)", i, 3*i)
	}
	mustRun(t, s, fmt.Sprintf("CREATE TABLE big AS SELECT CAST(%s AS SIGNED) AS n FROM %s LIMIT %d", strings.Join(number, " + "), strings.Join(product, ", "), autoRows))
	mustRun(t, s, "CREATE TABLE facts AS SELECT n, n % 100 AS k, n % 7919 AS h, CONCAT('word ', n % 50) AS w FROM big")
}

// teach has the advisor believe that runs of a query took so long, and nothing else.
func teach(t *testing.T, s *Session, d *gpu.Device, sql string, onCPU, onGPU time.Duration) {
	t.Helper()
	statements, err := s.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	st := &session.Statement{Statement: statements[0], Session: s.Session, Context: t.Context()}
	defer st.End()
	q, err := st.Binder().Query(st.Node)
	if err != nil {
		t.Fatal(err)
	}
	sum, _ := logical.Fingerprint(q)
	if err := d.Advisor().Forget(); err != nil {
		t.Fatal(err)
	}
	d.Advisor().Learn(sum, sql, nil, placement.Outcome{Device: physical.CPU, Took: onCPU})
	d.Advisor().Learn(sum, sql, nil, placement.Outcome{Device: physical.GPU, Took: onGPU})
}

// TestAuto runs statements under 'auto' from their first run on: with what is known of none of them, with kernels missing, and with everything
// there. Whatever device answers, the rows are the CPU's.
func TestAuto(t *testing.T) {
	e, d, s := autoEngine(t)
	autoTables(t, s)
	for _, sql := range []string{
		"SELECT k, COUNT(*), SUM(n) FROM facts GROUP BY k",
		"SELECT w, MAX(n), AVG(h) FROM facts WHERE h < 4000 GROUP BY w",
		"SELECT COUNT(*), SUM(a.n) FROM facts AS a JOIN (SELECT h, MIN(n) AS m FROM facts GROUP BY h) AS b ON a.n = b.m",
		"SELECT n, w FROM facts WHERE k = 7 ORDER BY n DESC LIMIT 5",
		"SELECT n FROM facts WHERE n % 1000 = 3",
		"SELECT k, ROW_NUMBER() OVER (ORDER BY c, k) FROM (SELECT k, COUNT(*) AS c FROM facts GROUP BY k) AS g",
	} {
		want := rowsOnCPU(t, s, sql, "auto")
		slices.Sort(want)
		check := func(when string) {
			t.Helper()
			got := rowTexts(values(t, s, sql))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d rows, the CPU gives %d", sql, when, len(got), len(want))
			}
			if w := s.Warnings(); len(w) > 0 {
				t.Errorf("%s, %s: warning %q", sql, when, w[0].Message)
			}
		}
		if plan := mustRun(t, s, "EXPLAIN "+sql); !strings.Contains(plan, "the GPU joins when it is ready") {
			t.Errorf("%s is not raced at first:\n%s", sql, plan)
		}
		check("at first")
		teach(t, s, d, sql, time.Second, time.Millisecond)
		check("with a GPU that is faster, ready or not")
		mustRun(t, s, "SET radish_device = 'gpu'")
		check("with 'gpu'")
		mustRun(t, s, "SET radish_device = 'auto'")
		teach(t, s, d, sql, time.Second, time.Millisecond)
		plan := mustRun(t, s, "EXPLAIN "+sql)
		if !strings.Contains(plan, " on gpu: it took") || strings.Contains(plan, "joins") {
			t.Errorf("%s is not on the GPU, which is faster and ready:\n%s", sql, plan)
		}
		check("on the GPU")
		for e.Auto.Preparing.Count() > 0 { // it holds columns
			time.Sleep(time.Millisecond)
		}
		teach(t, s, d, sql, time.Second, time.Millisecond)
		d.EvictColumns()
		if plan := mustRun(t, s, "EXPLAIN "+sql); !strings.Contains(plan, "not yet on the GPU:") || strings.Contains(plan, " on gpu:") {
			t.Errorf("%s waits for columns:\n%s", sql, plan)
		}
		check("with columns given up")
	}
}

// TestReasonsToStay wants each pipeline's own reason, under 'auto' and in the text of kernels.
func TestReasonsToStay(t *testing.T) {
	_, _, s := autoEngine(t)
	autoTables(t, s)
	recursion := "WITH RECURSIVE r AS (SELECT MIN(n) AS n FROM facts UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT SUM(n) FROM r"
	for _, x := range []struct{ device, sql, want string }{
		{"auto", "EXPLAIN " + recursion, "pipeline 1 on cpu: WITH RECURSIVE runs on the CPU, with all that it reads"},
		{"auto", "EXPLAIN FORMAT = 'kernels' " + recursion, "// pipeline 1 on the CPU: WITH RECURSIVE runs on the CPU, with all that it reads"},
		{"gpu", "EXPLAIN FORMAT = 'kernels' " + recursion, "// pipeline 1 on the CPU: WITH RECURSIVE runs on the CPU, with all that it reads"},
		{"cpu", "EXPLAIN FORMAT = 'kernels' SELECT COUNT(*) FROM facts", "// pipeline 0 on the CPU: radish_device is 'cpu'"},
		{"gpu", "EXPLAIN FORMAT = 'kernels' SELECT RAND() FROM facts", "// pipeline 0 on the CPU: "},
	} {
		mustRun(t, s, "SET radish_device = '"+x.device+"'")
		if plan := mustRun(t, s, x.sql); !strings.Contains(plan, x.want) || strings.Contains(plan, "expected to take") {
			t.Errorf("%s, %s: it lacks %q:\n%s", x.device, x.sql, x.want, plan)
		}
	}
}

// TestAutoRepeatsNothing does not race statements that would be seen to run twice.
func TestAutoRepeatsNothing(t *testing.T) {
	_, _, s := autoEngine(t)
	autoTables(t, s)
	for _, sql := range []string{
		"SELECT COUNT(*) FROM facts WHERE RAND() < 2",
		"SELECT MAX(n), LAST_INSERT_ID(COUNT(*)) FROM facts",
		"SELECT COUNT(*) FROM facts WHERE n = 3 AND SLEEP(0) = 0",
	} {
		if plan := mustRun(t, s, "EXPLAIN "+sql); strings.Contains(plan, "joins when it is ready") {
			t.Errorf("%s is raced:\n%s", sql, plan)
		}
		mustRun(t, s, sql)
	}
}

// TestAutoErrors wants the CPU's errors and warnings, whoever meets them, once.
func TestAutoErrors(t *testing.T) {
	_, d, s := autoEngine(t)
	autoTables(t, s)
	for _, sql := range []string{
		"SELECT k, MAX(9223372036854775800 + n) FROM facts GROUP BY k",
		"SELECT (SELECT n FROM facts) FROM digits",
	} {
		mustRun(t, s, "SET radish_device = 'cpu'")
		_, want := run(t.Context(), s, sql)
		mustRun(t, s, "SET radish_device = 'auto'")
		for range 2 {
			if _, err := run(t.Context(), s, sql); err == nil || err.Error() != want.Error() {
				t.Errorf("%s: %v, want %v", sql, err, want)
			}
		}
	}
	sql := "SELECT k, COUNT(*) FROM facts WHERE 1 / (n - 5) > 0 OR CAST(w AS SIGNED) = 1 GROUP BY k"
	mustRun(t, s, "SET radish_device = 'cpu'")
	want := mustRun(t, s, sql)
	warned := mustRun(t, s, "SHOW COUNT(*) WARNINGS")
	mustRun(t, s, sql)
	warnings := s.Warnings()
	mustRun(t, s, "SET radish_device = 'auto'")
	for range 2 {
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("%s gives\n%s\nwant\n%s", sql, got, want)
		}
		got, count := s.Warnings(), warned
		// A GPU that was ready in time meets the warnings first. Then a note, the last of the list, says that the CPU ran the query.
		if last := len(got) - 1; last >= 0 && got[last].Level == sqlerr.LevelNote && strings.HasPrefix(got[last].Message, "the query ran on the CPU: a kernel met") {
			got, count = got[:last], fmt.Sprintf("%d\n", len(warnings)+1)
		}
		if !slices.Equal(got, warnings) {
			t.Errorf("warnings %v, want %v", got, warnings)
		}
		if got := mustRun(t, s, "SHOW COUNT(*) WARNINGS"); got != count {
			t.Errorf("%s warnings, want %s", got, count)
		}
		teach(t, s, d, sql, time.Second, time.Millisecond)
	}
}
