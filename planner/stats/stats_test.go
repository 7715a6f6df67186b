package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
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
	for c := range width {
		s.Columns = append(s.Columns, table.ColumnDef{Name: string(rune('a' + c)), Type: types.Int64})
		v := column.New(types.Int64, n)
		for i := range rows {
			v.Set(i, n, types.IntValue(rows[i][c]))
		}
		batch.Cols = append(batch.Cols, v)
	}
	if key >= 0 {
		s.Keys = []table.Key{{Name: "PRIMARY", Columns: []int{key}, Primary: true, Unique: true}}
	}
	return &source{newScan(alloc, s, batch), rows}
}

// newScan makes a table of a batch and reads all of it.
func newScan(alloc *expr.Allocator, s *table.Schema, batch *column.Batch) *logical.Scan {
	v, err := table.New(s).Append(batch)
	if err != nil {
		panic(err)
	}
	scan := &logical.Scan{Alias: s.Name, Table: v}
	for i, def := range s.Columns {
		scan.Cols, scan.Ordinals = append(scan.Cols, alloc.New(s.Name, def.Name, def.Type, def.Nullable)), append(scan.Ordinals, i)
	}
	return scan
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

// over makes a set operation of columns of two sources, and counts its rows, and the distinct rows of each input.
func over(alloc *expr.Allocator, kind logical.SetOpKind, l *source, lcols []int, r *source, rcols []int) (n *logical.SetOp, rows float64, groups [2]float64) {
	n = &logical.SetOp{Kind: kind, All: []logical.Node{l.scan, r.scan}, InCols: make([][]*expr.Column, 2)}
	var counts [2]map[string]int
	for i, in := range [2]*source{l, r} {
		cols := [2][]int{lcols, rcols}[i]
		for _, c := range cols {
			n.InCols[i] = append(n.InCols[i], in.scan.Cols[c])
		}
		counts[i] = map[string]int{}
		for _, row := range in.rows {
			key := ""
			for _, c := range cols {
				key += fmt.Sprint(row[c], " ")
			}
			counts[i][key]++
		}
		groups[i] = float64(len(counts[i]))
	}
	for _, c := range n.InCols[0] {
		n.Cols = append(n.Cols, alloc.New("", c.Name, types.Int64, false))
	}
	for key, many := range counts[0] {
		other := counts[1][key]
		switch kind {
		case logical.UnionAll:
			rows += float64(many)
		case logical.Union:
			rows++
		case logical.Intersect:
			rows += float64(min(other, 1))
		case logical.IntersectAll:
			rows += float64(min(many, other))
		case logical.Except:
			rows += float64(1 - min(other, 1))
		case logical.ExceptAll:
			rows += float64(max(many-other, 0))
		}
	}
	for key, many := range counts[1] {
		switch {
		case kind == logical.UnionAll:
			rows += float64(many)
		case kind == logical.Union && counts[0][key] == 0:
			rows++
		}
	}
	return n, rows, groups
}

// Estimates of set operations are about a factor of two off at most, whether the inputs' rows repeat or not.
func TestEstimatesOfSetOperations(t *testing.T) {
	const seed = 12
	r := rand.New(rand.NewPCG(seed, 1))
	alloc := &expr.Allocator{}
	var facts, dims, few [][]int64
	for i := range int64(20000) {
		facts = append(facts, []int64{i, r.Int64N(1000), r.Int64N(50)})
	}
	for i := range int64(1000) {
		dims = append(dims, []int64{i, i % 10})
	}
	for i := range int64(50) {
		few = append(few, []int64{7 * i})
	}
	f, d, k := newSource(alloc, "f", 0, facts), newSource(alloc, "d", 0, dims), newSource(alloc, "k", 0, few)
	inputs := []struct {
		name         string
		l, r         *source
		lcols, rcols []int
	}{
		{"few values of many rows, fewer values", f, d, []int{2}, []int{1}},
		{"fewer values, few values of many rows", d, f, []int{1}, []int{2}},
		{"keys, few of them", d, k, []int{0}, []int{0}},
		{"as many values", f, d, []int{1}, []int{0}},
		{"pairs", d, f, []int{0, 1}, []int{1, 2}},
	}
	est := NewEstimator()
	for _, in := range inputs {
		for kind := logical.UnionAll; kind <= logical.ExceptAll; kind++ {
			n, rows, groups := over(alloc, kind, in.l, in.lcols, in.r, in.rcols)
			switch kind { // half of the first input is taken to stay at least
			case logical.Except:
				rows = max(rows, groups[0]/2)
			case logical.ExceptAll:
				rows = max(rows, float64(len(in.l.rows))/2)
			}
			if got := est.Rows(n); !near(got, rows, 2.1) {
				t.Errorf("seed %d, %s, %s: %.0f rows, there are %.0f", seed, in.name, kind, got, rows)
			}
			for i, want := range groups {
				if got := est.InputGroups(n, i); !near(got, want, 1.3) {
					t.Errorf("seed %d, %s, %s: input %d has %.0f distinct rows, there are %.0f", seed, in.name, kind, i, got, want)
				}
			}
		}
	}
}
