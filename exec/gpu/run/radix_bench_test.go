package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// radixBenchBits names the variable with log2 of the rows of each side. Without it BenchmarkRadix has few.
const radixBenchBits = "RADISH_BENCH_JOIN_BITS"

// BenchmarkRadix joins tables of unique keys in partitions of several sizes, and without partitions, and gives the times of the kernels: of the pipeline of the build, and of that of the
// probe, which joins.
func BenchmarkRadix(b *testing.B) {
	most := 12
	if text := os.Getenv(radixBenchBits); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	d, err := gputest.CUDALibrary(b).OpenDevice(0)
	if err != nil {
		b.Skip(err)
	}
	defer d.Close()
	s := radixTable(b, most, 0x9E3779B1)
	for _, size := range []int{most, most - 3} {
		r := radixTable(b, size, 1)
		for _, c := range []struct {
			name  string
			tuned func(t *kernel.Tuning)
		}{
			{"whole", func(t *kernel.Tuning) { t.Radix.Rows = 1e18 }},
			{"as chosen", func(t *kernel.Tuning) {}},
			{"2 of 6", func(t *kernel.Tuning) { t.Radix.Passes, t.Radix.Bits = 2, 6 }},
			{"2 of 7", func(t *kernel.Tuning) { t.Radix.Passes, t.Radix.Bits = 2, 7 }},
			{"2 of 8", func(t *kernel.Tuning) { t.Radix.Passes, t.Radix.Bits = 2, 8 }},
			{"as chosen, 3 blocks", func(t *kernel.Tuning) { t.Radix.Blocks = 3 }},
			{"as chosen, 4 blocks", func(t *kernel.Tuning) { t.Radix.Blocks = 4 }},
			{"1 of 9", func(t *kernel.Tuning) { t.Radix.Passes, t.Radix.Bits = 1, 9 }},
			{"2 of 7, 32 K a piece", func(t *kernel.Tuning) { t.Radix.Passes, t.Radix.Bits, t.Radix.PieceRows = 2, 7, 32<<10 }},
		} {
			b.Run(fmt.Sprintf("2^%d with 2^%d/%s", size, most, c.name), func(b *testing.B) { radixBench(b, d, r, s, c.tuned) })
		}
	}
}

// radixTable has 2^bits unique keys in an order that a factor gives, and a value each.
func radixTable(b testing.TB, bits int, factor uint32) *tables.Version {
	schema := &tables.Schema{Database: "test", Name: "t", Columns: []tables.ColumnDef{{Name: "k", Type: types.Int32}, {Name: "v", Type: types.Int32}}}
	builder := tables.NewBuilder(tables.New(schema))
	mask := uint32(1)<<bits - 1
	for from := uint32(0); from <= mask; from += 1 << 20 {
		n := min(mask-from+1, 1<<20)
		data := []encoding.Data{{Ints: make([]int64, n)}, {Ints: make([]int64, n)}}
		for i := range n {
			data[0].Ints[i] = int64(int32(unmixWord((from + i) * factor & mask)))
			data[1].Ints[i] = int64(unmixWord(from+i) >> 1)
		}
		if err := builder.AppendColumns(int(n), data); err != nil {
			b.Fatal(err)
		}
		if from+n-1 == mask {
			break
		}
	}
	v, err := builder.Finish()
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// radixPlan sums what a join of two tables gives.
func radixPlan(r, s *tables.Version) *physical.Plan {
	g := enginetest.NewGen(rand.New(rand.NewPCG(1, 7)), 0)
	rs, ss := scanOf(g, r), scanOf(g, s)
	rs.EstRows, ss.EstRows = float64(r.Rows()), float64(s.Rows())
	build := &physical.Build{Keys: []expr.Expr{rs.Cols[0]}, Payload: []*expr.Column{rs.Cols[1]}, EstRows: float64(r.Rows())}
	probe := &physical.Probe{Kind: logical.InnerJoin, Build: build, Keys: []expr.Expr{ss.Cols[0]}, Keep: []expr.ColumnID{ss.Cols[1].ID, rs.Cols[1].ID}}
	a := &physical.Aggregate{EstGroups: 1}
	a.Aggs = append(a.Aggs, g.Agg("count(*)", false), g.Agg("sum", false, rs.Cols[1]), g.Agg("sum", false, ss.Cols[1]))
	g.Pipe(rs, build)
	g.Pipe(ss, a, probe)
	out := []*expr.Column{a.Aggs[0].Col, a.Aggs[1].Col, a.Aggs[2].Col}
	return g.Result(g.Read(a, out), out)
}

func radixBench(b *testing.B, d *gpukernels.Device, r, s *tables.Version, tuned func(t *kernel.Tuning)) {
	runner, err := NewRunner(d)
	if err != nil {
		b.Fatal(err)
	}
	defer runner.Close()
	tuned(&runner.tuning)
	plan := radixPlan(r, s)
	back := &backend{runner: runner}
	p := back.program(plan)
	var builds, probes time.Duration
	run := func(b *testing.B) {
		q, err := runner.Start(context.Background(), p, Options{Profiled: true})
		if err != nil {
			b.Fatal(err)
		}
		defer q.Close()
		for i, x := range plan.Pipelines {
			cost, err := q.RunPipeline(context.Background(), x, i == len(plan.Pipelines)-1)
			if err != nil {
				b.Fatal(err)
			}
			switch i {
			case 0:
				builds += cost.Kernel + cost.Fill
			case 1:
				probes += cost.Kernel + cost.Fill
			}
		}
		batches, err := back.batches(context.Background(), q, q.Rows(plan.Pipelines[len(plan.Pipelines)-1].Sink), plan)
		if err != nil || batches[0].Cols[0].I64[0] != min(r.Rows(), s.Rows()) {
			b.Fatalf("%v: %d rows", err, batches[0].Cols[0].I64[0])
		}
	}
	run(b) // brings the columns, and compiles
	builds, probes = 0, 0
	for b.Loop() {
		run(b)
	}
	n := float64(b.N)
	b.ReportMetric(builds.Seconds()/n*1e3, "build-ms")
	b.ReportMetric(probes.Seconds()/n*1e3, "probe-ms")
	b.ReportMetric(float64(r.Rows()+s.Rows())*n/(builds+probes).Seconds()/1e9, "G/s")
}
