package scan

import (
	"slices"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Of two tests, that order is best in which a vector costs less: the first test's cost, and the second's for the rows that it leaves.
func TestOrderOfTests(t *testing.T) {
	equal := encoding.Comparison(encoding.EQ, types.Value{Type: types.Int64, I: 1})
	bloom := encoding.InInts(encoding.NewIntBloom(0, 1<<40, encoding.NewBloom(1000)))
	bitmap := encoding.InInts(encoding.NewIntSet([]int64{1, 2, 3}))
	const rows = 100 * column.VectorSize
	for name, c := range map[string]struct {
		tests  []columnTest
		passed []float64 // the share of rows that each passes
		want   []int
	}{
		"equal costs":              {[]columnTest{{pred: equal}, {pred: bitmap}}, []float64{0.5, 0.1}, []int{1, 0}},
		"a cheap test first":       {[]columnTest{{pred: bloom}, {pred: equal}}, []float64{0.05, 0.25}, []int{1, 0}},
		"a test that drops little": {[]columnTest{{pred: equal}, {pred: bloom}}, []float64{0.95, 0.05}, []int{1, 0}},
		"useless filters":          {[]columnTest{{pred: bloom, optional: true}, {pred: equal}}, []float64{0.99, 0.99}, []int{1}},
	} {
		r := &Reader{t: &Table{tests: c.tests}}
		for i, share := range c.passed {
			r.tests = append(r.tests, testStats{index: i, in: rows, out: int(share * rows)})
		}
		r.reorder()
		var got []int
		for _, s := range r.tests {
			got = append(got, s.index)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if len(got) < 2 {
			continue
		}
		cost := func(first, second int) float64 {
			return c.tests[first].pred.Cost() + c.passed[first]*c.tests[second].pred.Cost()
		}
		if cost(got[0], got[1]) > cost(got[1], got[0]) {
			t.Errorf("%s: the other order costs less", name)
		}
	}
}
