package gpukernels

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// A Device is an opened device: its memory pool and its compiled kernels. Its methods may be used from any goroutine.
type Device struct {
	lib    *Library
	handle uintptr
	info   DeviceInfo

	compiler  func() (string, error) // compiler and architecture, asked for once
	quick     func() []string        // options of BeginSoon
	compilers *Compilers
	disk      *diskCache
	modules   moduleCache
	compiling BusyClock
	streams   streamPool
	signals   signalPool
	lost      atomic.Pointer[Error]
	calls     atomic.Int64
	waiting   atomic.Int32          // goroutines in Sync
	watch     atomic.Pointer[watch] // nil: nobody is told of calls
}

// OpenDevice opens a device. Close it when no stream and no module of it is in use any more.
func (l *Library) OpenDevice(ordinal int) (*Device, error) {
	info, err := l.query(ordinal)
	if err != nil {
		return nil, err
	}
	d := &Device{lib: l, info: info, compilers: l.pools.take(l, info.ComputeCapability), disk: newDiskCache(CacheFolder(), cacheLimit), modules: moduleCache{limit: maxUnused}, streams: streamPool{lib: l}}
	if !info.Emulated() {
		go func() { _, _ = l.compilerVersion() }() // NVRTC is loaded while CUDA starts: both take long
		d.compilers.Warm()
	}
	if err := l.call(fnDeviceOpen, uintptr(ordinal), uintptr(unsafe.Pointer(&d.handle))); err != nil {
		l.pools.give(d.compilers)
		return nil, err
	}
	d.compiler = sync.OnceValues(func() (string, error) {
		text := make([]byte, 256)
		err := l.call(fnCompilerVersion, d.handle, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
		return cString(text), err
	})
	d.quick = d.compilers.QuickOptions
	return d, nil
}

// Close gives the device's memory and modules back.
func (d *Device) Close() {
	d.streams.close()
	d.modules.unloadAll()
	d.lib.pools.give(d.compilers)
	d.signals.close(d)
	d.lib.callVoid(fnDeviceClose, d.handle)
	d.handle = 0
}

// call calls the library and remembers when the device is lost.
//
//go:uintptrescapes
func (d *Device) call(fn symbol, args ...uintptr) error {
	d.calls.Add(1)
	var err error
	if w := d.watch.Load(); w != nil {
		err = w.call(d, fn, args...)
	} else {
		err = d.lib.call(fn, args...)
	}
	if err != nil {
		if e := err.(*Error); e.Kind == KindDeviceLost {
			d.lost.CompareAndSwap(nil, e)
		}
	}
	return err
}

// Calls is how many calls of the library there have been for the device: a query's host time follows their number.
func (d *Device) Calls() int64 { return d.calls.Load() }

// Trace is for benchmarks: f is told of each call of the library from now on, its name, when it began and what it took; nil: nobody is.
func (d *Device) Trace(f func(call string, begin time.Time, took time.Duration)) {
	if f == nil {
		d.watch.Store(nil)
		return
	}
	d.watch.Store(&watch{trace: f})
}

// Compiler names what compiles kernels for the device, with its version. Without one the error is an ErrUnavailable, which says what is missing.
func (d *Device) Compiler() (string, error) { return d.compiler() }

// Library is what the device was opened with.
func (d *Device) Library() *Library { return d.lib }

// Info describes the device; MemoryFree is as it was when the device was opened.
func (d *Device) Info() DeviceInfo { return d.info }

// Block is the number of threads that a kernel of RADISH_BLOCK threads must be launched with: that, or 1 on an emulated device.
func (d *Device) Block(threads int) int { return min(threads, d.info.MaxThreads) }

// Lost is why the device can no longer be used, nil while it can.
func (d *Device) Lost() error {
	if e := d.lost.Load(); e != nil {
		return e
	}
	return nil
}

// Memory is what a device's memory is used for, in bytes.
type Memory struct {
	Used int64 // allocated and not freed
	Held int64 // kept by the pool, Used included
	Free int64 // what the driver has left for all processes
}

// Memory asks the pool and the driver.
func (d *Device) Memory() (m Memory, err error) {
	err = d.call(fnMemory, d.handle, uintptr(unsafe.Pointer(&m.Used)), uintptr(unsafe.Pointer(&m.Held)), uintptr(unsafe.Pointer(&m.Free)))
	return m, err
}

// Trim gives memory that the pool holds and nobody uses back to the driver.
func (d *Device) Trim() error { return d.call(fnTrim, d.handle) }

// FailAllocation is for tests: the n-th allocation from now (1: the next), also one inside a library kernel, fails with ErrOutOfMemory. 0
// takes the order back.
func (d *Device) FailAllocation(n int) error { return d.call(fnFailAllocation, d.handle, uintptr(n)) }
