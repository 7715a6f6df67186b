package run

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
	tables "github.com/radish-sql/radish/storage/table"
)

// TestSortsOfPackedKeys runs the plans that sort, however few their rows are, by packed keys.
func TestSortsOfPackedKeys(t *testing.T) {
	seed := gputest.Seed(t)
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		b := newBackend(t, d)
		b.runner.tuning.Sort.RadixRows = 1
		sorts, left := 0, 0
		for at := range enginetest.Sizes {
			for _, p := range enginePlans(at, seed) {
				if !slices.ContainsFunc(p.plan.Pipelines, func(l *physical.Pipeline) bool { return b.program(p.plan).Order(l.Sink) != nil }) {
					continue
				}
				if sorts++; gputest.TimeUp(t) {
					left++
					continue
				}
				t.Run(p.name, func(t *testing.T) { b.check(t, p) })
			}
		}
		if sorts == 0 {
			t.Error("no plan sorts")
		}
		t.Logf("%d plans, %d left out for want of time", sorts, left)
	})
}

// TestSortManyColumns sorts by as many columns as a launch passes parameters for, and by one more.
func TestSortManyColumns(t *testing.T) { gputest.Each(t, testSortManyColumns) }

func testSortManyColumns(t *testing.T, d *gpukernels.Device) {
	const columns, rows = (gpukernels.LaunchWords - sort.FirstColumn) / 3, 200
	for _, n := range []int{columns, columns + 1} {
		b := newBackend(t, d)
		b.runner.tuning.Sort.RadixRows = 1
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		schema := &tables.Schema{Database: "test", Name: "t"}
		in := &column.Batch{N: rows}
		for range n {
			schema.Columns = append(schema.Columns, tables.ColumnDef{Name: fmt.Sprint("c", len(in.Cols)), Type: types.Double})
			c := column.New(types.Double, rows)
			for i := range rows {
				c.Set(i, rows, types.FloatValue(float64(rng.IntN(2)*rng.IntN(2)*rng.IntN(2))))
			}
			in.Cols = append(in.Cols, c)
		}
		g := enginetest.NewGen(rng, rows)
		scan := scanOf(g, tableOf(t, schema, in))
		s := &physical.Sort{Cols: scan.Cols[n-1:], Count: -1}
		for i, c := range scan.Cols {
			s.Keys = append(s.Keys, logical.SortKey{Expr: c, Desc: i%2 == 0})
		}
		g.Pipe(scan, s)
		plan := g.Result(g.Read(s, s.Cols), s.Cols)
		if why := b.program(plan).Reason(plan.Pipelines[0]); why != nil {
			t.Errorf("a sort by %d columns: %v", n, why)
		}
		enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprint(n, " columns")}, plan, 1)
	}
}
