package types

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func randDecimal(r *rand.Rand) (Int128, int) {
	for {
		if v := randInt128(r); FitsDecimal(v, 38) {
			return v, r.IntN(MaxDecimalScale + 1)
		}
	}
}

func rat(v Int128, scale int) *big.Rat {
	return new(big.Rat).SetFrac(toBig(v), bigPow10(scale))
}

func bigPow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// roundRat is the reference for rounding half away from zero: floor(|x|*10^scale + 1/2) with x's sign.
func roundRat(x *big.Rat, scale int) *big.Int {
	y := new(big.Rat).Mul(x, new(big.Rat).SetInt(bigPow10(scale)))
	neg := y.Sign() < 0
	y.Abs(y).Add(y, big.NewRat(1, 2))
	q := new(big.Int).Quo(y.Num(), y.Denom())
	if neg {
		q.Neg(q)
	}
	return q
}

func TestDecimalAgainstBig(t *testing.T) {
	r := testRand(t)
	for range 50000 {
		a, as := randDecimal(r)
		b, bs := randDecimal(r)
		scale := r.IntN(MaxDecimalScale + 1)
		x, y := rat(a, as), rat(b, bs)
		check := func(op string, got Int128, ok bool, want *big.Int) {
			t.Helper()
			if ok != fits128(want) || ok && toBig(got).Cmp(want) != 0 {
				t.Fatalf("%s: (%v,%d) (%v,%d) at %d = %v, %v; want %v", op, a, as, b, bs, scale, got, ok, want)
			}
		}
		v, ok := Rescale(a, as, scale)
		check("rescale", v, ok, roundRat(x, scale))
		v, ok = DecimalMul(a, as, b, bs, scale)
		want := roundRat(new(big.Rat).Mul(x, y), scale)
		check("mul", v, ok, want)
		if c := CompareDecimal(a, as, b, bs); c != x.Cmp(y) {
			t.Fatalf("compare (%v,%d) (%v,%d) = %d", a, as, b, bs, c)
		}
		if !b.IsZero() {
			quo := new(big.Rat).Quo(x, y)
			v, ok = DecimalDiv(a, as, b, bs, scale)
			check("div", v, ok, roundRat(quo, scale))
			cut := new(big.Int).Quo(quo.Num(), quo.Denom())
			v, ok = DecimalDivInt(a, as, b, bs)
			check("DIV", v, ok, cut)
			v, ok = DecimalMod(a, as, b, bs)
			m := new(big.Rat).Sub(x, new(big.Rat).Mul(y, new(big.Rat).SetInt(cut)))
			check("%", v, ok, roundRat(m, max(as, bs)))
		}
		floor := new(big.Int).Div(x.Num(), x.Denom())
		check("floor", FloorDecimal(a, as), true, floor)
		if !x.IsInt() {
			floor.Add(floor, big.NewInt(1))
		}
		check("ceil", CeilDecimal(a, as), true, floor)
		digits := r.IntN(45) - 10
		if digits < as {
			unit := new(big.Rat).SetInt(bigPow10(as - digits))
			n := new(big.Rat).Quo(new(big.Rat).SetInt(toBig(a)), unit)
			v, ok = RoundDecimal(a, as, digits)
			check("round", v, ok, new(big.Int).Mul(roundRat(n, 0), unit.Num()))
			check("truncate", TruncateDecimal(a, as, digits), true, new(big.Int).Mul(new(big.Int).Quo(n.Num(), n.Denom()), unit.Num()))
		}
		if got := FormatDecimal(a, as); got != x.FloatString(as) {
			t.Fatalf("format (%v,%d) = %s, want %s", a, as, got, x.FloatString(as))
		}
		if f, _ := x.Float64(); f != DecimalToFloat(a, as) {
			t.Fatalf("float of (%v,%d) = %v, want %v", a, as, DecimalToFloat(a, as), f)
		}
		if n := len(strings.TrimPrefix(a.String(), "-")); n != DecimalDigits(a) {
			t.Fatalf("digits of %v: %d", a, DecimalDigits(a))
		}
		if i, ok := a.Int64(); ok {
			want := roundRat(x, scale)
			if v, ok := RescaleInt64(i, as, scale); ok != want.IsInt64() || ok && v != want.Int64() {
				t.Fatalf("rescale (%d,%d) to %d = %d, %v; want %v", i, as, scale, v, ok, want)
			}
		}
	}
}

// A reader of decimals that knows nothing of ours: big.Rat's, on strings built from parts.
func TestParseDecimalAgainstBig(t *testing.T) {
	r := testRand(t)
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0000123456789955"[r.IntN(16)]
		}
		return string(b)
	}
	for range 50000 {
		text := []string{"", "-", "+"}[r.IntN(3)] + digits(r.IntN(25))
		if r.IntN(3) > 0 {
			text += "." + digits(r.IntN(25))
		}
		if r.IntN(4) == 0 {
			text += "e" + strconv.Itoa(r.IntN(60)-30)
		}
		if strings.Trim(text, "+-.") == "" || strings.Contains("+-.e", text[:1]) && !strings.ContainsAny(strings.Split(text, "e")[0], "0123456789") {
			continue
		}
		if !strings.ContainsAny(strings.Split(text, "e")[0], "0123456789") {
			continue
		}
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("reference refuses %q", text)
		}
		scale := r.IntN(20)
		precision := scale + 1 + r.IntN(38-scale)
		want := roundRat(x, scale)
		wantStatus := ConvertOK
		if len(new(big.Int).Abs(want).String()) > precision && want.Sign() != 0 {
			wantStatus = ConvertOutOfRange
			m := new(big.Int).Sub(bigPow10(precision), big.NewInt(1))
			if want.Sign() < 0 {
				m.Neg(m)
			}
			want = m
		} else if new(big.Rat).SetFrac(want, bigPow10(scale)).Cmp(x) != 0 {
			wantStatus = ConvertRounded
		}
		v, status := ParseDecimalAs(text, precision, scale)
		if toBig(v).Cmp(want) != 0 || status != wantStatus {
			t.Fatalf("%q as (%d,%d) = %v %v, want %v %v", text, precision, scale, v, status, want, wantStatus)
		}
		v, s, status := ParseDecimal(text)
		if status != ConvertOutOfRange && roundRat(x, s).Cmp(toBig(v)) != 0 {
			t.Fatalf("%q = (%v,%d) %v", text, v, s, status)
		}
	}
}

func TestParseDecimal(t *testing.T) {
	for _, c := range []struct {
		in, out string
		status  ConvertStatus
	}{
		{"1.50", "1.50", ConvertOK}, {"  -3.25  ", "-3.25", ConvertOK}, {"12abc", "12", ConvertTruncated},
		{"abc", "0", ConvertInvalid}, {"", "0", ConvertInvalid}, {".5", "0.5", ConvertOK}, {"5.", "5", ConvertOK},
		{".", "0", ConvertInvalid}, {"-.e5", "0", ConvertInvalid}, {"1e3", "1000", ConvertOK}, {"1.25e1", "12.5", ConvertOK},
		{"1e", "1", ConvertTruncated}, {"1e+", "1", ConvertTruncated}, {"25e-3", "0.025", ConvertOK},
		{"0.00", "0.00", ConvertOK}, {"-0.0", "0.0", ConvertOK}, {"0000000000000000000000000000000000000000000001", "1", ConvertOK},
		{"1e38", "99999999999999999999999999999999999999", ConvertOutOfRange},
		{"-1e999999999999", "-99999999999999999999999999999999999999", ConvertOutOfRange},
		{"1e-999999999999", "0.000000000000000000000000000000", ConvertRounded},
		{"12345678901234567890123456789012345678.5", "12345678901234567890123456789012345679", ConvertRounded},
	} {
		v, scale, status := ParseDecimal(c.in)
		if got := FormatDecimal(v, scale); got != c.out || status != c.status {
			t.Errorf("ParseDecimal(%q) = %s %v, want %s %v", c.in, got, status, c.out, c.status)
		}
	}
}

func TestFloatToDecimal(t *testing.T) {
	for _, c := range []struct {
		f      float64
		p, s   int
		out    string
		status ConvertStatus
	}{
		{1.005, 5, 2, "1.01", ConvertRounded}, {-2.5, 3, 0, "-3", ConvertRounded}, {1e20, 38, 0, "100000000000000000000", ConvertOK},
		{1e20, 10, 0, "9999999999", ConvertOutOfRange}, {math.Inf(-1), 3, 1, "-99.9", ConvertOutOfRange}, {0.1, 30, 20, "0.10000000000000000000", ConvertOK},
	} {
		v, status := FloatToDecimal(c.f, c.p, c.s)
		if got := FormatDecimal(v, c.s); got != c.out || status != c.status {
			t.Errorf("%v as (%d,%d) = %s %v, want %s %v", c.f, c.p, c.s, got, status, c.out, c.status)
		}
	}
}

// The types are those that MySQL 8.0 gives such expressions in CREATE TABLE ... SELECT, where they fit 38 digits.
func TestDecimalResultTypes(t *testing.T) {
	money := Decimal(15, 2)
	for _, c := range []struct {
		name string
		got  Type
		want string
	}{
		{"money+money", AddType(money, money), "DECIMAL(16,2)"},
		{"1-money", AddType(Decimal(1, 0), money), "DECIMAL(16,2)"},
		{"money*money", MulType(money, money), "DECIMAL(30,4)"},
		{"money*(1-d)*(1+t)", MulType(MulType(money, Decimal(16, 2)), Decimal(16, 2)), "DECIMAL(38,6)"},
		{"money/money", DivType(money, money), "DECIMAL(21,6)"},
		{"int/int", DivType(Int32, Int32), "DECIMAL(14,4)"},
		{"bigint/bigint", DivType(Int64, Int64), "DECIMAL(23,4)"},
		{"money%int", ModType(money, Int32), "DECIMAL(15,2)"},
		{"sum(money)", SumType(money), "DECIMAL(37,2)"},
		{"sum(int)", SumType(Int32), "DECIMAL(32,0)"},
		{"avg(money)", AvgType(money), "DECIMAL(19,6)"},
		{"avg(int)", AvgType(Int32), "DECIMAL(14,4)"},
		{"38+38", AddType(Decimal(38, 2), Decimal(38, 2)), "DECIMAL(38,2)"},
		{"scale gives way", MulType(Decimal(30, 15), Decimal(30, 15)), "DECIMAL(38,16)"},
		{"scale fits", MulType(Decimal(18, 12), Decimal(18, 12)), "DECIMAL(36,24)"},
		{"round", RoundType(money, 1), "DECIMAL(15,1)"},
		{"round to tens", RoundType(money, -1), "DECIMAL(14,0)"},
		{"round widens", RoundType(money, 5), "DECIMAL(18,5)"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s is %v, want %s", c.name, c.got, c.want)
		}
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, s := range []string{"1.5", "-0", "1e400", " .5x", "99999999999999999999999999999999999999.9", "1e-40"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, scale, status := ParseDecimal(s)
		if scale < 0 || scale > MaxDecimalScale || !FitsDecimal(v, MaxDecimalPrecision) {
			t.Fatalf("%q = (%v,%d)", s, v, scale)
		}
		if status != ConvertOK {
			return
		}
		again, s2, status := ParseDecimal(FormatDecimal(v, scale))
		if again != v || s2 != scale || status != ConvertOK {
			t.Fatalf("%q = (%v,%d), read again (%v,%d) %v", s, v, scale, again, s2, status)
		}
	})
}

func BenchmarkDecimalMulShort(b *testing.B) {
	x := Int128FromInt64(9123456)
	for b.Loop() {
		if _, ok := DecimalMul(x, 2, Int128FromInt64(94), 2, 4); !ok {
			b.Fatal("overflow")
		}
	}
}

func BenchmarkDecimalDiv(b *testing.B) {
	x, _ := ParseInt128("123456789012345678901234")
	for b.Loop() {
		if _, ok := DecimalDiv(x, 4, Int128FromInt64(1234567), 2, 8); !ok {
			b.Fatal("overflow")
		}
	}
}
