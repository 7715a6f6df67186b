package cost

import "github.com/radish-sql/radish/planner/physical"

const (
	us = 1e-6
	ns = 1e-9
	ps = 1e-12
)

// calibration is what a calibration does with the price of a class on both devices.
type calibration uint8

const (
	measures calibration = iota // a query of engine/calibrate measures it
	follows                     // nothing measures it: if its leader is found to cost twice as much as by default, so does it
	keeps                       // nothing measures it: it keeps its default
)

// classDefaults are a class's name and prices.
type classDefaults struct {
	name     string
	cpu, gpu float64 // seconds
	calibration
	leader Class // of a class that follows
}

// defaults are what the classes of work take until something was measured: on a core of a server with 16 of them, and on an H200 (docs/benchmarks.md). The
// GPU's start counts twice, so that a smaller one is not overestimated.
var defaults = [classes]classDefaults{
	Start:            {"start", 30 * us, 100 * us, measures, 0},
	Scan:             {"scan", 0.7 * ns, 1.5 * ps, measures, 0},
	ReadString:       {"read string", 15 * ns, 50 * ps, measures, 0},
	Compute:          {"compute", 2.5 * ns, 1 * ps, measures, 0},
	ProbeDense:       {"probe dense", 4 * ns, 10 * ps, measures, 0},
	ProbeCached:      {"probe cached", 8 * ns, 20 * ps, measures, 0},
	ProbeLarge:       {"probe large", 40 * ns, 100 * ps, measures, 0},
	ProbeString:      {"probe string", 120 * ns, 200 * ps, measures, 0},
	BuildDense:       {"build dense", 5 * ns, 20 * ps, follows, BuildLarge},
	BuildCached:      {"build cached", 20 * ns, 50 * ps, follows, BuildLarge},
	BuildLarge:       {"build large", 60 * ns, 150 * ps, measures, 0},
	BuildString:      {"build string", 200 * ns, 300 * ps, keeps, 0},
	GroupScalar:      {"group scalar", 1 * ns, 1 * ps, keeps, 0},
	GroupDense:       {"group dense", 5 * ns, 4 * ps, measures, 0},
	GroupCached:      {"group cached", 12 * ns, 6 * ps, measures, 0},
	GroupLarge:       {"group large", 120 * ns, 20 * ps, measures, 0},
	GroupString:      {"group string", 60 * ns, 100 * ps, keeps, 0},
	GroupStringLarge: {"group string large", 400 * ns, 200 * ps, measures, 0},
	Sort:             {"sort", 6 * ns, 12 * ps, measures, 0},
	SortString:       {"sort string", 20 * ns, 50 * ps, measures, 0},
	Window:           {"window", 200 * ns, 0, keeps, 0},
	Loop:             {"loop", 1 * ns, 1 * ps, follows, Compute},
	Store:            {"store", 3 * ns, 5 * ps, follows, BuildLarge},
	Download:         {"download", 0, 200 * ps, keeps, 0},
}

func (c *classDefaults) seconds(d physical.Device) float64 {
	if d == physical.GPU {
		return c.gpu
	}
	return c.cpu
}

// Default has the prices until something was measured.
func Default() Table {
	t := Table{Upload: 1 / 40e9, Compile: 50e-3, GPUJoins: GPUJoins{1, 1}, Order: defaultOrder()}
	for c := range defaults {
		t.CPU[c], t.GPU[c] = defaults[c].cpu, defaults[c].gpu
	}
	return t
}

// defaultOrder has the prices with which TPC-H's joins, up to scale factor 100, take their best known orders on each device. docs/internals/placement.md#estimates
// says why they are not the seconds of single joins, and why no calibration changes them.
//
// That of a slot follows from the bytes that a build and a probe on a GPU move. A chain is measured: on an H200 a join that walked one of 7 million rows took
// 7.9 s, one of 2 x 134 million rows without chains 39 ms.
func defaultOrder() [2]Joins {
	both := Joins{Build: Rows{1.5, 3, 6, 0.2}, Probe: Rows{0.5, 1, 2, 0.2}, Output: 1, Pair: 0.15, Filter: 0.5}
	gpu := both
	gpu.Slot, gpu.Chain = 0.01, 30_000
	return [2]Joins{physical.CPU: both, physical.GPU: gpu}
}

// DefaultSharing has the prices of two H200 of one host, fitted to the queries of TPC-H at scale factor 100 (docs/results/2026-11-28.md).
func DefaultSharing() SharingPrices {
	return SharingPrices{Meet: 400 * us, Byte: 1 / 400e9, UnseenRows: 1 << 30}
}

// DefaultMovedRow has a GPU's prices of the default table, over a link of 390 GB/s.
func DefaultMovedRow() MovedRow {
	return MovedRow{Receive: 1, Store: 0.5, Read: 0.1, Insert: 3.5, InsertDense: 0.5}
}
