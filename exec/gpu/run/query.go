package run

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
)

// errorBytes is what an Error takes (device/error.cuh), with which the control block begins.
const errorBytes = 24

// ErrOnHost says that a kernel met an error, or a case that it does not handle: the query has to run on the CPU, which words it.
var ErrOnHost = errors.New("gpu: the query has to run on the CPU")

// Query is a program that runs on a device. It serves one goroutine. Its state lies in the structs that it embeds, each of which has one purpose.
type Query struct {
	*program.Program
	*Runner
	*queryMemory
	loads
	inputs
	progress
	controlBlock

	// What pipelines have put into their sinks.
	rowsOf  map[physical.Sink]*storedRows
	builds  map[*physical.Build]*buildRun
	groups  map[*physical.Aggregate]*groupRun
	strings map[*physical.Pipeline]*stringRun

	sideRuns map[radix.Side]*sideRun // of joins in partitions

	tables    map[*codegen.Table]gpukernels.Ptr // constants of kernels
	cancelled *gpukernels.Signal                // nil: no kernel has loops that may be long
	unwatch   func()                            // see watch
	launch    launchRange                       // of the kernel that is being launched
	timed     bool                              // the time of each pipeline's kernels is wanted

	downloaded atomic.Int64 // bytes; any goroutine may read it
}

// loads are what a query waits for before its pipelines run: kernels that are compiled, and columns that are uploaded ahead.
type loads struct {
	modules    map[*kernel.Kernel]*loadedKernel
	sorters    map[physical.Sink]*sorter
	fetches    map[*physical.TableScan]*fetch
	loading    sync.WaitGroup // of all of these
	giveUp     func()         // waiting for them
	background bool           // nobody waits for the query
}

// inputs are what kernels read that no kernel of the query writes.
type inputs struct {
	scans   map[*physical.TableScan]*residency.Table
	spanned map[*physical.TableScan]*spanTable
	dicts   map[*column.Dictionary]*heldDictionary
}

// progress says how far a query has come.
type progress struct {
	done  map[*physical.Pipeline]bool
	sizes sizing

	// Pipelines that were launched and not waited for: what they have counted, and whether there was an error, is not known here.
	pending []*kernel.Kernel
	queued  int64 // rows that they read, and rows of sinks whose size is trusted
}

// controlBlock is the memory that kernels report in: the Error struct, a counter of warnings for each site of each kernel, and other counters, the windows
// of sums of doubles among them.
type controlBlock struct {
	control      gpukernels.Ptr
	controlSize  int64
	warnings     map[*kernel.Kernel]int // where a kernel's counters of warnings are
	counters     map[kernel.CounterWord]int
	firstCounter int
	dirty        map[kernel.CounterWord]bool // counters that kernels were launched with
	counts       []byte                      // the block, and perhaps what follows it, behind the kernels that have been waited for
}

// loadedKernel is a kernel that was compiled, or is being compiled.
type loadedKernel struct {
	ready    chan struct{} // closed when the rest is there
	module   *gpukernels.Module
	function *gpukernels.Function
	origin   gpukernels.Origin
	err      error
}

type heldDictionary struct {
	views gpukernels.Ptr
	done  func()
}

// spanTable is a scan's spans on the device.
type spanTable struct {
	address gpukernels.Ptr
	tile    int64 // rows of one
	tiles   int64
	rows    int64
}

// storedRows are a sink's rows on the device.
type storedRows struct {
	form        *kernel.RowForm
	data, valid []gpukernels.Ptr
	memory      []gpukernels.Ptr // what has to be freed for them, and for the build that they belong to
	capacity    int64
	all         bool       // no more rows can come than there is room for
	count       int64      // known once its pipelines have been waited for
	sorted      sortedRows // row numbers in order, of a Sort
	copied      hostCopy   // of a small Result: what it holds
}

// buildRun is a build on the device, besides its rows.
type buildRun struct {
	arrays map[any]*gpukernels.Ptr // by the keys of their addresses
	words  map[any]uint64
}

// word is what a kernel's parameter is that is about the build.
func (b *buildRun) word(key any) (uint64, bool) {
	if at := b.arrays[key]; at != nil {
		return uint64(*at), true
	}
	word, ok := b.words[key]
	return word, ok
}

// groupRun is an aggregation's groups on the device.
type groupRun struct {
	form        *groupby.Form
	slots       int64 // of open addressing
	keys        gpukernels.Ptr
	arrays      []gpukernels.Ptr
	memory      []gpukernels.Ptr // what has to be freed for them
	shift       int              // log2 of the copies in shared memory
	partitions  []partitionRun
	perfectHash [groupby.PerfectHashParts]gpukernels.Ptr

	capacity, appended int64 // slots behind the table, and groups there
	taken              int64 // slots, where a profile is wanted
}

// size is the number of slots.
func (g *groupRun) size() int64 {
	switch g.form.Shape {
	case groupby.ScalarGroups, groupby.DenseGroups:
		return g.form.Slots
	case groupby.KeyedGroups:
		return g.slots
	}
	return g.slots + 2 + g.appended
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

// compiled notes a kernel of the pipeline, all of which are compiled beside each other.
func (c *Cost) compiled(m *loadedKernel) {
	c.Origin = max(c.Origin, m.origin)
	if m.origin == gpukernels.Compiled {
		c.Compile = max(c.Compile, m.module.CompileTime)
	}
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
	q.timed, q.background = o.Profiled, o.Background
	q.budget.SetLimit(o.Limit)
	q.compile(ctx, true)
	return q, nil
}

// Await waits until the kernels are there that have to be compiled, and the columns that have to be uploaded. Both go on when ctx ends, for the next who asks.
func (q *Query) Await(ctx context.Context) error {
	if len(q.fetches) == 0 {
		q.fetchAhead(ctx)
	}
	q.loading.Wait()
	return ctx.Err()
}

// Compiled says what went wrong with the query's kernels. It waits for them.
func (q *Query) Compiled() error {
	for k := range q.modules {
		if _, err := q.loaded(k); err != nil {
			return err
		}
	}
	return nil
}

// IsDone says whether a pipeline has been run.
func (q *Query) IsDone(p *physical.Pipeline) bool { return q.done[p] }

// MemoryUsed is the device memory that the query holds beside table columns, MemoryPeak the most that it has held.
func (q *Query) MemoryUsed() int64 { return q.budget.Used() }
func (q *Query) MemoryPeak() int64 { return q.budget.Peak() }

// DownloadedBytes is how much has come from the device so far. Any goroutine may ask.
func (q *Query) DownloadedBytes() int64 { return q.downloaded.Load() }

// Count is the number of a sink's rows, once its pipelines have been waited for.
func (q *Query) Count(s physical.Sink) int64 {
	if r := q.rowsOf[s]; r != nil {
		return r.count
	}
	return 0
}

// Scanned is the bytes that a table scan has to read: of all its columns, in the row groups that zone maps leave.
func (q *Query) Scanned(p *physical.Pipeline) int64 {
	scan, ok := p.Source.(*physical.TableScan)
	if !ok || q.scans[scan] == nil || q.spanned[scan] == nil {
		return 0
	}
	t := q.scans[scan]
	bytes := 0.0
	for _, c := range t.Columns {
		bytes += float64(c.Size)
	}
	return int64(bytes * float64(q.spanned[scan].rows) / float64(max(t.Rows, 1)))
}

// Uploaded is the bytes of table columns that a pipeline had to wait for.
func (q *Query) Uploaded(p *physical.Pipeline) int64 {
	if scan, ok := p.Source.(*physical.TableScan); ok {
		if t := q.scans[scan]; t != nil {
			return t.Uploaded
		}
	}
	return 0
}

// newQuery prepares a run. Close it. apart gives each array an allocation of its own.
func newQuery(g *program.Program, r *Runner, apart bool) (*Query, error) {
	stream, err := r.Device.NewStream()
	if err != nil {
		return nil, err
	}
	q := &Query{
		Program: g, Runner: r, queryMemory: newQueryMemory(r.Residency, stream, apart),
		loads: loads{modules: map[*kernel.Kernel]*loadedKernel{}, sorters: map[physical.Sink]*sorter{}, fetches: map[*physical.TableScan]*fetch{}},
		inputs: inputs{
			scans: map[*physical.TableScan]*residency.Table{}, spanned: map[*physical.TableScan]*spanTable{}, dicts: map[*column.Dictionary]*heldDictionary{},
		},
		progress: progress{done: map[*physical.Pipeline]bool{}, sizes: newSizing(g, r.remembered)}, controlBlock: newControlBlock(g),
		rowsOf: map[physical.Sink]*storedRows{}, builds: map[*physical.Build]*buildRun{}, groups: map[*physical.Aggregate]*groupRun{},
		sideRuns: map[radix.Side]*sideRun{},
		strings:  map[*physical.Pipeline]*stringRun{}, tables: map[*codegen.Table]gpukernels.Ptr{},
	}
	for _, k := range q.Kernels {
		if k.Stops && q.cancelled == nil && err == nil {
			q.cancelled, err = q.Device.NewSignal()
		}
	}
	if err == nil {
		err = q.openSmall()
	}
	if err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// newControlBlock finds out how large the block is.
func newControlBlock(g *program.Program) controlBlock {
	b := controlBlock{warnings: map[*kernel.Kernel]int{}, counters: map[kernel.CounterWord]int{}, dirty: map[kernel.CounterWord]bool{}}
	at := errorBytes
	for _, main := range g.Kernels {
		for _, k := range main.All() {
			b.warnings[k] = at
			at += 8 * len(k.Sites)
		}
	}
	b.firstCounter = at
	for _, p := range g.Plan.Pipelines {
		at += 8 * (kernel.MostCounters + len(p.Transforms))
	}
	for _, f := range g.Aggs {
		for _, acc := range f.Accs {
			if acc.Windowed() {
				at += 8
			}
		}
	}
	b.controlSize = int64(at)
	return b
}

// compile begins to load all kernels. A pipeline waits for its own alone, so that the first ones run meanwhile. Where any has to be waited for and the
// query is going to run, columns are brought ahead.
func (q *Query) compile(ctx context.Context, run bool) {
	q.watch(ctx)
	ctx, q.giveUp = context.WithCancel(ctx)
	var missing []load
	for _, p := range q.Plan.Pipelines {
		for _, k := range q.Kernels[p].All() {
			m := &loadedKernel{ready: make(chan struct{}), module: q.Device.Loaded(k.CUDA)}
			q.modules[k] = m
			if m.module != nil {
				m.function, m.err = m.module.Function(k.Title)
				close(m.ready)
				continue
			}
			missing = append(missing, load{k.CUDA, func(module *gpukernels.Module, origin gpukernels.Origin, err error) {
				defer close(m.ready)
				if m.module, m.origin, m.err = module, origin, err; err == nil {
					m.function, m.err = module.Function(k.Title)
				}
			}})
		}
	}
	if len(missing) > 0 && run {
		q.fetchAhead(ctx)
	}
	q.begin(ctx, q.missingSorts(missing))
}

// loaded waits for a kernel.
func (q *Query) loaded(k *kernel.Kernel) (*loadedKernel, error) {
	m := q.modules[k]
	<-m.ready
	if m.err != nil {
		return nil, fmt.Errorf("compiling the kernel %s of pipeline %d: %w", k.Title, k.Pipeline.ID, m.err)
	}
	return m, nil
}

// Close frees everything. Work that still runs is ordered before it.
func (q *Query) Close() {
	if q.giveUp != nil {
		q.giveUp()
		q.loading.Wait()
		q.unwatch()
	}
	q.dropFetches()
	q.freeHeld()
	if len(q.scans)+len(q.dicts) > 0 {
		_ = q.stream.Sync(context.Background()) // before others may overwrite what it reads
	}
	for _, t := range q.scans {
		t.Release()
	}
	clear(q.scans)
	for _, d := range q.dicts {
		d.done()
	}
	clear(q.dicts)
	for _, m := range q.modules {
		if m.module != nil {
			m.module.Release()
		}
	}
	clear(q.modules)
	for _, x := range q.sorters {
		if x == nil {
			continue
		}
		for _, m := range append(x.parts[:], x.tree) {
			if m.module != nil {
				m.module.Release()
			}
		}
	}
	clear(q.sorters)
	if q.cancelled != nil {
		q.cancelled.Close()
	}
	q.stream.Close()
}

// What parameters ask for.

func (q *Query) resident(c kernel.ScanColumn) *residency.Column {
	at := 0
	for i, o := range c.Scan.Ordinals {
		if o == logical.RowIDOrdinal {
			continue
		}
		if i == c.At {
			break
		}
		at++
	}
	return q.scans[c.Scan].Columns[at]
}

func (q *Query) table(s *physical.TableScan) *residency.Table { return q.scans[s] }
func (q *Query) spans(s *physical.TableScan) uint64           { return uint64(q.spanned[s].address) }
func (q *Query) stored(s physical.Sink) *storedRows           { return q.rowsOf[s] }

// counter is the address of a counter that a kernel will change.
func (q *Query) counter(w kernel.CounterWord) uint64 {
	q.dirty[w] = true
	return uint64(q.control) + uint64(q.counterAt(w))
}

// counted is what a counter was when pipelines were waited for last.
func (q *Query) counted(w kernel.CounterWord) int64 {
	return int64(binary.LittleEndian.Uint64(q.counts[q.counterAt(w):]))
}

// counterAt is a counter's place in the control block.
func (q *Query) counterAt(w kernel.CounterWord) int {
	i, ok := q.counters[w]
	if !ok {
		i = q.firstCounter + 8*len(q.counters)
		if int64(i) >= q.controlSize {
			panic("gpu: a query has more counters than its plan's operators")
		}
		q.counters[w] = i
	}
	return i
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
	q.sizes.ran = append(q.sizes.ran, p)
	k := q.Kernels[p]
	if k == nil {
		return cost, q.Reason(p)
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
	m, err := q.loaded(k)
	if err != nil {
		return cost, err
	}
	cost.compiled(m)
	clock, err := q.startClock()
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
	q.done[p] = true
	order := q.ends(p.Sink)
	if err := q.start(ctx, k, &cost); err != nil {
		return cost, err
	}
	if wait || order != nil && !q.sortsHeld(p.Sink) || q.timed || q.overflows(k) || q.queued > groupby.LaunchRows {
		if err := q.finish(ctx, k, &cost); err != nil {
			return cost, err
		}
	}
	if cost.Fill, cost.Kernel, err = clock.stop(); err != nil {
		return cost, err
	}
	if r := q.rowsOf[p.Sink]; r != nil {
		cost.RowsOut = r.count
	}
	if a, ok := p.Sink.(*physical.Aggregate); ok && q.timed && q.Finished(a) {
		if cost.RowsOut, err = q.countGroups(ctx, a); err != nil {
			return cost, err
		}
		q.groups[a].taken = cost.RowsOut
	}
	if order != nil {
		if err := q.order(ctx, p.Sink, order); err != nil {
			return cost, err
		}
	}
	q.release()
	return cost, nil
}
