package gpu

import (
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
)

// runner runs programs on one device. It has what queries share there: table columns, and how many rows came to their sinks. It is safe for concurrent use.
type runner struct {
	device     *gpukernels.Device
	res        *residency.Residency
	remembered *sizeMemory
	tuning     kernel.Tuning
}

func newRunner(device *gpukernels.Device) (*runner, error) {
	res, err := residency.New(device)
	if err != nil {
		return nil, err
	}
	return &runner{device: device, res: res, remembered: newSizeMemory(), tuning: kernel.DefaultTuning()}, nil
}

// close gives table columns back. No query may run any more.
func (r *runner) close() { r.res.Close() }

// forKernels is what writers of kernels need to know of the device.
func (r *runner) forKernels() *kernel.Target {
	info := r.device.Info()
	return &kernel.Target{LaunchWords: gpukernels.LaunchWords, Includes: gpukernels.Includes, Columns: r.res.Form, SharedBytes: info.SharedBytes - kernel.SharedRest, Multiprocessors: r.multiprocessors(), Tuning: r.tuning}
}

func (r *runner) multiprocessors() int { return max(r.device.Info().Multiprocessors, 1) }
