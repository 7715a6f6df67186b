package engine

import (
	"context"
	"fmt"

	"github.com/radish-sql/radish/engine/calibrate"
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// callCalibrate runs CALL radish_calibrate(): it measures what the same work costs on the CPU and on the GPU. From then on radish_device = 'auto' chooses by
// that, on this machine.
func callCalibrate(st *session.Statement) (*result.Result, error) {
	s := st.Session
	if !s.Vars.Access.Unrestricted() {
		return nil, s.Vars.Access.Refuse("CALL radish_calibrate(), which writes what it measures into a file,")
	}
	d, err := s.DB.GPU()
	if err != nil {
		return nil, sqlerr.NotSupportedf("radish_calibrate", "there is no usable GPU to compare the CPU with: %v", err).
			WithHint("SELECT status FROM information_schema.radish_devices says what is missing; without a GPU there is nothing to calibrate").WithCause(err)
	}
	if err := d.Lost(); err != nil {
		return nil, sqlerr.NotSupportedf("radish_calibrate", "%s: %v", gpu.Failed, err).WithHint("SET radish_device = 'auto' to go on with the CPU").WithCause(err)
	}
	threads := s.Vars.Threads()
	rows := calibrate.Rows
	if d.Emulated() {
		rows = calibrate.EmulatedRows
	}
	costs, err := s.DB.Auto.Measure(st.Context, d, &calibrate.Calibration{Rows: rows}, threads)
	if err != nil {
		return nil, err
	}
	if err := d.Calibrated(costs); err != nil {
		s.Warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownError, "the figures serve this process only: %s", err.Error())
	}
	return calibrationResult(&costs, threads), nil
}

// measureWithin measures for a database, with one of its own.
func measureWithin(ctx context.Context, e *database.Database, d *gpu.Device, c *calibrate.Calibration, threads int) (costs cost.Table, err error) {
	own, err := New(database.Options{Threads: threads, Device: gpu.Never, GPULibrary: e.Opts.GPULibrary, MemoryLimit: e.Opts.MemoryLimit})
	if err != nil {
		return costs, err
	}
	defer own.Close()
	own.Auto.Calibrating = true
	c.Runner, c.Device = measured{own.NewSession()}, d
	return c.Measure(ctx, threads)
}

// measured is a session in which package calibrate measures.
type measured struct{ *Session }

// Register adds a table to the session's database.
func (m measured) Register(v *table.Version) error { return m.engine.Register(v) }

// Database is the database of the tables.
func (m measured) Database() string { return database.DefaultDatabase }

// Run runs a statement to its end.
func (m measured) Run(ctx context.Context, sql string) error {
	statements, err := m.Parse(sql)
	if err != nil {
		return err
	}
	res, err := m.Execute(ctx, statements[0], nil)
	if err != nil {
		return err
	}
	return drain(ctx, res)
}

// drain reads all rows.
func drain(ctx context.Context, res *result.Result) error {
	defer res.Close()
	for {
		if b, err := res.Next(ctx); err != nil || b == nil {
			return err
		}
	}
}

// Profiled runs a query to its end, and returns its plan and what that has cost.
func (m measured) Profiled(ctx context.Context, sql string) (*physical.Plan, *profile.Plan, error) {
	statements, err := m.Parse(sql)
	if err != nil {
		return nil, nil, err
	}
	st := &session.Statement{Statement: statements[0], Session: m.Session.Session, Context: ctx}
	defer st.End()
	q, err := st.Binder().Query(st.Node)
	if err != nil {
		return nil, nil, err
	}
	p, err := query.Plan(st, q, nil)
	if err != nil {
		return nil, nil, err
	}
	res, err := query.Start(st, p, true)
	if err != nil {
		return nil, nil, err
	}
	return p.Plan, res.Profile, drain(ctx, res)
}

// calibrationResult lists the costs.
func calibrationResult(c *cost.Table, threads int) *result.Result {
	cols := []result.ResultColumn{
		{Name: "cost", Type: types.Text}, {Name: "cpu", Type: types.Double, Nullable: true}, {Name: "gpu", Type: types.Double}, {Name: "unit", Type: types.Text},
	}
	row := func(name string, cpu, gpu types.Value, unit string) []types.Value {
		return []types.Value{result.Text(name), cpu, gpu, result.Text(unit)}
	}
	var rows [][]types.Value
	for _, class := range cost.Classes() {
		cpu, gpu, unit := c.CPU[class]/float64(threads)*1e9, c.GPU[class]*1e9, fmt.Sprintf("ns, CPU with %d threads", threads)
		if class == cost.Start {
			cpu, gpu, unit = c.CPU[class]*1e6, c.GPU[class]*1e6, "microseconds a pipeline"
		}
		rows = append(rows, row(class.String(), types.FloatValue(cpu), types.FloatValue(gpu), unit))
	}
	none := types.NullOf(types.Double)
	return result.RowsResult(cols, append(rows, row("upload", none, types.FloatValue(1/c.Upload/1e9), "GB/s"),
		row("compile", none, types.FloatValue(c.Compile*1e3), "ms a kernel"),
		row("joins in partitions", none, types.FloatValue(c.GPUJoins.Partitions), "times an H200's"),
		row("joins by tables", none, types.FloatValue(c.GPUJoins.Tables), "times an H200's")))
}
