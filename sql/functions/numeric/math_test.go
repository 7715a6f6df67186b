package numeric

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

// TestPowersOfTen compares powers of ten and their logarithms with numbers that are read from their digits: POW, ROUND and TRUNCATE compute with the former.
func TestPowersOfTen(t *testing.T) {
	for k := -400; k <= 400; k++ {
		want, err := strconv.ParseFloat(fmt.Sprint("1e", k), 64)
		if k <= 308 && err != nil {
			t.Fatal(err)
		}
		if got := pow(10, float64(k)); got != want {
			t.Errorf("10 to the power %d is %v", k, got)
		}
		if got := log10(want); k >= -323 && k <= 308 && got != float64(k) {
			t.Errorf("the logarithm of %v is %v", want, got)
		}
		if got := roundFloat(want*1.6, int64(-k), pow(10, float64(k)), true); k > 0 && k < 308 && got != want {
			t.Errorf("%v is cut to %v", want*1.6, got)
		}
	}
	for x, want := range map[float64]float64{2: 0.3010299956639812, 999.9999: 2.9999999565705496, 1000.0001: 3.000000043429446, 3e-310: math.Log10(3) - 310, 0: math.Inf(-1)} {
		if got := log10(x); math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Errorf("the logarithm of %v is %v, want %v", x, got, want)
		}
	}
}

// TestLogarithms compares natural logarithms of the least doubles with multiples of that of 2.
func TestLogarithms(t *testing.T) {
	for k := -1074; k <= 1023; k++ {
		if got, want := ln(math.Ldexp(1, k)), float64(k)*math.Ln2; math.Abs(got-want) > 3e-16*math.Abs(want) {
			t.Errorf("the logarithm of 2 to the power %d is %v, want %v", k, got, want)
		}
	}
}
