package joinorder

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

var (
	defaults = cost.Default()
	onCPU    = NewModel(physical.CPU, &defaults)
	onGPU    = NewModel(physical.GPU, &defaults)
)

// relation makes a relation of n rows of constants in some columns.
func relation(alloc *expr.Allocator, name string, rows, cols int) logical.Node {
	v := &logical.Values{}
	for c := range cols {
		v.Cols = append(v.Cols, alloc.New(name, fmt.Sprint("c", c), types.Int64, false))
	}
	for r := range rows {
		row := make([]expr.Expr, cols)
		for c := range row {
			row[c] = &expr.Const{Value: types.IntValue(int64(r))}
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func equal(a, b logical.Node, ca, cb int) expr.Expr {
	return &expr.Compare{Op: expr.EQ, Left: a.Schema()[ca], Right: b.Schema()[cb]}
}

// randomGraph makes n relations joined as a tree with some more edges.
func randomGraph(r *rand.Rand, n int) ([]logical.Node, []expr.Expr) {
	alloc := &expr.Allocator{}
	relations := make([]logical.Node, n)
	var preds []expr.Expr
	for i := range relations {
		relations[i] = relation(alloc, fmt.Sprint("r", i), 1+r.IntN(200), 3)
		if i > 0 {
			preds = append(preds, equal(relations[i], relations[r.IntN(i)], r.IntN(3), r.IntN(3)))
		}
	}
	for range r.IntN(n) {
		a, b := r.IntN(n), r.IntN(n)
		if a != b {
			preds = append(preds, &expr.Compare{Op: expr.LT, Left: relations[a].Schema()[0], Right: relations[b].Schema()[1]})
		}
	}
	return relations, preds
}

// cheapest finds the best plan without cross products by trying every pair of every split.
func (g *graph) cheapest(s set, memo map[set]*plan) *plan {
	if s&(s-1) == 0 {
		return g.leaf(s.lowest())
	}
	if p, ok := memo[s]; ok {
		return p
	}
	var best *plan
	for left := (s - 1) & s; left != 0; left = (left - 1) & s {
		right := s &^ left
		if g.neighbours(left)&right == 0 {
			continue
		}
		a, b := g.cheapest(left, memo), g.cheapest(right, memo)
		if a == nil || b == nil {
			continue
		}
		if p := g.join(a, b); best == nil || p.cost < best.cost {
			best = p
		}
	}
	memo[s] = best
	return best
}

func TestDynamicProgrammingFindsTheCheapest(t *testing.T) {
	const seed = 20260101
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 200 {
		n := 3 + r.IntN(6)
		relations, preds := randomGraph(r, n)
		g := newGraph(relations, preds, stats.NewEstimator(), onCPU)
		got := g.dynamic(g.all())
		want := g.cheapest(g.all(), map[set]*plan{})
		if got == nil || math.Abs(got.cost-want.cost) > 1e-6*want.cost {
			t.Fatalf("seed %d, graph %d of %d relations: cost %v, the cheapest is %v", seed, i, n, got, want.cost)
		}
	}
}

// TestEveryConditionStands checks that each tree has all relations once and is equivalent to the conditions: every
// condition is in the tree, or follows from equalities in it.
func TestEveryConditionStands(t *testing.T) {
	const seed = 20260102
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 100 {
		n := 2 + r.IntN(20)
		relations, preds := randomGraph(r, n)
		tree, _ := Order(relations, preds, stats.NewEstimator(), logical.NoJoinHint, onCPU)
		if err := logical.Check(tree); err != nil {
			t.Fatalf("seed %d, graph %d: %v", seed, i, err)
		}
		leaves := 0
		parent := map[expr.ColumnID]expr.ColumnID{}
		var find func(id expr.ColumnID) expr.ColumnID
		find = func(id expr.ColumnID) expr.ColumnID {
			if p, ok := parent[id]; ok && p != id {
				return find(p)
			}
			return id
		}
		var others []expr.Expr
		logical.Walk(tree, func(n logical.Node) bool {
			if _, ok := n.(*logical.Values); ok {
				leaves++
				return false
			}
			for _, e := range n.Exprs() {
				c := e.(*expr.Compare)
				if c.Op == expr.EQ {
					parent[find(c.Left.(*expr.Column).ID)] = find(c.Right.(*expr.Column).ID)
				} else {
					others = append(others, e)
				}
			}
			return true
		})
		if leaves != n {
			t.Fatalf("seed %d, graph %d: %d of %d relations", seed, i, leaves, n)
		}
		for _, p := range preds {
			c := p.(*expr.Compare)
			stands := c.Op == expr.EQ && find(c.Left.(*expr.Column).ID) == find(c.Right.(*expr.Column).ID)
			for _, o := range others {
				stands = stands || expr.Equal(o, p)
			}
			if !stands {
				t.Fatalf("seed %d, graph %d: %s is lost in\n%s", seed, i, p, logical.Format(tree))
			}
		}
	}
}

func TestTwoColumnsEqualToOne(t *testing.T) {
	alloc := &expr.Allocator{}
	a, b := relation(alloc, "a", 10, 2), relation(alloc, "b", 10, 1)
	tree, _ := Order([]logical.Node{a, b}, []expr.Expr{equal(a, b, 0, 0), equal(a, b, 1, 0)}, stats.NewEstimator(), logical.NoJoinHint, onCPU)
	found := false
	logical.Walk(tree, func(n logical.Node) bool {
		if f, ok := n.(*logical.Filter); ok && len(f.Preds) == 1 {
			found = true
		}
		return true
	})
	if !found {
		t.Errorf("a.c0 = a.c1 is lost:\n%s", logical.Format(tree))
	}
}

func TestCrossProductsOnlyWhenNeeded(t *testing.T) {
	alloc := &expr.Allocator{}
	a, b, c, d := relation(alloc, "a", 2, 1), relation(alloc, "b", 100, 1), relation(alloc, "c", 2, 1), relation(alloc, "d", 90, 1)
	preds := []expr.Expr{equal(a, b, 0, 0), equal(c, d, 0, 0)}
	tree, _ := Order([]logical.Node{a, b, c, d}, preds, stats.NewEstimator(), logical.NoJoinHint, onCPU)
	cross := 0
	logical.Walk(tree, func(n logical.Node) bool {
		if j, ok := n.(*logical.Join); ok && len(j.On) == 0 {
			cross++
		}
		return true
	})
	if cross != 1 {
		t.Errorf("%d cross products:\n%s", cross, logical.Format(tree))
	}
}

func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{2, 4, 8, 12, 20, 60} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			relations, preds := randomGraph(rand.New(rand.NewPCG(1, uint64(n))), n)
			for b.Loop() {
				Order(relations, preds, stats.NewEstimator(), logical.NoJoinHint, onCPU)
			}
		})
	}
}

// sized is a relation of so many rows, by estimate only: a union of one relation with itself.
func sized(alloc *expr.Allocator, name string, rows float64) logical.Node {
	var n logical.Node = relation(alloc, name, 10, 1)
	for r := 10.0; r < rows; r *= 10 {
		u := &logical.SetOp{Kind: logical.UnionAll}
		for range 10 {
			u.All, u.InCols = append(u.All, n), append(u.InCols, n.Schema())
		}
		u.Cols = []*expr.Column{alloc.New(name, "c", types.Int64, false)}
		n = u
	}
	return n
}

// shapeOf writes a join tree as (probe build), relations by their names.
func shapeOf(n logical.Node) string {
	if j, ok := n.(*logical.Join); ok {
		return "(" + shapeOf(j.Left) + " " + shapeOf(j.Right) + ")"
	}
	return n.Schema()[0].Table
}

// A product that fits the caches is stored; a larger one streams through joins with one part each, the largest part first.
func TestProducts(t *testing.T) {
	for _, tc := range []struct {
		rows []float64
		want string
	}{
		{[]float64{10, 10, 1e6}, "(r2 (r0 r1))"},
		{[]float64{1e6, 1e6, 1e6}, "((r0 r1) r2)"},
		{[]float64{1e6, 1e6, 1e6, 1e6}, "(((r0 r1) r2) r3)"},
		{[]float64{1e3, 1e3, 1e8}, "((r2 r0) r1)"},
		{[]float64{1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9}, "(((((((((r9 r0) r1) r2) r3) r4) r5) r6) r7) r8)"},
	} {
		alloc := &expr.Allocator{}
		var relations []logical.Node
		for i, rows := range tc.rows {
			relations = append(relations, sized(alloc, fmt.Sprint("r", i), rows))
		}
		tree, cost := Order(relations, nil, stats.NewEstimator(), logical.NoJoinHint, onCPU)
		if got := shapeOf(tree); got != tc.want || math.IsNaN(cost) || math.IsInf(cost, 0) {
			t.Errorf("%v rows: %s at a cost of %v, want %s", tc.rows, got, cost, tc.want)
		}
	}
}

// A sum of two relations' columns that equals a third's is the key of a hash join: it is not tested pair by pair.
func TestEqualityOverThreeRelations(t *testing.T) {
	alloc := &expr.Allocator{}
	a, b, c := sized(alloc, "a", 1e3), sized(alloc, "b", 1e3), sized(alloc, "c", 1e6)
	sum, err := expr.NewCall("add", a.Schema()[0], b.Schema()[0])
	if err != nil {
		t.Fatal(err)
	}
	eq := &expr.Compare{Op: expr.EQ, Left: sum, Right: c.Schema()[0]}
	tree, _ := Order([]logical.Node{a, b, c}, []expr.Expr{eq}, stats.NewEstimator(), logical.NoJoinHint, onCPU)
	if got := shapeOf(tree); got != "((a b) c)" && got != "((b a) c)" {
		t.Errorf("%s", got)
	}
}

// However many rows there are, costs are numbers that can be compared.
func TestCostsAreFinite(t *testing.T) {
	const seed = 20260103
	r := rand.New(rand.NewPCG(seed, 1))
	for _, n := range []int{2, 8, 12, 40, 64} {
		for _, connected := range []bool{false, true} {
			alloc := &expr.Allocator{}
			var relations []logical.Node
			var preds []expr.Expr
			for i := range n {
				relations = append(relations, sized(alloc, fmt.Sprint("r", i), 1e15))
				if connected && i > 0 {
					preds = append(preds, &expr.Compare{Op: expr.LT, Left: relations[i].Schema()[0], Right: relations[r.IntN(i)].Schema()[0]})
				}
			}
			tree, cost := Order(relations, preds, stats.NewEstimator(), logical.NoJoinHint, onCPU)
			if math.IsNaN(cost) || math.IsInf(cost, 0) || strings.Count(shapeOf(tree), "r") != n {
				t.Errorf("seed %d: %d relations, connected %v: cost %v", seed, n, connected, cost)
			}
		}
	}
}

// At scale factor 100 of TPC-H a GPU addresses orders by their keys where a CPU builds on what is left of lineitem; where that is small, both do.
func TestModels(t *testing.T) {
	const keys = 6e8
	for _, tc := range []struct {
		name             string
		lineitem, orders float64 // rows
		cpu, gpu         string  // what is built on
	}{
		{"Q9", 47e6, 150e6, "lineitem", "orders"},
		{"Q21", 7.9e6, 73e6, "lineitem", "orders"},
		{"Q8", 4.1e6, 45e6, "lineitem", "lineitem"},
		{"Q5", 60e6, 22.7e6, "orders", "orders"},
		{"few orders", 600e6, 1e6, "orders", "orders"},
	} {
		for _, m := range []struct {
			model Model
			want  string
		}{{onCPU, tc.cpu}, {onGPU, tc.gpu}} {
			g := &graph{model: m.model, rows: []float64{tc.lineitem, tc.orders}, columns: []int{4, 3}}
			g.classes = []class{{set: 3, members: []member{
				{relation: 0, column: &stats.Column{Domain: 150e6}, span: keys, dense: true},
				{relation: 1, column: &stats.Column{Domain: 150e6}, span: keys, dense: true, unique: true},
			}}}
			got := "lineitem"
			if p := g.join(g.leaf(0), g.leaf(1)); p.right.set == single(1) {
				got = "orders"
			}
			if got != m.want {
				t.Errorf("%s, %+v: built on %s, want %s", tc.name, m.model, got, m.want)
			}
		}
	}
}

// A GPU does not build on a side of which one key has many rows, if it can build on the other.
func TestSkew(t *testing.T) {
	for _, tc := range []struct {
		frequent float64 // rows of r with one key
		r, s     float64
		cpu, gpu set // what is built on
	}{
		{1, 1e6, 1e8, single(0), single(0)},
		{50, 1e6, 1e8, single(0), single(0)},
		{5e4, 1e6, 1e7, single(0), single(1)},
		{7e6, 1.34e8, 1.35e8, single(0), single(1)},
	} {
		for _, m := range []struct {
			model Model
			want  set
		}{{onCPU, tc.cpu}, {onGPU, tc.gpu}} {
			g := &graph{model: m.model, rows: []float64{tc.r, tc.s}, columns: []int{2, 2}}
			g.classes = []class{{set: 3, members: []member{
				{relation: 0, column: &stats.Column{Domain: 1e9}, span: math.Inf(1), frequent: tc.frequent},
				{relation: 1, column: &stats.Column{Domain: 1e9}, span: math.Inf(1), frequent: 1},
			}}}
			if p := g.join(g.leaf(0), g.leaf(1)); p.right.set != m.want {
				t.Errorf("%+v, %+v: built on %b, want %b", tc, m.model, p.right.set, m.want)
			}
		}
	}
}

// Of two sides of about equal sizes a CPU stores the one whose keys repeat less, also where a filter would drop rows of the other.
func TestRepeatedKeysAreNotStored(t *testing.T) {
	for _, tc := range []struct {
		r, distinct, s float64 // s has unique keys
		want           set
	}{
		{1 << 17, 1 << 17, 1<<17 + 1, single(0)},
		{1 << 17, 1 << 15, 1<<17 + 1, single(1)},
		{1 << 22, 1.5e6, 1 << 22, single(1)},
		{1 << 20, 1 << 18, 1 << 22, single(0)},
	} {
		g := &graph{model: onCPU, rows: []float64{tc.r, tc.s}, columns: []int{2, 2}}
		g.classes = []class{{set: 3, members: []member{
			{relation: 0, column: &stats.Column{Distinct: tc.distinct, Domain: tc.distinct}, span: 1 << 32},
			{relation: 1, column: &stats.Column{Distinct: tc.s, Domain: tc.s}, span: 1 << 32},
		}}}
		if p := g.join(g.leaf(0), g.leaf(1)); p.right.set != tc.want {
			t.Errorf("%+v: built on %b, want %b", tc, p.right.set, tc.want)
		}
	}
}

// A large side is not stored for the sole reason that its keys are dense where those of a far smaller one are not.
func TestLargeDenseSideIsNotStored(t *testing.T) {
	for _, tc := range []struct {
		name             string
		lineitem, orders float64 // rows
	}{
		{"Q3 at scale factor 20", 64e6, 2.9e6},
		{"Q3 at scale factor 100", 320e6, 14.5e6},
		{"Q18 at scale factor 20", 120e6, 3e6},
		{"Q18 at scale factor 100", 600e6, 15e6},
	} {
		g := &graph{model: onCPU, rows: []float64{tc.lineitem, tc.orders}, columns: []int{4, 3}}
		g.classes = []class{{set: 3, members: []member{
			{relation: 0, column: &stats.Column{Domain: 30e6}, span: 120e6, dense: true},
			{relation: 1, column: &stats.Column{Domain: 30e6}, span: 120e6},
		}}}
		if p := g.join(g.leaf(0), g.leaf(1)); p.right.set != single(1) {
			t.Errorf("%s: built on lineitem", tc.name)
		}
	}
}

// Days that share a week with a day of one year: a part that has joined all days with those by their weeks has few days left, and a scan by day finds few matches in it.
func TestMatchedAfterJoins(t *testing.T) {
	const scan, all, year = 0, 1, 2
	day, week := &stats.Column{Distinct: 1820, Domain: 1820}, &stats.Column{Distinct: 260, Domain: 260}
	g := &graph{model: onCPU, rows: []float64{1e7, 1820, 365}, columns: []int{3, 2, 2}}
	g.classes = []class{
		{set: single(scan) | single(all), members: []member{{relation: scan, column: day}, {relation: all, column: day}}},
		{set: single(all) | single(year), members: []member{{relation: all, column: week}, {relation: year, column: &stats.Column{Distinct: 52, Domain: 260}}}},
	}
	for _, tc := range []struct {
		name string
		part *plan
		want float64
	}{
		{"all days", g.leaf(all), 1},
		{"days of weeks of the year", g.join(g.leaf(all), g.leaf(year)), 0.2},
	} {
		if got := g.matched(g.leaf(scan), tc.part); math.Abs(got-tc.want) > 0.01 {
			t.Errorf("%s: %.3f of the rows find a match, want %.3f", tc.name, got, tc.want)
		}
	}
}

// Pairs that equalities find and another condition drops cost as much as those that are given.
func TestTestedPairsCost(t *testing.T) {
	few, many := crossing{selectivity: 1e-4, equalities: 1, single: -1}, crossing{selectivity: 1e-4, equalities: 1, single: -1, tested: 1e-2}
	g := &graph{model: onCPU, rows: []float64{1e4, 1e4}, columns: []int{1, 1}}
	if d := g.joinCost(g.leaf(0), g.leaf(1), many) - g.joinCost(g.leaf(0), g.leaf(1), few); d != onCPU.prices.Output*1e6 {
		t.Errorf("a million tested pairs cost %v", d)
	}
}
