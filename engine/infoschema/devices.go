package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// deviceColumns are those of information_schema.radish_devices. USED_BYTES are what queries and tables have allocated, TABLE_BYTES the tables' part of them,
// LIMIT_BYTES how much that may be, FREE_BYTES what the driver has left for all processes; they are NULL for what nobody has opened. COMPILERS says how many processes compile kernels, and what last went
// wrong with one; BACKGROUND what is being done while nobody waits.
var deviceColumns = []table.ColumnDef{
	col("DEVICE", name64), col("NAME", types.Text), col("STATUS", types.Text), col("COMPUTE_CAPABILITY", name64),
	col("MEMORY_BYTES", types.Uint64), col("FREE_BYTES", types.Uint64), col("USED_BYTES", types.Uint64), col("TABLE_BYTES", types.Uint64),
	col("LIMIT_BYTES", types.Uint64),
	col("DRIVER", types.Text), col("LIBRARY", types.Text), col("ABI_VERSION", types.Int64),
	col("COMPILERS", types.Text), col("BACKGROUND", types.Text),
}

// deviceRow is a row of radish_devices; what is left at zero shows as NULL.
type deviceRow struct {
	device, name, status, capability string
	memory, free, used, resident     int64
	limit                            int64 // 0: none
	opened                           bool  // free, used and resident are known
	driver, library                  string
	abi                              int
	compilers, background            string
}

func (r *deviceRow) values() []types.Value {
	words := func(s string) types.Value {
		if s == "" {
			return types.NullOf(types.Text)
		}
		return text(s)
	}
	bytes := func(n int64, known bool) types.Value {
		if !known {
			return types.NullOf(types.Uint64)
		}
		return types.UintValue(uint64(n))
	}
	abi := types.NullOf(types.Int64)
	if r.abi > 0 {
		abi = types.IntValue(int64(r.abi))
	}
	return []types.Value{text(r.device), words(r.name), text(r.status), words(r.capability), bytes(r.memory, r.memory > 0), bytes(r.free, r.opened),
		bytes(r.used, r.opened), bytes(r.resident, r.opened), bytes(r.limit, r.limit > 0), words(r.driver), words(r.library), abi, words(r.compilers), words(r.background)}
}

// devicesRows lists what pipelines can run on: the processor, and every GPU. Where none can be used, a row says why.
func devicesRows(s *Session, _ *catalog.Snapshot) [][]types.Value {
	cpu := deviceRow{device: "cpu", name: types.IntValue(s.vars.integer("radish_threads")).Text() + " threads", status: "in use"}
	rows := [][]types.Value{cpu.values()}
	for _, r := range s.vars.gpuRows() {
		rows = append(rows, r.values())
	}
	return rows
}

func (v *variables) gpuRows() []deviceRow {
	e := v.engine
	lib, err := gpukernels.Default()
	if e.opts.GPULibrary != "" {
		lib, err = gpukernels.Open(gpukernels.Options{Path: e.opts.GPULibrary})
	}
	if err != nil {
		return []deviceRow{{device: "gpu", status: "not usable: " + v.withoutPaths(err)}}
	}
	none := deviceRow{device: "gpu", abi: lib.ABIVersion()}
	if v.access.ReadsAll() {
		none.library = lib.Path()
	}
	devices, err := lib.Devices()
	if err != nil {
		none.status = "not usable: " + v.withoutPaths(err)
		return []deviceRow{none}
	}
	var rows []deviceRow
	for _, info := range devices {
		r := none
		r.device = fmt.Sprint("gpu", info.Ordinal)
		r.name = info.Name
		r.memory = info.MemoryBytes
		if c := info.ComputeCapability; c > 0 {
			r.capability = fmt.Sprintf("%d.%d", c/10, c%10)
		}
		if v := info.DriverVersion; v > 0 {
			r.driver = fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
		}
		r.status = "present, not used: Radish runs on the first GPU"
		if info.Ordinal == 0 {
			v.fillOpened(&r)
		}
		rows = append(rows, r)
	}
	return rows
}

// fillOpened adds what is known of the GPU that pipelines run on.
func (v *variables) fillOpened(r *deviceRow) {
	d, err := v.engine.gpu()
	if err != nil {
		r.status = "not usable: " + v.withoutPaths(err)
		return
	}
	r.status = "usable"
	if err := d.Lost(); err != nil {
		r.status = "lost: " + v.withoutPaths(err)
		return
	}
	if m, err := d.Memory(); err == nil {
		r.opened, r.free, r.used, r.resident, r.limit = true, m.Free, m.Used, m.Resident, m.Limit
	}
	if reason, left := d.Short(); reason != "" {
		r.status = fmt.Sprintf("usable, but its memory is full: 'auto' brings no further columns there for %.1f s; %s", left.Seconds(), reason)
	}
	c := d.Compilers()
	r.compilers = "this process"
	if c.Most > 0 {
		r.compilers = fmt.Sprintf("%d of at most %d processes, and this one", c.Processes, c.Most)
	}
	if c.Problem != "" {
		r.compilers += "; " + c.Problem
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
	r.background = strings.Join(work, ", ")
}

// deviceColumnRows lists the table columns in the GPU's memory.
func deviceColumnRows(s *Session, _ *catalog.Snapshot) [][]types.Value {
	d, ok := gpu.SharedIfOpen(s.engine.opts.GPULibrary)
	if !ok {
		return nil
	}
	var rows [][]types.Value
	for _, c := range d.ResidentColumns() {
		status := "uploading"
		if c.Ready {
			status = "resident"
		}
		rows = append(rows, []types.Value{
			text("gpu0"), text(c.Database), text(c.Table), text(c.Column), types.UintValue(uint64(c.Bytes)), text(status), types.UintValue(c.Uses),
		})
	}
	return rows
}

// learnedColumns are those of information_schema.radish_learned: what placement knows of statements. Times are milliseconds; CPU_AT_LEAST and GPU_AT_LEAST are when
// a run was given up, since the other device had won.
var learnedColumns = []table.ColumnDef{
	col("FINGERPRINT", types.Varchar(16)), col("STATEMENT", types.Text), col("CPU_MS", types.Double), col("GPU_MS", types.Double), col("CPU_RUNS", types.Int64),
	col("GPU_RUNS", types.Int64), col("CPU_AT_LEAST_MS", types.Double), col("GPU_AT_LEAST_MS", types.Double), col("REFUSED", types.Text), col("LAST_RUN", types.Datetime),
}

func learnedRows(s *Session, _ *catalog.Snapshot) [][]types.Value {
	d, ok := gpu.SharedIfOpen(s.engine.opts.GPULibrary)
	if !ok {
		return nil
	}
	words := func(s string) types.Value {
		if s == "" {
			return types.NullOf(types.Text)
		}
		return text(s)
	}
	millis := func(t time.Duration) types.Value {
		if t == 0 {
			return types.NullOf(types.Double)
		}
		return types.FloatValue(inMillis(t))
	}
	list := d.Advisor().List()
	slices.SortFunc(list, func(a, b placement.Learned) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	var rows [][]types.Value
	for _, l := range list {
		_, offset := l.Used.In(s.vars.location).Zone()
		rows = append(rows, []types.Value{
			text(fmt.Sprintf("%016x", l.Fingerprint)), words(l.Text), millis(l.CPU), millis(l.GPU), types.IntValue(int64(l.CPURuns)), types.IntValue(int64(l.GPURuns)),
			millis(l.CPULeast), millis(l.GPULeast), words(l.Refused), {Type: types.Datetime, I: (l.Used.Unix() + int64(offset)) * types.MicrosPerSecond},
		})
	}
	return rows
}
