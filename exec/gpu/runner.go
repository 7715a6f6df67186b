package gpu

import (
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	tables "github.com/radish-sql/radish/storage/table"
)

// runner runs programs on one device. It has what queries share there: table columns, and how many rows came to their sinks. It is safe for concurrent use.
type runner struct {
	device     *gpukernels.Device
	res        *residency.Residency
	remembered *sizeMemory
}

func newRunner(device *gpukernels.Device) (*runner, error) {
	res, err := residency.New(device)
	if err != nil {
		return nil, err
	}
	return &runner{device: device, res: res, remembered: newSizeMemory()}, nil
}

// close gives table columns back. No query may run any more.
func (r *runner) close() { r.res.Close() }

// A runner tells writers of kernels what they need to know of the device: tableForms.

func (r *runner) form(v *tables.Version, ordinal int) form.Column { return r.res.Form(v, ordinal) }

// sharedBytes is what tables in shared memory may take on the device.
func (r *runner) sharedBytes() int64 { return r.device.Info().SharedBytes - sharedRest }

func (r *runner) multiprocessors() int { return max(r.device.Info().Multiprocessors, 1) }
