package gpu

import (
	"github.com/radish-sql/radish/exec/gpu/outofcore"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
)

// Advisor chooses between this device and the CPU.
func (d *Device) Advisor() *placement.Advisor { return d.advisor }

// Calibrated makes measured costs those of the device, in this process and, where there is a folder for compiled kernels, in later ones.
func (d *Device) Calibrated(c cost.Table) error {
	d.advisor.SetMeasuredCosts(c)
	if d.costs != "" {
		return placement.SaveCosts(d.costs, &c)
	}
	return nil
}

// ClaimCalibration says whether costs have to be measured: nobody has on this machine, and nobody in this process was told so before.
func (d *Device) ClaimCalibration() bool {
	if d.claimed.Swap(true) {
		return false
	}
	return d.costs != "" && placement.LoadCosts(d.costs) == nil
}

// ReleaseCalibration lets another claim the calibration: it has not come to its end.
func (d *Device) ReleaseCalibration() { d.claimed.Store(false) }

// Lacks is what a placed plan still has to wait for: kernels that have to be compiled, and bytes of table columns that are not on the device. Both are
// zero when it can start.
type Lacks struct {
	Kernels int
	Bytes   int64
}

// Any says whether anything is lacking.
func (l Lacks) Any() bool { return l.Kernels > 0 || l.Bytes > 0 }

// Lacks looks at what is there.
func (p *Placed) Lacks() Lacks {
	var l Lacks
	for i, d := range p.devices() {
		for text := range textsOf(p.program) {
			if !d.runner.Device.Made(text) {
				l.Kernels++
			}
		}
		parts := p.parts(i)
		for _, pl := range p.Plan.Pipelines {
			if scan, ok := pl.Source.(*physical.TableScan); ok && p.Placement.Device(pl) == physical.GPU && p.runsAt(i, pl) && p.windows[i].Of[scan] == nil { // windows come when they are read
				l.Bytes += d.runner.Residency.Awaited(scan.Table, outofcore.ScanOrdinals(scan), parts[scan])
			}
		}
	}
	return l
}

// Outcome is what is known of a run before it starts, if this device will give its rows. Where there are several devices it looks at what is lacking.
func (p *Placed) Outcome() placement.Outcome {
	shared := p.shares != nil
	several := shared || p.Placement.Alone != ""
	return placement.Outcome{
		Device: physical.GPU, Shared: shared, ByCost: shared && p.shares.pays != "",
		Cold: several && (p.better != nil || p.Lacks().Any()),
	}
}
