// Package exec runs physical plans: the one door through which package radish starts a query, whatever device runs it.
//
// What enters is a plan of planner/physical and what it may use; what leaves is a stream of batches, read at the
// client's pace, and a profile of what they cost. exec/cpu runs pipelines on the processor, and exec/gpu those that are
// placed on a GPU; exec/memory counts the bytes; exec/enginetest holds the cases that every backend has to pass.
package exec

import (
	"context"

	"github.com/radish-sql/radish/exec/cpu"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/column"
)

// Env is what a query may use.
type Env struct {
	Threads int            // workers; less than 1 is 1
	Memory  *memory.Budget // nil: no limit
	// Expr is the statement's context, copied for each worker. Its Ctx is replaced by Run's.
	Expr    *expr.Context
	Profile bool // measure each operator, for EXPLAIN ANALYZE
	// Progress is told what the query has done; it may be nil.
	Progress *profile.Progress
	// GPU is the plan with the kernels of its pipelines on the GPU; nil: all run on the CPU.
	GPU *gpu.Placed
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
//
// Where the GPU fails, or meets an error or a warning that only the CPU can word, the query runs again on the CPU alone: a note among the
// warnings and the profile say so. With radish_device = 'gpu' a lack of memory or the loss of the device is an error instead.
func Run(ctx context.Context, plan *physical.Plan, env Env) (Rows, error) {
	cfg := cpu.Config{Threads: env.Threads, Memory: env.Memory, Expr: env.Expr, Profile: env.Profile, Progress: env.Progress}
	if env.GPU == nil {
		return onCPU(ctx, plan, cfg)
	}
	var warnings *sqlerr.Warnings
	if env.Expr != nil {
		warnings = env.Expr.Warnings
	}
	before := warnings.List()
	reason, err := "", error(nil)
	run, startErr := env.GPU.Start(ctx, env.Profile)
	if startErr == nil {
		cfg.Elsewhere = run
		rows, runErr := onCPU(ctx, plan, cfg)
		if runErr == nil {
			return placed{rows, run}, nil
		}
		reason, err = run.Failure()
		if reason == "" || ctx.Err() != nil {
			return nil, runErr
		}
	} else {
		if ctx.Err() != nil {
			return nil, sqlerr.Interrupted(context.Cause(ctx))
		}
		reason, err = env.GPU.StartFailure(startErr)
	}
	if err != nil {
		return nil, err
	}
	if warnings != nil {
		warnings.Reset()
	}
	for _, w := range before {
		warnings.Add(w.Level, w.Code, "%s", w.Message)
	}
	cfg.Elsewhere = nil
	rows, err := onCPU(ctx, plan, cfg)
	if err != nil {
		return nil, err
	}
	warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownError, "the query ran on the CPU: %s", reason)
	return fallback{rows, reason}, nil
}

func onCPU(ctx context.Context, plan *physical.Plan, cfg cpu.Config) (Rows, error) {
	rows, err := cpu.Run(ctx, plan, cfg)
	if err != nil {
		return nil, err // not a nil *Cursor in an interface
	}
	return rows, nil
}

// placed are rows of a plan that has pipelines on the GPU.
type placed struct {
	Rows
	run *gpu.Run
}

func (p placed) Profile() *profile.Plan {
	cost := p.Rows.Profile()
	cost.Downloaded = p.run.Downloaded()
	return cost
}

// fallback are rows that the CPU computes because the GPU could not.
type fallback struct {
	Rows
	reason string
}

func (f fallback) Profile() *profile.Plan {
	p := f.Rows.Profile()
	p.Fallback = f.reason
	return p
}
