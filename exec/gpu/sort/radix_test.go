package sort

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// TestPack packs random keys as sort_pack does, and compares the order of the words with that of the keys.
func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(gputest.Seed(t), 1))
	type key struct {
		null bool
		bits uint64
	}
	cut := 0
	for range 2000 {
		cols := make([]Column, 1+rng.IntN(4))
		rows := make([][]key, 20)
		seen := make([]uint64, SeenWords*len(cols))
		for c := range cols {
			cols[c] = Column{Class: form.Class(rng.IntN(3)), Desc: rng.IntN(2) == 0}
			base, mask := rng.Uint64(), rng.Uint64()>>rng.IntN(65)&^(1<<rng.IntN(30)-1)
			nulls := rng.IntN(3)
			for i := range rows {
				k := key{nulls > 0 && rng.IntN(nulls) == 0, base ^ rng.Uint64()&mask}
				if k.null {
					k.bits = 0
					seen[SeenWords*c+2] = 1
				} else {
					seen[SeenWords*c] |= k.bits
					seen[SeenWords*c+1] |= ^k.bits
				}
				rows[i] = append(rows[i], k)
			}
		}
		most := 1 + rng.IntN(64)
		p := Pack(cols, seen, most)
		if p.Bits > most {
			t.Fatalf("%d bits", p.Bits)
		}
		pack := func(row []key) (word uint64) {
			for c, k := range row {
				d := p.Digits[c]
				if d>>16 != 0 {
					word = word<<1 | map[bool]uint64{true: 1}[k.null == cols[c].Desc]
				}
				if width := d >> 8 & 255; width > 0 && !k.null {
					word = word<<width | k.bits>>(d&255)&(1<<width-1)
				} else {
					word <<= width
				}
			}
			return word
		}
		// compare orders NULLs first ascending and last descending; the bits of a descending key are inverted already.
		compare := func(a, b []key) int {
			for c := range cols {
				x, y := a[c], b[c]
				switch {
				case x.null && y.null:
				case x.null != y.null:
					if x.null != cols[c].Desc {
						return -1
					}
					return 1
				case x.bits != y.bits:
					return cmp.Compare(x.bits, y.bits)
				}
			}
			return 0
		}
		for _, a := range rows {
			for _, b := range rows {
				words, keys := cmp.Compare(pack(a), pack(b)), compare(a, b)
				if words != keys && words != 0 || p.Whole == len(cols) && words != keys {
					t.Fatalf("columns %+v: %v and %v compare as %d, their words %x and %x as %d; %+v", cols, a, b, keys, pack(a), pack(b), words, p)
				}
			}
		}
		if p.Bits == most && p.Whole < len(cols) {
			cut++
		}
	}
	if cut == 0 {
		t.Error("no key was cut")
	}
}
