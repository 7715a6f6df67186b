package plans

import (
	"fmt"
	"hash/maphash"
	"testing"
)

// Statements that come in turn are known again, though the hashes of their keys meet.
func TestSeenInTurn(t *testing.T) {
	sets := map[uint64][]Key{}
	var turn []Key
	for i := 0; len(turn) < seenInSet; i++ {
		key := Key{Text: fmt.Sprint("SELECT ", i)}
		set := maphash.Comparable(planSeed, key) % seenSets
		sets[set] = append(sets[set], key)
		turn = sets[set]
	}
	s := New(nil, 0)
	for round := range 3 {
		for i := range turn {
			if _, again := s.Find(&turn[i]); again != (round > 0) {
				t.Errorf("round %d, statement %d: again is %v", round, i, again)
			}
		}
	}
}
