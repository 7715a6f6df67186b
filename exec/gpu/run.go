package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
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

	modules map[*physical.Pipeline]*loadedKernel
	scans   map[*physical.TableScan]*residentTable
	spanned map[*physical.TableScan]*spanTable
	rowsOf  map[physical.Sink]*storedRows
	builds  map[*physical.Build]*buildRun
	groups  map[*physical.Aggregate]*groupRun
	tables  map[*table]gpukernels.Ptr
	dicts   map[*column.Dictionary]*heldDictionary
	done    map[*physical.Pipeline]bool

	control  gpukernels.Ptr // of controlBytes: the Error struct, then counters
	counters map[counterWord]int
	warnings gpukernels.Ptr // of the kernel that runs

	memory  map[gpukernels.Ptr]int64 // what has to be freed, and its bytes
	used    int64
	launch  launchRange
	running context.Context
}

type launchRange struct{ from, to int64 }

// loadedKernel is a kernel that was compiled.
type loadedKernel struct {
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
	tiles   int64
	rows    int64
}

// storedRows are a sink's rows on the device.
type storedRows struct {
	form        *rowForm
	data, valid []gpukernels.Ptr
	room, count int64
	sorted      sortedRows // row numbers in order, of a Sort
}

// buildRun is a build on the device, besides its rows.
type buildRun struct {
	heads, next, nullHead, bits, matched gpukernels.Ptr
	mask                                 int64
}

// groupRun is an aggregation's groups on the device.
type groupRun struct {
	form   *aggForm
	slots  int64 // of open addressing
	keys   gpukernels.Ptr
	arrays []gpukernels.Ptr
	full   gpukernels.Ptr
	shift  int // log2 of the copies in shared memory
	parts  []partRun
}

// size is the number of places.
func (g *groupRun) size() int64 {
	switch g.form.shape {
	case scalarGroups, denseGroups:
		return g.form.places
	case wordGroups:
		return g.slots + 2
	}
	return g.slots
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

const controlBytes = 4096

// newQuery prepares a run. Close it.
func newQuery(ctx context.Context, g *program, res *residency) (*query, error) {
	q := &query{
		program: g, res: res, device: res.device, modules: map[*physical.Pipeline]*loadedKernel{}, scans: map[*physical.TableScan]*residentTable{},
		spanned: map[*physical.TableScan]*spanTable{}, rowsOf: map[physical.Sink]*storedRows{}, builds: map[*physical.Build]*buildRun{},
		groups: map[*physical.Aggregate]*groupRun{}, tables: map[*table]gpukernels.Ptr{}, dicts: map[*column.Dictionary]*heldDictionary{},
		done: map[*physical.Pipeline]bool{}, counters: map[counterWord]int{}, memory: map[gpukernels.Ptr]int64{}, running: ctx,
	}
	var err error
	if q.stream, err = q.device.NewStream(); err != nil {
		return nil, err
	}
	if q.control, err = q.alloc(controlBytes); err == nil {
		err = q.stream.Fill(q.control, 0, 8, controlBytes/8)
	}
	if err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

// compile compiles all kernels at once.
func (q *query) compile(ctx context.Context) error {
	var wg sync.WaitGroup
	for p, k := range q.kernels {
		m := &loadedKernel{}
		q.modules[p] = m
		wg.Go(func() {
			if m.module, m.origin, m.err = q.device.Load(ctx, k.text); m.err == nil {
				m.function, m.err = m.module.Function(k.title)
			}
		})
	}
	wg.Wait()
	for p, m := range q.modules {
		if m.err != nil {
			return fmt.Errorf("compiling the kernel of pipeline %d: %w", p.ID, m.err)
		}
	}
	return nil
}

// close frees everything. Work that still runs is ordered before it.
func (q *query) close() {
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
	q.stream.Close()
}

// take allocates what its caller frees, if need be of what resident columns give up.
func (q *query) take(bytes int64) (gpukernels.Ptr, error) {
	p, err := q.stream.Alloc(bytes)
	if errors.Is(err, gpukernels.ErrOutOfMemory) && q.res.makeRoom(bytes) {
		p, err = q.stream.Alloc(bytes)
	}
	return p, err
}

// alloc allocates what lives until it is freed or the query is closed.
func (q *query) alloc(bytes int64) (gpukernels.Ptr, error) {
	p, err := q.take(bytes)
	if err != nil {
		return 0, err
	}
	q.memory[p] = bytes
	q.used += bytes
	return p, nil
}

func (q *query) free(p gpukernels.Ptr) {
	if p == 0 {
		return
	}
	q.used -= q.memory[p]
	delete(q.memory, p)
	_ = q.stream.Free(p)
}

// words brings a dictionary's strings to the device, until the query is closed.
func (q *query) words(ctx context.Context, d *column.Dictionary) (gpukernels.Ptr, error) {
	h := q.dicts[d]
	if h == nil {
		words, done, err := q.res.dictionary(ctx, d)
		if err != nil {
			return 0, err
		}
		h = &heldDictionary{words, done}
		q.dicts[d] = h
	}
	return h.words.views, nil
}

// filled is memory of count items of a width that hold a value.
func (q *query) filled(count int64, width int, value uint64) (gpukernels.Ptr, error) {
	p, err := q.alloc(count * int64(width))
	if err == nil && count > 0 {
		err = q.stream.Fill(p, value, width, count)
	}
	return p, err
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
func (q *query) counter(w counterWord) uint64               { return uint64(q.control) + uint64(q.counterAt(w)) }

// counterAt is a counter's place in the control block.
func (q *query) counterAt(w counterWord) int {
	i, ok := q.counters[w]
	if !ok {
		i = 16 + 8*len(q.counters)
		q.counters[w] = i
	}
	return i
}

// runPipeline runs one pipeline to its end. What its sources read has been run or put in before.
func (q *query) runPipeline(ctx context.Context, p *physical.Pipeline) (pipelineCost, error) {
	var cost pipelineCost
	k := q.kernels[p]
	if k == nil {
		return cost, q.reasons[p]
	}
	if m := q.modules[p]; m.module != nil {
		cost.Origin = m.origin
		if m.origin == gpukernels.Compiled {
			cost.Compile = m.module.CompileTime
		}
	}
	if err := q.openInput(ctx, k, &cost); err != nil {
		return cost, err
	}
	if err := q.openOutput(k); err != nil {
		return cost, err
	}
	from, err := q.device.NewEvent()
	if err != nil {
		return cost, err
	}
	defer from.Close()
	to, err := q.device.NewEvent()
	if err != nil {
		return cost, err
	}
	defer to.Close()
	if err := q.stream.Record(from); err != nil {
		return cost, err
	}
	control, err := q.attempt(ctx, k, &cost)
	for tries := 0; err == nil; tries++ {
		again, gerr := q.grow(k, control)
		if gerr != nil {
			return cost, gerr
		}
		if !again {
			break
		}
		if tries > 40 {
			return cost, fmt.Errorf("gpu: pipeline %d does not come to an end", p.ID)
		}
		// All pipelines that end in the sink run again.
		for _, f := range q.feeders[p.Sink] {
			if f == p || q.done[f] {
				if control, err = q.attempt(ctx, q.kernels[f], &cost); err != nil {
					return cost, err
				}
			}
		}
	}
	if err != nil {
		return cost, err
	}
	if err := q.stream.Record(to); err != nil {
		return cost, err
	}
	if cost.Kernel, err = to.Since(from); err != nil {
		return cost, err
	}
	if r := q.rowsOf[p.Sink]; r != nil {
		cost.RowsOut = r.count
	}
	q.done[p] = true
	if s, ok := p.Sink.(*physical.Sort); ok && q.finished(s) {
		if err := q.sort(ctx, s); err != nil {
			return cost, err
		}
	}
	q.release()
	return cost, nil
}

// openInput brings what the pipeline reads to the device.
func (q *query) openInput(ctx context.Context, k *kernel, cost *pipelineCost) error {
	for i := range k.params {
		s := &k.params[i]
		if s.table != nil && q.tables[s.table] == 0 {
			a, err := q.alloc(int64(len(s.table.data)))
			if err != nil {
				return err
			}
			q.tables[s.table] = a
			if len(s.table.data) > 0 {
				if err := q.stream.Upload(a, s.table.data); err != nil {
					return err
				}
			}
		}
		if w, ok := s.key.(dictionaryWord); ok {
			if _, err := q.words(ctx, w.dict); err != nil {
				return err
			}
		}
	}
	switch src := k.p.Source.(type) {
	case *physical.TableScan:
		cost.RowsIn = src.Table.Rows()
		return q.openScan(ctx, k, src)
	case *physical.ValuesScan:
		return q.openConstants(src)
	case *physical.SinkScan:
		if r := q.rowsOf[src.From]; r != nil {
			cost.RowsIn = r.count
		}
	}
	return nil
}

func (q *query) openScan(ctx context.Context, k *kernel, scan *physical.TableScan) error {
	if q.scans[scan] == nil {
		var ordinals []int
		for _, o := range scan.Ordinals {
			if o != logical.RowIDOrdinal {
				ordinals = append(ordinals, o)
			}
		}
		t, err := q.res.acquire(ctx, scan.Table, ordinals)
		if err != nil {
			return err
		}
		q.scans[scan] = t
	}
	tile := int64(q.device.Block(k.threads) * k.items)
	var words []int64
	st := &spanTable{}
	for _, s := range q.res.spans(scan) {
		if s.end <= s.first {
			continue
		}
		st.tiles += (s.end+tile-1)/tile - s.first/tile
		st.rows += s.end - s.first
		words = append(words, s.first, s.end, st.tiles)
	}
	var err error
	if st.address, err = q.alloc(int64(8*len(words)) + 8); err != nil {
		return err
	}
	if old := q.spanned[scan]; old != nil {
		q.free(old.address)
	}
	q.spanned[scan] = st
	if len(words) == 0 {
		return nil
	}
	return q.stream.Upload(st.address, gpukernels.Bytes(words))
}

// sourceBound is the number of the source's rows.
func (q *query) sourceBound(k *kernel) int64 {
	if k.rows.scan != nil {
		return min(q.spanned[k.rows.scan].rows, k.rows.scan.Table.Rows())
	}
	return k.rows.count(q)
}

// sinkRoom estimates the rows that come to a sink: a bound where one is known and not much too large.
func (q *query) sinkRoom(s physical.Sink) int64 {
	total := int64(0)
	for _, p := range q.feeders[s] {
		k := q.kernels[p]
		est := int64(min(p.EstRows*1.3, 1<<40)) + 1024
		if k.inOrder() {
			total = max(total, k.rows.count(q)) // rows have places of their own
			continue
		}
		if !k.many && q.ready(k) {
			bound := q.sourceBound(k)
			if bound <= 1<<20 || bound <= 2*est {
				est = bound
			}
			est = min(est, bound)
		}
		total += est
	}
	return max(total, 1)
}

// ready says whether a pipeline's source is known already.
func (q *query) ready(k *kernel) bool {
	switch src := k.p.Source.(type) {
	case *physical.TableScan:
		return q.spanned[src] != nil
	case *physical.SinkScan:
		if a, ok := src.From.(*physical.Aggregate); ok && !q.host(a) {
			return q.groups[a] != nil
		}
		return q.rowsOf[src.From] != nil
	case *physical.UnmatchedScan:
		return q.rowsOf[src.Build] != nil
	}
	return true
}

// openOutput makes room for what the pipeline gives, unless an earlier one that ends in the same sink has.
func (q *query) openOutput(k *kernel) error {
	switch s := k.p.Sink.(type) {
	case *physical.Aggregate:
		if q.groups[s] == nil {
			return q.openGroupsFor(s, 0)
		}
		return nil
	case *physical.Build:
		if q.rowsOf[s] == nil {
			return q.openBuild(s, q.sinkRoom(s))
		}
		return nil
	}
	if q.rowsOf[k.p.Sink] == nil {
		return q.openRowsFor(k.p.Sink, q.sinkRoom(k.p.Sink))
	}
	return nil
}

// openRowsFor makes arrays for rows.
func (q *query) openRowsFor(s physical.Sink, room int64) error {
	if room >= math.MaxUint32 {
		return &gpukernels.Error{Kind: gpukernels.KindOutOfMemory, Message: "more than 2^32 rows are kept between two pipelines"}
	}
	form := q.sinks[s]
	r := &storedRows{form: form, room: room}
	q.rowsOf[s] = r
	for i := range form.cols {
		c := &form.cols[i]
		p, err := q.alloc(room * c.like.class.width())
		if err != nil {
			return err
		}
		r.data = append(r.data, p)
		p = 0
		if c.nullable() {
			if p, err = q.alloc(room); err != nil {
				return err
			}
		}
		r.valid = append(r.valid, p)
	}
	return q.resetCounter(s)
}

func (q *query) resetCounter(s physical.Sink) error {
	return q.stream.Fill(q.control+gpukernels.Ptr(q.counterAt(counterWord{of: s})), 0, 8, 1)
}

// freeRows gives a sink's arrays back.
func (q *query) freeRows(s physical.Sink) {
	r := q.rowsOf[s]
	if r == nil {
		return
	}
	for i := range r.data {
		q.free(r.data[i])
		q.free(r.valid[i])
	}
	q.free(r.sorted.memory)
	delete(q.rowsOf, s)
	if b, ok := s.(*physical.Build); ok {
		run := q.builds[b]
		for _, p := range []gpukernels.Ptr{run.heads, run.next, run.nullHead, run.bits, run.matched} {
			q.free(p)
		}
		delete(q.builds, b)
	}
}

// openBuild makes room for a build.
func (q *query) openBuild(p *physical.Build, room int64) error {
	f := q.program.builds[p]
	run := &buildRun{}
	q.builds[p] = run
	rows := room
	if f.shape == directBuild || f.shape == bitmapBuild {
		rows = f.domain()
		var err error
		if run.bits, err = q.filled((f.domain()+31)/32, 4, 0); err != nil {
			return err
		}
	}
	if err := q.openRowsFor(p, rows); err != nil {
		return err
	}
	var err error
	places := int64(0)
	switch f.shape {
	case hashBuild:
		places = int64(1) << bits.Len64(uint64(max(2*room, 64)-1))
		run.mask = places - 1
	case denseBuild:
		places = f.domain()
	}
	if places > 0 {
		if run.heads, err = q.filled(places, 4, math.MaxUint32); err != nil {
			return err
		}
		if run.next, err = q.filled(room, 4, math.MaxUint32); err != nil {
			return err
		}
	}
	if f.nullChain {
		if run.nullHead, err = q.filled(1, 4, math.MaxUint32); err != nil {
			return err
		}
	}
	if p.KeepUnmatched {
		run.matched, err = q.filled(room, 1, 0)
	}
	return err
}

// openGroupsFor makes room for groups: slots of open addressing, or 0 for an estimate.
func (q *query) openGroupsFor(p *physical.Aggregate, slots int64) error {
	f := q.aggs[p]
	if old := q.groups[p]; old != nil {
		for _, a := range append(old.arrays, old.keys, old.full) {
			q.free(a)
		}
	}
	g := &groupRun{form: f}
	q.groups[p] = g
	var err error
	if f.shape >= packedGroups {
		if slots == 0 {
			slots = slotsFor(p.EstGroups)
			for _, pl := range q.feeders[p] {
				if k := q.kernels[pl]; len(q.feeders[p]) == 1 && !k.many && q.ready(k) {
					slots = min(slots, powerOfTwo(2*max(q.sourceBound(k), 512)))
				}
			}
		}
		g.slots = slots
		if f.shape == keyedGroups {
			g.keys, err = q.filled(slots, 4, 0)
		} else {
			g.keys, err = q.filled(slots+2, 8, math.MaxUint64)
		}
		if err != nil {
			return err
		}
	}
	if g.full, err = q.filled(1, 8, 0); err != nil {
		return err
	}
	for i := range f.arrays {
		a := &f.arrays[i]
		p, err := q.filled(g.size()*a.width/int64(a.unit), a.unit, a.fill)
		if err != nil {
			return err
		}
		g.arrays = append(g.arrays, p)
	}
	if f.shared {
		for g.shift < 5 && (f.places*int64(f.words())*4)<<(g.shift+1) <= sharedCopies {
			g.shift++
		}
		if info := q.device.Info(); info.Emulated() {
			g.shift = 0
		}
	}
	return nil
}

// slotsFor is the number of slots of a table for about so many groups.
func slotsFor(groups float64) int64 { return powerOfTwo(int64(min(max(2*groups, 2048), 1<<31))) }

// powerOfTwo is the least power of two that is not below n.
func powerOfTwo(n int64) int64 { return int64(1) << bits.Len64(uint64(n-1)) }

// attempt launches a pipeline's kernel over all its rows and returns the control block behind it.
func (q *query) attempt(ctx context.Context, k *kernel, cost *pipelineCost) ([]byte, error) {
	for _, t := range k.p.Transforms {
		if l, ok := t.(*physical.Limit); ok {
			at := q.counterAt(counterWord{k.p, l})
			if err := q.stream.Fill(q.control+gpukernels.Ptr(at), 0, 8, 1); err != nil {
				return nil, err
			}
		}
	}
	if n := len(k.sites); n > 0 {
		w, err := q.filled(int64(n), 8, 0)
		if err != nil {
			return nil, err
		}
		q.warnings = w
		defer q.free(w)
	}
	if k.prepare != nil {
		if err := k.prepare(q); err != nil {
			return nil, err
		}
	}
	shared := int64(0)
	if k.shared != nil {
		shared = k.shared(q)
	}
	block := q.device.Block(k.threads)
	f := q.modules[k.p].function
	usage, err := f.Usage(block, shared)
	if err != nil {
		return nil, err
	}
	resident := int64(max(usage.Blocks, 1) * max(q.device.Info().Multiprocessors, 1))
	if info := q.device.Info(); info.Emulated() {
		resident = emulatedBlocks(k)
	}
	total, step := int64(0), int64(1) // of tiles or rows
	unit := int64(1)
	if k.rows.scan != nil {
		total = q.spanned[k.rows.scan].tiles
		unit = int64(block * k.items)
		step = max(q.chunk(k)/unit, 1)
	} else {
		total = k.rows.count(q)
		step = q.chunk(k)
	}
	for from := int64(0); from < total; from += step {
		q.launch = launchRange{from, min(from+step, total)}
		n := q.launch.to - q.launch.from
		if k.rows.scan == nil {
			n = (n + int64(block) - 1) / int64(block)
		}
		params, err := q.params(k)
		if err != nil {
			return nil, err
		}
		if err := q.stream.Launch(f, min(n, resident), block, shared, params); err != nil {
			return nil, err
		}
		cost.Launches++
		if q.launch.to < total {
			if err := q.stream.Sync(ctx); err != nil {
				return nil, err
			}
		}
	}
	if err := q.runThen(k, cost); err != nil {
		return nil, err
	}
	control := make([]byte, controlBytes)
	if err := q.stream.Download(ctx, control, q.control); err != nil {
		return nil, err
	}
	if code := binary.LittleEndian.Uint32(control); code != 0 {
		return nil, fmt.Errorf("%w: error %d at site %d of pipeline %d", errOnHost, code, binary.LittleEndian.Uint32(control[4:]), k.p.ID)
	}
	if n := len(k.sites); n > 0 {
		counts := make([]uint64, n)
		if err := q.stream.Download(ctx, gpukernels.Bytes(counts), q.warnings); err != nil {
			return nil, err
		}
		for _, c := range counts {
			if c > 0 {
				return nil, fmt.Errorf("%w: there are warnings", errOnHost)
			}
		}
	}
	return control, nil
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
			out[i] = uint64(q.warnings)
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

// grow looks whether a sink had room for all, and if not makes it larger and empty: true.
func (q *query) grow(k *kernel, control []byte) (bool, error) {
	switch s := k.p.Sink.(type) {
	case *physical.Aggregate:
		g := q.groups[s]
		if g.form.shape < packedGroups {
			return false, nil
		}
		var full [1]uint64
		if err := q.stream.Download(q.running, gpukernels.Bytes(full[:]), g.full); err != nil {
			return false, err
		}
		if full[0] == 0 {
			return false, nil
		}
		return true, q.openGroupsFor(s, 4*g.slots)
	case *physical.Build:
		if f := q.program.builds[s]; f.shape == directBuild || f.shape == bitmapBuild {
			return false, nil
		}
	}
	r := q.rowsOf[k.p.Sink]
	n := int64(binary.LittleEndian.Uint64(control[q.counterAt(counterWord{of: k.p.Sink}):]))
	if n <= r.room {
		r.count = n
		return false, nil
	}
	for _, f := range q.feeders[k.p.Sink] {
		if f != k.p && !q.done[f] {
			n += int64(f.EstRows*1.3) + 1024
		}
	}
	q.freeRows(k.p.Sink)
	if b, ok := k.p.Sink.(*physical.Build); ok {
		return true, q.openBuild(b, n)
	}
	return true, q.openRowsFor(k.p.Sink, n)
}

// release frees what no pipeline that has still to run reads.
func (q *query) release() {
	needed := map[physical.Sink]bool{}
	for _, p := range q.plan.Pipelines {
		if q.done[p] && q.finished(p.Sink) {
			continue
		}
		needed[p.Sink] = true
		switch src := p.Source.(type) {
		case *physical.SinkScan:
			needed[src.From] = true
		case *physical.UnmatchedScan:
			needed[src.Build] = true
		case *physical.ValuesScan:
			needed[valuesSink(src)] = true
		case *physical.TableScan:
			for _, f := range src.RuntimeFilters {
				needed[f.Build] = true
			}
		}
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok {
				needed[t.Build] = true
			}
		}
	}
	for s := range q.rowsOf {
		if _, last := s.(*physical.Result); !last && !needed[s] && q.finished(s) {
			q.freeRows(s)
		}
	}
	for a, g := range q.groups {
		if !needed[a] && q.finished(a) && !q.readByHost(a) {
			for _, p := range append(g.arrays, g.keys, g.full) {
				q.free(p)
			}
			delete(q.groups, a)
		}
	}
}

// finished says whether all pipelines that end in a sink have run.
func (q *query) finished(s physical.Sink) bool {
	for _, p := range q.feeders[s] {
		if !q.done[p] {
			return false
		}
	}
	return true
}

// readByHost says whether a pipeline without a kernel reads a sink.
func (q *query) readByHost(s physical.Sink) bool {
	for _, p := range q.plan.Pipelines {
		if src, ok := p.Source.(*physical.SinkScan); ok && src.From == s && q.kernels[p] == nil {
			return true
		}
	}
	return false
}
