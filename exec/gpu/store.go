package gpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/storage/table"
)

// stored are rows of a result that the device has encoded.
type stored struct{ *results.Encoded }

var _ schedule.Stored = stored{}

func (s stored) RowGroups() []*table.EncodedGroup { return s.Groups }

// store hands a result over as rows that are stored. ok is false if Rows has to hand them over.
func (r *Run) store(s physical.Sink) (ok bool, err error) {
	rows, err := r.stored(r.shared.Ctx, s)
	if err != nil {
		return false, err
	}
	reserved := int64(0)
	var refused error
	e, err := rows.Encode(r.shared.Ctx, r.placed.Plan.Types(), r.shared.Into, func(bytes int64) error {
		if refused = r.shared.Memory.Reserve(r.shared.Operator, bytes); refused == nil {
			reserved = bytes
		}
		return refused
	})
	if e == nil {
		r.shared.Memory.Release(reserved)
		if err != nil && refused == nil {
			err = r.fail(nil, err)
		}
		return false, err
	}
	n := 0
	for _, g := range e.Groups {
		n += g.Rows
	}
	if err := r.shared.Out.Put(0, &column.Batch{N: n, Stored: stored{e}}, reserved); err != nil {
		return false, err
	}
	r.shared.Out.Complete(0)
	return true, nil
}
