package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Runner runs programs on one device. It has what queries share there: table columns, and how many rows came to their sinks. It is safe for concurrent use.
type Runner struct {
	Device     *gpukernels.Device
	Residency  *residency.Residency
	remembered *sizeMemory
	sides      *sideMemory
	tuning     kernel.Tuning

	measuring sync.Mutex
	readRate  float64 // bytes a second, once it was measured
}

func NewRunner(device *gpukernels.Device) (*Runner, error) {
	res, err := residency.New(device)
	if err != nil {
		return nil, err
	}
	return &Runner{Device: device, Residency: res, remembered: newSizeMemory(), sides: newSideMemory(), tuning: kernel.TuningOf(device.Info().ComputeCapability)}, nil
}

// Close gives table columns back. No query may run any more.
func (r *Runner) Close() { r.Residency.Close() }

// ForKernels is what writers of kernels need to know of the device.
func (r *Runner) ForKernels() *kernel.Target {
	info := r.Device.Info()
	return &kernel.Target{LaunchWords: gpukernels.LaunchWords, Includes: gpukernels.Includes, Columns: r.Residency.Form, SharedBytes: info.SharedBytes - kernel.SharedRest, Multiprocessors: r.multiprocessors(), Tuning: r.tuning}
}

// ErrOnHost says that a kernel met an error, or a case that it does not handle: the query has to run on the CPU, which words it.
var ErrOnHost = errors.New("gpu: the query has to run on the CPU")

// Query is a program that runs on a device. It serves one goroutine. It says in what order things are done; what it consists of knows how.
type Query struct {
	program  *program.Program
	runner   *Runner
	memory   *devicemem.Memory // what it allocates, and the stream that orders all its work
	control  *controlBlock     // control.go: errors, warnings and counters, which kernels write
	kernels  *loader           // compile.go
	inputs   *inputs           // inputs.go: what kernels read that no kernel of the query writes
	outputs  *outputs          // outputs.go: what pipelines have put into their sinks
	sizes    *sizing           // sizes.go: how many rows came to sinks before
	progress *progress         // progress.go: which pipelines have run, and which are waited for
	cancel   *cancellation     // cancel.go
	clock    clock             // profile.go
	launch   launchRange       // of the kernel that is being launched
}

// Cost is what a pipeline has cost.
type Cost struct {
	RowsIn, RowsOut int64
	Bytes           int64         // of table columns that were scanned
	Kernel          time.Duration // on the device
	Fill            time.Duration // on the device before: its sink's memory gets its first state
	Compile         time.Duration
	Origin          gpukernels.Origin
	Launches        int
}

// Options say how a program runs.
type Options struct {
	Profiled   bool  // the time of each pipeline's kernels is wanted, for which each is waited for
	Limit      int64 // bytes of the device that the query may hold beside table columns; 0: as many as there are
	Background bool  // nobody waits for it: its kernels are compiled after those of others
}

// Start makes ready to run a program, and begins to compile its kernels and, where any has to be compiled, to upload the columns that it reads. Close the query.
func (r *Runner) Start(ctx context.Context, g *program.Program, o Options) (*Query, error) {
	q, err := newQuery(g, r, false)
	if err != nil {
		return nil, err
	}
	q.clock.wanted, q.kernels.background = o.Profiled, o.Background
	q.memory.Budget.SetLimit(o.Limit)
	q.compile(ctx)
	return q, nil
}

// OnLongWait has late called, once, when the device has been waited for for so long at a time. Call it before the first pipeline runs.
func (q *Query) OnLongWait(patience time.Duration, late func()) {
	q.memory.Stream.OnLongWait(patience, late)
}

// Await waits until the kernels are there that have to be compiled, and the columns that have to be uploaded. Both go on when ctx ends, for the next who asks.
func (q *Query) Await(ctx context.Context) error {
	if len(q.inputs.fetches) == 0 {
		q.inputs.fetchAhead(ctx)
	}
	q.kernels.loading.Wait()
	q.inputs.fetching.Wait()
	return ctx.Err()
}

// Compiled says what went wrong with the query's kernels. It waits for them.
func (q *Query) Compiled() error {
	for k := range q.kernels.modules {
		if _, err := q.kernels.loaded(k); err != nil {
			return err
		}
	}
	return nil
}

// IsDone says whether a pipeline has been run.
func (q *Query) IsDone(p *physical.Pipeline) bool { return q.progress.done[p] }

// MemoryUsed is the device memory that the query holds beside table columns, MemoryPeak the most that it has held.
func (q *Query) MemoryUsed() int64 { return q.memory.Budget.Used() }
func (q *Query) MemoryPeak() int64 { return q.memory.Budget.Peak() }

// DownloadedBytes is how much has come from the device so far. Any goroutine may ask.
func (q *Query) DownloadedBytes() int64 { return q.memory.Downloaded.Load() }

// Count is the number of a sink's rows, once its pipelines have been waited for.
func (q *Query) Count(s physical.Sink) int64 {
	if r := q.outputs.rows[s]; r != nil {
		return r.count
	}
	return 0
}

// Scanned is the bytes that a table scan has to read: of all its columns, in the row groups that zone maps leave.
func (q *Query) Scanned(p *physical.Pipeline) int64 { return q.inputs.scanned(p) }

// Uploaded is the bytes of table columns that a pipeline had to wait for.
func (q *Query) Uploaded(p *physical.Pipeline) int64 { return q.inputs.uploaded(p) }

// Finished says whether all pipelines that end in a sink have run.
func (q *Query) Finished(s physical.Sink) bool { return q.progress.finished(s) }

// newQuery prepares a run. Close it. apart gives each array an allocation of its own.
func newQuery(g *program.Program, r *Runner, apart bool) (*Query, error) {
	stream, err := r.Device.NewStream()
	if err != nil {
		return nil, err
	}
	m := devicemem.New(r.Residency, stream, apart)
	q := &Query{
		program: g, runner: r, memory: m, control: newControlBlock(g, m), kernels: newLoader(g, r.Device), inputs: newInputs(g, r, m), progress: newProgress(g), sizes: newSizing(g, r.remembered),
		clock: clock{device: r.Device, stream: stream},
	}
	q.outputs = newOutputs(g, m, q.control, q.progress)
	if q.cancel, err = newCancellation(g, r.Device, stream); err == nil {
		err = q.openSmall()
	}
	if err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// openSmall takes memory for what is small and known before anything runs: the control block first.
func (q *Query) openSmall() (err error) {
	if q.memory.Apart {
		q.control.at, err = q.memory.Filled("counters", q.control.size/8, 8, 0)
		return err
	}
	var small devicemem.Small
	q.inputs.small(&small)
	q.control.at, err = q.memory.Begin(q.control.size, &small)
	return err
}

// compile begins to load all kernels. A pipeline waits for its own alone, so that the first ones run meanwhile. Where any has to be waited for, columns are
// brought ahead.
func (q *Query) compile(ctx context.Context) {
	ctx = q.cancel.watch(ctx)
	missing := q.kernels.missing()
	if len(missing) > 0 {
		q.inputs.fetchAhead(ctx)
	}
	q.kernels.begin(ctx, q.kernels.missingSorts(missing))
}

// Close frees everything. Work that still runs is ordered before it.
func (q *Query) Close() {
	if q.cancel.giveUp != nil {
		q.cancel.giveUp()
		q.kernels.loading.Wait()
		q.inputs.fetching.Wait()
		q.cancel.unwatch()
	}
	q.memory.Close()
	q.inputs.close()
	q.kernels.close()
	q.cancel.close()
	q.memory.Stream.Close()
}

// RunPipeline runs one pipeline. What its sources read has been run or put in before. Where nothing here depends on what its kernel counts, it
// is not waited for: wait says so. An error may then be a later call's.
func (q *Query) RunPipeline(ctx context.Context, p *physical.Pipeline, wait bool) (Cost, error) {
	cost, err := q.runOnce(ctx, p, wait)
	if err == errTooSmall {
		err = q.runAgain(ctx, &cost)
	}
	return cost, err
}

func (q *Query) runOnce(ctx context.Context, p *physical.Pipeline, wait bool) (Cost, error) {
	var cost Cost
	q.progress.ran = append(q.progress.ran, p)
	k := q.program.Kernels[p]
	if k == nil {
		return cost, q.program.Reason(p)
	}
	if ctx.Err() != nil {
		return cost, context.Cause(ctx)
	}
	if q.readsCounts(k) {
		if err := q.Settle(ctx); err != nil {
			return cost, err
		}
	}
	if err := q.openInput(ctx, k, &cost); err != nil {
		return cost, err
	}
	m, err := q.kernels.loaded(k)
	if err != nil {
		return cost, err
	}
	cost.compiled(m)
	clock, err := q.clock.start()
	if err != nil {
		return cost, err
	}
	defer clock.close()
	if err := q.openOutput(k); err != nil {
		return cost, err
	}
	if err := clock.lap(); err != nil {
		return cost, err
	}
	q.progress.done[p] = true
	order := q.ends(p.Sink)
	if err := q.start(ctx, k, &cost); err != nil {
		return cost, err
	}
	if wait || order != nil && !q.sortsHeld(p.Sink) || q.clock.wanted || q.overflows(k) || q.progress.queued > groupby.LaunchRows {
		if err := q.finish(ctx, k, &cost); err != nil {
			return cost, err
		}
	}
	if cost.Fill, cost.Kernel, err = clock.stop(); err != nil {
		return cost, err
	}
	if r := q.outputs.rows[p.Sink]; r != nil {
		cost.RowsOut = r.count
	}
	if a, ok := p.Sink.(*physical.Aggregate); ok && q.clock.wanted && q.progress.finished(a) {
		if cost.RowsOut, err = q.countGroups(ctx, a); err != nil {
			return cost, err
		}
		q.outputs.groups[a].taken = cost.RowsOut
	}
	if order != nil {
		if err := q.order(ctx, p.Sink, order); err != nil {
			return cost, err
		}
	}
	q.outputs.release()
	return cost, nil
}

// runAgain runs all pipelines again that have run, and waits for the counts.
func (q *Query) runAgain(ctx context.Context, cost *Cost) error {
	ran := q.progress.restart()
	q.sizes.trustNone()
	for s := range q.outputs.rows {
		q.outputs.freeRows(s)
	}
	for a := range q.outputs.groups {
		q.outputs.freeGroups(a)
	}
	if err := q.control.clear(); err != nil {
		return err
	}
	for i, p := range ran {
		again, err := q.runOnce(ctx, p, i == len(ran)-1)
		if err != nil {
			return err
		}
		cost.Launches += again.Launches
		cost.RowsOut = again.RowsOut
	}
	return nil
}
