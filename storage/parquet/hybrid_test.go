package parquet

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Values of each width are unpacked as bit by bit, from any value on, and a code that a dictionary lacks is found wherever it stands.
func TestUnpack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, 800)
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	for width := uint(0); width <= 32; width++ {
		for range 200 {
			bit, n := r.IntN(64)*int(width), 1+r.IntN(120)
			packed := src[:(bit+n*int(width)+7)/8]
			got := make([]uint32, n)
			unpack(got, packed, bit, width)
			for i := range got {
				want := uint32(0)
				for b := range int(width) {
					at := bit + i*int(width) + b
					want |= uint32(packed[at/8]>>(at%8)&1) << b
				}
				if got[i] != want {
					t.Fatalf("width %d from bit %d: value %d of %d is %d instead of %d", width, bit, i, n, got[i], want)
				}
			}
		}
	}
	for width := uint(0); width <= 8; width++ {
		for range 200 {
			bit, n := r.IntN(64)*int(width), 1+r.IntN(500)
			packed := src[:(bit+n*int(width)+7)/8]
			got := make([]uint8, n)
			unpackBytes(got, packed, bit, width)
			for i := range got {
				want := uint8(0)
				for b := range int(width) {
					at := bit + i*int(width) + b
					want |= packed[at/8] >> (at % 8) & 1 << b
				}
				if got[i] != want {
					t.Fatalf("width %d from bit %d: value %d is %d instead of %d", width, bit, i, got[i], want)
				}
			}
			for _, most := range []uint8{0, 1, 2, 100, 127, 128, 129, 255} {
				want := slices.ContainsFunc(got, func(code uint8) bool { return code >= most })
				if exceed(got, most) != want {
					t.Fatalf("%d among codes of width %d: %v", most, width, !want)
				}
			}
		}
	}
}
