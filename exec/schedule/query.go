package schedule

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// SyncRows is the number of result rows up to which a query runs wholly in the caller's goroutine.
const SyncRows = 1 << 17

// syncStrings is that number for rows with strings where memory is limited.
const syncStrings = column.VectorSize

// Query is what the backends of a running query share.
type Query struct {
	*State
	Plan     *physical.Plan
	Ctx      context.Context
	Threads  int
	Memory   *memory.Budget // the query's own
	Expr     expr.Context   // to be copied for each worker
	Profiled bool           // the cost of each operator is wanted
	Progress *profile.Progress
	Operator string         // what an error about memory calls the rows that wait for the client
	Into     *table.Version // what the result is stored behind: see Config
	Out      *Queue
	// TempFolder is where operators may write what does not fit the memory; empty: nowhere.
	TempFolder string

	mu     sync.Mutex
	cost   profile.Plan          // guarded by mu
	moving map[int]time.Duration // guarded by mu: how long pipelines waited for rows from another device, by their ID
}

// Report adds the cost of a pipeline to the query's. To its time comes how long it waited for rows from another device.
func (q *Query) Report(p profile.Pipeline) {
	q.mu.Lock()
	p.Wall += q.moving[p.ID]
	q.cost.Pipelines = append(q.cost.Pipelines, p)
	q.mu.Unlock()
}

// IsSmall says whether a result of so many rows at most may be kept before the client reads the first: that of strings, however long they may be,
// only for few rows where memory is limited.
func (q *Query) IsSmall(rows int) bool {
	if rows > SyncRows {
		return false
	}
	return rows <= syncStrings || !q.Memory.Limited() || !slices.ContainsFunc(q.Plan.Types(), types.Type.IsString)
}

// ScannedRows returns the rows of the table that a pipeline scans; 0 if it reads something else.
func ScannedRows(p *physical.Pipeline) int64 {
	if s, ok := p.Source.(*physical.TableScan); ok {
		return s.Table.Rows()
	}
	return 0
}

// MorselRows is the number of rows that a worker takes at a time: work for some 100 µs. Taking the next morsel and keeping morsels in order cost
// nothing beside it, and yet there are enough morsels for all workers.
const MorselRows = 16 * column.VectorSize

// Workers is how many of a query's threads have work in a pipeline over so many rows: as many as there are morsels.
func Workers(rows float64, threads int) int {
	return max(1, int(min(float64(threads), math.Ceil(rows/MorselRows))))
}
