// Package calibrate measures what work costs on this machine's CPU and GPU, with tables and queries of its own.
package calibrate

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
	Rows         = 1 << 22
	EmulatedRows = 1 << 17 // an emulated device is slow; what is measured with it tests the measuring
	keys         = 1 << 16
	runs         = 3
)

const (
	// quietTime is how long no query may have run before something is measured, and quietTries how often that is tried again when one came in between.
	quietTime  = 100 * time.Millisecond
	quietTries = 3
)

// Runner runs what is measured, in a database without tables.
type Runner interface {
	// Register adds a table to the session's database, which Database names.
	Register(*table.Version) error
	Database() string
	// Run runs a statement to its end.
	Run(ctx context.Context, sql string) error
	// Profiled runs a query to its end, and returns its plan and what that has cost.
	Profiled(ctx context.Context, sql string) (*physical.Plan, *profile.Plan, error)
}

// Calibration measures the costs of work.
type Calibration struct {
	Quiet  *placement.Advisor // knows of the queries between which is measured; nil: nobody waits
	Runner Runner
	Device *gpu.Device
	Rows   int // of the largest table
}

// Queries are what is measured. Each prices one class of work: what the statement takes beyond the classes above it.
var Queries = []struct {
	Class cost.Class
	SQL   string
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
	{cost.ReadString, "SELECT COUNT(*) FROM w WHERE s LIKE '%77%'"},
	{cost.GroupStringLarge, "SELECT COUNT(*), SUM(c) FROM (SELECT s, COUNT(*) AS c FROM w GROUP BY s) AS x"},
	{cost.ProbeString, "SELECT COUNT(*) FROM w AS a JOIN w AS b ON a.s = b.s WHERE b.n < 100000"},
	{cost.SortString, "SELECT s FROM w ORDER BY s LIMIT 1 OFFSET 100000000"},
}

// Measure returns the costs, with so many threads on the CPU.
func (c *Calibration) Measure(ctx context.Context, threads int) (costs cost.Table, err error) {
	costs = cost.Default()
	if err := c.tables(); err != nil {
		return costs, err
	}
	before := c.Device.FirstRun().Compiled
	for _, device := range []physical.Device{physical.CPU, physical.GPU} {
		if err := c.Runner.Run(ctx, "SET radish_device = '"+device.String()+"'"); err != nil {
			return costs, err
		}
		if device == physical.GPU {
			if costs.Upload, err = c.upload(ctx); err != nil {
				return costs, err
			}
			// The classes are about tables. By what a join in partitions takes, a row of a build would cost nothing.
			if err := c.partition(ctx, gpu.PartitionsNever); err != nil {
				return costs, err
			}
		}
		for _, q := range Queries {
			var plan *physical.Plan
			var took time.Duration
			err := c.undisturbed(ctx, func() (err error) {
				plan, took, err = c.shortest(ctx, q.SQL)
				if err == nil && q.Class == cost.Start {
					took, err = c.whole(ctx, q.SQL)
				}
				return err
			})
			if err != nil {
				return costs, fmt.Errorf("%s: %w", q.SQL, err)
			}
			hasKernels := device == physical.GPU && q.Class != cost.Start
			placement.Fit(&costs, q.Class, device, plan, func(rows float64) int { return schedule.Workers(rows, threads) }, hasKernels, took)
		}
	}
	if costs.GPUJoins, err = c.joins(ctx); err != nil {
		return costs, err
	}
	costs.Settle()
	// Kernels of an earlier calibration are still there: then what they took is, too.
	costs.Compile = c.Device.Advisor().Costs().Compile
	if compiled := c.Device.FirstRun().Compiled.Sub(before); compiled.Tasks > 0 {
		costs.Compile = compiled.Any.Seconds() / float64(compiled.Tasks)
	}
	return costs, nil
}

// joins are joins whose sides are in partitions, or not, and the rows of their builds; 0: as many as t has.
var joins = []struct {
	sql          string
	inPartitions bool
	build        int
}{
	{"SELECT COUNT(*), SUM(v), SUM(x) FROM t JOIN d ON t.f = d.f", false, keys},
	{"SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM t AS a JOIN t AS b ON a.u = b.u", false, 0},
	{"SELECT COUNT(*), SUM(v), SUM(x) FROM t JOIN d ON t.f = d.f", true, keys},
	{"SELECT COUNT(*), SUM(a.v), SUM(b.v) FROM t AS a JOIN t AS b ON a.u = b.u", true, 0},
}

// joins compares what joins take on the GPU with what an H200 takes for them.
func (c *Calibration) joins(ctx context.Context) (cost.GPUJoins, error) {
	var took, known cost.GPUJoins
	for _, x := range joins {
		when := gpu.PartitionsNever
		if x.inPartitions {
			when = gpu.PartitionsAlways
		}
		if err := c.partition(ctx, when); err != nil {
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
			build = c.Rows
		}
		partitions, table := gpu.JoinSeconds(build, c.Rows)
		if x.inPartitions {
			took.Partitions += kernels.Seconds()
			known.Partitions += partitions
		} else {
			took.Tables += kernels.Seconds()
			known.Tables += table
		}
	}
	f := cost.GPUJoins{Partitions: took.Partitions / known.Partitions, Tables: took.Tables / known.Tables}
	return f.Bounded(), c.partition(ctx, gpu.PartitionsByCost)
}

// partition says which joins have both sides in partitions.
func (c *Calibration) partition(ctx context.Context, which gpu.Partitioning) error {
	return c.Runner.Run(ctx, "SET radish_gpu_join_partitions = '"+string(which)+"'")
}

// tables makes t with c.Rows rows, d, w with half as many rows, and tiny with some values of v. In t, g has a thousand values, k as many as d has rows, f the same
// spread over all integers, u a value of its own for nearly every row, and v is any number. The strings of w are too many for a dictionary.
func (c *Calibration) tables() error {
	next := uint64(1)
	random := func(n int64) int64 { // xorshift64* (Vigna 2016)
		next ^= next >> 12
		next ^= next << 25
		next ^= next >> 27
		return int64(next * 0x2545f4914f6cdd1d >> 1 % uint64(n))
	}
	value := func(int64) int64 { return random(2e9) - 1e9 }
	spread := func(n int64) int64 { return int64(int32(uint32(n) * 2654435761)) }
	key := func(int64) int64 { return random(keys) }
	for _, t := range []struct {
		name    string
		rows    int
		columns []string // s is a text
		values  []func(row int64) int64
		hasKey  bool
	}{
		{"t", c.Rows, []string{"g", "k", "f", "u", "v"}, []func(int64) int64{
			func(int64) int64 { return random(1000) }, key, func(row int64) int64 { return spread(key(row)) }, value, value,
		}, false},
		{"d", keys, []string{"id", "f", "x"}, []func(int64) int64{func(row int64) int64 { return row }, spread, value}, true},
		{"w", c.Rows / 2, []string{"n", "s"}, []func(int64) int64{func(row int64) int64 { return row }, func(int64) int64 { return random(int64(c.Rows) / 8) }}, false},
		{"tiny", 1000, []string{"v"}, []func(int64) int64{value}, false},
	} {
		schema := &table.Schema{Database: c.Runner.Database(), Name: t.name}
		for _, name := range t.columns {
			typ := types.Int32
			if name == "s" {
				typ = types.Text
			}
			schema.Columns = append(schema.Columns, table.ColumnDef{Name: name, Type: typ})
		}
		if t.hasKey {
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
		if err := c.Runner.Register(v); err != nil {
			return err
		}
	}
	return nil
}

// undisturbed runs f in a pause between queries, and again if one has begun meanwhile.
func (c *Calibration) undisturbed(ctx context.Context, f func() error) error {
	if c.Quiet == nil {
		return f()
	}
	for try := 1; ; try++ {
		_, before := c.Quiet.Activity()
		for {
			select {
			case <-time.After(quietTime):
			case <-ctx.Done():
				return ctx.Err()
			}
			running, begun := c.Quiet.Activity()
			if running == 0 && begun == before {
				break
			}
			before = begun
		}
		err := f()
		if _, begun := c.Quiet.Activity(); err != nil || begun == before || try == quietTries {
			return err
		}
	}
}

// upload returns the seconds that a byte of t's columns took to get to the GPU. Those of w go before: buffers have to be made once.
func (c *Calibration) upload(ctx context.Context) (float64, error) {
	if err := c.Runner.Run(ctx, "SELECT SUM(n), MAX(s) FROM w"); err != nil {
		return 0, err
	}
	before := c.Device.FirstRun()
	if err := c.Runner.Run(ctx, "SELECT SUM(g), SUM(k), SUM(v) FROM t"); err != nil {
		return 0, err
	}
	paid := c.Device.FirstRun().Sub(before)
	if paid.Uploaded == 0 {
		return 0, sqlerr.Bug("a new table was on the GPU")
	}
	return paid.Uploads.Any.Seconds() / float64(paid.Uploaded), nil
}

// whole returns what a statement takes, planning included: the shortest of some runs.
func (c *Calibration) whole(ctx context.Context, sql string) (best time.Duration, err error) {
	for i := range 10 * runs {
		begin := time.Now()
		if err := c.Runner.Run(ctx, sql); err != nil {
			return 0, err
		}
		if took := time.Since(begin); i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// shortest returns a statement's plan and what its pipelines take, on the GPU their kernels: the least of some runs.
func (c *Calibration) shortest(ctx context.Context, sql string) (plan *physical.Plan, best time.Duration, err error) {
	for i := range 1 + runs {
		p, cost, err := c.Runner.Profiled(ctx, sql)
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
