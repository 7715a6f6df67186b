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
	"sync"
	"time"

	"github.com/radish-sql/radish/exec/cpu/join"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
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
	// Tuning is set by tests; nil: Default.
	Tuning *task.Tuning
}

// execution is a plan that runs.
type execution struct {
	*task.Query
	cfg    Config
	plan   *physical.Plan
	sinks  map[physical.Sink]pipeline.Sink
	builds map[*physical.Build]*join.Build
	seq    int // the number of the next pipeline's first morsel

	mu  sync.Mutex
	out *result // guarded by mu until the query runs

	feeding map[physical.Sink]int                // pipelines that have still to run, by their sink
	fetched map[physical.Sink]*rowstore.Relation // rows that came from another device
	closed  bool

	prof    profile.Plan
	started time.Time
}
