package tests

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// columnItems makes items of a column: few or many values, ascending or not, NULLs or none, of doubles both zeros and NaN.
func columnItems(rng *rand.Rand, n int, order gpukernels.Order) (items []int64, valid []byte) {
	items = make([]int64, n)
	spread, base := uint64(1)<<rng.IntN(63), rng.Int64()-rng.Int64()
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), -math.NaN()}
	specials := rng.IntN(3)
	for i := range items {
		items[i] = base + int64(rng.Uint64()%spread)
		if order == gpukernels.FloatOrder {
			f := float64(rng.IntN(1000)-500) / 8
			if specials > 0 && rng.IntN(100) == 0 {
				f = special[rng.IntN([]int{0, 2, len(special)}[specials])]
			}
			items[i] = int64(math.Float64bits(f))
		}
	}
	if rng.IntN(3) == 0 {
		slices.SortFunc(items, func(a, b int64) int { return compareItems(order, a, b) })
	}
	if rng.IntN(2) == 0 {
		valid = make([]byte, n)
		some := rng.IntN(3)
		for i := range valid {
			if some > 0 && rng.IntN(some) == 0 {
				valid[i] = 1
			}
		}
	}
	return items, valid
}

// compareItems compares by the plain meaning of an order, NaN aside.
func compareItems(order gpukernels.Order, a, b int64) int {
	less := a < b
	more := b < a
	switch order {
	case gpukernels.UnsignedOrder:
		less, more = uint64(a) < uint64(b), uint64(b) < uint64(a)
	case gpukernels.FloatOrder:
		x, y := math.Float64frombits(uint64(a)), math.Float64frombits(uint64(b))
		less, more = x < y, y < x
		if x == 0 && y == 0 {
			less, more = math.Signbit(x) && !math.Signbit(y), math.Signbit(y) && !math.Signbit(x)
		}
	}
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// TestGroupRanges compares bounds, NULLs and order of groups with loops.
func TestGroupRanges(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(18, 1))
		isNaN := func(order gpukernels.Order, x int64) bool {
			return order == gpukernels.FloatOrder && math.IsNaN(math.Float64frombits(uint64(x)))
		}
		for round := range 60 {
			n, size := []int{0, 1, 63, 1000, 40_000}[round%5], []int{1, 64, 1000, 1 << 17}[rng.IntN(4)]
			order := gpukernels.Order(rng.IntN(3))
			items, valid := columnItems(rng, n, order)
			groups := (n + size - 1) / size
			at, out, v := upload(t, s, items), alloc(t, s, int64(max(groups, 1))*32), gpukernels.Ptr(0)
			if valid != nil {
				v = upload(t, s, valid)
			}
			check(t, s.GroupRanges(at, v, order, int64(n), int64(size), out))
			for g, got := range download[gpukernels.Range](t, s, out, groups) {
				from, end := g*size, min(g*size+size, n)
				nulls, some, nan, descends, ordered := int64(0), false, false, false, true
				var low, high int64
				for i := from; i < end; i++ {
					x := items[i]
					if i > from && (isNaN(order, x) || isNaN(order, items[i-1])) {
						ordered = false
					}
					plus := func(x int64) int64 { // both zeros are one where order is concerned
						if order == gpukernels.FloatOrder && x == math.MinInt64 {
							return 0
						}
						return x
					}
					descends = descends || i > from && compareItems(order, plus(items[i-1]), plus(x)) > 0
					switch {
					case valid != nil && valid[i] == 0:
						nulls++
					case isNaN(order, x):
						nan = true
					case !some:
						low, high, some = x, x, true
					default:
						if compareItems(order, x, low) < 0 {
							low = x
						}
						if compareItems(order, x, high) > 0 {
							high = x
						}
					}
				}
				if got.Nulls != nulls || got.HasNaN() != nan || some && (got.Low != low || got.High != high) || ordered && got.Ascending() == descends {
					t.Fatalf("%d items in groups of %d, order %d, group %d: %+v, want %d to %d, %d NULLs, NaN %v, descending %v", n, size, order, g, got, low, high, nulls, nan, descends)
				}
			}
			free(t, s, at, out, v)
		}
		p := alloc(t, s, 64)
		if err := s.GroupRanges(p, 0, 7, 1, 1, p); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("an unknown order: %v", err)
		}
		if err := s.GroupRanges(p, 0, 0, 1, 0, p); !errors.Is(err, gpukernels.ErrUser) {
			t.Errorf("groups of no rows: %v", err)
		}
		free(t, s, p)
	})
}

// TestGroupNarrow writes each group with a frame of its own, and brings the groups to pieces of the host's memory of other lengths.
func TestGroupNarrow(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(18, 2))
		for round := range 40 {
			n, size := []int{1, 63, 1000, 40_000, 3_000_000}[round%5], []int{64, 1000, 1 << 17}[rng.IntN(3)]
			items, valid := columnItems(rng, n, gpukernels.SignedOrder)
			var frames []gpukernels.Frame
			var want []byte
			for from := 0; from < n; from += size {
				f := gpukernels.Frame{Base: rng.Int64() - rng.Int64(), NullItem: rng.Int64(), Width: []int64{0, 1, 2, 4, 8}[rng.IntN(5)]}
				want = append(want, make([]byte, (8-len(want)%8)%8)...)
				f.At = int64(len(want))
				for i := from; i < min(from+size, n); i++ {
					x := items[i] - f.Base
					if valid != nil && valid[i] == 0 {
						x = f.NullItem
					}
					want = append(want, binary.LittleEndian.AppendUint64(nil, uint64(x))[:f.Width]...)
				}
				frames = append(frames, f)
			}
			at, fr, dst, v := upload(t, s, items), upload(t, s, frames), upload(t, s, make([]byte, len(want))), gpukernels.Ptr(0)
			if valid != nil {
				v = upload(t, s, valid)
			}
			check(t, s.GroupNarrow(at, v, int64(n), int64(size), fr, dst))
			var pieces []gpukernels.Piece
			var parts [][]byte
			for left := len(want); left > 0; {
				parts = append(parts, make([]byte, min(left, rng.IntN(1+len(want)/3)+1)))
				left -= len(parts[len(parts)-1])
				pieces = append(pieces, gpukernels.PieceOf(parts[len(parts)-1]), gpukernels.PieceOf([]byte(nil)))
			}
			check(t, s.DownloadPieces(context.Background(), pieces, dst))
			if got := slices.Concat(parts...); !bytes.Equal(got, want) {
				t.Fatalf("%d items in groups of %d come out wrong", n, size)
			}
			free(t, s, at, fr, dst, v)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p := alloc(t, s, 64)
		if err := s.DownloadPieces(ctx, []gpukernels.Piece{gpukernels.PieceOf(make([]byte, 64))}, p); !errors.Is(err, context.Canceled) {
			t.Errorf("a download whose context has ended: %v", err)
		}
		free(t, s, p)
	})
}

// TestPackBits makes bitmaps of bytes.
func TestPackBits(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		s := newStream(t, d)
		rng := rand.New(rand.NewPCG(18, 3))
		for _, n := range sizes {
			in := make([]byte, n)
			want := make([]uint32, (n+31)/32)
			for i := range 32 * len(want) {
				if i < n {
					in[i] = byte(rng.IntN(2))
				}
				if i >= n || in[i] == 1 {
					want[i/32] |= 1 << (i % 32)
				}
			}
			src, dst := upload(t, s, in), alloc(t, s, int64(4*len(want)))
			check(t, s.PackBits(src, int64(n), dst))
			if got := download[uint32](t, s, dst, len(want)); !slices.Equal(got, want) {
				t.Errorf("%d bytes come out wrong", n)
			}
			free(t, s, src, dst)
		}
	})
}
