// Package cost prices the work of plans on each device. What compares plans or devices uses this one table: planner/joinorder compares the orders of
// joins, exec/gpu/placement the devices. It has defaults, or what a calibration has measured on this machine; orders on a GPU keep to the fitted prices (joins.go).
//
// How a GPU runs one join is decided elsewhere, by kernel.JoinCosts (exec/gpu/kernel/tuning.go): partitioned or not, by bytes that kernels move. They are a
// chip's, and depend on layouts that only the kernels' writer knows; a calibration scales them. They choose between kernels, so they are apart from the prices of rows here.
package cost

import (
	"encoding/json"
	"fmt"

	"github.com/radish-sql/radish/planner/physical"
)

// CachedRows is how many rows, or groups, a hash table has at most that is taken to fit the caches of one of the CPU's cores. Above it, a table is priced as large.
const CachedRows = 1 << 16

// Class is a kind of work that has a price of its own on each device.
type Class uint8

// The classes of work. Cached means that a hash table fits the CPU's caches, large that it does not.
const (
	Start            Class = iota // a pipeline, whatever its rows
	Scan                          // a value of a table column
	ReadString                    // a string without dictionary that an expression reads
	Compute                       // a row of an expression
	ProbeDense                    // a row that is looked up in an array or a bitmap
	ProbeCached                   // a row that is looked up in a hash table: cached,
	ProbeLarge                    // large,
	ProbeString                   // or with strings as keys
	BuildDense                    // a row that is stored to be looked up, likewise
	BuildCached                   //
	BuildLarge                    //
	BuildString                   //
	GroupScalar                   // a row of an aggregate without groups
	GroupDense                    // a row that is grouped in an array
	GroupCached                   // a row that is grouped in a hash table: cached,
	GroupLarge                    // large,
	GroupString                   // with strings as keys: cached,
	GroupStringLarge              // large
	Sort                          // a row that is sorted, times the logarithm of the rows
	SortString                    // the same by strings
	Window                        // a row of a window function, sorted before
	Loop                          // a pair of rows that a nested loop compares
	Store                         // a value that is stored between pipelines or given to the client
	Download                      // a value that comes from the GPU
	classes
)

var classNames = [classes]string{
	"start", "scan", "read string", "compute", "probe dense", "probe cached", "probe large", "probe string", "build dense", "build cached", "build large", "build string",
	"group scalar", "group dense", "group cached", "group large", "group string", "group string large", "sort", "sort string", "window", "loop", "store", "download",
}

func (c Class) String() string { return classNames[c] }

// Classes lists all classes.
func Classes() []Class {
	out := make([]Class, classes)
	for i := range out {
		out[i] = Class(i)
	}
	return out
}

// Rates are seconds for each unit of work: on the CPU of one core, on the GPU of the whole.
type Rates [classes]float64

// MarshalJSON writes the rates by name, so that a file stays readable, and is not misread once classes change.
func (r Rates) MarshalJSON() ([]byte, error) {
	byName := map[string]float64{}
	for c, rate := range r {
		byName[classNames[c]] = rate
	}
	return json.Marshal(byName)
}

// UnmarshalJSON reads what MarshalJSON wrote. A class that is missing, or one that is not known, is an error.
func (r *Rates) UnmarshalJSON(text []byte) error {
	byName := map[string]float64{}
	if err := json.Unmarshal(text, &byName); err != nil {
		return err
	}
	for c := range r {
		rate, ok := byName[classNames[c]]
		if !ok {
			return fmt.Errorf("no rate for %s", classNames[c])
		}
		r[c] = rate
	}
	if len(byName) != int(classes) {
		return fmt.Errorf("%d rates instead of %d", len(byName), classes)
	}
	return nil
}

// Table has the prices of work on each device, in seconds.
type Table struct {
	CPU     Rates   `json:"cpu"`
	GPU     Rates   `json:"gpu"`
	Upload  float64 `json:"upload"`  // a byte of a table column
	Compile float64 `json:"compile"` // a kernel

	GPUJoins GPUJoins `json:"gpu_joins"`
}

// GPUJoins are what joins take on a GPU, as multiples of what they take on an H200, by which exec/gpu chooses between both sides in partitions and a table of one side.
type GPUJoins struct {
	Partitions float64 `json:"partitions"`
	Tables     float64 `json:"tables"`
}

// Sharing is what it takes that several GPUs share a query, in seconds, beside the kernels that share its rows.
type Sharing struct {
	// Meet is an exchange, whatever its rows: the GPUs wait for each other and the host for the number of rows, and small pipelines before and behind it take as long as on one GPU.
	Meet float64
	Byte float64 // a byte that comes from another GPU
	// UnseenRows is how many rows a plan scans from which on GPUs may share it though nobody knows what it takes on one. Of smaller plans, what moves and waits may cost more than the other
	// GPUs gain, and prices of kernels are off by several times where nothing has run.
	UnseenRows int64
}

// DefaultSharing has the prices of two H200 of one host, fitted to the queries of TPC-H at scale factor 100 (docs/results/2026-11-28.md).
func DefaultSharing() Sharing { return Sharing{Meet: 400e-6, Byte: 1 / 400e9, UnseenRows: 1 << 30} }

// MovedRow is what a row takes a GPU that joins rows of several. The unit is receiving a row of 16 bytes.
type MovedRow struct {
	Receive, Store, Read float64 // of 16 bytes
	Insert, InsertDense  float64 // into a hash table, or into an array
}

// DefaultMovedRow has a GPU's prices of the default table, over a link of 390 GB/s.
func DefaultMovedRow() MovedRow {
	return MovedRow{Receive: 1, Store: 0.5, Read: 0.1, Insert: 3.5, InsertDense: 0.5}
}

// mostJoins bounds what is believed of a GPU's joins.
const mostJoins = 64

func (j *GPUJoins) isValid() bool {
	return j.Partitions >= 1.0/mostJoins && j.Partitions <= mostJoins && j.Tables >= 1.0/mostJoins && j.Tables <= mostJoins
}

// Bounded are the multiples that are nearest to what was measured, and can be believed.
func (j GPUJoins) Bounded() GPUJoins {
	bounded := func(x float64) float64 { return min(max(x, 1.0/mostJoins), mostJoins) }
	return GPUJoins{bounded(j.Partitions), bounded(j.Tables)}
}

// Default has the prices until something was measured: those of 16 cores of a server and of an H200 (docs/benchmarks.md). The GPU's start counts
// twice, so that a smaller one is not overestimated.
func Default() Table {
	const ns, ps = 1e-9, 1e-12
	return Table{
		CPU: Rates{
			Start: 30e-6, Scan: 0.7 * ns, ReadString: 15 * ns, Compute: 2.5 * ns,
			ProbeDense: 4 * ns, ProbeCached: 8 * ns, ProbeLarge: 40 * ns, ProbeString: 120 * ns,
			BuildDense: 5 * ns, BuildCached: 20 * ns, BuildLarge: 60 * ns, BuildString: 200 * ns,
			GroupScalar: 1 * ns, GroupDense: 5 * ns, GroupCached: 12 * ns, GroupLarge: 120 * ns, GroupString: 60 * ns, GroupStringLarge: 400 * ns,
			Sort: 6 * ns, SortString: 20 * ns, Window: 200 * ns, Loop: 1 * ns, Store: 3 * ns, Download: 0,
		},
		GPU: Rates{
			Start: 100e-6, Scan: 1.5 * ps, ReadString: 50 * ps, Compute: 1 * ps,
			ProbeDense: 10 * ps, ProbeCached: 20 * ps, ProbeLarge: 100 * ps, ProbeString: 200 * ps,
			BuildDense: 20 * ps, BuildCached: 50 * ps, BuildLarge: 150 * ps, BuildString: 300 * ps,
			GroupScalar: 1 * ps, GroupDense: 4 * ps, GroupCached: 6 * ps, GroupLarge: 20 * ps, GroupString: 100 * ps, GroupStringLarge: 200 * ps,
			Sort: 12 * ps, SortString: 50 * ps, Window: 0, Loop: 1 * ps, Store: 5 * ps, Download: 200 * ps,
		},
		Upload:   1 / 40e9,
		Compile:  50e-3,
		GPUJoins: GPUJoins{1, 1},
	}
}

// IsValid says whether all figures can be prices.
func (t *Table) IsValid() bool {
	for _, rates := range []Rates{t.CPU, t.GPU} {
		for _, rate := range rates {
			if !(rate >= 0 && rate < 100) {
				return false
			}
		}
		if rates[Start] == 0 || rates[Scan] == 0 {
			return false
		}
	}
	return t.GPUJoins.isValid() && t.Upload >= 0 && t.Upload < 100 && t.Compile > 0 && t.Compile < 1000
}

// On returns the rates of a device.
func (t *Table) On(d physical.Device) *Rates {
	if d == physical.GPU {
		return &t.GPU
	}
	return &t.CPU
}

// nearest has the classes that a calibration does not measure and joins are ordered by, each with one that it measures: if that is found to cost twice as much as
// was taken for granted, so does the other.
var nearest = map[Class]Class{BuildDense: BuildLarge, BuildCached: BuildLarge, Store: BuildLarge, Loop: Compute}

// FollowMeasured sets the rates of classes that a calibration does not measure by those that it has measured.
func (t *Table) FollowMeasured() {
	for _, d := range []physical.Device{physical.CPU, physical.GPU} {
		for class, measured := range nearest {
			t.On(d)[class] = defaults.On(d)[class] * t.On(d)[measured] / defaults.On(d)[measured]
		}
	}
}
