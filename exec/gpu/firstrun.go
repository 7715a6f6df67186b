package gpu

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/load"
	"github.com/radish-sql/radish/gpukernels"
)

// FirstRun is what first runs of queries have paid besides running, since the device was opened.
type FirstRun struct {
	Compiled gpukernels.Busy // kernels
	Uploads  gpukernels.Busy // table columns and dictionaries
	Uploaded int64           // their bytes
}

// Sub is what has been added since an earlier sum.
func (f FirstRun) Sub(earlier FirstRun) FirstRun {
	return FirstRun{f.Compiled.Sub(earlier.Compiled), f.Uploads.Sub(earlier.Uploads), f.Uploaded - earlier.Uploaded}
}

// FirstRun adds up all compilations and uploads that have ended.
func (d *Device) FirstRun() FirstRun {
	busy, bytes := d.runner.Residency.Uploaded()
	return FirstRun{d.runner.Device.Compiling(), busy, bytes}
}

// BusRate is how many bytes a second the device copies from pinned memory of the host; 0: it could not be measured.
func (d *Device) BusRate(ctx context.Context) float64 { return d.runner.BusRate(ctx) }

// Compilers says who compiles the device's kernels.
func (d *Device) Compilers() gpukernels.CompilerStatus { return d.runner.Device.Compilers().Status() }

// ForgetKernels is for benchmarks: kernels that no query uses are compiled again when they are next asked for.
func (d *Device) ForgetKernels() { d.runner.Device.ForgetKernels() }

// AwaitKernels is for benchmarks: it waits for the kernels that queries have left to be compiled behind their own. No query runs meanwhile.
func (d *Device) AwaitKernels() { d.later.Wait() }

// UseTuning is for benchmarks without a GPU: kernels are written for one of a compute capability, 90 for 9.0. Where first is not set, a first run has those of later ones.
func (d *Device) UseTuning(computeCapability int, first bool) {
	d.runner.UseTuning(computeCapability, first)
}

// CompareWork orders sources of kernels by what compiling them takes, the longest first.
func CompareWork(a, b string) int { return load.CompareWork(a, b) }
