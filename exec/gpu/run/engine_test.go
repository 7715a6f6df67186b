package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/gpu/sizes"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	tables "github.com/radish-sql/radish/storage/table"
)

// backend runs plans on a device, and counts those that it cannot run.
type backend struct {
	t      *testing.T
	runner *Runner

	options Options // of the plan that runs
	hurried bool    // kernels are those of first runs
	words   int     // that a launch passes; 0: as many as it can

	runs    atomic.Int64 // every other one has arrays that do not share allocations
	mu      sync.Mutex
	ran     int
	refused map[string]int // by reason
	onHost  int            // ended with an error that the CPU has to word
	again   int            // had more rows somewhere than were remembered
}

// newBackend gives a test a backend, and has it log in the end what ran where.
func newBackend(t *testing.T, d *gpukernels.Device) *backend {
	t.Helper()
	runner, err := NewRunner(d)
	if err != nil {
		t.Fatal(err)
	}
	runner.Tune(rowByRow(0, 0)) // small tables are scanned as large ones are
	b := &backend{t: t, runner: runner, refused: map[string]int{}}
	t.Cleanup(func() {
		runner.Close()
		t.Logf("%d plans ran on the device, %d ended with an error for the CPU to word, %d had more rows than were remembered", b.ran, b.onHost, b.again)
		for _, why := range slices.Sorted(maps.Keys(b.refused)) {
			t.Logf("%d plans were refused: %s", b.refused[why], why)
		}
	})
	return b
}

func (b *backend) Name() string { return b.runner.Device.Info().Library }

func (b *backend) Run(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	return b.runOr(ctx, plan, plan)
}

// runOr runs a plan on the device, or what the CPU has to do instead.
func (b *backend) runOr(ctx context.Context, device, plan *physical.Plan) ([]*column.Batch, error) {
	out, err := b.onDevice(ctx, device)
	b.mu.Lock()
	defer b.mu.Unlock()
	var why *codegen.Unsupported
	switch {
	case errors.As(err, &why):
		b.refused[why.Reason]++
	case errors.Is(err, ErrOnHost):
		b.onHost++
	default:
		b.ran++
		return out, err
	}
	c, err := schedule.Start(ctx, plan, schedule.Config{Threads: 1, Expr: &expr.Context{}, Backends: []schedule.Backend{{Device: physical.CPU, Open: cpu.Open}}})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for out = nil; ; {
		x, err := c.Next(ctx)
		if err != nil || x == nil {
			return out, err
		}
		out = append(out, x)
	}
}

// program writes a plan's kernels.
func (b *backend) program(plan *physical.Plan) *program.Program {
	target := b.runner.ForKernels()
	if b.words > 0 {
		target.LaunchWords = b.words
	}
	g := program.New(plan, target, &expr.Context{}, lookup.New(1<<26), func(*physical.Pipeline) bool { return true })
	if !b.hurried {
		return g
	}
	pipelines := map[*physical.Pipeline]bool{}
	for p, k := range g.Kernels {
		if k.Shorter {
			pipelines[p] = true
		}
	}
	return g.Hurried(pipelines)
}

// onDevice runs a plan. Some run again, with the sizes that are remembered of the first run, or with smaller ones.
func (b *backend) onDevice(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	g := b.program(plan)
	for _, p := range plan.Pipelines {
		if err := g.Reason(p); err != nil {
			return nil, err
		}
	}
	run := b.runs.Add(1)
	out, err := b.once(ctx, plan, g, run%2 == 0)
	switch {
	case err != nil || run%4 < 2:
		return out, err
	case run%4 == 2:
		b.shrink(g)
	}
	return b.once(ctx, plan, g, run%2 == 0)
}

// shrink makes the sizes that are remembered of a program's sinks too small.
func (b *backend) shrink(g *program.Program) {
	z := sizes.New(g, b.runner.remembered, b.options.Parts)
	for s := range g.Feeders {
		if rows, ok := z.Before(s); ok {
			z.Remember(s, rows/2)
		}
		if a, ok := s.(*physical.Aggregate); ok {
			if slots, ok := z.SlotsBefore(a); ok {
				z.RememberSlots(a, slots/2)
			}
		}
	}
}

// once runs a plan's program. apart says that arrays do not share allocations.
func (b *backend) once(ctx context.Context, plan *physical.Plan, g *program.Program, apart bool) ([]*column.Batch, error) {
	q, err := newQuery(g, b.runner, b.options, apart)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	q.compile(ctx)
	for _, p := range plan.Pipelines {
		for _, k := range g.Kernels[p].All() {
			if _, err := q.kernels.Loaded(k); err != nil {
				if ctx.Err() == nil {
					b.t.Log(k.CUDA)
				}
				return nil, err
			}
		}
	}
	for i, p := range plan.Pipelines {
		if _, err := q.RunPipeline(ctx, p, i == len(plan.Pipelines)-1); err != nil {
			if os.Getenv("RADISH_SHOW") != "" {
				b.t.Log(g.Kernels[p].CUDA)
			}
			return nil, err
		}
	}
	if os.Getenv("RADISH_SHOW") != "" {
		for _, p := range plan.Pipelines {
			b.t.Log(g.Kernels[p].CUDA)
		}
	}
	if !q.sizes.Trusts {
		b.mu.Lock()
		b.again++
		b.mu.Unlock()
	}
	last := plan.Pipelines[len(plan.Pipelines)-1].Sink
	return b.batches(ctx, q, q.Rows(last), plan)
}

// batches downloads rows.
func (b *backend) batches(ctx context.Context, q *Query, r *results.Rows, plan *physical.Plan) ([]*column.Batch, error) {
	n := int(r.Count)
	out := &column.Batch{N: n}
	for i, c := range r.Columns {
		v := column.New(plan.Cols[i].Typ, n)
		valid := slices.Repeat([]byte{1}, n)
		if n == 0 {
			out.Cols = append(out.Cols, v)
			continue
		}
		if c.Valid != 0 {
			if err := q.memory.Stream.Download(ctx, valid, c.Valid); err != nil {
				return nil, err
			}
		}
		switch c.Class {
		case form.Float:
			if err := q.memory.Stream.Download(ctx, gpukernels.Bytes(v.F64), c.Data); err != nil {
				return nil, err
			}
		case form.Wide:
			words := make([][2]uint64, n)
			if err := q.memory.Stream.Download(ctx, gpukernels.Bytes(words), c.Data); err != nil {
				return nil, err
			}
			for k, w := range words {
				v.I128[k] = types.Int128{Hi: int64(w[1]), Lo: w[0]}
			}
		case form.Int:
			if err := q.memory.Stream.Download(ctx, gpukernels.Bytes(v.I64), c.Data); err != nil {
				return nil, err
			}
		case form.Code:
			codes := make([]uint32, n)
			if err := q.memory.Stream.Download(ctx, gpukernels.Bytes(codes), c.Data); err != nil {
				return nil, err
			}
			for k, x := range codes {
				if valid[k] == 1 {
					v.Str[k] = c.Dict.Value(x)
				}
			}
		case form.View:
			views := make([][2]uint64, n)
			if err := q.memory.Stream.Download(ctx, gpukernels.Bytes(views), c.Data); err != nil {
				return nil, err
			}
			for k, x := range views {
				if valid[k] == 1 && x[1] > 0 {
					text := make([]byte, x[1])
					if err := q.memory.Stream.Download(ctx, text, gpukernels.Ptr(x[0])); err != nil {
						return nil, err
					}
					v.Str[k] = string(text)
				}
			}
		}
		for k, ok := range valid {
			if ok == 0 {
				v.SetNull(k, n)
			}
		}
		out.Cols = append(out.Cols, v)
	}
	return []*column.Batch{out}, nil
}

// sources are the texts of all kernels that a plan needs; none if a pipeline of it has none.
func (b *backend) sources(plan *physical.Plan) []string {
	g := b.program(plan)
	var texts []string
	for _, p := range plan.Pipelines {
		if g.Reason(p) != nil {
			return nil
		}
		for _, k := range g.Kernels[p].All() {
			texts = append(texts, k.CUDA)
		}
		if x := g.Order(p.Sink); x != nil {
			for step := range sort.Steps {
				texts = append(texts, sort.Text(x.Columns, step))
			}
			if x.Then != "" {
				texts = append(texts, x.Then)
			}
		}
	}
	return texts
}

// compileAhead compiles the kernels of plans, as many at once as there are processors, and keeps them until release is called. An error is
// the plan's, which compiles again.
func (b *backend) compileAhead(plans []enginePlan) (compiled int, release func()) {
	texts := make(chan string)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var modules []*gpukernels.Module
	for range runtime.NumCPU() {
		wg.Go(func() {
			for text := range texts {
				if m, _, err := b.runner.Device.Load(context.Background(), text); err == nil {
					mu.Lock()
					modules = append(modules, m)
					mu.Unlock()
				}
			}
		})
	}
	seen := map[string]bool{}
	for _, p := range plans {
		for _, text := range b.sources(p.plan) {
			if !seen[text] && !gputest.TimeUp(b.t) {
				seen[text] = true
				texts <- text
			}
		}
	}
	close(texts)
	wg.Wait()
	return len(seen), func() {
		for _, m := range modules {
			m.Release()
		}
	}
}

// enginePlan is a case of enginetest at one size.
type enginePlan struct {
	enginetest.Case
	name string
	plan *physical.Plan
	seed uint64
}

// enginePlans are the plans of a size. Their kernels take long to compile, so a run takes every case at two of the six smaller sizes, the
// seed decides which; a short run at one. allSizes asks for all.
func enginePlans(at int, seed uint64) []enginePlan {
	size := enginetest.Sizes[at]
	var out []enginePlan
	for k, c := range enginetest.Cases() {
		turn := uint64(k) + uint64(at) + seed
		switch {
		case !gputest.InShare(k):
			continue
		case size > 4*column.VectorSize && (testing.Short() || (uint64(k)+seed)%64 != 0):
			continue
		case size > 4*column.VectorSize || os.Getenv(allSizes) != "":
		case testing.Short() && turn%6 != 0, turn%3 != 0:
			continue
		}
		s := seed + uint64(size)
		g := enginetest.NewGen(rand.New(rand.NewPCG(s, 7)), size)
		out = append(out, enginePlan{Case: c, name: fmt.Sprintf("%s/%d", c.Name, size), plan: c.Plan(g), seed: s})
	}
	return out
}

// tableOf encodes the rows of a batch.
func tableOf(t *testing.T, schema *tables.Schema, batch *column.Batch) *tables.Version {
	builder := tables.NewBuilder(tables.New(schema))
	for from := 0; from < batch.N; from += column.VectorSize {
		part := &column.Batch{N: batch.N, Cols: batch.Cols}
		for i := from; i < min(from+column.VectorSize, batch.N); i++ {
			part.Sel = append(part.Sel, int32(i))
		}
		if err := builder.Append(part); err != nil {
			t.Fatal(err)
		}
	}
	v, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// scanOf reads all columns of a table.
func scanOf(g *enginetest.Gen, v *tables.Version) *physical.TableScan {
	scan := &physical.TableScan{Table: v, Alias: "t"}
	for i, d := range v.Schema.Columns {
		scan.Cols, scan.Ordinals = append(scan.Cols, g.Alloc.New("t", d.Name, d.Type, d.Nullable)), append(scan.Ordinals, i)
	}
	return scan
}

// leftOut says whether the i-th case is another process's, or a short run on the processor, where kernels are slow, leaves it out.
func leftOut(d *gpukernels.Device, i int) bool {
	return !gputest.InShare(i) || testing.Short() && d.Info().Emulated() && i%5 != 0
}

const allSizes = "RADISH_TEST_ALL_SIZES"

// TestEngine runs the cases that every backend has to pass.
func TestEngine(t *testing.T) {
	seed := gputest.Seed(t)
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		b := newBackend(t, d)
		kernels, left := 0, 0
		for at := range enginetest.Sizes {
			plans := enginePlans(at, seed)
			n, release := 0, func() {}
			if !strings.Contains(flag.Lookup("test.run").Value.String(), "/") { // all of them are asked for
				n, release = b.compileAhead(plans)
			}
			kernels += n
			for _, p := range plans {
				if gputest.TimeUp(t) {
					left++
					continue
				}
				t.Run(p.name, func(t *testing.T) { b.check(t, p) })
			}
			release()
		}
		t.Logf("%d kernels, %d plans left out for want of time", kernels, left)
		if b.ran > 500 && b.again == 0 {
			t.Error("no plan had more rows than were remembered")
		}
	})
}

// TestEngineCompiles compiles the kernels of every other case (the seed says which; allSizes: of every one) at one size with NVRTC, which
// needs no GPU.
func TestEngineCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	seed := gputest.Seed(t)
	b := newBackend(t, gputest.Emulated(t))
	compileAll(t, b, func(add func(*physical.Plan)) {
		for k, c := range enginetest.Cases() {
			if (uint64(k)+seed)%2 == 0 || os.Getenv(allSizes) != "" {
				size := enginetest.Sizes[(uint64(k)+seed)/2%6]
				add(c.Plan(enginetest.NewGen(rand.New(rand.NewPCG(seed, 7)), size)))
			}
		}
	})
}

// compileAll compiles the kernels of plans with NVRTC.
func compileAll(t *testing.T, b *backend, plans func(add func(*physical.Plan))) {
	lib := gputest.CUDALibrary(t)
	texts := make(chan string)
	compilers := lib.NewCompilers(90, 0)
	defer compilers.Close()
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for text := range texts {
				if _, _, err := compilers.Compile(gpukernels.NewTurn(), 90, text); err != nil {
					t.Errorf("%v\n%s", err, text)
				}
			}
		})
	}
	seen, left := map[string]bool{}, 0
	plans(func(plan *physical.Plan) {
		for _, text := range b.sources(plan) {
			switch {
			case seen[text]:
			case gputest.TimeUp(t):
				left++
			default:
				seen[text] = true
				texts <- text
			}
		}
	})
	close(texts)
	wg.Wait()
	t.Logf("%d kernels, %d left out for want of time", len(seen), left)
}

// checkInTime compares the results of plans with the reference's, and logs how many it left out for want of time.
func (b *backend) checkInTime(t *testing.T, plans []enginePlan) {
	left := 0
	for _, p := range plans {
		if gputest.TimeUp(t) {
			left++
			continue
		}
		b.check(t, p)
	}
	t.Logf("%d plans, %d left out for want of time", len(plans), left)
}

// check compares a plan's result with the reference's. Rows of many blocks come in any order, unless they were sorted.
func (b *backend) check(t *testing.T, p enginePlan) { b.checkBy(t, b, p) }

// checkBy is check where another one runs the plan on this backend's device.
func (b *backend) checkBy(t *testing.T, by enginetest.Backend, p enginePlan) {
	limited, sorted := false, false
	for _, x := range p.plan.Pipelines {
		_, sort := x.Sink.(*physical.Sort)
		sorted = sorted || sort
		for _, tr := range x.Transforms {
			_, limit := tr.(*physical.Limit)
			limited = limited || limit
		}
	}
	if !b.runner.Device.Info().Emulated() && !sorted {
		p.Ordered = false
		if limited {
			checkLimited(t, by, p)
			return
		}
	}
	enginetest.Check(t, by, p.Case, p.plan, p.seed)
}

// checkLimited checks a plan whose rows go through a Limit in no order: any rows will do, but as many as there have to be.
func checkLimited(t *testing.T, b enginetest.Backend, p enginePlan) {
	limited, err := enginetest.Reference(p.plan)
	if err != nil {
		t.Fatal(err)
	}
	whole := *p.plan
	whole.Pipelines = nil
	for _, x := range p.plan.Pipelines {
		y := *x
		y.Transforms = slices.DeleteFunc(slices.Clone(x.Transforms), func(tr physical.Transform) bool {
			_, limit := tr.(*physical.Limit)
			return limit
		})
		whole.Pipelines = append(whole.Pipelines, &y)
	}
	all, err := enginetest.Reference(&whole)
	if err != nil {
		t.Fatal(err)
	}
	text := func(row []types.Value) string {
		out := ""
		for _, v := range row {
			if v.Null {
				out += "NULL|"
			} else {
				out += v.Text() + "|"
			}
		}
		return out
	}
	there := map[string]int{}
	for _, row := range all {
		there[text(row)]++
	}
	batches, err := b.Run(context.Background(), p.plan)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, x := range batches {
		for i := range x.N {
			n++
			var row []types.Value
			for _, v := range x.Cols {
				row = append(row, v.Value(i))
			}
			if there[text(row)]--; there[text(row)] < 0 {
				t.Fatalf("seed %d: row %s is none of the %d", p.seed, text(row), len(all))
			}
		}
	}
	if n != len(limited) {
		t.Fatalf("seed %d: %d rows of %d, want %d", p.seed, n, len(all), len(limited))
	}
}
