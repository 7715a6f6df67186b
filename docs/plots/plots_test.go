package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/docs/plots/chart"
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

func TestReadRefuses(t *testing.T) {
	page := "\n### A\n\n| k | v |\n|---|---|\n| 1 | x |\n"
	for _, c := range []struct{ heading, label, column, want string }{
		{"B", "k", "v", "heading"}, {"A", "j", "v", "no table"}, {"A", "k", "w", "no column"}, {"A", "k", "v", "row 1"},
	} {
		table := tableChart{Chart: chart.Chart{Label: c.label, Columns: []string{c.column}}}
		if err := table.read(page, c.heading); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
