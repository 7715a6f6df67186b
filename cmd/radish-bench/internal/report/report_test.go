package report

import (
	"math"
	"testing"
	"time"
)

func TestFigures(t *testing.T) {
	const ms = time.Millisecond
	if m := Median([]time.Duration{9 * ms, 1 * ms, 2 * ms}); m != 2*ms {
		t.Errorf("median of three: %v", m)
	}
	if m := Median([]time.Duration{9 * ms, 1 * ms, 2 * ms, 4 * ms}); m != 3*ms {
		t.Errorf("median of four: %v", m)
	}
	if m := Median(nil); m != 0 {
		t.Errorf("median of none: %v", m)
	}
	if g := GeometricMean([]float64{0.5, 2, 8}); math.Abs(g-2) > 1e-12 {
		t.Errorf("geometric mean: %v", g)
	}
}
