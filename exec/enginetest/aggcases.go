package enginetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Agg makes an aggregate over columns; those that it takes as doubles are made doubles.
func (g *Gen) Agg(name string, distinct bool, args ...*expr.Column) logical.AggItem {
	fn := expr.LookupAggregate(name)
	if fn == nil {
		panic("no aggregate " + name)
	}
	sig, err := fn.Resolve(exprs(args))
	if err != nil {
		panic(err)
	}
	it := logical.AggItem{Col: g.Alloc.New("", name, sig.Result, true), Fn: fn, Args: exprs(args), Distinct: distinct}
	for i, t := range sig.Args {
		if t.IsFloat() && it.Args[i].Type().Kind != t.Kind {
			it.Args[i] = &expr.Cast{Arg: it.Args[i], To: t} // as the binder does
		}
	}
	return it
}

// grouping is what a case groups by.
type grouping struct {
	name  string
	keys  []int
	dense []physical.DenseDomain

	stream, ascending bool
}

var groupings = []grouping{
	{name: "scalar"},
	{name: "integer", keys: []int{colKey}},
	{name: "nullable integer", keys: []int{colNull}},
	{name: "unique", keys: []int{colUnique}},
	{name: "wide", keys: []int{colWide}},
	{name: "word", keys: []int{colWord}},
	{name: "text", keys: []int{colString}},
	{name: "double", keys: []int{colFloat}},
	{name: "wide decimal", keys: []int{colBig}},
	{name: "bool and date", keys: []int{colBool, colDate}},
	{name: "two integers", keys: []int{colNull, colKey}},
	{name: "word and integer", keys: []int{colWord, colNull}},
	{name: "mixed", keys: []int{colString, colBool, colDec}},
	{name: "several words", keys: []int{colWide, colFloat, colWord, colNull, colUns}},
	{name: "all NULL", keys: []int{colNone}},
	{name: "dense", keys: []int{colDate}, dense: []physical.DenseDomain{{Min: 9000, Max: 9000 + 1<<17}}},
	{name: "dense words", keys: []int{colWord, colBool}, dense: []physical.DenseDomain{{IsDictionary: true, IsNullable: true}, {Min: 0, Max: 1, IsNullable: true}}},
	{name: "runs", keys: []int{colKey}, stream: true, ascending: true},
	{name: "runs that do not ascend", keys: []int{colKey}, stream: true},
	{name: "runs with NULLs", keys: []int{colNull}, stream: true},
	{name: "runs of text", keys: []int{colString}, stream: true},
	{name: "dense domain too small", keys: []int{colKey, colBool}, dense: []physical.DenseDomain{{Min: 0, Max: 4}, {Min: 0, Max: 1, IsNullable: true}}},
}

// aggregateLists are the aggregates that each grouping has.
var aggregateLists = map[string]func(g *Gen, c []*expr.Column) []logical.AggItem{
	"counts and sums": func(g *Gen, c []*expr.Column) []logical.AggItem {
		return []logical.AggItem{g.Agg("count(*)", false), g.Agg("count", false, c[colNull]), g.Agg("sum", false, c[colKey]), g.Agg("sum", false, c[colDec]),
			g.Agg("sum", false, c[colBig]), g.Agg("sum", false, c[colFloat]), g.Agg("avg", false, c[colDec]), g.Agg("avg", false, c[colWide]),
			g.Agg("avg", false, c[colFloat]), g.Agg("sum", false, c[colWide]), g.Agg("sum", false, c[colUns]), g.Agg("avg", false, c[colBig]), g.Agg("sum", false, c[colNone])}
	},
	"extremes": func(g *Gen, c []*expr.Column) []logical.AggItem {
		var items []logical.AggItem
		for _, k := range []int{colNull, colWide, colDec, colBig, colFloat, colWord, colString, colUns, colBool, colNone} {
			items = append(items, g.Agg("min", false, c[k]), g.Agg("max", k == colNull, c[k]))
		}
		return items
	},
	"statistics and bits": func(g *Gen, c []*expr.Column) []logical.AggItem {
		return []logical.AggItem{g.Agg("var_pop", false, c[colFloat]), g.Agg("var_samp", false, c[colFloat]), g.Agg("stddev_pop", false, c[colFloat]),
			g.Agg("stddev_samp", false, c[colFloat]), g.Agg("stddev_pop", false, c[colDec]), g.Agg("var_samp", false, c[colKey]), g.Agg("bit_and", false, c[colUns]), g.Agg("bit_or", false, c[colUns]), g.Agg("bit_xor", false, c[colUns])}
	},
	"distinct": func(g *Gen, c []*expr.Column) []logical.AggItem {
		return []logical.AggItem{g.Agg("count", true, c[colNull]), g.Agg("count", true, c[colString]), g.Agg("count", true, c[colWord], c[colBool]),
			g.Agg("sum", true, c[colNull]), g.Agg("avg", true, c[colNull]), g.Agg("count", true, c[colBig]), g.Agg("sum", true, c[colFloat]), g.Agg("count", false, c[colKey])}
	},
	"of analysts": func(g *Gen, c []*expr.Column) []logical.AggItem {
		items := []logical.AggItem{g.Agg("arg_min", false, c[colUnique], c[colFloat]), g.Agg("arg_max", false, c[colString], c[colUnique]), g.Agg("arg_max", false, c[colBig], c[colString]),
			g.Agg("mode", false, c[colNull]), g.Agg("mode", false, c[colString]), g.Agg("approx_count_distinct", false, c[colBool])}
		for _, name := range []string{"corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy"} {
			items = append(items, g.Agg(name, false, c[colNull], c[colDec]))
		}
		for _, part := range []float64{0, 0.07, 0.25, 0.338, 0.5, 1} {
			for _, name := range []string{"quantile_cont", "quantile_disc"} {
				it := g.Agg(name, false, c[colNull], c[colFloat])
				it.Args[1] = &expr.Const{Value: types.FloatValue(part)}
				items = append(items, it)
			}
		}
		return items
	},
	"none": func(*Gen, []*expr.Column) []logical.AggItem { return nil },
}

// plan groups a table by x: as many groups as are said, or, of 0, half as many as rows.
func (x grouping) plan(g *Gen, groups int, items func(g *Gen, c []*expr.Column) []logical.AggItem) *physical.Plan {
	keys := groups
	if keys == 0 {
		keys = g.Size/2 + 1
	}
	g.Ascending = x.ascending
	t, c := g.Scan(g.Table(g.Size, keys))
	a := &physical.Aggregate{Aggs: items(g, c), Dense: x.dense}
	switch {
	case len(x.keys) == 0:
		a.Algorithm = physical.ScalarAggregate
	case x.dense != nil:
		a.Algorithm = physical.DenseAggregate
	case x.stream:
		a.Algorithm = physical.StreamAggregate
	}
	var out []*expr.Column
	for _, k := range x.keys {
		col := g.Alloc.Like(c[k])
		a.Groups = append(a.Groups, logical.Item{Col: col, Expr: c[k]})
		out = append(out, col)
	}
	for _, it := range a.Aggs {
		out = append(out, it.Col)
	}
	if g.R.IntN(2) == 0 {
		t.Filters = []expr.Expr{compareTo(expr.GT, c[colWide], types.IntValue(0))}
	}
	g.Pipe(t, a)
	return g.Result(g.Read(a, out), out)
}

// aggregateCases group, or aggregate all rows.
func aggregateCases() []Case {
	var cs []Case
	for _, s := range groupings {
		for _, name := range slices.Sorted(maps.Keys(aggregateLists)) {
			items := aggregateLists[name]
			if name == "none" && len(s.keys) == 0 {
				continue
			}
			for _, groups := range []int{0, 5} {
				cs = append(cs, Case{Name: fmt.Sprintf("aggregate %s by %s (%d)", name, s.name, groups), Plan: func(g *Gen) *physical.Plan { return s.plan(g, groups, items) }})
			}
		}
	}
	return append(append(cs, runCases()...), singleAggregateCases()...)
}

// runCases group rows that come in runs.
func runCases() (cs []Case) {
	for _, every := range []int{5, 5000} { // rows of a group: runs that end in the next morsel, and that last several
		cs = append(cs, Case{Name: fmt.Sprintf("runs of %d over morsels", every), Plan: func(g *Gen) *physical.Plan {
			n := g.Size + 4*column.VectorSize
			g.Ascending = true
			t, c := g.Scan(g.Table(n, n/every+1))
			key := g.Alloc.Like(c[colKey])
			a := &physical.Aggregate{Algorithm: physical.StreamAggregate, Groups: []logical.Item{{Col: key, Expr: c[colKey]}}, Aggs: []logical.AggItem{
				g.Agg("count(*)", false), g.Agg("sum", false, c[colDec]), g.Agg("sum", false, c[colWide]), g.Agg("avg", false, c[colFloat]), g.Agg("min", false, c[colString]), g.Agg("any_value", false, c[colKey])}}
			g.Pipe(t, a)
			out := []*expr.Column{key}
			for _, it := range a.Aggs {
				out = append(out, it.Col)
			}
			return g.Result(g.Read(a, out), out)
		}})
	}
	return cs
}

// singleAggregateCases each have an aggregate, or some of their rows, of their own.
func singleAggregateCases() []Case {
	return []Case{{Name: "group_concat", Plan: func(g *Gen) *physical.Plan {
		t, c := g.Scan(g.Table(g.Size, g.Size/8+1))
		one := g.Agg("group_concat", false, c[colWord], c[colString])
		one.OrderBy = []logical.SortKey{{Expr: c[colNull], Desc: true}, {Expr: c[colUnique]}}
		one.Sep = ","
		two := g.Agg("group_concat", true, c[colString])
		two.OrderBy = []logical.SortKey{{Expr: c[colString]}}
		two.Sep = " | "
		key := g.Alloc.Like(c[colKey])
		a := &physical.Aggregate{Groups: []logical.Item{{Col: key, Expr: c[colKey]}}, Aggs: []logical.AggItem{one, two}}
		g.Pipe(t, a)
		out := []*expr.Column{key, one.Col, two.Col}
		return g.Result(g.Read(a, out), out)
	}}, {Name: "single value", Plan: func(g *Gen) *physical.Plan {
		t, c := g.Scan(g.Table(g.Size, 10))
		t.Filters = []expr.Expr{compareTo(expr.LE, c[colUnique], types.IntValue(int64(g.R.IntN(3))))}
		one := g.Agg("single_value", false, c[colString])
		a := &physical.Aggregate{Algorithm: physical.ScalarAggregate, Aggs: []logical.AggItem{one}}
		g.Pipe(t, a)
		return g.Result(g.Read(a, []*expr.Column{one.Col}), []*expr.Column{one.Col})
	}}, {Name: "any value of a dependent column", Plan: func(g *Gen) *physical.Plan {
		t, c := g.Scan(g.Table(g.Size, g.Size/3+1))
		items := []logical.AggItem{g.Agg("any_value", false, c[colKey]), g.Agg("any_value", false, c[colNone]), g.Agg("min", false, c[colKey])}
		key := g.Alloc.Like(c[colKey])
		a := &physical.Aggregate{Groups: []logical.Item{{Col: key, Expr: c[colKey]}}, Aggs: items}
		g.Pipe(t, a)
		out := []*expr.Column{key, items[0].Col, items[1].Col, items[2].Col}
		return g.Result(g.Read(a, out), out)
	}}, {Name: "sum overflows", Plan: func(g *Gen) *physical.Plan {
		t, c := g.Scan(g.Table(g.Size, 1))
		it := g.Agg("sum", false, c[colBig])
		it.Col.Typ = types.Decimal(19, 4)
		a := &physical.Aggregate{Algorithm: physical.ScalarAggregate, Aggs: []logical.AggItem{it}}
		g.Pipe(t, a)
		return g.Result(g.Read(a, []*expr.Column{it.Col}), []*expr.Column{it.Col})
	}}}
}

func sortCases() []Case {
	sorts := map[string][]int{
		"integer": {colKey}, "nullable": {colNull, colWord}, "wide": {colWide}, "word and double": {colWord, colFloat}, "text": {colString},
		"text and more": {colString, colDec, colUns}, "double": {colFloat}, "wide decimal": {colBig}, "unsigned": {colUns}, "date": {colDate, colBool, colString}, "all NULL": {colNone},
	}
	var cs []Case
	for _, name := range slices.Sorted(maps.Keys(sorts)) {
		keys := sorts[name]
		for _, limit := range []int64{-1, 0, 1, 10, 3000} {
			cs = append(cs, Case{Name: fmt.Sprintf("sort %s limit %d", name, limit), Ordered: true, Plan: func(g *Gen) *physical.Plan {
				t, c := g.Scan(g.Table(g.Size, g.Size/4+1))
				s := &physical.Sort{Cols: pick(c, colString, colUnique, colNull, colWord, colBig), Count: limit}
				if limit >= 0 {
					s.Offset = int64(g.R.IntN(20))
				}
				for _, k := range append(keys, colUnique) {
					s.Keys = append(s.Keys, logical.SortKey{Expr: c[k], Desc: g.R.IntN(2) == 0})
				}
				g.Pipe(t, s)
				return g.Result(g.Read(s, s.Cols), s.Cols)
			}})
		}
	}
	return cs
}
