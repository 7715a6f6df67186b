package gputest

import "testing"

// TestInShare checks that each case belongs to one share, and to every process where nothing splits the tests.
func TestInShare(t *testing.T) {
	for i := range 20 {
		shares := 0
		for _, share := range []string{"0/3", "1/3", "2/3"} {
			t.Setenv(ShareVariable, share)
			if InShare(i) {
				shares++
			}
		}
		if shares != 1 {
			t.Errorf("case %d belongs to %d shares", i, shares)
		}
	}
}
