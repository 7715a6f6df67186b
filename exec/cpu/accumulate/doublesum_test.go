package accumulate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// A sum without groups is that of the same values added one by one with twoSum, whatever their signs and magnitudes, and where infinities, NaN and overflows come among them.
func TestDoubleSumWithoutGroups(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	special := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, math.Copysign(0, -1), math.SmallestNonzeroFloat64}
	for round := range 2000 {
		n := 1 + r.IntN(50)
		v := &column.Vector{F64: make([]float64, n)}
		for i := range v.F64 {
			v.F64[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20))
			if round%3 == 0 && r.IntN(20) == 0 {
				v.F64[i] = special[r.IntN(len(special))]
			}
		}
		scattered := make([]int32, 0, n)
		for i := range int32(n) {
			if r.IntN(3) > 0 {
				scattered = append(scattered, i)
			}
		}
		for _, sel := range [][]int32{vec.Ascending(n), scattered} {
			var got doubleSum
			got.Grow(1)
			s, c := 0.0, 0.0
			for range 2 {
				if err := got.Update(nil, []*column.Vector{v}, sel); err != nil {
					t.Fatal(err)
				}
				for _, p := range sel {
					s, c = AddPair(s, c, v.F64[p], 0)
				}
			}
			if !same(got.s[0], s) || !same(got.c[0], c) {
				t.Fatalf("seed %d, round %d: %v at %v give %v and %v, want %v and %v", seed, round, v.F64, sel, got.s[0], got.c[0], s, c)
			}
		}
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
