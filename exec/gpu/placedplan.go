package gpu

import (
	"slices"

	"github.com/radish-sql/radish/exec/gpu/outofcore"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/planner/physical"
	tables "github.com/radish-sql/radish/storage/table"
)

// Setting is a value of radish_device: where queries run.
type Setting string

// The settings. Plans and the CPU's executor know [physical.Device] alone.
const (
	Auto   Setting = "auto"       // where the query is known to take less, or on both in a race
	Never  Setting = "cpu"        // on the CPU alone
	Always Setting = "gpu"        // on the GPU; what cannot run there runs on the CPU
	Strict Setting = "gpu_strict" // on the GPU; what cannot run there is an error
	Eager  Setting = "eager"      // for tests, nobody can set it: on the GPU as with Always; the CPU runs what fails there
)

// NeedsGPU says whether queries are errors where there is no GPU.
func (s Setting) NeedsGPU() bool { return s == Always || s == Strict }

// fallsBack says whether the CPU runs what the device fails at.
func (s Setting) fallsBack() bool { return s == Auto || s == Eager }

// sparesMemory says whether the CPU runs what the device has no memory for.
func (s Setting) sparesMemory() bool { return s != Strict }

// Placed is a plan some of whose pipelines run on the GPU, with their kernels.
type Placed struct {
	Plan      *physical.Plan
	Placement physical.Placement
	device    *Device
	setting   Setting
	program   *program.Program
	// groups are the pipelines that store an aggregation's groups as rows, for those that are read on the CPU. They are no part of the plan.
	groups map[*physical.Aggregate]*physical.Pipeline
	limit  int64   // bytes of a device's memory that the query may hold; 0: any
	tables int64   // bytes of it that table columns may take; 0: any
	shares *shares // how several devices share the plan; nil: there is one
	// windows are what each place reads in windows, planned once: EXPLAIN, Lacks and the run follow them.
	windows []outofcore.Windows

	better *program.Program // kernels that are compiled while others serve; nil: the program's are the best

	// For Kept: why pipelines are not on the device, and the kernels as they were written first.
	off     map[*physical.Pipeline]string
	written *program.Program
}

// devices are those that run the plan, by place.
func (p *Placed) devices() []*Device {
	if p.shares != nil {
		return p.shares.devices
	}
	return []*Device{p.device}
}

// runsAt says whether a place runs a pipeline.
func (p *Placed) runsAt(place int, x *physical.Pipeline) bool {
	return p.shares == nil || p.shares.runsAt(place, x)
}

// parts are what a place scans of tables; nil: all of each.
func (p *Placed) parts(place int) map[*physical.TableScan]tables.Slice {
	if p.shares == nil {
		return nil
	}
	return p.shares.parts[place]
}

// Whole says whether all pipelines of the plan are on the GPU.
func (p *Placed) Whole() bool {
	return !slices.ContainsFunc(p.Plan.Pipelines, func(x *physical.Pipeline) bool { return p.Placement.Device(x) != physical.GPU })
}
