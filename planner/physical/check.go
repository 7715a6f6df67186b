package physical

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Check reports the first place where a plan breaks the rules of this package: a column that is used where it is not
// alive, a sink that is read before it is filled, keys of unequal form. Executors may rely on what it checks; tests run it over
// every plan they make.
func Check(plan *Plan) error {
	filled := map[Sink]logical.ColSet{} // what can be read from a sink
	done := map[*Pipeline]bool{}
	all := plan.All()
	for i, p := range all {
		for _, d := range p.Deps {
			if !done[d] {
				return fmt.Errorf("pipeline %d depends on one that comes later", p.ID)
			}
		}
		if err := checkPipeline(p, filled); err != nil {
			return fmt.Errorf("pipeline %d: %w", p.ID, err)
		}
		done[p] = true
		if _, isResult := p.Sink.(*Result); i == len(all)-1 && !isResult {
			return fmt.Errorf("the last pipeline ends in a %T", p.Sink)
		}
	}
	return nil
}

func checkPipeline(p *Pipeline, filled map[Sink]logical.ColSet) error {
	alive, err := sourceColumns(p.Source, filled)
	if err != nil {
		return err
	}
	for i, t := range p.Transforms {
		if alive, err = throughTransform(t, alive, filled); err != nil {
			return fmt.Errorf("transform %d: %w", i, err)
		}
	}
	return intoSink(p.Sink, alive, filled)
}

func sourceColumns(s Source, filled map[Sink]logical.ColSet) (logical.ColSet, error) {
	switch x := s.(type) {
	case *TableScan:
		alive := logical.SetOfCols(x.Cols)
		for _, f := range x.RuntimeFilters {
			if _, ok := filled[f.Build]; !ok {
				return nil, fmt.Errorf("runtime filter from a build that has not run")
			}
			if !f.Build.MakeFilter[f.Key] || !alive.Has(f.Col) {
				return nil, fmt.Errorf("runtime filter on column #%d that is not made or not read", f.Col)
			}
		}
		return alive, uses("filter", x.Filters, alive)
	case *SinkScan:
		have, ok := filled[x.From]
		if !ok {
			return nil, fmt.Errorf("reads a %T that has not run", x.From)
		}
		for _, id := range x.Ins {
			if !have.Has(id) {
				return nil, fmt.Errorf("reads column #%d that the %T does not keep", id, x.From)
			}
		}
		return logical.SetOfCols(x.Cols), nil
	case *UnmatchedScan:
		have, ok := filled[x.Build]
		if !ok || !x.Build.KeepUnmatched {
			return nil, fmt.Errorf("reads unmatched rows of a build that does not note them")
		}
		return have.Union(logical.SetOfCols(x.Nulls)), nil
	case *ValuesScan:
		for _, row := range x.Rows {
			if err := uses("value", row, nil); err != nil {
				return nil, err
			}
		}
		return logical.SetOfCols(x.Cols), nil
	}
	return nil, fmt.Errorf("unknown source %T", s)
}

func throughTransform(t Transform, alive logical.ColSet, filled map[Sink]logical.ColSet) (logical.ColSet, error) {
	switch x := t.(type) {
	case *Filter:
		return alive, uses("filter", x.Preds, alive)
	case *Limit:
		return alive, nil
	case *Project:
		after := alive.Clone()
		for _, it := range x.Items {
			if err := uses("item", []expr.Expr{it.Expr}, alive); err != nil {
				return nil, err
			}
			after.Add(it.Col.ID)
		}
		return keep(x.Keep, after)
	case *Unnest:
		if err := uses("document", []expr.Expr{x.Doc}, alive); err != nil {
			return nil, err
		}
		return keep(x.Keep, alive.Union(logical.SetOfCols(x.Cols)))
	case *Repeat:
		if err := uses("count", []expr.Expr{x.Count}, alive); err != nil {
			return nil, err
		}
		return keep(x.Keep, alive)
	case *Probe:
		return throughProbe(x, alive, filled)
	}
	return nil, fmt.Errorf("unknown transform %T", t)
}

func throughProbe(x *Probe, alive logical.ColSet, filled map[Sink]logical.ColSet) (logical.ColSet, error) {
	payload, ok := filled[x.Build]
	if !ok {
		return nil, fmt.Errorf("probe of a build that has not run")
	}
	if err := uses("key", x.Keys, alive); err != nil {
		return nil, err
	}
	if len(x.Keys) != len(x.Build.Keys) {
		return nil, fmt.Errorf("%d keys probe %d", len(x.Keys), len(x.Build.Keys))
	}
	for i, k := range x.Keys {
		if !sameForm(k.Type(), x.Build.Keys[i].Type()) {
			return nil, fmt.Errorf("key %s of type %s probes %s of type %s", k, k.Type(), x.Build.Keys[i], x.Build.Keys[i].Type())
		}
	}
	both := alive.Union(payload)
	if err := uses("residual", x.Residual, both); err != nil {
		return nil, err
	}
	switch x.Kind {
	case logical.SemiJoin, logical.AntiJoin:
		both = alive
	case logical.MarkJoin:
		if x.Mark == nil || x.Mark.Typ != types.Bool {
			return nil, fmt.Errorf("a mark join without a BOOL mark")
		}
		both = alive.Clone()
		both.Add(x.Mark.ID)
	}
	return keep(x.Keep, both)
}

func intoSink(s Sink, alive logical.ColSet, filled map[Sink]logical.ColSet) error {
	var kept logical.ColSet
	switch x := s.(type) {
	case *Result:
		for _, id := range x.In {
			if !alive.Has(id) {
				return fmt.Errorf("result column #%d is not alive", id)
			}
		}
	case *Build:
		if err := uses("key", x.Keys, alive); err != nil {
			return err
		}
		if err := present(x.Payload, alive); err != nil {
			return err
		}
		kept = logical.SetOfCols(x.Payload)
	case *Materialize:
		if err := present(x.Cols, alive); err != nil {
			return err
		}
		kept = logical.SetOfCols(x.Cols)
	case *Sort:
		for _, k := range x.Keys {
			if err := uses("sort key", []expr.Expr{k.Expr}, alive); err != nil {
				return err
			}
		}
		if err := present(x.Cols, alive); err != nil {
			return err
		}
		kept = logical.SetOfCols(x.Cols)
	case *Recursion:
		return checkRecursion(x, alive, filled)
	case *Window:
		return checkWindow(x, alive, filled)
	case *Aggregate:
		for _, g := range x.Groups {
			if err := uses("group", []expr.Expr{g.Expr}, alive); err != nil {
				return err
			}
			kept.Add(g.Col.ID)
		}
		for _, a := range x.Aggs {
			if err := uses("aggregate", a.Args, alive); err != nil {
				return err
			}
			kept.Add(a.Col.ID)
		}
	default:
		return fmt.Errorf("unknown sink %T", s)
	}
	filled[s] = kept
	return nil
}

func uses(what string, es []expr.Expr, alive logical.ColSet) error {
	for _, e := range es {
		if e == nil {
			return fmt.Errorf("%s is missing", what)
		}
		if !logical.UsedWithin(e, alive) {
			return fmt.Errorf("%s %s uses a column that is not alive", what, e)
		}
	}
	return nil
}

func present(cols []*expr.Column, alive logical.ColSet) error {
	if i := slices.IndexFunc(cols, func(c *expr.Column) bool { return !alive.Has(c.ID) }); i >= 0 {
		return fmt.Errorf("keeps column %s that is not alive", cols[i])
	}
	return nil
}

func keep(ids []expr.ColumnID, from logical.ColSet) (logical.ColSet, error) {
	var out logical.ColSet
	for _, id := range ids {
		if !from.Has(id) {
			return nil, fmt.Errorf("keeps column #%d that is not alive", id)
		}
		out.Add(id)
	}
	return out, nil
}
