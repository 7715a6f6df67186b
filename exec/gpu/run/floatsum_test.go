package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	tables "github.com/radish-sql/radish/storage/table"
)

// TestFloatSums adds doubles up that fit one window, and such that do not, and has their extremes. Each kernel adds up doubles of two kinds, each of which has a
// window of its own.
func TestFloatSums(t *testing.T) { gputest.Each(t, testFloatSums) }

func testFloatSums(t *testing.T, d *gpukernels.Device) {
	const rows = 6000
	any := func(r *rand.Rand, powers int) float64 {
		return (r.Float64() - 0.5) * math.Pow(2, float64(r.IntN(2*powers+1)-powers))
	}
	cases := []struct {
		name string
		next func(r *rand.Rand, row int) float64
	}{
		{"prices", func(r *rand.Rand, _ int) float64 { return float64(r.IntN(1e7)) / 100 }},
		{"of some sizes", func(r *rand.Rand, _ int) float64 { return any(r, 30) }},
		{"of all sizes", func(r *rand.Rand, _ int) float64 { return any(r, 1000) }},
		{"the first is small", func(r *rand.Rand, row int) float64 {
			if row == 0 {
				return 5e-324
			}
			return any(r, 10)
		}},
		{"the first is large", func(r *rand.Rand, row int) float64 {
			if row == 0 {
				return 1e300
			}
			return any(r, 10)
		}},
		{"that cancel out", func(_ *rand.Rand, row int) float64 {
			return []float64{1e304, -1e-308, -1e304, 3, 1e16, 1, -1e16, -3}[row%8] * float64(row/8%7)
		}},
		{"at the edges", func(r *rand.Rand, row int) float64 { return math.Ldexp(1+float64(r.IntN(3)-1)*0x1p-52, row%140-70) }},
		{"integers", func(r *rand.Rand, _ int) float64 { return float64(r.Int64N(1<<r.IntN(53)) - 1<<20) }},
		{"subnormal", func(r *rand.Rand, _ int) float64 {
			return math.Float64frombits(r.Uint64N(1<<53)) * float64(r.IntN(3)-1)
		}},
		{"zeros", func(_ *rand.Rand, row int) float64 { return math.Copysign(0, float64(row%2)-0.5) }},
	}
	b := newBackend(t, d)
	r := rand.New(rand.NewPCG(3, 29))
	keys := []string{"few", "many", "negative"}
	schema := &tables.Schema{Database: "test", Name: "t"}
	batch := &column.Batch{N: rows}
	add := func(name string, typ types.Type, value func(row int) types.Value) {
		schema.Columns = append(schema.Columns, tables.ColumnDef{Name: name, Type: typ, Nullable: true})
		v := column.New(typ, rows)
		for i := range rows {
			x := value(i)
			if r.IntN(9) == 0 {
				x = types.NullOf(typ)
			}
			v.Set(i, rows, x)
		}
		batch.Cols = append(batch.Cols, v)
	}
	add(keys[0], types.Int64, func(int) types.Value { return types.IntValue(r.Int64N(7)) })
	add(keys[1], types.Int64, func(int) types.Value { return types.IntValue(r.Int64N(600) << 40) })
	add(keys[2], types.Int64, func(int) types.Value { return types.IntValue(-r.Int64N(3)) })
	wide := len(schema.Columns) // integers of 64 bits
	add("wide", types.Int64, func(int) types.Value { return types.IntValue(int64(r.Uint64()) >> r.IntN(60)) })
	add("long", types.Int64, func(int) types.Value { return types.IntValue(1<<40 + r.Int64N(1<<38)) })
	add("unsigned", types.Uint64, func(int) types.Value { return types.Value{Type: types.Uint64, I: int64(r.Uint64())} })
	for _, c := range cases {
		add(c.name, types.Double, func(row int) types.Value { return types.FloatValue(c.next(r, row)) })
	}
	v := tableOf(t, schema, batch)
	for at, c := range cases {
		if leftOut(d, at) {
			continue
		}
		for keyAt := -1; keyAt < len(keys); keyAt++ {
			g := enginetest.NewGen(r, 0)
			scan := scanOf(g, v)
			a := &physical.Aggregate{Algorithm: physical.ScalarAggregate, EstGroups: 1}
			var out []*expr.Column
			if keyAt >= 0 {
				col := g.Alloc.Like(scan.Cols[keyAt])
				a.Algorithm, a.EstGroups = physical.HashAggregate, []float64{7, 100, 3}[keyAt]
				a.Groups = []logical.Item{{Col: col, Expr: scan.Cols[keyAt]}}
				out = append(out, col)
			}
			x, other := scan.Cols[wide+3+at], scan.Cols[wide+3+(at+1)%len(cases)]
			for _, it := range []logical.AggItem{g.Agg("sum", false, x), g.Agg("sum", false, other), g.Agg("sum", false, scan.Cols[0]), g.Agg("avg", false, x), g.Agg("count(*)", false), g.Agg("max", false, x), g.Agg("min", false, x), g.Agg("max", false, scan.Cols[wide+at%3]), g.Agg("min", false, scan.Cols[wide+at%3])} {
				a.Aggs = append(a.Aggs, it)
				out = append(out, it.Col)
			}
			g.Pipe(scan, a)
			plan := g.Result(g.Read(a, out), out)
			text := strings.Join(b.sources(plan), "")
			if !strings.Contains(text, "fixed_term(") {
				t.Errorf("sums of %s by key %d have no window:\n%s", c.name, keyAt, text)
			}
			if keyAt >= 0 && !strings.Contains(text, ">= load_relaxed(") {
				t.Errorf("greatest values of %s by key %d have no words:\n%s", c.name, keyAt, text)
			}
			enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("sums of %s by key %d", c.name, keyAt)}, plan, 1)
		}
	}
	// A query has as many windows as it has sums.
	g := enginetest.NewGen(r, 0)
	scan := scanOf(g, v)
	a := &physical.Aggregate{Algorithm: physical.ScalarAggregate, EstGroups: 1}
	var out []*expr.Column
	for at, c := range cases {
		x := scan.Cols[wide+3+at]
		a.Aggs = append(a.Aggs, g.Agg("sum", false, x))
		if c.name != "of all sizes" && c.name != "subnormal" && c.name != "that cancel out" && !strings.HasPrefix(c.name, "the first") {
			a.Aggs = append(a.Aggs, g.Agg("var_pop", false, x))
		}
	}
	for i := range a.Aggs {
		out = append(out, a.Aggs[i].Col)
	}
	g.Pipe(scan, a)
	plan := g.Result(g.Read(a, out), out)
	if n := strings.Count(strings.Join(b.sources(plan), ""), "load_relaxed("); n < 15 {
		t.Errorf("one kernel has %d windows", n)
	}
	enginetest.Check(t, b, enginetest.Case{Name: "many sums"}, plan, 1)
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}
