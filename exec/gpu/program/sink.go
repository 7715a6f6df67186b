package program

import (
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/planner/physical"
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
