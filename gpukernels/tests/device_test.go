// Package tests runs every function of the device ABI, on the emulated device and on a GPU where there is one.
package tests

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// sumKernel adds up positive numbers, counts the negative ones, appends where they stand, and raises an error for 42.
const sumKernel = `#define RADISH_BLOCK 128
#include "radish.cuh"
RADISH_KERNEL(sum, 6) {
  const i64* in = as_pointer<const i64>(p.w[1]);
  i64 n = (i64)p.w[2];
  u64* counters = as_pointer<u64>(p.w[3]);
  u32* negative = as_pointer<u32>(p.w[4]);
  u64 sum = 0;
  for (i64 i = global_thread(); i < n; i += global_threads()) {
    i64 x = in[i];
    if (x == 42) raise(as_pointer<Error>(p.w[0]), 7, 3);
    if (x < 0) {
      u64 at = append(counters + 1);
      if (at < p.w[5]) negative[at] = (u32)i;
    } else {
      sum += (u64)x;
    }
  }
  sum = block_reduce(sum, Sum());
  if (thread_index() == 0) atomic_add(counters, sum);
}
`

type deviceError struct{ Code, Site uint32 }

func alloc(t *testing.T, s *gpukernels.Stream, bytes int64) gpukernels.Ptr {
	t.Helper()
	p, err := s.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func upload[T any](t *testing.T, s *gpukernels.Stream, x []T) gpukernels.Ptr {
	t.Helper()
	p := alloc(t, s, int64(len(gpukernels.Bytes(x))))
	check(t, s.Upload(p, gpukernels.Bytes(x)))
	return p
}

func download[T any](t *testing.T, s *gpukernels.Stream, p gpukernels.Ptr, n int) []T {
	t.Helper()
	out := make([]T, n)
	check(t, s.Download(context.Background(), gpukernels.Bytes(out), p))
	return out
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newStream(t *testing.T, d *gpukernels.Device) *gpukernels.Stream {
	t.Helper()
	s, err := d.NewStream()
	check(t, err)
	t.Cleanup(s.Close)
	return s
}

func TestKernel(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		m, _, err := d.Load(context.Background(), sumKernel)
		check(t, err)
		defer m.Release()
		f, err := m.Function("sum")
		check(t, err)
		for _, n := range []int{0, 1, 127, 129, 100_000} {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			in := make([]int64, n)
			var want uint64
			var negative int
			var wantError deviceError
			for i := range in {
				in[i] = rng.Int64N(1000) - 500
				switch {
				case in[i] < 0:
					negative++
				default:
					want += uint64(in[i])
				}
				if in[i] == 42 {
					wantError = deviceError{7, 3}
				}
			}
			capacity := negative / 2 // half of them find no slot, and are counted
			src, e, counters, slots := upload(t, s, in), alloc(t, s, 16), alloc(t, s, 16), alloc(t, s, int64(4*capacity))
			check(t, s.Fill(e, 0, 8, 2))
			check(t, s.Fill(counters, 0, 8, 2))
			check(t, s.Launch(f, 5, d.Block(128), 0, []uint64{uint64(e), uint64(src), uint64(n), uint64(counters), uint64(slots), uint64(capacity)}))
			check(t, s.Sync(context.Background()))
			if got := download[uint64](t, s, counters, 2); got[0] != want || got[1] != uint64(negative) {
				t.Errorf("%d rows: sum %d, %d negative; want %d, %d", n, got[0], got[1], want, negative)
			}
			appended := download[uint32](t, s, slots, capacity)
			slices.Sort(appended)
			for k, i := range appended {
				if in[i] >= 0 || k > 0 && i == appended[k-1] {
					t.Fatalf("row %d is not negative, or twice there", i)
				}
			}
			if got := download[deviceError](t, s, e, 1)[0]; got != wantError {
				t.Errorf("%d rows: error %+v, want %+v", n, got, wantError)
			}
			for _, p := range []gpukernels.Ptr{src, e, counters, slots} {
				check(t, s.Free(p))
			}
		}
	})
}

func TestCompileError(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		_, _, err := d.Load(context.Background(), "#include \"radish.cuh\"\nRADISH_KERNEL(k, 1) { no_such_thing(); }\n")
		var e *gpukernels.Error
		if !errors.As(err, &e) || e.Kind != gpukernels.KindInternal || !containsAll(e.Message, "no_such_thing") {
			t.Errorf("error %v", err)
		}
	})
}

const signalKernel = `#include "radish.cuh"
RADISH_KERNEL(listen, 3) {
  if (global_thread() != 0) return;
  u64 asked = 0;
  while (load_relaxed(as_pointer<const u32>(p.w[0])) == 0 && asked < p.w[1]) asked++;
  *as_pointer<u64>(p.w[2]) = asked;
}
`

// A kernel sees a signal that is set while it runs, and only that one; the word of a signal that was closed is zero again.
func TestSignal(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		m, _, err := d.Load(context.Background(), signalKernel)
		check(t, err)
		defer m.Release()
		f, err := m.Function("listen")
		check(t, err)
		out := alloc(t, s, 8)
		defer func() { check(t, s.Free(out)) }()
		listen := func(signal *gpukernels.Signal, most uint64) uint64 {
			check(t, s.Launch(f, 1, d.Block(32), 0, []uint64{uint64(signal.Address()), most, uint64(out)}))
			return download[uint64](t, s, out, 1)[0]
		}
		const forever = 1 << 33 // some minutes
		var signals []*gpukernels.Signal
		for range 100 { // more than a page has
			signal, err := d.NewSignal()
			check(t, err)
			signals = append(signals, signal)
		}
		signals[1].Set()
		if asked := listen(signals[1], forever); asked != 0 {
			t.Errorf("a signal that was set before is seen after %d times", asked)
		}
		if asked := listen(signals[2], 1000); asked != 1000 {
			t.Errorf("a signal that is not set is seen after %d times", asked)
		}
		// On a busy machine the signal may be set before the kernel begins: then it is set later, by another signal.
		for i, after := 3, 50*time.Millisecond; ; i, after = i+1, 2*after {
			begin := time.Now()
			timer := time.AfterFunc(after, signals[i].Set)
			asked := listen(signals[i], forever)
			if asked == 0 && after < 10*time.Second {
				continue
			}
			if asked == 0 || asked == forever || timer.Stop() {
				t.Errorf("a signal that is set after %v is seen after %d times", after, asked)
			}
			t.Logf("seen after %v", time.Since(begin))
			break
		}
		for _, signal := range signals {
			signal.Close()
		}
		for range 100 {
			signal, err := d.NewSignal()
			check(t, err)
			defer signal.Close()
			if asked := listen(signal, 1); asked != 1 {
				t.Fatal("a new signal is set")
			}
		}
	})
}

// TestTimeline wants the calls of a device and the times of its work: kernels by name, one behind the other within a stream, and what the caller has named around them.
func TestTimeline(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		const n = 1 << 16
		add := load(t, d, peerKernel, "add_from")
		origin := time.Now()
		timeline, err := d.StartTimeline(origin)
		check(t, err)
		load(t, d, fmt.Sprintf("// %d\n", origin.UnixNano())+peerKernel, "add_from") // a text that no cache has
		end := d.Span("all of it", 7)
		mine := alloc(t, s, 8*n)
		theirs := alloc(t, s, 8*n)
		check(t, s.Fill(mine, 1, 8, n))
		check(t, s.Fill(theirs, 2, 8, n))
		for range 3 {
			check(t, s.Launch(add, 4, d.Block(256), 0, []uint64{uint64(mine), uint64(theirs), n}))
		}
		check(t, s.Sync(t.Context()))
		end()
		check(t, errors.Join(s.Free(mine), s.Free(theirs)))
		spans, err := timeline.Stop()
		check(t, err)
		took := time.Since(origin)
		counts := map[string]int{}
		last := time.Duration(0)
		const slack = 200 * time.Microsecond // of clocks
		for i, x := range spans {
			if i > 0 && x.Begin < spans[i-1].Begin || x.Took < 0 || x.Begin < -slack || x.Begin+x.Took > took+slack {
				t.Errorf("%+v of %v, after %+v", x, took, spans[max(i-1, 0)])
			}
			if !x.OnDevice {
				what, _, _ := strings.Cut(x.What, " in process")
				counts[strings.TrimSuffix(what, " here")]++
				continue
			}
			counts["device "+x.What]++
			if x.Begin+slack/100 < last {
				t.Errorf("%+v begins before %v", x, last)
			}
			last = x.Begin + x.Took
		}
		for what, want := range map[string]int{"compile": 1, "all of it 7": 1, "alloc": 2, "fill": 2, "device fill": 2, "add_from": 3, "device add_from": 3, "wait": 1} {
			if counts[what] != want {
				t.Errorf("%d times %q, want %d: %+v", counts[what], what, want, counts)
			}
		}
	})
}
