package accumulate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// TestSumsOfFewGroups adds vectors of integers near the ends of their range, of either sign, to few groups and to more, and compares
// the sums with those of big integers, and the numbers of values with a count of them. In half of the rounds some values are NULL, and in half of them they are decimals of 128 bits.
func TestSumsOfFewGroups(t *testing.T) {
	const seed = 20261121
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	edges := []int64{math.MaxInt64, math.MinInt64, math.MaxInt64 / 3, -1, 0, 1, -4, 99, 1 << 61, -1 << 61, 1 << 40, -1 << 40}
	for round := range 3000 {
		groups := 1 + r.IntN(2*fewGroups)
		acc, nulls, wide := &exactSum{}, r.IntN(2) == 0, r.IntN(2) == 0
		acc.Grow(groups)
		counted, counts := &Count{}, make([]int64, groups)
		counted.Grow(groups)
		want := make([]*big.Int, groups)
		for g := range want {
			want[g] = new(big.Int)
		}
		for range 1 + r.IntN(4) {
			n := 1 + r.IntN(30)
			if r.IntN(8) == 0 {
				n = 1 + r.IntN(300)
			}
			v := &column.Vector{Type: types.Int64, I64: make([]int64, n)}
			if wide {
				v = &column.Vector{Type: types.Decimal(38, 0), I128: make([]types.Int128, n)}
			}
			values := make([]*big.Int, n)
			few := edges[:1+r.IntN(len(edges))]
			shift := uint(16 * r.IntN(3))
			for i := range values {
				x := few[r.IntN(len(few))]
				values[i] = big.NewInt(x)
				if wide {
					values[i].Lsh(values[i], shift)
					v.I128[i] = types.Int128{Hi: x >> 63 << shift, Lo: uint64(x) << shift}
					if shift > 0 {
						v.I128[i].Hi |= int64(uint64(x) >> (64 - shift))
					}
				} else {
					v.I64[i] = x
				}
				if nulls && r.IntN(3) == 0 {
					v.SetNull(i, n)
					values[i].SetInt64(0)
				}
			}
			var sel []int32
			sparse, from := r.IntN(2) == 0, 0
			if n > 64 {
				from = r.IntN(2) * 64
			}
			for i := from; i < n; i++ {
				if !sparse || r.IntN(4) > 0 {
					sel = append(sel, int32(i))
				}
			}
			of := make([]uint32, len(sel))
			for i, p := range sel {
				of[i] = r.Uint32N(uint32(groups))
				want[of[i]].Add(want[of[i]], values[p])
				if !v.IsNull(int(p)) {
					counts[of[i]]++
				}
			}
			for _, a := range []Accumulator{acc, counted} {
				if err := a.Update(of, []*column.Vector{v}, sel); err != nil {
					t.Fatal(err)
				}
			}
		}
		for g := range want {
			if got := types.FormatDecimal(acc.at(uint32(g)), 0); got != want[g].String() {
				t.Fatalf("round %d: group %d of %d has the sum %s, not %s", round, g, groups, got, want[g])
			}
			if counted.N[g] != counts[g] {
				t.Fatalf("round %d: group %d of %d has %d values, not %d", round, g, groups, counted.N[g], counts[g])
			}
		}
	}
}
