package schedule

import (
	"context"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
)

// Cursor is the stream of a query's result.
type Cursor struct {
	q    *query
	stop func() bool   // ends the watch over the context
	done chan struct{} // closed when no goroutine of the query runs any more; nil: none ever ran
}

// Next returns the next batch, or nil after the last. The batch is dense (no selection) and the caller's to keep.
func (c *Cursor) Next(ctx context.Context) (*column.Batch, error) {
	return c.q.Out.take(ctx, c.done != nil)
}

// Close ends the query, waits for its workers and gives its memory back. It may be called more than once.
func (c *Cursor) Close() error {
	c.q.Out.close()
	if c.done != nil {
		<-c.done
	}
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	c.q.close()
	return nil
}

// Plan is the plan that gives the rows.
func (c *Cursor) Plan() *physical.Plan { return c.q.Plan }

// Placement is where the plan's pipelines run.
func (c *Cursor) Placement() physical.Placement { return c.q.cfg.Placement }

// Profile returns what the query cost so far; it is complete once Next has returned nil. It has no operators unless
// the configuration asked for them.
func (c *Cursor) Profile() *profile.Plan {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.cost
	p.PeakMemory = q.Memory.Peak()
	return &p
}
