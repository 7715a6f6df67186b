package gpukernels

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Ptr is an address in a device's memory; 0 is none.
type Ptr uint64

// A Stream is a queue of work of one device. What is put into it runs in order and, unless a method says that it waits, later. A
// stream must not be used by two goroutines at once; a device can have many.
type Stream struct {
	device *Device
	handle uintptr

	// Of Query, which is called again and again and makes no garbage. What the library was given the address of is on the heap, so they are.
	done int32
	args [2]uintptr

	mailbox *byte // memory of the library, where its last small download is

	patience time.Duration // 0: any wait may take as long as it takes
	late     func()
}

// NewStream makes a stream, or takes one that was closed. Close it.
func (d *Device) NewStream() (*Stream, error) {
	s := &Stream{device: d, handle: d.streams.take()}
	if s.handle != 0 {
		return s, nil
	}
	if err := d.call(fnStreamCreate, d.handle, uintptr(unsafe.Pointer(&s.handle))); err != nil {
		return nil, err
	}
	return s, nil
}

// Device is whose stream it is.
func (s *Stream) Device() *Device { return s.device }

// Close ends the stream; work that is in it still runs.
func (s *Stream) Close() {
	if s.handle == 0 {
		return
	}
	if done, err := s.Query(); err != nil || !done || !s.device.streams.give(s.handle) {
		s.device.lib.callVoid(fnStreamDestroy, s.handle)
	}
	s.handle = 0
}

// streamPool keeps streams that were closed when they were empty, since making one takes as long as launching several kernels.
type streamPool struct {
	mutex   sync.Mutex
	handles []uintptr
	lib     *Library
}

// maxStreams is how many closed streams are kept.
const maxStreams = 16

// take returns a stream, 0 if there is none.
func (p *streamPool) take() uintptr {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	n := len(p.handles)
	if n == 0 {
		return 0
	}
	handle := p.handles[n-1]
	p.handles = p.handles[:n-1]
	return handle
}

// give keeps an empty stream; false: there are enough.
func (p *streamPool) give(handle uintptr) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.handles) == maxStreams {
		return false
	}
	p.handles = append(p.handles, handle)
	return true
}

// close ends the streams.
func (p *streamPool) close() {
	for handle := p.take(); handle != 0; handle = p.take() {
		p.lib.callVoid(fnStreamDestroy, handle)
	}
}

// Query says whether all work has ended. It does not wait.
func (s *Stream) Query() (bool, error) {
	s.args = [2]uintptr{s.handle, uintptr(unsafe.Pointer(&s.done))}
	err := s.device.call(fnStreamQuery, s.args[:]...)
	return s.done != 0, err
}

// How Sync waits: it asks all the time first, and then after ever longer sleeps, a part of the time that has passed. A sleep takes 50 µs more than was
// asked for, and far more on a virtual machine whose processor has gone idle. So as long as the processors suffice for it the first part is long:
// most kernels end within it. The sleeps are nap's: time.Sleep takes a millisecond at least where the process has nothing else to do.
const (
	spinTime   = 200 * time.Microsecond // whoever waits
	spinLong   = 20 * time.Millisecond  // of one waiter for spinShare processors
	spinShare  = 2
	yieldEvery = 50 * time.Microsecond // to other goroutines: each time wakes an idle thread, which looks for work in vain
	sleepPart  = 64
	maxSleep   = 500 * time.Microsecond
)

// OnLongWait has late called, once, when a wait of the stream has taken so long. The wait goes on: late may end its context.
func (s *Stream) OnLongWait(patience time.Duration, late func()) { s.patience, s.late = patience, late }

// Sync waits until all work has ended, or ctx has. In the second case the work goes on: what it uses must not be freed but on this stream.
func (s *Stream) Sync(ctx context.Context) error {
	if done, err := s.Query(); err != nil || done {
		return err
	}
	spin := spinTime
	if int(s.device.waiting.Add(1))*spinShare <= runtime.GOMAXPROCS(0) {
		spin = spinLong
	}
	defer s.device.waiting.Add(-1)
	start := time.Now()
	for yield := yieldEvery; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		waited := time.Since(start)
		if s.patience > 0 && waited > s.patience {
			s.patience = 0
			s.late()
		}
		switch {
		case waited >= spin:
			nap(min(waited/sleepPart, maxSleep))
		case waited >= yield:
			yield = waited + yieldEvery
			runtime.Gosched()
		}
		if done, err := s.Query(); err != nil || done {
			return err
		}
	}
}

// Alloc takes memory that work behind it may use. It holds anything. The address is a multiple of 256; 0 bytes have an address too.
func (s *Stream) Alloc(bytes int64) (Ptr, error) {
	var address Ptr
	err := s.device.call(fnAlloc, s.handle, uintptr(bytes), uintptr(unsafe.Pointer(&address)))
	return address, err
}

// Free gives memory back, once the work before it has ended. Free of 0 does nothing.
func (s *Stream) Free(p Ptr) error {
	if p == 0 {
		return nil
	}
	return s.device.call(fnFree, s.handle, uintptr(p))
}

// Upload copies to the device. src may be changed when it returns.
func (s *Stream) Upload(dst Ptr, src []byte) error {
	return s.device.call(fnUpload, s.handle, uintptr(dst), uintptr(unsafe.Pointer(unsafe.SliceData(src))), uintptr(len(src)))
}

// Items are unsigned integers of the host that UploadItems brings to another width and frame of reference. They are read until it returns.
type Items struct {
	src    unsafe.Pointer
	count  int64
	delta  int64
	width  int32
	unused int32
}

// ItemsOf are a slice's integers, to each of which delta is added, or the bits of its floats.
func ItemsOf[T uint8 | uint16 | uint32 | uint64 | int64 | float64](s []T, delta int64) Items {
	var zero T
	return Items{src: unsafe.Pointer(unsafe.SliceData(s)), count: int64(len(s)), delta: delta, width: int32(unsafe.Sizeof(zero))}
}

// SameItems are count times one integer.
func SameItems(count int, value int64) Items { return Items{count: int64(count), delta: value} }

// Count is how many they are.
func (i Items) Count() int64 { return i.count }

// UploadItems copies integers to the device, end to end, as such of width bytes (1, 2, 4 or 8), modulo 2^(8*width). What they were made of may
// be changed when it returns.
func (s *Stream) UploadItems(dst Ptr, width int, items []Items) error {
	return s.device.call(fnUploadItems, s.handle, uintptr(dst), uintptr(width), uintptr(unsafe.Pointer(unsafe.SliceData(items))), uintptr(len(items)))
}

// mailboxBytes is the largest download that the library does not wait for.
const mailboxBytes = 64 << 10

// Download waits for the stream, or until ctx ends, and copies from the device. What is small is copied right behind the work that is waited for.
func (s *Stream) Download(ctx context.Context, dst []byte, src Ptr) error {
	if n := len(dst); n > 0 && n <= mailboxBytes {
		err := s.device.call(fnDownloadBegin, s.handle, uintptr(src), uintptr(n), uintptr(unsafe.Pointer(&s.mailbox)))
		if err == nil {
			err = s.Sync(ctx)
		}
		if err == nil {
			copy(dst, unsafe.Slice(s.mailbox, n))
		}
		return err
	}
	if err := s.Sync(ctx); err != nil {
		return err
	}
	return s.device.call(fnDownload, s.handle, uintptr(unsafe.Pointer(unsafe.SliceData(dst))), uintptr(src), uintptr(len(dst)))
}

// Piece is memory of the host that a part of a download goes to.
type Piece struct {
	dst   unsafe.Pointer
	bytes int64
}

// PieceOf is a slice's memory. T holds no pointers.
func PieceOf[T any](s []T) Piece {
	b := Bytes(s)
	return Piece{unsafe.Pointer(unsafe.SliceData(b)), int64(len(b))}
}

// piecesAtOnce is how many bytes DownloadPieces copies between two looks at its context: some 20 milliseconds' worth, since at the end of each call most threads have nothing to copy.
const piecesAtOnce = 1 << 30

// DownloadPieces waits for the stream, and copies what lies at src into pieces, one behind the other, until ctx ends. Several threads copy.
func (s *Stream) DownloadPieces(ctx context.Context, pieces []Piece, src Ptr) error {
	if err := s.Sync(ctx); err != nil {
		return err
	}
	for len(pieces) > 0 {
		n, bytes := 0, int64(0)
		for n < len(pieces) && (n == 0 || bytes+pieces[n].bytes <= piecesAtOnce) {
			bytes += pieces[n].bytes
			n++
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.device.call(fnDownloadPieces, s.handle, uintptr(unsafe.Pointer(unsafe.SliceData(pieces))), uintptr(n), uintptr(src))
		if err != nil {
			return err
		}
		pieces = pieces[n:]
		src += Ptr(bytes)
	}
	return nil
}

// Copy copies within the device; the ranges must not overlap.
func (s *Stream) Copy(dst, src Ptr, bytes int64) error {
	return s.device.call(fnCopy, s.handle, uintptr(dst), uintptr(src), uintptr(bytes))
}

// Fill stores the low width (1, 2, 4 or 8) bytes of value count times.
func (s *Stream) Fill(dst Ptr, value uint64, width int, count int64) error {
	return s.device.call(fnFill, s.handle, uintptr(dst), uintptr(value), uintptr(width), uintptr(count))
}

// LaunchWords is the most words of parameters that a launch takes.
const LaunchWords = 500

// Launch runs a kernel on grid blocks of block threads (see Device.Block) with shared bytes of dynamic shared memory each. params
// are the words that the kernel was declared with; they are copied.
func (s *Stream) Launch(f *Function, grid int64, block int, shared int64, params []uint64) error {
	if w := s.device.watch.Load(); w != nil && w.timeline != nil {
		w.timeline.named(f)
	}
	return s.device.call(fnLaunch, f.handle, s.handle, uintptr(grid), uintptr(block), uintptr(shared),
		uintptr(unsafe.Pointer(unsafe.SliceData(params))), uintptr(len(params)))
}

// LaunchAny is Launch of a kernel that may have more words than are passed at most. Those from number most-1 on lie in memory of the device then, and their address is the last word that is
// passed.
func (s *Stream) LaunchAny(f *Function, grid int64, block int, shared int64, params []uint64, most int) error {
	if len(params) <= most {
		return s.Launch(f, grid, block, shared, params)
	}
	others := params[most-1:]
	at, err := s.Alloc(int64(8 * len(others)))
	if err != nil {
		return err
	}
	if err = s.Upload(at, Bytes(others)); err == nil {
		err = s.Launch(f, grid, block, shared, append(params[:most-1:most-1], uint64(at)))
	}
	return errors.Join(err, s.Free(at))
}

// An Event is a mark in a stream, to measure time by and for other streams to wait for.
type Event struct {
	device *Device
	handle uintptr
}

// NewEvent makes an event. Close it.
func (d *Device) NewEvent() (*Event, error) {
	e := &Event{device: d}
	if err := d.call(fnEventCreate, d.handle, uintptr(unsafe.Pointer(&e.handle))); err != nil {
		return nil, err
	}
	return e, nil
}

// Record sets the mark behind all work that is in the stream now.
func (s *Stream) Record(e *Event) error { return s.device.call(fnEventRecord, e.handle, s.handle) }

// Since waits for both events and gives the time between them.
func (e *Event) Since(from *Event) (time.Duration, error) {
	var ms float64
	err := e.device.call(fnEventElapsed, from.handle, e.handle, uintptr(unsafe.Pointer(&ms)))
	return time.Duration(ms * float64(time.Millisecond)), err
}

// Close ends the event.
func (e *Event) Close() {
	if e.handle != 0 {
		e.device.lib.callVoid(fnEventDestroy, e.handle)
		e.handle = 0
	}
}

// Bytes is a slice's memory. T must hold no pointers.
func Bytes[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}
