package tests

import (
	"bytes"
	"errors"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestCompileForChips compiles with NVRTC, for which no GPU is needed.
func TestCompileForChips(t *testing.T) {
	lib := gputest.CUDALibrary(t)
	for _, capability := range []int{80, 90, 100} {
		image, err := lib.Compile(capability, sumKernel)
		if errors.Is(err, gpukernels.ErrUnavailable) {
			t.Skip(err)
		}
		check(t, err)
		if !bytes.HasPrefix(image, []byte("\x7fELF")) {
			t.Errorf("compute capability %d: the image is no cubin: %q", capability, image[:min(len(image), 16)])
		}
	}
	if image, err := lib.Compile(999, sumKernel); err != nil || !bytes.Contains(image, []byte(".target sm_")) {
		t.Errorf("a chip of the future gets no PTX: %v", err)
	}
	if _, err := lib.Compile(10, sumKernel); !errors.Is(err, gpukernels.ErrUnavailable) {
		t.Errorf("a chip that is too old: %v", err)
	}
	if _, err := lib.Compile(90, "RADISH_KERNEL(k, 1) {}"); !errors.Is(err, gpukernels.ErrInternal) {
		t.Errorf("a source that does not compile: %v", err)
	}
}

// TestNoDriver wants a message that says what is missing where there is no GPU, and a device where there is one.
func TestNoDriver(t *testing.T) {
	lib := gputest.CUDALibrary(t)
	devices, err := lib.Devices()
	if err == nil {
		if len(devices) == 0 {
			t.Error("no devices and no error")
		}
		t.Skip("there is a GPU")
	}
	if !errors.Is(err, gpukernels.ErrUnavailable) || !containsAll(err.Error(), "driver") {
		t.Errorf("error %v", err)
	}
	if _, err := lib.OpenDevice(0); !errors.Is(err, gpukernels.ErrUnavailable) {
		t.Errorf("opening it: %v", err)
	}
	t.Log(err)
}
