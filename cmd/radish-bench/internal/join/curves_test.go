package join

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// Curves are measured in all ways, their totals checked, and written as a table and as pictures.
func TestJoinCurves(t *testing.T) {
	gputest.EmulatedLibrary(t)
	folder := t.TempDir()
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--device", "emulated", "--large", "8", "--runs", "1", "--curves", folder, "--cases", "matches,keys"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(filepath.Join(folder, "curves.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rows of R with a key:", "key columns:", "\n| 16 | 1024 | hash |", "\n| 4 | 256 | hash |", "of 8 points"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the table has no %q\n%s", want, text)
		}
	}
	for _, name := range []string{"matches.svg", "keys.svg"} {
		picture, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(picture); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		_ = picture.Close()
	}
}

// All keys that Zipf's law draws are keys, and the larger its exponent, the more rows the first one has.
func TestZipfExponents(t *testing.T) {
	before := 0
	for _, skew := range []float64{0.5, 1, 1.5} {
		c := largeJoin{draw: zipfDraw, skew: skew}
		salt := drawn.Salt(1)
		draw := c.probes(&salt, 1000, 10_000)
		first := 0
		for row := range int64(10_000) {
			n := draw(row)
			if n < 0 || n >= 1000 {
				t.Fatalf("exponent %v: key %d", skew, n)
			}
			if n == 0 {
				first++
			}
		}
		if first <= before {
			t.Errorf("exponent %v: %d rows have the first key, %d with a smaller one", skew, first, before)
		}
		before = first
	}
}
