package accumulate

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// TestVariancesOfLargeNumbers takes variances of numbers that are large beside their distances, in parts that are merged, and
// compares them with those of rational numbers.
func TestVariancesOfLargeNumbers(t *testing.T) {
	const seed = 20261122
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 500 {
		base := []float64{0, -7, 14620004, -3e9, 1e12}[r.IntN(5)]
		groups := 1 + r.IntN(4)
		whole := &variances{}
		whole.Grow(groups)
		values := make([][]float64, groups)
		var all []uint32
		for g := range groups {
			all = append(all, uint32(g))
		}
		for range 1 + r.IntN(5) {
			part := &variances{}
			part.Grow(groups)
			n := 1 + r.IntN(60)
			v := &column.Vector{Type: types.Double, F64: make([]float64, n)}
			of, sel := make([]uint32, n), make([]int32, n)
			for i := range n {
				v.F64[i] = base + float64(r.IntN(40))/4
				of[i], sel[i] = uint32(r.IntN(groups)), int32(i)
				values[of[i]] = append(values[of[i]], v.F64[i])
			}
			if err := part.Update(of, []*column.Vector{v}, sel); err != nil {
				t.Fatal(err)
			}
			if err := whole.Merge(all, part, all); err != nil {
				t.Fatal(err)
			}
		}
		for g, xs := range values {
			got, ok := Variance(expr.AggVarPop, whole.of[g])
			if ok != (len(xs) > 0) {
				t.Fatalf("round %d: a variance of %d values: %v", round, len(xs), ok)
			}
			if !ok {
				continue
			}
			want, _ := variance(xs).Float64()
			if d := got - want; d > 1e-12*want || d < -1e-12*want {
				t.Fatalf("round %d: the variance of %v is %v, not %v", round, xs, got, want)
			}
		}
	}
}

// variance is that of a population, exactly.
func variance(xs []float64) *big.Rat {
	n := new(big.Rat).SetInt64(int64(len(xs)))
	mean, sum := new(big.Rat), new(big.Rat)
	for _, x := range xs {
		mean.Add(mean, new(big.Rat).SetFloat64(x))
	}
	mean.Quo(mean, n)
	for _, x := range xs {
		d := new(big.Rat).SetFloat64(x)
		d.Sub(d, mean)
		sum.Add(sum, d.Mul(d, d))
	}
	return sum.Quo(sum, n)
}
