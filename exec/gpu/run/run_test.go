package run

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
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

// TestCancelledCopies cancels a query while it gives a row so many times that it would take a quarter of a minute: by a timer, and because its kernel is waited for
// for so long.
func TestCancelledCopies(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		b := newBackend(t, d)
		gen := enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 1)
		copies := gen.Alloc.New("", "copies", types.Int64, false)
		many := int64(1) << 32
		if !d.Info().Emulated() {
			many <<= 8
		}
		values := &physical.ValuesScan{Cols: []*expr.Column{copies}, Rows: [][]expr.Expr{{&expr.Const{Value: types.IntValue(many)}}}}
		plan := gen.Result(values, values.Cols, &physical.Repeat{Count: copies})
		ways := []bool{false, true}
		if d.Info().Emulated() {
			ways = ways[:1] // its kernels have ended when a wait begins
		}
		for _, byWait := range ways {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			q, err := newQuery(b.program(plan), b.runner, Options{}, false)
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			q.compile(ctx)
			if err := q.kernels.Err(); err != nil {
				t.Fatal(err)
			}
			var cancelled time.Time
			stop := func() {
				cancelled = time.Now()
				cancel()
			}
			if byWait {
				q.OnLongWait(50*time.Millisecond, stop)
			} else {
				time.AfterFunc(50*time.Millisecond, stop)
			}
			_, err = q.RunPipeline(ctx, plan.Pipelines[0], true)
			q.cancel.Unwatch() // waits for the kernel
			late := time.Since(cancelled)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want that it is cancelled", err)
			}
			t.Logf("the kernel ended %v after it was cancelled", late)
			if late > 4*time.Second { // of a busy machine: 1 ms if it is idle
				t.Errorf("cancelled after %v", late)
			}
		}
	})
}
