package run

import (
	"sync"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
)

// Runner runs programs on one device. It has what queries share there: table columns, and how many rows came to their sinks. It is safe for concurrent use.
type Runner struct {
	Device     *gpukernels.Device
	Residency  *residency.Residency
	remembered *sizeMemory
	sides      *sideMemory
	tuning     kernel.Tuning

	measuring sync.Mutex
	readRate  float64 // bytes a second, once it was measured
}

func NewRunner(device *gpukernels.Device) (*Runner, error) {
	res, err := residency.New(device)
	if err != nil {
		return nil, err
	}
	return &Runner{Device: device, Residency: res, remembered: newSizeMemory(), sides: newSideMemory(), tuning: kernel.TuningOf(device.Info().ComputeCapability)}, nil
}

// Close gives table columns back. No query may run any more.
func (r *Runner) Close() { r.Residency.Close() }

// ForKernels is what writers of kernels need to know of the device.
func (r *Runner) ForKernels() *kernel.Target {
	info := r.Device.Info()
	return &kernel.Target{LaunchWords: gpukernels.LaunchWords, Includes: gpukernels.Includes, Columns: r.Residency.Form, SharedBytes: info.SharedBytes - kernel.SharedRest, Multiprocessors: r.multiprocessors(), Tuning: r.tuning}
}

func (r *Runner) multiprocessors() int { return max(r.Device.Info().Multiprocessors, 1) }
