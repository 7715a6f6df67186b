package stats

import (
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// A third of the rows have one value in the second column; the first is a key. What a projection computes is not stored: a condition may be true or false.
func TestFrequent(t *testing.T) {
	alloc := &expr.Allocator{}
	var rows [][]int64
	for i := range int64(9000) {
		row := []int64{i, i}
		if i%3 == 0 {
			row[1] = 7
		}
		rows = append(rows, row)
	}
	scan := newSource(alloc, "t", 0, rows).scan
	key, skewed := scan.Cols[0], scan.Cols[1]
	flag := alloc.New("", "flag", types.Bool, false)
	computed := &logical.Project{Input: scan, Items: []logical.Item{{Col: flag, Expr: compare(expr.GT, key, skewed)}}}
	est := NewEstimator()
	for _, tc := range []struct {
		name        string
		n           logical.Node
		x           expr.Expr
		most, known float64
	}{
		{"key", scan, key, 1, 1},
		{"skewed", scan, skewed, 3000, 3000},
		{"computed", computed, flag, 9000, 4500},
	} {
		if got := est.MostFrequent(tc.n, []expr.Expr{tc.x}); !near(got, tc.most, 1.1) {
			t.Errorf("%s: at most %g rows with one value, want %g", tc.name, got, tc.most)
		}
		if got := est.KnownFrequent(tc.n, tc.x); !near(got, tc.known, 1.1) {
			t.Errorf("%s: %g rows with one value as far as is known, want %g", tc.name, got, tc.known)
		}
	}
	if got := est.MostFrequent(scan, []expr.Expr{key, skewed}); !near(got, 1, 1.1) {
		t.Errorf("both: at most %g rows with one value, want 1", got)
	}
}
