package engine

import (
	"strings"
	"testing"

	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestDevicesTable wants the processor, the emulated device, and what is wrong with a library that cannot be loaded.
func TestDevicesTable(t *testing.T) {
	for _, c := range []struct {
		name    string
		library func() string
		want    []string
	}{
		{"missing", func() string { return "/no/such/libradish_gpu.so" }, []string{"not usable", "/no/such/libradish_gpu.so: there is no such file", "make gpu"}},
		{"emulated", func() string { return gputest.EmulatedLibrary(t).Path() }, []string{"gpu0", "usable", "emulated on the processor"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustRun(t, session(t, Options{GPULibrary: c.library()}), "SELECT * FROM information_schema.radish_devices ORDER BY device")
			for _, w := range append(c.want, "cpu", "in use") {
				if !strings.Contains(got, w) {
					t.Errorf("%q does not mention %q", got, w)
				}
			}
		})
	}
}
