package tests

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

const trapKernel = `#include "radish.cuh"
RADISH_KERNEL(trapped, 1) {
  if (p.w[0] == 1) trap("a test asked for it");
}
RADISH_KERNEL(astray, 1) {
  if (global_thread() == 0) *as_pointer<u32>(p.w[0]) = 1;
}
`

// childVariable tells the test binary that it is to lose the GPU: that ends CUDA for a whole process.
const childVariable = "RADISH_TEST_LOSE_DEVICE"

// loseDevice runs a kernel that traps, and checks that everything says so from then on.
func loseDevice(t *testing.T, d *gpukernels.Device) {
	s, err := d.NewStream()
	check(t, err)
	other, err := d.NewStream()
	check(t, err)
	m, _, err := d.Load(context.Background(), trapKernel)
	check(t, err)
	f, err := m.Function("trapped")
	check(t, err)
	check(t, s.Launch(f, 1, d.Block(256), 0, []uint64{0}))
	check(t, s.Sync(context.Background()))
	if d.Lost() != nil {
		t.Error("the device is lost before anything went wrong")
	}
	err = s.Launch(f, 1, d.Block(256), 0, []uint64{1})
	if err == nil {
		err = s.Sync(context.Background())
	}
	if !errors.Is(err, gpukernels.ErrDeviceLost) || !strings.Contains(err.Error(), "trapped") {
		t.Errorf("the trap gives %v", err)
	}
	t.Log(err)
	if !errors.Is(d.Lost(), gpukernels.ErrDeviceLost) {
		t.Errorf("Lost gives %v", d.Lost())
	}
	calls := map[string]func() error{
		"alloc":    func() error { _, err := other.Alloc(1); return err },
		"sync":     func() error { return other.Sync(context.Background()) },
		"launch":   func() error { return other.Launch(f, 1, d.Block(256), 0, []uint64{0}) },
		"upload":   func() error { return other.Upload(256, []byte{1}) },
		"download": func() error { return other.Download(context.Background(), make([]byte, 1), 256) },
		"memory":   func() error { _, err := d.Memory(); return err },
		"stream":   func() error { _, err := d.NewStream(); return err },
		"load":     func() error { _, _, err := d.Load(context.Background(), sumKernel); return err },
		"sort": func() error {
			_, err := other.SortPairs([2]gpukernels.Ptr{256, 256}, 4, [2]gpukernels.Ptr{256, 256}, 2, 0, 32)
			return err
		},
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, gpukernels.ErrDeviceLost) {
			t.Errorf("%s on a lost device gives %v", name, err)
		}
	}
	m.Release()
	s.Close()
	other.Close()
}

func TestDeviceLost(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		loseDevice(t, gputest.CUDA(t))
		return
	}
	t.Run("emulated", func(t *testing.T) { loseDevice(t, gputest.Emulated(t)) })
	t.Run("cuda", func(t *testing.T) {
		gputest.CUDA(t) // or skip
		cmd := exec.Command(os.Args[0], "-test.run=^TestDeviceLost$", "-test.v")
		cmd.Env = append(os.Environ(), childVariable+"=1")
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
	})
}

// TestEmulatedWatchesMemory writes behind an allocation, and wants the kernel's name.
func TestEmulatedWatchesMemory(t *testing.T) {
	d := gputest.Emulated(t)
	s := newStream(t, d)
	m, _, err := d.Load(context.Background(), trapKernel)
	check(t, err)
	defer m.Release()
	f, err := m.Function("astray")
	check(t, err)
	p := alloc(t, s, 100)
	if err := s.Launch(f, 1, 1, 0, []uint64{uint64(p) + 96}); err != nil {
		t.Errorf("writing the last word: %v", err)
	}
	err = s.Launch(f, 1, 1, 0, []uint64{uint64(p) + 100})
	if !errors.Is(err, gpukernels.ErrInternal) || !containsAll(err.Error(), "astray", "behind") {
		t.Errorf("writing behind the end: %v", err)
	}
	if err := s.Free(p); !errors.Is(err, gpukernels.ErrInternal) {
		t.Errorf("freeing it: %v", err)
	}
	if err := s.Upload(p, make([]byte, 1)); !errors.Is(err, gpukernels.ErrUser) {
		t.Errorf("an upload to what was freed: %v", err)
	}
}

// TestEmulatedWatchesSharedMemory writes before and behind a block's shared memory, within and beyond the words next to it.
func TestEmulatedWatchesSharedMemory(t *testing.T) {
	d := gputest.Emulated(t)
	s := newStream(t, d)
	m, _, err := d.Load(context.Background(), `#include "radish.cuh"
RADISH_KERNEL(shares, 1) { shared_at<u32>(0)[(i64)p.w[0]] = 1; }
`)
	check(t, err)
	defer m.Release()
	f, err := m.Function("shares")
	check(t, err)
	for _, at := range []int64{-1000, -1, 0, 24, 25, 28, 1000} {
		err := s.Launch(f, 1, 1, 100, []uint64{uint64(at)})
		switch {
		case at >= 0 && at < 25:
			check(t, err)
		case !errors.Is(err, gpukernels.ErrInternal) || !containsAll(err.Error(), "shares", "outside its 100 bytes"):
			t.Errorf("writing word %d of 25: %v", at, err)
		}
	}
}

// TestEmulatedWatchesKernels wants the position of what a GPU would fault on or answer with garbage.
func TestEmulatedWatchesKernels(t *testing.T) {
	const source = `#include "radish.cuh"
RADISH_KERNEL(watched, 3) {
  u64* out = as_pointer<u64>(p.w[0]);
  out[0] = 1ull << p.w[1];
  out[1] = 100 / p.w[2];
}
`
	for _, c := range []struct {
		offset, shift, divisor uint64
		want                   string
	}{
		{0, 3, 4, ""},
		{4, 3, 4, "misaligned access at pipeline.cu:4"},
		{0, 64, 4, "shift by a negative or too large count at pipeline.cu:4"},
		{0, 3, 0, "division by zero or overflowing at pipeline.cu:5"},
	} {
		d := gputest.Emulated(t)
		s := newStream(t, d)
		m, _, err := d.Load(context.Background(), source)
		check(t, err)
		f, err := m.Function("watched")
		check(t, err)
		p := alloc(t, s, 32)
		err = s.Launch(f, 1, 1, 0, []uint64{uint64(p) + c.offset, c.shift, c.divisor})
		switch {
		case c.want == "":
			check(t, err)
			check(t, s.Free(p))
		case !errors.Is(err, gpukernels.ErrDeviceLost) || !containsAll(err.Error(), "watched", c.want):
			t.Errorf("%+v: %v", c, err)
		default:
			t.Log(err)
		}
		m.Release()
	}
}
