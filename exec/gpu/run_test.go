package gpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
)

// somePlans are cases that together have every kind of sink.
func somePlans(t *testing.T) map[string]*physical.Plan {
	t.Helper()
	plans := map[string]*physical.Plan{}
	for _, c := range enginetest.Cases() {
		switch c.Name {
		case "join 2 text", "join 0 integer dense", "aggregate counts and sums by mixed (5)", "aggregate extremes by dense words (5)", "sort text and more limit 10", "union of three into one", "values":
			plans[c.Name] = c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(3, 7)), 100))
		}
	}
	if len(plans) != 7 {
		t.Fatalf("%d plans, want 7", len(plans))
	}
	return plans
}

// TestCancelled runs queries whose context has ended.
func TestCancelled(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		b := newBackend(t, d)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for name, plan := range somePlans(t) {
			if _, err := b.onDevice(ctx, plan); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v, want that it is cancelled", name, err)
			}
		}
	})
}
