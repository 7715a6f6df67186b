package gpu

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"

	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
)

// Advisor chooses between this device and the CPU.
func (d *Device) Advisor() *placement.Advisor { return d.advisor }

// newAdvisor returns an advisor that knows what earlier processes have measured and learned.
func newAdvisor(i gpukernels.DeviceInfo) *placement.Advisor {
	a := placement.New(placement.Options{Threads: runtime.GOMAXPROCS(0), Workers: schedule.Workers, File: keptFile(i, "learned")})
	if file := keptFile(i, "costs"); file != "" {
		if c := placement.LoadCosts(file); c != nil {
			a.UseCosts(*c)
		}
	}
	return a
}

// Calibrated makes measured costs those of the device, in this process and, where there is a folder for compiled kernels, in later ones.
func (d *Device) Calibrated(c cost.Table) error {
	d.advisor.SetCosts(c)
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

// KeepCosts is for tests: costs are kept in a file, and nobody in this process has claimed their calibration.
func (d *Device) KeepCosts(file string) {
	d.costs = file
	d.claimed.Store(false)
}

// keptFile holds what was measured, by device, driver and processors: a home folder may be several machines'. "": nothing is kept.
func keptFile(i gpukernels.DeviceInfo, what string) string {
	folder := gpukernels.CacheFolder()
	if folder == "" || i.Emulated() {
		return ""
	}
	machine := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s %d", i.Name, i.DriverVersion, i.Multiprocessors, runtime.GOARCH, runtime.NumCPU()))
	return filepath.Join(folder, what+"-"+hex.EncodeToString(machine[:8])+".json")
}

// missing is the bytes of a scan's columns that are not on the device.
func (d *Device) missing(scan *physical.TableScan) int64 {
	_, bytes := d.runner.Residency.Bytes(scan.Table, run.ScanOrdinals(scan))
	return bytes
}

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
	for text := range p.texts() {
		if !p.device.runner.Device.Made(text) {
			l.Kernels++
		}
	}
	for _, pl := range p.Plan.Pipelines {
		if scan, ok := pl.Source.(*physical.TableScan); ok && p.Placement.Device(pl) == physical.GPU {
			l.Bytes += p.device.runner.Residency.Awaited(scan.Table, run.ScanOrdinals(scan))
		}
	}
	return l
}

// texts yields the texts of all kernels that a run is expected to need: those of the pipelines, then those that bring rows into order.
func (p *Placed) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, k := range p.program.Kernels {
			for _, k := range k.All() {
				if !yield(k.CUDA) {
					return
				}
			}
		}
		for s := range p.program.Sinks {
			if x := p.program.Order(s); x != nil {
				for _, text := range x.Texts() {
					if !yield(text) {
						return
					}
				}
			}
		}
	}
}
