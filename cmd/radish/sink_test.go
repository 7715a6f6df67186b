package main

import (
	"testing"

	"github.com/radish-sql/radish/storage/files"
)

// TestLooksOfData checks that some ending leads to each text for which the shell has a format of its own.
func TestLooksOfData(t *testing.T) {
	found := map[files.Look]bool{}
	for _, f := range files.Formats() {
		for _, ending := range f.Endings() {
			name := "x" + ending
			found[files.Look{Format: f, Delimiter: files.CSVOptions(name).Delimiter}] = true
		}
	}
	for look := range looksOfData {
		if !found[look] {
			t.Errorf("storage/files does not write %s with the delimiter %q", look.Format, look.Delimiter)
		}
	}
}
