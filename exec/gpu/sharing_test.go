package gpu

import (
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/gpu/placement"
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
	d := &Device{advisor: placement.New(placement.Options{})}
	d.advisor.SetCosts(costs)
	for _, x := range []struct {
		alone time.Duration
		pays  bool
		why   string
	}{
		{0, false, "it scans 60175 rows, and runs on one GPU have not shown yet what it takes"},
		{700 * time.Microsecond, false, "sharing it would save too little: expected to take 0.70 ms on one GPU and "},
		{5 * time.Millisecond, true, "expected to take 5.00 ms on one GPU and "},
	} {
		pays, why := d.pays(plan, shared, []*Device{d, {}}, &Sharing{Alone: func() time.Duration { return x.alone }})
		if pays != x.pays || !strings.HasPrefix(why, x.why) {
			t.Errorf("%s: %v, %s", x.alone, pays, why)
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
