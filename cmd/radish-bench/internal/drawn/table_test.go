package drawn

import (
	"slices"
	"testing"
)

func TestPermutation(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 7, 64, 65, 1000, 4097} {
		p := NewPermutation(uint64(n), n)
		var all []int64
		fixed := 0
		for i := range n {
			x := p.Of(i)
			if back := p.Inverse(x); back != i {
				t.Fatalf("of %d: %d becomes %d, which comes from %d", n, i, x, back)
			}
			if x == i {
				fixed++
			}
			all = append(all, x)
		}
		slices.Sort(all)
		for i, x := range all {
			if x != int64(i) {
				t.Fatalf("of %d: position %d of the sorted values is %d", n, i, x)
			}
		}
		if n > 60 && fixed > 10 { // one is to be expected
			t.Errorf("of %d: %d values stay where they are", n, fixed)
		}
	}
}
