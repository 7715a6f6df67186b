package cpu

import (
	"math/rand/v2"
	"testing"
)

// Each morsel comes to one worker, whoever takes how many.
func TestDealing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, kind := range []dealing{whoever, inTurn, divided, shared} {
		for range 50 {
			d := deal{kind: kind, morsels: r.IntN(3 * mostShares), workers: 1 + r.IntN(9)}
			given := make([]int, d.morsels)
			turns := make([]int, d.workers)
			for left := d.workers; left > 0; {
				w := r.IntN(d.workers)
				if turns[w] < 0 {
					continue
				}
				from, end, step := d.next(w, turns[w])
				turns[w]++
				if from >= end {
					turns[w] = -1
					left--
				}
				for m := from; m < end; m += step {
					given[m]++
				}
			}
			for m, n := range given {
				if n != 1 {
					t.Fatalf("%d: morsel %d of %d came %d times", kind, m, d.morsels, n)
				}
			}
		}
	}
}
