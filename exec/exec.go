// Package exec runs physical plans: the one door through which package radish starts a query, whatever device runs it.
//
// What enters is a plan of planner/physical and what it may use. What leaves is a stream of batches, read at the
// client's pace, and a profile of what they cost. exec/schedule runs the plan's pipelines in their order, each on a backend: exec/cpu on the processor,
// exec/gpu on a GPU. Here is decided which backends a query gets, in a race (race.go) or one after the other where the GPU fails. exec/memory
// counts the bytes; exec/enginetest holds the cases that every backend has to pass.
package exec

import (
	"context"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// Env is what a query may use.
type Env struct {
	Threads int            // workers; less than 1 is 1
	Memory  *memory.Budget // nil: no limit
	// Expr is the statement's context, copied for each worker. Its Ctx is replaced by Run's.
	Expr       *expr.Context
	IsProfiled bool // measure each operator, for EXPLAIN ANALYZE
	// Result is what an error about memory calls the rows that wait for who takes them: the statement that stores them; empty: the result.
	Result string
	// Into is the table version behind whose rows who takes these stores them: where a device has encoded them, they come as [schedule.Stored]. nil: nobody stores them.
	Into *table.Version
	// TempFolder is where operators may write what does not fit the memory; empty: nowhere.
	TempFolder string
	// Progress is told what the query has done; it may be nil.
	Progress *profile.Progress
	// Placement is where the plan's pipelines run. That of GPU counts where there is one.
	Placement physical.Placement
	// GPU is the plan with the kernels of its pipelines on the GPU; nil: all run on the CPU.
	GPU *gpu.Placed
	// Rival has the GPU run the query beside the CPU; nil: nothing does. GPU is nil then.
	Rival *Rival
	// Began is when planning began; the zero time: when Run did.
	Began time.Time
	// Ended is told what came of the query when its last row has been read; nil: nobody wants to know. It is not called for a query that failed, or whose rows were not
	// read to the end.
	Ended func(placement.Outcome)
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
	// Plan is the plan that gives the rows: of a race, the winner's.
	Plan() *physical.Plan
	// Placement is where the pipelines of that plan run.
	Placement() physical.Placement
}

// Run starts a plan. The query ends with ctx, or when Rows is closed, which must be done in any case. All pipelines
// before the one that gives the result have run when Run returns, so their errors come from it.
//
// Where the GPU fails, or meets an error or a warning that only the CPU can word, the CPU runs the query: a note among the
// warnings and the profile say so. With radish_device = 'gpu' a lost device is an error instead, with 'gpu_strict' a lack of memory, too.
func Run(ctx context.Context, plan *physical.Plan, env Env) (Rows, error) {
	if env.Began.IsZero() {
		env.Began = time.Now()
	}
	var rows Rows
	var err error
	outcome := &placement.Outcome{}
	switch {
	case env.Rival != nil:
		rows, err = race(ctx, plan, &env, outcome)
	case env.GPU != nil:
		rows, err = onGPU(ctx, plan, &env, outcome)
	default:
		rows, err = start(ctx, plan, env.config())
	}
	if err != nil || env.Ended == nil {
		return rows, err
	}
	outcome.Took = time.Since(env.Began)
	return &timed{Rows: rows, outcome: outcome, ended: env.Ended}, nil
}

// config is what the scheduler gets, for a query on the CPU alone.
func (env *Env) config() schedule.Config {
	return schedule.Config{
		Threads: env.Threads, Memory: env.Memory, Expr: env.Expr, IsProfiled: env.IsProfiled, Progress: env.Progress, Result: env.Result, Into: env.Into,
		TempFolder: env.TempFolder,
		Placement:  env.Placement, Backends: []schedule.Backend{{Device: physical.CPU, Open: cpu.Open}},
	}
}

// onGPU runs a plan that has pipelines on the GPU.
func onGPU(ctx context.Context, plan *physical.Plan, env *Env, outcome *placement.Outcome) (Rows, error) {
	var warnings *sqlerr.Warnings
	if env.Expr != nil {
		warnings = env.Expr.Warnings
	}
	before := warnings.List()
	*outcome = env.GPU.Outcome()
	rows, reason, err := attempt(ctx, env.GPU, env.config(), nil)
	if rows != nil || err != nil {
		return rows, err
	}
	if warnings != nil {
		warnings.Reset()
	}
	for _, w := range before {
		warnings.Add(w.Level, w.Code, "%s", w.Message)
	}
	*outcome = placement.Outcome{Device: physical.CPU, Refused: reason}
	env.Began = time.Now()
	env.Placement = physical.OnCPU(reason)
	rows, err = start(ctx, plan, env.config())
	if err != nil {
		return nil, err
	}
	warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownError, "the query ran on the CPU: %s", reason)
	return fallback{rows, reason}, nil
}

// attempt runs a plan that has pipelines on the GPU. Without rows and error the CPU is to run it, for the reason. Before anything is launched it calls prepare with
// the run, unless that is nil.
func attempt(ctx context.Context, p *gpu.Placed, cfg schedule.Config, prepare func(*gpu.Run)) (rows Rows, reason string, err error) {
	run, err := p.Start(ctx, cfg.IsProfiled)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, "", sqlerr.Interrupted(context.Cause(ctx))
	case err != nil:
		reason, err = p.StartFailure(err)
		return nil, reason, err
	case prepare != nil:
		prepare(run)
	}
	return finish(ctx, p, run, cfg)
}

// finish runs a plan some of whose pipelines are run's.
func finish(ctx context.Context, p *gpu.Placed, run *gpu.Run, cfg schedule.Config) (rows Rows, reason string, err error) {
	cfg.Backends = append(cfg.Backends[:len(cfg.Backends):len(cfg.Backends)], schedule.Backend{Device: physical.GPU, Open: run.Open})
	cfg.Placement = p.Placement
	rows, err = start(ctx, p.Plan, cfg)
	if err == nil {
		return placed{rows, run}, "", nil
	}
	reason, failure := run.Failure()
	if reason == "" || ctx.Err() != nil {
		return nil, "", err
	}
	return nil, reason, failure
}

func start(ctx context.Context, plan *physical.Plan, cfg schedule.Config) (Rows, error) {
	rows, err := schedule.Start(ctx, plan, cfg)
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

// timed tells what came of a query. What the client does between two batches does not count.
type timed struct {
	Rows
	outcome *placement.Outcome
	ended   func(placement.Outcome) // nil: it was told
}

func (t *timed) Next(ctx context.Context) (*column.Batch, error) {
	from := time.Now()
	b, err := t.Rows.Next(ctx)
	t.outcome.Took += time.Since(from)
	if b == nil && t.ended != nil {
		if err == nil {
			t.ended(*t.outcome)
		}
		t.ended = nil
	}
	return b, err
}
