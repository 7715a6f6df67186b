package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	tables "github.com/radish-sql/radish/storage/table"
)

// Device is a GPU with what queries leave on it: table columns, compiled kernels, lookup tables. It is safe for concurrent use and
// lives as long as the process.
type Device struct {
	device  *gpukernels.Device
	res     *residency
	lookups *lookupCache
	costs   atomic.Pointer[Costs] // what was measured; nil: nothing

	later     sync.WaitGroup // kernels that nobody waits for, see compileLater
	measuring sync.Mutex
	readRate  float64 // bytes a second, once it was measured
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
	res, err := newResidency(device)
	if err != nil {
		device.Close()
		return nil, err
	}
	d := &Device{device: device, res: res, lookups: newLookupCache(lookupBytes)}
	d.recall()
	return d, nil
}

// Close gives everything back. No query may run on the device any more.
func (d *Device) Close() {
	d.later.Wait()
	d.res.close()
	d.device.Close()
}

var shared = struct {
	mu   sync.Mutex
	open map[string]func() (*Device, error)
}{open: map[string]func() (*Device, error){}}

// Shared returns the process's first device: of the library at path, or, if that is empty, of the one that gpukernels finds. It is opened once;
// an error says what is missing and how to get it.
func Shared(path string) (*Device, error) {
	shared.mu.Lock()
	open := shared.open[path]
	if open == nil {
		open = sync.OnceValues(func() (*Device, error) {
			lib, err := gpukernels.Default()
			if path != "" {
				lib, err = gpukernels.Open(gpukernels.Options{Path: path})
			}
			if err != nil {
				return nil, err
			}
			return NewDevice(lib, 0)
		})
		shared.open[path] = open
	}
	shared.mu.Unlock()
	return open()
}

// Info describes the device.
func (d *Device) Info() gpukernels.DeviceInfo { return d.device.Info() }

// Emulated says whether the device is the processor playing one, for tests: nothing runs there of itself.
func (d *Device) Emulated() bool { return d.device.Info().Emulated() }

// Lost is why nothing runs on the device any more; nil while it does.
func (d *Device) Lost() error { return d.device.Lost() }

// Memory is what the device's memory is used for; Resident is the part that table columns take.
type Memory struct {
	gpukernels.Memory
	Resident int64
}

// Memory asks the device.
func (d *Device) Memory() (Memory, error) {
	m, err := d.device.Memory()
	return Memory{m, d.res.bytes()}, err
}

// ResidentBytes says how much of a table is on the device.
func (d *Device) ResidentBytes(v *tables.Version) int64 {
	all := make([]int, len(v.Schema.Columns))
	for i := range all {
		all[i] = i
	}
	here, _ := d.res.resident(v, all)
	return here
}

func (r *residency) bytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// String names the device.
func (d *Device) String() string {
	i := d.device.Info()
	return fmt.Sprintf("%s (%s)", i.Name, i.Library)
}

// LibraryPath is the file of the device's library.
func (d *Device) LibraryPath() string { return d.device.Library().Path() }

// FailAllocation is for tests: the n-th allocation of device memory from now on fails; 0 takes that back.
func (d *Device) FailAllocation(n int) error { return d.device.FailAllocation(n) }

// EvictColumns is for tests: what no query uses of the table columns on the device is given up.
func (d *Device) EvictColumns() { d.res.makeRoom(math.MaxInt64) }

// Break is for tests: it runs a kernel that traps, which loses the device for the process, and returns the error.
func (d *Device) Break(ctx context.Context) error {
	m, _, err := d.device.Load(ctx, "#include \"radish.cuh\"\nRADISH_KERNEL(broken, 1) {\n  if (p.w[0] == 1) trap(\"a test asked for it\");\n}\n")
	if err != nil {
		return err
	}
	defer m.Release()
	f, err := m.Function("broken")
	if err != nil {
		return err
	}
	s, err := d.device.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Launch(f, 1, d.device.Block(blockThreads), 0, []uint64{1}); err != nil {
		return err
	}
	return s.Sync(ctx)
}

// Calls is how many calls of its library there have been for the device.
func (d *Device) Calls() int64 { return d.device.Calls() }

// Trace is for benchmarks: f is told of each call of the device's library, when it began and what it took, until Trace(nil).
func (d *Device) Trace(f func(call string, begin time.Time, took time.Duration)) { d.device.Trace(f) }
