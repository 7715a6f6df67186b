package exec

import (
	"context"
	"errors"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// A race runs a query on the CPU at once, and on the GPU as soon as its kernels are compiled and its columns uploaded. The first to have run all pipelines
// before the result wins, and the other one is cancelled. What was compiled and uploaded stays for the next run, whoever wins.
//
// Both are bound by the query's memory budget. Nothing that changes anything takes part (logical.Fingerprint says which queries are repeatable), and the
// rows of the two are the same but for what SQL leaves open.

// Rival is the GPU's part of a race.
type Rival struct {
	// Place gives the query's plan with the kernels of its pipelines on the GPU; without a plan it cannot run there, for the reason.
	Place func(ctx context.Context) (p *gpu.Placed, reason string)
	// Worth says whether the GPU, which is ready after so long a race, is to start.
	Worth func(after time.Duration) bool
}

// finisher is how one side of a race has ended: with rows, an error, or because it could not take part.
type finisher struct {
	rows    Rows
	err     error
	refused string // why it could not run
}

// race runs a query on both sides. The outcome says who has won.
func race(ctx context.Context, plan *physical.Plan, env *Env, outcome *placement.Outcome) (Rows, error) {
	runs := [2]*runner{physical.CPU: newRunner(ctx, env), physical.GPU: newRunner(ctx, env)}
	runs[physical.GPU].cfg.Progress = nil // it tells of the CPU's
	begin := time.Now()
	runs[physical.CPU].run(func(ctx context.Context, cfg schedule.Config) finisher {
		rows, err := start(ctx, plan, cfg)
		return finisher{rows: rows, err: err}
	})
	started, alone := make(chan time.Time, 1), make(chan struct{})
	runs[physical.GPU].run(func(ctx context.Context, cfg schedule.Config) finisher {
		return env.Rival.run(ctx, cfg, begin, started, alone)
	})
	winner, f := physical.CPU, finisher{}
	select {
	case f = <-runs[physical.CPU].end:
		if f.err != nil && outOfMemory(f.err) { // the other side may have enough
			close(alone)
			if other := <-runs[physical.GPU].end; other.rows != nil {
				runs[physical.CPU].end <- f
				winner, f = physical.GPU, other
			} else {
				runs[physical.GPU].end <- other
			}
		}
	case other := <-runs[physical.GPU].end:
		if other.rows != nil {
			winner, f = physical.GPU, other
		} else {
			outcome.Refused = other.refused
			runs[physical.GPU].end <- other
			f = <-runs[physical.CPU].end
		}
	}
	loser := runs[physical.GPU-winner]
	loser.cancel()
	outcome.Device = winner
	if winner == physical.GPU {
		outcome.Raced, outcome.Gave = true, time.Since(begin)
		if f.rows != nil {
			where := f.rows.Placement()
			outcome.Shared, outcome.ByCost = where.Spread != nil, where.Shared != ""
			outcome.Cold = true // or there would have been no race
		}
	} else {
		select {
		case at := <-started:
			outcome.Raced, outcome.Gave = true, time.Since(at)
		default:
		}
	}
	r := &raced{Rows: f.rows, winner: runs[winner], loser: loser, warnings: env.warnings()}
	if f.err != nil {
		r.warnings.Take(r.winner.warnings)
		r.stop()
		return nil, f.err
	}
	return r, nil
}

// warnings is where the statement's warnings go; nil: nowhere.
func (env *Env) warnings() *sqlerr.Warnings {
	if env.Expr == nil {
		return nil
	}
	return env.Expr.Warnings
}

func outOfMemory(err error) bool {
	var e *sqlerr.Error
	return errors.As(err, &e) && e.Kind == sqlerr.Resource
}

// runner is one side of a race.
type runner struct {
	ctx      context.Context
	cancel   context.CancelFunc
	cfg      schedule.Config
	warnings *sqlerr.Warnings // of its own; nil: nobody listens
	end      chan finisher    // which stop reads, but for the winner's
}

func newRunner(ctx context.Context, env *Env) *runner {
	r := &runner{cfg: env.config(), end: make(chan finisher, 1)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	if env.Expr != nil {
		own := env.Expr.ForWorker(nil)
		own.Ctx = r.ctx
		if own.Warnings != nil {
			r.warnings = &sqlerr.Warnings{NoNotes: own.Warnings.NoNotes}
			own.Warnings = r.warnings
		}
		r.cfg.Expr = own
	}
	return r
}

func (r *runner) run(f func(context.Context, schedule.Config) finisher) {
	go func() {
		var out finisher
		if err := sqlerr.Guard(func() error { out = f(r.ctx, r.cfg); return nil }); err != nil {
			out = finisher{err: err}
		}
		r.end <- out
	}()
}

// run is the GPU's side: it starts once it is ready, if that is worth while, or when it is alone because the CPU cannot run the query.
func (v *Rival) run(ctx context.Context, cfg schedule.Config, begin time.Time, started chan<- time.Time, alone <-chan struct{}) finisher {
	p, reason := v.Place(ctx)
	if p == nil {
		return finisher{refused: reason}
	}
	run, err := p.Start(ctx, cfg.IsProfiled)
	if err != nil {
		return refusal(ctx, p, err)
	}
	if err := run.Ready(ctx); err == nil && !v.Worth(time.Since(begin)) {
		select {
		case <-alone:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		run.Close()
		return finisher{}
	}
	started <- time.Now()
	rows, reason, err := finish(ctx, p, run, cfg)
	return finisher{rows: rows, refused: reason, err: err}
}

// refusal words why a run on the GPU could not start; nothing where it was cancelled.
func refusal(ctx context.Context, p *gpu.Placed, err error) finisher {
	if ctx.Err() != nil {
		return finisher{}
	}
	reason, _ := p.StartFailure(err)
	return finisher{refused: reason}
}

// raced are the winner's rows.
type raced struct {
	Rows
	winner, loser *runner
	warnings      *sqlerr.Warnings // the statement's
	stopped       bool
}

func (r *raced) Next(ctx context.Context) (*column.Batch, error) {
	b, err := r.Rows.Next(ctx)
	r.warnings.Take(r.winner.warnings)
	return b, err
}

func (r *raced) Close() error {
	err := r.Rows.Close()
	r.warnings.Take(r.winner.warnings)
	r.stop()
	return err
}

// patience is how long a statement waits for the loser of its race to end.
const patience = 30 * time.Millisecond

// stop gives back what the loser holds as soon as it does nothing any more. It waits for that, but not for long: calls of a GPU's driver cannot be cancelled, and
// take seconds where other processes use the device.
func (r *raced) stop() {
	if r.stopped {
		return
	}
	r.stopped = true
	r.winner.cancel()
	giveBack := func(f finisher) {
		if f.rows != nil {
			_ = f.rows.Close()
		}
	}
	select {
	case f := <-r.loser.end:
		giveBack(f)
	case <-time.After(patience):
		go func() {
			_ = sqlerr.Guard(func() error { giveBack(<-r.loser.end); return nil })
		}()
	}
}

// ErrGivenUp says that a rehearsal kept the GPU busy for too long. It is the cause of a context that ends a rehearsal for that.
var ErrGivenUp = errors.New("the GPU was busy with it for too long")

// Rehearse runs a query on the GPU and throws its rows away, so that the next run finds what a first one pays for. It gives up, by [ErrGivenUp], when it has to wait
// for kernels for longer than patience at a time. Without an error, reason says why the GPU could not run it.
func Rehearse(ctx context.Context, p *gpu.Placed, env Env, patience time.Duration) (took time.Duration, reason string, err error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	env.Expr = env.Expr.ForWorker(nil)
	env.Expr.Ctx = ctx
	begin := time.Now()
	rows, reason, err := attempt(ctx, p, env.config(), func(run *gpu.Run) {
		run.OnLongWait(patience, func() { giveUp(ErrGivenUp) })
	})
	if rows != nil {
		defer rows.Close()
		var b *column.Batch
		for b, err = rows.Next(ctx); b != nil && err == nil; {
			b, err = rows.Next(ctx)
		}
	}
	if context.Cause(ctx) == ErrGivenUp {
		return 0, "", ErrGivenUp
	}
	return time.Since(begin), reason, err
}
