package cpu

import (
	"github.com/radish-sql/radish/exec/cpu/orderby"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/scan"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// cutoffFor returns what a worker's scan asks of its top-N, or nil if that does not sort by a column of the scan first, or a step between
// them may fail, change or repeat rows. Which rows it sees must not depend on how workers take turns.
func (pl *prepared) cutoffFor(sink pipeline.LocalSink) *scan.Cutoff {
	x, ok := sink.(*orderby.Local)
	if !ok || pl.scan == nil || pl.serial {
		return nil
	}
	keys := x.TopKeys()
	if keys == nil {
		return nil
	}
	for _, k := range keys {
		if _, ok := k.Expr.(*expr.Column); !ok {
			return nil
		}
	}
	for _, t := range pl.p.Transforms {
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				if _, ok := it.Expr.(*expr.Column); !ok {
					return nil
				}
			}
		case *physical.Probe:
			for _, k := range t.Keys {
				if _, ok := k.(*expr.Column); !ok {
					return nil
				}
			}
			if len(t.Residual) > 0 || t.Build.KeepUnmatched || t.Kind == logical.SingleJoin {
				return nil
			}
		default:
			return nil
		}
	}
	first := keys[0]
	ordinal := pl.scan.Ordinal(first.Expr.(*expr.Column).ID)
	if ordinal < 0 {
		return nil
	}
	return scan.NewCutoff(pl.scan, x, ordinal, first.Desc)
}
