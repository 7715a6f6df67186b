package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/radish-sql/radish"
)

// progressAfter is how long a statement runs before its progress is shown.
const progressAfter = time.Second

// progressLine shows on the terminal how far a statement is. Its zero value shows nothing.
type progressLine struct {
	w       io.Writer
	width   func() int // of the terminal; 0: unknown
	started time.Time

	mu      sync.Mutex
	shown   bool
	stopped bool
}

// watch returns the context of a statement whose progress is shown.
func (r *runner) watch(ctx context.Context) (context.Context, *progressLine) {
	if !r.interactive || !term.IsTerminal(int(os.Stderr.Fd())) {
		return ctx, &progressLine{}
	}
	width := func() int {
		columns, _, _ := term.GetSize(int(os.Stderr.Fd()))
		return columns
	}
	l := &progressLine{w: os.Stderr, width: width, started: time.Now()}
	return radish.WithProgress(ctx, 200*time.Millisecond, l.show), l
}

func (l *progressLine) show(p radish.Progress) {
	took := time.Since(l.started)
	if took < progressAfter {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	l.shown = true
	text := progressText(p, took)
	if columns := l.width(); columns > 0 && len(text) >= columns { // a line that wraps could not be written over
		text = text[:columns-1]
	}
	fmt.Fprint(l.w, "\r\x1b[K"+text)
}

// progressText describes a statement that has run for some time.
func progressText(p radish.Progress, took time.Duration) string {
	const cells = 20
	text := fmt.Sprintf("%s rows, %s rows/s on %s, part %d of %d", short(float64(p.Rows)), short(float64(p.Rows)/took.Seconds()), p.Device,
		min(p.Done+1, p.Pipelines), p.Pipelines)
	if p.Reading != "" {
		text = "reading " + p.Reading
	}
	if p.Fraction <= 0 {
		return text
	}
	full := int(p.Fraction * cells)
	text = fmt.Sprintf("%3.0f%% [%s%s] %s", p.Fraction*100, strings.Repeat("=", full), strings.Repeat(" ", cells-full), text)
	if p.Fraction >= 0.05 && p.Fraction < 1 {
		left := time.Duration(float64(took) * (1 - p.Fraction) / p.Fraction)
		text += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return text
}

// short writes a number with three digits: 12.3M.
func short(n float64) string {
	for _, unit := range []string{"", "k", "M", "G"} {
		if n < 1000 {
			if unit == "" {
				return fmt.Sprintf("%.0f", n)
			}
			return fmt.Sprintf("%.3g%s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3gT", n)
}

// stop removes the line. It may be called again.
func (l *progressLine) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown && !l.stopped {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
	l.stopped = true
}

// countText is a number of rows; ? if nobody counted them.
func countText(rows int64) string {
	if rows < 0 {
		return "?"
	}
	return strconv.FormatInt(rows, 10)
}

// tookText writes a time with three digits at least, in the unit that suits it.
func tookText(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3f ms", float64(d.Nanoseconds())/1e6)
	}
	return fmt.Sprintf("%.3f µs", float64(d.Nanoseconds())/1e3)
}

// printProfile prints what a query has cost.
func printProfile(w io.Writer, p radish.Profile) {
	for _, pl := range p.Pipelines {
		fmt.Fprintf(w, "pipeline %d on %s, %s, %s\n", pl.ID, pl.Device, counted(int64(pl.Workers), "worker"), tookText(pl.Wall))
		for _, o := range pl.Operators {
			fmt.Fprintf(w, "  %-24s %12s rows in %12s out %11s\n", o.Name, countText(o.RowsIn), countText(o.RowsOut), tookText(o.Time))
		}
	}
	fmt.Fprintf(w, "in all %s, %s bytes at most\n", tookText(p.Wall), short(float64(p.PeakMemory)))
}
