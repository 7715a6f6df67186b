package program

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// newSink returns what writes the end of a pipeline.
func (k *writer) newSink() (kernel.Sink, error) {
	switch p := k.Pipeline.Sink.(type) {
	case *physical.Aggregate:
		return groupby.NewText(k.Kernel, k.g.Aggs, p)
	case *physical.Build:
		return k.newBuildText(p)
	case *physical.Materialize:
		var values []expr.Expr
		var ids []expr.ColumnID
		for _, c := range p.Cols {
			values, ids = append(values, c), append(ids, c.ID)
		}
		return kernel.NewAppend(k.Kernel, p, values, ids, "materialize"), nil
	case *physical.Sort:
		var values []expr.Expr
		var ids []expr.ColumnID
		for _, c := range p.Cols {
			values, ids = append(values, c), append(ids, c.ID)
		}
		for _, key := range p.Keys {
			values, ids = append(values, key.Expr), append(ids, 0)
		}
		return kernel.NewAppend(k.Kernel, p, values, ids, "rows to be sorted"), nil
	case *physical.Result:
		byID := map[expr.ColumnID]*expr.Column{}
		for _, c := range k.columnsAlive() {
			byID[c.ID] = c
		}
		var values []expr.Expr
		for _, id := range p.In {
			c := byID[id]
			if c == nil {
				return nil, codegen.Refuse("column %d of the result is not on the GPU", id)
			}
			values = append(values, c)
		}
		return kernel.NewAppend(k.Kernel, p, values, p.In, "result"), nil
	case *physical.Window:
		return nil, codegen.Refuse("window functions run on the CPU only")
	}
	return nil, codegen.Refuse("%s runs on the CPU only", physical.SinkName(k.Pipeline, physical.GPU))
}

// columnsAlive lists the columns that operators of the pipeline make.
func (k *writer) columnsAlive() []*expr.Column {
	var cols []*expr.Column
	switch src := k.Pipeline.Source.(type) {
	case *physical.TableScan:
		cols = append(cols, src.Cols...)
	case *physical.SinkScan:
		cols = append(cols, src.Cols...)
	case *physical.UnmatchedScan:
		cols = append(append(cols, src.Nulls...), src.Build.Payload...)
	case *physical.ValuesScan:
		cols = append(cols, src.Cols...)
	}
	for _, t := range k.Pipeline.Transforms {
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
