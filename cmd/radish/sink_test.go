package main

import (
	"slices"
	"testing"

	"github.com/radish-sql/radish/storage/files"
)

// TestLooksOfData checks that storage/files writes each text for which the shell has a format of its own.
func TestLooksOfData(t *testing.T) {
	for look := range looksOfData {
		if !slices.Contains(files.TextLooks(), look) {
			t.Errorf("storage/files does not write %s with the delimiter %q", look.Format, look.Delimiter)
		}
	}
}
