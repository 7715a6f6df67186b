package types

import (
	"math"
	"strconv"
	"strings"
)

// Doubles that MySQL does not have: NaN and the infinities come from files, Arrow and arguments. Every part of the engine
// orders doubles as this file does, which is PostgreSQL's and DuckDB's order:
//
//	-Infinity < finite numbers, -0 = 0 < Infinity < NaN = NaN, whatever the bits of the NaNs
//
// The device code states the same in gpukernels/device/float.cuh. docs/reference/types.md has the whole table of meanings.

// canonicalNaN are the bits that stand for every NaN.
const canonicalNaN = 0x7FF8000000000000

// CompareFloats returns -1, 0 or 1 as a is less than, equal to or greater than b.
func CompareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a:
		return -1
	case b == b:
		return 1
	}
	return 0
}

// EqualFloats says whether a and b are equal.
func EqualFloats(a, b float64) bool { return a == b || a != a && b != b }

// LessFloats says whether a is less than b.
func LessFloats(a, b float64) bool { return a < b || a == a && b != b }

// CanonicalFloat returns the one of all doubles equal to f that stands for them: 0 for -0, one NaN for all.
func CanonicalFloat(f float64) float64 { return math.Float64frombits(FloatKey(f)) }

// FloatKey returns the bits of CanonicalFloat: two doubles have the same key if and only if they are equal.
func FloatKey(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if f != f {
		return canonicalNaN
	}
	return math.Float64bits(f)
}

// FloatWord maps doubles to words whose unsigned order is that of the doubles. Equal doubles have one word.
func FloatWord(f float64) uint64 {
	x := FloatKey(f)
	return x ^ (uint64(int64(x)>>63) | 1<<63)
}

// FloatOfWord returns the canonical double of a word that FloatWord gives.
func FloatOfWord(word uint64) float64 {
	return math.Float64frombits(word ^ (^uint64(int64(word)>>63) | 1<<63))
}

// IsFinite says whether f is neither NaN nor infinite.
func IsFinite(f float64) bool { return f-f == 0 }

// ParseSpecialFloat reads the words for NaN and the infinities as others write them: NaN, Infinity and Inf in any case, after a
// sign or none, among spaces. A column of doubles and a CAST that someone wrote take them; elsewhere they are strings that
// begin with no number, as in MySQL.
func ParseSpecialFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	word := strings.TrimLeft(s, "+-")
	if len(s)-len(word) > 1 {
		return 0, false
	}
	switch len(word) {
	case len("NaN"), len("Infinity"):
	default:
		return 0, false
	}
	if !strings.EqualFold(word, "nan") && !strings.EqualFold(word, "inf") && !strings.EqualFold(word, "infinity") {
		return 0, false
	}
	f, err := strconv.ParseFloat(word, 64)
	if s[0] == '-' {
		f = -f
	}
	return f, err == nil
}

// specialText is the text of a double that has no digits.
func specialText(f float64) string {
	switch {
	case f != f:
		return "NaN"
	case f < 0:
		return "-Infinity"
	}
	return "Infinity"
}
