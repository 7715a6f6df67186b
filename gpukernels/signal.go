package gpukernels

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Signal is a word of the host's memory that kernels can read while they run: 0 until it is set. Setting it calls neither the library nor the driver,
// whose calls may have to wait for the very kernels that are to be told something.
type Signal struct {
	device *Device
	word   *uint32
}

// NewSignal makes a signal that is not set. Close it.
func (d *Device) NewSignal() (*Signal, error) {
	word, err := d.signals.take(d)
	if err != nil {
		return nil, err
	}
	return &Signal{d, word}, nil
}

// Set lets kernels read 1 from now on. Any goroutine may call it.
func (s *Signal) Set() { atomic.StoreUint32(s.word, 1) }

// Address is where kernels read it.
func (s *Signal) Address() Ptr { return Ptr(uintptr(unsafe.Pointer(s.word))) }

// Close gives the signal back. No kernel may read it any more, and nobody set it.
func (s *Signal) Close() {
	atomic.StoreUint32(s.word, 0)
	s.device.signals.give(s.word)
}

// Signals are parts of pages, far enough from each other that one that is set does not slow the readers of another.
const (
	signalPage = 4096 // bytes
	signalUnit = 128
)

// signalPool keeps what signals are made of until the device is closed: pinning memory takes long, and releasing it waits for the device.
type signalPool struct {
	mutex sync.Mutex
	free  []*uint32
	pages []*byte
}

func (p *signalPool) take(d *Device) (*uint32, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.free) == 0 {
		var page *byte
		if err := d.call(fnHostAlloc, d.handle, signalPage, uintptr(unsafe.Pointer(&page))); err != nil {
			return nil, err
		}
		p.pages = append(p.pages, page)
		for at := 0; at < signalPage; at += signalUnit {
			p.free = append(p.free, (*uint32)(unsafe.Add(unsafe.Pointer(page), at)))
		}
	}
	n := len(p.free) - 1
	word := p.free[n]
	p.free = p.free[:n]
	return word, nil
}

func (p *signalPool) give(word *uint32) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.free = append(p.free, word)
}

// close releases the pages. No signal may be in use.
func (p *signalPool) close(d *Device) {
	for _, page := range p.pages {
		d.lib.callVoid(fnHostFree, d.handle, uintptr(unsafe.Pointer(page)))
	}
	p.pages, p.free = nil, nil
}
