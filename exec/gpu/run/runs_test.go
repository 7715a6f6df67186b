package run

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// TestRuns groups a table by its first column, in whose order it is stored or not: threads add up runs of equal keys. The keys are an
// array's indices or, where that would be too large, packed.
func TestRuns(t *testing.T) {
	gputest.Each(t, testRuns)
}

func testRuns(t *testing.T, d *gpukernels.Device) {
	b := newBackend(t, d)
	for _, ascending := range []bool{true, false} {
		for _, rows := range []int{7, 3000, 20000} {
			for _, every := range []int{1, 4} {
				g := enginetest.NewGen(rand.New(rand.NewPCG(uint64(rows), uint64(every))), rows)
				g.Ascending = ascending
				scan, cols := g.Scan(g.Table(rows, rows/every+1))
				if rows == 3000 && every == 4 {
					scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: cols[2], Right: &expr.Const{Value: types.IntValue(0)}}}
				}
				agg := &physical.Aggregate{Algorithm: physical.StreamAggregate, EstGroups: float64(rows * (every % 2))} // an array if there are about as many groups
				key := g.Alloc.Like(cols[0])
				agg.Groups = []logical.Item{{Col: key, Expr: cols[0]}}
				out := []*expr.Column{key}
				for _, f := range []struct {
					name string
					args []*expr.Column
				}{
					{"count(*)", nil}, {"sum", []*expr.Column{cols[0]}}, {"sum", []*expr.Column{cols[3]}}, {"sum", []*expr.Column{cols[2]}}, {"avg", []*expr.Column{cols[4]}},
					{"min", []*expr.Column{cols[1]}}, {"max", []*expr.Column{cols[9]}}, {"min", []*expr.Column{cols[5]}}, {"count", []*expr.Column{cols[6]}},
				} {
					it := g.Agg(f.name, false, f.args...)
					agg.Aggs = append(agg.Aggs, it)
					out = append(out, it.Col)
				}
				g.Pipe(scan, agg)
				plan := g.Result(g.Read(agg, out), out)
				text := b.program(plan).Kernels[plan.Pipelines[0]].CUDA
				if rows >= 3000 && !strings.Contains(text, "run_keys[") { // fewer groups lie in shared memory
					t.Errorf("%d rows: no runs are looked for:\n%s", rows, text)
				}
				enginetest.Check(t, b, enginetest.Case{Name: "runs"}, plan, uint64(rows))
			}
		}
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}
