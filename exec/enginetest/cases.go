package enginetest

import (
	"fmt"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	_ "github.com/radish-sql/radish/sql/functions" // which cases call
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Cases returns all cases.
func Cases() []Case {
	var cs []Case
	cs = append(cs, scanCases()...)
	cs = append(cs, joinCases()...)
	cs = append(cs, aggregateCases()...)
	cs = append(cs, sortCases()...)
	cs = append(cs, windowCases()...)
	cs = append(cs, recursionCases()...)
	cs = append(cs, unnestCases()...)
	return cs
}

// filterCases scan with filters.
func filterCases() []Case {
	filter := func(name string, f func(g *Gen, c []*expr.Column) []expr.Expr) Case {
		return Case{Name: "scan " + name, Plan: func(g *Gen) *physical.Plan {
			s, c := g.Scan(g.Table(g.Size, g.Size/2))
			s.Filters = f(g, c)
			return g.Result(s, c)
		}}
	}
	null := func(c *expr.Column) expr.Expr { return &expr.IsNull{Arg: c} }
	not := func(e expr.Expr) expr.Expr { return &expr.Not{Arg: e} }
	return []Case{
		filter("range", func(g *Gen, c []*expr.Column) []expr.Expr {
			return []expr.Expr{compareTo(expr.GE, c[colKey], types.IntValue(int64(g.Size/4))), compareTo(expr.LT, c[colKey], types.IntValue(int64(g.Size)))}
		}),
		filter("in and null", func(g *Gen, c []*expr.Column) []expr.Expr {
			return []expr.Expr{&expr.In{Arg: c[colNull], List: []types.Value{types.IntValue(0), types.IntValue(3), types.IntValue(9)}}, not(null(c[colWord]))}
		}),
		filter("not in", func(g *Gen, c []*expr.Column) []expr.Expr {
			return []expr.Expr{not(&expr.In{Arg: c[colNull], List: []types.Value{types.IntValue(0), types.IntValue(3)}})}
		}),
		filter("word", func(g *Gen, c []*expr.Column) []expr.Expr {
			return []expr.Expr{compareTo(expr.LT, c[colWord], types.StringValue("word3"))}
		}),
		filter("or over two columns", func(g *Gen, c []*expr.Column) []expr.Expr {
			return []expr.Expr{&expr.Or{Args: []expr.Expr{compareTo(expr.EQ, c[colWord], types.StringValue("word1")), compareTo(expr.GT, c[colFloat], types.FloatValue(0))}},
				compareTo(expr.NE, c[colString], types.StringValue("1 some text"))}
		}),
		filter("all NULL", func(g *Gen, c []*expr.Column) []expr.Expr {
			return []expr.Expr{null(c[colNone]), not(compareTo(expr.GT, c[colDec], types.IntValue(0)))}
		}),
		filter("nothing", func(g *Gen, c []*expr.Column) []expr.Expr {
			return []expr.Expr{compareTo(expr.GT, c[colNone], types.IntValue(0))}
		}),
		filter("columns compared", func(g *Gen, c []*expr.Column) []expr.Expr {
			return []expr.Expr{&expr.Compare{Op: expr.LT, Left: c[colKey], Right: c[colNull]}}
		}),
	}
}

// scanCases have no sink but the result, and one that collects.
func scanCases() []Case {
	all := Case{Name: "scan all", Ordered: true, Plan: func(g *Gen) *physical.Plan {
		s, c := g.Scan(g.Table(g.Size, 10))
		return g.Result(s, c)
	}}
	return append(append([]Case{all}, filterCases()...), []Case{
		{Name: "filter and project", Plan: func(g *Gen) *physical.Plan {
			s, c := g.Scan(g.Table(g.Size, g.Size))
			p := g.Alloc.New("", "p", types.Bool, true)
			r := g.Alloc.New("", "r", types.Int64, false)
			return g.Result(s, append(pick(c, colKey, colString), p, r),
				&physical.Filter{Preds: []expr.Expr{compareTo(expr.GT, c[colDec], types.IntValue(0))}},
				&physical.Project{Items: []logical.Item{{Col: p, Expr: &expr.Compare{Op: expr.LE, Left: c[colKey], Right: c[colNull]}}, {Col: r, Expr: c[colKey]}}},
				&physical.Filter{Preds: []expr.Expr{&expr.IsNull{Arg: &expr.Column{ID: p.ID, Typ: p.Typ, Null: true}}}})
		}},
		{Name: "limit", Ordered: true, Plan: func(g *Gen) *physical.Plan {
			s, c := g.Scan(g.Table(g.Size, 10))
			return g.Result(s, c, &physical.Filter{Preds: []expr.Expr{compareTo(expr.GT, c[colKey], types.IntValue(3))}},
				&physical.Limit{Count: int64(g.R.IntN(2500)), Offset: int64(g.R.IntN(50))})
		}},
		{Name: "repeat", Plan: func(g *Gen) *physical.Plan {
			s, c := g.Scan(g.Table(min(g.Size, 3000), 3))
			return g.Result(s, pick(c, colUnique, colString), &physical.Repeat{Count: c[colKey]})
		}},
		{Name: "repeat groups", Plan: func(g *Gen) *physical.Plan { // as often as they have rows
			s, c := g.Scan(g.Table(min(g.Size, 20000), []int{2, 50, g.Size/2 + 1}[g.R.IntN(3)]))
			key, n := g.Alloc.Like(c[colKey]), g.Agg("count(*)", false)
			a := &physical.Aggregate{Groups: []logical.Item{{Col: key, Expr: c[colKey]}}, Aggs: []logical.AggItem{n}}
			g.Pipe(s, a)
			out := []*expr.Column{key, n.Col}
			return g.Result(g.Read(a, out), out, &physical.Filter{Preds: []expr.Expr{compareTo(expr.NE, key, types.IntValue(1))}}, &physical.Repeat{Count: n.Col})
		}},
		{Name: "repeat constants", Plan: func(g *Gen) *physical.Plan {
			v := &physical.ValuesScan{Cols: []*expr.Column{g.Alloc.New("", "a", types.Int64, false)}}
			for _, n := range []int64{0, 1, 2, 31, 32, 33, 64, 65, 4095, 70000} {
				v.Rows = append(v.Rows, []expr.Expr{&expr.Const{Value: types.IntValue(n)}})
			}
			return g.Result(v, v.Cols, &physical.Repeat{Count: v.Cols[0]})
		}},
		{Name: "values", Ordered: true, Plan: func(g *Gen) *physical.Plan {
			v := &physical.ValuesScan{Cols: []*expr.Column{g.Alloc.New("", "a", types.Int64, true), g.Alloc.New("", "b", types.Varchar(10), false)}}
			for i := range min(g.Size, 5000) {
				a := types.IntValue(int64(i))
				a.Null = i%7 == 0
				b := types.StringValue(fmt.Sprint(i))
				v.Rows = append(v.Rows, []expr.Expr{&expr.Const{Value: a}, &expr.Const{Value: b}})
			}
			return g.Result(v, v.Cols)
		}},
		{Name: "union of three into one", Plan: func(g *Gen) *physical.Plan {
			a, b := g.Table(g.Size, 10), g.Table(g.Size/2, 10)
			var cols []*expr.Column
			m := &physical.Materialize{}
			for _, v := range []*table.Version{a, b, a} {
				s, c := g.Scan(v)
				in := pick(c, colKey, colWord, colString)
				if cols == nil {
					for _, x := range in {
						cols = append(cols, g.Alloc.Like(x))
					}
					m.Cols = cols
				}
				var items []logical.Item
				for k := range in {
					items = append(items, logical.Item{Col: cols[k], Expr: in[k]})
				}
				g.Pipe(s, m, &physical.Project{Items: items})
			}
			return g.Result(g.Read(m, cols), cols)
		}},
	}...)
}

// joinSpec is a join case.
type joinSpec struct {
	name        string
	keys        []int // columns compared on both sides
	safe        bool
	alg         physical.JoinAlgorithm
	op          expr.Op
	unique      bool // build keys are unique
	skew        int  // distinct keys; 0: a quarter of the rows
	limit       int  // rows at most
	payload     []int
	hasResidual bool
	made        bool // there is a residual condition, about strings made of both sides
	searched    bool // Build.Searched, but for marks
	hasConstant bool // the build's last key is a constant
	ranges      []rangeSpec
}

// rangeSpec is an inequality between columns of the sides.
type rangeSpec struct {
	probe int
	op    expr.Op
	build int
}

func joinCases() []Case {
	specs := []joinSpec{
		{name: "integer", keys: []int{colKey}, payload: []int{colString, colNull}},
		{name: "integer dense", keys: []int{colKey}, alg: physical.DenseJoin, payload: []int{colWord, colDec}},
		{name: "nullable integer", keys: []int{colNull}, payload: []int{colKey, colFloat}},
		{name: "unique", keys: []int{colUnique}, unique: true, payload: []int{colWord, colBig, colNone}},
		{name: "wide unique", keys: []int{colWide}, payload: []int{colUnique}},
		{name: "word", keys: []int{colWord}, limit: 300, payload: []int{colUnique, colWord}},
		{name: "text", keys: []int{colString}, payload: []int{colUnique, colDate}},
		{name: "double", keys: []int{colFloat}, payload: []int{colUnique}},
		{name: "wide decimal", keys: []int{colBig}, payload: []int{colUnique}},
		{name: "unsigned", keys: []int{colUns}, payload: []int{colUnique}},
		{name: "two integers", keys: []int{colNull, colDate}, payload: []int{colUnique, colString}},
		{name: "word and integer", keys: []int{colWord, colNull}, payload: []int{colUnique}},
		{name: "mixed types", keys: []int{colString, colNull, colBool}, payload: []int{colUnique}},
		{name: "null-safe", keys: []int{colNull, colWord}, safe: true, payload: []int{colUnique}},
		{name: "null-safe generic", keys: []int{colString}, safe: true, payload: []int{colUnique}},
		{name: "all NULL", keys: []int{colNone}, payload: []int{colUnique}},
		{name: "a constant", keys: []int{colKey}, hasConstant: true, skew: 9, limit: 300, payload: []int{colUnique, colString}},
		{name: "integer and a constant", keys: []int{colNull, colKey}, hasConstant: true, skew: 9, limit: 1000, payload: []int{colUnique, colString}},
		{name: "keys only", keys: []int{colNull}},
		{name: "keys only dense", keys: []int{colKey}, alg: physical.DenseJoin, limit: 500},
		{name: "skew", keys: []int{colKey}, skew: 2, limit: 400, payload: []int{colUnique, colWord}},
		{name: "nested loop", alg: physical.NestedLoopJoin, limit: 120, payload: []int{colKey, colString}},
		{name: "nested loop by key", keys: []int{colKey}, alg: physical.NestedLoopJoin, limit: 300, payload: []int{colKey, colString}},
		{name: "nested loop by nullable keys", keys: []int{colNull, colWord}, alg: physical.NestedLoopJoin, skew: 9, limit: 300, payload: []int{colUnique, colString}},
		{name: "nested loop by text", keys: []int{colString}, alg: physical.NestedLoopJoin, skew: 9, limit: 200, payload: []int{colUnique}},
		{name: "nested loop null-safe", keys: []int{colNull}, safe: true, alg: physical.NestedLoopJoin, skew: 9, limit: 200, payload: []int{colUnique}},
		{name: "index nested loop", keys: []int{colKey}, alg: physical.NestedLoopJoin, searched: true, limit: 900, payload: []int{colKey, colString}},
		{name: "index nested loop by nullable", keys: []int{colNull}, alg: physical.NestedLoopJoin, searched: true, skew: 3, limit: 300, payload: []int{colUnique, colWord}},
		{name: "range less", keys: []int{colNull}, alg: physical.RangeJoin, op: expr.LT, limit: 120, payload: []int{colKey, colString}},
		{name: "range at least", keys: []int{colWord}, alg: physical.RangeJoin, op: expr.GE, limit: 120, payload: []int{colKey, colNull}},
		{name: "range greater", keys: []int{colFloat}, alg: physical.RangeJoin, op: expr.GT, limit: 120, payload: []int{colKey}},
		{name: "range at most", keys: []int{colBig}, alg: physical.RangeJoin, op: expr.LE, limit: 120, payload: []int{colKey}},
		{name: "between", keys: []int{colNull}, alg: physical.RangeJoin, op: expr.GE, limit: 600, payload: []int{colWide, colDate, colNull},
			ranges: []rangeSpec{{colNull, expr.GE, colNull}, {colDate, expr.LE, colDate}}},
		{name: "between doubles", keys: []int{colFloat}, alg: physical.RangeJoin, op: expr.LT, limit: 600, payload: []int{colFloat, colUns, colString},
			ranges: []rangeSpec{{colUns, expr.GT, colUns}}},
		{name: "between wide decimals", keys: []int{colBig}, alg: physical.RangeJoin, op: expr.GT, limit: 120, payload: []int{colKey, colDec},
			ranges: []rangeSpec{{colDec, expr.LT, colDec}}},
		{name: "range strings", keys: []int{colString}, alg: physical.RangeJoin, op: expr.LT, limit: 120, payload: []int{colKey, colString}},
		{name: "between strings", keys: []int{colString}, alg: physical.RangeJoin, op: expr.GE, limit: 120, payload: []int{colString, colKey},
			ranges: []rangeSpec{{colString, expr.LE, colString}}},
		{name: "between strings and wide decimals", keys: []int{colString}, alg: physical.RangeJoin, op: expr.GT, limit: 120, payload: []int{colBig, colKey},
			ranges: []rangeSpec{{colBig, expr.LT, colBig}}},
		{name: "key and less strings", keys: []int{colKey}, skew: 3, limit: 400, payload: []int{colString, colNull},
			ranges: []rangeSpec{{colString, expr.LT, colString}, {colNull, expr.GE, colNull}}},
		{name: "key and between", keys: []int{colKey}, skew: 3, limit: 600, payload: []int{colNull, colWide, colString},
			ranges: []rangeSpec{{colNull, expr.LE, colNull}, {colWide, expr.GT, colWide}}},
		{name: "nullable key and between", keys: []int{colNull}, skew: 3, limit: 600, payload: []int{colDate, colUnique},
			ranges: []rangeSpec{{colDate, expr.GE, colDate}, {colDate, expr.LE, colDate}}},
		{name: "text and between", keys: []int{colString}, skew: 2, limit: 400, payload: []int{colDec, colFloat},
			ranges: []rangeSpec{{colDec, expr.LE, colDec}, {colFloat, expr.GT, colFloat}}},
		{name: "dense key and less", keys: []int{colKey}, skew: 2, alg: physical.DenseJoin, limit: 400, payload: []int{colUnique},
			ranges: []rangeSpec{{colUnique, expr.LT, colUnique}}},
		{name: "key and made strings", keys: []int{colKey}, made: true, skew: 3, limit: 300, payload: []int{colString, colUnique}},
		{name: "nested loop by made strings", alg: physical.NestedLoopJoin, made: true, limit: 120, payload: []int{colString, colUnique}},
	}
	var cs []Case
	for _, s := range specs {
		for _, kind := range []logical.JoinKind{logical.InnerJoin, logical.LeftJoin, logical.FullJoin, logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin} {
			for _, hasResidual := range []bool{false, true} {
				s := s
				if s.hasResidual = hasResidual; s.made && !hasResidual {
					continue
				}
				name := fmt.Sprintf("join %d %s", kind, s.name)
				if hasResidual {
					if len(s.payload) == 0 {
						continue
					}
					name += " residual"
				}
				cs = append(cs, Case{Name: name, Plan: func(g *Gen) *physical.Plan { return joinPlan(g, s, kind) }})
			}
		}
	}
	return cs
}

// conditions are residual ones, about a row of the probe's and the first column of a build's payload.
func (s joinSpec) conditions(pc []*expr.Column, y *expr.Column) []expr.Expr {
	switch {
	case s.made:
		x := pc[colString]
		long := concat(y, concat(x, y), concat(y, x, y), x)
		return []expr.Expr{&expr.Compare{Op: expr.NE, Left: long, Right: concat(long, x)}, &expr.Compare{Op: expr.LT, Left: concat(x, y), Right: concat(y, x)}}
	case y.Typ.Phys() != types.PhysInt64:
		return []expr.Expr{&expr.Or{Args: []expr.Expr{&expr.IsNull{Arg: y}, compareTo(expr.GT, pc[colKey], types.IntValue(3))}}}
	}
	return []expr.Expr{&expr.Compare{Op: expr.NE, Left: pc[colUnique], Right: y}}
}

// concat is a string made of others.
func concat(parts ...expr.Expr) expr.Expr {
	e, err := expr.NewCall("concat", parts...)
	if err != nil {
		panic(err)
	}
	return e
}

func joinPlan(g *Gen, s joinSpec, kind logical.JoinKind) *physical.Plan {
	n := g.Size
	if s.limit > 0 {
		n = min(n, s.limit+g.R.IntN(3))
	}
	// One side is sometimes much smaller, or empty.
	np, nb := n, n
	switch g.R.IntN(5) {
	case 0:
		nb = n / 10
	case 1:
		np = n / 10
	case 2:
		nb = 0
	}
	keys := n/4 + 1
	if s.skew > 0 {
		keys = s.skew
	}
	if kind == logical.MarkJoin {
		np, nb = min(np, 150), min(nb, 150)
	}
	if s.safe {
		nb = min(nb, 1000) // every NULL meets every other, and an eighth of the rows has one
	}
	bs, bc := g.Scan(g.Table(nb, keys))
	ps, pc := g.Scan(g.Table(np, keys))
	b := &physical.Build{Algorithm: s.alg, Keys: exprs(pick(bc, s.keys...)), Payload: pick(bc, s.payload...), Unique: s.unique, RangeOp: s.op, Searched: s.searched && kind != logical.MarkJoin}
	if s.hasConstant {
		last := len(b.Keys) - 1
		b.Keys[last] = &expr.Const{Value: types.IntValue(3)}
	}
	if s.alg == physical.DenseJoin {
		b.DenseMin, b.DenseMax = 0, int64(3*keys)
	}
	if s.safe {
		b.NullSafe = make([]bool, len(s.keys))
		for i := range b.NullSafe {
			b.NullSafe[i] = true
		}
	}
	p := &physical.Probe{Kind: kind, Build: b, Keys: exprs(pick(pc, s.keys...))}
	if s.hasResidual {
		p.Residual = s.conditions(pc, b.Payload[0])
	}
	for _, x := range s.ranges {
		p.Residual = append(p.Residual, &expr.Compare{Op: x.op, Left: pc[x.probe], Right: bc[x.build]})
	}
	out := pick(pc, colUnique, colString, colWord)
	switch kind {
	case logical.InnerJoin, logical.LeftJoin, logical.FullJoin, logical.SingleJoin:
		out = append(out, b.Payload...)
	case logical.MarkJoin:
		p.Mark = g.Alloc.New("", "mark", types.Bool, true)
		out = append(out, p.Mark)
	}
	p.Keep = ids(out...)
	if b.KeepUnmatched = kind == logical.FullJoin; g.R.IntN(4) > 0 {
		b.FindInequalities(p)
	}
	if g.R.IntN(2) == 0 {
		ps.Filters = []expr.Expr{compareTo(expr.GT, pc[colWide], types.IntValue(0))}
	}
	g.Pipe(bs, b)
	if kind == logical.InnerJoin && len(s.keys) > 0 && !s.safe && s.alg != physical.RangeJoin && s.alg != physical.NestedLoopJoin {
		ps.RuntimeFilters = []physical.RuntimeFilterUse{{Build: b, Key: 0, Col: pc[s.keys[0]].ID, Drops: 1}}
		b.MakeFilter, b.FilterDrops = make([]bool, len(s.keys)), make([]float64, len(s.keys))
		b.MakeFilter[0], b.FilterDrops[0] = true, 1
	}
	return g.plan(out, func(res *physical.Result) {
		g.Pipe(ps, res, p, &physical.Filter{Preds: []expr.Expr{compareTo(expr.GE, pc[colUnique], types.IntValue(0))}})
		if kind == logical.FullJoin {
			g.pipes[len(g.pipes)-1].Transforms = []physical.Transform{p}
			g.Pipe(&physical.UnmatchedScan{Build: b, Nulls: pick(pc, colUnique, colString, colWord)}, res)
		}
	})
}
