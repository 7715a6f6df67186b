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

// TestVariances computes variances of numbers that make naive formulas lose all digits.
func TestVariances(t *testing.T) { gputest.Each(t, testVariances) }

func testVariances(t *testing.T, d *gpukernels.Device) {
	const rows = 5000
	fill := func(next func(r *rand.Rand, row int) types.Value) func(r *rand.Rand, v *column.Vector) {
		return func(r *rand.Rand, v *column.Vector) {
			for i := range rows {
				x := next(r, i)
				x.Type = v.Type
				if r.IntN(8) == 0 {
					x = types.NullOf(v.Type)
				}
				v.Set(i, rows, x)
			}
		}
	}
	float := func(f func(r *rand.Rand, row int) float64) func(r *rand.Rand, v *column.Vector) {
		return fill(func(r *rand.Rand, row int) types.Value { return types.FloatValue(f(r, row)) })
	}
	whole := func(f func(r *rand.Rand, row int) int64) func(r *rand.Rand, v *column.Vector) {
		return fill(func(r *rand.Rand, row int) types.Value { return types.IntValue(f(r, row)) })
	}
	cases := []struct {
		name  string
		typ   types.Type
		exact bool // integers are added up
		fill  func(r *rand.Rand, v *column.Vector)
	}{
		{"far from 0", types.Double, false, float(func(r *rand.Rand, _ int) float64 { return 1e9 + float64(r.IntN(100))/1024 })},
		{"neighbours", types.Double, false, float(func(r *rand.Rand, _ int) float64 { return -1e17 - 16*float64(r.IntN(2)) })},
		{"one value", types.Double, false, float(func(*rand.Rand, int) float64 { return 0.1 })},
		{"of all sizes", types.Double, false, float(func(r *rand.Rand, _ int) float64 { return (r.Float64() - 0.5) * math.Pow(2, float64(r.IntN(400)-200)) })},
		{"large", types.Double, false, float(func(r *rand.Rand, _ int) float64 { return (r.Float64() - 0.5) * 1e150 })},
		{"small", types.Double, false, float(func(r *rand.Rand, _ int) float64 { return (r.Float64() - 0.5) * 1e-140 })},
		{"zeros", types.Double, false, float(func(*rand.Rand, int) float64 { return 0 })},
		{"one that differs", types.Double, false, float(func(_ *rand.Rand, row int) float64 {
			if row == 17 {
				return math.Nextafter(1, 2)
			}
			return 1
		})},
		{"small integers", types.Int16, true, whole(func(r *rand.Rand, _ int) int64 { return r.Int64N(200) - 100 })},
		{"integers of 32 bits", types.Int32, true, whole(func(r *rand.Rand, _ int) int64 { return r.Int64N(1<<32) - 1<<31 })},
		{"microseconds", types.Int64, true, whole(func(r *rand.Rand, _ int) int64 { return 1_700_000_000_000_000 + r.Int64N(1e9) })},
		{"integers of 53 bits", types.Int64, true, whole(func(r *rand.Rand, _ int) int64 { return r.Int64N(1<<54) - 1<<53 })},
		{"integers of 64 bits", types.Int64, false, whole(func(r *rand.Rand, _ int) int64 { return int64(r.Uint64()) })},
		{"unsigned integers", types.Uint64, false, whole(func(r *rand.Rand, _ int) int64 { return int64(r.Uint64()) })},
		{"prices", types.Decimal(15, 2), true, whole(func(r *rand.Rand, _ int) int64 { return r.Int64N(1e8) })},
		{"fractions", types.Decimal(15, 13), true, whole(func(r *rand.Rand, _ int) int64 { return r.Int64N(2e14) - 1e14 })},
		{"small fractions", types.Decimal(15, 12), true, whole(func(r *rand.Rand, _ int) int64 { return r.Int64N(1000) })},
		{"wide decimals of few digits", types.Decimal(30, 4), false, fill(func(r *rand.Rand, _ int) types.Value {
			return types.Value{D: types.Int128FromInt64(r.Int64N(2e9) - 1e9)}
		})},
		{"wide decimals", types.Decimal(30, 4), false, fill(func(r *rand.Rand, _ int) types.Value {
			return types.Value{D: types.MulInt64s(r.Int64N(1e18), r.Int64N(2000)-1000)}
		})},
		{"decimals of many digits behind the point", types.Decimal(30, 20), false, fill(func(r *rand.Rand, _ int) types.Value {
			return types.Value{D: types.MulInt64s(r.Int64N(1e18), r.Int64N(2000)-1000)}
		})},
	}
	b := newBackend(t, d)
	b.runner.tuning.Launch.Hot, b.runner.tuning.Launch.Window = 2048, 2048 // several launches
	r := rand.New(rand.NewPCG(1, 23))
	schema := &tables.Schema{Database: "test", Name: "t", Columns: []tables.ColumnDef{{Name: "few", Type: types.Int64}, {Name: "many", Type: types.Int64}, {Name: "ascending", Type: types.Int64}}}
	batch := &column.Batch{N: rows}
	for _, c := range cases {
		schema.Columns = append(schema.Columns, tables.ColumnDef{Name: c.name, Type: c.typ, Nullable: true})
	}
	for at, c := range schema.Columns {
		v := column.New(c.Type, rows)
		batch.Cols = append(batch.Cols, v)
		switch at {
		case 0:
			for i := range rows {
				v.I64[i] = int64(r.IntN(7))
			}
		case 1:
			for i := range rows {
				v.I64[i] = int64(r.IntN(1500)) << 40
			}
		case 2:
			for i := range rows {
				v.I64[i] = int64(i/9) << 40
			}
		default:
			cases[at-3].fill(r, v)
		}
	}
	v := tableOf(t, schema, batch)
	for at, c := range cases {
		if leftOut(d, at) {
			continue
		}
		for keyAt, key := range []string{"", "few", "many", "ascending"} {
			g := enginetest.NewGen(r, 0)
			scan := scanOf(g, v)
			a := &physical.Aggregate{Algorithm: physical.ScalarAggregate}
			var out []*expr.Column
			if keyAt > 0 {
				col := g.Alloc.Like(scan.Cols[keyAt-1])
				a.Algorithm, a.EstGroups = physical.HashAggregate, 1500
				if key == "ascending" {
					a.Algorithm = physical.StreamAggregate
				}
				a.Groups = []logical.Item{{Col: col, Expr: scan.Cols[keyAt-1]}}
				out = append(out, col)
			}
			x := scan.Cols[at+3]
			for _, name := range []string{"var_pop", "var_samp", "stddev_pop", "stddev_samp", "count", "avg"} {
				a.Aggs = append(a.Aggs, g.Agg(name, false, x))
				out = append(out, a.Aggs[len(a.Aggs)-1].Col)
			}
			g.Pipe(scan, a)
			plan := g.Result(g.Read(a, out), out)
			text := strings.Join(b.sources(plan), "")
			if got := !strings.Contains(text, "add_square<"); got != c.exact {
				t.Errorf("variances of %s: integers are added up: %v, want %v", c.name, got, c.exact)
			}
			if keyAt == 0 && strings.Contains(text, "square_term(") == c.exact {
				t.Errorf("variances of %s have no window", c.name)
			}
			if key == "ascending" && strings.Contains(text, "run_keys") != c.exact {
				t.Errorf("variances of %s are not added up by runs", c.name)
			}
			enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("variances of %s by %q", c.name, key)}, plan, 1)
		}
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}
