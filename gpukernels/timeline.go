package gpukernels

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// Span is a piece of time in a timeline: a call of the library, what the device did for it, or what a caller named.
type Span struct {
	What     string
	Begin    time.Duration // since the timeline's origin
	Took     time.Duration
	OnDevice bool  // the device's time, of work in a stream; else the host's
	Stream   int   // streams have numbers from 1 in the order in which they were first used; 0: the span belongs to none
	Bytes    int64 // of an allocation, a copy or a fill; 0: of nothing
	Times    int   // calls in a row that asked whether a stream's work had ended
}

// Timeline records what is called for a device, and when its streams did what they were given. Each call costs two events more while it records.
type Timeline struct {
	device *Device
	origin time.Time

	mu      sync.Mutex
	spans   []Span
	streams map[uintptr]*timedStream
	kernels map[uintptr]string
	marks   []mark
	events  []uintptr // that are free
	all     []uintptr
	err     error // the first of an event's call
}

// timedStream is what a timeline knows of a stream.
type timedStream struct {
	number int
	asked  int // the span of the latest call, if that asked whether the work had ended, plus 1
}

// mark is work whose device time is read in the end.
type mark struct {
	span     int // the host's
	from, to uintptr
}

// timelineEvents is how many events a timeline has before it starts, since making one takes longer than recording it.
const timelineEvents = 4096

// StartTimeline begins to record. Times are from an origin on. Nobody else may record or trace the device meanwhile. Stop it.
func (d *Device) StartTimeline(origin time.Time) (*Timeline, error) {
	t := &Timeline{device: d, origin: origin, streams: map[uintptr]*timedStream{}, kernels: map[uintptr]string{}}
	for range timelineEvents {
		if !t.grow() {
			return nil, errors.Join(t.err, t.free())
		}
	}
	d.watch.Store(&watch{timeline: t})
	return t, nil
}

// grow makes an event; false: it cannot.
func (t *Timeline) grow() bool {
	var e uintptr
	if err := t.device.lib.call(fnEventCreate, t.device.handle, uintptr(unsafe.Pointer(&e))); err != nil {
		t.err = err
		return false
	}
	t.events, t.all = append(t.events, e), append(t.all, e)
	return true
}

// free ends the events.
func (t *Timeline) free() error {
	for _, e := range t.all {
		t.device.lib.callVoid(fnEventDestroy, e)
	}
	t.all, t.events = nil, nil
	return nil
}

// Stop ends recording and returns the spans by their beginnings. It waits for the work that was recorded.
func (t *Timeline) Stop() ([]Span, error) {
	t.device.watch.Store(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { _ = t.free() }()
	if t.err != nil {
		return nil, t.err
	}
	base, at, err := t.base()
	if err != nil {
		return nil, err
	}
	lib := t.device.lib
	for _, m := range t.marks {
		var before, took float64 // milliseconds
		if err := errors.Join(lib.call(fnEventElapsed, m.from, m.to, uintptr(unsafe.Pointer(&took))), lib.call(fnEventElapsed, m.from, base, uintptr(unsafe.Pointer(&before)))); err != nil {
			return nil, err
		}
		s := t.spans[m.span]
		s.OnDevice, s.Times = true, 0
		s.Begin, s.Took = at-time.Duration(before*1e6), time.Duration(took*1e6)
		t.spans = append(t.spans, s)
	}
	slices.SortStableFunc(t.spans, func(a, b Span) int { return int(a.Begin - b.Begin) })
	return t.spans, nil
}

// base records an event at a time that the host knows, to some microseconds.
func (t *Timeline) base() (e uintptr, at time.Duration, err error) {
	s, err := t.device.NewStream()
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	least := time.Hour
	for range 5 {
		if !t.grow() {
			return 0, 0, t.err
		}
		last := t.all[len(t.all)-1]
		begin := time.Now()
		if err := errors.Join(t.device.lib.call(fnEventRecord, last, s.handle), t.device.lib.call(fnStreamSync, s.handle)); err != nil {
			return 0, 0, err
		}
		if took := time.Since(begin); took < least {
			least, e, at = took, last, begin.Add(took/2).Sub(t.origin)
		}
	}
	return e, at, nil
}

// call calls the library for a device, and records it.
//
//go:uintptrescapes
func (t *Timeline) call(fn symbol, args ...uintptr) error {
	stream, bytes, works := describe(fn, args)
	from := uintptr(0)
	if works {
		from = t.mark(stream)
	}
	begin := time.Now()
	err := t.device.lib.call(fn, args...)
	took := time.Since(begin)
	to := uintptr(0)
	if works && from != 0 && err == nil {
		to = t.mark(stream)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Span{What: functions[fn].name, Begin: begin.Sub(t.origin), Took: took, Bytes: bytes}
	if stream != 0 {
		x := t.streams[stream]
		if x == nil {
			x = &timedStream{number: len(t.streams) + 1}
			t.streams[stream] = x
		}
		s.Stream = x.number
		if fn == fnStreamQuery {
			if x.asked > 0 {
				first := &t.spans[x.asked-1]
				first.Times++
				first.Took = s.Begin + s.Took - first.Begin
				return err
			}
			x.asked, s.Times, s.What = len(t.spans)+1, 1, "wait"
		} else {
			x.asked = 0
		}
	}
	if fn == fnLaunch {
		s.What = t.kernels[args[0]]
	}
	if to != 0 {
		t.marks = append(t.marks, mark{len(t.spans), from, to})
	}
	t.spans = append(t.spans, s)
	return err
}

// mark records an event on a stream; 0: it could not.
func (t *Timeline) mark(stream uintptr) uintptr {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) == 0 && !t.grow() {
		return 0
	}
	e := t.events[len(t.events)-1]
	t.events = t.events[:len(t.events)-1]
	if err := t.device.lib.call(fnEventRecord, e, stream); err != nil {
		t.err = errors.Join(t.err, err)
		return 0
	}
	return e
}

// describe says which stream a call is about, how many bytes, and whether it puts work there.
func describe(fn symbol, args []uintptr) (stream uintptr, bytes int64, works bool) {
	switch fn {
	case fnLaunch:
		return args[1], 0, true
	case fnEventRecord:
		return args[1], 0, false
	case fnStreamQuery, fnStreamSync, fnStreamDestroy, fnFree:
		return args[0], 0, false
	case fnAlloc:
		return args[0], int64(args[1]), false
	case fnStreamWait, fnExclusiveScan, fnSortPairs, fnGather, fnStringOffsets, fnStringCopy, fnGroupRanges, fnGroupNarrow, fnPackBits, fnUploadItems:
		return args[0], 0, true
	case fnPeerCopy:
		return args[0], int64(args[4]), true
	case fnUpload, fnUploadPinned, fnCopy:
		return args[0], int64(args[3]), true
	case fnDownloadBegin:
		return args[0], int64(args[2]), true
	case fnDownload:
		return args[0], int64(args[3]), false
	case fnDownloadPieces:
		return args[0], 0, false
	case fnFill:
		return args[0], int64(args[3] * args[4]), true
	}
	return 0, 0, false
}

// Span names what the caller does for a device until it calls end, for a timeline. It costs next to nothing while none records.
func (d *Device) Span(what string, numbers ...int) (end func()) {
	w := d.watch.Load()
	if w == nil || w.timeline == nil {
		return noSpan
	}
	t, begin := w.timeline, time.Now()
	for _, n := range numbers {
		what = fmt.Sprint(what, " ", n)
	}
	return func() {
		took := time.Since(begin)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.spans = append(t.spans, Span{What: what, Begin: begin.Sub(t.origin), Took: took})
	}
}

func noSpan() {}

// compiled tells a timeline of a kernel: how long it waited for its turn, and when and where it was compiled. The bytes are those of its source.
func (d *Device) compiled(x *compilation, asked time.Time) {
	w := d.watch.Load()
	if w == nil || w.timeline == nil {
		return
	}
	t, bytes := w.timeline, int64(len(x.source))
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait := x.begin.Sub(asked); wait > 0 {
		t.spans = append(t.spans, Span{What: "wait for the compiler", Begin: asked.Sub(t.origin), Took: wait, Bytes: bytes})
	}
	t.spans = append(t.spans, Span{What: "compile " + x.where, Begin: x.begin.Sub(t.origin), Took: x.took, Bytes: bytes})
}

// named notes the name of a kernel that is launched next.
func (t *Timeline) named(f *Function) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kernels[f.handle] = f.name
}

// watch is who is told of a device's calls: one of both.
type watch struct {
	trace    func(call string, begin time.Time, took time.Duration)
	timeline *Timeline
}

// call calls the library and tells of it.
//
//go:uintptrescapes
func (w *watch) call(d *Device, fn symbol, args ...uintptr) error {
	if w.timeline != nil {
		return w.timeline.call(fn, args...)
	}
	begin := time.Now()
	err := d.lib.call(fn, args...)
	w.trace(functions[fn].name, begin, time.Since(begin))
	return err
}
