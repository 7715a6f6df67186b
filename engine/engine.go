package engine

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/engine/filecache"
	"github.com/radish-sql/radish/engine/locks"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/stored"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Version is the version of Radish, and what VERSION() says it is compatible with.
const (
	Version      = "0.1.0"
	MySQLVersion = "8.0.36-radish-" + Version
)

// DefaultDatabase is the database that a new engine has and that sessions start in.
const DefaultDatabase = "main"

// Options configure an engine. The zero value is a good default.
type Options struct {
	// Threads is the number of workers of a query; 0: as many as there are CPUs for the program.
	Threads int
	// MemoryLimit bounds what the engine holds at once, in bytes: tables, files that queries have read, and what statements
	// need while they run; 0: no bound.
	MemoryLimit int64
	// GPUMemoryLimit bounds what queries and table columns together hold of a GPU's memory, in bytes; 0: no bound. The GPU is the process's: of all its engines'
	// limits the least counts.
	GPUMemoryLimit int64
	// Device is the initial radish_device of sessions: "auto", "cpu", "gpu" or "gpu_strict"; empty: "auto".
	Device gpu.Setting
	// FileAccess says which files statements may use: "full", "read", "none", or folders; see fileaccess.Policy. Empty: "full".
	FileAccess string
	// GPULibrary is the file of the library that GPUs are used through; empty: it is looked for (see package gpukernels).
	GPULibrary string
}

// Engine is one in-memory database. It is safe for concurrent use.
type Engine struct {
	opts       Options
	catalog    *catalog.Catalog
	budget     *memory.Budget // the whole; the three below lie within it
	statements *memory.Budget // what statements need while they run
	ungovern   func()         // ends the memory limit's effect on Go's collector
	stored     *stored.Memory // tables
	keptBudget *memory.Budget // what sessions keep from one statement to the next
	files      *filecache.Cache
	plans      *plans.Store
	access     *fileaccess.Policy // of sessions when they begin
	added      *added             // functions of the program's own
	sessions   sessions
	locks      *locks.Names
	tableLocks *locks.Tables
	status     engineStatus
	closed     atomic.Bool
	ctx        context.Context // ends with the engine
	stop       context.CancelFunc
	auto       autoState
	writing    chan struct{} // holds something while a statement writes; see lockWrites
}

// engineStatus is what SHOW STATUS tells of an engine.
type engineStatus struct {
	began     time.Time
	questions atomic.Int64 // statements
}

// autoState is what radish_device = 'auto' needs beside a GPU.
type autoState struct {
	preparing   preparations
	ahead       compilesAhead
	measuring   atomic.Bool // costs, in the background
	instead     gpu.Setting // for tests: what 'auto' does; empty: what it says
	emulated    bool        // for tests: 'auto' puts queries on an emulated device
	leastRows   float64     // that a query reads for 'auto' to ask for a GPU
	calibrating bool        // what the engine's queries take is learned by the calibration
}

// emulatesAuto is set by EmulateAuto.
var emulatesAuto atomic.Bool

// EmulateAuto is for tests. Engines that are made from now on use an emulated device under radish_device = 'auto' as if it were a real one, for queries
// that read at least a row.
func EmulateAuto() { emulatesAuto.Store(true) }

// New returns an empty engine with one database, [DefaultDatabase]. It reports an option that makes no sense.
func New(opts Options) (*Engine, error) {
	if opts.Threads <= 0 {
		opts.Threads = runtime.GOMAXPROCS(0)
	}
	if opts.Device == "" {
		opts.Device = gpu.Auto
	}
	policy := fileaccess.Full()
	if opts.FileAccess != "" {
		var err error
		if policy, err = fileaccess.Parse(opts.FileAccess); err != nil {
			return nil, err
		}
	}
	e := &Engine{
		opts: opts, access: policy, catalog: catalog.New(DefaultDatabase), budget: memory.NewBudget(opts.MemoryLimit),
		auto: autoState{leastRows: placement.LeastRows}, writing: make(chan struct{}, 1), status: engineStatus{began: time.Now()}, locks: locks.NewNames(), tableLocks: locks.NewTables(),
		added: &added{scalars: map[string]*expr.Function{}, aggregates: map[string][2]*expr.Function{}, tables: map[string]TableFunction{}},
	}
	if emulatesAuto.Load() {
		e.auto.emulated, e.auto.leastRows = true, 0
	}
	e.statements, e.stored, e.keptBudget = e.budget.Child(0), stored.New(e.budget.Child(0)), e.budget.Child(0)
	e.files = filecache.New(e.stored, opts.MemoryLimit)
	e.plans = plans.New(e.budget.Child(0), opts.MemoryLimit)
	e.budget.OnShortage(func(bytes int64) bool { return e.files.Evict(bytes) || e.plans.Evict(bytes) })
	e.ungovern = e.budget.LimitCollector()
	e.ctx, e.stop = context.WithCancel(context.Background())
	if _, err := setDevice(&variables{engine: e}, string(opts.Device)); err != nil {
		return nil, err
	}
	return e, nil
}

// Close ends every running statement; later ones fail.
func (e *Engine) Close() error {
	if e.closed.CompareAndSwap(false, true) {
		e.stop()
		e.ungovern()
		if e.opts.GPUMemoryLimit > 0 {
			gpu.UnlimitMemory(e)
		}
	}
	return nil
}

func (e *Engine) alive() error {
	if e.closed.Load() {
		return sqlerr.New(sqlerr.CodeUnknownError, sqlerr.User, "the database is closed")
	}
	return nil
}

// lockWrites waits for the turn of a statement that writes, or for the end of its context: writers go one after the
// other, and one that is cancelled does not wait for a slow one before it.
func (e *Engine) lockWrites(ctx context.Context) (unlock func(), err error) {
	select {
	case e.writing <- struct{}{}:
		return func() { <-e.writing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// MemoryUsed returns the bytes that running statements hold now, tables and files not counted.
func (e *Engine) MemoryUsed() int64 { return e.statements.Used() }

// MemoryPeak returns the most that statements have held at once, tables and files not counted.
func (e *Engine) MemoryPeak() int64 { return e.statements.Peak() }

// MemoryStored returns the bytes that tables and the files which queries have read take.
func (e *Engine) MemoryStored() int64 { return e.stored.Budget.Used() }
