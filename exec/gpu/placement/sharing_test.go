package placement

import (
	"math"
	"testing"
	"time"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/storage/tabletest"
	"github.com/radish-sql/radish/storage/tpch"
)

// measuredTwo are the queries of TPC-H at scale factor 100, in milliseconds, on one H200 and shared by two (docs/results/2026-11-28.md).
var measuredTwo = [][2]float64{
	{3.16, 1.65}, {1.88, 2.73}, {9.39, 5.75}, {1.91, 2.58}, {7.04, 4.46}, {1.02, 0.86}, {6.60, 4.29}, {6.43, 4.44}, {13.28, 7.99}, {15.16, 12.18}, {3.39, 3.76},
	{3.62, 2.22}, {18.24, 11.20}, {1.79, 1.97}, {2.94, 2.92}, {3.24, 3.30}, {4.11, 3.55}, {10.39, 8.35}, {3.36, 2.94}, {6.67, 6.63}, {9.72, 7.87}, {2.57, 3.58},
}

// TestSharingTPCH: of the queries of TPC-H at scale factor 100, two GPUs share those that gain by it. The tables are smaller, and prices that are the same for any number of rows as much lower. One GPU takes
// what was measured.
func TestSharingTPCH(t *testing.T) {
	const scale = 1000
	tables, err := tabletest.TPCH(100./scale, 3000)
	if err != nil {
		t.Fatal(err)
	}
	c := plantest.Tables(tables)
	u := distribute.DefaultTuning()
	u.MinRows, u.SliceRows, u.BroadcastRows, u.GatherGroups = u.MinRows/scale, u.SliceRows/scale, u.BroadcastRows/scale, u.GatherGroups/100
	u.Moves = func(physical.Sink) bool { return true }
	costs, prices := cost.Default(), cost.DefaultSharing()
	costs.GPU[cost.Start] /= scale
	prices.Meet /= scale
	two := map[int]bool{1: true, 9: true, 13: true} // which must be shared
	one := map[int]bool{2: true, 4: true, 22: true} // which must not
	off := 0.0
	for _, q := range tpch.Queries(100. / scale) {
		plan := gpuPlan(t, c, q.SQL)
		d, reason := distribute.Plan(plan, 2, u)
		if d == nil {
			t.Errorf("Q%d: %s", q.Number, reason)
			continue
		}
		s := (&pricing{&costs, &corrections{}, func(float64) int { return 1 }}).share(plan, d, prices)
		m := measuredTwo[q.Number-1]
		s.Scale(time.Duration(m[0] * 1e6 / scale))
		expected := s.Several.Seconds() * scale * 1e3
		off += math.Abs(math.Log(expected / m[1]))
		t.Logf("Q%d: %.2f ms on one; on two %.2f, expected %.2f; shared %v", q.Number, m[0], m[1], expected, s.Pays())
		switch {
		case s.Pays() && (one[q.Number] || m[1] > m[0]):
			t.Errorf("Q%d is shared, which takes %.2f ms and not %.2f", q.Number, m[1], m[0])
		case !s.Pays() && two[q.Number]:
			t.Errorf("Q%d is not shared, which takes %.2f ms and not %.2f", q.Number, m[0], m[1])
		case math.Abs(math.Log(expected/m[1])) > math.Log(1.6):
			t.Errorf("Q%d is expected to take %.2f ms on two, and takes %.2f", q.Number, expected, m[1])
		}
	}
	if off = math.Exp(off/22) - 1; off > 0.2 {
		t.Errorf("what two GPUs take is off by %.0f%% on average", off*100)
	}
}

func gpuPlan(t *testing.T, c plantest.Tables, sql string) *physical.Plan {
	t.Helper()
	ctx := plantest.Context()
	q, err := c.Bind(sql, ctx)
	if err != nil {
		t.Fatal(err)
	}
	if q, _, err = rules.Optimize(q, rules.Options{Context: ctx, Device: physical.GPU}); err != nil {
		t.Fatal(err)
	}
	plan, err := physical.Lower(q, physical.Options{Estimator: stats.NewEstimator(), Device: physical.GPU})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
