package gpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// stored are rows of a result that the device has encoded.
type stored struct{ *results.Encoded }

var _ schedule.Stored = stored{}

func (s stored) RowGroups() []*table.EncodedGroup { return s.Groups }

// mostAhead bounds the memory that is made ready on the host for rows that are only expected, and aheadThreads by how many threads.
const (
	mostAhead    = 4 << 30
	aheadThreads = 16
)

// prepare has the host find memory for the rows that are to be stored while the device computes them. Where the pages of gigabytes are touched for the first time by those who copy results into
// them, this takes as long as the copies. How many rows there are is an estimate, and how wide their columns are, a guess: what is not made ready then comes later, and what is too much goes back.
func (r *Run) prepare() {
	width := int64(0)
	for _, t := range r.placed.Plan.Types() {
		switch t.Phys() {
		case types.PhysFloat64:
			width += 8
		case types.PhysInt64, types.PhysUint64:
			width += 4
		default:
			return // the host encodes such columns
		}
	}
	for _, p := range r.placed.Plan.Pipelines {
		if _, ok := p.Sink.(*physical.Result); !ok {
			continue
		}
		bytes := int64(min(p.EstRows, mostAhead)) * width
		if bytes = min(bytes, mostAhead); r.shared.Memory.Limited() {
			bytes = min(bytes, r.shared.Memory.ReadAhead())
		}
		if bytes >= r.placed.device.runner.PreparedBytes() {
			r.slabs.Prepare(bytes, aheadThreads)
		}
	}
}

// store hands a result over as rows that are stored. ok is false if Rows has to hand them over.
func (r *Run) store(s physical.Sink) (ok bool, err error) {
	rows, err := r.stored(r.shared.Ctx, s)
	if err != nil {
		return false, err
	}
	reserved := int64(0)
	var refused error
	e, err := rows.Encode(r.shared.Ctx, r.placed.Plan.Types(), r.shared.Into, &r.slabs, func(bytes int64) error {
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
