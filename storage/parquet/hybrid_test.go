package parquet

import (
	"encoding/binary"
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

// Runs of all lengths, short ones behind one another among them, give their values however they are read: all, some, or passed over, in parts of any size.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		width := uint(r.IntN(33))
		longest := []int{1, 2, 10, 70, 300}[r.IntN(5)]
		var src []byte
		var want []uint32
		for len(want) < 200 {
			if width > 0 && r.IntN(8) == 0 {
				groups := 1 + r.IntN(3)
				src = binary.AppendUvarint(src, uint64(groups)<<1|1)
				packed := make([]byte, groups*int(width))
				for i := range 8 * groups {
					value := uint32(r.Uint64() & (1<<width - 1))
					for b := range int(width) {
						at := i*int(width) + b
						packed[at/8] |= byte(value>>b&1) << (at % 8)
					}
					want = append(want, value)
				}
				src = append(src, packed...)
				continue
			}
			value, n := uint32(r.Uint64()&(1<<width-1)), r.IntN(longest+1)
			src = binary.AppendUvarint(src, uint64(n)<<1)
			for b := uint(0); b < width; b += 8 {
				src = append(src, byte(value>>b))
			}
			want = append(want, slices.Repeat([]uint32{value}, n)...)
		}
		h := hybrid{src: src, width: width}
		for at := 0; at < len(want); {
			n := 1 + r.IntN(min(60, len(want)-at))
			part := want[at : at+n]
			at += n
			var err error
			got := make([]uint32, n)
			switch way := r.IntN(4); {
			case way == 0:
				err = h.decode(got)
			case way == 1 && width <= 8:
				bytes := make([]uint8, n)
				err = h.decodeBytes(bytes)
				for i, b := range bytes {
					got[i] = uint32(b)
				}
			case way == 2:
				var positions []int32
				var some []uint32
				for i := range n {
					if r.IntN(3) == 0 {
						positions, some = append(positions, int32(i)), append(some, part[i])
					}
				}
				got, part = got[:len(some)], some
				err = h.decodeAt(got, positions, n)
			default:
				got, part = nil, nil
				err = h.pass(n)
			}
			if err != nil || !slices.Equal(got, part) {
				t.Fatalf("width %d, runs of up to %d, up to value %d of %d: %v instead of %v, %v", width, longest, at, len(want), got, part, err)
			}
		}
		if err := h.pass(1); err == nil {
			t.Fatalf("width %d: there is a value behind the last one", width)
		}
	}
}
