package tests

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"unsafe"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

var sizes = []int{0, 1, 31, 32, 33, 1000, 100_003}

func free(t *testing.T, s *gpukernels.Stream, ps ...gpukernels.Ptr) {
	t.Helper()
	for _, p := range ps {
		check(t, s.Free(p))
	}
}

// little is an integer of a width, from its bytes.
func little(b []byte) (x uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestUploadItems lays arrays of every width end to end as integers of every width: short and empty ones, one that is longer than a piece of
// pinned memory, and runs of one integer.
func TestUploadItems(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(11, 1))
		for _, to := range []int{1, 2, 4, 8} {
			for _, counts := range [][]int{{}, {0}, {1}, {31, 0, 32, 33}, {1000, 100_003, 7}, {70_000, 1_500_000, 200_000}} {
				var all []gpukernels.Items
				var want []byte
				for _, n := range counts {
					from := []int{0, 1, 2, 4, 8}[rng.IntN(5)]
					delta := rng.Int64() - rng.Int64()
					if rng.IntN(4) == 0 {
						delta = 0
					}
					in := randomBytes(rng, n*from)
					all = append(all, itemsOf(in, from, n, delta))
					for i := range n {
						want = append(want, binary.LittleEndian.AppendUint64(nil, little(in[i*from:][:from])+uint64(delta))[:to]...)
					}
				}
				dst := alloc(t, s, int64(len(want)))
				check(t, s.UploadItems(dst, to, all))
				if got := download[byte](t, s, dst, len(want)); !bytes.Equal(got, want) {
					t.Errorf("arrays of %d items as %d bytes each come out wrong", counts, to)
				}
				free(t, s, dst)
			}
		}
		p := alloc(t, s, 64)
		if err := s.UploadItems(p, 3, nil); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("width 3: %v", err)
		}
		free(t, s, p)
	})
}

// itemsOf makes items of n integers of width bytes; of width 0: n times delta.
func itemsOf(in []byte, width, n int, delta int64) gpukernels.Items {
	at := unsafe.Pointer(unsafe.SliceData(in))
	switch width {
	case 0:
		return gpukernels.SameItems(n, delta)
	case 1:
		return gpukernels.ItemsOf(in, delta)
	case 2:
		return gpukernels.ItemsOf(unsafe.Slice((*uint16)(at), n), delta)
	case 4:
		return gpukernels.ItemsOf(unsafe.Slice((*uint32)(at), n), delta)
	}
	return gpukernels.ItemsOf(unsafe.Slice((*uint64)(at), n), delta)
}

func TestExclusiveScan(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(12, 1))
		for _, n := range sizes {
			in := make([]uint32, n)
			want := make([]uint64, n+1)
			for i := range in {
				in[i] = rng.Uint32() // sums go past 32 bits
				want[i+1] = want[i] + uint64(in[i])
			}
			src, dst := upload(t, s, in), alloc(t, s, int64(8*(n+1)))
			check(t, s.ExclusiveScan(src, dst, int64(n)))
			if got := download[uint64](t, s, dst, n+1); !slices.Equal(got, want) {
				t.Errorf("%d items: wrong sums", n)
			}
			free(t, s, src, dst)
		}
	})
}

func sortCase[K uint32 | uint64](t *testing.T, s *gpukernels.Stream, rng *rand.Rand, n, first, last int) {
	width := len(gpukernels.Bytes([]K{0}))
	keys, values := make([]K, n), make([]uint32, n)
	for i := range keys {
		keys[i] = K(rng.Uint64())
		if n > 1000 {
			keys[i] &= K(0xFF0000FF) // many equal ones, so that stability shows
		}
		values[i] = uint32(i)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	part := func(k K) uint64 {
		x := uint64(k) >> first
		if last-first < 64 {
			x &= 1<<(last-first) - 1
		}
		return x
	}
	sort.SliceStable(order, func(a, b int) bool { return part(keys[order[a]]) < part(keys[order[b]]) })
	k := [2]gpukernels.Ptr{upload(t, s, keys), upload(t, s, make([]K, n))}
	v := [2]gpukernels.Ptr{upload(t, s, values), upload(t, s, make([]uint32, n))}
	in, err := s.SortPairs(k, width, v, int64(n), first, last)
	check(t, err)
	gotKeys, gotValues := download[K](t, s, k[in], n), download[uint32](t, s, v[in], n)
	for i, o := range order {
		if gotKeys[i] != keys[o] || gotValues[i] != uint32(o) {
			t.Fatalf("%d pairs of %d-byte keys by bits %d to %d: position %d has (%#x, %d) instead of (%#x, %d)", n, width, first, last, i, gotKeys[i], gotValues[i], keys[o], o)
		}
	}
	free(t, s, k[0], k[1], v[0], v[1])
}

func TestSortPairs(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(13, 1))
		for _, n := range sizes {
			for _, bits := range [][2]int{{0, 32}, {0, 8}, {5, 17}, {9, 9}, {0, 15}} {
				sortCase[uint32](t, s, rng, n, bits[0], bits[1])
			}
			for _, bits := range [][2]int{{0, 64}, {0, 20}, {31, 33}, {60, 64}} {
				sortCase[uint64](t, s, rng, n, bits[0], bits[1])
			}
		}
		p := alloc(t, s, 64)
		for _, bad := range [][3]int{{2, 0, 8}, {4, 0, 33}, {4, 8, 4}, {4, -1, 4}} {
			if _, err := s.SortPairs([2]gpukernels.Ptr{p, p}, bad[0], [2]gpukernels.Ptr{p, p}, 1, bad[1], bad[2]); !errors.Is(err, gpukernels.ErrUser) {
				t.Errorf("%v: %v", bad, err)
			}
		}
		free(t, s, p)
	})
}

func TestGather(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(14, 1))
		const items = 5000
		for _, width := range []int{1, 2, 4, 8, 16} {
			in := randomBytes(rng, items*width)
			src := upload(t, s, in)
			for _, n := range sizes {
				index := make([]uint32, n)
				var want []byte
				for i := range index {
					index[i] = rng.Uint32N(items)
					want = append(want, in[int(index[i])*width:][:width]...)
				}
				at, dst := upload(t, s, index), alloc(t, s, int64(n*width))
				check(t, s.Gather(dst, src, at, width, int64(n)))
				if got := download[byte](t, s, dst, n*width); !slices.Equal(got, want) {
					t.Errorf("%d items of %d bytes are wrong", n, width)
				}
				free(t, s, at, dst)
			}
			free(t, s, src)
		}
	})
}

type view struct {
	data uint64
	size int64
}

func TestStrings(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(15, 1))
		text := randomBytes(rng, 1<<20)
		src := upload(t, s, text)
		for _, n := range sizes {
			for _, longest := range []int{0, 1, 7, 40, 2000} {
				if longest*n > 20_000_000 {
					continue
				}
				views := make([]view, n)
				offsets := []int64{0}
				var want []byte
				for i := range views {
					size := rng.IntN(longest + 1)
					at := rng.IntN(len(text) - size)
					if rng.IntN(4) == 0 {
						size = 0
					}
					views[i] = view{uint64(src) + uint64(at), int64(size)}
					if size == 0 && rng.IntN(2) == 0 {
						views[i].data = 0 // an empty string may point nowhere
					}
					want = append(want, text[at:at+size]...)
					offsets = append(offsets, int64(len(want)))
				}
				v, o, b := upload(t, s, views), alloc(t, s, int64(8*(n+1))), alloc(t, s, int64(len(want)))
				check(t, s.StringOffsets(v, o, int64(n)))
				if got := download[int64](t, s, o, n+1); !slices.Equal(got, offsets) {
					t.Fatalf("%d strings of up to %d bytes: wrong offsets", n, longest)
				}
				check(t, s.StringCopy(v, o, b, int64(n)))
				if got := download[byte](t, s, b, len(want)); !slices.Equal(got, want) {
					t.Fatalf("%d strings of up to %d bytes: wrong bytes", n, longest)
				}
				free(t, s, v, o, b)
			}
		}
		free(t, s, src)
	})
}

// TestFailingScratch lets each allocation of a library kernel fail in turn; nothing may be left behind.
func TestFailingScratch(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		var keys, values [2]gpukernels.Ptr
		for i := range keys {
			keys[i], values[i] = upload(t, s, make([]uint64, 10_000)), upload(t, s, make([]uint32, 10_000))
		}
		before, err := d.Memory()
		check(t, err)
		failed := 0
		for n := 1; n < 20; n++ {
			check(t, d.FailAllocation(n))
			_, err := s.SortPairs(keys, 8, values, 10_000, 0, 64)
			check(t, d.FailAllocation(0))
			if err == nil {
				break
			}
			failed++
			if !errors.Is(err, gpukernels.ErrOutOfMemory) {
				t.Errorf("allocation %d: %v", n, err)
			}
			if m, err := d.Memory(); err != nil || m.Used != before.Used {
				t.Errorf("allocation %d: %d bytes are used, %d were (%v)", n, m.Used, before.Used, err)
			}
		}
		if !d.Info().Emulated() && failed < 1 {
			t.Errorf("a sort failed at %d allocations", failed)
		}
		check(t, s.Sync(context.Background()))
		free(t, s, keys[0], keys[1], values[0], values[1])
	})
}

// deviceFunctions calls each primitive of the device headers and writes what it gives.
const deviceFunctions = `#define RADISH_BLOCK 64
#include "radish.cuh"
RADISH_KERNEL(primitives, 4) {
  u64* out = as_pointer<u64>(p.w[0]);
  u32* rows = as_pointer<u32>(p.w[1]);
  u64* counters = as_pointer<u64>(p.w[2]); // 0: append, 1: warp_append, 2: block_append, 3: sum of prefixes
  i64 n = (i64)p.w[3];
  // A multiple of whole blocks of threads runs each round, as the functions of a block want it.
  for (i64 first = block_index() * RADISH_BLOCK; first < n; first += global_threads()) {
    i64 i = first + thread_index();
    bool in = i < n;
    u32 want = in ? (u32)(i % 5) : 0;
    if (in && i % 3 == 0) rows[append(counters + 0)] = (u32)i;
    u64 at = warp_append(counters + 1, want);
    for (u32 k = 0; k < want; k++) atomic_add(&out[at + k], (u64)1);
    at = block_append(counters + 2, want);
    for (u32 k = 0; k < want; k++) atomic_add(&out[at + k], (u64)(1 << 16));
    u64 block_total;
    u64 below = block_prefix((u64)want, &block_total);
    if (in && below + want > block_total) trap("a prefix is more than the whole");
    i64 least = block_reduce(in ? i : n, Min());
    if (thread_index() == 0 && least != first) trap("the least of a block is wrong");
    u32 most = block_reduce(in ? (u32)(i & 1023) : 0u, Max());
    if (thread_index() == 0) atomic_max(&counters[3], (u64)most);
    u32* table = shared_at<u32>(0);
    for (i32 k = thread_index(); k < 8; k += RADISH_BLOCK) table[k] = 0;
    block_barrier();
    if (in) atomic_add(&table[i & 7], 1u);
    block_barrier();
    for (i32 k = thread_index(); k < 8; k += RADISH_BLOCK) atomic_add(&counters[8 + k], (u64)table[k]);
    block_barrier();
    if (in) {
      atomic_add(as_pointer<f64>(p.w[2]) + 4, 0.5);
      atomic_min(reinterpret_cast<i64*>(&counters[5]), -i);
      atomic_or(&counters[6], (u64)1 << (i & 63));
      while (atomic_cas(&counters[7], (u64)0, (u64)0) == 12345) {
      }
    }
  }
  if (global_thread() == 0) {
    if (popcount(0xF0F0u) != 8 || leading_zeros(1u) != 31 || leading_zeros((u64)0) != 64 || first_bit((u64)1 << 40) != 41 || first_bit(0u) != 0) trap("bits");
    if (mul_high(~(u64)0, 16) != 15 || byte_permute(0x33221100u, 0x77665544u, 0x7610u) != 0x77661100u) trap("products and bytes");
    if (as_f64(as_bits(-1.5)) != -1.5 || (i64)(as_i128(5, (u64)-1) >> 64) != -1) trap("words");
    u32 map[2] = {0, 2};
    if (!bit_at(map, 33) || bit_at(map, 32)) trap("bitmap");
  }
}
`

func TestDevicePrimitives(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		m, _, err := d.Load(context.Background(), deviceFunctions)
		check(t, err)
		defer m.Release()
		f, err := m.Function("primitives")
		check(t, err)
		for _, n := range []int{1, 63, 64, 65, 10_007} {
			var total, appended int
			var low, bits uint64
			var eights [8]uint64
			for i := range n {
				total += i % 5
				if i%3 == 0 {
					appended++
				}
				low = max(low, uint64(i&1023))
				bits |= 1 << (i & 63)
				eights[i&7]++
			}
			out, rows, counters := alloc(t, s, int64(8*total)), alloc(t, s, int64(4*appended)), alloc(t, s, 16*8)
			check(t, s.Fill(out, 0, 8, int64(total)))
			check(t, s.Fill(counters, 0, 8, 16))
			check(t, s.Launch(f, 3, d.Block(64), 32, []uint64{uint64(out), uint64(rows), uint64(counters), uint64(n)}))
			check(t, s.Sync(context.Background()))
			got := download[uint64](t, s, counters, 16)
			if got[0] != uint64(appended) || got[1] != uint64(total) || got[2] != uint64(total) || got[3] != low || got[5] != uint64(-int64(n-1)) ||
				got[6] != bits || !slices.Equal(got[8:], eights[:]) {
				t.Errorf("%d rows: counters %v", n, got)
			}
			if half := download[float64](t, s, counters+32, 1)[0]; half != float64(n)/2 {
				t.Errorf("%d rows: %v halves", n, half)
			}
			for i, x := range download[uint64](t, s, out, total) {
				if x != 1<<16+1 {
					t.Fatalf("%d rows: position %d was handed out as %#x says", n, i, x)
				}
			}
			list := download[uint32](t, s, rows, appended)
			slices.Sort(list)
			for i, r := range list {
				if r != uint32(3*i) {
					t.Fatalf("%d rows: row %d was appended as number %d", n, r, i)
				}
			}
			free(t, s, out, rows, counters)
		}
	})
}

// TestLaunchArguments refuses what does not fit.
func TestLaunchArguments(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		m, _, err := d.Load(context.Background(), sumKernel)
		check(t, err)
		defer m.Release()
		if _, err := m.Function("nothing"); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("a kernel that is not there: %v", err)
		}
		f, err := m.Function("sum")
		check(t, err)
		if u, err := f.Usage(d.Block(128), 0); err != nil || u.Blocks < 1 {
			t.Errorf("usage %+v, %v", u, err)
		}
		words := make([]uint64, 6)
		for name, launch := range map[string]func() error{
			"no grid":            func() error { return s.Launch(f, 0, d.Block(128), 0, words) },
			"too large a block":  func() error { return s.Launch(f, 1, 4096, 0, words) },
			"too much shared":    func() error { return s.Launch(f, 1, d.Block(128), 1<<30, words) },
			"too few parameters": func() error { return s.Launch(f, 1, d.Block(128), 0, words[:5]) },
		} {
			if err := launch(); !errors.Is(err, gpukernels.ErrUser) {
				t.Errorf("%s: %v", name, err)
			}
		}
		check(t, s.Sync(context.Background()))
	})
}

// TestModuleCache loads the same source from many goroutines: one compilation. A second device finds it on the disk.
func TestModuleCache(t *testing.T) {
	t.Setenv(gpukernels.CacheVariable, t.TempDir())
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		source := sumKernel + fmt.Sprintf("// %s %d\n", t.Name(), rand.Uint64())
		origins := make(chan gpukernels.Origin)
		const users = 8
		for range users {
			go func() {
				m, origin, err := d.Load(context.Background(), source)
				if err == nil {
					if origin == gpukernels.Compiled && m.CompileTime <= 0 {
						err = errors.New("no time was taken")
					}
					m.Release()
				}
				if err != nil {
					t.Error(err)
				}
				origins <- origin
			}()
		}
		count := map[gpukernels.Origin]int{}
		for range users {
			count[<-origins]++
		}
		if count[gpukernels.Compiled] != 1 || count[gpukernels.FromMemory] != users-1 {
			t.Errorf("origins %v", count)
		}
		again, err := d.Library().OpenDevice(0)
		check(t, err)
		defer again.Close()
		m, origin, err := again.Load(context.Background(), source)
		check(t, err)
		defer m.Release()
		if origin != gpukernels.FromDisk {
			t.Errorf("the second device has it %v", origin)
		}
		if _, origin, err := again.Load(context.Background(), source, "-DOTHER=1"); err != nil || origin != gpukernels.Compiled {
			t.Errorf("with another option: %v, %v", origin, err)
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if _, _, err := again.Load(ended, source+"//\n"); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that has ended: %v", err)
		}
	})
}
