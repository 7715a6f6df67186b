package infoschema

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// radishTables tell of Radish itself.
var radishTables = map[string]definition{
	"radish_variables": {
		[]table.ColumnDef{col("NAME", name64), col("VALUE", types.Text), col("READ_ONLY", types.Varchar(3)), col("DESCRIPTION", types.Text)},
		func(source Source, _ *catalog.Snapshot) (rows [][]types.Value) {
			for _, v := range source.Variables() {
				rows = append(rows, []types.Value{text(v.Name), text(v.Value), text(yesNo(v.IsReadOnly)), text(v.Doc)})
			}
			return rows
		},
	},
	"radish_memory": {
		[]table.ColumnDef{col("USED_FOR", name64), col("BYTES", types.Uint64), col("PEAK_BYTES", types.Uint64), col("LIMIT_BYTES", types.Uint64)},
		func(source Source, _ *catalog.Snapshot) (rows [][]types.Value) {
			for _, m := range source.Memory() {
				rows = append(rows, []types.Value{text(m.For), types.UintValue(uint64(m.Bytes)), bytesIf(m.Peak >= 0, m.Peak), bytesIf(m.Limit > 0, m.Limit)})
			}
			return rows
		},
	},
	"radish_devices": {
		deviceColumns,
		func(source Source, _ *catalog.Snapshot) (rows [][]types.Value) {
			for _, d := range source.Devices() {
				rows = append(rows, d.values())
			}
			return rows
		},
	},
	"radish_device_columns": {
		[]table.ColumnDef{
			col("DEVICE", name64), col("TABLE_SCHEMA", name64), col("TABLE_NAME", name64), col("COLUMN_NAME", name64), col("BYTES", types.Uint64),
			col("STATUS", types.Varchar(16)), col("USES", types.Uint64),
		},
		deviceColumnRows,
	},
	"radish_learned": {learnedColumns, learnedRows},
}

// deviceColumns are those of information_schema.radish_devices. USED_BYTES are what queries and tables have allocated, TABLE_BYTES the tables' part of them,
// LIMIT_BYTES how much that may be, FREE_BYTES what the driver has left for all processes; they are NULL for what nobody has opened. COMPILERS says how many processes compile kernels, and what last went
// wrong with one; BACKGROUND what is being done while nobody waits; PEERS which GPUs' memory it can reach, and how fast it copies from there where that was measured.
var deviceColumns = []table.ColumnDef{
	col("DEVICE", name64), col("NAME", types.Text), col("STATUS", types.Text), col("COMPUTE_CAPABILITY", name64),
	col("MEMORY_BYTES", types.Uint64), col("FREE_BYTES", types.Uint64), col("USED_BYTES", types.Uint64), col("TABLE_BYTES", types.Uint64),
	col("LIMIT_BYTES", types.Uint64),
	col("DRIVER", types.Text), col("LIBRARY", types.Text), col("ABI_VERSION", types.Int64),
	col("COMPILERS", types.Text), col("BACKGROUND", types.Text), col("PEERS", types.Text),
}

// Device is a row of radish_devices. What is left at zero shows as NULL.
type Device struct {
	Device, Name, Status, Capability string
	Memory, Free, Used, Resident     int64
	Limit                            int64 // 0: none
	IsOpened                         bool  // Free, Used and Resident are known
	Driver, Library                  string
	ABI                              int
	Compilers, Background, Peers     string
}

func (d *Device) values() []types.Value {
	abi := types.NullOf(types.Int64)
	if d.ABI > 0 {
		abi = types.IntValue(int64(d.ABI))
	}
	return []types.Value{text(d.Device), textOrNull(d.Name), text(d.Status), textOrNull(d.Capability), bytesIf(d.Memory > 0, d.Memory), bytesIf(d.IsOpened, d.Free),
		bytesIf(d.IsOpened, d.Used), bytesIf(d.IsOpened, d.Resident), bytesIf(d.Limit > 0, d.Limit), textOrNull(d.Driver), textOrNull(d.Library), abi, textOrNull(d.Compilers), textOrNull(d.Background), textOrNull(d.Peers)}
}

func textOrNull(s string) types.Value {
	if s == "" {
		return types.NullOf(types.Text)
	}
	return text(s)
}

// bytesIf returns a number of bytes, or NULL where it is unknown.
func bytesIf(isKnown bool, n int64) types.Value {
	if !isKnown {
		return types.NullOf(types.Uint64)
	}
	return types.UintValue(uint64(n))
}

// deviceColumnRows lists the table columns in the GPUs' memory.
func deviceColumnRows(source Source, _ *catalog.Snapshot) (rows [][]types.Value) {
	for _, d := range source.GPUs() {
		for _, c := range d.ResidentColumns() {
			status := "uploading"
			if c.Ready {
				status = "resident"
			}
			rows = append(rows, []types.Value{
				text(d.Name()), text(c.Database), text(c.Table), text(c.Column), types.UintValue(uint64(c.Bytes)), text(status), types.UintValue(c.Uses),
			})
		}
	}
	return rows
}

// learnedColumns are those of information_schema.radish_learned: what placement knows of statements. Times are milliseconds; CPU_AT_LEAST and GPU_AT_LEAST are when
// a run was given up, since the other device had won.
var learnedColumns = []table.ColumnDef{
	col("FINGERPRINT", types.Varchar(16)), col("STATEMENT", types.Text), col("CPU_MS", types.Double), col("GPU_MS", types.Double), col("CPU_RUNS", types.Int64),
	col("GPU_RUNS", types.Int64), col("CPU_AT_LEAST_MS", types.Double), col("GPU_AT_LEAST_MS", types.Double), col("REFUSED", types.Text), col("LAST_RUN", types.Datetime),
}

func learnedRows(source Source, _ *catalog.Snapshot) [][]types.Value {
	d, ok := source.GPU()
	if !ok {
		return nil
	}
	millis := func(t time.Duration) types.Value {
		if t == 0 {
			return types.NullOf(types.Double)
		}
		return types.FloatValue(float64(t.Nanoseconds()) / 1e6)
	}
	list := d.Advisor().List()
	slices.SortFunc(list, func(a, b placement.Learned) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	var rows [][]types.Value
	for _, l := range list {
		_, offset := l.Used.In(source.Location()).Zone()
		rows = append(rows, []types.Value{
			text(fmt.Sprintf("%016x", l.Fingerprint)), textOrNull(l.Text), millis(l.CPU), millis(l.GPU), types.IntValue(int64(l.CPURuns)), types.IntValue(int64(l.GPURuns)),
			millis(l.CPULeast), millis(l.GPULeast), textOrNull(l.Refused), {Type: types.Datetime, I: (l.Used.Unix() + int64(offset)) * types.MicrosPerSecond},
		})
	}
	return rows
}
