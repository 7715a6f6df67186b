package tests

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestFullLimbs adds to the limbs of a sum of doubles that has taken many terms: it says so long before one overflows.
func TestFullLimbs(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		m, _, err := d.Load(context.Background(), `#include "radish.cuh"
#include "aggregate.cuh"
#include "variance.cuh"
RADISH_KERNEL(adds, 3) {
  const f64 x = as_f64(p.w[1]);
  *as_pointer<u64>(p.w[2]) = x < 1e6 ? add_exact<true>(as_pointer<i64>(p.w[0]), x) : add_square<true>(as_pointer<i64>(p.w[0]), x);
}
`)
		check(t, err)
		defer m.Release()
		f, err := m.Function("adds")
		check(t, err)
		const limbs = 67
		p, full := alloc(t, s, 8*70), alloc(t, s, 8)
		for _, c := range []struct {
			before int64
			x      float64
			want   uint64
		}{
			{0, 1.5, 0}, {1<<62 - 1, 1.5, 0}, {1 << 62, 1.5, 1}, {math.MaxInt64 - 1<<32, 1.5, 1}, {-1 << 62, -1.5, 0}, {-1<<62 - 1, -1.5, 1},
			{1<<62 - 1, 1e7, 0}, {1 << 62, 1e7, 1},
		} {
			sum := make([]byte, 8*70)
			for i := range limbs {
				binary.LittleEndian.PutUint64(sum[8*i:], uint64(c.before))
			}
			check(t, s.Upload(p, sum))
			check(t, s.Launch(f, 1, 1, 0, []uint64{uint64(p), math.Float64bits(c.x), uint64(full)}))
			got := make([]byte, 8)
			check(t, s.Download(context.Background(), got, full))
			if binary.LittleEndian.Uint64(got) != c.want {
				t.Errorf("%v to limbs of %d: full is %d, want %d", c.x, c.before, got[0], c.want)
			}
		}
		check(t, s.Free(p))
		check(t, s.Free(full))
	})
}
