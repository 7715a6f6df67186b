package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/types"
)

// settings are the flags that every command with an engine has.
type settings struct {
	threads     int
	device      string
	memoryLimit string
	devices     int
	share       string
	timeline    string
}

func (s *settings) register(fs *flag.FlagSet) {
	fs.IntVar(&s.threads, "threads", 0, "workers of a query, and processors for the program; 0: all")
	fs.StringVar(&s.device, "device", "auto",
		"where pipelines run: auto, cpu, gpu, gpu_strict, or emulated: on the processor, by the code for GPUs, to test that")
	fs.IntVar(&s.devices, "devices", 1, "GPUs; with more than one, what runs on the GPU is measured on the first one, and on so many together (join --large, groupby, tpch)")
	fs.StringVar(&s.share, "share", "auto", "radish_gpu_share of runs on several GPUs: auto, or always")
	fs.StringVar(&s.timeline, "timeline", "", "run each statement on GPUs once more and write to this file what each GPU did when (join --large, groupby, gpus, tpch --explain): text, or a Chrome trace if its name ends in .json")
	fs.StringVar(&s.memoryLimit, "memory-limit", "", "what tables and queries may hold, e.g. 4GB; empty: no bound")
}

// database is an engine with one session.
type database struct {
	engine  *engine.Engine
	session *engine.Session
	threads int
	device  string // radish_device of the session
	library string // of the GPU; empty: the one that is found
	gpus    int    // GPUs that are measured beside one; 1: none are
	share   string // radish_gpu_share of runs on several

	timelines timelines
}

func openDatabase(s settings) (*database, error) {
	opts := engine.Options{Threads: s.threads, Device: engine.Device(s.device)}
	if s.device == "emulated" {
		folder, err := os.UserCacheDir()
		if err != nil {
			folder = os.TempDir()
		}
		if opts.GPULibrary, err = gpukernels.BuildEmulated(context.Background(), filepath.Join(folder, "radish", "emulated")); err != nil {
			return nil, err
		}
		opts.Device = "gpu"
	}
	if s.memoryLimit != "" {
		var err error
		if opts.MemoryLimit, err = engine.ParseBytes(s.memoryLimit); err != nil {
			return nil, fmt.Errorf("--memory-limit: %w", err)
		}
	}
	if s.threads > 0 {
		runtime.GOMAXPROCS(s.threads) // the garbage collector, too, gets no more
	}
	e, err := engine.New(opts)
	if err != nil {
		return nil, err
	}
	db := &database{engine: e, session: e.NewSession(), threads: runtime.GOMAXPROCS(0), device: string(opts.Device), library: opts.GPULibrary, gpus: max(s.devices, 1), share: s.share, timelines: timelines{path: s.timeline}}
	if db.gpus > 1 {
		if err := db.useDevices(context.Background(), 1); err != nil {
			db.close()
			return nil, err
		}
	}
	return db, nil
}

// useDevices has queries run on so many GPUs. An emulated one stands for all that there are not.
func (d *database) useDevices(ctx context.Context, n int) error {
	first, err := gpu.Shared(d.library)
	if err != nil {
		return err
	}
	list := make([]string, n)
	for i := range list {
		if list[i] = strconv.Itoa(i); first.Emulated() {
			list[i] = "0"
		}
	}
	share := d.share
	if first.Emulated() { // whose tables are too small for several
		share = "always"
	}
	if err := d.exec(ctx, "SET radish_gpu_share = "+sqlString(share)); err != nil {
		return err
	}
	return d.exec(ctx, "SET radish_gpu_devices = "+sqlString(strings.Join(list, ",")))
}

// deviceCounts are the numbers of GPUs that are measured.
func (d *database) deviceCounts() []int {
	if d.gpus == 1 {
		return []int{1}
	}
	return []int{1, d.gpus}
}

// onDevices calls f for each number of GPUs, while queries run on so many.
func (d *database) onDevices(ctx context.Context, f func(devices int) error) error {
	for _, n := range d.deviceCounts() {
		if d.gpus > 1 {
			if err := d.useDevices(ctx, n); err != nil {
				return err
			}
		}
		if err := f(n); err != nil {
			return err
		}
	}
	if d.gpus > 1 {
		return d.useDevices(ctx, 1)
	}
	return nil
}

func (d *database) close() { _ = d.engine.Close() }

// measure runs one statement to its end and returns the time from its text to its last batch of rows. What each does
// with a batch is not counted; nil reads the batches only.
func (d *database) measure(ctx context.Context, sql string, each func(*column.Batch)) (time.Duration, error) {
	start := time.Now()
	var outside time.Duration
	statements, err := d.session.Parse(sql)
	if err != nil {
		return 0, err
	}
	for _, stmt := range statements {
		res, err := d.session.Execute(ctx, stmt, nil)
		if err != nil {
			return 0, err
		}
		for {
			b, err := res.Next(ctx)
			if err != nil {
				return 0, err
			}
			if b == nil {
				break
			}
			if each != nil {
				t := time.Now()
				each(b)
				outside += time.Since(t)
			}
		}
	}
	return time.Since(start) - outside, nil
}

// exec runs a statement for its effect.
func (d *database) exec(ctx context.Context, sql string) error {
	_, err := d.measure(ctx, sql, nil)
	return err
}

// query runs a statement and returns its rows and its time.
func (d *database) query(ctx context.Context, sql string) ([][]types.Value, time.Duration, error) {
	var rows [][]types.Value
	took, err := d.measure(ctx, sql, func(b *column.Batch) { rows = appendRows(rows, b) })
	return rows, took, err
}

// appendRows copies the selected rows of a batch, which lives only until the next.
func appendRows(rows [][]types.Value, b *column.Batch) [][]types.Value {
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		row := make([]types.Value, len(b.Cols))
		for c, v := range b.Cols {
			row[c] = v.Value(at)
			row[c].S = strings.Clone(row[c].S)
		}
		rows = append(rows, row)
	}
	return rows
}

// devices returns where a query's pipelines run, e.g. "cpu" or "cpu+gpu".
func (d *database) devices(ctx context.Context, sql string) (string, error) {
	rows, _, err := d.query(ctx, "EXPLAIN FORMAT = 'json' "+sql)
	if err != nil {
		return "", err
	}
	var plan struct {
		Pipelines []struct{ Device string }
	}
	if err := json.Unmarshal([]byte(joinText(rows)), &plan); err != nil {
		return "", fmt.Errorf("EXPLAIN FORMAT = 'json': %w", err)
	}
	seen := map[string]bool{}
	var names []string
	for _, p := range plan.Pipelines {
		if !seen[p.Device] {
			seen[p.Device] = true
			names = append(names, p.Device)
		}
	}
	return strings.Join(names, "+"), nil
}

// setDevice sets the session's radish_device.
func (d *database) setDevice(ctx context.Context, device string) error {
	return d.exec(ctx, "SET radish_device = "+sqlString(device))
}

// gpu is the device that pipelines run on; nil where that is not certain: asking would open one that may not be needed.
func (d *database) gpu() *gpu.Device {
	if d.device == "cpu" || d.device == "auto" {
		return nil
	}
	device, err := gpu.Shared(d.library)
	if err != nil {
		return nil // the queries' errors tell
	}
	return device
}

// firstRuns is what compiling kernels and bringing columns to the GPU have taken so far.
func (d *database) firstRuns() gpu.FirstRun {
	if device := d.gpu(); device != nil {
		return device.FirstRun()
	}
	return gpu.FirstRun{}
}

// planCost is what EXPLAIN ANALYZE tells of a run.
type planCost struct {
	bytes   int64   // encoded bytes of the table columns that were scanned
	kernels float64 // milliseconds of kernels on the GPU, and of rows that move between several
}

func (d *database) cost(ctx context.Context, sql string) (planCost, error) {
	rows, _, err := d.query(ctx, "EXPLAIN ANALYZE FORMAT = 'json' "+sql)
	if err != nil {
		return planCost{}, err
	}
	type note struct {
		Bytes  int64   `json:"bytes"`
		Kernel float64 `json:"kernel_ms"`

		Exchange struct {
			Millis float64 `json:"ms"`
		} `json:"exchange"`
	}
	var plan struct {
		Pipelines []struct {
			Actual    *note
			Operators []struct{ Actual *note }
		}
	}
	if err := json.Unmarshal([]byte(joinText(rows)), &plan); err != nil {
		return planCost{}, fmt.Errorf("EXPLAIN ANALYZE FORMAT = 'json': %w", err)
	}
	var c planCost
	for _, p := range plan.Pipelines {
		if p.Actual != nil {
			c.kernels += p.Actual.Kernel + p.Actual.Exchange.Millis
			c.bytes += p.Actual.Bytes
			continue
		}
		for _, o := range p.Operators {
			if o.Actual != nil {
				c.bytes += o.Actual.Bytes
			}
		}
	}
	return c, nil
}

// explainAnalyze returns the plan of a query with what each operator cost.
func (d *database) explainAnalyze(ctx context.Context, sql string) (string, error) {
	rows, _, err := d.query(ctx, "EXPLAIN ANALYZE "+sql)
	return joinText(rows), err
}

// joinText joins the lines of a result of one column.
func joinText(rows [][]types.Value) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(row[0].Text())
		b.WriteByte('\n')
	}
	return b.String()
}

// size returns the rows of the database's tables and the bytes that they hold.
func (d *database) size(ctx context.Context) (rows, bytes int64, err error) {
	const sql = "SELECT table_rows, data_length FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
	list, _, err := d.query(ctx, sql)
	if err != nil {
		return 0, 0, fmt.Errorf("the tables' sizes: %w", err)
	}
	for _, row := range list {
		rows += row[0].I
		bytes += row[1].I
	}
	return rows, bytes, nil
}
