package keyhash

import (
	"math/rand/v2"
	"testing"
)

// The number of groups that all rows have follows from how many the first ones have.
func TestEstimateKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(20261123, 0))
	for _, groups := range []int{40_000, 100_000, 300_000, 1_000_000} {
		seen, rows := map[int]bool{}, 0
		for len(seen) < 30_000 {
			seen[r.IntN(groups)] = true
			rows++
		}
		if got := EstimateKeys(rows, len(seen)); got < groups*8/10 || got > groups*12/10 {
			t.Errorf("%d rows have %d of %d groups: expected are %d", rows, len(seen), groups, got)
		}
	}
	if got := EstimateKeys(1000, 1000); got < 1<<40 {
		t.Errorf("%d groups are expected where no two rows are alike", got)
	}
}
