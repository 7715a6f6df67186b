package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/exchange"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
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

// Fleet are devices that queries run on together. They are those of the process, which other fleets may have, too. A fleet is safe for concurrent use and lives as long as the process.
type Fleet struct {
	opened chan struct{} // closed when the rest is there
	first  *opening      // the device that is opened first
	others []*opening    // once the first one is open
	err    error         // why there are none
}

// AllDevices is the list of a fleet that has all devices that can work with the first one.
const AllDevices = "all"

// fleetKey names a fleet by the path of its library and the list of its devices.
type fleetKey struct{ path, list string }

// ParseDevices reads the list of a fleet: all, or numbers of devices. A device may stand there more than once, for tests. It returns nil for all.
func ParseDevices(list string) (ordinals []int, err error) {
	if strings.EqualFold(strings.TrimSpace(list), AllDevices) {
		return nil, nil
	}
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no number of a device", strings.TrimSpace(text))
		}
		ordinals = append(ordinals, n)
	}
	if len(ordinals) > exchange.MostPlaces {
		return nil, fmt.Errorf("a query uses %d devices at the most", exchange.MostPlaces)
	}
	return ordinals, nil
}

// OpenFleet begins to open the devices of a list, which ParseDevices has read, of the library at path.
func OpenFleet(path string, ordinals []int) *Fleet {
	key := fleetKey{path, AllDevices}
	if ordinals != nil {
		key.list = fmt.Sprint(ordinals)
	}
	first := deviceKey{path: path}
	if len(ordinals) > 0 {
		first.ordinal = ordinals[0]
	}
	o := open(first)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	f := shared.fleets[key]
	if f == nil {
		f = &Fleet{opened: make(chan struct{}), first: o}
		shared.fleets[key] = f
		go func() {
			defer close(f.opened)
			f.err = sqlerr.Guard(func() error { return f.open(path, ordinals) })
		}()
	}
	return f
}

// AnyOpen returns the device of a library that comes first, if somebody has asked for it and it could be opened.
func AnyOpen(path string) (d *Device, ok bool) {
	shared.mu.Lock()
	f, o := shared.fleets[fleetKey{path, AllDevices}], shared.open[deviceKey{path: path}]
	shared.mu.Unlock()
	switch {
	case f != nil:
		if open := f.Open(); len(open) > 0 {
			return open[0], true
		}
	case o != nil && o.isDone() && o.err == nil:
		return o.device, true
	}
	return nil, false
}

// Forget has the devices of a library that are open give up the columns of a table that is gone, of which v is a state.
func Forget(path string, v *table.Version) {
	var devices []*Device
	shared.mu.Lock()
	for key, o := range shared.open {
		if key.path == path && o.isDone() && o.err == nil {
			devices = append(devices, o.device)
		}
	}
	shared.mu.Unlock()
	for _, d := range devices {
		d.runner.Residency.Forget(v)
	}
}

// open opens the devices behind the first one. Of all, those that cannot work with it are left out, of a list that is an error.
func (f *Fleet) open(path string, ordinals []int) error {
	first, err := f.first.wait()
	if err != nil {
		return err
	}
	lib := first.runner.Device.Library()
	devices, err := lib.Devices()
	if err != nil {
		return err
	}
	all := ordinals == nil
	if all {
		for _, info := range devices[:min(len(devices), exchange.MostPlaces)] {
			if sameKernels(info, first.Info()) {
				ordinals = append(ordinals, info.Ordinal)
			}
		}
	}
	times := map[int]int{}
	for i, n := range ordinals {
		switch {
		case n >= len(devices):
			return fmt.Errorf("there is no device number %d: there are %d", n, len(devices))
		case !sameKernels(devices[n], first.Info()):
			return fmt.Errorf("device %d (%s) cannot run the kernels of device %d (%s)", n, devices[n].Name, ordinals[0], first.Info().Name)
		}
		if i > 0 {
			f.others = append(f.others, open(deviceKey{path, n, times[n]}))
		}
		times[n]++
	}
	for _, o := range f.others {
		if _, err := o.wait(); err != nil && !all {
			return err
		}
	}
	return nil
}

// sameKernels says whether two devices run the same kernels.
func sameKernels(a, b gpukernels.DeviceInfo) bool {
	return a.ComputeCapability == b.ComputeCapability && a.SharedBytes == b.SharedBytes && a.Multiprocessors == b.Multiprocessors
}

// Wait returns the devices, the lost ones left out, once they are open.
func (f *Fleet) Wait() ([]*Device, error) {
	<-f.opened
	if f.err != nil {
		return nil, f.err
	}
	return f.Open(), nil
}

// Open returns the devices that are open by now, the lost ones left out: if the first is not open there is none.
func (f *Fleet) Open() (open []*Device) {
	if !f.first.isDone() || f.first.err != nil {
		return nil
	}
	open = append(open, f.first.device)
	select {
	case <-f.opened:
		for _, o := range f.others {
			if o.err == nil {
				open = append(open, o.device)
			}
		}
	default:
	}
	if left := slices.DeleteFunc(slices.Clone(open), func(d *Device) bool { return d.Lost() != nil }); len(left) > 0 {
		return left
	}
	return open[:1] // which says what is wrong
}

// First returns the device that comes first, once it is open: the first of the list, unless that is lost and another one is not.
func (f *Fleet) First() (*Device, error) {
	if _, err := f.first.wait(); err != nil {
		return nil, err
	}
	return f.Open()[0], nil
}

// Member waits for the device with an ordinal; nil: the fleet has none. An error says why it could not be opened.
func (f *Fleet) Member(ordinal int) (*Device, error) {
	<-f.opened
	if f.err != nil {
		return nil, f.err
	}
	for _, o := range append([]*opening{f.first}, f.others...) {
		if o.ordinal == ordinal {
			return o.device, o.err
		}
	}
	return nil, nil
}

// Peers says which other devices a device reaches, and how fast it copies from them where that was measured.
func (f *Fleet) Peers(d *Device) string {
	var peers []string
	for _, peer := range f.Open() {
		if peer == d {
			continue
		}
		text := peer.Name()
		if err := exchange.Reach(d.runner.Device, peer.runner.Device); err != nil {
			text += " through the host"
		}
		if rate := exchange.KnownRate(d.runner.Device, peer.runner.Device); rate > 0 {
			text += fmt.Sprintf(" at %.0f GB/s", rate/1e9)
		}
		peers = append(peers, text)
	}
	return strings.Join(peers, ", ")
}

// FirstSoon is First without waiting: the error is ErrOpening until the device is there, or cannot be.
func (f *Fleet) FirstSoon() (*Device, error) {
	if !f.first.isDone() {
		return nil, ErrOpening
	}
	return f.First()
}

// LimitMemory is Device.LimitMemory of all devices that are open.
func (f *Fleet) LimitMemory(owner any, bytes int64) {
	for _, d := range f.Open() {
		d.LimitMemory(owner, bytes)
	}
}
