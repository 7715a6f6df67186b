package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/storage/tpch"
)

// BenchmarkGPUPlanning measures what comes before a hot query's first kernel: the queries of TPC-H are parsed, bound, planned and placed, which
// writes their kernels, but not run.
func BenchmarkGPUPlanning(b *testing.B) {
	e, err := New(database.Options{Threads: 2, Device: gpu.Never, GPULibrary: gputest.EmulatedLibrary(b).Path()})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	s := e.NewSession()
	for _, sql := range []string{"CALL tpch_generate(0.01)", "SET radish_device = 'gpu_strict'"} {
		stmts, err := s.Parse(sql)
		if err != nil {
			b.Fatal(err)
		}
		res, err := s.Execute(context.Background(), stmts[0], nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = res.Close()
	}
	queries := tpch.Queries(0.01)
	steps := []string{"parse", "bind", "optimize", "lower", "place"}
	run := func(b *testing.B, sql string, upTo int) {
		stmts, err := s.Parse(sql)
		if err != nil {
			b.Fatal(err)
		}
		st := &session.Statement{Statement: stmts[0], Session: s.Session, Context: context.Background()}
		defer st.End()
		var q *logical.Query
		var plan *physical.Plan
		for step := 1; step <= upTo && err == nil; step++ {
			switch steps[step] {
			case "bind":
				q, err = st.Binder().Query(st.Node)
			case "optimize":
				q, _, err = rules.Optimize(q, rules.Options{Context: st.Expressions(), Device: physical.GPU})
			case "lower":
				plan, err = physical.Lower(q, physical.Options{Estimator: stats.NewEstimator(), Device: physical.GPU})
			case "place":
				_, _, err = query.Place(st, plan, gpu.Strict, nil)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, q := range queries {
		switch q.Number {
		case 1, 2, 5, 11, 21:
			for upTo, step := range steps {
				b.Run(fmt.Sprintf("Q%d/to %s", q.Number, step), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						run(b, q.SQL, upTo)
					}
				})
			}
		}
	}
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, q := range queries {
				run(b, q.SQL, len(steps)-1)
			}
		}
	})
}

// TestGPUCalls bounds the calls of the device's library that hot queries make, and the times that they wait for the device: over little data it is these that
// take the time. On a GPU there are more calls, since a query asks again and again whether a kernel has ended.
func TestGPUCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles some 150 kernels")
	}
	e := gpuEngine(t, gputest.EmulatedLibrary(t))
	s := e.NewSession()
	mustRun(t, s, "CALL tpch_generate(0.01)")
	mustRun(t, s, "SET radish_device = 'gpu_strict'")
	d, err := e.GPU()
	if err != nil {
		t.Fatal(err)
	}
	all, waits, most := int64(0), 0, map[int]int64{1: 16, 6: 11}
	for _, q := range tpch.Queries(0.01) {
		values(t, s, q.SQL)
		before := d.Calls()
		d.Trace(func(call string, _ time.Time, _ time.Duration) {
			if strings.HasPrefix(call, "download") {
				waits++
			}
		})
		values(t, s, q.SQL)
		d.Trace(nil)
		calls := d.Calls() - before
		t.Logf("Q%d: %d calls", q.Number, calls)
		all += calls
		if bound, ok := most[q.Number]; ok && calls > bound {
			t.Errorf("Q%d makes %d calls, want at most %d", q.Number, calls, bound)
		}
	}
	if all > 570 {
		t.Errorf("the 22 queries make %d calls", all)
	}
	if waits > 34 {
		t.Errorf("the 22 queries wait %d times", waits)
	}
	t.Logf("%d calls and %d waits in all", all, waits)
}
