package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/exchange"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Run is a plan's part on the device while the query runs. It serves one query once.
type Run struct {
	placed *Placed
	q      *run.Query         // on the first device, which has the result
	places *places            // nil: there is one device
	shared *schedule.Query    // from Open on
	failed error              // the first error that a device gave
	at     *physical.Pipeline // where
	on     *Device            // which
	held   int64              // bytes of the device that the query held then
	slabs  encoding.Slabs     // of rows that are stored

	profiled bool    // the cost of each pipeline is wanted
	readRate float64 // the device's bandwidth, of a run with a profile
	busRate  float64 // of such a one that reads tables in windows: what the device copies from the host
}

var _ schedule.Run = (*Run)(nil)

// Start makes ready to run, and begins to compile what has not been compiled yet. profiled says that the cost of each pipeline is wanted, for which each has
// to be waited for. Close the run.
func (p *Placed) Start(ctx context.Context, profiled bool) (*Run, error) {
	r := &Run{placed: p, profiled: profiled}
	var err error
	o := run.Options{Profiled: profiled, Limit: p.limit, Tables: p.tables, Soon: p.hurries()}
	if p.shares == nil {
		r.q, err = p.start(ctx, o)
	} else if r.places, err = p.startPlaces(ctx, o); err == nil {
		r.q = r.places.queries[0]
	}
	if err != nil {
		return nil, err
	}
	if profiled {
		r.readRate = p.device.runner.Bandwidth(ctx)
		if len(p.windows[0].Of) > 0 {
			r.busRate = p.device.runner.BusRate(ctx)
		}
	}
	return r, nil
}

// start begins the query on the only device that runs it.
func (p *Placed) start(ctx context.Context, o run.Options) (*run.Query, error) {
	o.Windows = p.windows[0]
	return p.device.runner.Start(ctx, p.program, o)
}

// Ready waits until the kernels are there that had to be compiled, and the columns that had to be uploaded. Both go on when ctx ends, for the next who asks.
func (r *Run) Ready(ctx context.Context) error {
	if r.places != nil {
		return r.places.each(func(_ int, q *run.Query) error { return q.Await(ctx) })
	}
	return r.q.Await(ctx)
}

// OnLongWait has late called, once, when the device has been waited for for so long at a time. Waiting for compilers and uploads is not meant.
func (r *Run) OnLongWait(patience time.Duration, late func()) {
	for _, q := range r.queries() {
		q.OnLongWait(patience, late)
	}
}

// queries are the parts of the query, by place.
func (r *Run) queries() []*run.Query {
	if r.places != nil {
		return r.places.queries
	}
	return []*run.Query{r.q}
}

// Prepare compiles the kernels of a plan and brings the columns to the device that it reads, without running it. Where the columns do not fit there, it leaves that to the run.
func (p *Placed) Prepare(ctx context.Context) error {
	o := run.Options{Limit: p.limit, Tables: p.tables, Background: true}
	if p.shares != nil {
		return p.preparePlaces(ctx, o)
	}
	q, err := p.start(ctx, o)
	if err != nil {
		return err
	}
	defer q.Close()
	if err := q.Await(ctx); err != nil {
		return err
	}
	return q.Compiled()
}

// Close gives everything back. Then the kernels are compiled that are to serve the next run in place of this one's: not before, since that would take time from the compilations that
// this one waited for.
func (r *Run) Close() {
	defer r.compileBetter()
	r.slabs.Stop()
	if r.places != nil {
		r.places.close()
		return
	}
	r.q.Close()
}

// compileBetter compiles the kernels in place of which others served that take less to compile.
func (r *Run) compileBetter() {
	p := r.placed
	served := map[string]bool{} // row by row, say, and never again
	if p.better != nil {
		for text := range pipelineTexts(p.program) {
			served[text] = true
		}
	}
	for i, q := range r.queries() {
		texts := slices.DeleteFunc(slices.Clone(q.Hurried()), func(text string) bool { return served[text] })
		if p.better != nil {
			texts = slices.AppendSeq(texts, textsOf(p.better))
		}
		p.devices()[i].compileMissing(texts)
	}
}

// fail notes an error of the device.
func (r *Run) fail(p *physical.Pipeline, err error) error {
	if err != nil && r.failed == nil {
		r.failed, r.at, r.on, r.held = err, p, r.placed.device, r.q.MemoryUsed()
	}
	return err
}

// Open begins the query that the run is for.
func (r *Run) Open(q *schedule.Query) (schedule.Run, error) {
	r.shared = q
	if q.Into != nil {
		r.prepare()
	}
	return r, nil
}

// Put uploads the rows of a sink that another device has filled.
func (r *Run) Put(p *physical.Pipeline, s physical.Sink, from schedule.Run) error {
	var batches []*column.Batch
	if err := from.Rows(s, func(b *column.Batch) error { batches = append(batches, b); return nil }); err != nil {
		return err
	}
	var ids []expr.ColumnID
	for _, c := range physical.SinkColumns(s) {
		ids = append(ids, c.ID)
	}
	return r.fail(p, r.q.PutRows(s, batches, ids))
}

// Begin runs a pipeline, but for handing over the result's rows. It may return before the pipeline's kernel has ended; what goes wrong there is the
// error of a later call, of the last pipeline's that ends in the result at the latest.
func (r *Run) Begin(p *physical.Pipeline, last bool) (schedule.Step, error) {
	var cost profile.Pipeline
	var err error
	if r.places != nil {
		cost, err = r.everywhere(p, last)
	} else {
		cost, err = r.pipeline(r.shared.Ctx, p)
	}
	if err != nil {
		return nil, err
	}
	rows := schedule.ScannedRows(p)
	r.shared.Progress.Add(rows, rows)
	if r.shared.Profiled {
		r.shared.Report(cost)
	}
	return &step{r, p, last}, nil
}

// step is a pipeline that has run, or at least begun to.
type step struct {
	run  *Run
	p    *physical.Pipeline
	last bool // no later pipeline ends in its sink
}

func (s *step) IsSmall() bool { return !s.last || s.run.q.Count(s.p.Sink) <= schedule.SyncRows }

// Run hands the result's rows to the client.
func (s *step) Run() error {
	if _, ok := s.p.Sink.(*physical.Result); !ok || !s.last {
		return nil
	}
	out := s.run.shared.Out
	out.Start(0)
	if s.run.shared.Into != nil {
		if isStored, err := s.run.store(s.p.Sink); isStored || err != nil {
			return err
		}
	}
	columns := len(s.run.shared.Plan.Types())
	err := s.run.Rows(s.p.Sink, func(b *column.Batch) error {
		if len(b.Cols) != columns {
			return sqlerr.Bug("a result of %d columns is given %d", columns, len(b.Cols))
		}
		bytes := downloaded(b)
		if err := s.run.shared.Memory.Reserve(s.run.shared.Operator, bytes); err != nil {
			return err
		}
		return out.Put(0, b, bytes)
	})
	if err != nil {
		return err
	}
	out.Complete(0)
	return nil
}

// downloaded is how many bytes of the host's memory a batch takes that came from the device. Strings of a dictionary are the column's.
func downloaded(b *column.Batch) int64 {
	bytes := int64(0)
	for _, v := range b.Cols {
		bytes += int64(b.N) * v.Width()
		if v.Type.IsString() && v.Dict == nil {
			for _, s := range v.Str {
				bytes += int64(len(s))
			}
		}
	}
	return bytes
}

// pipeline runs a pipeline and returns what it cost.
func (r *Run) pipeline(ctx context.Context, p *physical.Pipeline) (profile.Pipeline, error) {
	begin := time.Now()
	cost, err := r.q.RunPipeline(ctx, p, r.mustSettle(p))
	if err != nil {
		return profile.Pipeline{ID: p.ID}, r.fail(p, err)
	}
	if !r.profiled {
		return profile.Pipeline{ID: p.ID}, nil
	}
	if cost.Bytes == 0 {
		cost.Bytes = r.q.Scanned(p)
	}
	return r.profileOf(p, &cost, time.Since(begin), r.q.Uploaded(p), r.q.MemoryPeak()), nil
}

// profileOf is what a pipeline has cost, which has run.
func (r *Run) profileOf(p *physical.Pipeline, cost *run.Cost, wall time.Duration, uploaded, held int64) profile.Pipeline {
	out := profile.Pipeline{ID: p.ID, Wall: wall}
	out.GPU = &profile.GPU{
		Kernel: cost.Kernel, Fill: cost.Fill, Bytes: cost.Bytes, Compile: cost.Compile, Cache: cost.Origin.String(), Launches: cost.Launches, Uploaded: uploaded, Windows: r.q.WindowsRead(p),
		ReadRate: r.readRate, BusRate: r.busRate, Held: held,
	}
	out.Operators = make([]profile.Operator, len(p.Transforms)+2)
	out.Operators[0] = profile.Operator{Name: "source", RowsIn: cost.RowsIn, RowsOut: profile.Uncounted, Bytes: cost.Bytes}
	for i := range p.Transforms {
		out.Operators[i+1].Fused = true
	}
	sink := profile.Operator{Name: "sink", RowsIn: cost.RowsOut, RowsOut: cost.RowsOut, CPU: out.Wall}
	if _, isAggregate := p.Sink.(*physical.Aggregate); isAggregate {
		sink.RowsIn = profile.Uncounted
		if !r.q.Finished(p.Sink) { // another pipeline adds to them
			sink.RowsOut = profile.Uncounted
		}
	}
	out.Operators[len(p.Transforms)+1] = sink
	return out
}

// mustSettle says whether what pipelines have met has to be known before the next one runs: the client may get rows then, and the query cannot be run again
// on the CPU any more.
func (r *Run) mustSettle(p *physical.Pipeline) bool {
	if _, isResult := p.Sink.(*physical.Result); isResult {
		return true
	}
	onCPU := false
	for _, x := range r.placed.Plan.Pipelines {
		if _, isResult := x.Sink.(*physical.Result); isResult {
			onCPU = onCPU || r.placed.Placement.Device(x) == physical.CPU
		} else if x != p && r.placed.Placement.Device(x) == physical.GPU && !r.q.IsDone(x) {
			return false
		}
	}
	return onCPU
}

// stored finds the rows of a sink; an aggregation's groups are stored as rows first.
func (r *Run) stored(ctx context.Context, s physical.Sink) (*results.Rows, error) {
	if a, ok := s.(*physical.Aggregate); ok {
		p := r.placed.groups[a]
		if p == nil {
			return nil, sqlerr.Bug("groups that are read on the CPU are not stored as rows")
		}
		if !r.q.IsDone(p) {
			if _, err := r.q.RunPipeline(ctx, p, true); err != nil {
				return nil, r.fail(p, err)
			}
		}
		s = p.Sink
	}
	if err := r.q.Settle(ctx); err != nil {
		return nil, r.fail(nil, err)
	}
	rows := r.q.Rows(s)
	if rows == nil {
		return nil, sqlerr.Bug("a sink of the GPU has no rows")
	}
	return rows, nil
}

// Rows downloads what a sink holds.
func (r *Run) Rows(s physical.Sink, give func(*column.Batch) error) error {
	ctx := r.shared.Ctx
	rows, err := r.stored(ctx, s)
	if err != nil {
		return err
	}
	var ts []types.Type
	if _, ok := s.(*physical.Result); ok {
		ts = r.placed.Plan.Types()
	} else {
		for _, c := range physical.SinkColumns(s) {
			ts = append(ts, c.Typ)
		}
	}
	var stopped error
	err = rows.Download(ctx, ts, func(b *column.Batch) error {
		stopped = give(b)
		return stopped
	})
	if err != nil && stopped == nil {
		return r.fail(nil, err)
	}
	return err
}

// Downloaded is how many bytes have come from the device so far: results, counts, rows that the CPU goes on with. Any goroutine may ask.
func (r *Run) Downloaded() (bytes int64) {
	for _, q := range r.queries() {
		bytes += q.DownloadedBytes()
	}
	return bytes
}

// Failure explains why the device failed; reason is empty if it did not. Without an error the CPU is to run the query in its stead: it may word
// the error better, or the setting leaves the choice.
func (r *Run) Failure() (reason string, err error) {
	return r.placed.failure(r.failed, r.at, r.on, r.held)
}

// StartFailure is Failure of an error that Start gave.
func (p *Placed) StartFailure(err error) (reason string, out error) {
	return p.failure(err, nil, p.device, 0)
}

func (p *Placed) failure(failed error, at *physical.Pipeline, on *Device, held int64) (reason string, err error) {
	if failed == nil {
		return "", nil
	}
	where := "the query"
	if at != nil {
		where = fmt.Sprintf("pipeline %d (%s)", at.ID, physical.SinkName(at, physical.GPU))
	}
	var no *codegen.Unsupported
	var user *sqlerr.Error
	switch {
	case errors.As(failed, &user) && user.Kind == sqlerr.User: // a constant's: the CPU meets it again, unless it need not look at it
		return "one of its constants has an error, so the CPU runs it and reports that", nil
	case errors.Is(failed, run.ErrOnHost):
		return "a kernel met an error or a warning, so the CPU runs it and reports that", nil
	case errors.As(failed, &no):
		return where + ": " + no.Reason, nil
	case errors.Is(failed, gpukernels.ErrOutOfMemory):
		return p.outOfMemory(failed, at, on, held)
	case errors.Is(failed, gpukernels.ErrDeviceLost):
		reason = fmt.Sprintf("the GPU was lost in %s: %v", where, failed)
	default:
		reason = fmt.Sprintf("%s failed on the GPU: %v", where, failed)
	}
	if p.setting.fallsBack() {
		return reason, nil
	}
	return reason, sqlerr.New(sqlerr.CodeUnknownError, sqlerr.Resource, "%s", reason).WithCause(failed).WithHint("SET radish_device = 'auto' to let the CPU run what the GPU cannot")
}

// failAt notes an error of one of the places.
func (r *Run) failAt(p *physical.Pipeline, err error) error {
	if err != nil && r.failed == nil {
		place := r.places.moving.Failed()
		r.failed, r.at, r.on, r.held = err, p, r.places.devices[place], r.places.queries[place].MemoryUsed()
	}
	return err
}

// everywhere runs a pipeline at its places, and behind the last one that ends in a sink the exchange of its rows.
func (r *Run) everywhere(p *physical.Pipeline, last bool) (profile.Pipeline, error) {
	begin := time.Now()
	s, x := r.placed.shares, r.places
	costs := make([]run.Cost, len(x.queries))
	err := x.each(func(i int, q *run.Query) (err error) {
		if !s.runsAt(i, p) {
			return q.Skip(x.ctx, p)
		}
		costs[i], err = q.RunPipeline(x.ctx, p, i == 0 && r.mustSettle(p))
		return err
	})
	if err != nil {
		return profile.Pipeline{ID: p.ID}, r.failAt(p, err)
	}
	var out profile.Pipeline
	if r.profiled {
		out = r.profileOfPlaces(p, costs, time.Since(begin))
	}
	e, ok := s.Exchanges[p.Sink]
	if _, stored := p.Sink.(*physical.Materialize); !ok || !last || !stored { // what a join or an aggregation moves itself has moved
		return out, nil
	}
	begin = time.Now()
	moved, err := r.exchange(p.Sink, e)
	if err == nil && r.profiled {
		err = x.each(func(_ int, q *run.Query) error { return q.Memory().Stream.Sync(x.ctx) })
	}
	if err != nil {
		return out, r.failAt(p, err)
	}
	if r.profiled {
		took := time.Since(begin)
		out.Wall += took
		out.GPU.Exchange = &profile.Exchange{Kind: e.Kind.String(), Link: s.link(), LinkRate: exchange.CopyRate(x.ctx, x.devices[1].runner.Device, x.devices[0].runner.Device), Rows: moved.Rows, Took: took}
		for i := range out.GPU.Places {
			out.GPU.Places[i].In, out.GPU.Places[i].Out = moved.In(i), moved.Out(i)
		}
	}
	return out, nil
}

// exchange moves the rows of a sink.
func (r *Run) exchange(s physical.Sink, e distribute.Exchange) (*exchange.Traffic, error) {
	x := r.places
	defer r.placed.device.runner.Device.Span(e.Kind.String())()
	switch e.Kind {
	case distribute.Gather:
		return x.moving.Gather(x.ctx, s)
	case distribute.Broadcast:
		return x.moving.Broadcast(x.ctx, s)
	case distribute.Repartition:
		return x.moving.Repartition(x.ctx, s, e.Keys)
	}
	return nil, sqlerr.Bug("no GPU runs the exchange %v", e.Kind)
}

// profileOfPlaces adds up what a pipeline has cost at its places: of kernels the longest time counts.
func (r *Run) profileOfPlaces(p *physical.Pipeline, costs []run.Cost, wall time.Duration) profile.Pipeline {
	s, x := r.placed.shares, r.places
	spread := s.Spread[p].Spread
	sum, uploaded, held := run.Cost{}, int64(0), int64(0)
	var all []profile.Place
	for i, c := range costs {
		if !s.runsAt(i, p) {
			continue
		}
		q := x.queries[i]
		if c.Bytes == 0 {
			c.Bytes = q.Scanned(p)
		}
		sum.Kernel, sum.Fill, sum.Compile, sum.Origin = max(sum.Kernel, c.Kernel), max(sum.Fill, c.Fill), max(sum.Compile, c.Compile), max(sum.Origin, c.Origin)
		sum.Bytes += c.Bytes
		sum.Launches += c.Launches
		uploaded += q.Uploaded(p)
		held = max(held, q.MemoryPeak())
		if i == 0 || spread == distribute.Replicated {
			sum.RowsIn, sum.RowsOut = c.RowsIn, c.RowsOut
		} else {
			if _, isScan := p.Source.(*physical.TableScan); !isScan { // whose rows are those of the table
				sum.RowsIn = addRows(sum.RowsIn, c.RowsIn)
			}
			sum.RowsOut = addRows(sum.RowsOut, c.RowsOut)
		}
		all = append(all, profile.Place{Device: x.devices[i].Name(), Rows: c.RowsOut, Kernel: c.Kernel + c.Fill, Bytes: c.Bytes})
	}
	for i := range all {
		all[i].Idle = sum.Kernel + sum.Fill - all[i].Kernel
	}
	out := r.profileOf(p, &sum, wall, uploaded, held)
	out.GPU.Places = all
	return out
}

// addRows adds numbers of rows, either of which may be unknown.
func addRows(a, b int64) int64 {
	if a == profile.Uncounted || b == profile.Uncounted {
		return profile.Uncounted
	}
	return a + b
}
