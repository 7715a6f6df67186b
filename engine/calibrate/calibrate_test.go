package calibrate

import (
	"testing"

	"github.com/radish-sql/radish/planner/cost"
)

// TestQueries: the classes that the table of costs calls measured are those that have a query, each one.
func TestQueries(t *testing.T) {
	queries := map[cost.Class]int{}
	for _, q := range Queries {
		queries[q.Class]++
	}
	for _, c := range cost.Classes() {
		if want := map[bool]int{true: 1}[c.IsMeasured()]; queries[c] != want {
			t.Errorf("%s has %d queries, want %d", c, queries[c], want)
		}
	}
}
