package engine

import (
	"sync"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What is prepared will run: its kernels are written and compiled as soon as it is known, when the compiler has nothing else to do. Nothing is uploaded and no
// memory of the device is taken. The values of markers are not known yet; kernels hang on their types, and little on what they are.

// mostAhead is how many statements may wait for their kernels to be written, aheadKnown how many are remembered not to be written again.
const (
	mostAhead  = 64
	aheadKnown = 4096
)

// compilesAhead are the statements whose kernels are still to be written. They are written one after the other.
type compilesAhead struct {
	mu      sync.Mutex
	waiting []func()
	running bool
	known   map[uint64]bool // fingerprints
}

// add has f run behind those that wait, unless that was done for the fingerprint before, or too many wait.
func (x *compilesAhead) add(fingerprint uint64, f func()) (added bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known[fingerprint] || len(x.waiting) >= mostAhead {
		return false
	}
	if x.known == nil || len(x.known) >= aheadKnown {
		x.known = map[uint64]bool{}
	}
	x.known[fingerprint] = true
	x.waiting = append(x.waiting, f)
	if !x.running {
		x.running = true
		go x.work()
	}
	return true
}

func (x *compilesAhead) work() {
	for {
		x.mu.Lock()
		if len(x.waiting) == 0 {
			x.running = false
			x.mu.Unlock()
			return
		}
		f := x.waiting[0]
		x.waiting = x.waiting[1:]
		x.mu.Unlock()
		_ = sqlerr.Guard(func() error { f(); return nil }) // who runs the statement meets the same error
	}
}

// count is how many statements wait, the one at work included.
func (x *compilesAhead) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(x.waiting)
	if x.running {
		n++
	}
	return n
}

// namesFiles says whether a bound statement reads files. Kernels follow from the values of columns, which are not read of files to compile ahead.
func (st *statement) namesFiles() bool { return len(st.files.uses) > 0 }

// compileAhead has the kernels of a bound query compiled behind all others, if it may run on a GPU.
func (s *Session) compileAhead(st *statement, q *logical.Query) {
	e, device := s.engine, s.device()
	if device == gpu.Auto && e.auto.instead != "" {
		return
	}
	if device == gpu.Never || s.checking || rules.TableRows(q) < max(s.engine.auto.leastRows, 1) {
		return
	}
	wish, fleet := s.wish(e.auto.placedAs(device), ""), s.vars.fleet()
	if d, err := fleet.FirstSoon(); err == nil && !e.compilesFor(d, device) || err != nil && err != gpu.ErrOpening {
		return
	}
	sum, _ := logical.Fingerprint(q)
	ctx := st.exprContext().ForWorker(nil)
	ctx.Ctx, ctx.Warnings, ctx.Variables, ctx.Locks = e.ctx, &sqlerr.Warnings{}, nil, nil // it sees nothing of the session, which goes on
	behind := &statement{ctx: e.ctx, context: ctx, session: &Session{engine: e, vars: variables{engine: e, disabledRules: s.vars.disabledRules}}}
	leave := e.stored.Enter()
	if added := e.auto.ahead.add(sum, func() {
		defer leave()
		d, err := fleet.First()
		if err != nil || e.closed.Load() || !e.compilesFor(d, device) {
			return
		}
		plan, err := behind.session.lower(behind, q, physical.GPU)
		if err != nil || plan.Recursive() {
			return
		}
		if placed, _, err := d.Place(plan, ctx, wish); err == nil && placed != nil {
			placed.CompileLater()
		}
	}); !added {
		leave()
	}
}

// compilesFor says whether statements may come to run on a device.
func (e *Engine) compilesFor(d *gpu.Device, device gpu.Setting) bool {
	return d.Lost() == nil && (device != gpu.Auto || !d.Emulated() || e.auto.emulated)
}
