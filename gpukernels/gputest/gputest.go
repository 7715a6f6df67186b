// Package gputest gives tests a device. Emulated is the processor playing one: everything but speed and races can be tested with
// it, wherever there is a C++ compiler. CUDA is a real one, where there is one.
package gputest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

var emulated = sync.OnceValues(func() (*gpukernels.Library, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	path, err := gpukernels.BuildEmulated(ctx, filepath.Join(base, "radish", "emulated"))
	if err != nil {
		return nil, err
	}
	return gpukernels.Open(gpukernels.Options{Path: path})
})

// DeviceVariable is the environment variable that says which devices tests must run on: "emulated" or "cuda" (the other one's
// tests are skipped), or "all". A device that is named and missing fails the test; without the variable it is skipped.
const DeviceVariable = "RADISH_TEST_DEVICE"

// wanted skips the test if another device was named, and says whether this one was.
func wanted(tb testing.TB, device string) bool {
	tb.Helper()
	switch v := os.Getenv(DeviceVariable); v {
	case "":
		return false
	case device, "all":
		return true
	default:
		tb.Skip(DeviceVariable + " is " + v)
		return false
	}
}

// missing ends a test whose device is not there.
func missing(tb testing.TB, named bool, what string, err error) {
	tb.Helper()
	if named {
		tb.Fatal(what, err)
	}
	tb.Skip(what, err)
}

// EmulatedLibrary returns the emulated device's library, built once for its sources, or skips the test if there is no compiler.
func EmulatedLibrary(tb testing.TB) *gpukernels.Library {
	tb.Helper()
	named := wanted(tb, "emulated")
	lib, err := emulated()
	if errors.Is(err, gpukernels.ErrUnavailable) {
		missing(tb, named, "no emulated device: ", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return lib
}

// Emulated returns an emulated device of the test's own. When the test ends, no memory may be left allocated on it.
func Emulated(tb testing.TB) *gpukernels.Device {
	tb.Helper()
	return open(tb, EmulatedLibrary(tb))
}

// CUDALibrary returns libradish_gpu, where it was built, or skips the test saying why not. It needs no GPU: it compiles.
func CUDALibrary(tb testing.TB) *gpukernels.Library {
	tb.Helper()
	named := wanted(tb, "cuda")
	lib, err := gpukernels.Default()
	if err != nil {
		missing(tb, named, "no CUDA library: ", err)
	}
	return lib
}

// CUDA returns the first GPU, or skips the test saying why there is none. When the test ends, no memory may be left allocated.
func CUDA(tb testing.TB) *gpukernels.Device {
	tb.Helper()
	return open(tb, cudaWithDevice(tb))
}

// cudaWithDevice is CUDALibrary where there is a GPU too.
func cudaWithDevice(tb testing.TB) *gpukernels.Library {
	tb.Helper()
	lib := CUDALibrary(tb)
	if _, err := lib.Devices(); err != nil {
		missing(tb, wanted(tb, "cuda"), "no GPU: ", err)
	}
	return lib
}

func open(tb testing.TB, lib *gpukernels.Library) *gpukernels.Device {
	tb.Helper()
	return openOne(tb, lib, 0)
}

// EmulatedDevicesVariable is the environment variable that says how many emulated devices there are.
const EmulatedDevicesVariable = "RADISH_EMULATED_DEVICES"

// EmulatedPeers returns so many emulated devices of the test's own, which do not reach each other yet; see Emulated. The test must not be parallel to others.
func EmulatedPeers(tb testing.TB, n int) []*gpukernels.Device {
	tb.Helper()
	lib := EmulatedLibrary(tb)
	tb.Setenv(EmulatedDevicesVariable, strconv.Itoa(n))
	return openAll(tb, lib, n)
}

// CUDAPeers returns so many GPUs, or skips the test saying why there are not as many; see CUDA.
func CUDAPeers(tb testing.TB, n int) []*gpukernels.Device {
	tb.Helper()
	lib := cudaWithDevice(tb)
	if all, err := lib.Devices(); err != nil || len(all) < n {
		tb.Skipf("%d GPUs are needed, and there are %d (%v)", n, len(all), err)
	}
	return openAll(tb, lib, n)
}

func openAll(tb testing.TB, lib *gpukernels.Library, n int) (all []*gpukernels.Device) {
	tb.Helper()
	for ordinal := range n {
		all = append(all, openOne(tb, lib, ordinal))
	}
	return all
}

// EachPeers runs a test on two emulated devices, on two GPUs where there are as many, and on one GPU that is opened twice.
func EachPeers(t *testing.T, f func(t *testing.T, a, b *gpukernels.Device)) {
	t.Run("emulated", func(t *testing.T) {
		all := EmulatedPeers(t, 2)
		f(t, all[0], all[1])
	})
	t.Run("cuda", func(t *testing.T) {
		all := CUDAPeers(t, 2)
		f(t, all[0], all[1])
	})
	t.Run("cuda-twice", func(t *testing.T) { f(t, CUDA(t), CUDA(t)) })
}

func openOne(tb testing.TB, lib *gpukernels.Library, ordinal int) *gpukernels.Device {
	tb.Helper()
	d, err := lib.OpenDevice(ordinal)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if m, err := d.Memory(); err == nil && m.Used != 0 {
			tb.Errorf("%d bytes of device memory were not freed", m.Used)
		}
		d.Close()
	})
	return d
}

// Each runs a test on the emulated device and on a GPU, as subtests; where one is missing its subtest is skipped.
func Each(t *testing.T, f func(t *testing.T, d *gpukernels.Device)) {
	t.Run("emulated", func(t *testing.T) { f(t, Emulated(t)) })
	t.Run("cuda", func(t *testing.T) { f(t, CUDA(t)) })
}

// EachLibrary is Each for tests that have their device opened by others.
func EachLibrary(t *testing.T, f func(t *testing.T, lib *gpukernels.Library)) {
	t.Run("emulated", func(t *testing.T) { f(t, EmulatedLibrary(t)) })
	t.Run("cuda", func(t *testing.T) { f(t, cudaWithDevice(t)) })
}

// Download returns n items of device memory.
func Download[T any](t testing.TB, s *gpukernels.Stream, at gpukernels.Ptr, n int64) []T {
	t.Helper()
	out := make([]T, n)
	if n == 0 {
		return out
	}
	if err := s.Download(context.Background(), gpukernels.Bytes(out), at); err != nil {
		t.Fatal(err)
	}
	return out
}

// SecondsVariable is the environment variable that bounds the time of long tests, in seconds from the program's start: on a GPU, under
// a sanitizer. What they leave out they say.
const SecondsVariable = "RADISH_TEST_SECONDS"

var started = time.Now()

// TimeUp says whether the time that SecondsVariable gives is over, or three quarters of the test program's own limit.
func TimeUp(t *testing.T) bool {
	spent := time.Since(started)
	if limit, err := strconv.ParseFloat(os.Getenv(SecondsVariable), 64); err == nil && spent.Seconds() > limit {
		return true
	}
	end, limited := t.Deadline()
	return limited && spent > end.Sub(started)/4*3
}

// ShareVariable is the environment variable that splits long tests between processes: with "2/8" a process takes the third eighth of the cases.
const ShareVariable = "RADISH_TEST_SHARE"

// InShare says whether this process takes the i-th case of a test.
func InShare(i int) bool {
	text, ok := os.LookupEnv(ShareVariable)
	if !ok {
		return true
	}
	var share, shares int
	if _, err := fmt.Sscanf(text, "%d/%d", &share, &shares); err != nil || share < 0 || share >= shares {
		panic(ShareVariable + "=" + text + ": want a share and how many there are, as 2/8")
	}
	return i%shares == share
}

// Seed returns the seed of a random test, and logs how to replay it. RADISH_TEST_SEED sets it.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RADISH_TEST_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	folder, _ := os.Getwd()
	tb.Logf("replay with RADISH_TEST_SEED=%d go test -run '^%s$' . in %s", seed, tb.Name(), folder)
	return seed
}
