package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/gpukernels"
)

// hotRuns are the runs before one that is recorded: from the third on, a statement's plan is kept.
const hotRuns = 3

// timelines is a file of what GPUs did while statements ran: text, or the events of a Chrome trace.
type timelines struct {
	path   string // empty: nobody wants it
	text   strings.Builder
	events []TraceEvent
}

// TraceEvent is an event of a Chrome trace, in microseconds.
type TraceEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	At       float64        `json:"ts"`
	Took     float64        `json:"dur"`
	Process  string         `json:"pid"`
	Thread   string         `json:"tid"`
	Argument map[string]any `json:"args,omitempty"`
}

// deviceSpan is a span of one of several devices.
type deviceSpan struct {
	gpukernels.Span
	device string
}

// Record runs a statement once more and adds what the GPUs did for it.
func (t *timelines) Record(ctx context.Context, db *DB, title, sql string) error {
	if t.path == "" {
		return nil
	}
	for range hotRuns {
		if err := db.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return t.record(ctx, db, title, sql)
}

// RecordCold is Record without compiled kernels.
func (t *timelines) RecordCold(ctx context.Context, db *DB, title, sql string) error {
	if t.path == "" {
		return nil
	}
	for _, d := range gpu.Opened(db.Library) {
		d.AwaitKernels()
		d.ForgetKernels()
	}
	return t.record(ctx, db, title, sql)
}

func (t *timelines) record(ctx context.Context, db *DB, title, sql string) error {
	origin := time.Now()
	devices := gpu.Opened(db.Library)
	var recording []*gpukernels.Timeline
	var failed error
	for _, d := range devices {
		x, err := d.Timeline(origin)
		if err != nil {
			failed = err
			break
		}
		recording = append(recording, x)
	}
	begin := time.Now()
	var took time.Duration
	if failed == nil {
		took, failed = db.Measure(ctx, sql, nil)
	}
	var all []deviceSpan
	for i, x := range recording {
		spans, err := x.Stop()
		failed = errors.Join(failed, err)
		for _, s := range spans {
			s.Begin -= begin.Sub(origin)
			all = append(all, deviceSpan{s, fmt.Sprintf("%s.%d", devices[i].Name(), i)})
		}
	}
	if failed != nil {
		return failed
	}
	slices.SortStableFunc(all, func(a, b deviceSpan) int { return int(a.Begin - b.Begin) })
	fmt.Fprintf(&t.text, "%s: %s ms; µs since the statement was given\n%10s %10s %10s  %-8s %-6s %-6s  what\n", title, report.Millis(took), "begin", "end", "took", "gpu", "stream", "side")
	for i := range all {
		t.add(title, &all[i])
	}
	t.text.WriteByte('\n')
	return t.write()
}

// add adds a span.
func (t *timelines) add(title string, s *deviceSpan) {
	micros := func(d time.Duration) float64 { return float64(d) / 1e3 }
	side, stream, more := "host", "", ""
	if s.OnDevice {
		side = "device"
	}
	if s.Stream > 0 {
		stream = fmt.Sprint(s.Stream)
	}
	if s.Bytes > 0 {
		more = fmt.Sprintf(", %d bytes", s.Bytes)
	}
	if s.Times > 1 {
		more = fmt.Sprintf(", asked %d times", s.Times)
	}
	fmt.Fprintf(&t.text, "%10.1f %10.1f %10.1f  %-8s %-6s %-6s  %s%s\n", micros(s.Begin), micros(s.Begin+s.Took), micros(s.Took), s.device, stream, side, s.What, more)
	e := TraceEvent{Name: s.What, Phase: "X", At: micros(s.Begin), Took: micros(s.Took), Process: title + " " + s.device, Thread: side + " " + stream}
	if s.Bytes > 0 {
		e.Argument = map[string]any{"bytes": s.Bytes}
	}
	t.events = append(t.events, e)
}

// write writes the file anew, so that it is whole whenever the program ends.
func (t *timelines) write() error {
	if !strings.HasSuffix(t.path, ".json") {
		return os.WriteFile(t.path, []byte(t.text.String()), 0o644)
	}
	text, err := json.Marshal(t.events)
	if err != nil {
		return err
	}
	return os.WriteFile(t.path, text, 0o644)
}
