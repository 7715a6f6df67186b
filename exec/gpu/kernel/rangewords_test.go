package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRangeWords compares what a kernel computes with the words of 32 bits with arithmetic of any size.
func TestRangeWords(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	near := func(x int64) int64 { // wraps around at the ends of 64 bits
		far := [...]uint64{0, 3, 200, 1 << 31, 1<<32 - 2, 1<<32 + 5, 1 << 40}[rnd.IntN(7)]
		if rnd.IntN(2) == 0 {
			far = -far
		}
		return int64(uint64(x) + far + rnd.Uint64N(5))
	}
	within := 0
	for range 200_000 {
		base := [...]int64{0, -7, math.MinInt64, math.MaxInt64 - 300, 1 << 33}[rnd.IntN(5)]
		w := LowWord{Lo: near(base), Hi: near(base)}
		offset := uint32(rnd.IntN(6))
		switch rnd.IntN(3) {
		case 0:
			offset = math.MaxUint32 - 1 - offset
		case 1:
			offset = uint32(uint64(w.Lo)-uint64(base)) + offset - 3
		}
		value := new(big.Int).Add(big.NewInt(base), new(big.Int).SetUint64(uint64(offset)))
		if !value.IsInt64() || offset == math.MaxUint32 {
			continue // no column has it
		}
		want := w.Lo <= value.Int64() && value.Int64() <= w.Hi
		low, span := w.Offsets(base)
		if got := offset-low <= span; got != want {
			t.Fatalf("offset %d from %d between %d and %d: %v", offset, base, w.Lo, w.Hi, got)
		}
		if !want || uint64(w.Hi)-uint64(w.Lo) >= 1<<32 {
			continue
		}
		within++
		if got, want := offset+(SlotWord{First: w.Lo}).Slot(base), uint32(value.Int64()-w.Lo); got != want {
			t.Fatalf("offset %d from %d is slot %d of those from %d, want %d", offset, base, got, w.Lo, want)
		}
	}
	if within < 1000 {
		t.Errorf("only %d values were within their range", within)
	}
}
