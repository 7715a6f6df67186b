package engine

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/background"
	"github.com/radish-sql/radish/exec/gpu"
)

// settleAuto waits until nothing is done in the background.
func settleAuto(t *testing.T, e *Engine, d *gpu.Device) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); e.Auto.Preparing.Count() > 0 || e.Auto.Ahead.Count() > 0 || d.Investing() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the background does not come to rest")
		}
	}
}

// TestGPUWinsRace: the CPU has too little memory for a query, and the GPU, which takes part in the race, has enough.
func TestGPUWinsRace(t *testing.T) {
	_, _, s := autoEngine(t)
	autoTables(t, s)
	const sql = "SELECT COUNT(*), MAX(c) FROM (SELECT n, COUNT(*) AS c FROM facts GROUP BY n, w) AS g"
	want := mustRun(t, s, sql)
	mustRun(t, s, "CALL radish_forget(); SET radish_memory_limit = '1MB'; SET radish_temp_folder = 'none'; SET radish_device = 'cpu'")
	if _, err := run(t.Context(), s, sql); err == nil || !strings.Contains(err.Error(), "out of memory") {
		t.Fatalf("on the CPU: %v", err)
	}
	mustRun(t, s, "SET radish_device = 'auto'")
	for range 3 {
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if w := s.Warnings(); len(w) > 0 {
			t.Errorf("warning %q", w[0].Message)
		}
	}
	if got := mustRun(t, s, "SELECT gpu_runs > 0, cpu_runs FROM information_schema.radish_learned WHERE statement LIKE '%MAX(c)%'"); strings.TrimSpace(got) != "1|0" {
		t.Errorf("learned %q", got)
	}
}

// TestRehearsed: what the CPU has answered before the GPU was ready is run there in the background. So something is known of both behind a first run.
func TestRehearsed(t *testing.T) {
	e, d, s := autoEngine(t)
	autoTables(t, s)
	const sql = "SELECT k, SUM(n), MIN(w) FROM facts WHERE h < 7000 GROUP BY k"
	mustRun(t, s, "CALL radish_forget()") // that this GPU is slow
	got := ""
	for range 5 { // the GPU may have been ready just when the CPU was done
		mustRun(t, s, sql)
		settleAuto(t, e, d)
		got = mustRun(t, s, "SELECT cpu_runs > 0 OR cpu_at_least_ms > 0, gpu_runs > 0 OR gpu_at_least_ms > 0, refused FROM information_schema.radish_learned WHERE statement LIKE '%MIN(w)%'")
		if got = strings.TrimSpace(got); got == "1|1|NULL" {
			break
		}
	}
	if got != "1|1|NULL" {
		t.Errorf("learned %q", got)
	}
	if used := e.Statements.Used(); used != 0 {
		t.Errorf("%d bytes are held behind the rehearsal", used)
	}
	// One that cannot run there is not asked for again at once.
	const no = "SELECT k, GROUP_CONCAT(DISTINCT w) FROM facts GROUP BY k"
	mustRun(t, s, "CALL radish_forget()")
	mustRun(t, s, no)
	settleAuto(t, e, d)
	if plan := mustRun(t, s, "EXPLAIN "+no); strings.Contains(plan, "joins when it is ready") {
		t.Errorf("a query without kernels is raced:\n%s", plan)
	}
}

// TestInvested: the columns of a large table are uploaded when it is made, but for strings without dictionary; nobody has used them.
func TestInvested(t *testing.T) {
	e, d, s := autoEngine(t)
	e.Opts.Device = gpu.Auto
	autoTables(t, s)
	mustRun(t, s, "CREATE TABLE texts AS SELECT n, MD5(n) AS m FROM facts")
	var got string
	want := "facts|h|0\nfacts|k|0\nfacts|n|0\nfacts|w|0\ntexts|n|0"
	for end := time.Now().Add(time.Minute); got != want && time.Now().Before(end); time.Sleep(time.Millisecond) {
		got = strings.TrimSpace(mustRun(t, s, "SELECT table_name, column_name, uses FROM information_schema.radish_device_columns WHERE table_name IN ('facts', 'texts') AND status = 'resident' AND uses = 0 ORDER BY 1, 2"))
	}
	if got != want {
		t.Errorf("uploaded are\n%s\nwant\n%s", got, want)
	}
	settleAuto(t, e, d)
	mustRun(t, s, "DROP TABLE facts, texts")
}

// TestPreparations runs each statement once at a time, some at once, and none behind the engine's end.
func TestPreparations(t *testing.T) {
	x := background.NewPreparations()
	ctx := t.Context()
	engine, stop := context.WithCancel(ctx)
	defer stop()
	release := make(chan struct{})
	var mu sync.Mutex
	running, most, began := 0, 0, 0
	job := func(context.Context) (*gpu.Placed, string) {
		mu.Lock()
		running++
		began++
		most = max(most, running)
		mu.Unlock()
		<-release
		mu.Lock()
		running--
		mu.Unlock()
		return nil, "done"
	}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if _, reason := x.Prepare(ctx, engine, uint64(i%3), job); reason != "done" {
				t.Errorf("statement %d: %q", i%3, reason)
			}
		})
	}
	for x.Count() < 3 {
		time.Sleep(time.Millisecond)
	}
	gone, leave := context.WithCancel(ctx)
	leave()
	if _, reason := x.Prepare(gone, engine, 1, job); reason != "" {
		t.Errorf("who has gone gets %q", reason)
	}
	close(release)
	wg.Wait()
	if most != background.MostPreparing || began < 6 {
		t.Errorf("%d at once, %d in all", most, began)
	}
	if _, reason := x.Prepare(ctx, engine, 9, func(context.Context) (*gpu.Placed, string) { panic("a bug") }); !strings.Contains(reason, "a bug") {
		t.Errorf("a panic gives %q", reason)
	}
	stop()
	if _, reason := x.Prepare(ctx, engine, 7, job); reason != "" {
		t.Errorf("behind the engine's end: %q", reason)
	}
	if x.Count() != 0 {
		t.Errorf("%d are left", x.Count())
	}
}
