package gpu

import (
	"context"
	"math"
	"time"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	tables "github.com/radish-sql/radish/storage/table"
)

// What only the tests of package engine ask of a device.

// NewFleet has devices that are open, which are the caller's.
func NewFleet(devices ...*Device) *Fleet {
	done := make(chan struct{})
	close(done)
	f := &Fleet{opened: done, first: &opening{done: done, ordinal: devices[0].Info().Ordinal, device: devices[0]}}
	for _, d := range devices[1:] {
		f.others = append(f.others, &opening{done: done, ordinal: d.Info().Ordinal, device: d})
	}
	return f
}

// FailAllocation has the n-th allocation of device memory from now on fail; 0 takes that back.
func (d *Device) FailAllocation(n int) error { return d.runner.Device.FailAllocation(n) }

// Break runs a kernel that traps, which loses the device for the process, and returns the error.
func (d *Device) Break(ctx context.Context) error {
	m, _, err := d.runner.Device.Load(ctx, "#include \"radish.cuh\"\nRADISH_KERNEL(broken, 1) {\n  if (p.w[0] == 1) trap(\"a test asked for it\");\n}\n")
	if err != nil {
		return err
	}
	defer m.Release()
	f, err := m.Function("broken")
	if err != nil {
		return err
	}
	s, err := d.runner.Device.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Launch(f, 1, d.runner.Device.Block(kernel.BlockThreads), 0, []uint64{1}); err != nil {
		return err
	}
	return s.Sync(ctx)
}

// Calls is how many calls of its library there have been for the device.
func (d *Device) Calls() int64 { return d.runner.Device.Calls() }

// KeepCosts keeps costs in a file, and lets this process claim their calibration.
func (d *Device) KeepCosts(file string) {
	d.costs = file
	d.claimed.Store(false)
}

// ResidentBytes says how much of a table is on the device.
func (d *Device) ResidentBytes(v *tables.Version) int64 { return d.runner.Residency.ResidentBytes(v) }

// EvictColumns gives up the table columns on the device that no query uses.
func (d *Device) EvictColumns() { d.runner.Residency.Evict(math.MaxInt64) }

// UseClock has the device's pauses pass by another clock, and ends one that lasts.
func (d *Device) UseClock(now func() time.Time) { d.runner.Residency.UseClock(now) }

// Tune changes what kernels are written by from then on. No query may run on the device meanwhile.
func (d *Device) Tune(change func(*kernel.Tuning)) { d.runner.Tune(change) }

// LoadAnySorts, on an emulated device, loads the kernels that order rows by any columns, as a GPU has them loaded when it is opened.
func (d *Device) LoadAnySorts() { d.runner.LoadAnySorts()() }

// UseQuickOptions has kernels that a query waits for compiled by these options.
func (d *Device) UseQuickOptions(options ...string) { d.runner.Device.UseQuickOptions(options...) }

// IsKept says whether a placing is kept.
func (k *Kept) IsKept() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last != nil
}
