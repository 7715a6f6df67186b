package report

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFigures(t *testing.T) {
	const ms = time.Millisecond
	if m := Median([]time.Duration{9 * ms, 1 * ms, 2 * ms}); m != 2*ms {
		t.Errorf("median of three: %v", m)
	}
	if m := Median([]time.Duration{9 * ms, 1 * ms, 2 * ms, 4 * ms}); m != 3*ms {
		t.Errorf("median of four: %v", m)
	}
	if m := Median(nil); m != 0 {
		t.Errorf("median of none: %v", m)
	}
	if g := GeometricMean([]float64{0.5, 2, 8}); math.Abs(g-2) > 1e-12 {
		t.Errorf("geometric mean: %v", g)
	}
}

// twoRows is a comparison of two cases.
type twoRows struct{}

func (twoRows) WriteSummary(out io.Writer) { _, _ = io.WriteString(out, "\nin all 3 ms\n") }

func (twoRows) Page() (heading string, columns []Column, rows [][]string) {
	return "Two cases.", []Column{Text("case", 4), Number("ms", 2)}, [][]string{{"a", "1"}, {"b", "2"}}
}

// TestWrite compares what is printed, and the page if there is one.
func TestWrite(t *testing.T) {
	const summary = "\nin all 3 ms\n"
	page := filepath.Join(t.TempDir(), "page.md")
	for _, path := range []string{"", page} {
		var out strings.Builder
		if err := Write(twoRows{}, &out, path); err != nil || out.String() != summary {
			t.Errorf("printed is %q, %v", out.String(), err)
		}
	}
	got, err := os.ReadFile(page)
	if want := "Two cases.\n\n| case | ms |\n|---|---:|\n| a | 1 |\n| b | 2 |\n" + summary; err != nil || string(got) != want {
		t.Errorf("the page is %q, %v, want %q", got, err, want)
	}
	if err := Write(twoRows{}, io.Discard, filepath.Join(page, "none")); err == nil {
		t.Error("a page in a file that is no folder is no error")
	}
}
