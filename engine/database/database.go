package database

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/engine/background"
	"github.com/radish-sql/radish/engine/calibrate"
	"github.com/radish-sql/radish/engine/filecache"
	"github.com/radish-sql/radish/engine/locks"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/stored"
	"github.com/radish-sql/radish/engine/udf"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/cost"
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

// Database is one in-memory database. It is safe for concurrent use.
type Database struct {
	Opts       Options
	Catalog    *catalog.Catalog
	Budget     *memory.Budget // the whole; the three below lie within it
	Statements *memory.Budget // what statements need while they run
	Stored     *stored.Memory // tables
	KeptBudget *memory.Budget // what sessions keep from one statement to the next
	Files      *filecache.Cache
	Plans      *plans.Store
	Access     *fileaccess.Policy // of sessions when they begin
	Added      *udf.Functions     // functions of the program's own
	Sessions   Sessions
	Locks      *locks.Names
	TableLocks *locks.Tables
	Status     Status
	Closed     atomic.Bool
	Ctx        context.Context // ends with the engine
	end        func()          // ends Ctx, and the memory limit's effect on Go's collector
	Auto       AutoState
	Writing    chan struct{}          // holds something while a statement writes; see LockWrites
	Changed    func([]catalog.Change) // hears of each change of the catalog
}

// Status is what SHOW STATUS tells of an engine.
type Status struct {
	Began     time.Time
	Questions atomic.Int64 // statements
}

// AutoState is what radish_device = 'auto' needs beside a GPU.
type AutoState struct {
	Preparing   *background.Preparations
	Ahead       *background.CompilesAhead
	Measuring   atomic.Bool // costs, in the background
	Measure     MeasureCosts
	Instead     gpu.Setting // for tests: what 'auto' does; empty: what it says
	Emulated    bool        // for tests: 'auto' puts queries on an emulated device
	LeastRows   float64     // that a query reads for 'auto' to ask for a GPU
	Calibrating bool        // what the engine's queries take is learned by the calibration
}

// MeasureCosts measures what work costs on a device and on so many threads.
type MeasureCosts func(ctx context.Context, d *gpu.Device, c *calibrate.Calibration, threads int) (cost.Table, error)

// emulatesAuto is set by EmulateAuto.
var emulatesAuto atomic.Bool

// EmulateAuto is for tests. Engines that are made from now on use an emulated device under radish_device = 'auto' as if it were a real one, for queries
// that read at least a row.
func EmulateAuto() { emulatesAuto.Store(true) }

// New returns an empty database with one schema, [DefaultDatabase]. It reports an option that makes no sense.
func New(opts Options) (*Database, error) {
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
	db := &Database{
		Opts: opts, Access: policy, Catalog: catalog.New(DefaultDatabase), Budget: memory.NewBudget(opts.MemoryLimit),
		Auto: AutoState{Preparing: background.NewPreparations(), Ahead: background.NewCompilesAhead(), LeastRows: placement.LeastRows}, Writing: make(chan struct{}, 1), Status: Status{Began: time.Now()}, Locks: locks.NewNames(), TableLocks: locks.NewTables(),
		Added: udf.New(),
	}
	if emulatesAuto.Load() {
		db.Auto.Emulated, db.Auto.LeastRows = true, 0
	}
	db.Statements, db.Stored, db.KeptBudget = db.Budget.Child(0), stored.New(db.Budget.Child(0)), db.Budget.Child(0)
	db.Files = filecache.New(db.Stored, opts.MemoryLimit)
	db.Plans = plans.New(db.Budget.Child(0), opts.MemoryLimit)
	db.Budget.OnShortage(func(bytes int64) bool { return db.Files.Evict(bytes) || db.Plans.Evict(bytes) })
	ungovern := db.Budget.LimitCollector()
	ctx, stop := context.WithCancel(context.Background())
	db.Ctx = ctx
	db.end = func() {
		stop()
		ungovern()
	}
	return db, nil
}

// Close ends every running statement; later ones fail.
func (db *Database) Close() error {
	if db.Closed.CompareAndSwap(false, true) {
		db.end()
		if db.Opts.GPUMemoryLimit > 0 {
			gpu.UnlimitMemory(db)
		}
	}
	return nil
}

// Alive returns an error if the database is closed.
func (db *Database) Alive() error {
	if db.Closed.Load() {
		return sqlerr.New(sqlerr.CodeUnknownError, sqlerr.User, "the database is closed")
	}
	return nil
}

// LockWrites waits for the turn of a statement that writes, or for the end of its context: writers go one after the
// other, and one that is cancelled does not wait for a slow one before it.
func (db *Database) LockWrites(ctx context.Context) (unlock func(), err error) {
	select {
	case db.Writing <- struct{}{}:
		return func() { <-db.Writing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// MemoryUsed returns the bytes that running statements hold now, tables and files not counted.
func (db *Database) MemoryUsed() int64 { return db.Statements.Used() }

// MemoryPeak returns the most that statements have held at once, tables and files not counted.
func (db *Database) MemoryPeak() int64 { return db.Statements.Peak() }

// MemoryStored returns the bytes that tables and the files which queries have read take.
func (db *Database) MemoryStored() int64 { return db.Stored.Budget.Used() }

// PlacedAs is how pipelines that may run on a GPU are placed: tests can change what 'auto' does.
func (a *AutoState) PlacedAs(s gpu.Setting) gpu.Setting {
	if s == gpu.Auto && a.Instead != "" {
		return a.Instead
	}
	return s
}
