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

// usedColumns are all columns that a pipeline's operators read.
func usedColumns(p *physical.Pipeline) map[expr.ColumnID]bool {
	used := map[expr.ColumnID]bool{}
	add := func(es ...expr.Expr) {
		for _, e := range es {
			addColumns(used, e)
		}
	}
	if scan, ok := p.Source.(*physical.TableScan); ok {
		add(scan.Filters...)
	}
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Filter:
			add(t.Preds...)
		case *physical.Project:
			for _, it := range t.Items {
				add(it.Expr)
			}
		case *physical.Probe:
			add(t.Keys...)
			add(t.Residual...)
		case *physical.Repeat:
			add(t.Count)
		}
	}
	if end := endOf(p); end != nil {
		add(end.reads()...)
	}
	return used
}

func addColumns(set map[expr.ColumnID]bool, e expr.Expr) {
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Column); ok {
			set[c.ID] = true
		}
		return true
	})
}
