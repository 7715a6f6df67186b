package query

import (
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What is prepared will run: its kernels are written and compiled as soon as it is known, when the compiler has nothing else to do. Nothing is uploaded and no
// memory of the device is taken. The values of markers are not known yet; kernels hang on their types, and little on what they are.

// NamesFiles says whether a bound statement reads files. Kernels follow from the values of columns, which are not read of files to compile ahead.
func NamesFiles(st *session.Statement) bool { return len(st.Files.Uses) > 0 }

// CompileAhead has the kernels of a bound query compiled behind all others, if it may run on a GPU.
func CompileAhead(st *session.Statement, q *logical.Query) {
	s := st.Session
	e, device := s.DB, s.Device()
	if device == gpu.Auto && e.Auto.Instead != "" {
		return
	}
	if device == gpu.Never || s.Checking || rules.TableRows(q) < max(s.DB.Auto.LeastRows, 1) {
		return
	}
	wish, fleet := wish(s, e.Auto.PlacedAs(device), ""), s.Vars.Fleet()
	if d, err := fleet.FirstSoon(); err == nil && !compilesFor(e, d, device) || err != nil && err != gpu.ErrOpening {
		return
	}
	sum, _ := logical.Fingerprint(q)
	ctx := st.Expressions().ForWorker(nil)
	ctx.Ctx, ctx.Warnings, ctx.Variables, ctx.Locks = e.Ctx, &sqlerr.Warnings{}, nil, nil // it sees nothing of the session, which goes on
	behind := &session.Statement{Context: e.Ctx, Exprs: ctx, Session: &session.Session{DB: e, Vars: variables.Settings{Engine: e, DisabledRules: s.Vars.DisabledRules}}}
	leave := e.Stored.Enter()
	if added := e.Auto.Ahead.Add(sum, func() {
		defer leave()
		d, err := fleet.First()
		if err != nil || e.Closed.Load() || !compilesFor(e, d, device) {
			return
		}
		plan, err := lower(behind, q, physical.GPU)
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
func compilesFor(e *database.Database, d *gpu.Device, device gpu.Setting) bool {
	return d.Lost() == nil && (device != gpu.Auto || !d.Emulated() || e.Auto.Emulated)
}
