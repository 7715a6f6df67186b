package others

import (
	"fmt"
	"os"
	"testing"

	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestDevices judges Radish's GPU by its CPU: by the emulated one, or, with RADISH_TEST_DEVICE=cuda, by a GPU. The statements are all of MySQL's
// that package fuzz draws; those that change tables run on the CPU on both sides. RADISH_FUZZ_GPUS, a list such as 0,0,0, shares each statement between these
// devices. RADISH_FUZZ_SET has more assignments for the GPU's side, such as radish_gpu_join_partitions = 'always'.
func TestDevices(t *testing.T) {
	if os.Getenv(gputest.DeviceVariable) != "cuda" {
		t.Setenv("RADISH_GPU_LIB", gputest.EmulatedLibrary(t).Path())
	}
	c := settings(t, nil, open("radish", nil, "SET radish_device = 'cpu'"))
	setup := []string{"SET radish_device = 'gpu'"}
	if list := os.Getenv("RADISH_FUZZ_GPUS"); list != "" {
		setup = append(setup, fmt.Sprintf("SET radish_gpu_share = 'always', radish_gpu_devices = '%s'", list))
	}
	if list := os.Getenv("RADISH_FUZZ_SET"); list != "" {
		setup = append(setup, "SET "+list)
	}
	c.Engine = open("radish", nil, setup...)
	c.Special = true
	compareTwo(t, c, 0.9)
}
