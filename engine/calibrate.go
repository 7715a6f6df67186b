package engine

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// Tables that are made to measure with: large enough for a GPU's speed to show, small enough for all to take about a second.
const (
	calibrationRows = 1 << 22
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
		return nil, sqlerr.NotSupportedf("radish_calibrate", "the GPU failed and cannot be used until the program restarts: %v", err).WithHint("SET radish_device = 'auto' to go on with the CPU").WithCause(err)
	}
	threads := s.vars.threads(s.engine)
	rows := calibrationRows
	if d.Emulated() {
		rows = emulatedRows
	}
	costs, err := s.engine.measureCosts(st.ctx, d, calibration{rows: rows}, threads)
	if err != nil {
		return nil, err
	}
	if err := d.Calibrated(costs); err != nil {
		s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownError, "the figures serve this process only: %s", err.Error())
	}
	return calibrationResult(&costs, threads), nil
}

// measureCosts measures with a database of its own.
func (e *Engine) measureCosts(ctx context.Context, d *gpu.Device, c calibration, threads int) (costs cost.Table, err error) {
	own, err := New(Options{Threads: threads, Device: deviceCPU, GPULibrary: e.opts.GPULibrary, MemoryLimit: e.opts.MemoryLimit})
	if err != nil {
		return costs, err
	}
	defer own.Close()
	own.auto.calibrating = true
	c.session, c.device = own.NewSession(), d
	return c.measure(ctx, threads)
}

const (
	// backgroundRows are the rows of the largest table of a calibration that nobody has asked for; backgroundMemory is the least memory limit under which it
	// leaves enough for other work.
	backgroundRows   = calibrationRows / 2
	backgroundMemory = 2 << 30
	// quietTime is how long no query may have run before something is measured, and quietTries how often that is tried again when one came in between.
	quietTime  = 100 * time.Millisecond
	quietTries = 3
)

// calibrateSoon measures what work costs on this machine, once, in pauses between queries, if nobody has. What an engine's end cuts short another one does.
func (e *Engine) calibrateSoon(d *gpu.Device) {
	limit := e.opts.MemoryLimit
	if d.Emulated() && !e.auto.emulated || limit > 0 && limit < backgroundMemory || !d.ClaimCalibration() {
		return
	}
	rows := backgroundRows
	if d.Emulated() {
		rows = emulatedRows
	}
	go func() {
		e.auto.measuring.Store(true)
		defer e.auto.measuring.Store(false)
		_ = sqlerr.Guard(func() error { // without it the costs are those that were there before
			costs, err := e.measureCosts(e.ctx, d, calibration{rows: rows, quiet: d.Advisor()}, e.opts.Threads)
			if err == nil {
				err = d.Calibrated(costs)
			} else if e.ctx.Err() != nil {
				d.ReleaseCalibration()
			}
			return err
		})
	}()
}

// calibration measures the costs of work.
type calibration struct {
	quiet   *placement.Advisor // knows of the queries between which is measured; nil: nobody waits
	session *Session
	device  *gpu.Device
	rows    int
}

// The queries. Each prices one class of work: what the statement takes beyond the classes above it.
var calibrationQueries = []struct {
	class cost.Class
	sql   string
}{
	{cost.Start, "SELECT SUM(v) FROM tiny"},
	{cost.Scan, "SELECT SUM(v), SUM(g), SUM(k) FROM t"},
	{cost.Compute, "SELECT SUM(v * g + k) FROM t"},
	{cost.GroupDense, "SELECT COUNT(*), SUM(s) FROM (SELECT g, SUM(v) AS s FROM t GROUP BY g) AS x"},
	{cost.GroupCached, "SELECT COUNT(*), SUM(s) FROM (SELECT f, SUM(v) AS s FROM t GROUP BY f) AS x"},
	{cost.GroupLarge, "SELECT COUNT(*), SUM(s) FROM (SELECT u, SUM(v) AS s FROM t GROUP BY u) AS x"},
	{cost.ProbeDense, "SELECT SUM(v + x) FROM t JOIN d ON k = id"},
	{cost.ProbeCached, "SELECT SUM(v + x) FROM t JOIN d ON t.f = d.f"},
	{cost.BuildLarge, "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.u = b.u"},
	{cost.ProbeLarge, "SELECT COUNT(*), SUM(a.v) FROM t AS a JOIN (SELECT u FROM t WHERE g < 250) AS b ON a.u = b.u"},
	{cost.Sort, "SELECT v FROM t ORDER BY v LIMIT 1 OFFSET 100000000"},
	{cost.Text, "SELECT COUNT(*) FROM w WHERE s LIKE '%77%'"},
	{cost.GroupTextLarge, "SELECT COUNT(*), SUM(c) FROM (SELECT s, COUNT(*) AS c FROM w GROUP BY s) AS x"},
	{cost.ProbeText, "SELECT COUNT(*) FROM w AS a JOIN w AS b ON a.s = b.s WHERE b.n < 100000"},
	{cost.SortText, "SELECT s FROM w ORDER BY s LIMIT 1 OFFSET 100000000"},
}

func (c *calibration) measure(ctx context.Context, threads int) (costs cost.Table, err error) {
	costs = cost.Default()
	if err := c.tables(); err != nil {
		return costs, err
	}
	before := c.device.FirstRun().Compiled
	for _, device := range []physical.Device{physical.CPU, physical.GPU} {
		name := deviceCPU
		if device == physical.GPU {
			name = deviceGPU
		}
		if err := c.run(ctx, "SET radish_device = '"+string(name)+"'"); err != nil {
			return costs, err
		}
		if device == physical.GPU {
			if costs.Upload, err = c.upload(ctx); err != nil {
				return costs, err
			}
		}
		for _, q := range calibrationQueries {
			var plan *physical.Plan
			var took time.Duration
			err := c.undisturbed(ctx, func() (err error) {
				plan, took, err = c.shortest(ctx, q.sql)
				if err == nil && q.class == cost.Start {
					took, err = c.whole(ctx, q.sql)
				}
				return err
			})
			if err != nil {
				return costs, fmt.Errorf("%s: %w", q.sql, err)
			}
			kernels := device == physical.GPU && q.class != cost.Start
			placement.Fit(&costs, q.class, device, plan, func(rows float64) int { return schedule.Workers(rows, threads) }, kernels, took)
		}
	}
	if costs.GPUJoins, err = c.joins(ctx); err != nil {
		return costs, err
	}
	costs.FollowMeasured()
	// Kernels of an earlier calibration are still there: then what they took is, too.
	costs.Compile = c.device.Advisor().Costs().Compile
	if compiled := c.device.FirstRun().Compiled.Sub(before); compiled.Tasks > 0 {
		costs.Compile = compiled.Any.Seconds() / float64(compiled.Tasks)
	}
	return costs, nil
}

// calibrationJoins are joins whose sides are in partitions, or not, and the rows of their builds; 0: as many as t has.
var calibrationJoins = []struct {
	sql          string
	inPartitions bool
	build        int
}{
	{"SELECT COUNT(*), SUM(v), SUM(x) FROM t JOIN d ON t.f = d.f", false, calibrationKeys},
	{"SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM t AS a JOIN t AS b ON a.u = b.u", false, 0},
	{"SELECT COUNT(*), SUM(v), SUM(x) FROM t JOIN d ON t.f = d.f", true, calibrationKeys},
	{"SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM t AS a JOIN t AS b ON a.u = b.u", true, 0},
}

// joins compares what joins take on the GPU with what an H200 takes for them.
func (c *calibration) joins(ctx context.Context) (cost.GPUJoins, error) {
	var took, known cost.GPUJoins
	for _, x := range calibrationJoins {
		when := gpu.PartitionsNever
		if x.inPartitions {
			when = gpu.PartitionsAlways
		}
		if err := c.run(ctx, "SET radish_gpu_join_partitions = '"+string(when)+"'"); err != nil {
			return took, err
		}
		var kernels time.Duration
		err := c.undisturbed(ctx, func() (err error) {
			_, kernels, err = c.shortest(ctx, x.sql)
			return err
		})
		if err != nil {
			return took, fmt.Errorf("%s: %w", x.sql, err)
		}
		build := x.build
		if build == 0 {
			build = c.rows
		}
		partitions, table := gpu.JoinSeconds(build, c.rows)
		if x.inPartitions {
			took.Partitions += kernels.Seconds()
			known.Partitions += partitions
		} else {
			took.Tables += kernels.Seconds()
			known.Tables += table
		}
	}
	f := cost.GPUJoins{Partitions: took.Partitions / known.Partitions, Tables: took.Tables / known.Tables}
	return f.Bounded(), c.run(ctx, "SET radish_gpu_join_partitions = '"+string(gpu.PartitionsByCost)+"'")
}

// tables makes t with c.rows rows: g has a thousand values, k as many as d has rows, f the same spread over all integers, u a value of its own for nearly every row, v is
// any number; d; w with half as many rows, whose texts are too many for a dictionary; and tiny, with some of v.
func (c *calibration) tables() error {
	next := uint64(1)
	random := func(n int64) int64 { // xorshift64* (Vigna 2016)
		next ^= next >> 12
		next ^= next << 25
		next ^= next >> 27
		return int64(next * 0x2545f4914f6cdd1d >> 1 % uint64(n))
	}
	value := func(int64) int64 { return random(2e9) - 1e9 }
	spread := func(n int64) int64 { return int64(int32(uint32(n) * 2654435761)) }
	key := func(int64) int64 { return random(calibrationKeys) }
	for _, t := range []struct {
		name    string
		rows    int
		columns []string // s is a text
		values  []func(row int64) int64
		key     bool
	}{
		{"t", c.rows, []string{"g", "k", "f", "u", "v"}, []func(int64) int64{
			func(int64) int64 { return random(1000) }, key, func(row int64) int64 { return spread(key(row)) }, value, value,
		}, false},
		{"d", calibrationKeys, []string{"id", "f", "x"}, []func(int64) int64{func(row int64) int64 { return row }, spread, value}, true},
		{"w", c.rows / 2, []string{"n", "s"}, []func(int64) int64{func(row int64) int64 { return row }, func(int64) int64 { return random(int64(c.rows) / 8) }}, false},
		{"tiny", 1000, []string{"v"}, []func(int64) int64{value}, false},
	} {
		schema := &table.Schema{Database: DefaultDatabase, Name: t.name}
		for _, name := range t.columns {
			typ := types.Int32
			if name == "s" {
				typ = types.Text
			}
			schema.Columns = append(schema.Columns, table.ColumnDef{Name: name, Type: typ})
		}
		if t.key {
			schema.Keys = []table.Key{{Name: "PRIMARY", Primary: true, Unique: true, Columns: []int{0}}}
		}
		builder := table.NewBuilder(table.New(schema))
		builder.TrustKeys()
		for first := 0; first < t.rows; first += table.RowGroupSize {
			n := min(t.rows-first, table.RowGroupSize)
			data := make([]encoding.Data, len(t.columns))
			for i, name := range t.columns {
				if name == "s" {
					data[i].Strings = make([]string, n)
				} else {
					data[i].Ints = make([]int64, n)
				}
				for row := range n {
					x := t.values[i](int64(first + row))
					if name == "s" {
						data[i].Strings[row] = "key " + strconv.FormatInt(x, 10)
					} else {
						data[i].Ints[row] = x
					}
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

// undisturbed runs f in a pause between queries, and again if one has begun meanwhile.
func (c *calibration) undisturbed(ctx context.Context, f func() error) error {
	if c.quiet == nil {
		return f()
	}
	for try := 1; ; try++ {
		_, before := c.quiet.Activity()
		for {
			select {
			case <-time.After(quietTime):
			case <-ctx.Done():
				return ctx.Err()
			}
			running, begun := c.quiet.Activity()
			if running == 0 && begun == before {
				break
			}
			before = begun
		}
		err := f()
		if _, begun := c.quiet.Activity(); err != nil || begun == before || try == quietTries {
			return err
		}
	}
}

// run runs a statement to its end.
func (c *calibration) run(ctx context.Context, sql string) error {
	statements, err := c.session.Parse(sql)
	if err != nil {
		return err
	}
	res, err := c.session.Execute(ctx, statements[0], nil)
	if err != nil {
		return err
	}
	return drain(ctx, res)
}

// drain reads all rows.
func drain(ctx context.Context, res *Result) error {
	defer res.Close()
	for {
		if b, err := res.Next(ctx); err != nil || b == nil {
			return err
		}
	}
}

// profiled runs a query to its end and returns its plan and what that has cost.
func (c *calibration) profiled(ctx context.Context, sql string) (*physical.Plan, *profile.Plan, error) {
	statements, err := c.session.Parse(sql)
	if err != nil {
		return nil, nil, err
	}
	st := &statement{Statement: statements[0], session: c.session, ctx: ctx}
	defer st.end()
	q, err := st.binder().Query(st.Node)
	if err != nil {
		return nil, nil, err
	}
	p, err := c.session.plan(st, q, nil)
	if err != nil {
		return nil, nil, err
	}
	res, err := c.session.start(st, p, true)
	if err != nil {
		return nil, nil, err
	}
	return p.plan, res.Profile, drain(ctx, res)
}

// upload returns the seconds that a byte of t's columns took to get to the GPU. Those of w go before: buffers have to be made once.
func (c *calibration) upload(ctx context.Context) (float64, error) {
	if err := c.run(ctx, "SELECT SUM(n), MAX(s) FROM w"); err != nil {
		return 0, err
	}
	before := c.device.FirstRun()
	if err := c.run(ctx, "SELECT SUM(g), SUM(k), SUM(v) FROM t"); err != nil {
		return 0, err
	}
	paid := c.device.FirstRun().Sub(before)
	if paid.Uploaded == 0 {
		return 0, sqlerr.Bug("a new table was on the GPU")
	}
	return paid.Uploads.Any.Seconds() / float64(paid.Uploaded), nil
}

// whole returns what a statement takes, planning included: the shortest of some runs.
func (c *calibration) whole(ctx context.Context, sql string) (best time.Duration, err error) {
	for i := range 10 * calibrationRuns {
		begin := time.Now()
		if err := c.run(ctx, sql); err != nil {
			return 0, err
		}
		if took := time.Since(begin); i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// shortest returns a statement's plan and what its pipelines take, on the GPU their kernels: the least of some runs.
func (c *calibration) shortest(ctx context.Context, sql string) (plan *physical.Plan, best time.Duration, err error) {
	for i := range 1 + calibrationRuns {
		p, cost, err := c.profiled(ctx, sql)
		if err != nil {
			return nil, 0, err
		}
		took := time.Duration(0)
		for _, pl := range cost.Pipelines {
			if pl.GPU != nil {
				took += pl.GPU.Kernel + pl.GPU.Fill
			} else {
				took += pl.Wall
			}
		}
		if i == 1 || i > 1 && took < best { // the first run pays for statistics, columns and kernels
			plan, best = p, took
		}
	}
	return plan, best, nil
}

// calibrationResult lists the costs.
func calibrationResult(c *cost.Table, threads int) *Result {
	cols := []ResultColumn{
		{Name: "cost", Type: types.Text}, {Name: "cpu", Type: types.Double, Nullable: true}, {Name: "gpu", Type: types.Double}, {Name: "unit", Type: types.Text},
	}
	row := func(name string, cpu, gpu types.Value, unit string) []types.Value {
		return []types.Value{text(name), cpu, gpu, text(unit)}
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
	return rowsResult(cols, append(rows, row("upload", none, types.FloatValue(1/c.Upload/1e9), "GB/s"),
		row("compile", none, types.FloatValue(c.Compile*1e3), "ms a kernel"),
		row("joins in partitions", none, types.FloatValue(c.GPUJoins.Partitions), "times an H200's"),
		row("joins by tables", none, types.FloatValue(c.GPUJoins.Tables), "times an H200's")))
}
