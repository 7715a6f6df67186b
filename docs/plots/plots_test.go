package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlots holds the committed pictures against the tables. RADISH_UPDATE=1 draws them anew.
func TestPlots(t *testing.T) {
	if os.Getenv("RADISH_UPDATE") != "" {
		if err := write(".."); err != nil {
			t.Fatal(err)
		}
	}
	pictures, err := draw("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pictures {
		if got, err := os.ReadFile(filepath.Join(".", name)); err != nil || string(got) != want {
			t.Errorf("%s is not what the tables say; run RADISH_UPDATE=1 go test ./docs/plots (%v)", name, err)
		}
		for d := xml.NewDecoder(strings.NewReader(want)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// A value lies where its scale says, and a bar of twice the value is twice as long.
func TestScale(t *testing.T) {
	s := newScale([][]float64{{3, 38}}, 100, 500, false)
	if s.high != 40 || s.at(0) != 100 || s.at(20) != 300 || s.at(40) != 500 {
		t.Errorf("linear: %+v, 20 at %v", s, s.at(20))
	}
	s = newScale([][]float64{{3, 380}}, 0, 300, true)
	if s.low != 1 || s.high != 1000 || s.at(1) != 0 || s.at(10) < 99.9 || s.at(10) > 100.1 || len(s.ticks()) != 4 {
		t.Errorf("logarithmic: %+v, 10 at %v, ticks %v", s, s.at(10), s.ticks())
	}
}

func TestReadRefuses(t *testing.T) {
	page := "\n### A\n\n| k | v |\n|---|---|\n| 1 | x |\n"
	for _, c := range []struct{ heading, label, column, want string }{
		{"B", "k", "v", "heading"}, {"A", "j", "v", "no table"}, {"A", "k", "w", "no column"}, {"A", "k", "v", "row 1"},
	} {
		chart := chart{label: c.label, columns: []string{c.column}}
		if err := chart.read(page, c.heading); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
