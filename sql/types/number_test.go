package types

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestFormatFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "-0"}, {1, "1"}, {0.1, "0.1"}, {-1.5, "-1.5"}, {1e14, "100000000000000"}, {1e15, "1e15"},
		{1e20, "1e20"}, {123456789012345, "123456789012345"}, {1234567890123456, "1.234567890123456e15"}, {1234567890123456.7, "1234567890123456.8"},
		{1e-15, "0.000000000000001"}, {1e-16, "1e-16"}, {1.5e-16, "1.5e-16"}, {0.30000000000000004, "0.30000000000000004"},
		{math.MaxFloat64, "1.7976931348623157e308"}, {5e-324, "5e-324"}, {1234.5678, "1234.5678"}, {1e100, "1e100"},
	} {
		if got := FormatFloat(c.f); got != c.want {
			t.Errorf("FormatFloat(%g) = %s, want %s", c.f, got, c.want)
		}
	}
	for _, c := range []struct {
		f    float32
		want string
	}{
		{0.1, "0.1"}, {16777216, "16777200"}, {3.14159274, "3.14159"}, {1e15, "1e15"}, {1e-20, "1e-20"}, {1234567, "1234570"}, {0, "0"},
		{100, "100"}, {999999.9, "1000000"},
	} {
		if got := string(AppendFloat32(nil, float64(c.f))); got != c.want {
			t.Errorf("AppendFloat32(%g) = %s, want %s", c.f, got, c.want)
		}
	}
}

// Whatever the layout, a double's text reads back as the double.
func TestFormatFloatRoundTrip(t *testing.T) {
	r := testRand(t)
	for range 100000 {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			f = math.Ldexp(r.Float64(), r.IntN(140)-70)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		text := FormatFloat(f)
		if g, err := strconv.ParseFloat(text, 64); err != nil || g != f {
			t.Fatalf("%g prints as %s", f, text)
		}
		if g, status := ParseFloatPrefix(" " + text + " "); g != f || status != ConvertOK {
			t.Fatalf("%s reads as %g, %v", text, g, status)
		}
	}
}

func TestParsePrefixes(t *testing.T) {
	for _, c := range []struct {
		in string
		i  int64
		is ConvertStatus
		f  float64
		fs ConvertStatus
	}{
		{"12abc", 12, ConvertTruncated, 12, ConvertTruncated},
		{" -7 ", -7, ConvertOK, -7, ConvertOK},
		{"1e3", 1, ConvertTruncated, 1000, ConvertOK},
		{"", 0, ConvertInvalid, 0, ConvertInvalid},
		{"x1", 0, ConvertInvalid, 0, ConvertInvalid},
		{"9223372036854775808", math.MinInt64, ConvertOutOfRange, 9223372036854775808, ConvertOK},
		{"-9223372036854775808", math.MinInt64, ConvertOK, -9223372036854775808, ConvertOK},
		{"18446744073709551615", -1, ConvertOutOfRange, 18446744073709551615, ConvertOK},
		{"18446744073709551616", -1, ConvertOutOfRange, 18446744073709551616, ConvertOK},
		{"\t+.5", 0, ConvertInvalid, 0.5, ConvertOK},
		{"0x10", 0, ConvertTruncated, 0, ConvertTruncated},
		{"inf", 0, ConvertInvalid, 0, ConvertInvalid},
		{"nan", 0, ConvertInvalid, 0, ConvertInvalid},
		{"1_0", 1, ConvertTruncated, 1, ConvertTruncated},
	} {
		if i, s := ParseIntPrefix(c.in); i != c.i || s != c.is {
			t.Errorf("ParseIntPrefix(%q) = %d %v, want %d %v", c.in, i, s, c.i, c.is)
		}
		if f, s := ParseFloatPrefix(c.in); f != c.f || s != c.fs {
			t.Errorf("ParseFloatPrefix(%q) = %v %v, want %v %v", c.in, f, s, c.f, c.fs)
		}
	}
	if f, s := ParseFloatPrefix("-1e999"); f != -math.MaxFloat64 || s != ConvertOutOfRange {
		t.Errorf("-1e999 = %v %v", f, s)
	}
}

func TestRounding(t *testing.T) {
	if i, s := DecimalToInt(Int128FromInt64(25), 1); i != 3 || s != ConvertRounded {
		t.Errorf("DecimalToInt(2.5) = %d %v", i, s)
	}
	if i, s := DecimalToInt(Int128FromInt64(-25), 1); i != -3 || s != ConvertRounded {
		t.Errorf("DecimalToInt(-2.5) = %d %v", i, s)
	}
	if i, s := DecimalToInt(MinInt128, 0); i != math.MinInt64 || s != ConvertOutOfRange {
		t.Errorf("DecimalToInt(min) = %d %v", i, s)
	}
	if i, s := ClampInt(200, KindInt8); i != 127 || s != ConvertOutOfRange {
		t.Errorf("ClampInt(200) = %d %v", i, s)
	}
}

func FuzzParseFloatPrefix(f *testing.F) {
	for _, s := range []string{"1.5", "-0", "1e400", " .5x", "+1.e1", "1e-400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, status := ParseFloatPrefix(s)
		if math.IsNaN(got) || math.IsInf(got, 0) {
			t.Fatalf("%q = %v", s, got)
		}
		// Where strconv reads the whole text and it is no form that MySQL lacks, both must agree.
		trimmed := strings.Trim(s, " \t\n\v\f\r")
		if want, err := strconv.ParseFloat(trimmed, 64); err == nil && !strings.ContainsAny(trimmed, "xXpP_iInN") && (got != want || status != ConvertOK) {
			t.Fatalf("%q = %v %v, want %v", s, got, status, want)
		}
	})
}

// Plain numbers are what big.Rat reads.
func TestPlainNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	read := 0
	for range 20000 {
		text := make([]byte, r.IntN(22))
		for i := range text {
			text[i] = "0123456789012345678901234567890123456789.-+ e"[r.IntN(45)]
		}
		s := string(text)
		n, scale, neg, ok := PlainNumber(s)
		if !ok {
			continue
		}
		read++
		want, isNumber := new(big.Rat).SetString(s)
		got := new(big.Rat).Quo(new(big.Rat).SetInt64(n), new(big.Rat).SetInt64(Pow10(scale)))
		if !isNumber || got.Cmp(want) != 0 || neg != (s[0] == '-') {
			t.Fatalf("%q is %d/10^%d, %v", s, n, scale, neg)
		}
		f, status := ParseFloatPrefix(s)
		if g, err := strconv.ParseFloat(s, 64); err != nil || math.Float64bits(f) != math.Float64bits(g) || status != ConvertOK {
			t.Fatalf("%q is the double %v, %v; want %v", s, f, status, g)
		}
	}
	if read < 1000 {
		t.Errorf("only %d of the strings are plain numbers", read)
	}
}

// TestParseFloat reads long numbers of every form, beside exact arithmetic.
func TestParseFloat(t *testing.T) {
	const seed = 16
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	digits := func(n int, of string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[rng.IntN(len(of))]
		}
		return string(b)
	}
	signs := []string{"", "-", "+"}
	for range 3000 {
		s := signs[rng.IntN(3)] + digits(rng.IntN(900), "0") + digits(rng.IntN(3), "123456789") + digits(rng.IntN(900), "0123456789")
		if rng.IntN(2) == 0 {
			s += "." + digits(rng.IntN(900), []string{"0", "0123456789", "5"}[rng.IntN(3)]) + digits(rng.IntN(900), "09")
		}
		if rng.IntN(2) == 0 {
			s += []string{"e", "E"}[rng.IntN(2)] + signs[rng.IntN(3)] + digits(rng.IntN(5), "0123456789")
		}
		if rng.IntN(50) == 0 {
			s += digits(1, "x.e- ")
		}
		// strconv takes "12e-1" for 12 * 10^-1 up to 800 digits only.
		want, isNumber := 0.0, false
		if exact, ok := new(big.Rat).SetString(s); ok {
			want, _ = exact.Float64()
			if isNumber = !math.IsInf(want, 0); want == 0 && s[0] == '-' {
				want = math.Copysign(0, -1)
			}
		}
		got, ok := ParseFloat(s)
		if ok != isNumber || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: %v, %v, want %v, %v", s, got, ok, want, isNumber)
		}
	}
	// The nearest double depends on the last of many digits: halfway between two doubles, and just above.
	half := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 53), big.NewInt(1)).String()
	for _, c := range []struct {
		s    string
		want float64
	}{{half + "." + strings.Repeat("0", 5000), 1 << 53}, {half + "." + strings.Repeat("0", 5000) + "1", 1<<53 + 2}, {"0." + strings.Repeat("0", 20000) + "15e20001", 1.5},
		{"1" + strings.Repeat("0", 20000) + "e-20000", 1}, {"1e" + strings.Repeat("0", 5000) + "3", 1000}, {"1e-" + strings.Repeat("9", 5000), 0}} {
		if got, ok := ParseFloat(c.s); got != c.want || !ok {
			t.Errorf("%.20s...: %v, %v, want %v", c.s, got, ok, c.want)
		}
	}
}
