package engine

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/planner/cost"
)

// TestCalibratedSoon: a device of which nobody has measured anything is calibrated when 'auto' first asks for it, while queries run, and then not again, in later processes
// neither. What an engine's end cuts short another engine does.
func TestCalibratedSoon(t *testing.T) {
	e, d, s := autoEngine(t)
	before := d.Advisor().Costs()
	t.Cleanup(func() {
		d.KeepCosts("")
		d.Advisor().SetMeasuredCosts(before)
	})
	autoTables(t, s)
	file := filepath.Join(t.TempDir(), "costs.json")
	d.KeepCosts(file)
	const sql = "SELECT k, SUM(n) FROM facts GROUP BY k"

	short, err := New(database.Options{Threads: 2, Device: gpu.Auto, GPULibrary: e.Opts.GPULibrary})
	if err != nil {
		t.Fatal(err)
	}
	short.Auto.Emulated = true
	autoTables(t, short.NewSession())
	waitFor(t, "a calibration", func() bool { return short.Auto.Measuring.Load() || placement.LoadCosts(file) != nil })
	got := mustRun(t, short.NewSession(), "SELECT background FROM information_schema.radish_devices WHERE device = 'gpu0'")
	if short.Auto.Measuring.Load() && !strings.Contains(got, "costs are being measured") {
		t.Errorf("in the background is %s", got)
	}
	if err := short.Close(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the end of the calibration with its engine", func() bool { return !short.Auto.Measuring.Load() })
	if placement.LoadCosts(file) != nil {
		t.Skip("the calibration was faster than the engine's end")
	}

	want := mustRun(t, s, sql)
	waitFor(t, "the second engine's calibration", func() bool {
		if got := mustRun(t, s, sql); got != want { // queries come in between
			t.Fatalf("beside the calibration: %s", got)
		}
		time.Sleep(10 * time.Millisecond)
		return e.Auto.Measuring.Load() || placement.LoadCosts(file) != nil
	})
	waitFor(t, "its end", func() bool { return !e.Auto.Measuring.Load() })
	kept := placement.LoadCosts(file)
	if kept == nil || *kept != d.Advisor().Costs() {
		t.Fatalf("kept are %+v", kept)
	}
	if kept.CPU[cost.Scan] == before.CPU[cost.Scan] || kept.GPU[cost.Scan] == before.GPU[cost.Scan] {
		t.Error("nothing was measured of scans")
	}
	settleAuto(t, e, d)
	d.KeepCosts(file) // a later process
	mustRun(t, s, sql)
	if e.Auto.Measuring.Load() {
		t.Error("what is known is measured again")
	}
}

// waitFor waits until something has happened.
func waitFor(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waiting in vain for " + what)
		}
	}
}
