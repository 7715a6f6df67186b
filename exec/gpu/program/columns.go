package program

import (
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// columnsAlive lists the columns that operators of the pipeline make.
func columnsAlive(p *physical.Pipeline) []*expr.Column {
	var cols []*expr.Column
	switch src := p.Source.(type) {
	case *physical.TableScan:
		cols = append(cols, src.Cols...)
	case *physical.SinkScan:
		cols = append(cols, src.Cols...)
	case *physical.UnmatchedScan:
		cols = append(append(cols, src.Nulls...), src.Build.Payload...)
	case *physical.ValuesScan:
		cols = append(cols, src.Cols...)
	}
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				cols = append(cols, it.Col)
			}
		case *physical.Probe:
			cols = append(cols, t.Build.Payload...)
			if t.Mark != nil {
				cols = append(cols, t.Mark)
			}
		}
	}
	return cols
}
