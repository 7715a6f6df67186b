package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// infoSource is what information_schema asks of a session.
type infoSource struct{ session *Session }

var _ infoschema.Source = infoSource{}

// ViewSchema implements [infoschema.Source].
func (x infoSource) ViewSchema(snap *catalog.Snapshot, db, name string) (*table.Schema, bool) {
	s := x.session
	if s.describing {
		return nil, false // a view of information_schema.columns itself
	}
	s.describing = true
	defer func() { s.describing = false }()
	st := &statement{ctx: s.engine.ctx, session: s}
	defer st.end()
	// A view of something that is gone has no columns.
	schema, err := s.viewSchema(st, snap, db, name)
	return schema, err == nil
}

// IsUpdatable implements [infoschema.Source].
func (x infoSource) IsUpdatable(db, view string) bool {
	st := &statement{ctx: x.session.engine.ctx, session: x.session}
	defer st.end()
	return st.binder().Updatable(db, view)
}

// Variables implements [infoschema.Source].
func (x infoSource) Variables() (list []infoschema.Variable) {
	for i := range systemVariables {
		def := &systemVariables[i]
		list = append(list, infoschema.Variable{Name: def.name, Value: x.session.vars.shown(def), Doc: def.doc, IsReadOnly: def.readOnly})
	}
	return list
}

// Memory implements [infoschema.Source]: what the database's memory is used for, tables and files, cached ones among them, and statements.
func (x infoSource) Memory() []infoschema.MemoryUse {
	e := x.session.engine
	use := func(what string, b *memory.Budget) infoschema.MemoryUse {
		return infoschema.MemoryUse{For: what, Bytes: b.Used(), Peak: b.Peak(), Limit: b.Limit()}
	}
	cached := infoschema.MemoryUse{For: "cached files", Bytes: e.files.Cached(), Peak: -1, Limit: e.files.Share}
	return []infoschema.MemoryUse{use("database", e.budget), use("tables and files", e.stored.Budget), cached, use("statements", e.statements), use("sessions", e.keptBudget)}
}

// Processes implements [infoschema.Source].
func (x infoSource) Processes() (list []infoschema.Process) {
	for _, other := range x.session.engine.sessions.list() {
		a := other.activity
		a.mu.Lock()
		list = append(list, infoschema.Process{ID: other.id, Database: a.database, Text: a.text, IsKilled: a.killed, LastChange: a.since})
		a.mu.Unlock()
	}
	return list
}

// Location implements [infoschema.Source].
func (x infoSource) Location() *time.Location { return x.session.vars.location }

// GPU implements [infoschema.Source].
func (x infoSource) GPU() (*gpu.Device, bool) {
	return x.session.engine.gpuIfOpen()
}

// GPUs implements [infoschema.Source].
func (x infoSource) GPUs() []*gpu.Device {
	return gpu.Opened(x.session.engine.opts.GPULibrary)
}

// Devices implements [infoschema.Source].
func (x infoSource) Devices() []infoschema.Device {
	vars := &x.session.vars
	cpu := infoschema.Device{Device: "cpu", Name: types.IntValue(vars.integer("radish_threads")).Text() + " threads", Status: "in use"}
	return append([]infoschema.Device{cpu}, vars.gpuRows()...)
}

// gpuRows describes every GPU, or says why there is none.
func (v *variables) gpuRows() []infoschema.Device {
	e := v.engine
	lib, err := gpukernels.Default()
	if e.opts.GPULibrary != "" {
		lib, err = gpukernels.Open(gpukernels.Options{Path: e.opts.GPULibrary})
	}
	if err != nil {
		return []infoschema.Device{{Device: "gpu", Status: "not usable: " + v.withoutPaths(err)}}
	}
	none := infoschema.Device{Device: "gpu", ABI: lib.ABIVersion()}
	if v.access.ReadsAll() {
		none.Library = lib.Path()
	}
	devices, err := lib.Devices()
	if err != nil {
		none.Status = "not usable: " + v.withoutPaths(err)
		return []infoschema.Device{none}
	}
	var rows []infoschema.Device
	for _, info := range devices {
		r := none
		r.Device = fmt.Sprint("gpu", info.Ordinal)
		r.Name = info.Name
		r.Memory = info.MemoryBytes
		if c := info.ComputeCapability; c > 0 {
			r.Capability = fmt.Sprintf("%d.%d", c/10, c%10)
		}
		if v := info.DriverVersion; v > 0 {
			r.Driver = fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
		}
		switch d, err := e.fleet().Member(info.Ordinal); {
		case err != nil:
			r.Status = "not usable: " + v.withoutPaths(err)
		case d == nil:
			r.Status = "present, not used: it cannot run the kernels of the first GPU"
		default:
			v.fillOpened(&r, d)
		}
		rows = append(rows, r)
	}
	return rows
}

// fillOpened adds what is known of a GPU that pipelines may run on.
func (v *variables) fillOpened(r *infoschema.Device, d *gpu.Device) {
	r.Status = "usable"
	if err := d.Lost(); err != nil {
		r.Status = "lost: " + v.withoutPaths(err)
		return
	}
	if m, err := d.Memory(); err == nil {
		r.IsOpened, r.Free, r.Used, r.Resident, r.Limit = true, m.Free, m.Used, m.Resident, m.Limit
	}
	if reason, left := d.Short(); reason != "" {
		r.Status = fmt.Sprintf("usable, but its memory is full: 'auto' brings no further columns there for %.1f s; %s", left.Seconds(), reason)
	}
	r.Peers = v.engine.fleet().Peers(d)
	c := d.Compilers()
	r.Compilers = "this process"
	if c.Most > 0 {
		r.Compilers = fmt.Sprintf("%d of at most %d processes, and this one", c.Processes, c.Most)
	}
	if c.Problem != "" {
		r.Compilers += "; " + c.Problem
	}
	if first, err := v.engine.gpu(); err != nil || d != first {
		return // what is done in the background is done for the first one
	}
	var work []string
	if n := v.engine.auto.preparing.count(); n > 0 {
		work = append(work, fmt.Sprintf("%d statements are being prepared", n))
	}
	if n := v.engine.auto.ahead.count(); n > 0 {
		work = append(work, fmt.Sprintf("kernels of %d statements are being written before they run", n))
	}
	if n := d.Investing(); n > 0 {
		work = append(work, fmt.Sprintf("the columns of %d tables are being uploaded", n))
	}
	if v.engine.auto.measuring.Load() {
		work = append(work, "costs are being measured")
	}
	r.Background = strings.Join(work, ", ")
}
