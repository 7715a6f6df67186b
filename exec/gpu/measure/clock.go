package measure

import (
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

// Clock measures pipelines on the device, if that is wanted.
type Clock struct {
	Device *gpukernels.Device
	Stream *gpukernels.Stream
	Wanted bool
}

// Stopwatch measures what a pipeline takes on the device; a nil one does not.
type Stopwatch struct {
	stream           *gpukernels.Stream
	from, middle, to *gpukernels.Event
}

// Start begins to measure a pipeline, if that is wanted.
func (c *Clock) Start() (*Stopwatch, error) {
	if !c.Wanted {
		return nil, nil
	}
	w := &Stopwatch{stream: c.Stream}
	for _, e := range []**gpukernels.Event{&w.from, &w.middle, &w.to} {
		var err error
		if *e, err = c.Device.NewEvent(); err != nil {
			w.Close()
			return nil, err
		}
	}
	if err := w.stream.Record(w.from); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Lap begins the second of two times.
func (w *Stopwatch) Lap() error {
	if w == nil {
		return nil
	}
	return w.stream.Record(w.middle)
}

// Stop gives the times before the lap and since.
func (w *Stopwatch) Stop() (before, since time.Duration, err error) {
	if w == nil {
		return 0, 0, nil
	}
	if err = w.stream.Record(w.to); err != nil {
		return 0, 0, err
	}
	if before, err = w.middle.Since(w.from); err != nil {
		return 0, 0, err
	}
	since, err = w.to.Since(w.middle)
	return before, since, err
}

// Close frees its events.
func (w *Stopwatch) Close() {
	if w == nil {
		return
	}
	for _, e := range []*gpukernels.Event{w.from, w.middle, w.to} {
		if e != nil {
			e.Close()
		}
	}
}
