package logical

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

func scan(alloc *expr.Allocator, name string, cols ...string) *Scan {
	s := &Scan{Alias: name, Table: table.New(&table.Schema{Name: name})}
	for i, c := range cols {
		s.Table.Schema.Columns = append(s.Table.Schema.Columns, table.ColumnDef{Name: c, Type: types.Int64})
		s.Cols = append(s.Cols, alloc.New(name, c, types.Int64, false))
		s.Ordinals = append(s.Ordinals, i)
	}
	return s
}

func eq(l, r expr.Expr) expr.Expr { return &expr.Compare{Op: expr.EQ, Left: l, Right: r} }

func TestFreeColumns(t *testing.T) {
	alloc := &expr.Allocator{}
	a, b := scan(alloc, "a", "x", "y"), scan(alloc, "b", "x")
	inner := NewFilter(b, eq(b.Cols[0], a.Cols[0]))
	if got := inner.FreeColumns(); !slices.Equal(got, []expr.ColumnID{a.Cols[0].ID}) {
		t.Errorf("the filter leaves %v free", got)
	}
	exists := &expr.Subquery{Kind: expr.ExistsSubquery, Rel: inner, Typ: types.Bool}
	if got := NewFilter(a, exists).FreeColumns(); got != nil {
		t.Errorf("a correlated EXISTS over its own outer relation leaves %v free", got)
	}
	other := scan(alloc, "c", "x")
	if got := NewFilter(other, exists).FreeColumns(); !slices.Equal(got, []expr.ColumnID{a.Cols[0].ID}) {
		t.Errorf("over another relation it leaves %v free", got)
	}
	if got := (&Apply{Kind: SemiJoin, Left: a, Right: inner}).FreeColumns(); got != nil {
		t.Errorf("Apply leaves %v free", got)
	}
}

func TestSchemaOfJoins(t *testing.T) {
	alloc := &expr.Allocator{}
	a, b := scan(alloc, "a", "x"), scan(alloc, "b", "x")
	mark := alloc.New("", "mark", types.Bool, true)
	for kind, want := range map[JoinKind]string{
		InnerJoin: "a.x b.x", LeftJoin: "a.x b.x?", FullJoin: "a.x? b.x?", SemiJoin: "a.x", AntiJoin: "a.x",
		MarkJoin: "a.x mark?", SingleJoin: "a.x b.x?",
	} {
		j := &Join{Kind: kind, Left: a, Right: b}
		if kind == MarkJoin {
			j.Mark = mark
		}
		var got []string
		for _, c := range j.Schema() {
			s := c.String()
			if c.Null {
				s += "?"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s gives %s, want %s", kind, s, want)
		}
	}
}

func TestCheck(t *testing.T) {
	alloc := &expr.Allocator{}
	a, b := scan(alloc, "a", "x", "y"), scan(alloc, "b", "x")
	text := alloc.New("", "s", types.Text, false)
	x := a.Cols[0]
	out := alloc.New("", "o", types.Int64, false)
	bad := map[string]Node{
		"not given below": NewFilter(a, eq(x, b.Cols[0])),
		"made twice":      &Join{Left: a, Right: &Project{Input: b, Items: []Item{{a.Cols[1], b.Cols[0]}}}},
		"has type":        &Filter{Input: a, Preds: []expr.Expr{x}},
		"beside":          &Project{Input: a, Items: []Item{{text, x}}},
		"has 1 columns":   &SetOp{Kind: UnionAll, All: []Node{a, b}, InCols: [][]*expr.Column{a.Cols, b.Cols}, Cols: []*expr.Column{out, alloc.New("", "p", types.Int64, false)}},
		"mark column":     &Join{Kind: MarkJoin, Left: a, Right: b},
		"given twice":     &Project{Input: a, Items: []Item{{x, x}, {x, x}}},
	}
	for want, n := range bad {
		if err := Check(n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: Check says %v", want, err)
		}
	}
	good := &Join{Kind: LeftJoin, Left: a, Right: b, On: []expr.Expr{eq(x, b.Cols[0])}}
	if err := Check(&Aggregate{Input: good, Groups: PassItems(good.Schema())}); err != nil {
		t.Error(err)
	}
	if err := CheckUnder(NewFilter(b, eq(x, b.Cols[0])), a.Cols); err != nil {
		t.Error(err)
	}
}

func TestCopyCanStandBesideTheOriginal(t *testing.T) {
	alloc := &expr.Allocator{}
	a := scan(alloc, "a", "x", "y")
	sum := alloc.New("", "s", types.Int64, true)
	fn, anyValue := &expr.Aggregate{Kind: expr.AggMax, Name: "max", EmptyIsNull: true}, &expr.Aggregate{Kind: expr.AggAnyValue, Name: "any_value", EmptyIsNull: true}
	agg := &Aggregate{Input: NewFilter(a, eq(a.Cols[0], a.Cols[1])), Groups: PassItems(a.Cols[:1]),
		Aggs: []AggItem{{Col: a.Cols[1], Fn: anyValue, Args: []expr.Expr{a.Cols[1]}}, {Col: sum, Fn: fn, Args: []expr.Expr{a.Cols[1]}}}}
	n, cols := Copy(agg, alloc)
	if err := Check(&Join{Left: agg, Right: n, On: []expr.Expr{eq(sum, cols[sum.ID])}}); err != nil {
		t.Error(err)
	}
	if Format(n) != Format(agg) {
		t.Errorf("the copy reads differently:\n%s%s", Format(agg), Format(n))
	}
}

func TestFormatTellsColumnsApart(t *testing.T) {
	alloc := &expr.Allocator{}
	a, b := scan(alloc, "t", "x"), scan(alloc, "t", "x")
	want := "InnerJoin ON t.x#1 = t.x#2\n  Scan t [t.x#1]\n  Scan t [t.x#2]\n"
	if got := Format(&Join{Left: a, Right: b, On: []expr.Expr{eq(a.Cols[0], b.Cols[0])}}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestColSet compares with a map.
func TestColSet(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		var sets [2]ColSet
		maps := [2]map[expr.ColumnID]bool{{}, {}}
		for range r.IntN(30) {
			i, id := r.IntN(2), expr.ColumnID(1+r.IntN(200))
			if r.IntN(4) == 0 {
				sets[i].Remove(id)
				delete(maps[i], id)
			} else {
				sets[i].Add(id)
				maps[i][id] = true
			}
		}
		union, minus := sets[0].Union(sets[1]), sets[0].Minus(sets[1])
		within, meets := true, false
		for id := range expr.ColumnID(260) {
			x, y := maps[0][id], maps[1][id]
			within, meets = within && (!x || y), meets || x && y
			if sets[0].Has(id) != x || union.Has(id) != (x || y) || minus.Has(id) != (x && !y) {
				t.Fatalf("seed %d: wrong about %d in %v and %v", seed, id, maps[0], maps[1])
			}
		}
		if sets[0].Within(sets[1]) != within || sets[0].Meets(sets[1]) != meets || sets[0].Len() != len(maps[0]) ||
			sets[0].Empty() != (len(maps[0]) == 0) || len(sets[0].IDs()) != len(maps[0]) {
			t.Fatalf("seed %d: wrong about %v and %v", seed, maps[0], maps[1])
		}
	}
}
