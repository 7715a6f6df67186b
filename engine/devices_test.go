package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// TestDevicesTable wants the processor, the device, and what is wrong with a library that cannot be loaded.
func TestDevicesTable(t *testing.T) {
	check := func(t *testing.T, library string, want ...string) {
		got := mustRun(t, newSession(t, database.Options{Device: gpu.Never, GPULibrary: library}), "SELECT * FROM information_schema.radish_devices ORDER BY device")
		for _, w := range append(want, "cpu", "in use") {
			if !strings.Contains(got, w) {
				t.Errorf("%q does not mention %q", got, w)
			}
		}
	}
	t.Run("missing", func(t *testing.T) {
		check(t, "/no/such/libradish_gpu.so", "not usable", "/no/such/libradish_gpu.so: there is no such file", "make gpu")
	})
	gputest.EachLibrary(t, func(t *testing.T, lib *gpukernels.Library) {
		name := "emulated on the processor"
		if devices, err := lib.Devices(); err != nil {
			t.Fatal(err)
		} else if !devices[0].Emulated() {
			name = devices[0].Name
		}
		check(t, lib.Path(), "gpu0", "usable", name)
	})
}

// A machine without a library or a GPU says so where one is asked for, and how to get it; what does not ask for it is as it was.
func TestWithoutGPU(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1, GPULibrary: "/no/such/libradish_gpu.so"})
	for _, sql := range []string{"SET radish_device = 'gpu'", "SET radish_device = 'gpu_strict'", "SELECT /*+ SET_VAR(radish_device='gpu') */ 1"} {
		_, err := run(context.Background(), s, sql)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.CodeNotSupported || !strings.Contains(e.Error(), "no usable GPU") || !strings.Contains(e.Error(), "/no/such/libradish_gpu.so") || !strings.Contains(e.Error(), "make gpu") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	mustRun(t, s, "CREATE TABLE t (a INT); SET radish_device = 'auto'")
	if got := mustRun(t, s, "SELECT @@radish_device, COUNT(*) FROM t"); got != "auto|0\n" {
		t.Errorf("got %q", got)
	}
	// More rows than a device is looked for at.
	mustRun(t, s, "CALL tpch_generate(0.02)")
	if got := mustRun(t, s, "SELECT COUNT(*) > 0 FROM lineitem WHERE l_tax > 0"); got != "1\n" {
		t.Errorf("got %q", got)
	}
	if got := mustRun(t, s, "EXPLAIN SELECT COUNT(*) FROM lineitem WHERE l_tax > 0"); strings.Contains(got, " on gpu") {
		t.Errorf("without a GPU:\n%s", got)
	}
}
