package query

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// With radish_device = 'auto' no query waits for the GPU: what has to be compiled or uploaded first is waited for by a rival, beside a run on
// the CPU (exec.Rival). What package placement knows of the statement decides; where it knows too little, both run it.

// auto plans a query for the device that is expected to be the faster one.
func auto(st *session.Statement, p *Planned) error {
	s := st.Session
	if s.DB.Auto.Instead != "" {
		return forced(st, p, gpu.Auto)
	}
	stay := func(reason string) (err error) {
		p.placement = physical.OnCPU(reason)
		p.Plan, err = lowered(st, p, physical.CPU)
		return err
	}
	if reason := placement.Small(p.tableRows(), max(s.DB.Auto.LeastRows, 1)); reason != "" {
		return stay(reason)
	}
	d, reason := usableGPU(s)
	if d == nil {
		return stay(reason)
	}
	p.learns(d)
	calibrateSoon(s.DB, d)
	full, left := d.Short()
	if full == "" {
		s.GPUTold = session.GPUUsable
	} else {
		full = fmt.Sprintf("the GPU's memory is full, so no columns are uploaded for the next %.1f s: %s", left.Seconds(), full)
	}
	choice, known := p.advisor.Known(p.fingerprint)
	if known && choice.Device == physical.GPU {
		if reason, err := startOnGPU(st, p, &choice, full); err != nil || reason != "" {
			if err == nil {
				err = stay(reason)
			}
			return err
		}
		if p.gpu != nil {
			return nil
		}
	}
	var err error
	if p.Plan, err = lowered(st, p, physical.CPU); err != nil {
		return err
	}
	if reason := staysWhole(st, p.Plan); reason != "" {
		p.placement, p.rival = physical.OnCPU(reason), nil
		return nil
	}
	estimate := p.expect(s.Vars.Threads())
	if !known {
		choice = p.advisor.Unknown(p.fingerprint, estimate)
	}
	if full != "" && choice.Races {
		s.TellOnce(session.GPUFull, full)
		choice.Races, choice.Reason = false, choice.Reason+"; "+full
	}
	if choice.Races && p.repeatable && p.rival == nil {
		if p.rival, err = plannedRival(st, d, p); err != nil {
			return err
		}
	}
	reason = choice.Reason
	if p.rival != nil {
		reason += "; the GPU joins when it is ready"
	}
	p.placement = physical.OnCPU(reason)
	return nil
}

// usableGPU returns the GPU that 'auto' may use; nil, for a reason, if there is none.
func usableGPU(s *session.Session) (d *gpu.Device, reason string) {
	d, err := s.Vars.Fleet().FirstSoon()
	switch {
	case errors.Is(err, gpu.ErrOpening):
		return nil, "the GPU is being opened"
	case err != nil:
		return nil, "no GPU is in use"
	case d.Lost() != nil:
		reason := gpu.Failed + ": " + s.Vars.WithoutPaths(d.Lost())
		s.TellOnce(session.GPULost, reason)
		return nil, reason
	case d.Emulated() && !s.DB.Auto.Emulated:
		return nil, "an emulated device runs only what radish_device = 'gpu' sends to it"
	}
	return d, ""
}

// startOnGPU plans a query for the GPU, which is known to be the faster one. If that lacks something, the query has a rival there and the choice is a race. A reason
// says that it is not to run there at all. full says why the GPU has no memory for more columns; "": it has.
func startOnGPU(st *session.Statement, p *Planned, choice *placement.Choice, full string) (reason string, err error) {
	s := st.Session
	plan, err := lowered(st, p, physical.GPU)
	if err != nil {
		return "", err
	}
	if st.Unread(plan) {
		return UnreadFiles, nil
	}
	wish := wish(s, gpu.Auto, choice.Reason)
	wish.Kept, wish.Shared.Took = p.placing(), p.took(p.device)
	placed, where, err := p.device.Place(plan, st.Expressions(), wish)
	if err != nil {
		return "", err
	}
	if placed == nil {
		return where.FirstReason(plan), nil
	}
	lacks := placed.Lacks()
	if !lacks.Any() {
		p.Plan, p.gpu, p.placement = placed.Plan, placed, where
		return "", nil
	}
	choice.Reason += "; " + lacking(lacks)
	if full != "" && lacks.Bytes > 0 {
		s.TellOnce(session.GPUFull, full)
		return choice.Reason + "; " + full, nil
	}
	choice.Races = true
	if p.repeatable {
		p.rival = rival(s, p, func(context.Context) (*gpu.Placed, string) { return placed, "" })
	}
	return "", nil
}

// staysWhole says why 'auto' sends no pipeline of a plan to the GPU, whatever that would take there; empty if it may.
func staysWhole(st *session.Statement, plan *physical.Plan) string {
	s := st.Session
	if st.Unread(plan) {
		return UnreadFiles
	}
	if reason := placement.Small(placement.PlanRows(plan), s.DB.Auto.LeastRows); reason != "" {
		return reason
	}
	if plan.Recursive() {
		return gpu.RecursionStays
	}
	return ""
}

// UnreadFiles is why a query is not brought to the GPU whose columns are read as it runs, or that is only planned.
const UnreadFiles = "columns of its files are not in memory yet"

// plannedRival plans a query for the GPU, to run there beside the CPU. Its kernels are written while the CPU runs.
func plannedRival(st *session.Statement, d *gpu.Device, p *Planned) (*exec.Rival, error) {
	s := st.Session
	begin := time.Now()
	plan, err := lowered(st, p, physical.GPU)
	if err != nil {
		return nil, err
	}
	r := &rehearsal{
		engine: s.DB, device: d, plan: plan, wish: wish(s, gpu.Auto, "it finished first in a race with the CPU"), ctx: st.Expressions().ForWorker(nil),
		threads: s.Vars.Threads(), limit: s.Vars.MemoryLimit(), fingerprint: p.fingerprint, estimate: *p.estimate, text: session.FirstWords(st.Text), planning: time.Since(begin),
	}
	// Preparing may outlive the statement: it sees nothing of the session.
	r.ctx.Warnings, r.ctx.Variables, r.ctx.Locks = &sqlerr.Warnings{}, nil, nil
	return rival(s, p, func(ctx context.Context) (*gpu.Placed, string) {
		return s.DB.Auto.Preparing.Prepare(ctx, s.DB.Ctx, p.fingerprint, func(engine context.Context) (*gpu.Placed, string) { return r.prepare(engine, ctx) })
	}), nil
}

// rehearsals is how often a query is run: the first time does not count.
const rehearsals = 3

// rehearsal prepares a query for the GPU.
type rehearsal struct {
	engine      *database.Database
	device      *gpu.Device
	plan        *physical.Plan
	wish        gpu.Wish
	ctx         *expr.Context
	threads     int
	limit       int64
	fingerprint uint64
	estimate    placement.Estimate
	text        string
	planning    time.Duration // what planning it took
}

// prepare compiles the query's kernels and uploads its columns. Where the statement has ended meanwhile, it runs it: once for what only a first run pays, such
// as tables of what functions give for a dictionary's strings, and then to know what it takes.
func (r *rehearsal) prepare(engine, statement context.Context) (placed *gpu.Placed, reason string) {
	r.ctx.Ctx = engine
	advisor := r.device.Advisor()
	if placed, reason = r.place(); placed == nil {
		advisor.Refuse(r.fingerprint, reason) // the race may be over
		return nil, ""
	}
	if err := placed.Prepare(engine); err != nil {
		return nil, err.Error()
	}
	if statement.Err() == nil || !advisor.Rehearses(r.fingerprint, &r.estimate, placed.Whole()) {
		return placed, ""
	}
	defer r.engine.Stored.Enter()()
	best, outcome := time.Duration(0), placement.Outcome{}
	for i := range rehearsals {
		begin := time.Now()
		again, _ := r.place()
		if again == nil {
			return nil, ""
		}
		placing := time.Since(begin)
		outcome = again.Outcome()
		took, reason, err := r.run(engine, again)
		switch {
		case errors.Is(err, exec.ErrGivenUp):
			advisor.GaveUp(r.fingerprint, r.text)
			return nil, ""
		case err != nil:
			return nil, ""
		case reason != "":
			r.device.Refuse(r.fingerprint, reason)
			return nil, reason
		}
		if took += r.planning + placing; i == 1 || i > 1 && took < best {
			best = took
		}
	}
	outcome.Took = best
	advisor.Learn(r.fingerprint, r.text, &r.estimate, outcome)
	return nil, ""
}

// run runs the query once. The error is [exec.ErrGivenUp] if that took too long for a GPU that others may want.
func (r *rehearsal) run(engine context.Context, placed *gpu.Placed) (took time.Duration, reason string, err error) {
	ctx, cancel := context.WithTimeoutCause(engine, placement.LongestRehearsal, exec.ErrGivenUp)
	defer cancel()
	env := exec.Env{Threads: r.threads, Memory: r.engine.Statements.Child(r.limit), Expr: r.ctx}
	return exec.Rehearse(ctx, placed, env, placement.LongestWait)
}

func (r *rehearsal) place() (*gpu.Placed, string) {
	placed, where, err := r.device.Place(r.plan, r.ctx, r.wish)
	switch {
	case err != nil:
		return nil, err.Error()
	case placed == nil:
		return nil, where.FirstReason(r.plan)
	case r.device.Advisor().LeavesMost(placed.Plan, where, r.threads):
		return nil, placement.LeftToCPU + " (" + where.FirstReason(r.plan) + ")"
	}
	return placed, ""
}

func rival(s *session.Session, p *Planned, place func(context.Context) (*gpu.Placed, string)) *exec.Rival {
	return &exec.Rival{Place: place, Worth: func(after time.Duration) bool {
		return p.advisor.WorthStarting(p.fingerprint, p.estimate, after)
	}}
}

// lacking says what the GPU has to wait for.
func lacking(l gpu.Lacks) string {
	text := "not yet on the GPU:"
	if l.Kernels > 0 {
		text += fmt.Sprintf(" %d kernels", l.Kernels)
	}
	if l.Bytes > 0 {
		if l.Kernels > 0 {
			text += " and"
		}
		text += " " + sqlerr.FormatBytes(l.Bytes) + " of columns"
	}
	return text
}

// learns has the advisor of a device learn from a query.
func (p *Planned) learns(d *gpu.Device) {
	p.device, p.advisor = d, d.Advisor()
	p.fingerprint, p.repeatable = p.statement()
}

// statement is the query's fingerprint, and whether it gives the same each time.
func (p *Planned) statement() (fingerprint uint64, repeatable bool) {
	if p.shared != nil {
		return p.shared.Fingerprint()
	}
	return logical.Fingerprint(p.query)
}

// took returns a function for what the query has taken on one of several devices and on those that shared it, which is looked up once, when it is asked for.
func (p *Planned) took(d *gpu.Device) func() placement.Took {
	return sync.OnceValue(func() placement.Took {
		if p.advisor == nil {
			p.fingerprint, p.repeatable = p.statement()
		}
		return d.Advisor().Took(p.fingerprint)
	})
}

// ended tells the advisor what came of the query.
func ended(s *session.Session, p *Planned, text string) func(placement.Outcome) {
	if p.advisor == nil {
		return nil
	}
	return func(o placement.Outcome) {
		if o.Refused != "" {
			if p.device.Lost() != nil {
				s.GPUTold = session.GPULost // a note says why the CPU ran it
			} else if full, _ := p.device.Short(); full != "" {
				s.GPUTold, o.Refused = session.GPUFull, "" // which says nothing of the statement
			}
		}
		p.advisor.Learn(p.fingerprint, text, p.estimate, o)
	}
}

// Forget runs CALL radish_forget(): what runs have taught placement is forgotten, here and in the file that keeps it. Calibrated costs stay.
func Forget(s *session.Session) (*result.Result, error) {
	if d, err := s.DB.GPU(); err == nil {
		if err := d.Advisor().Forget(); err != nil {
			return nil, sqlerr.New(sqlerr.CodeUnknownError, sqlerr.Resource, "what was learned cannot be removed: %v", err).
				WithHint("it is a file in the folder of compiled kernels, which RADISH_KERNEL_CACHE names").WithCause(err)
		}
	}
	return &result.Result{}, nil
}
