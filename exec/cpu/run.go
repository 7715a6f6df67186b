package cpu

import (
	"context"
	"slices"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/join"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/scan"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// syncRows is the number of result rows up to which a query runs wholly in the caller's goroutine.
const syncRows = 1 << 17

// syncTexts is that number for rows with texts where memory is limited.
const syncTexts = column.VectorSize

// Run starts a plan. When it returns, all pipelines before the result's have run; the rest runs while the cursor is
// read, or has run if the result is known to be small. The cursor must be closed.
func Run(ctx context.Context, plan *physical.Plan, cfg Config) (*Cursor, error) {
	q := &execution{Query: &task.Query{Ctx: ctx, Threads: max(1, cfg.Threads), Tuning: cfg.Tuning}, cfg: cfg, plan: plan, started: time.Now()}
	if q.Tuning == nil {
		q.Tuning = &task.Default
	}
	q.OnFail = q.wake
	if cfg.Memory != nil {
		q.Memory = cfg.Memory.Child(0)
	} else {
		q.Memory = memory.NewBudget(0)
	}
	if cfg.Expr != nil {
		q.Expr = *cfg.Expr.ForWorker(nil)
	}
	q.Expr.Ctx = ctx
	q.sinks = make(map[physical.Sink]pipeline.Sink, len(plan.Pipelines))
	q.builds = make(map[*physical.Build]*join.Build)
	var stop func() bool
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, func() {
			q.Fail(sqlerr.Interrupted(context.Cause(ctx)))
		})
	}
	c := &Cursor{q: q, stop: stop}
	err := sqlerr.Guard(func() error { return q.start(c) })
	if err != nil {
		q.Stopped.Store(true)
		if stop != nil {
			stop()
		}
		q.close()
		return nil, sqlerr.From(err)
	}
	return c, nil
}

// wake lets those who wait at the result see that the query has stopped.
func (q *execution) wake() {
	q.mu.Lock()
	r := q.out
	q.mu.Unlock()
	if r != nil {
		r.mu.Lock()
		r.cond.Broadcast()
		r.mu.Unlock()
	}
}

// start runs the pipelines; from the first that gives an unknown amount of rows to the client on, in the background.
func (q *execution) start(c *Cursor) error {
	last, ok := q.plan.Pipelines[len(q.plan.Pipelines)-1].Sink.(*physical.Result)
	if !ok {
		return sqlerr.Bug("the last pipeline does not end in a result")
	}
	s, err := q.sink(last)
	if err != nil {
		return err
	}
	r := s.(*result)
	c.r = r
	q.mu.Lock()
	q.out = r
	q.mu.Unlock()
	if err := q.Ctx.Err(); err != nil {
		return sqlerr.Interrupted(context.Cause(q.Ctx))
	}
	q.readers()
	q.cfg.Progress.Plan(plannedRows(q.plan), len(q.plan.Pipelines))
	pipelines := q.ordered()
	for i, p := range pipelines {
		if !q.here(p) {
			if background, err := q.runElsewhere(p, c); err != nil || background {
				return err
			}
			continue
		}
		pl, err := q.prepare(p)
		if err != nil {
			return err
		}
		if pl.sink == pipeline.Sink(r) && r.streams(pl.bound()) {
			c.done = make(chan struct{})
			r.wait = true
			go func() {
				defer close(c.done)
				defer r.end()
				if err := sqlerr.Guard(func() error { return q.background(pl, pipelines[i+1:]) }); err != nil && err != task.ErrStop {
					q.Fail(err)
				}
			}()
			return nil
		}
		if err := q.runToEnd(pl); err != nil {
			return err
		}
	}
	q.prof.Wall = time.Since(q.started)
	r.finished = true
	return nil
}

func (q *execution) background(pl *prepared, rest []*physical.Pipeline) error {
	if err := q.runToEnd(pl); err != nil {
		return err
	}
	for _, p := range rest {
		pl, err := q.prepare(p)
		if err != nil {
			return err
		}
		if err := q.runToEnd(pl); err != nil {
			return err
		}
	}
	q.out.mu.Lock()
	q.prof.Wall = time.Since(q.started)
	q.out.mu.Unlock()
	return nil
}

// readers counts the pipelines that end in each sink, so that it is finished after the last of them.
func (q *execution) readers() {
	q.feeding = make(map[physical.Sink]int, len(q.plan.Pipelines))
	for _, p := range q.plan.Pipelines {
		q.feeding[p.Sink]++
	}
}

// runToEnd runs a pipeline and, if it is the last that ends in its sink, finishes the sink.
func (q *execution) runToEnd(pl *prepared) error {
	begin, held := time.Now(), q.Memory.Used()
	if r, ok := pl.sink.(*result); ok {
		r.startPipeline(q.seq)
	}
	if err := q.run(pl); err != nil {
		return err
	}
	ran := time.Now()
	q.forgetSource(pl)
	q.feeding[pl.p.Sink]--
	if q.feeding[pl.p.Sink] == 0 {
		if err := sqlerr.Guard(pl.sink.Finish); err != nil {
			return err
		}
	}
	q.cfg.Progress.End()
	if pl.stats != nil {
		pl.stats.report(pl, begin, ran, q.Memory.Used()-held)
	}
	return q.Check()
}

// forgetSource lets go of the stored rows that a pipeline has read if it is their only reader.
func (q *execution) forgetSource(pl *prepared) {
	scan, ok := pl.source.(*scan.Stored)
	if !ok || !slices.Contains(q.plan.Pipelines, pl.p) {
		return // a recursion's pipelines run again
	}
	from := pl.p.Source.(*physical.SinkScan).From
	for _, p := range q.plan.All() {
		if s, ok := p.Source.(*physical.SinkScan); ok && s.From == from && p != pl.p {
			return
		}
	}
	scan.Rel.Segs, scan.Rel.Cols, scan.Rel.Order = nil, nil, nil
}

// close gives back the memory that the query has reserved.
func (q *execution) close() {
	if q.cfg.Memory != nil && !q.closed {
		q.closed = true
		q.cfg.Memory.Release(q.Memory.Used())
	}
	if q.cfg.Elsewhere != nil {
		q.cfg.Elsewhere.Close()
		q.cfg.Elsewhere = nil
	}
}
