package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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
	full   gpukernels.Ptr // four words: the table is full, groups were added to directly, groups that were appended behind the table
	shift  int            // log2 of the copies in shared memory
	parts  []partRun

	room, appended int64 // places behind the table, and groups there
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
