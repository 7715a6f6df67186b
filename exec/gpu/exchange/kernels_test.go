package exchange

import (
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestKernelsCompile compiles the kernels with NVRTC, which needs no GPU.
func TestKernelsCompile(t *testing.T) {
	compilers := gputest.CUDALibrary(t).NewCompilers(90, 0)
	defer compilers.Close()
	if _, _, err := compilers.Compile(gpukernels.NewTurn(), 90, text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
