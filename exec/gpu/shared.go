package gpu

import (
	"errors"
	"slices"
	"sync"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// shared are the process's devices.
var shared = struct {
	mu     sync.Mutex
	open   map[deviceKey]*opening
	fleets map[fleetKey]*Fleet
}{open: map[deviceKey]*opening{}, fleets: map[fleetKey]*Fleet{}}

// deviceKey names a device by the path of its library and its ordinal. What is opened more than once has numbers from 0.
type deviceKey struct {
	path            string
	ordinal, number int
}

// opening is a device that is being opened.
type opening struct {
	ordinal int
	done    chan struct{} // closed when the rest is there
	device  *Device
	err     error
}

// ErrOpening says that a device is being opened.
var ErrOpening = errors.New("the GPU is being opened")

// Shared returns the process's first device: of the library at path, or, if that is empty, of the one that gpukernels finds. It is opened once;
// an error says what is missing and how to get it.
func Shared(path string) (*Device, error) { return open(deviceKey{path: path}).wait() }

// wait waits for the device.
func (o *opening) wait() (*Device, error) {
	<-o.done
	return o.device, o.err
}

// isDone says whether the device is there, or cannot be.
func (o *opening) isDone() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// library loads the library at a path, or the one that gpukernels finds.
func library(path string) (*gpukernels.Library, error) {
	if path == "" {
		return gpukernels.Default()
	}
	return gpukernels.Open(gpukernels.Options{Path: path})
}

// open begins to open a device, unless that has been done.
func open(key deviceKey) *opening {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	o := shared.open[key]
	if o == nil {
		o = &opening{ordinal: key.ordinal, done: make(chan struct{})}
		shared.open[key] = o
		go func() {
			defer close(o.done)
			o.err = sqlerr.Guard(func() (err error) {
				lib, err := library(key.path)
				if err == nil {
					o.device, err = NewDevice(lib, key.ordinal)
				}
				return err
			})
		}()
	}
	return o
}

// UnlimitMemory takes back what an owner has limited, on all devices.
func UnlimitMemory(owner any) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, o := range shared.open {
		if o.isDone() && o.err == nil {
			o.device.LimitMemory(owner, 0)
		}
	}
}

// Opened returns the devices of a library that are open, by their ordinals.
func Opened(path string) (open []*Device) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for key, o := range shared.open {
		if key.path == path && o.isDone() && o.err == nil {
			open = append(open, o.device)
		}
	}
	slices.SortStableFunc(open, func(a, b *Device) int { return a.Info().Ordinal - b.Info().Ordinal })
	return open
}
