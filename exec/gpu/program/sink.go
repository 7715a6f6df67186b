package program

import (
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// newSink returns what writes the end of a pipeline.
func (k *writer) newSink() (kernel.Sink, error) {
	switch p := k.Pipeline.Sink.(type) {
	case *physical.Aggregate:
		return groupby.NewSink(k.Kernel), nil
	case *physical.Build:
		return k.g.Builds.NewSink(k.Kernel, p), nil
	case *physical.Sort:
		values, _ := sort.Values(p)
		return kernel.NewAppend(k.Kernel, p, values, "rows to be sorted"), nil
	}
	values, _, err := storedValues(k.Pipeline)
	title := "materialize"
	if _, ok := k.Pipeline.Sink.(*physical.Result); ok {
		title = "result"
	}
	return kernel.NewAppend(k.Kernel, k.Pipeline.Sink, values, title), err
}

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
