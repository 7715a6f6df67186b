package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Tables that are made to measure with: large enough for a GPU's speed to show, small enough for all to take about a second.
const (
	calibrationRows = 1 << 23
	emulatedRows    = 1 << 17 // an emulated device is slow; what is measured with it tests the measuring
	calibrationKeys = 1 << 16
	calibrationRuns = 3
)

// calibrate runs CALL radish_calibrate(): it measures what the same work costs on the CPU and on the GPU. From then on radish_device = 'auto' chooses by
// that, on this machine.
func (s *Session) calibrate(st *statement) (*Result, error) {
	if !s.vars.access.Unrestricted() {
		return nil, s.vars.access.Refuse("CALL radish_calibrate(), which writes what it measures into a file,")
	}
	d, err := s.engine.gpu()
	if err != nil {
		return nil, sqlerr.NotSupportedf("radish_calibrate", "there is no usable GPU to compare the CPU with: %v", err).WithCause(err)
	}
	if err := d.Lost(); err != nil {
		return nil, sqlerr.NotSupportedf("radish_calibrate", "the GPU cannot be used any more: %v", err).WithCause(err)
	}
	threads := s.vars.threads(s.engine)
	e, err := New(Options{Threads: threads, Device: deviceCPU, GPULibrary: s.engine.opts.GPULibrary, MemoryLimit: s.engine.opts.MemoryLimit})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	c := calibration{session: e.NewSession(), device: d, rows: calibrationRows}
	if d.Emulated() {
		c.rows = emulatedRows
	}
	costs, err := c.measure(st.ctx, threads)
	if err != nil {
		return nil, err
	}
	if err := d.Learn(costs); err != nil {
		s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownError, "the figures serve this process only: %s", err.Error())
	}
	return calibrationResult(&costs, threads), nil
}

// calibration measures with a database of its own.
type calibration struct {
	session *Session
	device  *gpu.Device
	rows    int
}

// The queries: what the others take longer than the first is for what they do besides reading the table.
const (
	calibrateTiny      = "SELECT SUM(v) FROM tiny"
	calibrateScan      = "SELECT SUM(v) FROM t"
	calibrateStep      = "SELECT SUM(v * g + k) FROM t"
	calibrateProbe     = "SELECT SUM(v + x) FROM t JOIN d ON k = id"
	calibrateAggregate = "SELECT COUNT(*), SUM(s), SUM(lo) FROM (SELECT g, SUM(v) s, COUNT(*) c, MIN(v) lo, MAX(v) hi FROM t GROUP BY g) x"
)

func (c *calibration) measure(ctx context.Context, threads int) (costs gpu.Costs, err error) {
	if err := c.tables(); err != nil {
		return costs, err
	}
	before := c.device.FirstRun().Compiled
	for _, side := range []struct {
		device string
		rates  *gpu.Rates
		cores  int
	}{{deviceCPU, &costs.CPU, threads}, {deviceStrict, &costs.GPU, 1}} {
		if _, err := c.run(ctx, "SET radish_device = '"+side.device+"'"); err != nil {
			return costs, err
		}
		if side.device == deviceStrict {
			if costs.Upload, err = c.upload(ctx); err != nil {
				return costs, err
			}
		}
		tiny, err := c.whole(ctx, calibrateTiny)
		if err != nil {
			return costs, err
		}
		side.rates.Start = tiny
		for _, q := range []struct {
			sql  string
			rate *float64
		}{
			{calibrateScan, &side.rates.Scan}, {calibrateStep, &side.rates.Step}, {calibrateProbe, &side.rates.Probe}, {calibrateAggregate, &side.rates.Aggregate},
		} {
			took, err := c.longest(ctx, q.sql)
			if err != nil {
				return costs, err
			}
			*q.rate = took * float64(side.cores) / float64(c.rows)
			if q.rate != &side.rates.Scan {
				*q.rate = max(*q.rate-side.rates.Scan, 0)
			}
		}
	}
	// Kernels of an earlier calibration are still there: then what they took is, too.
	costs.Compile = c.device.Costs().Compile
	if compiled := c.device.FirstRun().Compiled.Sub(before); compiled.Tasks > 0 {
		costs.Compile = compiled.Any.Seconds() / float64(compiled.Tasks)
	}
	return costs, nil
}

// tables makes t with c.rows rows: g has a thousand values, k as many as d has rows, v is any number; and tiny, with some of v.
func (c *calibration) tables() error {
	next := uint64(1)
	random := func(n int64) int64 { // xorshift64* (Vigna 2016)
		next ^= next >> 12
		next ^= next << 25
		next ^= next >> 27
		return int64(next * 0x2545f4914f6cdd1d >> 1 % uint64(n))
	}
	value := func(int64) int64 { return random(2e9) - 1e9 }
	for _, t := range []struct {
		name    string
		rows    int
		columns []string
		values  []func(row int64) int64
		key     bool
	}{
		{"t", c.rows, []string{"g", "k", "v"}, []func(int64) int64{func(int64) int64 { return random(1000) }, func(int64) int64 { return random(calibrationKeys) }, value}, false},
		{"d", calibrationKeys, []string{"id", "x"}, []func(int64) int64{func(row int64) int64 { return row }, value}, true},
		{"tiny", 1000, []string{"v"}, []func(int64) int64{value}, false},
	} {
		schema := &table.Schema{Database: DefaultDatabase, Name: t.name}
		for _, name := range t.columns {
			schema.Columns = append(schema.Columns, table.ColumnDef{Name: name, Type: types.Int32})
		}
		if t.key {
			schema.Keys = []table.Key{{Name: "PRIMARY", Primary: true, Unique: true, Columns: []int{0}}}
		}
		builder := table.NewBuilder(table.New(schema))
		builder.TrustKeys()
		for first := 0; first < t.rows; first += table.RowGroupSize {
			n := min(t.rows-first, table.RowGroupSize)
			data := make([]encoding.Data, len(t.columns))
			for i := range data {
				data[i].Ints = make([]int64, n)
				for row := range n {
					data[i].Ints[row] = t.values[i](int64(first + row))
				}
			}
			if err := builder.AppendColumns(n, data); err != nil {
				return err
			}
		}
		v, err := builder.Finish()
		if err != nil {
			return err
		}
		if err := c.session.engine.Register(v); err != nil {
			return err
		}
	}
	return nil
}

// run runs a statement to its end and returns what its plan has cost; nil if it has none.
func (c *calibration) run(ctx context.Context, sql string) (cost *profile.Plan, err error) {
	ctx = Observe(ctx, Observer{Profile: func(p *profile.Plan) { cost = p }})
	if err := c.read(ctx, sql); err != nil {
		return nil, err
	}
	return cost, nil
}

func (c *calibration) read(ctx context.Context, sql string) error {
	statements, err := c.session.Parse(sql)
	if err != nil {
		return err
	}
	res, err := c.session.Execute(ctx, statements[0], nil)
	if err != nil {
		return err
	}
	defer res.Close()
	for {
		if b, err := res.Next(ctx); err != nil || b == nil {
			return err
		}
	}
}

// upload returns the seconds that a byte of t's columns took to get to the GPU.
func (c *calibration) upload(ctx context.Context) (float64, error) {
	before := c.device.FirstRun()
	if _, err := c.run(ctx, "SELECT SUM(g), SUM(k), SUM(v) FROM t"); err != nil {
		return 0, err
	}
	paid := c.device.FirstRun().Sub(before)
	if paid.Uploaded == 0 {
		return 0, sqlerr.Bug("a new table was on the GPU")
	}
	return paid.Uploads.Any.Seconds() / float64(paid.Uploaded), nil
}

// whole returns the seconds of a statement, for each pipeline of it: the shortest of some runs.
func (c *calibration) whole(ctx context.Context, sql string) (float64, error) {
	cost, err := c.run(ctx, sql)
	if err != nil {
		return 0, err
	}
	best := time.Duration(0)
	for i := range 10 * calibrationRuns {
		begin := time.Now()
		if err := c.read(ctx, sql); err != nil {
			return 0, err
		}
		if took := time.Since(begin); i == 0 || took < best {
			best = took
		}
	}
	return best.Seconds() / float64(len(cost.Pipelines)), nil
}

// longest returns the seconds of a statement's longest pipeline, on the GPU without what its launch takes: the shortest of some runs.
func (c *calibration) longest(ctx context.Context, sql string) (float64, error) {
	best := time.Duration(0)
	for i := range 1 + calibrationRuns {
		cost, err := c.run(ctx, sql)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			continue // statistics, columns, kernels
		}
		longest := time.Duration(0)
		for _, p := range cost.Pipelines {
			took := p.Wall
			if p.GPU != nil {
				took = p.GPU.Kernel
			}
			longest = max(longest, took)
		}
		if i == 1 || longest < best {
			best = longest
		}
	}
	return best.Seconds(), nil
}

// calibrationResult lists the costs.
func calibrationResult(c *gpu.Costs, threads int) *Result {
	cols := []ResultColumn{
		{Name: "cost", Type: types.Text}, {Name: "cpu", Type: types.Double, Nullable: true}, {Name: "gpu", Type: types.Double}, {Name: "unit", Type: types.Text},
	}
	row := func(name string, cpu, gpu types.Value, unit string) []types.Value {
		return []types.Value{text(name), cpu, gpu, text(unit)}
	}
	all := float64(threads)
	rows := [][]types.Value{row("start", types.FloatValue(c.CPU.Start*1e6), types.FloatValue(c.GPU.Start*1e6), "microseconds a pipeline")}
	unit := fmt.Sprintf("ns a row, CPU with %d threads", threads)
	for _, r := range []struct {
		name     string
		cpu, gpu float64
	}{
		{"scan", c.CPU.Scan, c.GPU.Scan}, {"compute", c.CPU.Step, c.GPU.Step}, {"probe", c.CPU.Probe, c.GPU.Probe}, {"aggregate", c.CPU.Aggregate, c.GPU.Aggregate},
	} {
		rows = append(rows, row(r.name, types.FloatValue(r.cpu/all*1e9), types.FloatValue(r.gpu*1e9), unit))
	}
	none := types.NullOf(types.Double)
	return rowsResult(cols, append(rows, row("upload", none, types.FloatValue(1/c.Upload/1e9), "GB/s"),
		row("compile", none, types.FloatValue(c.Compile*1e3), "ms a kernel")))
}
