package run

import (
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

// clock measures pipelines on the device, if that is wanted.
type clock struct {
	device *gpukernels.Device
	stream *gpukernels.Stream
	wanted bool
}

// stopwatch measures what a pipeline takes on the device; a nil one does not.
type stopwatch struct {
	stream           *gpukernels.Stream
	from, middle, to *gpukernels.Event
}

// start begins to measure a pipeline, if that is wanted.
func (c *clock) start() (*stopwatch, error) {
	if !c.wanted {
		return nil, nil
	}
	w := &stopwatch{stream: c.stream}
	for _, e := range []**gpukernels.Event{&w.from, &w.middle, &w.to} {
		var err error
		if *e, err = c.device.NewEvent(); err != nil {
			w.close()
			return nil, err
		}
	}
	if err := w.stream.Record(w.from); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// lap begins the second of two times.
func (w *stopwatch) lap() error {
	if w == nil {
		return nil
	}
	return w.stream.Record(w.middle)
}

// stop gives the times before the lap and since.
func (w *stopwatch) stop() (before, since time.Duration, err error) {
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

func (w *stopwatch) close() {
	if w == nil {
		return
	}
	for _, e := range []*gpukernels.Event{w.from, w.middle, w.to} {
		if e != nil {
			e.Close()
		}
	}
}
