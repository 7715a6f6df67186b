package cpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// The benchmarks check their answers: each plan ends in one row of totals that is also computed from the inputs by a loop.

const benchRows = 1 << 20

// ints makes a table of integer columns.
func ints(cols ...[]int64) *table.Version {
	s := &table.Schema{Database: "test", Name: "bench"}
	b := &column.Batch{N: len(cols[0])}
	for i, c := range cols {
		s.Columns = append(s.Columns, table.ColumnDef{Name: fmt.Sprint("c", i), Type: types.Int64})
		b.Cols = append(b.Cols, &column.Vector{Type: types.Int64, I64: c})
	}
	bl := table.NewBuilder(table.New(s))
	if err := bl.Append(b); err != nil {
		panic(err)
	}
	v, err := bl.Finish()
	if err != nil {
		panic(err)
	}
	return v
}

func scanOf(g *enginetest.Gen, v *table.Version) (*physical.TableScan, []*expr.Column) {
	s := &physical.TableScan{Table: v, Alias: "t"}
	for i, d := range v.Schema.Columns {
		s.Cols = append(s.Cols, g.Alloc.New("t", d.Name, d.Type, false))
		s.Ordinals = append(s.Ordinals, i)
	}
	return s, s.Cols
}

// totals sums columns into one row, with their count.
func totals(g *enginetest.Gen, cols ...*expr.Column) (*physical.Aggregate, []*expr.Column) {
	a := &physical.Aggregate{Algorithm: physical.ScalarAggregate}
	n := logical.AggItem{Col: g.Alloc.New("", "n", types.Int64, false), Fn: expr.LookupAggregate("count(*)")}
	a.Aggs = append(a.Aggs, n)
	out := []*expr.Column{n.Col}
	for _, c := range cols {
		it := logical.AggItem{Col: g.Alloc.New("", "sum", types.Decimal(38, 0), true), Fn: expr.LookupAggregate("sum"), Args: []expr.Expr{c}}
		a.Aggs = append(a.Aggs, it)
		out = append(out, it.Col)
	}
	return a, out
}

// run runs a plan of one row b.N times and compares the row with want.
func run(b *testing.B, rows int, plan *physical.Plan, want ...int64) {
	b.Helper()
	runtime.GC()
	b.ResetTimer()
	begin := processorTime()
	for range b.N {
		c, err := start(context.Background(), plan, schedule.Config{Threads: runtime.GOMAXPROCS(0), Expr: &expr.Context{}})
		if err != nil {
			b.Fatal(err)
		}
		x, err := c.Next(context.Background())
		if err != nil || x == nil || x.N != 1 {
			b.Fatalf("batch %v, error %v", x, err)
		}
		for i, w := range want {
			if got := x.Cols[i].Value(0).Text(); got != fmt.Sprint(w) {
				b.Fatalf("column %d is %s, want %d", i, got, w)
			}
		}
		c.Close()
	}
	b.ReportMetric(float64((processorTime()-begin).Nanoseconds())/float64(b.N)/float64(rows), "cpu-ns/row")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func randInts(n int, below int64) []int64 {
	r := rand.New(rand.NewPCG(1, uint64(below)))
	x := make([]int64, n)
	for i := range x {
		x[i] = r.Int64N(below)
	}
	return x
}

func BenchmarkTinyQuery(b *testing.B) {
	g := enginetest.NewGen(nil, 0)
	s, c := scanOf(g, ints([]int64{1, 2, 3}, []int64{4, 5, 6}))
	s.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: c[0], Right: &expr.Const{Value: types.IntValue(1)}}}
	a, out := totals(g, c[1])
	g.Pipe(s, a)
	run(b, 1, g.Result(g.Read(a, out), out), 2, 11)
}

func BenchmarkFilter(b *testing.B) {
	for _, percent := range []int64{1, 50, 99} {
		b.Run(fmt.Sprint(percent), func(b *testing.B) {
			x, y := randInts(benchRows, 100), randInts(benchRows, 1000)
			var n, sum int64
			for i := range x {
				if x[i] < percent {
					n++
					sum += y[i]
				}
			}
			g := enginetest.NewGen(nil, 0)
			s, c := scanOf(g, ints(x, y))
			s.Filters = []expr.Expr{&expr.Compare{Op: expr.LT, Left: c[0], Right: &expr.Const{Value: types.IntValue(percent)}}}
			a, out := totals(g, c[1])
			g.Pipe(s, a)
			run(b, benchRows, g.Result(g.Read(a, out), out), n, sum)
		})
	}
}

// BenchmarkProbe joins benchRows rows with builds of several sizes: dense keys, scattered keys (a hash table), scattered
// keys with four rows each.
func BenchmarkProbe(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 15, 1 << 19} {
		for _, kind := range []string{"dense", "hash", "hash of four"} {
			b.Run(fmt.Sprintf("%s/%d", kind, size), func(b *testing.B) {
				scatter := func(k int64) int64 { return k }
				copies := 1
				if kind != "dense" {
					scatter = func(k int64) int64 { return int64(uint64(k)*0x9E3779B97F4A7C15) >> 8 }
				}
				if kind == "hash of four" {
					copies = 4
				}
				keys := size / copies
				var bk, bv []int64
				for i := range size {
					bk, bv = append(bk, scatter(int64(i%keys))), append(bv, int64(i))
				}
				probe := randInts(benchRows, int64(keys)*2)
				var n, sum int64
				for i, k := range probe {
					if k < int64(keys) {
						for c := range copies {
							n++
							sum += k + int64(c*keys)
						}
					}
					probe[i] = scatter(k)
				}
				g := enginetest.NewGen(nil, 0)
				bs, bc := scanOf(g, ints(bk, bv))
				ps, pc := scanOf(g, ints(probe))
				build := &physical.Build{Keys: []expr.Expr{bc[0]}, Payload: bc[1:]}
				g.Pipe(bs, build)
				a, out := totals(g, bc[1])
				g.Pipe(ps, a, &physical.Probe{Kind: logical.InnerJoin, Build: build, Keys: []expr.Expr{pc[0]}, Keep: []expr.ColumnID{bc[1].ID}})
				run(b, benchRows+size, g.Result(g.Read(a, out), out), n, sum)
			})
		}
	}
}

func BenchmarkGroupBy(b *testing.B) {
	for _, groups := range []int64{10, 10000, 1000000} {
		b.Run(fmt.Sprint(groups), func(b *testing.B) {
			x, y := randInts(benchRows, groups), randInts(benchRows, 1000)
			seen := map[int64]bool{}
			var sum int64
			for i := range x {
				seen[x[i]] = true
				sum += y[i]
				x[i] = int64(uint64(x[i])*0x9E3779B97F4A7C15) >> 1
			}
			g := enginetest.NewGen(nil, 0)
			s, c := scanOf(g, ints(x, y))
			it := logical.AggItem{Col: g.Alloc.New("", "sum", types.Decimal(38, 0), true), Fn: expr.LookupAggregate("sum"), Args: []expr.Expr{c[1]}}
			by := &physical.Aggregate{Groups: []logical.Item{{Col: c[0], Expr: c[0]}}, Aggs: []logical.AggItem{it}, EstGroups: float64(groups)}
			g.Pipe(s, by)
			a, out := totals(g, it.Col)
			g.Pipe(g.Read(by, []*expr.Column{it.Col}), a)
			run(b, benchRows, g.Result(g.Read(a, out), out), int64(len(seen)), sum)
		})
	}
}

// BenchmarkSort orders all rows, or the first 100, and looks at the first.
func BenchmarkSort(b *testing.B) {
	x, y := randInts(benchRows, 1<<40), randInts(benchRows, 1000)
	var least int64 = 1 << 40
	for _, k := range x {
		least = min(least, k)
	}
	for _, top := range []int64{-1, 100} {
		b.Run(fmt.Sprint(top), func(b *testing.B) {
			g := enginetest.NewGen(nil, 0)
			s, c := scanOf(g, ints(x, y))
			o := &physical.Sort{Keys: []logical.SortKey{{Expr: c[0]}}, Cols: c, Count: top}
			g.Pipe(s, o)
			run(b, benchRows, g.Result(g.Read(o, c), c[:1], &physical.Limit{Count: 1}), least)
		})
	}
}
