package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/storage/column"
)

// blockThreads is the number of threads of a block of generated kernels, unless they want more.
const blockThreads = 256

// Limits of a launch, so that a cancelled query ends soon: so many rows, or so many pairs of a nested loop.
const (
	launchRows  = 1 << 30
	launchPairs = 1 << 34
)

// errOnHost says that a kernel met an error, or a case that it does not handle: the query has to run on the CPU, which words it.
var errOnHost = errors.New("gpu: the query has to run on the CPU")

// query is a plan that runs on a device. It serves one goroutine.
type query struct {
	*program
	res    *residency
	device *gpukernels.Device
	stream *gpukernels.Stream

	modules    map[*kernel]*loadedKernel
	scans      map[*physical.TableScan]*residentTable
	spanned    map[*physical.TableScan]*spanTable
	rowsOf     map[physical.Sink]*storedRows
	builds     map[*physical.Build]*buildRun
	groups     map[*physical.Aggregate]*groupRun
	tables     map[*table]gpukernels.Ptr
	dicts      map[*column.Dictionary]*heldDictionary
	done       map[*physical.Pipeline]bool
	sorters    map[*physical.Sort]*sorter
	loading    sync.WaitGroup     // of modules, sorters and columns
	giveUp     func()             // waiting for what is being loaded
	unwatch    func()             // see watch
	downloaded atomic.Int64       // bytes
	cancelled  *gpukernels.Signal // nil: no kernel has loops that may be long
	fetches    map[*physical.TableScan]*fetch

	// The control block: the Error struct, a counter of warnings for each site of each kernel, other counters.
	control      gpukernels.Ptr
	controlSize  int64
	warnings     map[*kernel]int // where a kernel's counters of warnings are
	counters     map[counterWord]int
	firstCounter int
	dirty        map[counterWord]bool // counters that kernels were launched with
	counts       []byte               // the control block, and perhaps what follows it, behind the kernels that have been waited for

	// Pipelines that were launched and not waited for: what they have counted, and whether there was an error, is not known here.
	pending []*kernel
	queued  int64 // rows that they read, and rows of sinks whose size is trusted

	// Arrays share allocations, unless apart is set: tests do, since the emulated device sees only what is written outside of an allocation.
	apart  bool
	memory map[gpukernels.Ptr]int64 // what has to be freed, and its bytes
	texts  map[*physical.Pipeline]*textRun
	arena  arena
	used   int64
	peak   int64 // of used
	limit  int64 // of used; 0: none but the device's
	launch launchRange
	sizes  sizing
	timed  bool // the time of each pipeline's kernels is wanted
}

// launchRange is the tiles or rows of a launch; every says which tiles are numbered (Tiles in tile.cuh).
type launchRange struct{ from, to, every int64 }

// loadedKernel is a kernel that was compiled, or is being compiled.
type loadedKernel struct {
	ready    chan struct{} // closed when the rest is there
	module   *gpukernels.Module
	function *gpukernels.Function
	origin   gpukernels.Origin
	err      error
}

type heldDictionary struct {
	words *residentDictionary
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
	form        *rowForm
	data, valid []gpukernels.Ptr
	memory      []gpukernels.Ptr // what has to be freed for them, and for the build that they belong to
	room        int64
	all         bool       // no more rows can come than there is room for
	count       int64      // known once its pipelines have been waited for
	sorted      sortedRows // row numbers in order, of a Sort
	copied      hostCopy   // of a small Result: what it holds
}

// buildRun is a build on the device, besides its rows.
type buildRun struct {
	heads, next, nullHead, bits, matched gpukernels.Ptr
	mask                                 int64
	filters                              []gpukernels.Ptr // of the keys that have one
}

// groupRun is an aggregation's groups on the device.
type groupRun struct {
	form   *aggForm
	slots  int64 // of open addressing
	keys   gpukernels.Ptr
	arrays []gpukernels.Ptr
	memory []gpukernels.Ptr // what has to be freed for them
	shift  int              // log2 of the copies in shared memory
	parts  []partRun
	placed [placedParts]gpukernels.Ptr

	room, appended int64 // places behind the table, and groups there
	taken          int64 // places, where a profile is wanted
}

// size is the number of places.
func (g *groupRun) size() int64 {
	switch g.form.shape {
	case scalarGroups, denseGroups:
		return g.form.places
	case keyedGroups:
		return g.slots
	}
	return g.slots + 2 + g.appended
}

// pipelineCost is what a pipeline has cost.
type pipelineCost struct {
	RowsIn, RowsOut int64
	Bytes           int64         // of table columns that were scanned
	Kernel          time.Duration // on the device
	Compile         time.Duration
	Origin          gpukernels.Origin
	Launches        int
	Note            string
}

// compiled notes a kernel of the pipeline, all of which are compiled beside each other.
func (c *pipelineCost) compiled(m *loadedKernel) {
	c.Origin = max(c.Origin, m.origin)
	if m.origin == gpukernels.Compiled {
		c.Compile = max(c.Compile, m.module.CompileTime)
	}
}

// newQuery prepares a run. Close it.
func newQuery(g *program, res *residency, apart bool) (*query, error) {
	q := &query{
		program: g, res: res, device: res.device, modules: map[*kernel]*loadedKernel{}, scans: map[*physical.TableScan]*residentTable{},
		spanned: map[*physical.TableScan]*spanTable{}, rowsOf: map[physical.Sink]*storedRows{}, builds: map[*physical.Build]*buildRun{},
		groups: map[*physical.Aggregate]*groupRun{}, tables: map[*table]gpukernels.Ptr{}, dicts: map[*column.Dictionary]*heldDictionary{},
		done: map[*physical.Pipeline]bool{}, sorters: map[*physical.Sort]*sorter{}, fetches: map[*physical.TableScan]*fetch{}, warnings: map[*kernel]int{}, counters: map[counterWord]int{},
		dirty: map[counterWord]bool{}, texts: map[*physical.Pipeline]*textRun{}, apart: apart, memory: map[gpukernels.Ptr]int64{}, sizes: newSizing(g, res.sizes),
	}
	at := 16
	for _, k := range q.kernels {
		q.warnings[k] = at
		at += 8 * len(k.sites)
	}
	q.firstCounter = at
	for _, p := range q.plan.Pipelines {
		at += 8 * (6 + len(p.Transforms)) // its sink, as it is filled and sorted, or with what was added to directly and appended, its texts, and its limits; its source's rows where these are constants
	}
	q.controlSize = int64(at)
	var err error
	if q.stream, err = q.device.NewStream(); err != nil {
		return nil, err
	}
	for _, k := range q.kernels {
		if k.stops && q.cancelled == nil && err == nil {
			q.cancelled, err = q.device.NewSignal()
		}
	}
	if err == nil {
		err = q.openSmall()
	}
	if err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

// compile begins to load all kernels. A pipeline waits for its own alone, so that the first ones run meanwhile. Where any has to be waited for and the
// query is going to run, columns are brought ahead.
func (q *query) compile(ctx context.Context, run bool) {
	q.watch(ctx)
	ctx, q.giveUp = context.WithCancel(ctx)
	var missing []load
	for _, p := range q.plan.Pipelines {
		for _, k := range q.kernels[p].all() {
			m := &loadedKernel{ready: make(chan struct{}), module: q.device.Loaded(k.text)}
			q.modules[k] = m
			if m.module != nil {
				m.function, m.err = m.module.Function(k.title)
				close(m.ready)
				continue
			}
			missing = append(missing, load{k.text, func(module *gpukernels.Module, origin gpukernels.Origin, err error) {
				defer close(m.ready)
				if m.module, m.origin, m.err = module, origin, err; err == nil {
					m.function, m.err = module.Function(k.title)
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
func (q *query) loaded(k *kernel) (*loadedKernel, error) {
	m := q.modules[k]
	<-m.ready
	if m.err != nil {
		return nil, fmt.Errorf("compiling the kernel %s: %w", k.title, m.err)
	}
	return m, nil
}

// close frees everything. Work that still runs is ordered before it.
func (q *query) close() {
	if q.giveUp != nil {
		q.giveUp()
		q.loading.Wait()
		q.unwatch()
	}
	q.dropFetches()
	for p := range q.memory {
		_ = q.stream.Free(p)
	}
	clear(q.memory)
	if len(q.scans)+len(q.dicts) > 0 {
		_ = q.stream.Sync(context.Background()) // before others may overwrite what it reads
	}
	for _, t := range q.scans {
		t.release()
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
		for i := range x.parts {
			if m := x.parts[i].module; m != nil {
				m.Release()
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

func (q *query) resident(c scanColumn) *residentColumn {
	at := 0
	for i, o := range c.scan.Ordinals {
		if o == logical.RowIDOrdinal {
			continue
		}
		if i == c.at {
			break
		}
		at++
	}
	return q.scans[c.scan].columns[at]
}

func (q *query) table(s *physical.TableScan) *residentTable { return q.scans[s] }
func (q *query) spans(s *physical.TableScan) uint64         { return uint64(q.spanned[s].address) }
func (q *query) stored(s physical.Sink) *storedRows         { return q.rowsOf[s] }

// counter is the address of a counter that a kernel will change.
func (q *query) counter(w counterWord) uint64 {
	q.dirty[w] = true
	return uint64(q.control) + uint64(q.counterAt(w))
}

// counted is what a counter was when pipelines were waited for last.
func (q *query) counted(w counterWord) int64 {
	return int64(binary.LittleEndian.Uint64(q.counts[q.counterAt(w):]))
}

// counterAt is a counter's place in the control block.
func (q *query) counterAt(w counterWord) int {
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

// runPipeline runs one pipeline. What its sources read has been run or put in before. Where nothing here depends on what its kernel counts, it
// is not waited for: wait says so. An error may then be a later call's.
func (q *query) runPipeline(ctx context.Context, p *physical.Pipeline, wait bool) (pipelineCost, error) {
	cost, err := q.runOnce(ctx, p, wait)
	if err == errTooSmall {
		err = q.runAgain(ctx, &cost)
	}
	return cost, err
}

func (q *query) runOnce(ctx context.Context, p *physical.Pipeline, wait bool) (pipelineCost, error) {
	var cost pipelineCost
	q.sizes.ran = append(q.sizes.ran, p)
	k := q.kernels[p]
	if k == nil {
		return cost, q.reasons[p]
	}
	if ctx.Err() != nil {
		return cost, context.Cause(ctx)
	}
	if q.readsCounts(k) {
		if err := q.settle(ctx); err != nil {
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
	if err := q.openOutput(k); err != nil {
		return cost, err
	}
	clock, err := q.startClock()
	if err != nil {
		return cost, err
	}
	defer clock.close()
	sort, _ := p.Sink.(*physical.Sort)
	q.done[p] = true
	ends := sort != nil && q.finished(sort)
	if err := q.start(ctx, k, &cost); err != nil {
		return cost, err
	}
	if wait || ends && !q.sortsHeld(sort) || q.timed || q.overflows(k) || q.queued > launchRows {
		if err := q.finish(ctx, k, &cost); err != nil {
			return cost, err
		}
	}
	if cost.Kernel, err = clock.stop(); err != nil {
		return cost, err
	}
	if r := q.rowsOf[p.Sink]; r != nil {
		cost.RowsOut = r.count
	}
	if a, ok := p.Sink.(*physical.Aggregate); ok && q.timed && q.finished(a) {
		if cost.RowsOut, err = q.countGroups(ctx, a); err != nil {
			return cost, err
		}
		q.groups[a].taken = cost.RowsOut
	}
	if ends {
		if err := q.sort(ctx, sort); err != nil {
			return cost, err
		}
	}
	q.release()
	return cost, nil
}

// start launches a pipeline's kernel over all its rows.
func (q *query) start(ctx context.Context, k *kernel, cost *pipelineCost) error {
	for _, t := range k.p.Transforms {
		if l, ok := t.(*physical.Limit); ok {
			if err := q.resetCounter(counterWord{k.p, l}); err != nil {
				return err
			}
		}
	}
	if k.makesTexts() {
		if err := q.openTexts(k); err != nil {
			return err
		}
	}
	if k.prepare != nil {
		if err := k.prepare(q); err != nil {
			return err
		}
	}
	shared := int64(0)
	if k.shared != nil {
		shared = k.shared(q)
	}
	block := q.device.Block(k.threads)
	f := q.modules[k].function // its pipeline has waited for it
	usage, err := f.Usage(block, shared)
	if err != nil {
		return err
	}
	resident := int64(max(usage.Blocks, 1) * max(q.device.Info().Multiprocessors, 1))
	if info := q.device.Info(); info.Emulated() {
		resident = emulatedBlocks(k)
	}
	chunk := min(q.chunk(k), q.copiedRows(k, resident))
	total, step := int64(0), int64(1) // of tiles or rows
	unit := int64(1)
	if k.rows.scan != nil {
		total = q.spanned[k.rows.scan].tiles
		unit = int64(block * k.items)
		step = max(chunk/unit, 1)
	} else {
		total = k.rows.count(q)
		step = chunk
	}
	q.queued += total*unit + q.sizes.trusted[k.p.Sink]
	launch := func(r launchRange) error {
		q.launch = r
		n := r.to - r.from
		if k.rows.scan == nil {
			n = (n + int64(block) - 1) / int64(block)
		}
		params, err := q.params(k)
		if err != nil {
			return err
		}
		cost.Launches++
		return q.stream.Launch(f, min(n, resident), block, shared, params)
	}
	every := int64(0)
	if k.learn != nil {
		if every, total, err = q.startSeen(k, total, unit, launch, cost); err != nil {
			return err
		}
	}
	for from := int64(0); from < total; from += step {
		if err := launch(launchRange{from, min(from+step, total), every}); err != nil {
			return err
		}
		if from+step < total {
			if err := q.stream.Sync(ctx); err != nil {
				return err
			}
		}
	}
	q.pending = append(q.pending, k)
	return q.runThen(k, cost)
}

// emulatedBlocks is the grid of an emulated device: rows are appended in the source's order, for tests that count on that; several
// blocks put what they have together.
func emulatedBlocks(k *kernel) int64 {
	if _, ok := k.p.Sink.(*physical.Aggregate); ok {
		return 3
	}
	return 1
}

// chunk is the number of rows of one launch.
func (q *query) chunk(k *kernel) int64 {
	rows := int64(launchRows)
	for _, t := range k.p.Transforms {
		if t, ok := t.(*physical.Probe); ok {
			if f := q.program.builds[t.Build]; f != nil && f.shape == loopBuild {
				rows = min(rows, launchPairs/max(q.rowsOf[t.Build].count, 1))
			}
		}
	}
	return max(rows, int64(k.threads))
}

// copiedRows is how many rows a launch may have so that no copy of a block's groups gets more than copyRows. Blocks take tiles in turn, and the copies of
// one the rows of a tile.
func (q *query) copiedRows(k *kernel, blocks int64) int64 {
	p, ok := k.p.Sink.(*physical.Aggregate)
	if !ok || !q.groups[p].form.byCopy {
		return math.MaxInt64
	}
	tile := q.tile(k)
	return max(int64(copyRows)<<q.groups[p].shift/tile, 1) * tile * blocks
}

// params are the words of a launch.
func (q *query) params(k *kernel) ([]uint64, error) {
	out := make([]uint64, len(k.params))
	for i := range k.params {
		s := &k.params[i]
		switch key := s.key.(type) {
		case nil:
			out[i] = s.word
			if s.table != nil {
				out[i] = uint64(q.tables[s.table])
			}
		case errorWord:
			out[i] = uint64(q.control)
		case warningsWord:
			at, ok := q.warnings[k]
			if !ok {
				return nil, fmt.Errorf("gpu: pipeline %d counts warnings in a kernel that comes after", k.p.ID)
			}
			out[i] = uint64(q.control) + uint64(at)
		case textWord:
			out[i] = q.textWord(k, key)
		case dictionaryWord:
			out[i] = uint64(q.dicts[key.dict].words.views)
		case runWord:
			out[i] = key.resolve(q)
		default:
			return nil, fmt.Errorf("gpu: pipeline %d has a parameter of unknown kind %T", k.p.ID, key)
		}
	}
	return out, nil
}
