package gpu

import (
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/storage/tabletest"
	"github.com/radish-sql/radish/storage/tpch"
)

// TestSharingPays: devices share a plan of few rows only if runs on one of them have shown that this saves enough.
func TestSharingPays(t *testing.T) {
	tables, err := tabletest.TPCH(0.01, 3000)
	if err != nil {
		t.Fatal(err)
	}
	q, err := plantest.Tables(tables).Bind(tpch.Queries(0.01)[0].SQL, plantest.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := physical.Lower(q, physical.Options{Estimator: stats.NewEstimator(), Device: physical.GPU})
	if err != nil {
		t.Fatal(err)
	}
	shared, reason := distribute.Plan(plan, 2, distribute.EverythingTuning())
	if shared == nil {
		t.Fatal(reason)
	}
	costs := cost.Default()
	costs.GPU[cost.Start] = 1e-9
	d := &Device{runner: &run.Runner{}, advisor: placement.New(placement.Options{})}
	d.advisor.SetMeasuredCosts(costs)
	for _, x := range []struct {
		took placement.Took
		pays bool
		why  string
	}{
		{placement.Took{}, false, "it scans 60175 rows, and runs on one GPU have not shown yet what it takes"},
		{placement.Took{One: 700 * time.Microsecond}, false, "sharing it would save too little: expected to take 0.70 ms on one GPU and "},
		{placement.Took{One: 5 * time.Millisecond}, true, "expected to take 5.00 ms on one GPU and "},
		{placement.Took{One: 5 * time.Millisecond, Several: 4900 * time.Microsecond}, false, "it took 5.00 ms on one GPU and 4.90 ms on all"},
		{placement.Took{One: 700 * time.Microsecond, Several: 600 * time.Microsecond}, true, "it took 0.70 ms on one GPU and 0.60 ms on all"},
	} {
		pays, why := d.pays(plan, shared, []*Device{d, {runner: &run.Runner{}}}, &SharingWish{Took: func() placement.Took { return x.took }})
		if pays != x.pays || !strings.HasPrefix(why, x.why) {
			t.Errorf("%v: %v, %s", x.took, pays, why)
		}
	}
	where := physical.OnCPU("-")
	s := &shares{Distributed: shared, pays: "it pays"}
	s.Explain(&where)
	text, err := physical.Text(shared.Plan, where, nil, nil)
	if err != nil || !strings.Contains(text, "several devices share the plan: it pays\n") {
		t.Errorf("%v\n%s", err, text)
	}
}
