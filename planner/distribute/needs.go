package distribute

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// needs are the columns that transforms and the sink behind them read of what comes to the first of them.
func needs(rest []physical.Transform, sink physical.Sink) logical.ColSet {
	live := sinkNeeds(sink)
	for _, t := range slices.Backward(rest) {
		live = transformNeeds(t, live)
	}
	return live
}

func transformNeeds(t physical.Transform, live logical.ColSet) logical.ColSet {
	switch t := t.(type) {
	case *physical.Filter:
		addAll(&live, t.Preds)
	case *physical.Project:
		for _, it := range t.Items {
			live.Remove(it.Col.ID)
		}
		for _, it := range t.Items {
			live.AddExpr(it.Expr)
		}
	case *physical.Repeat:
		live.AddExpr(t.Count)
	case *physical.Unnest:
		for _, c := range t.Cols {
			live.Remove(c.ID)
		}
		live.AddExpr(t.Doc)
	case *physical.Probe:
		addAll(&live, t.Residual)
		if t.Mark != nil {
			live.Remove(t.Mark.ID)
		}
		for _, c := range t.Build.Payload {
			live.Remove(c.ID)
		}
		addAll(&live, t.Keys)
	}
	return live
}

func sinkNeeds(s physical.Sink) (live logical.ColSet) {
	switch s := s.(type) {
	case *physical.Result:
		live = logical.SetOf(s.In...)
	case *physical.Build:
		live = logical.SetOfCols(s.Payload)
		addAll(&live, s.Keys)
	case *physical.Materialize:
		live = logical.SetOfCols(s.Cols)
	case *physical.Sort:
		live = logical.SetOfCols(s.Cols)
		for _, k := range s.Keys {
			live.AddExpr(k.Expr)
		}
	case *physical.Window:
		live = logical.SetOfCols(s.Cols)
		addAll(&live, s.Exprs())
	case *physical.Aggregate:
		for _, g := range s.Groups {
			live.AddExpr(g.Expr)
		}
		for _, a := range s.Aggs {
			addAll(&live, a.Args)
			for _, k := range a.OrderBy {
				live.AddExpr(k.Expr)
			}
		}
	}
	return live
}

func addAll(set *logical.ColSet, es []expr.Expr) {
	for _, e := range es {
		set.AddExpr(e)
	}
}

// eachExpr calls f for every expression of a pipeline.
func eachExpr(p *physical.Pipeline, f func(expr.Expr)) {
	all := func(es []expr.Expr) {
		for _, e := range es {
			f(e)
		}
	}
	switch s := p.Source.(type) {
	case *physical.TableScan:
		all(s.Filters)
	case *physical.ValuesScan:
		for _, row := range s.Rows {
			all(row)
		}
	}
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Filter:
			all(t.Preds)
		case *physical.Project:
			for _, it := range t.Items {
				f(it.Expr)
			}
		case *physical.Repeat:
			f(t.Count)
		case *physical.Unnest:
			f(t.Doc)
		case *physical.Probe:
			all(t.Keys)
			all(t.Residual)
		}
	}
	switch s := p.Sink.(type) {
	case *physical.Build:
		all(s.Keys)
	case *physical.Sort:
		for _, k := range s.Keys {
			f(k.Expr)
		}
	case *physical.Window:
		all(s.Exprs())
	case *physical.Aggregate:
		for _, g := range s.Groups {
			f(g.Expr)
		}
		for _, a := range s.Aggs {
			all(a.Args)
			for _, k := range a.OrderBy {
				f(k.Expr)
			}
		}
	}
}
