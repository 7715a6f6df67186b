package others

import (
	"os"
	"testing"

	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestDevices judges Radish's GPU by its CPU: by the emulated one, or, with RADISH_TEST_DEVICE=cuda, by a GPU. The statements are all of MySQL's
// that package fuzz draws; those that change tables run on the CPU on both sides.
func TestDevices(t *testing.T) {
	if os.Getenv(gputest.DeviceVariable) != "cuda" {
		t.Setenv("RADISH_GPU_LIB", gputest.EmulatedLibrary(t).Path())
	}
	c := settings(t, nil, open("radish", nil, "SET radish_device = 'cpu'"))
	c.Engine = open("radish", nil, "SET radish_device = 'gpu'")
	c.Special = true
	compareTwo(t, c, 0.9)
}
