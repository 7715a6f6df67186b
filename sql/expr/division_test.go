package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/sql/types"
)

// drawInt draws an integer of any length and sign.
func drawInt(r *rand.Rand) int64 {
	switch r.IntN(12) {
	case 0:
		return math.MinInt64
	case 1:
		return math.MaxInt64
	}
	return int64(r.Uint64()) >> r.IntN(64)
}

// Quotients and remainders of 64 bits are those that math/big computes.
func TestDivisionsOfInts(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	done := 0
	for round := range 100_000 {
		x, y := drawInt(r), drawInt(r)
		up, precision := r.IntN(9), 1+r.IntN(types.MaxShortDecimal)
		q := quotients{types.Pow10(up), math.MaxInt64 / types.Pow10(up), types.Pow10(precision) - 1}
		out := []int64{0}
		left := divInts(out, Reader[int64]{[]int64{x}, 0}, Reader[int64]{[]int64{y}, 0}, q, []int32{0})
		a, b := new(big.Int).Mul(big.NewInt(x), big.NewInt(q.factor)), big.NewInt(y)
		if y != 0 && len(left) == 0 {
			done++
			// The quotient rounded half away from zero: (2|a| + |b|) / 2|b|.
			want := new(big.Int).Add(new(big.Int).Lsh(new(big.Int).Abs(a), 1), new(big.Int).Abs(b))
			want.Quo(want, new(big.Int).Lsh(new(big.Int).Abs(b), 1))
			if a.Sign()*b.Sign() < 0 {
				want.Neg(want)
			}
			if !want.IsInt64() || want.Int64() != out[0] || want.CmpAbs(big.NewInt(q.most)) > 0 {
				t.Fatalf("seed %d, round %d: %d * %d / %d in %d digits gives %d, want %s", seed, round, x, q.factor, y, precision, out[0], want)
			}
		}
		if by := max(y, -y); by > 0 {
			modInts(out, Reader[int64]{[]int64{x}, 0}, by, []int32{0})
			if want := new(big.Int).Rem(big.NewInt(x), big.NewInt(by)); want.Int64() != out[0] {
				t.Fatalf("seed %d, round %d: %d %% %d gives %d, want %s", seed, round, x, by, out[0], want)
			}
		}
	}
	if done < 20_000 {
		t.Errorf("%d quotients of 100,000 were computed", done)
	}
}
