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

// While a file is read into memory, the line names it with a bar of its bytes.
func TestProgressOfReading(t *testing.T) {
	got := progressText(radish.Progress{Reading: "sales.csv", Fraction: 0.25}, 10*time.Second)
	if want := " 25% [=====               ] reading sales.csv, about 30s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTookText(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0.000 µs", 700: "0.700 µs", 12345: "12.345 µs", 1234567: "1.235 ms", 1234567890: "1.235 s", 100 * time.Second: "100.000 s"} {
		if got := tookText(d); got != want {
			t.Errorf("%d ns: %s, want %s", d, got, want)
		}
	}
}

// The help breaks between words, at any width.
func TestHelpEntry(t *testing.T) {
	for _, c := range dotCommands {
		for _, width := range []int{62, 80, 100, 200} {
			text := helpEntry("."+c.name+" "+c.args, c.help, width)
			if got := strings.Join(strings.Fields(text), " "); got != strings.Join(strings.Fields("."+c.name+" "+c.args+" "+c.help), " ") {
				t.Errorf("width %d: %q", width, text)
			}
			beside, below, _ := strings.Cut(text, "\n")
			if beside = beside[min(31, len(beside)):]; beside == "" || len("  ."+c.name+" "+c.args) > 31 {
				beside = strings.TrimPrefix(below, strings.Repeat(" ", 31))
			}
			if first, _, _ := strings.Cut(c.help, " "); !strings.HasPrefix(beside, first) {
				t.Errorf("width %d: %q: what it does begins elsewhere than that of others", width, text)
			}
			for _, line := range strings.Split(text, "\n") {
				if len(line) > width+1 && strings.Contains(strings.TrimSpace(line[30:]), " ") {
					t.Errorf("width %d: %q is too long", width, line)
				}
			}
		}
	}
}
