// Package cpu runs physical plans on the processor's cores.
//
// A statement arrives here from package exec as a DAG of pipelines and leaves as a stream of batches. Pipelines run one
// after another, each on all workers: a worker takes a morsel (some vectors of a source), pushes it through a chain of
// operators of its own, and the chain ends in the worker's part of the sink; when the last morsel is done the parts are
// merged (Leis, Boncz, Kemper, Neumann 2014, "Morsel-driven parallelism"). Nothing is locked and no interface is called
// per row; vectors of 2,048 rows with selections flow (Boncz, Zukowski, Nes 2005).
//
// Whatever order matters to (results, ties of a sort, float sums) follows from the numbers of morsels and from nothing
// that the scheduler does, so two runs of a query at one thread count give the same rows in the same order.
package cpu

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Config is what a query may use.
type Config struct {
	Threads int            // workers; less than 1 is 1
	Memory  *memory.Budget // may be nil: no limit
	Expr    *expr.Context  // copied for each worker
	Profile bool           // measure each operator
	// Result is what an error about memory calls the rows that wait for who takes them; empty: the result.
	Result string
	// Progress is told what has been done; it may be nil.
	Progress *profile.Progress
	// Elsewhere runs the pipelines that are placed on another device; nil: all run here, whatever they say.
	Elsewhere Elsewhere

	tuning *tuning // nil: defaultTuning; tests set it
}

// tuning are the sizes at which operators change their ways.
type tuning struct {
	filters      filterLimits
	frozenGroups int // of an aggregation's table
}

var defaultTuning = tuning{filters: defaultFilterLimits, frozenGroups: 1 << 15}

// query is a plan that runs.
type query struct {
	cfg    Config
	plan   *physical.Plan
	ctx    context.Context
	mem    *memory.Budget
	expr   expr.Context
	sinks  map[physical.Sink]sink
	builds map[*physical.Build]*build
	seq    int // the number of the next pipeline's first morsel

	stopped atomic.Bool // no worker goes on after its current vector
	mu      sync.Mutex
	err     error   // guarded by mu: the first failure
	out     *result // guarded by mu until the query runs

	feeding map[physical.Sink]int       // pipelines that have still to run, by their sink
	fetched map[physical.Sink]*relation // rows that came from another device
	closed  bool

	tuning *tuning

	prof    profile.Plan
	started time.Time
}

// errStop ends a pipeline early without being a failure: a LIMIT has its rows, or the client has gone.
var errStop = errors.New("cpu: pipeline stopped")

// fail keeps the first error and stops all workers.
func (q *query) fail(err error) {
	q.mu.Lock()
	if q.err == nil {
		q.err = err
	}
	q.mu.Unlock()
	q.stopped.Store(true)
	q.wake()
}

func (q *query) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// check returns the query's error once it has been stopped.
func (q *query) check() error {
	if !q.stopped.Load() {
		return nil
	}
	if err := q.failure(); err != nil {
		return err
	}
	return errStop
}

// worker runs one chain of operators at a time. It serves one goroutine.
type worker struct {
	q       *query
	id      int
	expr    *expr.Context
	texts   memory.Account // those that functions make
	checks  int
	yielded time.Time
}

func (q *query) worker(id int) *worker {
	w := &worker{q: q, id: id, yielded: time.Now(), texts: memory.Account{Budget: q.mem, Operator: "texts"}}
	w.expr = q.expr.ForWorker(w.texts.Set)
	return w
}

// Where more workers want to run than there are processors each gives way to the others after a timeSlice, much sooner than the
// scheduler would make it: else one that has to end waits as many times 10 ms as there are others.
const timeSlice = time.Millisecond

// check returns the query's error once it has been stopped. Workers call it at least once a vector.
func (w *worker) check() error {
	if w.q.stopped.Load() {
		return w.q.check()
	}
	if w.checks++; w.checks&7 == 0 && time.Since(w.yielded) > timeSlice {
		runtime.Gosched()
		w.yielded = time.Now()
	}
	return nil
}

// inParallel is the number of rows of work from which starting goroutines pays.
var inParallel = 1 << 14

// parallel calls f(0), ..., f(n-1), on several workers if there are rows enough to make that worth while.
func (q *query) parallel(n, rows int, f func(i int) error) error {
	workers := min(n, q.cfg.Threads)
	if rows < inParallel || workers <= 1 {
		for i := range n {
			if err := q.check(); err != nil {
				return err
			}
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	return q.spawn(workers, func(int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return nil
			}
			if err := q.check(); err != nil {
				return err
			}
			if err := f(i); err != nil {
				return err
			}
		}
	})
}

// spawn runs f(0) .. f(n-1) at once, f(0) in the calling goroutine, waits for all, and returns the first error.
func (q *query) spawn(n int, f func(id int) error) error {
	if n == 1 {
		return sqlerr.Guard(func() error { return f(0) })
	}
	var wg sync.WaitGroup
	run := func(id int) {
		if err := sqlerr.Guard(func() error { return f(id) }); err != nil && !errors.Is(err, errStop) {
			q.fail(err)
		}
	}
	for id := 1; id < n; id++ {
		wg.Go(func() { run(id) })
	}
	run(0)
	wg.Wait()
	return q.check()
}

// source gives the morsels of a pipeline. Its methods other than open are called before the workers start.
type source interface {
	morsels() int
	// rows returns an upper bound of the rows that the source gives.
	rows() int
	// gives says whether the source gives a column.
	gives(id expr.ColumnID) bool
	// open returns a reader for a worker that pushes into next.
	open(w *worker, next op) (reader, error)
}

// reader reads morsels for one worker.
type reader interface {
	read(morsel int) error
}

// op is a step of a worker's chain. push takes a batch, of at least one selected row, which it may narrow and add columns
// to; the batch is the caller's again when push returns. Vectors in it are read-only.
type op interface {
	push(b *batch) error
}

// sink collects what pipelines end in.
type sink interface {
	// local returns the worker's part for a pipeline of the given layout. A worker keeps its part over the pipelines
	// that end in the sink.
	local(w *worker, l *layout) (localSink, error)
	// finish is called once, when all pipelines that end in the sink have run.
	finish() error
}

// localSink is a worker's part of a sink.
type localSink interface {
	op
	begin(seq int)     // rows of the morsel seq follow
	end(seq int) error // the morsel is complete
}

// run runs one pipeline to its end, without finishing its sink.
func (q *query) run(p *pipeline) error {
	n := p.source.morsels()
	base := q.seq
	q.seq += n
	rows, scanned := p.counted(n)
	q.cfg.Progress.Begin(p.p.ID, false)
	workers := max(1, min(q.cfg.Threads, n))
	if p.serial {
		workers = 1
	}
	p.workers = workers
	var next atomic.Int64
	var stop atomic.Bool
	work := func(id int) error {
		w := q.worker(id)
		defer w.texts.Close()
		r, out, err := p.chain(w)
		if err != nil {
			return err
		}
		for k := id; ; k += workers {
			morsel := k
			if !p.static {
				morsel = int(next.Add(1)) - 1
			}
			if morsel >= n || stop.Load() {
				return nil
			}
			if err := q.check(); err != nil {
				return err
			}
			out.begin(base + morsel)
			err := r.read(morsel)
			if errors.Is(err, errStop) {
				stop.Store(true)
				if cerr := q.check(); cerr != nil {
					return cerr
				}
				return out.end(base + morsel)
			}
			if err != nil {
				return err
			}
			if err := out.end(base + morsel); err != nil {
				return err
			}
			q.cfg.Progress.Add(rows, scanned)
		}
	}
	return q.spawn(workers, work)
}
