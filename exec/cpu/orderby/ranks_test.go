package orderby

import (
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/sql/types"
)

// TestMostStay estimates from one partition in 16 how many rows have no rank that is too high, beside the shares that are known.
func TestMostStay(t *testing.T) {
	const seed = 16
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []struct {
		rows, partitions int
		most             int64
		want             bool
	}{
		{20000, 20000, 1, true},   // 63% are the first of their partition
		{20000, 7000, 1, false},   // 33%
		{20000, 7000, 3, true},    // 78%
		{20000, 50, 100, false},   // 25%
		{20000, 50, 10000, true},  // all
		{20000, 1 << 40, 1, true}, // all
	} {
		x := Local{s: &Sink{KeyAt: []int{1, 0}, ranks: rankFilter{most: c.most, parts: 1}}}
		for from := 0; from < c.rows; from += rowstore.MaxSegment / 8 {
			n := min(rowstore.MaxSegment/8, c.rows-from)
			order, partition := column.New(types.Int64, n), column.New(types.Int64, n)
			for i := range n {
				order.I64[i], partition.I64[i] = rng.Int64(), rng.Int64N(int64(c.partitions))
			}
			x.Segs = append(x.Segs, &rowstore.Segment{N: n, Cap: n, Cols: []*column.Vector{order, partition}})
		}
		if got := x.mostStay(); got != c.want {
			t.Errorf("%d rows of %d partitions, ranks up to %d: most stay %v, want %v", c.rows, c.partitions, c.most, got, c.want)
		}
	}
}
