package tests

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// peerKernel adds what lies at one address to what lies at another.
const peerKernel = `#include "radish.cuh"
RADISH_KERNEL(add_from, 3) {
  u64* mine = as_pointer<u64>(p.w[0]);
  const u64* theirs = as_pointer<const u64>(p.w[1]);
  for (i64 i = global_thread(); i < (i64)p.w[2]; i += global_threads()) mine[i] += theirs[i];
}
`

func numbers(seed uint64, n int) []uint64 {
	rng := rand.New(rand.NewPCG(21, seed))
	out := make([]uint64, n)
	for i := range out {
		out[i] = rng.Uint64()
	}
	return out
}

func newEvent(t *testing.T, d *gpukernels.Device) *gpukernels.Event {
	t.Helper()
	e, err := d.NewEvent()
	check(t, err)
	t.Cleanup(e.Close)
	return e
}

func load(t *testing.T, d *gpukernels.Device, source, name string) *gpukernels.Function {
	t.Helper()
	m, _, err := d.Load(context.Background(), source)
	check(t, err)
	t.Cleanup(m.Release)
	f, err := m.Function(name)
	check(t, err)
	return f
}

// TestPeerCopies copies back and forth between two devices, without access and with it, from the middle of an allocation too.
func TestPeerCopies(t *testing.T) {
	gputest.EachPeers(t, func(t *testing.T, a, b *gpukernels.Device) {
		sa, sb := newStream(t, a), newStream(t, b)
		for _, reach := range []bool{false, true} {
			if reach {
				if !b.CanReach(a) {
					t.Skip("the devices do not reach each other")
				}
				check(t, b.Reach(a))
				check(t, b.Reach(a)) // once more changes nothing
			}
			for i, n := range []int{1, 1000, 1_000_001} {
				want := numbers(uint64(i), n)
				at, bt, back := upload(t, sa, want), alloc(t, sb, int64(8*n)), alloc(t, sa, int64(8*n))
				there, again := newEvent(t, a), newEvent(t, b)
				check(t, sa.Record(there))
				check(t, sb.WaitFor(there))
				check(t, sb.CopyFrom(bt, a, at, int64(8*n)))
				if n > 10 {
					check(t, sb.CopyFrom(bt+80, a, at+80, int64(8*(n-10))))
				}
				check(t, sb.CopyFrom(bt, a, at, 0))
				check(t, sb.Record(again))
				check(t, sa.WaitFor(again))
				check(t, sa.CopyFrom(back, b, bt, int64(8*n)))
				if got := download[uint64](t, sa, back, n); !slices.Equal(got, want) {
					t.Errorf("%d numbers come back changed", n)
				}
				check(t, sb.Sync(context.Background()))
				check(t, sa.Free(at))
				check(t, sa.Free(back))
				check(t, sb.Free(bt))
			}
		}
		if err := sb.CopyFrom(256, a, 256, -1); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("a negative size: %v", err)
		}
	})
}

// TestPeerKernel has kernels of one device read and write another one's memory: what was there when access was allowed, and what came later.
func TestPeerKernel(t *testing.T) {
	gputest.EachPeers(t, func(t *testing.T, a, b *gpukernels.Device) {
		if !a.CanReach(b) {
			t.Skip("the devices do not reach each other")
		}
		const n = 100_000
		sa, sb := newStream(t, a), newStream(t, b)
		f := load(t, a, peerKernel, "add_from")
		x, y, z := numbers(1, n), numbers(2, n), numbers(3, n)
		mine, before := upload(t, sa, x), upload(t, sb, y)
		check(t, a.Reach(b))
		after := upload(t, sb, z)
		e := newEvent(t, b)
		check(t, sb.Record(e))
		check(t, sa.WaitFor(e))
		add := func(to, from gpukernels.Ptr) {
			t.Helper()
			check(t, sa.Launch(f, 4, a.Block(256), 0, []uint64{uint64(to), uint64(from), n}))
		}
		add(mine, before)
		add(mine, after)
		add(after, mine)
		done := newEvent(t, a)
		check(t, sa.Record(done))
		check(t, sb.WaitFor(done))
		for i := range x {
			x[i] += y[i] + z[i]
			z[i] += x[i]
		}
		if got := download[uint64](t, sa, mine, n); !slices.Equal(got, x) {
			t.Error("wrong sums of what a peer has")
		}
		if got := download[uint64](t, sb, after, n); !slices.Equal(got, z) {
			t.Error("wrong sums in a peer's memory")
		}
		check(t, sa.Free(mine))
		check(t, sb.Free(before))
		check(t, sb.Free(after))
	})
}

// TestPeersAtOnce has two devices copy from each other while kernels of both run: each adds what the other had in the round before.
func TestPeersAtOnce(t *testing.T) {
	gputest.EachPeers(t, func(t *testing.T, a, b *gpukernels.Device) {
		const n, rounds = 50_000, 20
		devices := []*gpukernels.Device{a, b}
		x := [][]uint64{numbers(1, n), numbers(2, n)}
		var streams []*gpukernels.Stream
		var sums, got [2]gpukernels.Ptr
		var added, copied [2]*gpukernels.Event
		var f [2]*gpukernels.Function
		for i, d := range devices {
			streams = append(streams, newStream(t, d))
			sums[i], got[i] = upload(t, streams[i], x[i]), alloc(t, streams[i], 8*n)
			added[i], copied[i] = newEvent(t, d), newEvent(t, d)
			f[i] = load(t, d, peerKernel, "add_from")
		}
		both := func(do func(i int) error) {
			t.Helper()
			var all sync.WaitGroup
			errs := make([]error, 2)
			for i := range devices {
				all.Go(func() { errs[i] = do(i) })
			}
			all.Wait()
			check(t, errors.Join(errs...))
		}
		both(func(i int) error { return streams[i].Record(added[i]) })
		for range rounds {
			both(func(i int) error {
				if err := streams[i].WaitFor(added[1-i]); err != nil {
					return err
				}
				if err := streams[i].CopyFrom(got[i], devices[1-i], sums[1-i], 8*n); err != nil {
					return err
				}
				return streams[i].Record(copied[i])
			})
			both(func(i int) error {
				if err := streams[i].WaitFor(copied[1-i]); err != nil { // the other one has read what changes now
					return err
				}
				if err := streams[i].Launch(f[i], 4, devices[i].Block(256), 0, []uint64{uint64(sums[i]), uint64(got[i]), n}); err != nil {
					return err
				}
				return streams[i].Record(added[i])
			})
			for j := range n {
				s := x[0][j] + x[1][j]
				x[0][j], x[1][j] = s, s
			}
		}
		for i, s := range streams {
			if !slices.Equal(download[uint64](t, s, sums[i], n), x[i]) {
				t.Errorf("device %d has wrong sums", i)
			}
			check(t, s.Free(sums[i]))
			check(t, s.Free(got[i]))
		}
	})
}

// TestEmulatedWatchesPeers wants a kernel to stop that touches memory which its device has not reached, and devices to be counted.
func TestEmulatedWatchesPeers(t *testing.T) {
	all := gputest.EmulatedPeers(t, 3)
	infos, err := all[0].Library().Devices()
	check(t, err)
	if len(infos) != 3 || infos[2].Ordinal != 2 || all[2].Info().Ordinal != 2 {
		t.Errorf("devices %+v", infos)
	}
	if _, err := all[0].Library().OpenDevice(3); !errors.Is(err, gpukernels.ErrUser) {
		t.Errorf("a fourth of three devices: %v", err)
	}
	a, b, c := all[0], all[1], all[2]
	check(t, a.Reach(b))
	sa, sb, sc := newStream(t, a), newStream(t, b), newStream(t, c)
	x, y, z := upload(t, sa, numbers(1, 10)), upload(t, sb, numbers(2, 10)), upload(t, sc, numbers(3, 10))
	fa, fb := load(t, a, peerKernel, "add_from"), load(t, b, peerKernel, "add_from")
	check(t, sa.Launch(fa, 4, 1, 0, []uint64{uint64(x), uint64(y), 10}))
	if err := sa.Upload(y, []byte{1}); err != nil {
		t.Errorf("an upload to a peer that is reached: %v", err)
	}
	if err := sa.Upload(z, []byte{1}); !errors.Is(err, gpukernels.ErrUser) {
		t.Errorf("an upload to a peer that is not: %v", err)
	}
	if err := sa.WaitFor(newEvent(t, b)); !errors.Is(err, gpukernels.ErrUser) {
		t.Errorf("waiting for an event that was not recorded: %v", err)
	}
	check(t, sa.Launch(fa, 4, 1, 0, []uint64{uint64(y), uint64(x), 10}))
	err = sb.Launch(fb, 4, 1, 0, []uint64{uint64(y), uint64(x), 10}) // access is one-way
	if !errors.Is(err, gpukernels.ErrDeviceLost) || !containsAll(err.Error(), "add_from", "memory of device 0") {
		t.Errorf("touching a peer that is not reached: %v", err)
	}
	err = sa.Launch(fa, 4, 1, 0, []uint64{uint64(z), uint64(x), 10})
	if !errors.Is(err, gpukernels.ErrDeviceLost) || !containsAll(err.Error(), "memory of device 2") {
		t.Errorf("writing to a peer that is not reached: %v", err)
	}
	if err := sc.CopyFrom(z, a, x, 8); !errors.Is(err, gpukernels.ErrDeviceLost) || c.Lost() != nil {
		t.Errorf("a copy from a lost device: %v; the device that copied: %v", err, c.Lost())
	}
	if err := c.Reach(b); !errors.Is(err, gpukernels.ErrDeviceLost) || c.Lost() != nil {
		t.Errorf("reaching a lost device: %v; the device itself: %v", err, c.Lost())
	}
	check(t, sc.Free(z))
}

// TestEmulatedWithoutPeers has devices that cannot reach each other, but copies.
func TestEmulatedWithoutPeers(t *testing.T) {
	t.Setenv("RADISH_EMULATED_PEERS", "0")
	all := gputest.EmulatedPeers(t, 2)
	if all[0].CanReach(all[1]) || !all[0].CanReach(all[0]) {
		t.Error("access between devices that have none, or none of a device to itself")
	}
	if err := all[0].Reach(all[1]); !errors.Is(err, gpukernels.ErrUnavailable) {
		t.Errorf("reaching it: %v", err)
	}
	sa, sb := newStream(t, all[0]), newStream(t, all[1])
	want := numbers(1, 1000)
	x, y := upload(t, sa, want), alloc(t, sb, 8000)
	check(t, sb.CopyFrom(y, all[0], x, 8000))
	if !slices.Equal(download[uint64](t, sb, y, 1000), want) {
		t.Error("a copy changed what it copied")
	}
	check(t, sa.Free(x))
	check(t, sb.Free(y))
}
