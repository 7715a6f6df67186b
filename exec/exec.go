// Package exec runs physical plans: the one door through which package radish starts a query, whatever device runs it.
//
// What enters is a plan of planner/physical and what it may use; what leaves is a stream of batches, read at the
// client's pace, and a profile of what they cost. exec/cpu runs pipelines on the processor; exec/memory counts the
// bytes; exec/enginetest holds the cases that every backend has to pass.
package exec

import (
	"context"

	"github.com/radish-sql/radish/exec/cpu"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/column"
)

// Env is what a query may use.
type Env struct {
	Threads int            // workers; less than 1 is 1
	Memory  *memory.Budget // nil: no limit
	// Expr is the statement's context, copied for each worker. Its Ctx is replaced by Run's.
	Expr    *expr.Context
	Profile bool // measure each operator, for EXPLAIN ANALYZE
}

// Rows is a stream of a result's batches. Its methods must not be called by two goroutines at once.
//
// The columns of a batch are the plan's, in order. Batches of an ordered plan come in order; those of others in an
// order that is the same in two runs at one thread count. The query's workers wait while the client does not read.
type Rows interface {
	// Next returns the next batch, without selection and the caller's to keep, or nil after the last. The error of a
	// failed or cancelled query is a *sqlerr.Error, and is returned again by later calls.
	Next(ctx context.Context) (*column.Batch, error)
	// Close ends the query, if need be by stopping it, and returns when none of its goroutines runs any more. It may
	// be called again.
	Close() error
	// Profile returns what the query has cost so far.
	Profile() *profile.Plan
}

// Run starts a plan. The query ends with ctx, or when Rows is closed, which must be done in any case. All pipelines
// before the one that gives the result have run when Run returns, so their errors come from it.
func Run(ctx context.Context, plan *physical.Plan, env Env) (Rows, error) {
	rows, err := cpu.Run(ctx, plan, cpu.Config{Threads: env.Threads, Memory: env.Memory, Expr: env.Expr, Profile: env.Profile})
	if err != nil {
		return nil, err
	}
	return rows, nil
}
