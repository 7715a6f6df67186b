package cpu_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// lateLimit is how long a cancelled plan may go on here: 100 ms are promised, but the machine may be busy. Nested loops take far longer when nobody cancels them.
const lateLimit = 10 * time.Second

// crossPlan pairs a table of n rows with itself.
func crossPlan(n int, ts ...physical.Transform) *physical.Plan {
	g := enginetest.NewGen(rand.New(rand.NewPCG(1, 2)), n)
	t := g.Table(n, n)
	bs, bc := g.Scan(t)
	ps, pc := g.Scan(t)
	b := &physical.Build{Algorithm: physical.NestedLoopJoin, Payload: bc[:1]}
	g.Pipe(bs, b)
	probe := &physical.Probe{Kind: logical.InnerJoin, Build: b}
	return g.Result(ps, []*expr.Column{pc[0], bc[0]}, append([]physical.Transform{probe}, ts...)...)
}

// noGoroutines fails unless the goroutines that a test started end.
func noGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 1000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
	})
}

func TestCancelEndsNestedLoop(t *testing.T) {
	noGoroutines(t)
	never := &physical.Filter{Preds: []expr.Expr{expr.False}}
	for _, threads := range []int{1, 2} {
		ctx, cancel := context.WithCancel(context.Background())
		c, err := start(ctx, crossPlan(200000, never), schedule.Config{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(30*time.Millisecond, cancel)
		begin := time.Now()
		_, err = c.Next(context.Background())
		if !errors.Is(err, sqlerr.Cancelled) {
			t.Fatalf("%d threads: error %v", threads, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d > lateLimit {
			t.Errorf("%d threads: cancelled after %v", threads, d)
		}
	}
}

func TestCancelBeforeTheResult(t *testing.T) {
	noGoroutines(t)
	g := enginetest.NewGen(rand.New(rand.NewPCG(1, 2)), 100000)
	v := g.Table(100000, 100000)
	bs, _ := g.Scan(v)
	ps, pc := g.Scan(v)
	b := &physical.Build{Algorithm: physical.NestedLoopJoin}
	count := logical.AggItem{Col: g.Alloc.New("", "n", types.Int64, false), Fn: expr.LookupAggregate("count(*)")}
	agg := &physical.Aggregate{Algorithm: physical.ScalarAggregate, Aggs: []logical.AggItem{count}}
	g.Pipe(bs, b)
	g.Pipe(ps, agg, &physical.Probe{Kind: logical.InnerJoin, Build: b}, &physical.Filter{Preds: []expr.Expr{&expr.IsNull{Arg: pc[0]}}})
	out := []*expr.Column{count.Col}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := start(ctx, g.Result(g.Read(agg, out), out), schedule.Config{Threads: 2})
	if !errors.Is(err, sqlerr.Cancelled) {
		t.Fatalf("error %v", err)
	}
	if d := time.Since(begin); d > lateLimit {
		t.Errorf("cancelled after %v", d)
	}
}

func TestCloseEarlyAndSlowClient(t *testing.T) {
	noGoroutines(t)
	for _, threads := range []int{1, 3} {
		budget := memory.NewBudget(1 << 28)
		c, err := start(context.Background(), crossPlan(20000), schedule.Config{Threads: threads, Memory: budget})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if b, err := c.Next(context.Background()); err != nil || b == nil || b.N == 0 {
				t.Fatalf("batch %v, error %v", b, err)
			}
		}
		time.Sleep(50 * time.Millisecond) // the workers run into the full queue
		if used := budget.Used(); used > 1<<26 {
			t.Errorf("%d bytes wait for a slow client", used)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if b, err := c.Next(context.Background()); b != nil {
			t.Fatalf("a closed cursor gives %v, %v", b, err)
		}
		if budget.Used() != 0 {
			t.Errorf("%d bytes in use after Close", budget.Used())
		}
	}
}

func TestNextHonoursItsContext(t *testing.T) {
	noGoroutines(t)
	never := &physical.Filter{Preds: []expr.Expr{expr.False}}
	c, err := start(context.Background(), crossPlan(200000, never), schedule.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Next(ctx); !errors.Is(err, sqlerr.Cancelled) {
		t.Fatalf("error %v", err)
	}
}

func TestMemoryErrorNamesOperator(t *testing.T) {
	g := enginetest.NewGen(rand.New(rand.NewPCG(3, 4)), 50000)
	v := g.Table(50000, 50000)
	cases := map[string]func(g *enginetest.Gen) *physical.Plan{
		"join build": func(g *enginetest.Gen) *physical.Plan {
			bs, bc := g.Scan(v)
			ps, pc := g.Scan(v)
			b := &physical.Build{Keys: []expr.Expr{bc[7]}, Payload: bc}
			g.Pipe(bs, b)
			return g.Result(ps, pc[:1], &physical.Probe{Kind: logical.InnerJoin, Build: b, Keys: []expr.Expr{pc[7]}})
		},
		"aggregation": func(g *enginetest.Gen) *physical.Plan {
			s, c := g.Scan(v)
			a := &physical.Aggregate{Groups: []logical.Item{{Col: c[7], Expr: c[7]}, {Col: c[11], Expr: c[11]}}}
			g.Pipe(s, a)
			return g.Result(g.Read(a, c[7:8]), c[7:8])
		},
		"sort": func(g *enginetest.Gen) *physical.Plan {
			s, c := g.Scan(v)
			x := &physical.Sort{Keys: []logical.SortKey{{Expr: c[7]}}, Cols: c, Count: -1}
			g.Pipe(s, x)
			return g.Result(g.Read(x, c), c)
		},
		"window functions": func(g *enginetest.Gen) *physical.Plan {
			s, c := g.Scan(v)
			x, out := windowOver(g, c)
			g.Pipe(s, x)
			return g.Result(g.Read(x, out), out)
		},
	}
	for name, plan := range cases {
		budget := memory.NewBudget(1 << 19)
		_, err := start(context.Background(), plan(enginetest.NewGen(rand.New(rand.NewPCG(5, 6)), 0)), schedule.Config{Threads: 2, Memory: budget})
		if !errors.Is(err, sqlerr.Resource) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "524288 bytes") {
			t.Errorf("%s: error %v", name, err)
		}
		if budget.Used() != 0 {
			t.Errorf("%s: %d bytes in use afterwards", name, budget.Used())
		}
	}
}

// windowOver sums and ranks the rows of a scan in one partition.
func windowOver(g *enginetest.Gen, c []*expr.Column) (*physical.Window, []*expr.Column) {
	x := &physical.Window{Order: []logical.SortKey{{Expr: c[7]}, {Expr: c[11]}}, Cols: c}
	for _, name := range []string{"sum", "min"} {
		col := g.Alloc.New("", name, types.Double, true)
		x.Items = append(x.Items, logical.WindowItem{Col: col, Fn: expr.LookupWindow(name), Args: []expr.Expr{c[5]},
			Frame: logical.Frame{Unit: logical.FrameRows, End: logical.FrameBound{Kind: logical.Following, Offset: 1000}}})
		c = append(c[:len(c):len(c)], col)
	}
	return x, c
}

// A window over many rows ends soon after its context, wherever it is, and then holds nothing.
func TestCancelEndsWindow(t *testing.T) {
	noGoroutines(t)
	g := enginetest.NewGen(rand.New(rand.NewPCG(7, 8)), 300000)
	v := g.Table(300000, 300000)
	for round := range 8 {
		g := enginetest.NewGen(rand.New(rand.NewPCG(5, 6)), 0)
		s, c := g.Scan(v)
		x, out := windowOver(g, c)
		g.Pipe(s, x)
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+20*round)*time.Millisecond)
		budget := memory.NewBudget(1 << 32)
		cur, err := start(ctx, g.Result(g.Read(x, out), out), schedule.Config{Threads: 2, Memory: budget})
		if deadline, _ := ctx.Deadline(); time.Since(deadline) > lateLimit {
			t.Errorf("cancelled %v late", time.Since(deadline))
		}
		cancel()
		if err == nil {
			cur.Close()
		} else if !errors.Is(err, sqlerr.Cancelled) {
			t.Fatalf("error %v", err)
		}
		if budget.Used() != 0 {
			t.Errorf("%d bytes in use afterwards", budget.Used())
		}
	}
}

// A bug of ours must not take the program down: the error says so and holds the stack.
func TestPanicBecomesInternalError(t *testing.T) {
	noGoroutines(t)
	g := enginetest.NewGen(rand.New(rand.NewPCG(1, 2)), 100000)
	s, c := g.Scan(g.Table(100000, 10))
	s.Ordinals[0] = 99
	_, err := start(context.Background(), g.Result(s, c), schedule.Config{Threads: 3})
	if err == nil {
		cur, _ := start(context.Background(), g.Result(s, c), schedule.Config{Threads: 3})
		_, err = cur.Next(context.Background())
		cur.Close()
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Kind != sqlerr.Internal || errors.Unwrap(e) == nil || !strings.Contains(errors.Unwrap(e).Error(), "scan/table.go") {
		t.Fatalf("error %v", err)
	}
}

// Two runs at one thread count give the same rows in the same order, doubles to the last bit.
func TestSameOrderTwice(t *testing.T) {
	chosen := 0
	for _, c := range enginetest.Cases() {
		if !strings.HasSuffix(c.Name, "by wide (0)") && !strings.HasSuffix(c.Name, "by integer (0)") && !strings.HasSuffix(c.Name, "by word (5)") &&
			!strings.HasPrefix(c.Name, "join 0 integer") && !strings.HasPrefix(c.Name, "window by nullable order by nothing") && c.Name != "scan word" {
			continue
		}
		if chosen++; testing.Short() && chosen%3 != 0 {
			continue
		}
		g := enginetest.NewGen(rand.New(rand.NewPCG(9, 9)), 20000)
		plan := c.Plan(g)
		var first []string
		for round := range 3 {
			batches, err := backend{threads: 3, t: t, small: true}.Run(context.Background(), plan)
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for _, b := range batches {
				for i := range b.N {
					s := ""
					for _, v := range b.Cols {
						s += valueText(v, i) + "|"
					}
					rows = append(rows, s)
				}
			}
			if round == 0 {
				first = rows
				continue
			}
			for i := range rows {
				if i >= len(first) || rows[i] != first[i] {
					t.Fatalf("%s: row %d is %s in run %d, %s in the first", c.Name, i, rows[i], round, first[i])
				}
			}
		}
	}
}

// Aggregates of doubles without groups do not depend on the number of threads, nor on which of them is slow.
func TestTotalsAtAnyNumberOfThreads(t *testing.T) {
	lists := []string{"aggregate counts and sums by scalar (0)", "aggregate statistics and bits by scalar (0)", "aggregate extremes by scalar (0)"}
	tried := 0
	for _, c := range enginetest.Cases() {
		if !slices.Contains(lists, c.Name) {
			continue
		}
		tried++
		plan := c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(9, 9)), 20000))
		var first string
		for _, threads := range []int{1, 2, 3, 8} {
			batches, err := backend{threads: threads, t: t, small: true}.Run(context.Background(), plan)
			if err != nil {
				t.Fatal(err)
			}
			s := ""
			for _, v := range batches[0].Cols {
				s += valueText(v, 0) + "|"
			}
			if first == "" {
				first = s
			}
			if s != first {
				t.Errorf("%s: %s with %d threads, %s with one", c.Name, s, threads, first)
			}
		}
	}
	if tried != len(lists) {
		t.Errorf("%d of %d cases were found", tried, len(lists))
	}
}

func valueText(v *column.Vector, i int) string {
	x := v.Value(i)
	if x.Null {
		return "NULL"
	}
	return x.Text()
}
