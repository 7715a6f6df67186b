package accumulate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// A sum, with groups or without, is that of the same values added exactly, whatever their signs and magnitudes. Infinities and NaN make it what they make a plain
// sum; finite values may overflow in one order and not in another.
func TestDoubleSum(t *testing.T) {
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
			for _, groups := range [][]uint32{nil, make([]uint32, len(sel))} {
				var got doubleSum
				got.Grow(1)
				exact, magnitude := new(big.Float).SetPrec(3000), 0.0
				plain, isSpecial := 0.0, false
				for range 2 {
					if err := got.Update(groups, []*column.Vector{v}, sel); err != nil {
						t.Fatal(err)
					}
					for _, p := range sel {
						x := v.F64[p]
						if math.IsInf(x, 0) || math.IsNaN(x) {
							plain, isSpecial = plain+x, true
							continue
						}
						exact.Add(exact, big.NewFloat(x))
						magnitude += math.Abs(x)
					}
				}
				sum, ok := Total(got.s[0], got.c[0])
				want, _ := exact.Float64()
				switch {
				case isSpecial:
					ok = ok && same(sum, plain)
				case math.IsInf(magnitude, 0):
					ok = !ok || math.Abs(sum-want) <= 1e-15*math.MaxFloat64
				default:
					ok = ok && math.Abs(sum-want) <= 0x1p-52*math.Abs(want)+1e-28*magnitude
				}
				if !ok {
					t.Fatalf("seed %d, round %d: %v at %v give %v and %v, want %v or %v", seed, round, v.F64, sel, got.s[0], got.c[0], want, plain)
				}
			}
		}
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
