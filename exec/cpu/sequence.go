package cpu

import (
	"slices"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// hasSequence says whether a pipeline computes RAND with a constant seed: the values follow each other from row to row, so one worker takes all
// rows, in their order.
func hasSequence(p *physical.Pipeline) bool {
	in := func(es ...expr.Expr) bool { return slices.ContainsFunc(es, expr.IsSequence) }
	if s, is := p.Source.(*physical.TableScan); is && in(s.Filters...) {
		return true
	}
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Filter:
			if in(t.Preds...) {
				return true
			}
		case *physical.Unnest:
			if in(t.Doc) {
				return true
			}
		case *physical.Project:
			for _, it := range t.Items {
				if in(it.Expr) {
					return true
				}
			}
		}
	}
	switch s := p.Sink.(type) {
	case *physical.Aggregate:
		for _, g := range s.Groups {
			if in(g.Expr) {
				return true
			}
		}
		for _, a := range s.Aggs {
			if in(a.Args...) {
				return true
			}
		}
	case *physical.Sort:
		for _, k := range s.Keys {
			if in(k.Expr) {
				return true
			}
		}
	}
	return false
}
