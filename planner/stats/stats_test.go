package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/table"
)

// source is a table of integers and the rows that were put into it.
type source struct {
	scan *logical.Scan
	rows [][]int64
}

func newSource(alloc *expr.Allocator, name string, key int, rows [][]int64) *source {
	s := &table.Schema{Name: name}
	n, width := len(rows), len(rows[0])
	batch := &column.Batch{N: n}
	scan := &logical.Scan{Alias: name}
	for c := range width {
		s.Columns = append(s.Columns, table.ColumnDef{Name: string(rune('a' + c)), Type: types.Int64})
		v := column.New(types.Int64, n)
		for i := range rows {
			v.Set(i, n, types.IntValue(rows[i][c]))
		}
		batch.Cols = append(batch.Cols, v)
		scan.Cols = append(scan.Cols, alloc.New(name, s.Columns[c].Name, types.Int64, false))
		scan.Ordinals = append(scan.Ordinals, c)
	}
	if key >= 0 {
		s.Keys = []table.Key{{Name: "PRIMARY", Columns: []int{key}, Primary: true, Unique: true}}
	}
	v, err := table.New(s).Append(batch)
	if err != nil {
		panic(err)
	}
	scan.Table = v
	return &source{scan, rows}
}

func compare(op expr.Op, l, r expr.Expr) expr.Expr { return &expr.Compare{Op: op, Left: l, Right: r} }
func constant(i int64) expr.Expr                   { return &expr.Const{Value: types.IntValue(i)} }

// near says whether an estimate is no worse than a factor off.
func near(got, want, factor float64) bool {
	got, want = max(got, 1), max(want, 1)
	return got <= want*factor && want <= got*factor
}

// TestEstimates compares estimates over tables of known distributions with counts.
func TestEstimates(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 1))
	alloc := &expr.Allocator{}
	var facts, dims [][]int64
	for i := range int64(1000) {
		dims = append(dims, []int64{i, i % 10})
	}
	for i := range int64(20000) {
		skewed := int64(math.Pow(r.Float64(), 3) * 100)
		facts = append(facts, []int64{i, r.Int64N(1000), skewed, r.Int64N(50)})
	}
	f, d := newSource(alloc, "f", 0, facts), newSource(alloc, "d", 0, dims)
	fc, dc := f.scan.Cols, d.scan.Cols
	est := NewEstimator()

	count := func(pred func(row []int64) bool) (n float64) {
		for _, row := range facts {
			if pred(row) {
				n++
			}
		}
		return n
	}
	filters := []struct {
		name  string
		preds []expr.Expr
		want  float64
	}{
		{"equal", []expr.Expr{compare(expr.EQ, fc[3], constant(7))}, count(func(r []int64) bool { return r[3] == 7 })},
		{"range", []expr.Expr{compare(expr.GE, fc[1], constant(100)), compare(expr.LT, fc[1], constant(150))},
			count(func(r []int64) bool { return r[1] >= 100 && r[1] < 150 })},
		{"skewed range", []expr.Expr{compare(expr.LT, fc[2], constant(5))}, count(func(r []int64) bool { return r[2] < 5 })},
		{"skewed value", []expr.Expr{compare(expr.EQ, fc[2], constant(0))}, count(func(r []int64) bool { return r[2] == 0 })},
		{"list", []expr.Expr{&expr.In{Arg: fc[3], List: []types.Value{types.IntValue(1), types.IntValue(2)}}},
			count(func(r []int64) bool { return r[3] == 1 || r[3] == 2 })},
		{"outside", []expr.Expr{compare(expr.EQ, fc[3], constant(1000))}, 0},
	}
	for _, c := range filters {
		n := f.scan.WithExprs(c.preds)
		if got := est.Rows(n); !near(got, c.want, 1.3) {
			t.Errorf("seed %d, %s: %.0f rows, there are %.0f", seed, c.name, got, c.want)
		}
	}

	few := d.scan.WithExprs([]expr.Expr{compare(expr.EQ, dc[1], constant(3))})
	key := compare(expr.EQ, fc[1], dc[0])
	nodes := []struct {
		name string
		node logical.Node
		want float64
	}{
		{"join", &logical.Join{Left: f.scan, Right: d.scan, On: []expr.Expr{key}}, 20000},
		{"join with a tenth", &logical.Join{Left: f.scan, Right: few, On: []expr.Expr{key}}, count(func(r []int64) bool { return r[1]%10 == 3 })},
		{"semi", &logical.Join{Kind: logical.SemiJoin, Left: f.scan, Right: few, On: []expr.Expr{key}}, 2000},
		{"anti", &logical.Join{Kind: logical.AntiJoin, Left: f.scan, Right: few, On: []expr.Expr{key}}, 18000},
		{"left", &logical.Join{Kind: logical.LeftJoin, Left: f.scan, Right: few, On: []expr.Expr{key}}, 20000},
		{"groups", &logical.Aggregate{Input: f.scan, Groups: logical.PassItems(fc[3:])}, 50},
		{"pairs", &logical.Aggregate{Input: f.scan, Groups: logical.PassItems([]*expr.Column{fc[1], fc[3]})}, 50000 * (1 - math.Exp(-20000.0/50000))},
		{"groups of few rows", &logical.Aggregate{
			Input:  f.scan.WithExprs([]expr.Expr{compare(expr.LT, fc[0], constant(500))}),
			Groups: logical.PassItems(fc[1:2]),
		}, 394}, // 1000 * (1 - (1 - 1/1000)^500)
		{"limit", &logical.Limit{Input: f.scan, Count: 10, Offset: 5}, 10},
	}
	for _, c := range nodes {
		if got := est.Rows(c.node); !near(got, c.want, 1.6) {
			t.Errorf("seed %d, %s: %.0f rows, there are %.0f", seed, c.name, got, c.want)
		}
	}
}
