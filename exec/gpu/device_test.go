package gpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestWithoutCompiler opens a device for which nothing compiles kernels: that is an error which says so, before any query begins to bring columns there.
func TestWithoutCompiler(t *testing.T) {
	lib := gputest.EmulatedLibrary(t)
	t.Setenv("RADISH_CXX", "/no/such/compiler")
	d, err := NewDevice(lib, 0)
	if err == nil {
		d.Close()
	}
	if !errors.Is(err, gpukernels.ErrUnavailable) || !strings.Contains(err.Error(), "/no/such/compiler") {
		t.Errorf("error %v", err)
	}
}
