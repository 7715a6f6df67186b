package run

import (
	"context"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// What package exchange needs of a query that is one place of several.

// Device is the device that the query runs on, Memory what it allocates there.
func (q *Query) Device() *gpukernels.Device { return q.runner.Device }
func (q *Query) Memory() *devicemem.Memory  { return q.memory }

// Skip notes that a pipeline does not run at this place: its sink is complete as far as the place is concerned.
func (q *Query) Skip(p *physical.Pipeline) { q.progress.done[p] = true }

// Receive makes room for so many rows in the stead of those that a sink holds, which no pipeline may have pending. The rows before stay in memory until release is called, since
// other places still read them. The receiver fills the columns in the order of the query's stream.
func (q *Query) Receive(s physical.Sink, count int64) (to *results.Rows, release func(), err error) {
	var before []gpukernels.Ptr
	if r := q.outputs.rows[s]; r != nil {
		before = append(r.memory, r.sorted.Memory)
		delete(q.outputs.rows, s)
	}
	release = func() { q.memory.FreeAll(before) }
	if err := q.outputs.openArrays(s, max(count, 1)); err != nil {
		return nil, release, err
	}
	r := q.outputs.rows[s]
	r.all, r.count = true, count
	return q.Rows(s), release, nil
}

// Forget frees a sink's rows, which another place has taken.
func (q *Query) Forget(s physical.Sink) { q.outputs.freeRows(s) }

// Dictionary brings the strings of a dictionary to the device, until the query is closed.
func (q *Query) Dictionary(ctx context.Context, d *column.Dictionary) (gpukernels.Ptr, error) {
	return q.inputs.dictionary(ctx, d)
}
