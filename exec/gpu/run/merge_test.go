package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// forceSorted has all joins sorted and merged that can be.
func forceSorted(t *kernel.Tuning) { t.Merge.Forced = true }

// isSorted says whether a plan has a join whose sides are sorted.
func isSorted(b *backend, plan *physical.Plan) bool {
	for _, p := range plan.Pipelines {
		if k := b.program(plan).Kernels[p]; k != nil {
			for _, sub := range k.Then {
				if strings.Contains(sub.CUDA, "merge_splits(") {
					return true
				}
			}
		}
	}
	return false
}

// TestSortedJoins runs the cases of joins with both sides sorted, of all kinds that can be: with capacity for all rows, and for some at first.
func TestSortedJoins(t *testing.T) { gputest.Each(t, testSortedJoins) }

func testSortedJoins(t *testing.T, d *gpukernels.Device) {
	for n, x := range []struct {
		name     string
		capacity int64
		sizes    []int
	}{{"capacity for all", 0, []int{1, 1500}}, {"too little capacity", 8, []int{600}}} {
		t.Run(x.name, func(t *testing.T) {
			b := newBackend(t, d)
			forceSorted(&b.runner.tuning)
			b.runner.tuning.Merge.Capacity = x.capacity
			sorted := map[string]bool{}
			all := 0
			var plans []enginePlan
			for i, c := range enginetest.Cases() {
				if !strings.HasPrefix(c.Name, "join ") || leftOut(d, i+n) {
					continue
				}
				all++
				for _, size := range x.sizes {
					for seed := range uint64(2) {
						if plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 7)), size)); isSorted(b, plan) {
							sorted[c.Name] = true
							plans = append(plans, enginePlan{enginetest.Case{Name: fmt.Sprintf("%s of %d rows", c.Name, size)}, c.Name, plan, seed})
						}
					}
				}
			}
			_, release := b.compileAhead(plans)
			defer release()
			b.checkInTime(t, plans)
			kinds := map[string]int{}
			for name := range sorted {
				kinds[name[:len("join 0")]]++
			}
			t.Logf("%d cases of %d were sorted, by kind: %v", len(sorted), all, kinds)
			if !testing.Short() && len(kinds) < 5 {
				t.Errorf("some kinds of joins were not sorted: %v", kinds)
			}
		})
	}
}

// TestSortedCompiles compiles the kernels of joins with sorted sides with NVRTC.
func TestSortedCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	b := newBackend(t, gputest.Emulated(t))
	forceSorted(&b.runner.tuning)
	seed := int(gputest.Seed(t) % 4)
	compileAll(t, b, func(add func(*physical.Plan)) {
		for i, c := range enginetest.Cases() {
			if !strings.HasPrefix(c.Name, "join ") || (i+seed)%4 != 0 && os.Getenv(allSizes) == "" {
				continue
			}
			if plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 600)); isSorted(b, plan) {
				add(plan)
			}
		}
		for i := range joinGroups {
			add(groupedJoin(i, 0))
			add(groupedJoin(i, 2))
		}
		for _, kind := range sortedKinds {
			add(keyedJoin(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 500), kind, 500, 50, 500, 50, 2))
		}
	})
}

// TestSortedGroups groups the rows of joins whose sides are sorted, as TestRadixGroups does.
func TestSortedGroups(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) { testJoinGroups(t, d, forceSorted, isSorted) })
}

// sortedKinds are the kinds of joins that can be sorted.
var sortedKinds = []logical.JoinKind{logical.InnerJoin, logical.LeftJoin, logical.SemiJoin, logical.AntiJoin, logical.SingleJoin}

// keyedJoin is a join of two tables by a column of either, whose sums tell rows apart: as an aggregate, so that many rows are quick to compare.
func keyedJoin(g *enginetest.Gen, kind logical.JoinKind, builds, buildKeys, probes, probeKeys, key int) *physical.Plan {
	build, of := g.Scan(g.Table(builds, buildKeys))
	probe, cols := g.Scan(g.Table(probes, probeKeys))
	x := &physical.Build{Algorithm: physical.HashJoin, Keys: []expr.Expr{of[key]}, Payload: []*expr.Column{of[6], of[8], of[11]}, EstRows: float64(builds)}
	p := &physical.Probe{Kind: kind, Build: x, Keys: []expr.Expr{cols[key]}, Keep: []expr.ColumnID{cols[8].ID, cols[11].ID}}
	aggs := []logical.AggItem{g.Agg("count(*)", false), g.Agg("sum", false, cols[11]), g.Agg("min", false, cols[8])}
	if kind == logical.SemiJoin || kind == logical.AntiJoin {
		x.Payload = nil
	} else {
		for _, c := range x.Payload {
			c.Null = c.Null || kind != logical.InnerJoin
		}
		p.Keep = append(p.Keep, of[6].ID, of[8].ID, of[11].ID)
		aggs = append(aggs, g.Agg("sum", false, of[11]), g.Agg("count", false, of[6]), g.Agg("max", false, of[8]))
	}
	a := &physical.Aggregate{Algorithm: physical.ScalarAggregate, EstGroups: 1}
	var out []*expr.Column
	for _, item := range aggs {
		a.Aggs, out = append(a.Aggs, item), append(out, item.Col)
	}
	g.Pipe(build, x)
	g.Pipe(probe, a, p)
	return g.Result(g.Read(a, out), out)
}

// TestSortedRuns joins tables whose keys have runs longer than a tile on either side or on both, and empty ones. Keys are 32 bits wide and 64, and may be NULL.
func TestSortedRuns(t *testing.T) { gputest.Each(t, testSortedRuns) }

func testSortedRuns(t *testing.T, d *gpukernels.Device) {
	for _, x := range []struct {
		name        string
		pairs, list int64
	}{{"as chosen", 0, 0}, {"in pieces", 100, 1 << 18}, {"in too many pieces", 7, 13}} {
		t.Run(x.name, func(t *testing.T) { testSortedPieces(t, d, x.pairs, x.list) })
	}
}

// testSortedPieces has pieces of so many pairs, and a list of so many pieces; 0: as many as usual.
func testSortedPieces(t *testing.T, d *gpukernels.Device, pairs, list int64) {
	b := newBackend(t, d)
	forceSorted(&b.runner.tuning)
	if pairs > 0 {
		b.runner.tuning.Merge.Pairs, b.runner.tuning.Merge.List = pairs, list
	}
	for i, x := range []struct{ builds, buildKeys, probes, probeKeys int }{
		{9000, 1, 70, 1}, {70, 1, 9000, 1}, {9000, 2, 200, 3}, {300, 100, 9000, 100}, {9000, 3000, 9000, 3000}, {6000, 20, 600, 40}, {0, 1, 500, 50}, {500, 50, 0, 1}, {0, 1, 0, 1}, {1, 1, 1, 1}, {20_000, 1, 3, 1},
	} {
		for n, kind := range sortedKinds {
			if kind == logical.SingleJoin || leftOut(d, i+n) { // rows with several matches are an error
				continue
			}
			for _, key := range []int{0, 2, 11} {
				if pairs > 0 && (key == 11 || n > 1) { // what has no pieces is run as chosen
					continue
				}
				g := enginetest.NewGen(rand.New(rand.NewPCG(uint64(i), 7)), 500)
				plan := keyedJoin(g, kind, x.builds, x.buildKeys, x.probes, x.probeKeys, key)
				if !isSorted(b, plan) {
					t.Fatalf("%v, kind %d, key %d: the sides are not sorted", x, kind, key)
				}
				enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("%v, kind %d, key %d", x, kind, key)}, plan, 1)
			}
		}
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}

// TestSortedOutOfMemory lets each allocation of a join with sorted sides fail in turn, one of which has too little capacity at first: that is a lack of memory, after which the join runs again.
func TestSortedOutOfMemory(t *testing.T) { gputest.Each(t, testSortedOutOfMemory) }

func testSortedOutOfMemory(t *testing.T, d *gpukernels.Device) {
	b := &failing{backend: newBackend(t, d)}
	forceSorted(&b.runner.tuning)
	b.runner.tuning.Merge.Capacity = 100
	plan := keyedJoin(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 500), logical.LeftJoin, 300, 50, 400, 60, 0)
	if !isSorted(b.backend, plan) {
		t.Fatal("the sides are not sorted")
	}
	for b.allocation = 1; b.allocation <= 30; b.allocation++ {
		enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprint("allocation ", b.allocation, " fails")}, plan, 1)
	}
	t.Logf("%d allocations that failed were errors", b.errors)
	if b.errors == 0 {
		t.Error("no allocation failed")
	}
}

// TestSortedCancelled cancels a join by one key of so many rows that its pairs would take minutes.
func TestSortedCancelled(t *testing.T) { gputest.Each(t, testSortedCancelled) }

func testSortedCancelled(t *testing.T, d *gpukernels.Device) {
	rows := 60_000
	if !d.Info().Emulated() {
		rows = 2_000_000
	}
	b := newBackend(t, d)
	forceSorted(&b.runner.tuning)
	plan := keyedJoin(enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 500), logical.InnerJoin, rows, 1, rows, 1, 0)
	ctx, cancel := context.WithCancel(t.Context())
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
	if _, err := q.RunPipeline(ctx, plan.Pipelines[0], true); err != nil {
		t.Fatal(err)
	}
	var cancelled time.Time
	time.AfterFunc(300*time.Millisecond, func() {
		cancelled = time.Now()
		cancel()
	})
	_, err = q.RunPipeline(ctx, plan.Pipelines[1], true)
	q.cancel.Unwatch() // waits for the kernel
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want that it is cancelled", err)
	}
	late := time.Since(cancelled)
	t.Logf("the kernel ended %v after it was cancelled", late)
	if late > 4*time.Second { // of a busy machine
		t.Errorf("cancelled after %v", late)
	}
}
