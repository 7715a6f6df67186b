package accumulate

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// MIN and MAX of strings are those that comparing them one by one finds, where strings begin alike, are empty, or are NULL.
func TestExtremesOfStrings(t *testing.T) {
	const seed = 20261123
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		kind, groups := []valueKind{minValue, maxValue}[r.IntN(2)], 1+r.IntN(3)
		a := &keptValue{kind: kind, typ: types.Text}
		a.Grow(groups)
		want := make([]*string, groups)
		for range 1 + r.IntN(3) {
			n := r.IntN(8)
			v := column.New(types.Text, max(n, 1))
			var sel []int32
			var of []uint32
			for i := range n {
				b := make([]byte, r.IntN(3)*5)
				for k := range b {
					b[k] = []byte{0, 'a', 'a', 'a', 0xff}[r.IntN(5)]
				}
				s := string(b)
				if v.Str[i] = s; r.IntN(6) == 0 {
					v.SetNull(i, n)
				}
				if r.IntN(5) == 0 {
					continue
				}
				g := uint32(r.IntN(groups))
				sel, of = append(sel, int32(i)), append(of, g)
				if !v.IsNull(i) && (want[g] == nil || kind == minValue && s < *want[g] || kind == maxValue && s > *want[g]) {
					want[g] = &s
				}
			}
			if groups == 1 {
				of = nil
			}
			if err := a.Update(of, []*column.Vector{v}, sel); err != nil {
				t.Fatal(err)
			}
		}
		for g, w := range want {
			if a.seen[g] != (w != nil) || w != nil && a.s[g] != *w {
				t.Fatalf("kind %d, group %d of %d: %q (%v), want %v", kind, g, groups, a.s[g], a.seen[g], w)
			}
		}
	}
}
