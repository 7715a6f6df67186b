// Package database opens an engine and takes the time of statements: on one GPU and on several, with the memory and the processor time that they cost. It fills the engine with TPC-H's tables.
package database

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
	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/types"
)

// Settings are the flags that every command with an engine has.
type Settings struct {
	threads     int
	Device      string
	MemoryLimit string
	devices     int
	Share       string
	timeline    string
}

func (s *Settings) Register(fs *flag.FlagSet) {
	fs.IntVar(&s.threads, "threads", 0, "workers of a query, and processors for the program; 0: all")
	fs.StringVar(&s.Device, "device", "auto",
		"where pipelines run: auto, cpu, gpu, gpu_strict, or emulated: on the processor, by the code for GPUs, to test that")
	fs.IntVar(&s.devices, "devices", 1,
		"GPUs; with more than one, what runs on the GPU is measured on the first one, and on so many together (join "+
			"--large, groupby, tpch, gpus; gpus takes all that there are unless told)")
	fs.StringVar(&s.Share, "share", "auto", "radish_gpu_share of runs on several GPUs: auto, or always")
	fs.StringVar(&s.timeline, "timeline", "",
		"run each statement on GPUs once more and write to this file what each GPU did when (join --large, groupby, "+
			"gpus, tpch --explain): text, or a Chrome trace if its name ends in .json")
	fs.StringVar(&s.MemoryLimit, "memory-limit", "", "what tables and queries may hold, e.g. 4GB; empty: no bound")
}

// DB is an engine with one session.
type DB struct {
	Engine  *engine.Engine
	Session *engine.Session
	Threads int
	Device  string // radish_device of the session
	Library string // of the GPU; empty: the one that is found
	GPUs    int    // GPUs that are measured beside one; 1: none are
	share   string // radish_gpu_share of runs on several

	Timelines timelines
}

func Open(s Settings) (*DB, error) {
	opts := database.Options{Threads: s.threads, Device: gpu.Setting(s.Device)}
	if s.Device == "emulated" {
		folder, err := os.UserCacheDir()
		if err != nil {
			folder = os.TempDir()
		}
		if opts.GPULibrary, err = gpukernels.BuildEmulated(context.Background(), filepath.Join(folder, "radish", "emulated")); err != nil {
			return nil, err
		}
		opts.Device = "gpu"
	}
	if s.MemoryLimit != "" {
		var err error
		if opts.MemoryLimit, err = variables.ParseBytes(s.MemoryLimit); err != nil {
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
	db := &DB{Engine: e, Session: e.NewSession(), Threads: runtime.GOMAXPROCS(0), Device: string(opts.Device), Library: opts.GPULibrary, GPUs: max(s.devices, 1), share: s.Share, Timelines: timelines{path: s.timeline}}
	if db.GPUs > 1 {
		if err := db.UseDevices(context.Background(), 1); err != nil {
			db.Close()
			return nil, err
		}
	}
	return db, nil
}

// UseDevices has queries run on so many GPUs. An emulated one stands for all that there are not.
func (d *DB) UseDevices(ctx context.Context, n int) error {
	first, err := gpu.Shared(d.Library)
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
	if err := d.Exec(ctx, "SET radish_gpu_share = "+Quote(share)); err != nil {
		return err
	}
	return d.Exec(ctx, "SET radish_gpu_devices = "+Quote(strings.Join(list, ",")))
}

// deviceCounts are the numbers of GPUs that are measured.
func (d *DB) deviceCounts() []int {
	if d.GPUs == 1 {
		return []int{1}
	}
	return []int{1, d.GPUs}
}

// OnDevices calls f for each number of GPUs, while queries run on so many.
func (d *DB) OnDevices(ctx context.Context, f func(devices int) error) error {
	for _, n := range d.deviceCounts() {
		if d.GPUs > 1 {
			if err := d.UseDevices(ctx, n); err != nil {
				return err
			}
		}
		if err := f(n); err != nil {
			return err
		}
	}
	if d.GPUs > 1 {
		return d.UseDevices(ctx, 1)
	}
	return nil
}

func (d *DB) Close() { _ = d.Engine.Close() }

// Measure runs one statement to its end and returns the time from its text to its last batch of rows. What each does
// with a batch is not counted; nil reads the batches only. Where the GPU is forced, nothing is being compiled when it begins.
func (d *DB) Measure(ctx context.Context, sql string, each func(*column.Batch)) (time.Duration, error) {
	d.AwaitKernels()
	start := time.Now()
	var outside time.Duration
	statements, err := d.Session.Parse(sql)
	if err != nil {
		return 0, err
	}
	for _, stmt := range statements {
		res, err := d.Session.Execute(ctx, stmt, nil)
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

// Exec runs a statement for its effect.
func (d *DB) Exec(ctx context.Context, sql string) error {
	_, err := d.Measure(ctx, sql, nil)
	return err
}

// Query runs a statement and returns its rows and its time.
func (d *DB) Query(ctx context.Context, sql string) ([][]types.Value, time.Duration, error) {
	var rows [][]types.Value
	took, err := d.Measure(ctx, sql, func(b *column.Batch) { rows = AppendRows(rows, b) })
	return rows, took, err
}

// AppendRows copies the selected rows of a batch, which lives only until the next.
func AppendRows(rows [][]types.Value, b *column.Batch) [][]types.Value {
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

// Devices returns where a query's pipelines run, e.g. "cpu" or "cpu+gpu".
func (d *DB) Devices(ctx context.Context, sql string) (string, error) {
	rows, _, err := d.Query(ctx, "EXPLAIN FORMAT = 'json' "+sql)
	if err != nil {
		return "", err
	}
	var plan struct {
		Pipelines []struct{ Device string }
	}
	if err := json.Unmarshal([]byte(JoinText(rows)), &plan); err != nil {
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

// SetDevice sets the session's radish_device.
func (d *DB) SetDevice(ctx context.Context, device string) error {
	return d.Exec(ctx, "SET radish_device = "+Quote(device))
}

// GPU is the device that pipelines run on; nil where that is not certain: asking would open one that may not be needed.
func (d *DB) GPU() *gpu.Device {
	if d.Device == "cpu" || d.Device == "auto" {
		return nil
	}
	device, err := gpu.Shared(d.Library)
	if err != nil {
		return nil // the queries' errors tell
	}
	return device
}

// AwaitKernels waits for the kernels that earlier statements have left to be compiled behind their own, so that they do not take part in what is measured.
func (d *DB) AwaitKernels() {
	if device := d.GPU(); device != nil {
		device.AwaitKernels()
	}
}

// FirstRuns is what compiling kernels and bringing columns to the GPU have taken so far.
func (d *DB) FirstRuns() gpu.FirstRun {
	if device := d.GPU(); device != nil {
		return device.FirstRun()
	}
	return gpu.FirstRun{}
}

// Cost is what EXPLAIN ANALYZE tells of a run.
type Cost struct {
	Bytes   int64   // encoded bytes of the table columns that were scanned
	Kernels float64 // milliseconds of kernels on the GPU, and of rows that move between several
}

func (d *DB) Cost(ctx context.Context, sql string) (Cost, error) {
	rows, _, err := d.Query(ctx, "EXPLAIN ANALYZE FORMAT = 'json' "+sql)
	if err != nil {
		return Cost{}, err
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
	if err := json.Unmarshal([]byte(JoinText(rows)), &plan); err != nil {
		return Cost{}, fmt.Errorf("EXPLAIN ANALYZE FORMAT = 'json': %w", err)
	}
	var c Cost
	for _, p := range plan.Pipelines {
		if p.Actual != nil {
			c.Kernels += p.Actual.Kernel + p.Actual.Exchange.Millis
			c.Bytes += p.Actual.Bytes
			continue
		}
		for _, o := range p.Operators {
			if o.Actual != nil {
				c.Bytes += o.Actual.Bytes
			}
		}
	}
	return c, nil
}

// ExplainAnalyze returns the plan of a query with what each operator cost.
func (d *DB) ExplainAnalyze(ctx context.Context, sql string) (string, error) {
	rows, _, err := d.Query(ctx, "EXPLAIN ANALYZE "+sql)
	return JoinText(rows), err
}

// JoinText joins the lines of a result of one column.
func JoinText(rows [][]types.Value) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(row[0].Text())
		b.WriteByte('\n')
	}
	return b.String()
}

// Size returns the rows of the database's tables and the bytes that they hold.
func (d *DB) Size(ctx context.Context) (rows, bytes int64, err error) {
	const sql = "SELECT table_rows, data_length FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
	list, _, err := d.Query(ctx, sql)
	if err != nil {
		return 0, 0, fmt.Errorf("the tables' sizes: %w", err)
	}
	for _, row := range list {
		rows += row[0].I
		bytes += row[1].I
	}
	return rows, bytes, nil
}

// EmptyKernelCache makes an empty folder the one of compiled kernels.
func EmptyKernelCache() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "radish-kernels-"); err == nil {
		err = os.Setenv(gpukernels.CacheVariable, folder)
	}
	return folder, err
}

// FirstPipeline returns the time of a query's first pipeline on the GPU, with that of giving its groups their first state, and the bytes of columns that it scans.
func (d *DB) FirstPipeline(ctx context.Context, sql string) (kernel time.Duration, bytes int64, err error) {
	rows, _, err := d.Query(ctx, "EXPLAIN ANALYZE FORMAT = 'json' "+sql)
	if err != nil {
		return 0, 0, err
	}
	var plan struct {
		Pipelines []struct {
			Actual *struct {
				Bytes  int64   `json:"bytes"`
				Kernel float64 `json:"kernel_ms"`
				Fill   float64 `json:"fill_ms"`
			}
		}
	}
	if err := json.Unmarshal([]byte(JoinText(rows)), &plan); err != nil {
		return 0, 0, fmt.Errorf("EXPLAIN ANALYZE FORMAT = 'json': %w", err)
	}
	if len(plan.Pipelines) == 0 || plan.Pipelines[0].Actual == nil {
		return 0, 0, nil // on the CPU
	}
	a := plan.Pipelines[0].Actual
	return time.Duration((a.Kernel + a.Fill) * float64(time.Millisecond)), a.Bytes, nil
}
