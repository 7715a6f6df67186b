package types

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// testRand is seeded by name; a failure names the test and so the seed.
func testRand(t testing.TB) *rand.Rand {
	seed := uint64(20260101)
	for _, c := range t.Name() {
		seed = seed*1099511628211 + uint64(c)
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// randInt128 favours the edges: values of every bit length, and powers of two and ten with neighbours.
func randInt128(r *rand.Rand) Int128 {
	v := Int128{int64(r.Uint64()), r.Uint64()}
	switch r.IntN(8) {
	case 0:
		return Int128FromInt64(int64(r.IntN(21)) - 10)
	case 1:
		u := uint128{lo: 1}.shl(r.UintN(128))
		v = Int128{int64(u.hi), u.lo}.AddInt64(int64(r.IntN(3)) - 1)
	case 2:
		v = pow10Int128[r.IntN(39)].AddInt64(int64(r.IntN(3)) - 1)
	case 3:
		return []Int128{MinInt128, MaxInt128, {Hi: -1}, {Lo: math.MaxUint64}}[r.IntN(4)]
	default:
		v = shiftRight(v, r.UintN(128))
	}
	if r.IntN(2) == 0 {
		v, _ = v.Neg()
	}
	return v
}

// shiftRight fills with the sign.
func shiftRight(v Int128, n uint) Int128 {
	if n >= 64 {
		return Int128{v.Hi >> 63, uint64(v.Hi >> (n - 64))}
	}
	return Int128{v.Hi >> n, v.Lo>>n | uint64(v.Hi)<<(64-n)}
}

func toBig(v Int128) *big.Int {
	b := big.NewInt(v.Hi)
	b.Lsh(b, 64)
	return b.Add(b, new(big.Int).SetUint64(v.Lo))
}

func fits128(b *big.Int) bool {
	return b.Cmp(toBig(MinInt128)) >= 0 && b.Cmp(toBig(MaxInt128)) <= 0
}

func TestInt128AgainstBig(t *testing.T) {
	r := testRand(t)
	for range 50000 {
		a, b := randInt128(r), randInt128(r)
		x, y := toBig(a), toBig(b)
		check := func(op string, got Int128, ok bool, want *big.Int) {
			t.Helper()
			if fits := fits128(want); ok != fits || ok && toBig(got).Cmp(want) != 0 {
				t.Fatalf("%v %s %v = %v, %v; want %v", x, op, y, got, ok, want)
			}
		}
		v, ok := a.Add(b)
		check("+", v, ok, new(big.Int).Add(x, y))
		v, ok = a.Sub(b)
		check("-", v, ok, new(big.Int).Sub(x, y))
		v, ok = a.Mul(b)
		check("*", v, ok, new(big.Int).Mul(x, y))
		v, ok = a.Neg()
		check("neg", v, ok, new(big.Int).Neg(x))
		v, ok = a.Abs()
		check("abs", v, ok, new(big.Int).Abs(x))
		if a.Cmp(b) != x.Cmp(y) || a.Sign() != x.Sign() || a.Less(b) != (x.Cmp(y) < 0) || a.IsZero() != (x.Sign() == 0) {
			t.Fatalf("order of %v and %v", x, y)
		}
		if y.Sign() != 0 {
			q, m := new(big.Int).QuoRem(x, y, new(big.Int))
			quo, rem, ok := a.QuoRem(b)
			check("/", quo, ok, q)
			check("%", rem, true, m)
		} else if _, _, ok := a.QuoRem(b); ok {
			t.Fatal("division by zero is ok")
		}
		if a.String() != x.String() {
			t.Fatalf("String of %v is %v", x, a)
		}
		if p, ok := ParseInt128(x.String()); !ok || p != a {
			t.Fatalf("ParseInt128(%v) = %v, %v", x, p, ok)
		}
		if f, _ := new(big.Float).SetInt(x).Float64(); f != a.Float64() {
			t.Fatalf("Float64 of %v is %v, want %v", x, a.Float64(), f)
		}
		i, ok := a.Int64()
		if ok != x.IsInt64() || ok && i != x.Int64() {
			t.Fatalf("Int64 of %v: %v %v", x, i, ok)
		}
		if u, ok := a.Uint64(); ok != x.IsUint64() || ok && u != x.Uint64() {
			t.Fatalf("Uint64 of %v: %v %v", x, u, ok)
		}
		if s, ok := a.Add(Int128FromInt64(i)); ok && s != a.AddInt64(i) {
			t.Fatalf("%v AddInt64 %d = %v", x, i, a.AddInt64(i))
		}
	}
}

func TestInt128Float(t *testing.T) {
	r := testRand(t)
	for range 50000 {
		f := math.Ldexp(r.Float64()-0.5, r.IntN(135))
		want, _ := big.NewFloat(f).Int(nil)
		got, ok := Int128FromFloat(f)
		if ok != fits128(want) || ok && toBig(got).Cmp(want) != 0 {
			t.Fatalf("Int128FromFloat(%v) = %v, %v; want %v", f, got, ok, want)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0x1p127} {
		if _, ok := Int128FromFloat(f); ok {
			t.Errorf("Int128FromFloat(%v) is ok", f)
		}
	}
	if v, ok := Int128FromFloat(-0x1p127); !ok || v != MinInt128 {
		t.Errorf("-2^127: %v, %v", v, ok)
	}
}

func TestParseInt128Refuses(t *testing.T) {
	for _, s := range []string{"", "-", "+", "1x", " 1", "170141183460469231731687303715884105728",
		"-170141183460469231731687303715884105729", "9999999999999999999999999999999999999999999"} {
		if v, ok := ParseInt128(s); ok {
			t.Errorf("ParseInt128(%q) = %v", s, v)
		}
	}
}

// Any 256-bit numerator whose high half is below the divisor must divide exactly as math/big divides it; the
// divisors near powers of two exercise the corrections of the estimated quotient word.
func TestDiv256(t *testing.T) {
	r := testRand(t)
	toBig := func(u uint128) *big.Int {
		b := new(big.Int).SetUint64(u.hi)
		return b.Lsh(b, 64).Add(b, new(big.Int).SetUint64(u.lo))
	}
	word := func() uint64 {
		switch r.IntN(4) {
		case 0:
			return 0
		case 1:
			return math.MaxUint64 - r.Uint64N(3)
		case 2:
			return 1<<r.UintN(64) - r.Uint64N(2)
		}
		return r.Uint64()
	}
	for range 50000 {
		v := uint128{word(), word()}
		hi, lo := uint128{word(), word()}, uint128{word(), word()}
		if v == (uint128{}) {
			continue
		}
		if !hi.less(v) {
			_, hi = hi.quoRem(v)
		}
		quo, rem := div256(hi, lo, v)
		n := toBig(hi)
		n.Lsh(n, 128).Add(n, toBig(lo))
		wq, wr := new(big.Int).QuoRem(n, toBig(v), new(big.Int))
		if toBig(quo).Cmp(wq) != 0 || toBig(rem).Cmp(wr) != 0 {
			t.Fatalf("%v / %v = %v rem %v, want %v rem %v", n, v, quo, rem, wq, wr)
		}
	}
}

func BenchmarkInt128Add(b *testing.B) {
	var sum Int128
	x := Int128FromInt64(-12345)
	for b.Loop() {
		sum, _ = sum.Add(x)
	}
	if sum.Sign() == 0 {
		b.Fatal(sum)
	}
}
