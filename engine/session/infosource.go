package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// infoSource is what information_schema asks of a session.
type infoSource struct{ session *Session }

// InfoSource returns what information_schema asks of the session.
func (s *Session) InfoSource() infoschema.Source { return infoSource{s} }

// ViewSchema implements [infoschema.Source].
func (x infoSource) ViewSchema(snap *catalog.Snapshot, db, name string) (*table.Schema, bool) {
	s := x.session
	if s.describing {
		return nil, false // a view of information_schema.columns itself
	}
	s.describing = true
	defer func() { s.describing = false }()
	st := &Statement{Context: s.DB.Ctx, Session: s}
	defer st.End()
	// A view of something that is gone has no columns.
	schema, err := s.ViewSchema(st, snap, db, name)
	return schema, err == nil
}

// IsUpdatable implements [infoschema.Source].
func (x infoSource) IsUpdatable(db, view string) bool {
	st := &Statement{Context: x.session.DB.Ctx, Session: x.session}
	defer st.End()
	return st.Binder().Updatable(db, view)
}

// Variables implements [infoschema.Source].
func (x infoSource) Variables() (list []infoschema.Variable) {
	for i := range variables.All {
		def := &variables.All[i]
		list = append(list, infoschema.Variable{Name: def.Name, Value: x.session.Vars.Shown(def), Doc: def.Doc, IsReadOnly: def.ReadOnly})
	}
	return list
}

// Memory implements [infoschema.Source]: what the database's memory is used for, tables and files, cached ones among them, and statements.
func (x infoSource) Memory() []infoschema.MemoryUse {
	e := x.session.DB
	use := func(what string, b *memory.Budget) infoschema.MemoryUse {
		return infoschema.MemoryUse{For: what, Bytes: b.Used(), Peak: b.Peak(), Limit: b.Limit()}
	}
	cached := infoschema.MemoryUse{For: "cached files", Bytes: e.Files.Cached(), Peak: -1, Limit: e.Files.Share}
	return []infoschema.MemoryUse{use("database", e.Budget), use("tables and files", e.Stored.Budget), cached, use("statements", e.Statements), use("sessions", e.KeptBudget)}
}

// Processes implements [infoschema.Source].
func (x infoSource) Processes() (list []infoschema.Process) {
	for _, other := range x.session.DB.Sessions.List() {
		list = append(list, other.Process())
	}
	return list
}

// Location implements [infoschema.Source].
func (x infoSource) Location() *time.Location { return x.session.Vars.Location }

// GPU implements [infoschema.Source].
func (x infoSource) GPU() (*gpu.Device, bool) {
	return x.session.DB.GPUIfOpen()
}

// GPUs implements [infoschema.Source].
func (x infoSource) GPUs() []*gpu.Device {
	return gpu.Opened(x.session.DB.Opts.GPULibrary)
}

// Devices implements [infoschema.Source].
func (x infoSource) Devices() []infoschema.Device {
	vars := &x.session.Vars
	cpu := infoschema.Device{Device: physical.CPU.String(), Name: types.IntValue(vars.Integer("radish_threads")).Text() + " threads", Status: "in use"}
	return append([]infoschema.Device{cpu}, gpuRows(vars)...)
}

// gpuRows describes every GPU, or says why there is none.
func gpuRows(v *variables.Settings) []infoschema.Device {
	e := v.Engine
	lib, err := gpukernels.Default()
	if e.Opts.GPULibrary != "" {
		lib, err = gpukernels.Open(gpukernels.Options{Path: e.Opts.GPULibrary})
	}
	if err != nil {
		return []infoschema.Device{{Device: physical.GPU.String(), Status: "not usable: " + v.WithoutPaths(err)}}
	}
	none := infoschema.Device{Device: physical.GPU.String(), ABI: lib.ABIVersion()}
	if v.Access.ReadsAll() {
		none.Library = lib.Path()
	}
	devices, err := lib.Devices()
	if err != nil {
		none.Status = "not usable: " + v.WithoutPaths(err)
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
		switch d, err := e.Fleet().Member(info.Ordinal); {
		case err != nil:
			r.Status = "not usable: " + v.WithoutPaths(err)
		case d == nil:
			r.Status = "present, not used: it cannot run the kernels of the first GPU"
		default:
			fillOpened(v, &r, d)
		}
		rows = append(rows, r)
	}
	return rows
}

// fillOpened adds what is known of a GPU that pipelines may run on.
func fillOpened(v *variables.Settings, r *infoschema.Device, d *gpu.Device) {
	r.Status = "usable"
	if err := d.Lost(); err != nil {
		r.Status = "lost: " + v.WithoutPaths(err)
		return
	}
	if m, err := d.Memory(); err == nil {
		r.IsOpened, r.Free, r.Used, r.Resident, r.Limit = true, m.Free, m.Used, m.Resident, m.Limit
	}
	if reason, left := d.Short(); reason != "" {
		r.Status = fmt.Sprintf("usable, but its memory is full: 'auto' brings no further columns there for %.1f s; %s", left.Seconds(), reason)
	}
	r.Peers = v.Engine.Fleet().Peers(d)
	c := d.Compilers()
	r.Compilers = "this process"
	if c.Most > 0 {
		r.Compilers = fmt.Sprintf("%d of at most %d processes, and this one", c.Processes, c.Most)
	}
	if c.Problem != "" {
		r.Compilers += "; " + c.Problem
	}
	if first, err := v.Engine.GPU(); err != nil || d != first {
		return // what is done in the background is done for the first one
	}
	var work []string
	if n := v.Engine.Auto.Preparing.Count(); n > 0 {
		work = append(work, fmt.Sprintf("%d statements are being prepared", n))
	}
	if n := v.Engine.Auto.Ahead.Count(); n > 0 {
		work = append(work, fmt.Sprintf("kernels of %d statements are being written before they run", n))
	}
	if n := d.Investing(); n > 0 {
		work = append(work, fmt.Sprintf("the columns of %d tables are being uploaded", n))
	}
	if v.Engine.Auto.Measuring.Load() {
		work = append(work, "costs are being measured")
	}
	r.Background = strings.Join(work, ", ")
}

// ViewSchema makes a definition of a view from its query.
func (s *Session) ViewSchema(st *Statement, snap *catalog.Snapshot, db, name string) (*table.Schema, error) {
	view, err := snap.View(db, name)
	if err != nil {
		return nil, err
	}
	bound, _ := st.CatalogView().View(db, name)
	if bound.Err != nil {
		return nil, bound.Err
	}
	b := st.Binder()
	b.Locate, b.Database = nil, view.Database
	q, err := b.Query(bound.Select)
	if err != nil {
		return nil, bind.InView(view.Database, view.Name, err)
	}
	schema := &table.Schema{Database: view.Database, Name: view.Name}
	for i, c := range q.Cols {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: view.Columns[i], Type: c.Typ, Nullable: c.Null})
	}
	return schema, nil
}
