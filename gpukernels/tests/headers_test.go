package tests

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestHeadersStandAlone compiles every device header by itself behind radish.cuh, and all together in both orders, for the processor
// and, where there is NVRTC, for a GPU.
func TestHeadersStandAlone(t *testing.T) {
	files, err := filepath.Glob("../device/*.cuh")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d headers: %v", len(files), err)
	}
	sources := map[string]string{}
	const start = "#define RADISH_BLOCK 128\n#include \"radish.cuh\"\n"
	forward, backward := "", ""
	for _, f := range files {
		name := filepath.Base(f)
		line := fmt.Sprintf("#include %q\n", name)
		sources[name] = start + line
		forward += line
		backward = line + backward
	}
	sources["all of them"] = start + forward
	sources["all of them, from the last"] = start + backward
	const kernel = "RADISH_KERNEL(k, 1) { as_pointer<u64>(p.w[0])[0] = 1; }\n"
	t.Run("emulated", func(t *testing.T) { compileAll(t, gputest.EmulatedLibrary(t), sources, kernel) })
	t.Run("cuda", func(t *testing.T) { compileAll(t, gputest.CUDALibrary(t), sources, kernel) })
}

func compileAll(t *testing.T, lib *gpukernels.Library, sources map[string]string, kernel string) {
	for name, source := range sources {
		_, err := lib.Compile(90, source+kernel)
		if errors.Is(err, gpukernels.ErrUnavailable) {
			t.Skip(err)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
