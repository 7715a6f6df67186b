package column

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// Goroutines take, fill and give buffers back at once: whoever has one has it alone, of the length asked for, and it is zeros at first.
func TestBuffers(t *testing.T) {
	var buffers Buffers[uint64]
	var work sync.WaitGroup
	for g := range uint64(4) {
		work.Go(func() {
			r := rand.New(rand.NewPCG(20261128, g))
			for range 100 {
				n := r.IntN(3 << minBuffer)
				if r.IntN(2) == 0 {
					n = 1 << (minBuffer - 1 + r.IntN(4))
				}
				s := buffers.TakeZeros(n)
				if len(s) != n {
					t.Errorf("%d values, not %d", len(s), n)
				}
				for i, x := range s {
					if x != 0 {
						t.Errorf("value %d of %d is %d", i, n, x)
						return
					}
					s[i] = g + 1
				}
				for i, x := range s {
					if x != g+1 {
						t.Errorf("value %d of %d is %d, which another goroutine wrote", i, n, x)
						return
					}
				}
				buffers.Give(s)
			}
		})
	}
	work.Wait()
}

// Zeros writes to each page and nowhere else: items may be wider than a page.
func TestZeros(t *testing.T) {
	for _, n := range []int{0, 1, leastPages/8 - 1, leastPages / 8, 3*leastPages/8 + 5} {
		if s := Zeros[uint64](n); len(s) != n || slices.ContainsFunc(s, func(x uint64) bool { return x != 0 }) {
			t.Errorf("%d values: %d of them, or others than zeros", n, len(s))
		}
	}
	if s := Zeros[[2 * pageSize]byte](9); len(s) != 9 {
		t.Errorf("%d values of 9", len(s))
	}
}
