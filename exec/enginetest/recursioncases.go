package enginetest

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// startRecursion makes a recursion over columns like c, and those columns.
func startRecursion(g *Gen, c []*expr.Column, distinct bool) (*physical.Recursion, []*expr.Column) {
	cols := make([]*expr.Column, len(c))
	for i := range c {
		cols[i] = g.Alloc.New("", "r", c[i].Typ, true)
	}
	r := &physical.Recursion{Name: "r", Cols: cols, Distinct: distinct, Enough: logical.NoLimit,
		Round: &physical.Materialize{Cols: cols}, Work: &physical.WorkTable{Cols: cols}}
	return r, cols
}

// lastRound reads the rows of a recursion's last round.
func lastRound(g *Gen, r *physical.Recursion) (*physical.SinkScan, []*expr.Column) {
	s := &physical.SinkScan{From: r.Work, Ins: ids(r.Cols...)}
	for _, c := range r.Cols {
		s.Cols = append(s.Cols, g.Alloc.Like(c))
	}
	return s, s.Cols
}

// renamed makes columns others.
func renamed(from, to []*expr.Column) *physical.Project {
	p := &physical.Project{}
	for i := range from {
		p.Items = append(p.Items, logical.Item{Col: to[i], Expr: from[i]})
		p.Keep = append(p.Keep, to[i].ID)
	}
	return p
}

// reach follows the edges of a random graph. by: of rows with one key the first stands alone, whatever else is in it; so only the key is in the result.
func reach(distinct, by bool) func(g *Gen) *physical.Plan {
	return func(g *Gen) *physical.Plan {
		n := min(g.Size, 300)
		keys := n + 1
		if distinct { // cycles everywhere
			keys = n/3 + 1
		}
		edges := g.Table(n, keys)
		// The edges lead from keys to what hangs on them; without distinct only upwards, or it would not end.
		bs, bc := g.Scan(edges)
		b := &physical.Build{Keys: []expr.Expr{bc[colKey]}, Payload: pick(bc, colNull, colString)}
		g.Pipe(bs, b)
		seeds, sc := g.Scan(edges)
		in := pick(sc, colNull, colString)
		r, cols := startRecursion(g, in, distinct)
		if by {
			r.By = []int{0}
		}
		seeds.Filters = []expr.Expr{compareTo(expr.LT, sc[colUnique], types.IntValue(int64(2+g.R.IntN(20))))}
		g.Pipe(seeds, r, renamed(in, cols))

		ws, wc := lastRound(g, r)
		p := &physical.Probe{Kind: logical.InnerJoin, Build: b, Keys: []expr.Expr{wc[0]}, Keep: append(ids(wc...), ids(b.Payload...)...)}
		steps := []physical.Transform{p}
		if !distinct {
			steps = append(steps, &physical.Filter{Preds: []expr.Expr{&expr.Compare{Op: expr.GT, Left: b.Payload[0], Right: wc[0]}}})
		}
		r.Step = []*physical.Pipeline{{ID: 90, Source: ws, Transforms: append(steps, renamed(b.Payload, cols)), Sink: r.Round}}
		if by {
			return g.Result(g.Read(r, cols), cols[:1])
		}
		return g.Result(g.Read(r, cols), cols)
	}
}

// recursionCases follow the edges of a random graph, and count.
func recursionCases() []Case {
	return []Case{
		{Name: "recursion reaches distinct rows", Plan: reach(true, false)},
		{Name: "recursion reaches rows with distinct keys", Plan: reach(true, true)},
		{Name: "recursion follows all paths", Plan: reach(false, false)},
		{Name: "recursion with a sink in its rounds", Plan: func(g *Gen) *physical.Plan {
			t, c := g.Scan(g.Table(min(g.Size, 2000), 50))
			in := pick(c, colKey)
			r, cols := startRecursion(g, in, false)
			g.Pipe(t, r, renamed(in, cols))
			// Each round joins the rows of the last one with themselves, sorted, less one in key.
			as, ac := lastRound(g, r)
			m := &physical.Sort{Keys: []logical.SortKey{{Expr: ac[0]}}, Cols: ac, Count: int64(1 + g.R.IntN(30))}
			first := g.Read(m, ac)
			one, err := expr.NewCall("sub", ac[0], &expr.Const{Value: types.IntValue(3)})
			if err != nil {
				panic(err)
			}
			r.Step = []*physical.Pipeline{
				{ID: 90, Source: as, Sink: m},
				{ID: 91, Source: first, Sink: r.Round, Transforms: []physical.Transform{
					&physical.Filter{Preds: []expr.Expr{compareTo(expr.GT, ac[0], types.IntValue(5))}},
					&physical.Project{Items: []logical.Item{{Col: cols[0], Expr: one}}, Keep: ids(cols...)},
				}},
			}
			return g.Result(g.Read(r, cols), cols)
		}},
		{Name: "recursion without end", Plan: func(g *Gen) *physical.Plan {
			t, c := g.Scan(g.Table(min(g.Size, 2), 50))
			in := pick(c, colKey)
			r, cols := startRecursion(g, in, false)
			g.Pipe(t, r, renamed(in, cols))
			ws, wc := lastRound(g, r)
			r.Step = []*physical.Pipeline{{ID: 90, Source: ws, Sink: r.Round, Transforms: []physical.Transform{renamed(wc, cols)}}}
			return g.Result(g.Read(r, cols), cols)
		}},
	}
}
