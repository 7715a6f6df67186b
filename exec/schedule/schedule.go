package schedule

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// Config is what a query may use.
type Config struct {
	Threads    int            // workers; less than 1 is 1
	Memory     *memory.Budget // may be nil: no limit
	Expr       *expr.Context  // copied for each worker
	IsProfiled bool           // measure each operator
	// Result is what an error about memory calls the rows that wait for who takes them; empty: the result.
	Result string
	// Into is the table version behind whose rows who takes the result stores them. They come as Stored where a device can do that. nil: nobody stores them.
	Into *table.Version
	// TempFolder is where what does not fit the memory may be written; empty: nowhere.
	TempFolder string
	// Progress is told what has been done; it may be nil.
	Progress *profile.Progress
	// Placement says where the pipelines run, and why.
	Placement physical.Placement
	// Backends begin the query on each device that it may use: on the CPU when its first pipeline there is reached, on others at once. Pipelines of
	// other devices run on the CPU.
	Backends []Backend
}

// Backend begins queries on a device. Open is called at most once for a query, and its Run is closed when the query ends. That of a device other
// than the CPU is called whatever else fails, so it may take over what the caller has begun there.
type Backend struct {
	Device physical.Device
	Open   Opener
}

// query is a plan that runs.
type query struct {
	Query
	state   State
	queue   Queue
	cfg     Config
	runs    []Run                 // of the backends; nil where none has begun
	feeding map[physical.Sink]int // pipelines that have still to run, by their sink
	moved   map[move]bool
	started time.Time
	closed  bool
}

// move is a sink whose rows have been taken to another device.
type move struct {
	sink physical.Sink
	to   physical.Device
}

// Start starts a plan. When it returns, all pipelines before the result's have run; the rest runs while the cursor is
// read, or has run if the result is known to be small. The cursor must be closed.
func Start(ctx context.Context, plan *physical.Plan, cfg Config) (*Cursor, error) {
	q := newQuery(ctx, plan, cfg)
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

func newQuery(ctx context.Context, plan *physical.Plan, cfg Config) *query {
	q := &query{
		Query: Query{Plan: plan, Ctx: ctx, Threads: max(1, cfg.Threads), Profiled: cfg.IsProfiled, Progress: cfg.Progress, Operator: cfg.Result, Into: cfg.Into,
			TempFolder: cfg.TempFolder},
		cfg: cfg, runs: make([]Run, len(cfg.Backends)), started: time.Now(),
	}
	q.State, q.Out = &q.state, &q.queue
	if q.Operator == "" {
		q.Operator = "result"
	}
	if cfg.Memory != nil {
		q.Memory = cfg.Memory.Child(0)
	} else {
		q.Memory = memory.NewBudget(0)
	}
	if cfg.Expr != nil {
		q.Expr = *cfg.Expr.ForWorker(nil)
	}
	q.Expr.Ctx = ctx
	q.queue.init(q.State, q.Memory, q.Threads)
	q.state.onFail = q.queue.wake
	q.feeding = make(map[physical.Sink]int, len(plan.Pipelines))
	for _, p := range plan.Pipelines {
		q.feeding[p.Sink]++
	}
	return q
}

// start runs the pipelines; from the first that gives an unknown amount of rows to the client on, in the background.
func (q *query) start(c *Cursor) error {
	if err := q.openDevices(); err != nil {
		return err
	}
	last := q.Plan.Pipelines[len(q.Plan.Pipelines)-1]
	if !endsInResult(last) {
		return sqlerr.Bug("the last pipeline does not end in a result")
	}
	if slices.ContainsFunc(q.Plan.Pipelines, func(p *physical.Pipeline) bool { return endsInResult(p) && p.Sink != last.Sink }) {
		return sqlerr.Bug("a plan has two results")
	}
	if q.Ctx.Err() != nil {
		return sqlerr.Interrupted(context.Cause(q.Ctx))
	}
	rows := int64(0)
	for _, p := range q.Plan.Pipelines {
		rows += ScannedRows(p)
	}
	q.Progress.Plan(rows, len(q.Plan.Pipelines))
	pipelines := q.ordered()
	for i, p := range pipelines {
		step, err := q.begin(p)
		if err != nil {
			return err
		}
		if endsInResult(p) && !step.IsSmall() {
			c.done = make(chan struct{})
			q.Out.waits = true
			go func() {
				defer close(c.done)
				defer q.Out.end()
				if err := sqlerr.Guard(func() error { return q.finish(step, pipelines[i+1:]) }); err != nil && !errors.Is(err, ErrStop) {
					q.Fail(err)
				}
			}()
			return nil
		}
		if err := q.run(step); err != nil {
			return err
		}
	}
	q.end()
	q.Out.end()
	return nil
}

// openDevices begins the query on all devices but the CPU, even if one of them fails, and returns the first error.
func (q *query) openDevices() error {
	var first error
	for _, b := range q.cfg.Backends {
		if b.Device == physical.CPU {
			continue
		}
		if _, err := q.on(b.Device); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// finish runs a step and the pipelines after it.
func (q *query) finish(step Step, rest []*physical.Pipeline) error {
	if err := q.run(step); err != nil {
		return err
	}
	for _, p := range rest {
		step, err := q.begin(p)
		if err != nil {
			return err
		}
		if err := q.run(step); err != nil {
			return err
		}
	}
	q.end()
	return nil
}

// end notes how long the query took.
func (q *query) end() {
	q.mu.Lock()
	q.cost.Wall = time.Since(q.started)
	q.mu.Unlock()
}

func endsInResult(p *physical.Pipeline) bool {
	_, ok := p.Sink.(*physical.Result)
	return ok
}

// ordered returns the pipelines in the order in which they run. Where some run on another device than the CPU, those that end in the result come
// last: until one of them has begun the query can be run again on the CPU alone.
func (q *query) ordered() []*physical.Pipeline {
	pipelines := q.Plan.Pipelines
	if !slices.ContainsFunc(pipelines, func(p *physical.Pipeline) bool { return q.device(p) != physical.CPU }) {
		return pipelines
	}
	pipelines = slices.Clone(pipelines)
	rank := func(p *physical.Pipeline) int {
		if endsInResult(p) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(pipelines, func(a, b *physical.Pipeline) int { return rank(a) - rank(b) })
	return pipelines
}

// device returns where a pipeline runs.
func (q *query) device(p *physical.Pipeline) physical.Device {
	d := q.cfg.Placement.Device(p)
	for i := range q.cfg.Backends {
		if q.cfg.Backends[i].Device == d {
			return d
		}
	}
	return physical.CPU
}

// on returns the query's part on a device, which begins with the first call.
func (q *query) on(d physical.Device) (Run, error) {
	at := slices.IndexFunc(q.cfg.Backends, func(b Backend) bool { return b.Device == d })
	if at < 0 {
		return nil, sqlerr.Bug("no backend runs pipelines on the %s", d)
	}
	if q.runs[at] == nil {
		r, err := q.cfg.Backends[at].Open(&q.Query)
		if err != nil {
			return nil, err
		}
		q.runs[at] = r
	}
	return q.runs[at], nil
}

// begin begins a pipeline on its device, with the stored rows that it reads.
func (q *query) begin(p *physical.Pipeline) (Step, error) {
	d := q.device(p)
	r, err := q.on(d)
	if err != nil {
		return nil, err
	}
	q.feeding[p.Sink]--
	last := q.feeding[p.Sink] == 0
	if scan, ok := p.Source.(*physical.SinkScan); ok {
		if err := q.move(p, scan.From, d, r); err != nil {
			return nil, err
		}
	}
	q.Progress.Begin(p.ID, d != physical.CPU)
	step, err := r.Begin(p, last)
	if err != nil {
		return nil, err
	}
	return step, q.Check()
}

// move takes the rows of a sink to the device d, where r reads them, if another device has filled it. The time counts for p, which is the first to
// read them there. A recursion's rounds read nothing that another device fills: a plan with one stays on the CPU.
func (q *query) move(p *physical.Pipeline, s physical.Sink, d physical.Device, r Run) error {
	if len(q.cfg.Backends) == 1 {
		return nil
	}
	at := slices.IndexFunc(q.Plan.Pipelines, func(x *physical.Pipeline) bool { return x.Sink == s })
	if at < 0 || q.device(q.Plan.Pipelines[at]) == d || q.moved[move{s, d}] {
		return nil
	}
	from, err := q.on(q.device(q.Plan.Pipelines[at]))
	if err != nil {
		return err
	}
	if q.moved == nil {
		q.moved = map[move]bool{}
	}
	q.moved[move{s, d}] = true
	begin := time.Now()
	err = r.Put(p, s, from)
	q.mu.Lock()
	if q.moving == nil {
		q.moving = map[int]time.Duration{}
	}
	q.moving[p.ID] += time.Since(begin)
	q.mu.Unlock()
	return err
}

// run runs a step to its end.
func (q *query) run(step Step) error {
	if err := step.Run(); err != nil {
		return err
	}
	q.Progress.End()
	return q.Check()
}

// close gives back what the query holds.
func (q *query) close() {
	if q.closed {
		return
	}
	q.closed = true
	if q.cfg.Memory != nil {
		q.cfg.Memory.Release(q.Memory.Used())
	}
	for _, r := range q.runs {
		if r != nil {
			r.Close()
		}
	}
}
