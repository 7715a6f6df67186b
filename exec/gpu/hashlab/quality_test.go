package hashlab

import (
	"math"
	"testing"
)

// TestQualityOfKnownHashes judges hashes whose figures can be worked out by hand.
func TestQualityOfKnownHashes(t *testing.T) {
	const count = 1 << 16
	even, same := make([]uint64, count), make([]uint64, count)
	for i := range even {
		even[i], same[i] = uint64(i)<<16, 7
	}
	q := judge(even, 32, count) // in the upper 16 bits only
	if q.Collisions != 0 || math.Abs(q.Gap-1.0/count) > 1e-9 || q.Expected != 0.5 {
		t.Errorf("hashes at equal distances: %+v", q)
	}
	// Bits 5 to 11 are 0, so that one partition of 128 has all rows. In two passes there are bits 16 to 18, which make 8 of 16,384.
	if q.Pass != 128 || q.Passes != 2048 || q.Search < 16000 {
		t.Errorf("hashes that end in 16 zeros: %+v", q.Loads)
	}
	q = judge(same, 32, count)
	if q.Collisions != count-1 || q.Pass != 128 || q.Passes != 16384 || q.Search != (count+1)/2.0 {
		t.Errorf("one hash for all: %+v", q)
	}
	dense := make([]uint64, count)
	for i := range dense {
		dense[i] = uint64(i)
	}
	if l := loadsOf(dense); l.Pass != 1 || l.Search != 1 {
		t.Errorf("dense hashes: %+v", l)
	}
}

// TestQualityOfRandomHashes judges random hashes: with half as many keys as slots, a search compares with 1.25.
func TestQualityOfRandomHashes(t *testing.T) {
	const count = 1 << 18
	for _, width := range []int{32, 64} {
		q := Ideal(count, width)
		if off := math.Abs(float64(q.Collisions) - q.Expected); off > 4*math.Sqrt(q.Expected)+1 {
			t.Errorf("%d collisions in %d bits, expected %.1f", q.Collisions, width, q.Expected)
		}
		if q.Gap > 2/math.Sqrt(count) || q.Pass < 1.01 || q.Pass > 1.15 || q.Passes > 4 || math.Abs(q.Search-1.25) > 0.02 {
			t.Errorf("%d bits: %+v", width, q)
		}
	}
}

// TestAvalanche wants half of the hash to change in good functions, and what can be worked out in bad ones.
func TestAvalanche(t *testing.T) {
	const count = 2000
	for _, name := range []string{"mix", "xxh64", "gpu_string"} {
		if a := AvalancheOf(Find(name).Program(8, 64), count); math.Abs(a.Mean-0.5) > 0.01 || math.Abs(a.Worst-0.5) > 0.08 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := AvalancheOf(Find("xor").Program(8, 32), count); a.Mean != 1.0/32 || a.Worst != 0 && a.Worst != 1 {
		t.Errorf("exclusive or, of which each bit changes one: %+v", a)
	}
}

// TestNeighbours compares with distances that can be worked out: 1 for the sum, a third of the range for good functions.
func TestNeighbours(t *testing.T) {
	if d := Neighbours(Find("add").Program(8, 32), 1000); d != 1/math.Exp2(32) {
		t.Errorf("neighbours of the sum are %g apart", d)
	}
	if d := Neighbours(Find("murmur3").Program(8, 32), 10_000); math.Abs(d-1.0/3) > 0.02 {
		t.Errorf("neighbours of murmur3 are %g apart", d)
	}
}

// TestFindings has the findings that docs/internals/hashing.md draws conclusions from.
func TestFindings(t *testing.T) {
	const count = 1 << 18
	measure := func(function string, width int, set int) Quality {
		k := Sets(count)[set]
		q, err := Measure(t.Context(), Find(function).Program(k.Bytes, width), k)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	for set, k := range Sets(count) {
		for _, f := range radish() {
			if f.Name == "spread_word" || f.Name == "cpu_int" || f.Name == "cpu_columns" || !f.Takes(k.Bytes, f.Widths[0]) {
				continue // for the CPU's, the upper bits count
			}
			q := measure(f.Name, f.Widths[0], set)
			if q.Collisions != 0 || q.Pass > 1.15 || q.Passes > 4 || q.Search > 1.27 {
				t.Errorf("%s, %s: %+v", f.Name, k.Name, q)
			}
		}
	}
	const steps, doubles = 1, 5
	if q := measure("fnv1a", 32, doubles); q.Search > 1.5 {
		t.Errorf("FNV-1a of doubles: %+v", q)
	}
	if q := measure("xor_hw", 64, doubles); q.Search < 10 {
		t.Errorf("the rotated exclusive or spreads doubles well: %+v", q)
	}
	if q := measure("add", 32, steps); q.Pass < 100 {
		t.Errorf("the sum spreads numbers that end in zeros: %+v", q)
	}
	k := Normal(1, 100_000)
	shares, err := Shares(t.Context(), Find("add").Program(4, 32), k, 64)
	if err != nil {
		t.Fatal(err)
	}
	if shares[0] != 0 || shares[64] != 1 || math.Abs(shares[32]-0.5) > 0.01 || shares[16] > 0.01 {
		t.Errorf("the sum of one chunk is not distributed as the chunk is: %v", shares)
	}
}
