package tests

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestItemFilters filters eight items by ranges and by bits, at the ends of ranges and of 32 bits, and compares with the same in Go.
func TestItemFilters(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		m, _, err := d.Load(context.Background(), `#include "radish.cuh"
#include "tile.cuh"
template <typename T>
RADISH_FN void filter(const u64* items, const u64* w, const u32* words, u64* out) {
  T x[8];
  for (int i = 0; i < 8; i++) x[i] = (T)items[i];
  out[0] = keep_range((u32)w[0], x, (u32)w[1], (u32)w[2]);
  out[1] = keep_bits((u32)w[0], x, (u32)w[1], (u32)w[2], words, (u32)w[3]);
}
RADISH_KERNEL(filters, 5) {
  const u64* items = as_pointer<const u64>(p.w[0]);
  const u64* w = as_pointer<const u64>(p.w[1]);
  u64* out = as_pointer<u64>(p.w[3]);
  if (thread_index() != 0 || block_index() != 0) return;
  if (p.w[4] == 1) filter<u8>(items, w, as_pointer<const u32>(p.w[2]), out);
  if (p.w[4] == 2) filter<u16>(items, w, as_pointer<const u32>(p.w[2]), out);
  if (p.w[4] == 4) filter<u32>(items, w, as_pointer<const u32>(p.w[2]), out);
}
`)
		check(t, err)
		defer m.Release()
		f, err := m.Function("filters")
		check(t, err)
		bits := []uint32{0xa5a5_0f01, 0x8000_0001, 0x1234_5678, 0xffff_0000}
		words := alloc(t, s, 16)
		check(t, s.Upload(words, littleEndian(bits)))
		items, params, out := alloc(t, s, 64), alloc(t, s, 32), alloc(t, s, 16)
		for _, c := range []struct {
			width           int
			items           [8]uint32
			low, last, slot uint32
		}{
			{1, [8]uint32{0, 1, 7, 8, 31, 32, 127, 255}, 0, 127, 0},
			{1, [8]uint32{0, 1, 7, 8, 31, 32, 127, 255}, 7, 24, 0},
			{2, [8]uint32{0, 1000, 1001, 1031, 1032, 1127, 1128, 65535}, 1000, 127, math.MaxUint32 - 999}, // slots begin above the column's base
			{2, [8]uint32{0, 1, 2, 3, 27, 28, 29, 65535}, 0, 27, 100},                                     // and below it
			{4, [8]uint32{math.MaxUint32 - 1, math.MaxUint32 - 2, math.MaxUint32 - 127, math.MaxUint32 - 129, 0, 1, 2, 128}, math.MaxUint32 - 128, 127, 129},
			{4, [8]uint32{math.MaxUint32 - 1, 0, 1, 2, 3, 4, 5, math.MaxUint32 - 2}, math.MaxUint32, 0, 0}, // a range that no item lies in
		} {
			for _, alive := range []uint32{0xff, 0x5a, 0, 0x81} {
				var wide [8]uint64
				want := [2]uint64{}
				for i, x := range c.items {
					wide[i] = uint64(x)
					if alive>>i&1 == 0 || x-c.low > c.last {
						continue
					}
					want[0] |= 1 << i
					if at := x + c.slot; bits[at/32]>>(at%32)&1 != 0 {
						want[1] |= 1 << i
					}
				}
				check(t, s.Upload(items, littleEndian(wide[:])))
				check(t, s.Upload(params, littleEndian([]uint64{uint64(alive), uint64(c.low), uint64(c.last), uint64(c.slot)})))
				check(t, s.Launch(f, 1, 1, 0, []uint64{uint64(items), uint64(params), uint64(words), uint64(out), uint64(c.width)}))
				got := make([]byte, 16)
				check(t, s.Download(context.Background(), got, out))
				for i, what := range []string{"range", "bits"} {
					if bits := binary.LittleEndian.Uint64(got[8*i:]); bits != want[i] {
						t.Errorf("%s of %v with %#x: %#x, want %#x", what, c, alive, bits, want[i])
					}
				}
			}
		}
		for _, p := range []gpukernels.Ptr{words, items, params, out} {
			check(t, s.Free(p))
		}
	})
}

func littleEndian[T uint32 | uint64](of []T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, of)
	if err != nil {
		panic(err)
	}
	return b
}
