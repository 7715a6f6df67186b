package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/calibrate"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/cost"
)

// TestCalibrate measures on an emulated device, and on a real one if there is one. Costs are positive, and EXPLAIN estimates with them.
func TestCalibrate(t *testing.T) {
	if testing.Short() {
		t.Skip("one session measures by itself; TestCalibratedSoon has the same measurement run beside queries")
	}
	eachGPU(t, func(t *testing.T, e *Engine) {
		d, err := e.GPU()
		if err != nil {
			t.Fatal(err)
		}
		if !d.Emulated() { // what is measured beside other tests is not to be kept
			t.Setenv("RADISH_KERNEL_CACHE", "off")
		}
		before := d.Advisor().Costs()
		s := e.NewSession()
		rows := values(t, s, "CALL radish_calibrate()")
		var names []string
		for _, r := range rows {
			names = append(names, r[0].Text())
			if r[2].F < 0 || !r[1].Null && r[1].F < 0 {
				t.Errorf("%s costs %v on the CPU and %v on the GPU", r[0].Text(), r[1].F, r[2].F)
			}
		}
		var want []string
		for _, c := range cost.Classes() {
			want = append(want, c.String())
		}
		if want = append(want, "upload", "compile", "joins in partitions", "joins by tables"); !slices.Equal(names, want) {
			t.Errorf("costs of %q, want %q", names, want)
		}
		after := d.Advisor().Costs()
		for _, q := range calibrate.Queries {
			text := q.Class == cost.ProbeLarge || q.Class == cost.ReadString || q.Class == cost.GroupStringLarge || q.Class == cost.ProbeString || q.Class == cost.SortString
			if text && d.Emulated() {
				continue // its tables are so small that strings have a dictionary, and builds fit the cache
			}
			if after.CPU[q.Class] == before.CPU[q.Class] || after.GPU[q.Class] == before.GPU[q.Class] {
				t.Errorf("%s is priced as before: no pipeline of %q does it", q.Class, q.SQL)
			}
		}
		if j := after.GPUJoins; j == before.GPUJoins || j != j.Bounded() {
			t.Errorf("joins take %+v times an H200's", j)
		}
		if err := d.Calibrated(before); err != nil {
			t.Error(err)
		}
		t.Logf("%+v", after)
	})
	s := newSession(t, database.Options{Threads: 2, Device: gpu.Never, GPULibrary: "/nosuch/lib.so"})
	for sql, says := range map[string]string{
		"CALL radish_calibrate()": "no usable GPU", "CALL radish_calibrate(1)": "radish_calibrate", "CALL nosuch()": "nosuch does not exist",
	} {
		if _, err := run(t.Context(), s, sql); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
