package physical

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// prune narrows what every operator carries to what is used behind it. It walks the pipelines from last to first, so
// the readers of a sink are known before the pipelines that fill it. interrupted is asked at each step.
func prune(plan *Plan, interrupted func() error) error {
	need := map[Sink]logical.ColSet{} // columns read from a sink, under the sink's own IDs
	builds := map[*Build]logical.ColSet{}
	all := plan.All()
	for _, p := range all {
		if r, ok := p.Sink.(*Recursion); ok { // the next round needs every column
			need[r.Round] = logical.SetOfCols(r.Cols)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		p := all[i]
		live := sinkNeeds(p.Sink, need, builds)
		for j := len(p.Transforms) - 1; j >= 0; j-- {
			if err := poll(interrupted); err != nil {
				return err
			}
			live = pruneTransform(p.Transforms[j], live, builds)
		}
		if err := poll(interrupted); err != nil {
			return err
		}
		pruneSource(p.Source, live, need, builds)
	}
	for _, p := range all {
		if err := poll(interrupted); err != nil {
			return err
		}
		switch s := p.Sink.(type) {
		case *Build:
			s.Payload = keepCols(s.Payload, builds[s])
		case *Materialize:
			s.Cols = keepCols(s.Cols, need[s])
		case *Sort:
			s.Cols = keepCols(s.Cols, need[s])
		case *Window:
			s.Cols = keepCols(s.Cols, need[s])
		}
	}
	return nil
}

// sinkNeeds returns the columns that a sink reads from its pipelines.
func sinkNeeds(s Sink, need map[Sink]logical.ColSet, builds map[*Build]logical.ColSet) logical.ColSet {
	var live logical.ColSet
	switch x := s.(type) {
	case *Result:
		for _, id := range x.In {
			live.Add(id)
		}
	case *Build:
		live = builds[x].Clone()
		addExprs(&live, x.Keys)
	case *Materialize:
		live = need[s].Clone()
	case *Sort:
		live = need[s].Clone()
		for _, k := range x.Keys {
			live.AddExpr(k.Expr)
		}
	case *Recursion:
		live = logical.SetOfCols(x.Cols)
	case *Window:
		live = pruneWindow(x, need[s])
	case *Aggregate:
		for _, g := range x.Groups {
			live.AddExpr(g.Expr)
		}
		for _, a := range x.Aggs {
			addExprs(&live, a.Args)
			for _, k := range a.OrderBy {
				live.AddExpr(k.Expr)
			}
		}
	}
	return live
}

// pruneTransform returns the columns needed before a transform, given those needed after it.
func pruneTransform(t Transform, live logical.ColSet, builds map[*Build]logical.ColSet) logical.ColSet {
	live = live.Clone()
	switch x := t.(type) {
	case *Filter:
		addExprs(&live, x.Preds)
	case *Project:
		x.Keep = keepIDs(x.Keep, live)
		x.Items = slices.DeleteFunc(slices.Clone(x.Items), func(it logical.Item) bool { return !live.Has(it.Col.ID) })
		for _, it := range x.Items {
			live.Remove(it.Col.ID)
		}
		for _, it := range x.Items {
			live.AddExpr(it.Expr)
		}
	case *Unnest:
		var ordinals []int
		for i, c := range x.Cols {
			if live.Has(c.ID) {
				ordinals = append(ordinals, x.Ordinals[i])
			}
		}
		x.Cols, x.Ordinals = keepCols(x.Cols, live), ordinals
		x.Keep = keepIDs(x.Keep, live)
		for _, c := range x.Cols {
			live.Remove(c.ID)
		}
		live.AddExpr(x.Doc)
	case *Repeat:
		x.Keep = keepIDs(x.Keep, live)
		live.AddExpr(x.Count)
	case *Probe:
		x.Keep = keepIDs(x.Keep, live)
		if x.Mark != nil {
			live.Remove(x.Mark.ID)
		}
		addExprs(&live, x.Keys)
		addExprs(&live, x.Residual)
		payload := builds[x.Build]
		for _, c := range x.Build.Payload {
			if live.Has(c.ID) {
				payload.Add(c.ID)
				live.Remove(c.ID)
			}
		}
		builds[x.Build] = payload
	}
	return live
}

func pruneSource(s Source, live logical.ColSet, need map[Sink]logical.ColSet, builds map[*Build]logical.ColSet) {
	switch x := s.(type) {
	case *SinkScan:
		from := need[x.From]
		var cols []*expr.Column
		var ins []expr.ColumnID
		for i, c := range x.Cols {
			if live.Has(c.ID) {
				cols, ins = append(cols, c), append(ins, x.Ins[i])
				from.Add(x.Ins[i])
			}
		}
		x.Cols, x.Ins = cols, ins
		need[x.From] = from
	case *UnmatchedScan:
		payload := builds[x.Build]
		for _, c := range x.Build.Payload {
			if live.Has(c.ID) {
				payload.Add(c.ID)
			}
		}
		builds[x.Build] = payload
		x.Nulls = keepCols(x.Nulls, live)
	}
}

func addExprs(set *logical.ColSet, es []expr.Expr) {
	for _, e := range es {
		set.AddExpr(e)
	}
}

func keepCols(cols []*expr.Column, set logical.ColSet) []*expr.Column {
	var out []*expr.Column
	for _, c := range cols {
		if set.Has(c.ID) {
			out = append(out, c)
		}
	}
	return out
}

func keepIDs(list []expr.ColumnID, set logical.ColSet) []expr.ColumnID {
	var out []expr.ColumnID
	for _, id := range list {
		if set.Has(id) {
			out = append(out, id)
		}
	}
	return out
}
