package gpu

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/gpukernels"
)

// Device is a GPU with what queries leave on it: table columns, compiled kernels, lookup tables. It is safe for concurrent use and
// lives as long as the process.
type Device struct {
	runner  *run.Runner
	lookups *lookup.Cache
	advisor *placement.Advisor
	claimed atomic.Bool // the calibration that nobody asks for
	costs   string      // the file that keeps it; "": none does

	later sync.WaitGroup // kernels that nobody waits for, see compileLater
}

// lookupBytes bounds the lookup tables over dictionaries that are kept between queries.
const lookupBytes = 256 << 20

// NewDevice opens a device of a library. One without a compiler for kernels is of no use: the error says how to get it.
func NewDevice(lib *gpukernels.Library, ordinal int) (*Device, error) {
	device, err := lib.OpenDevice(ordinal)
	if err != nil {
		return nil, err
	}
	if _, err := device.Compiler(); errors.Is(err, gpukernels.ErrUnavailable) {
		device.Close()
		return nil, err
	}
	runner, err := run.NewRunner(device)
	if err != nil {
		device.Close()
		return nil, err
	}
	d := &Device{runner: runner, lookups: lookup.New(lookupBytes), advisor: newAdvisor(device.Info()), costs: keptFile(device.Info(), "costs")}
	return d, nil
}

// Close gives everything back. No query may run on the device any more.
func (d *Device) Close() {
	_ = d.advisor.Close() // what cannot be kept is learned again
	d.later.Wait()
	d.runner.Close()
	d.runner.Device.Close()
}

// Info describes the device.
func (d *Device) Info() gpukernels.DeviceInfo { return d.runner.Device.Info() }

// Emulated says whether the device is the processor playing one, for tests: nothing runs there of itself.
func (d *Device) Emulated() bool { return d.runner.Device.Info().Emulated() }

// Lost is why nothing runs on the device any more; nil while it does.
func (d *Device) Lost() error { return d.runner.Device.Lost() }

// String names the device.
func (d *Device) String() string {
	i := d.runner.Device.Info()
	return fmt.Sprintf("%s (%s)", i.Name, i.Library)
}

// Name is what users call the device.
func (d *Device) Name() string { return fmt.Sprint("gpu", d.Info().Ordinal) }

// Trace is for benchmarks: f is told of each call of the device's library, when it began and what it took, until Trace(nil).
func (d *Device) Trace(f func(call string, begin time.Time, took time.Duration)) {
	d.runner.Device.Trace(f)
}

// Timeline is for benchmarks: it records what is called for the device, and when its streams did what they were given, as times since an origin. Stop it.
func (d *Device) Timeline(origin time.Time) (*gpukernels.Timeline, error) {
	return d.runner.Device.StartTimeline(origin)
}

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

// keptFile holds what was measured, by device, driver and processors: a home folder may be several machines'. "": nothing is kept.
func keptFile(i gpukernels.DeviceInfo, what string) string {
	folder := gpukernels.CacheFolder()
	if folder == "" || i.Emulated() {
		return ""
	}
	machine := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s %d", i.Name, i.DriverVersion, i.Multiprocessors, runtime.GOARCH, runtime.NumCPU()))
	return filepath.Join(folder, what+"-"+hex.EncodeToString(machine[:8])+".json")
}
