package tests

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

func TestDeviceInfo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		all, err := d.Library().Devices()
		check(t, err)
		if len(all) == 0 || all[0].Name != d.Info().Name {
			t.Fatalf("devices %+v, opened %+v", all, d.Info())
		}
		i := d.Info()
		if i.MemoryBytes <= 0 || i.Multiprocessors <= 0 || i.MaxThreads <= 0 || i.SharedBytes < 48<<10 && !i.Emulated() || i.WarpSize != 32 && !i.Emulated() {
			t.Errorf("info %+v", i)
		}
		if _, err := d.Library().OpenDevice(999); err == nil {
			t.Error("device 999 was opened")
		}
	})
}

// TestCopies moves arrays of many sizes up, within and down, whole and from the middle.
func TestCopies(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(2, 3))
		for _, n := range []int{0, 1, 255, 64 << 10, 64<<10 + 1, 4 << 20, 4<<20 + 1, 50_000_001} {
			in := make([]byte, n)
			for i := range in {
				in[i] = byte(rng.Uint32())
			}
			want := slices.Clone(in)
			a, b := alloc(t, s, int64(n)), alloc(t, s, int64(n))
			check(t, s.Upload(a, in))
			for i := range in {
				in[i] = 0xEE // may be changed at once
			}
			check(t, s.Copy(b, a, int64(n)))
			if got := download[byte](t, s, b, n); !slices.Equal(got, want) {
				t.Errorf("%d bytes come back changed", n)
			}
			if n > 10 {
				if got := download[byte](t, s, a+3, n-7); !slices.Equal(got, want[3:n-4]) {
					t.Errorf("%d bytes from the middle come back changed", n-7)
				}
			}
			check(t, s.Free(a))
			check(t, s.Free(b))
		}
	})
}

// TestConcurrentUploads has several streams share the staging buffers.
func TestConcurrentUploads(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		done := make(chan error)
		const users = 6
		for u := range users {
			go func() {
				done <- func() error {
					s, err := d.NewStream()
					if err != nil {
						return err
					}
					defer s.Close()
					rng := rand.New(rand.NewPCG(5, uint64(u)))
					for range 5 {
						in := make([]uint64, 1+rng.IntN(2_000_000))
						for i := range in {
							in[i] = rng.Uint64()
						}
						p, err := s.Alloc(int64(8 * len(in)))
						if err != nil {
							return err
						}
						if err := s.Upload(p, gpukernels.Bytes(in)); err != nil {
							return err
						}
						out := make([]uint64, len(in))
						if err := s.Download(context.Background(), gpukernels.Bytes(out), p); err != nil {
							return err
						}
						if !slices.Equal(in, out) {
							return errors.New("what comes back is not what went up")
						}
						if err := s.Free(p); err != nil {
							return err
						}
					}
					return nil
				}()
			}()
		}
		for range users {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestFill(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		const value = 0x0123456789ABCDEF
		for _, v := range []uint64{0, ^uint64(0), value} {
			for _, width := range []int{1, 2, 4, 8} {
				for _, n := range []int64{0, 1, 1000, 1_000_003} {
					bytes := n * int64(width)
					p := alloc(t, s, bytes+8)
					check(t, s.Fill(p, 0x77, 1, bytes+8))
					check(t, s.Fill(p, v, width, n))
					got := download[byte](t, s, p, int(bytes+8))
					for i, b := range got {
						want := byte(v >> (8 * (i % width)))
						if int64(i) >= bytes {
							want = 0x77
						}
						if b != want {
							t.Fatalf("%d items of %d bytes of %#x: byte %d is %#x", n, width, v, i, b)
						}
					}
					check(t, s.Free(p))
				}
			}
		}
		p := alloc(t, s, 64)
		if err := s.Fill(p, 1, 3, 4); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("width 3: %v", err)
		}
		check(t, s.Free(p))
	})
}

// TestAccounting counts what is used, and wants the pool to be where it was after many allocations.
func TestAccounting(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		before, err := d.Memory()
		check(t, err)
		rng := rand.New(rand.NewPCG(8, 8))
		type block struct {
			p gpukernels.Ptr
			n int64
		}
		var live []block
		used := before.Used
		for range 1000 {
			if len(live) > 0 && rng.IntN(2) == 0 {
				i := rng.IntN(len(live))
				check(t, s.Free(live[i].p))
				used -= live[i].n
				live = slices.Delete(live, i, i+1)
			} else {
				n := rng.Int64N(1 << 20)
				p := alloc(t, s, n)
				if p == 0 || p%256 != 0 {
					t.Fatalf("address %#x", p)
				}
				live = append(live, block{p, n})
				used += n
			}
			if m, err := d.Memory(); err != nil || m.Used != used || m.Held < m.Used {
				t.Fatalf("memory %+v (%v), %d bytes are allocated", m, err, used)
			}
		}
		for _, b := range live {
			check(t, s.Free(b.p))
		}
		check(t, s.Sync(context.Background()))
		check(t, d.Trim())
		after, err := d.Memory()
		check(t, err)
		if after.Used != before.Used || after.Held > before.Held {
			t.Errorf("memory %+v before, %+v after", before, after)
		}
	})
}

func TestOutOfMemory(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		_, err := s.Alloc(d.Info().MemoryBytes * 2)
		var e *gpukernels.Error
		if !errors.Is(err, gpukernels.ErrOutOfMemory) || !errors.As(err, &e) || !strings.Contains(e.Message, "bytes") {
			t.Errorf("twice the memory: %v", err)
		}
		p, err := s.Alloc(1000) // it goes on working
		check(t, err)
		check(t, s.Free(p))
		if _, err := s.Alloc(-1); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("a negative size: %v", err)
		}
		check(t, d.FailAllocation(3))
		for i := 1; i <= 4; i++ {
			p, err := s.Alloc(100)
			if (i == 3) != errors.Is(err, gpukernels.ErrOutOfMemory) || i != 3 && err != nil {
				t.Errorf("allocation %d: %v", i, err)
			}
			check(t, s.Free(p))
		}
	})
}

func TestWrongFree(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		p := alloc(t, s, 100)
		check(t, s.Free(p))
		if err := s.Free(p); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("a second free: %v", err)
		}
		check(t, s.Free(0))
	})
}

// TestEvents measures a stream's time.
func TestEvents(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		from, err := d.NewEvent()
		check(t, err)
		defer from.Close()
		to, err := d.NewEvent()
		check(t, err)
		defer to.Close()
		if d.Info().Emulated() {
			if _, err := to.Since(from); err == nil {
				t.Error("events that were not recorded have a time")
			}
		}
		start := time.Now()
		check(t, s.Record(from))
		p := alloc(t, s, 1<<20)
		check(t, s.Fill(p, 1, 4, 1<<18))
		check(t, s.Free(p))
		check(t, s.Record(to))
		took, err := to.Since(from)
		check(t, err)
		if wall := time.Since(start); took < 0 || took > wall {
			t.Errorf("%v between the events, %v on the clock", took, wall)
		}
		done, err := s.Query()
		if err != nil || !done {
			t.Errorf("after waiting, the stream is not done: %v, %v", done, err)
		}
	})
}

// TestPinned uploads from pinned memory, several times to one address, each behind the last.
func TestPinned(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		for _, n := range []int64{1, 4096, 9_000_001} {
			h, err := d.NewHostMemory(n)
			check(t, err)
			p := alloc(t, s, n)
			for round := range 3 {
				for i := range h.Bytes {
					if round == 0 && h.Bytes[i] != 0 {
						t.Fatal("new memory is not zero")
					}
					h.Bytes[i] = byte(i*7 + round)
				}
				check(t, s.UploadPinned(p, h))
				if got := download[byte](t, s, p, int(n)); !slices.Equal(got, h.Bytes) {
					t.Errorf("%d bytes come back changed", n)
				}
			}
			check(t, s.Free(p))
			h.Close()
		}
		if _, err := d.NewHostMemory(0); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("no bytes: %v", err)
		}
	})
}
