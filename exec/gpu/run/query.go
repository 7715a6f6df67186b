package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/radish-sql/radish/exec/gpu/control"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/load"
	"github.com/radish-sql/radish/exec/gpu/measure"
	"github.com/radish-sql/radish/exec/gpu/outofcore"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/exec/gpu/sizes"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	tables "github.com/radish-sql/radish/storage/table"
)

// Runner runs programs on one device. It has what queries share there: table columns, and how many rows came to their sinks. It is safe for concurrent use.
type Runner struct {
	Device     *gpukernels.Device
	Residency  *residency.Residency
	remembered *sizes.Memory
	sides      *sizes.Sides
	tuning     kernel.Tuning
	anySorts   *load.AnySorts // nil: they are not loaded

	measuring sync.Mutex
	readRate  float64 // bytes a second, once it was measured
	busRate   float64 // the same
}

func NewRunner(device *gpukernels.Device) (*Runner, error) {
	res, err := residency.New(device)
	if err != nil {
		return nil, err
	}
	r := &Runner{Device: device, Residency: res, remembered: sizes.NewMemory(), sides: sizes.NewSides(), tuning: kernel.TuningOf(device.Info().ComputeCapability)}
	if !device.Info().Emulated() { // a test of an emulated device loads them if it wants them: they take seconds there
		r.LoadAnySorts()
	}
	return r, nil
}

// LoadAnySorts begins to load the kernels that order rows by any columns. wait waits until they are there.
func (r *Runner) LoadAnySorts() (wait func()) {
	if r.anySorts == nil {
		r.anySorts = load.LoadAnySorts(r.Device)
	}
	return r.anySorts.Wait
}

// PreparedBytes is how many bytes of a result that is stored are worth looking for on the host before it is there.
func (r *Runner) PreparedBytes() int64 { return r.tuning.Results.PreparedBytes }

// Tune is for tests: it changes what kernels are written by from then on. No query may run meanwhile.
func (r *Runner) Tune(change func(*kernel.Tuning)) { change(&r.tuning) }

// UseTuning is for benchmarks: kernels are written for a compute capability. Where first is not set, a first run has those of later ones.
func (r *Runner) UseTuning(computeCapability int, first bool) {
	if r.tuning = kernel.TuningOf(computeCapability); !first {
		r.tuning.Scan.FirstRows, r.tuning.Scan.FirstAppends, r.tuning.Partition.FirstRows = 0, 0, 0
	}
}

// Close gives table columns back. No query may run any more.
func (r *Runner) Close() {
	if r.anySorts != nil {
		r.anySorts.Close()
	}
	r.Residency.Close()
}

// ForKernels is what writers of kernels need to know of the device.
func (r *Runner) ForKernels() *kernel.Target {
	info := r.Device.Info()
	return &kernel.Target{LaunchWords: gpukernels.LaunchWords, Includes: gpukernels.Includes, Columns: r.Residency.Form, SharedBytes: info.SharedBytes - kernel.SharedRest, Multiprocessors: r.multiprocessors(), MemoryBytes: r.Residency.Capacity(), Tuning: r.tuning}
}

func (r *Runner) multiprocessors() int { return max(r.Device.Info().Multiprocessors, 1) }

// Bandwidth is how many bytes of its memory the device reads in a second; it is measured when it is asked for first. 0: it could not be.
func (r *Runner) Bandwidth(ctx context.Context) float64 {
	r.measuring.Lock()
	defer r.measuring.Unlock()
	if r.readRate == 0 {
		r.readRate, _ = measure.ReadRate(ctx, r.Device) // the next one tries again
	}
	return r.readRate
}

// BusRate is how many bytes a second the device copies from pinned memory of the host; it is measured when it is asked for first. 0: it could not be.
func (r *Runner) BusRate(ctx context.Context) float64 {
	r.measuring.Lock()
	defer r.measuring.Unlock()
	if r.busRate == 0 {
		r.busRate, _ = measure.BusRate(ctx, r.Device) // the next one tries again
	}
	return r.busRate
}

// ErrOnHost says that a kernel met an error, or a case that it does not handle: the query has to run on the CPU, which words it.
var ErrOnHost = errors.New("gpu: the query has to run on the CPU")

// Query is a program that runs on a device. It serves one goroutine. What it consists of knows how things are done, pipeline.go in what order.
type Query struct {
	program  *program.Program
	runner   *Runner
	memory   *devicemem.Memory // what it allocates, and the stream that orders all its work
	control  *control.Block    // errors, warnings and counters, which kernels write
	kernels  *load.Loader
	inputs   *inputs      // inputs.go: what kernels read that no kernel of the query writes
	outputs  *outputs     // outputs.go: what pipelines have put into their sinks
	sizes    *sizes.Sizes // how many rows came to sinks before
	progress *progress    // progress.go: which pipelines have run, and which are waited for
	cancel   *control.Cancellation
	clock    measure.Clock
	launch   launchRange // of the kernel that is being launched
	moving   moving      // meeting.go
}

// launchRange is the tiles or rows of a launch; every says which tiles are numbered (Tiles in tile.cuh).
type launchRange struct {
	from, to, every int64
	later           *putOff // the runs that the launch goes over; nil: it goes over the source
}

// Options say how a program runs.
type Options struct {
	Profiled   bool  // the time of each pipeline's kernels is wanted, for which each is waited for
	Limit      int64 // bytes of the device that the query may hold beside table columns; 0: as many as there are
	Background bool  // nobody waits for it: its kernels are compiled after those of others
	Soon       bool  // it waits for its kernels: those that have to be compiled are compiled quickly
	Tables     int64 // bytes of the device that table columns may take while it runs; 0: as many as there are

	Parts map[*physical.TableScan]tables.Slice // of the tables that are scanned; all of those that are not named
	// Of a program that several devices run together: which of them this one is, and how many there are; 0: it runs alone.
	Place, Places int
	// Moving are the builds of joins whose rows move between the places, which meet for that.
	Moving  map[*physical.Build]bool
	Meeting Meeting

	Windows outofcore.Windows // how tables are read whose columns do not fit into the memory that they may take
}

// Start makes ready to run a program, and begins to compile its kernels and, where any has to be compiled, to upload the columns that it reads. Close the query.
func (r *Runner) Start(ctx context.Context, g *program.Program, o Options) (*Query, error) {
	defer r.Device.Span("start")()
	q, err := newQuery(g, r, o, false)
	if err != nil {
		return nil, err
	}
	q.moving = moving{place: o.Place, places: o.Places, builds: o.Moving, meeting: o.Meeting}
	if o.Places > 0 {
		q.sizes.Of(o.Place, o.Places)
	}
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
	q.kernels.Loading.Wait()
	q.inputs.fetching.Wait()
	return ctx.Err()
}

// Compiled says what went wrong with the query's kernels. It waits for them.
func (q *Query) Compiled() error {
	return q.kernels.Err()
}

// Hurried are the sources of kernels that were compiled quickly and are slower for it.
func (q *Query) Hurried() []string { return q.kernels.Hurried() }

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
func (q *Query) Scanned(p *physical.Pipeline) int64 {
	if x := q.inputs.scanOf(p); x != nil {
		return x.bytes
	}
	return 0
}

// Uploaded is the bytes of table columns that a pipeline had to wait for.
func (q *Query) Uploaded(p *physical.Pipeline) int64 {
	if x := q.inputs.scanOf(p); x != nil {
		return x.uploaded
	}
	return 0
}

// WindowsRead is how many windows a pipeline has read its table in; 0: it was read at once, or there is none.
func (q *Query) WindowsRead(p *physical.Pipeline) int {
	if x := q.inputs.scanOf(p); x != nil {
		return x.windows
	}
	return 0
}

// Finished says whether all pipelines that end in a sink have run.
func (q *Query) Finished(s physical.Sink) bool { return q.progress.finished(s) }

// newQuery prepares a run. Close it. apart gives each array an allocation of its own.
func newQuery(g *program.Program, r *Runner, o Options, apart bool) (*Query, error) {
	stream, err := r.Device.NewStream()
	if err != nil {
		return nil, err
	}
	m := devicemem.New(r.Residency, stream, apart)
	q := &Query{
		program: g, runner: r, memory: m, control: control.New(g, m), kernels: load.New(g, r.Device), inputs: newInputs(g, r.Device, r.Residency, m, o.Parts), progress: newProgress(g), sizes: sizes.New(g, r.remembered, o.Parts),
		clock: measure.Clock{Device: r.Device, Stream: stream},
	}
	q.inputs.windows = o.Windows
	q.outputs = newOutputs(g, m, q.control, q.progress)
	q.clock.Wanted, q.kernels.Background, q.kernels.Soon = o.Profiled, o.Background, o.Soon
	m.Budget.SetLimit(o.Limit)
	r.Residency.LimitTables(q, o.Tables)
	if q.cancel, err = control.NewCancellation(g, r.Device, stream); err == nil {
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
		q.control.At, err = q.memory.Filled("counters", q.control.Size/8, 8, 0)
		return err
	}
	var small devicemem.Small
	q.inputs.small(&small)
	q.control.At, err = q.memory.Begin(q.control.Size, &small)
	return err
}

// compile begins to load all kernels. A pipeline waits for its own alone, so that the first ones run meanwhile. Where any has to be waited for, columns are
// brought ahead.
func (q *Query) compile(ctx context.Context) {
	ctx = q.cancel.Watch(ctx)
	missing := q.kernels.Missing()
	if len(missing) > 0 {
		q.inputs.fetchAhead(ctx)
	}
	q.kernels.Begin(ctx, q.kernels.MissingSorts(missing))
}

// Close frees everything. Work that still runs is ordered before it.
func (q *Query) Close() {
	defer q.runner.Device.Span("close")()
	if q.cancel.GiveUp != nil {
		q.cancel.GiveUp()
		q.kernels.Loading.Wait()
		q.inputs.fetching.Wait()
		q.cancel.Unwatch()
	}
	q.memory.Close()
	q.moving.close()
	q.inputs.close()
	q.kernels.Close()
	q.cancel.Close()
	q.memory.Stream.Close()
	q.runner.Residency.LimitTables(q, 0)
}
