package main

import (
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish"
)

// The progress line never fills a row of the terminal, however narrow that is.
func TestProgressFits(t *testing.T) {
	for _, columns := range []int{1, 12, 40, 80, 81, 200} {
		var out strings.Builder
		l := &progressLine{w: &out, width: func() int { return columns }, started: time.Now().Add(-2 * time.Second)}
		l.show(radish.Progress{Rows: 123456789, Fraction: 0.5, Done: 1, Pipelines: 3, Device: "cpu"})
		text := strings.TrimPrefix(out.String(), "\r\x1b[K")
		if len(text) >= columns || columns == 200 && !strings.Contains(text, "left") {
			t.Errorf("%d columns: %q", columns, text)
		}
	}
}
