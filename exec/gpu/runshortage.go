package gpu

import (
	"errors"

	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// outOfMemory explains that a device gave a query no memory, which has held so many bytes. It gives the reason for the CPU to run the query, and the error
// where the CPU may not.
func (p *Placed) outOfMemory(failed error, at *physical.Pipeline, on *Device, held int64) (reason string, err error) {
	operator := operatorName(at)
	var x *sqlerr.Error
	var lack *residency.Lack
	remedy := ""
	if errors.As(failed, &lack) {
		x, remedy = lack.Explain(operator).WithCause(failed), "; raise "+lack.Setting
	} else {
		x = sqlerr.New(sqlerr.CodeCapacityExceeded, sqlerr.Resource, "%s on the GPU ran out of memory, of which the query held %s: %v", operator, sqlerr.FormatBytes(held), failed).
			WithHint("SET radish_device = 'gpu' to let the CPU run what the GPU cannot").WithCause(failed)
	}
	if lack == nil || !lack.IsQuerys {
		on.runner.Residency.RanShort(held, x.Message)
	}
	if p.setting.sparesMemory() {
		return x.Message + remedy, nil
	}
	return x.Message, x
}

// operatorName is what a user calls the operator that a pipeline ends in.
func operatorName(p *physical.Pipeline) string {
	if p == nil {
		return "the query"
	}
	switch p.Sink.(type) {
	case *physical.Aggregate:
		return "GROUP BY"
	case *physical.Build:
		return "a join"
	case *physical.Sort:
		return "ORDER BY"
	case *physical.Window:
		return "a window function"
	case *physical.Result:
		return "the result"
	}
	return "a subquery"
}
