package engine

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
)

// fullClock has the pauses of a device pass by a clock that the test sets.
func fullClock(t *testing.T, d *gpu.Device) (pass func(time.Duration)) {
	t.Helper()
	var ahead atomic.Int64
	d.UseClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	t.Cleanup(func() { d.UseClock(time.Now) })
	return func(p time.Duration) { ahead.Add(int64(p)) }
}

// TestAutoMemoryFull: somebody else takes all of the GPU's memory, and gives it back. 'auto' goes on with the CPU, says so once, and comes back.
func TestAutoMemoryFull(t *testing.T) {
	e, d, s := autoEngine(t)
	pass := fullClock(t, d)
	autoTables(t, s)
	const sql = "SELECT k, SUM(n), MAX(h) FROM facts GROUP BY k"
	want := mustRun(t, s, "SET radish_device = 'gpu'; "+sql)
	mustRun(t, s, "SET radish_device = 'auto'")
	teach(t, s, d, sql, time.Second, time.Millisecond)
	if plan := mustRun(t, s, "EXPLAIN "+sql); !strings.Contains(plan, " on gpu: it took") {
		t.Fatalf("with memory:\n%s", plan)
	}
	notes := 0
	check := func() {
		t.Helper()
		if got := mustRun(t, s, sql); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		for _, w := range s.Warnings() {
			if !strings.Contains(w.Message, "memory") {
				t.Errorf("warning %q", w.Message)
			}
			notes++
		}
		settleAuto(t, e, d)
	}
	d.LimitMemory(t, 975<<10) // its columns take 952 KiB, and it needs more
	defer d.LimitMemory(t, 0)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		check() // the CPU may be done before the GPU has asked for memory
		if plan := mustRun(t, s, "EXPLAIN "+sql); strings.Contains(plan, "memory is full") {
			break
		}
		teach(t, s, d, sql, time.Second, time.Millisecond)
	}
	for range 3 {
		check()
	}
	if plan := mustRun(t, s, "EXPLAIN "+sql); !strings.Contains(plan, "memory is full") || strings.Contains(plan, " on gpu:") {
		t.Errorf("without memory:\n%s", plan)
	}
	if got := mustRun(t, s, "SELECT status FROM information_schema.radish_devices WHERE device = 'gpu0'"); !strings.Contains(got, "memory is full") {
		t.Errorf("the device is %s", got)
	}
	if notes > 1 {
		t.Errorf("%d notes", notes)
	}
	other := e.NewSession()
	mustRun(t, other, "SET radish_device = 'auto'")
	for i := range 2 {
		mustRun(t, other, sql)
		if w := other.Warnings(); len(w) != 1-i {
			t.Errorf("run %d of another session has %d warnings", i, len(w))
		}
	}
	d.LimitMemory(t, 0)
	pass(2 * time.Minute)
	back := false
	for end := time.Now().Add(time.Minute); !back && time.Now().Before(end); {
		teach(t, s, d, sql, time.Second, time.Millisecond)
		check()
		teach(t, s, d, sql, time.Second, time.Millisecond)
		back = strings.Contains(mustRun(t, s, "EXPLAIN "+sql), " on gpu: it took")
	}
	if !back {
		t.Errorf("with memory again:\n%s", mustRun(t, s, "EXPLAIN "+sql))
	}
}

// TestInvestedWithinLimit: columns that no query has asked for leave a part of the limit free, and nothing is given up for them.
func TestInvestedWithinLimit(t *testing.T) {
	e, d, s := autoEngine(t)
	e.Opts.Device = gpu.Auto
	autoTables(t, s)
	settleAuto(t, e, d)
	mustRun(t, s, "SET radish_device = 'gpu'; SELECT SUM(h) FROM facts")
	v, _, err := e.Catalog.Load().Lookup(database.DefaultDatabase, "facts")
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	held := d.ResidentBytes(v)
	const column = autoRows * 4
	limit := (m.Used + 2*column) * 4 / 3 // what is held now, and a column
	d.LimitMemory(t, limit)
	defer d.LimitMemory(t, 0)
	mustRun(t, s, "SET radish_device = 'cpu'; CREATE TABLE more AS SELECT n AS a, n + 1 AS b, n + 2 AS c, n + 3 AS d FROM facts")
	more, _, err := e.Catalog.Load().Lookup(database.DefaultDatabase, "more")
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); d.ResidentBytes(more) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	settleAuto(t, e, d)
	if m, err = d.Memory(); err != nil || m.Used > limit*3/4 {
		t.Errorf("%d of %d bytes are held: %v", m.Used, limit, err)
	}
	if now := d.ResidentBytes(v); now < held {
		t.Errorf("%d bytes of a table that was used have become %d", held, now)
	}
	if got := mustRun(t, s, "SELECT limit_bytes FROM information_schema.radish_devices WHERE device = 'gpu0'"); strings.TrimSpace(got) == "NULL" {
		t.Error("no limit is shown")
	}
	mustRun(t, s, "DROP TABLE more, facts")
}
