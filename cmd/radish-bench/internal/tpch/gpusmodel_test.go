package tpch

import (
	"math"
	"testing"
)

// TestSharedModel compares the model with times that are worked out by hand.
func TestSharedModel(t *testing.T) {
	const explain = `{"pipelines": [
		{"pipeline": 0, "places": {"rows": "replicated"}, "actual": {"kernel_ms": 1, "devices": [{"kernel_ms": 1}, {"kernel_ms": 1}]}},
		{"pipeline": 1, "places": {"rows": "sliced"}, "actual": {"kernel_ms": 7, "fill_ms": 1, "uploaded": 110e6,
			"devices": [{"bytes_in": 387e6}, {"bytes_in": 387e6}], "exchange": {"exchange": "repartition"}}},
		{"pipeline": 2, "places": {"rows": "partitioned"}, "actual": {"kernel_ms": 4,
			"devices": [{"bytes_in": 774e6}, {"bytes_in": 0}], "exchange": {"exchange": "gather"}}},
		{"pipeline": 3, "places": {"rows": "single"}, "actual": {"kernel_ms": 2, "devices": [{}]}}]}`
	r, err := parseSharedRun(explain)
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	// On two: 1 + 8 + 4 + 2 of kernels, 1 for the upload over two links, 1 for 387 MB into each, 2 for 774 MB into the first; and 1 for the rest.
	r.wall = 20e-3
	for n, want := range map[int]float64{
		// On one nothing moves: the kernels take 1 + 16 + 8 + 2, the upload 2.
		1: 30e-3,
		2: 20e-3,
		// 1 + 4 + 2 + 2, the upload 110 MB / 205 GB/s; each of four owns half as much and gets three quarters of that instead of a half, so 0.75; three others send 774 MB each.
		4: 9e-3 + 110e6/205e9 + 0.75e-3 + 6e-3 + 1e-3,
	} {
		if got := r.at(n); math.Abs(got-want) > 1e-9 {
			t.Errorf("on %d: %.6f s, want %.6f", n, got, want)
		}
	}
	// Each of four gets three quarters of a broadcast's rows, instead of a half.
	b := sharedStep{exchange: "broadcast", bytes: 2 * 387e6}
	if got := b.at(4, 2); math.Abs(got-1.5e-3) > 1e-9 {
		t.Errorf("a broadcast to four: %.6f s, want 0.0015", got)
	}
	if r, err := parseSharedRun(`{"pipelines": [{"pipeline": 0, "actual": {"kernel_ms": 1}}]}`); r != nil || err != nil {
		t.Errorf("a query on one GPU: %v, %v", r, err)
	}
}
